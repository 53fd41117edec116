// Slate in React with its history; window.text() is its model's text.
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createEditor, Node } from 'slate';
import { withHistory } from 'slate-history';
import { Editable, Slate, withReact } from 'slate-react';

function App() {
  const [editor] = useState(() => withReact(withHistory(createEditor())));
  window.text = () => editor.children.map((n) => Node.string(n)).join('\n');
  return h(Slate, { editor, initialValue: [{ type: 'paragraph', children: [{ text: '' }] }] }, h(Editable, { id: 'slate', placeholder: 'Write' }));
}
createRoot(document.querySelector('#editor')).render(h(App));
