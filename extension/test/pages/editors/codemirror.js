// CodeMirror 6 with its basic set-up; window.text() is its document.
import { basicSetup, EditorView } from 'codemirror';

const view = new EditorView({ parent: document.querySelector('#editor'), extensions: [basicSetup] });
window.text = () => view.state.doc.toString();
