// Runs drawings where there is no browser: as much of a document as they use, and their pictures as plain values.
// A drawing must call no other part of a document: see docs/adding-a-game.md.
const MOST_NODES = 20000;

class Node {
  constructor(name) { this.nodeName = name; this.attributes = {}; this.childNodes = []; }
  get children() { return this.childNodes.filter((each) => each instanceof Node); }
  get textContent() { return this.childNodes.map((each) => (each instanceof Node ? each.textContent : each)).join(""); }
  set textContent(text) { this.childNodes = [String(text)]; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.hasAttribute(name) ? this.attributes[name] : null; }
  hasAttribute(name) { return Object.hasOwn(this.attributes, name); }
  removeAttribute(name) { delete this.attributes[name]; }
  append(...nodes) { this.childNodes.push(...nodes.map((each) => (each instanceof Node ? each : String(each)))); }
  prepend(...nodes) { this.childNodes.unshift(...nodes.map((each) => (each instanceof Node ? each : String(each)))); }
  appendChild(node) { this.append(node); return node; }
  replaceChildren(...nodes) { this.childNodes = []; this.append(...nodes); }
}
const document = {
  createElement: (name) => new Node(name),
  createElementNS: (_, name) => new Node(name),
  createTextNode: (text) => String(text),
};

// Every match gets drawings of its own, because a drawing may remember what it has drawn.
const makers = {};

// The match whose data was loaded last.
let game = null, steps = null;
function load(text) {
  const data = JSON.parse(text);
  steps = stepsOf(data);
  game = makers[data.game]?.();
}

function plainValues(node, count) {
  if (!(node instanceof Node)) return String(node);
  count.nodes += 1;
  if (count.nodes > MOST_NODES) throw new RangeError(`the drawing has more than ${MOST_NODES} elements`);
  return [node.nodeName, node.attributes, node.childNodes.map((each) => plainValues(each, count))];
}

// The drawing of a step: heading, legend, scores and tree, encoded as JSON.
function drawn(eyes, at) {
  const context = steps.contextOf(eyes, at), view = steps.viewOf(eyes, at);
  if (!game || !view) return JSON.stringify(["", "", null, null]);
  const drawing = game.board(view, context);
  const tree = drawing?.node ? plainValues(drawing.node, { nodes: 0 }) : null;
  const scores = game.scores?.(view, context)?.of ?? null;
  return JSON.stringify([String(drawing?.heading ?? ""), String(drawing?.legend ?? ""), scores, tree]);
}
