// Which part of the page is its content. Readability judges a copy of what can be seen; the answer is carried back to the living
// page, because that is what is read: a copy has no styles, no layout and no current pictures.
import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { walk, type Budget } from '../read/walk';
import { native } from '../native';

export interface Main { root: Element; omit: ReadonlySet<Element>; title: Element | null }

/** Beyond this Readability takes seconds; the page's own landmarks must do. */
const MOST_ELEMENTS = 20_000;
const MOST_TEXT = 2_000_000;
/** How much of the time for the page may go into the copy that Readability judges; the rest is for reading it. */
const COPY_SHARE = 0.4;
/** Less text than this is no content worth taking apart from the page. */
const LEAST_TEXT = 200;
/**
 * How much of the page's text, navigation and the like not counted, its content must be: a page that is plainly an article may
 * have much beside it, on any other page the rest is as good as what Readability liked best.
 */
const LEAST_SHARE = { article: 0.15, other: 0.5 };

const NUMBER = 'data-bridged-n';

/** The main content, or null if the page as a whole is to be read. */
export async function mainContent(budget: Budget): Promise<Main | null> {
  const body = document.body;
  if (!body) return null;
  const judged = isLarge(body) ? null : await byReadability(body, budget);
  return judged ?? byLandmark();
}

/** Counted without making one string of it all, and no further than need be; scripts may be long without the page being so. */
function isLarge(body: Element): boolean {
  if (native(body).getElementsByTagName('*').length > MOST_ELEMENTS) return true;
  const nodes = document.createTreeWalker(body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    (node instanceof Element && /^(?:script|style|noscript|template)$/.test(native(node).localName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  let length = 0;
  while (length <= MOST_TEXT && nodes.nextNode()) if (nodes.currentNode instanceof Text) length += nodes.currentNode.length;
  return length > MOST_TEXT;
}

async function byReadability(body: Element, budget: Budget): Promise<Main | null> {
  const looking = budget.part(MOST_TEXT, COPY_SHARE);
  const { copy, live } = await copyOf(body, looking);
  await budget.pause();
  // Shadow trees can make a page larger than it looked; of a part of a page nothing can be said.
  if (looking.cut) return null;
  const visibilityChecker = () => true;
  if (!isProbablyReaderable(copy, { visibilityChecker, minScore: 8, minContentLength: 80 })) return null;
  const share = LEAST_SHARE[isProbablyReaderable(copy, { visibilityChecker }) ? 'article' : 'other'];
  const all = contentLength(copy.body);
  const article = new Readability<Node>(copy, { keepClasses: true, charThreshold: LEAST_TEXT, serializer: (node) => node }).parse();
  const content = article?.content as Element | undefined;
  if (!content || lengthOf(native(content).textContent) < Math.max(LEAST_TEXT, all * share)) return null;

  const kept = new Set<Element>();
  const tops: Element[] = [];
  for (const node of native(content).querySelectorAll(`[${NUMBER}]`)) {
    const el = live[Number(native(node).getAttribute(NUMBER))];
    if (!el) continue;
    kept.add(el);
    if (!native(native(node).parentElement)?.closest(`[${NUMBER}]`)) tops.push(el);
  }
  const root = commonAncestor(tops);
  if (!root) return null;
  return { root, omit: dropped(root, tops, kept), title: titleBefore(root) };
}

function lengthOf(text: string | null): number {
  return (text ?? '').replace(/\s+/g, ' ').trim().length;
}

/** How much text there is outside of what is plainly not content. */
function contentLength(body: Element): number {
  const texts = document.createTreeWalker(body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    (node instanceof Element && (native(node).localName === 'header' || isAside(node)) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  let length = 0;
  while (texts.nextNode()) if (texts.currentNode instanceof Text) length += lengthOf(texts.currentNode.data);
  return length;
}

/** A copy of what can be seen, shadow trees flattened, every element numbered. */
async function copyOf(body: Element, budget: Budget): Promise<{ copy: Document; live: Element[] }> {
  const copy = document.implementation.createHTMLDocument(document.title);
  const live: Element[] = [];
  let at: Element | null = null;
  await walk(body, {
    element(el) {
      if (native(el).hasAttribute('hidden') || native(el).getAttribute('aria-hidden') === 'true') return 'skip';
      const parent = at;
      let twin: Element;
      if (el === body) twin = copy.body;
      else if (native(el).localName === 'slot') twin = copy.createElement('div');
      else twin = copy.importNode(el, false);
      withoutNames(twin);
      native(twin).setAttribute(NUMBER, String(live.length));
      live.push(el);
      if (el !== body) native(parent!).append(twin);
      at = twin;
      return () => { at = parent; };
    },
    text(text) { native(at)?.append(copy.createTextNode(budget.take(text.data))); },
  }, budget);
  return { copy, live };
}

/** Readability asks the nodes of the copy directly: none of them may hide what a form or the document says of itself. */
function withoutNames(twin: Element): void {
  if (native(twin).matches('button, embed, fieldset, form, iframe, img, input, object, output, select, textarea')) native(twin).removeAttribute('name');
  if (native(twin).matches('button, fieldset, img, input, object, output, select, textarea')) native(twin).removeAttribute('id');
}

function commonAncestor(nodes: Element[]): Element | null {
  const [first, ...rest] = nodes;
  let root: Element | null = first ?? null;
  for (const node of rest) while (root && !native(root).contains(node)) root = native(root).parentElement;
  return root;
}

const CONTENT = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'pre', 'table', 'figure', 'picture', 'img', 'blockquote', 'dl', 'details', 'hr', 'math', 'br', 'span', 'a', 'em', 'strong', 'code']);
const ASIDE = new Set(['nav', 'footer', 'aside', 'form', 'dialog']);
const ASIDE_ROLE = /^(?:navigation|complementary|contentinfo|search|banner|dialog|alertdialog)$/;
const NOISE = /(?:^|[\s_-])(?:related|share|sharing|social|newsletter|subscribe|signup|promo|sponsor(?:ed)?|advert(?:isement)?s?|ads?|cookies?|consent|breadcrumbs?|sidebar|recommend(?:ed|ations?)?|popular|trending|more-(?:stories|articles|news)|read-(?:more|next)|also-like|toolbar|menu|pagination|pager|outbrain|taboola|skip-links?)(?:$|[\s_-])/i;

const REMARK = /(?:^|[\s_-])(?:note|tip|hint|info|important|caution|warning|danger|success|callout|admonition|quote|pullquote|onebox|example|remark|key-(?:point|term|takeaway)s?|special|beta|deprecated|experimental)(?:$|[\s_-])/i;

/** Beside an article they are not it; on the page of a discussion they are all there is. */
const COMMENTS = /(?:^|[\s_-])(?:comments?|disqus)(?:$|[\s_-])/i;

/** What Readability threw out and what looks like what one throws out; a table or a list that it misjudged stays. */
function dropped(root: Element, tops: Element[], kept: Set<Element>): Set<Element> {
  const holds = new Set<Element>();
  for (const el of kept) for (let up: Element | null = el; up && !holds.has(up); up = native(up).parentElement) holds.add(up);
  const wider = !tops.includes(root);
  const omit = new Set<Element>();
  const most = lengthOf(native(root).textContent) / 2;
  const queue: Element[] = [root];
  for (let el = queue.pop(); el; el = queue.pop()) {
    const children = Array.from(native(el).children);
    for (const child of children) {
      if (holds.has(child) && !isChrome(child, most)) queue.push(child);
      else if (holds.has(child) || isNoise(child, 0.6) || (wider && el === root && isBeside(child))) omit.add(child);
    }
    // The heading of something that is left out goes with it.
    children.forEach((child, i) => {
      if (/^h[2-6]$/.test(native(child).localName) && !kept.has(child) && children[i + 1] && omit.has(children[i + 1]!)) omit.add(child);
    });
  }
  return omit;
}

/**
 * Navigation that Readability kept, as it does where it takes the whole body for the content: left out by what it says it is, unless
 * most of the text is in it.
 */
function isChrome(el: Element, most: number): boolean {
  const role = native(el).getAttribute('role') ?? '';
  return (native(el).localName === 'nav' || /^(?:navigation|contentinfo|search)$/.test(role)) && lengthOf(native(el).textContent) < most;
}

function namesOf(el: Element): string {
  return `${native(el).getAttribute('class') ?? ''} ${native(el).id}`;
}

/** A remark or a quotation that belongs where it stands, though its element says aside: notes of manuals, quotes of forums. */
function isRemark(el: Element): boolean {
  if (native(el).localName !== 'aside' || NOISE.test(namesOf(el))) return false;
  return native(el).getAttribute('role') === 'note' || REMARK.test(`${namesOf(el)} ${native(el).getAttribute('aria-label') ?? ''}`) || native(el).querySelector('blockquote, pre') !== null;
}

/** Named as something beside the content, by its element, its role or its class. */
function isAside(el: Element): boolean {
  if (isRemark(el)) return false;
  if (ASIDE.has(native(el).localName) || ASIDE_ROLE.test(native(el).getAttribute('role') ?? '')) return true;
  return !/^(?:body|table|pre|figure)$/.test(native(el).localName) && NOISE.test(namesOf(el));
}

/** Mostly links, or called what is not content. */
function isNoise(el: Element, mostLinks: number): boolean {
  if (isAside(el) || COMMENTS.test(namesOf(el))) return true;
  const all = lengthOf(native(el).textContent);
  if (!all || CONTENT.has(native(el).localName)) return false;
  let linked = 0;
  for (const link of native(el).querySelectorAll('a[href]')) linked += lengthOf(native(link).textContent);
  return linked / all > mostLinks;
}

/** Next to what Readability chose: boxes that float over the page, ask for something, or lead elsewhere. */
function isBeside(el: Element): boolean {
  if (CONTENT.has(native(el).localName) || native(el).querySelector('h1')) return false;
  return isNoise(el, 0.4) || /^(?:fixed|sticky)$/.test(getComputedStyle(el).position) || native(el).querySelector('button, input, select, textarea, form') !== null;
}

/** The page's headline, if it stands before the content rather than in it. */
function titleBefore(root: Element): Element | null {
  const titles = Array.from(document.querySelectorAll('h1')).filter((h1) => h1.checkVisibility({ visibilityProperty: true }) && h1.textContent?.trim());
  const [h1] = titles;
  if (titles.length !== 1 || !h1 || native(root).contains(h1) || h1.closest('nav, footer')) return null;
  if (!(h1.compareDocumentPosition(root) & Node.DOCUMENT_POSITION_FOLLOWING)) return null;
  const same = h1.closest('article, main, [role=main]');
  return native(same)?.contains(root) || document.title.toLowerCase().includes(h1.textContent.replace(/\s+/g, ' ').trim().toLowerCase()) ? h1 : null;
}

/** The one main element, else the one article, without the navigation inside. */
function byLandmark(): Main | null {
  for (const selector of ['main, [role=main]', 'article, [role=article]']) {
    const found = Array.from(document.querySelectorAll<HTMLElement>(selector)).filter((el) => native(el).checkVisibility({ visibilityProperty: true }));
    const [root] = found.filter((el) => !found.some((other) => other !== el && native(other).contains(el)));
    if (found.length !== 1 || !root || native(root).innerText.trim().length < LEAST_TEXT) continue;
    return { root, omit: new Set(native(root).querySelectorAll('nav, [role=navigation], footer, [role=contentinfo]')), title: titleBefore(root) };
  }
  return null;
}
