// ProseMirror with its usual set-up; window.text() is its model's text.
import { exampleSetup } from 'prosemirror-example-setup';
import { schema } from 'prosemirror-schema-basic';
import { EditorState } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';

const view = new EditorView(document.querySelector('#editor'), { state: EditorState.create({ schema, plugins: exampleSetup({ schema, menuBar: false }) }) });
window.text = () => view.state.doc.textBetween(0, view.state.doc.content.size, '\n');
