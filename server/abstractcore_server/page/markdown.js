// Markdown of answers, as elements. markdown-it reads it; each of its tokens becomes an element or a text node: nothing is
// ever parsed as HTML, no image is loaded, and links lead to pages and mail only.

import { copyButton, element } from "./elements.js";

const LONGEST = 100_000; // characters
const DEEPEST = 100; // the parser leaves out what is nested more deeply
const SHARE = 4; // of the time, at most a fifth goes into drawing an answer that is still being written
const parser = globalThis.markdownit({ html: false, maxNesting: DEEPEST });
parser.validateLink = (url) => /^(https?:\/\/|mailto:)/i.test(url.trim());

// A text that grows: `update` draws it anew where it may have changed, soon and not too often.
export class MarkdownText {
  constructor() {
    this.element = element("div", { class: "text" });
    this.isPlain = false;
    this.forget();
    this.text = "";
    this.wanted = 0; // the id of a timer
    this.next = 0;
  }

  update(text, onDrawn = () => {}) {
    this.text = withoutReturns(text);
    if (this.wanted) return;
    const wait = Math.max(0, this.next - performance.now());
    this.wanted = setTimeout(() => {
      this.wanted = 0;
      this.draw();
      onDrawn();
    }, wait);
  }

  // Draws the whole text: no part follows.
  end(text) {
    clearTimeout(this.wanted);
    this.wanted = 0;
    this.text = withoutReturns(text);
    this.draw();
    if (this.isPlain || !Object.keys(this.env.references ?? {}).length) return;
    this.forget(); // definitions count for the text before them, too
    this.draw();
  }

  draw() {
    const began = performance.now();
    if (this.isPlain) this.element.lastChild.data = this.text;
    else if (this.text.length > LONGEST) this.drawPlain(`Longer than ${LONGEST.toLocaleString("en")} characters`);
    else this.drawBlocks();
    this.next = performance.now() + SHARE * (performance.now() - began);
  }

  // Blocks before the last two never change again: a line that is not complete may still join the two.
  drawBlocks() {
    const rest = this.text.slice(this.settled);
    const tokens = parser.parse(rest, this.env);
    if (tokens.some((token) => token.level >= DEEPEST - 1)) {
      this.drawPlain("Nested too deeply");
      return;
    }
    const starts = tokens.flatMap((token, index) => (token.level === 0 && token.nesting >= 0 ? [index] : []));
    for (const node of this.open) node.remove();
    const kept = starts.length > 2 ? starts.at(-2) : 0;
    this.element.append(...nodesOf(tokens.slice(0, kept)));
    this.open = nodesOf(tokens.slice(kept));
    this.element.append(...this.open);
    if (kept) this.settled += offsetOfLine(rest, tokens[kept].map[0]);
  }

  drawPlain(why) {
    this.isPlain = true;
    this.element.classList.add("plain");
    this.element.replaceChildren(element("p", { class: "muted" }, `${why}: shown as plain text.`), this.text);
  }

  forget() {
    this.element.replaceChildren();
    this.env = {}; // definitions of links
    this.settled = 0; // characters before the blocks in `open`
    this.open = [];
  }
}

// One character ends a line, as in what the parser reads: its lines are counted here.
function withoutReturns(text) {
  return text.replace(/\r\n?/g, "\n");
}

function offsetOfLine(text, line) {
  let offset = 0;
  for (let count = 0; count < line; count += 1) offset = text.indexOf("\n", offset) + 1;
  return offset;
}

function nodesOf(tokens) {
  const root = document.createDocumentFragment();
  const parents = [root];
  for (const token of tokens) {
    const parent = parents.at(-1);
    if (token.nesting === -1) {
      closed(parents.pop());
    } else if (token.nesting === 1) {
      const made = token.hidden ? parent : opened(token);
      if (made !== parent) parent.append(made.outer ?? made);
      parents.push(made.inner ?? made);
    } else {
      parent.append(...leaves(token));
    }
  }
  return [...root.childNodes];
}

// The element of a token that has content; one with a frame as { outer, inner }.
function opened(token) {
  const { tag } = token;
  if (token.type === "heading_open") return element("h3", { class: `level-${tag.slice(1)}` });
  if (token.type === "table_open") {
    const inner = element("table");
    return { inner, outer: element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Table" }, inner) };
  }
  if (token.type === "link_open") {
    return element("a", { href: token.attrGet("href"), target: "_blank", rel: "noopener noreferrer" });
  }
  const made = element(tag);
  if (tag === "ol") made.start = Number(token.attrGet("start") ?? 1);
  if (tag === "th" || tag === "td") made.style.textAlign = token.attrGet("style")?.replace("text-align:", "") ?? "";
  if (tag === "th") made.scope = "col";
  return made;
}

// A head without text is none: readers of tables would say nothing for its column.
function closed(made) {
  if (made.tagName === "TH" && !made.textContent) made.replaceWith(element("td"));
}

function leaves(token) {
  switch (token.type) {
    case "inline":
      return nodesOf(token.children);
    case "code_inline":
      return [element("code", {}, token.content)];
    case "fence":
    case "code_block":
      return [codeBlock(token.info.trim().split(/\s/, 1)[0], token.content.replace(/\n$/, ""))];
    case "softbreak":
    case "hardbreak":
      return [element("br")];
    case "hr":
      return [element("hr")];
    case "image":
      return [imageLink(token)];
    default:
      return [token.content];
  }
}

function codeBlock(language, text) {
  const name = language ? `Code, ${language}` : "Code";
  return element(
    "div",
    { class: "code-block" },
    element("div", { class: "copied" }, element("span", { class: "muted" }, language), copyButton(name, text)),
    element("pre", { tabindex: "0", role: "group", "aria-label": name }, element("code", {}, text)),
  );
}

// The address of an image could tell its owner who reads it: it is loaded only by whoever opens the link.
function imageLink(token) {
  const name = token.children.map((child) => child.content).join("") || "image";
  return element("a", { href: token.attrGet("src"), target: "_blank", rel: "noopener noreferrer" }, `Image: ${name}`);
}
