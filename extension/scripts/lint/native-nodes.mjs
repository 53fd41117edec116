// Page code must not ask a node that may be a form for its properties directly: `<input name="children">` hides the form's own
// `children`, in every world. native(node) asks the prototypes instead. (What a document's contents hide of it, they hide from the page's
// own scripts alone: test/hidden-properties.test.mjs.)
import { ESLintUtils } from '@typescript-eslint/utils';
import ts from 'typescript';

/** The types by lib.dom that a value may be an instance of. */
const domTypes = (checker, type) => {
  if (type.isUnionOrIntersection()) return type.types.flatMap((t) => domTypes(checker, t));
  if (type.flags & ts.TypeFlags.TypeParameter) { const base = checker.getBaseConstraintOfType(type); return base && base !== type ? domTypes(checker, base) : []; }
  const from = type.getSymbol()?.declarations?.some((d) => /\/lib\.dom\.[^/]*d\.ts$/.test(d.getSourceFile().fileName));
  return from ? [type] : [];
};

const forms = new WeakMap();
/** The one type whose named contents hide its own properties. */
function formType(program, checker, at) {
  let type = forms.get(program);
  if (!type) forms.set(program, type = checker.getDeclaredTypeOfSymbol(checker.resolveName('HTMLFormElement', at, ts.SymbolFlags.Interface, false)));
  return type;
}

export default ESLintUtils.RuleCreator.withoutDocs({
  meta: { type: 'problem', fixable: 'code', schema: [], messages: { direct: 'may be a form, whose controls can hide `{{name}}`: native(…).{{name}}' } },
  defaultOptions: [],
  create(context) {
    const services = ESLintUtils.getParserServices(context);
    const checker = services.program.getTypeChecker();
    const mayBeForm = (node) => {
      const type = checker.getNonNullableType(services.getTypeAtLocation(node));
      const form = formType(services.program, checker, services.esTreeNodeToTSNodeMap.get(node));
      return domTypes(checker, type).some((t) => checker.isTypeAssignableTo(form, t));
    };
    const isNative = (node) => node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'native';
    const inChain = (node) => (node.type === 'MemberExpression' || node.type === 'CallExpression') && (node.optional || inChain(node.type === 'CallExpression' ? node.callee : node.object));
    return {
      MemberExpression(node) {
        if (node.object.type === 'Super' || node.object.type === 'ThisExpression' || isNative(node.object) || !mayBeForm(node.object)) return;
        const name = context.sourceCode.getText(node.property);
        context.report({ node: node.property, messageId: 'direct', data: { name }, fix: (fixer) => {
          const wrapped = fixer.replaceText(node.object, `native(${context.sourceCode.getText(node.object)})`);
          if (node.optional || !inChain(node.object)) return wrapped;
          return [wrapped, fixer.insertTextAfterRange([node.object.range[1], node.object.range[1]], '?')];
        } });
      },
      'VariableDeclarator > ObjectPattern'(node) {
        const { init } = node.parent;
        if (init && !isNative(init) && mayBeForm(init)) context.report({ node, messageId: 'direct', data: { name: context.sourceCode.getText(node) }, fix: (fixer) => fixer.replaceText(init, `native(${context.sourceCode.getText(init)})`) });
      },
    };
  },
});
