// Lexical with rich text and a history; window.text() is its model's text.
import { createEmptyHistoryState, registerHistory } from '@lexical/history';
import { HeadingNode, QuoteNode, registerRichText } from '@lexical/rich-text';
import { $getRoot, createEditor } from 'lexical';

const root = document.querySelector('#editor');
root.contentEditable = 'true';
const editor = createEditor({ namespace: 'test', nodes: [HeadingNode, QuoteNode], onError: (e) => { throw e; } });
editor.setRootElement(root);
registerRichText(editor);
registerHistory(editor, createEmptyHistoryState(), 300);
window.text = () => editor.getEditorState().read(() => $getRoot().getChildren().map((c) => c.getTextContent()).join('\n'));
