// Files for a page: given to a file input as if they had been chosen, or dropped where the page takes drops. Nothing here needs the
// debugger or a permission for files; the bytes come from the daemon.
import type { PageContext } from '../context';
import { describe, outline, type ElementInfo } from '../describe';
import { shadowOf } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { PageError } from '../error';
import { later, queued } from '../wait';
import { native } from '../native';

export interface Uploaded { element: ElementInfo; files: { name: string; size: number }[]; dropped?: true; shadow?: true }
interface Part { token: string; name: string; mime: string; index: number; data: string; last: boolean }

/** Files that arrived for an upload that is about to come, by its token. */
const waiting = new Map<string, { parts: Map<number, { name: string; mime: string; bytes: BlobPart[] }>; forget: ReturnType<typeof setTimeout> }>();
const KEEP_MS = 120_000;

/** A piece of a file. Large files come in several, so that no single message is too large. */
export function uploadPartOp({ token, name, mime, index, data }: Part): void {
  let files = waiting.get(token);
  if (!files) {
    files = { parts: new Map(), forget: setTimeout(() => waiting.delete(token), KEEP_MS) };
    waiting.set(token, files);
  }
  let file = files.parts.get(index);
  if (!file) files.parts.set(index, (file = { name, mime, bytes: [] }));
  file.bytes.push(bytesOf(data));
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Whether the element is there and takes files; changes nothing. The files are brought to its document next. */
export function uploadPlaceOp(args: ElementArgs & { count: number }, ctx: PageContext): Promise<{ input: boolean; shadow?: true } | Beyond | Around> {
  return onElement<{ input: boolean }>(args, ctx, { needs: { visible: false }, resolve: inputOf, unfit: (el) => { refuse(el, args.count); return null; }, act: ({ el }) => ({ input: isFileInput(el) }) });
}

export function uploadOp(args: ElementArgs & { token: string; count: number }, ctx: PageContext): Promise<Uploaded | Beyond | Around> {
  return onElement<Uploaded>(args, ctx, {
    needs: { visible: false },
    resolve: inputOf,
    unfit: (el) => { refuse(el, args.count); return null; },
    async act({ el, at, dress }) {
      const files = take(args.token);
      const told = files.map(({ name, size }) => ({ name, size }));
      const transfer = new DataTransfer();
      for (const file of files) transfer.items.add(file);
      const report = (hit: Element, more: { dropped?: true } = {}) => dress({ element: describe(hit), files: told, ...more });
      if (isFileInput(el)) {
        ctx.acted(report(el));
        choose(el, transfer);
        await queued();
        return report(el);
      }
      // Something that a person would drop files on, or click to choose them.
      ctx.acted(report(el, { dropped: true }));
      if (drop(native(at).isConnected ? el : at, transfer)) {
        await queued();
        return report(el, { dropped: true });
      }
      const asked = await askedByClick(el);
      if (!asked) throw new PageError('ELEMENT_NOT_ACTIONABLE', `${outline(el)} takes no files: it is no file input, takes no drops and asks for no file when it is clicked`, { maybe_executed: true });
      refuse(asked, args.count);
      choose(asked, transfer);
      await queued();
      return report(asked);
    },
  });
}

function take(token: string): File[] {
  const files = waiting.get(token);
  if (!files) throw new PageError('NAVIGATION_FAILED', 'the page was replaced while the files were on their way to it');
  waiting.delete(token);
  clearTimeout(files.forget);
  return [...files.parts].sort(([a], [b]) => a - b).map(([, { name, mime, bytes }]) => new File(bytes, name, { type: mime, lastModified: Date.now() }));
}

const isFileInput = (el: Element): el is HTMLInputElement => el instanceof HTMLInputElement && el.type === 'file';

/** The file input that is meant: the element, its label's control, or the only one inside of it. */
function inputOf(el: Element): Element {
  if (isFileInput(el)) return el;
  const label = native(el).closest('label');
  if (label?.control && isFileInput(label.control)) return label.control;
  const inside = [el, shadowOf(el)].flatMap((root) => [...(native(root)?.querySelectorAll<HTMLInputElement>('input[type=file]') ?? [])]);
  return inside.length === 1 ? inside[0]! : el;
}

function refuse(el: Element, count: number): void {
  if (!isFileInput(el)) {
    if (el instanceof HTMLInputElement && el.type !== 'button' && el.type !== 'image' && el.type !== 'submit') throw new PageError('INVALID_PARAMS', `upload is for file inputs and places to drop files on; this is ${outline(el)}`);
    return;
  }
  if (count > 1 && !el.multiple && !el.webkitdirectory) throw new PageError('INVALID_PARAMS', `${outline(el)} takes one file, not ${count}`);
}

function choose(input: HTMLInputElement, { files }: DataTransfer): void {
  input.files = files;
  input.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

/** Drags the files over the element; lets them go if it shows that it takes them. */
function drop(el: Element, dataTransfer: DataTransfer): boolean {
  const box = native(el).getBoundingClientRect();
  const fire = (type: string) => {
    const event = new DragEvent(type, { bubbles: true, cancelable: true, composed: true, dataTransfer, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 });
    // A page that takes the drop says so by preventing what the browser would do.
    return !native(el).dispatchEvent(event);
  };
  const entered = fire('dragenter');
  const over = fire('dragover');
  if (!entered && !over) { fire('dragleave'); return false; }
  fire('drop');
  return true;
}

/** How long a page may take from the click to its asking for a file. */
const ASKED_MS = 400;

/** The file input that the page clicks by itself when the element is clicked. The browser's own dialog does not come up. */
async function askedByClick(el: Element): Promise<HTMLInputElement | undefined> {
  let asked: HTMLInputElement | undefined;
  let heard = () => {};
  const said = new Promise<void>((resolve) => { heard = resolve; });
  const onClick = (e: Event) => {
    const [first] = e.composedPath();
    if (!(first instanceof HTMLInputElement) || first.type !== 'file') return;
    asked = first;
    e.preventDefault();
    heard();
  };
  window.addEventListener('click', onClick, { capture: true });
  try {
    native(el as HTMLElement).click();
    // A page may have something to do first.
    await Promise.race([said, new Promise<void>((resolve) => { later(resolve, ASKED_MS); })]);
  } finally {
    window.removeEventListener('click', onClick, { capture: true });
  }
  return asked;
}
