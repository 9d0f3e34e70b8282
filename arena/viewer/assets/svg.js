// What every drawing uses. Words of others go through `plain` into text nodes; nothing is ever parsed as markup.
const drawings = {};
const SVG = "http://www.w3.org/2000/svg";
const MOST_CHARACTERS = 2300;

function plain(value) {
  const text = String(value);
  const cut = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) + "…" : text;
  return cut.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
}

function grown(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : plain(child));
  }
  return node;
}

const el = (name, attributes = {}, ...children) => grown(document.createElement(name), attributes, children);
const draw = (name, attributes = {}, ...children) => grown(document.createElementNS(SVG, name), attributes, children);
const round = (number) => Math.round(number * 100) / 100;
const points = (pairs) => pairs.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");

function polygon(x, y, radius, sides, turned, attributes = {}) {
  const corners = [];
  for (let at = 0; at < sides; at += 1) {
    const angle = turned + (2 * Math.PI * at) / sides;
    corners.push([x + radius * Math.cos(angle), y + radius * Math.sin(angle)]);
  }
  return draw("polygon", { points: points(corners), ...attributes });
}

// A hex that stands on a point, and one that lies on a side.
const standing = (x, y, radius, attributes) => polygon(x, y, radius, 6, Math.PI / 6, attributes);
const lying = (x, y, radius, attributes) => polygon(x, y, radius, 6, 0, attributes);
const label = (x, y, text, attributes = {}) => draw("text", { x: round(x), y: round(y), ...attributes }, text);
const titled = (node, text) => { node.prepend(draw("title", {}, text)); return node; };

// The style of drawings, for a shadow tree. Without it shapes are black, so what it styles is hidden until it is there.
function styled(href, ...nodes) {
  const link = el("link", { rel: "stylesheet", href });
  for (const node of nodes) {
    node.hidden = true;
    for (const event of ["load", "error"]) link.addEventListener(event, () => { node.hidden = false; });
  }
  return [link, ...nodes];
}

// The border of hexes that stand on a point, given their centres: closed loops of corners, drawn in by `inset`.
function outline(centres, radius, inset = 0) {
  const key = (x, y) => `${Math.round(x * 4)},${Math.round(y * 4)}`;
  const inside = new Set(centres.map(([x, y]) => key(x, y)));
  const corner = (x, y, at) => [x + radius * Math.cos(Math.PI * (2 * at + 1) / 6), y + radius * Math.sin(Math.PI * (2 * at + 1) / 6)];
  const sides = new Map(), loops = [];
  for (const [x, y] of centres) {
    for (let at = 0; at < 6; at += 1) {
      const turned = Math.PI * (at + 1) / 3, apart = radius * Math.sqrt(3);
      if (inside.has(key(x + apart * Math.cos(turned), y + apart * Math.sin(turned)))) continue;
      const from = corner(x, y, at);
      sides.set(key(...from), { from, to: corner(x, y, at + 1), inward: [-Math.cos(turned), -Math.sin(turned)] });
    }
  }
  while (sides.size) {
    const loop = [];
    for (let side = sides.values().next().value, before = null; side;) {
      sides.delete(key(...side.from));
      loop.push(side);
      before = side;
      side = sides.get(key(...before.to));
    }
    loops.push(loop.map(({ from, inward }, at) => {
      const other = loop.at(at - 1).inward;
      return [0, 1].map((axis) => from[axis] + (inset / 1.5) * (inward[axis] + other[axis]));
    }));
  }
  return loops;
}
const closed = (loops) => loops.map((loop) => `M${loop.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}Z`).join("");

function picture(width, height, said, ...children) {
  return draw("svg", { viewBox: `0 0 ${round(width)} ${round(height)}`, role: "img", "aria-label": plain(said),
    "data-wide": round(width) }, ...children);
}

// The class of a seat's colour, of which there are thirteen.
const ofSeat = (seat) => `s${seat % 13}`;

// A seat's own sign, the same everywhere: its number on its colour. No colour says anything alone.
function token(x, y, seat, radius = 9, extra = "") {
  return draw("g", { class: `token ${ofSeat(seat)} ${extra}` },
    draw("circle", { cx: round(x), cy: round(y), r: radius }),
    label(x, y, seat, { "font-size": round(radius * 1.15) }));
}

// The same beside a name.
function badge(seat) {
  return draw("svg", { class: "badge", viewBox: "0 0 24 24", "aria-hidden": "true" }, token(12, 12, seat, 11));
}

function arrow(x1, y1, x2, y2, short1, short2, attributes = {}) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [ax, ay, bx, by] = [x1 + dx * short1, y1 + dy * short1, x2 - dx * short2, y2 - dy * short2];
  return draw("g", attributes,
    draw("line", { x1: round(ax), y1: round(ay), x2: round(bx), y2: round(by) }),
    draw("polygon", { points: points([[bx, by], [bx - dx * 7 - dy * 3.5, by - dy * 7 + dx * 3.5],
      [bx - dx * 7 + dy * 3.5, by - dy * 7 - dx * 3.5]]) }));
}

const listed = (items, none = "none") => (items.length ? items.join(", ") : none);
const counts = (number, noun) => `${number} ${noun}${number === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
// What a seat's bot is called; a long name loses its middle.
function who(seat, names) {
  const name = names[seat];
  return !name ? `seat ${seat}` : name.length > 40 ? `${name.slice(0, 24)}…${name.slice(-15)}` : name;
}

// The names of several seats of one bot, numbered as in replays.
const numbered = (names) => names.map((name, seat) => {
  const before = names.slice(0, seat).filter((each) => each === name).length;
  return before ? `${name} ${before + 1}` : name;
});

// From this many letters on, what all names begin with is worth a "…".
const LEAST_SHARED = 6;

// How many letters all names begin with, up to the end of a part: `hive_mind_` of `hive_mind_reader` and `hive_mind_random`.
function sharedStart(names) {
  if (names.length < 2) return 0;
  let same = 0;
  while (names.every((name) => same < name.length - 1 && name[same] === names[0][same])) same += 1;
  while (same && !"_./- ".includes(names[0][same - 1])) same -= 1;
  return same;
}

// Names of at most so many letters, so cut that no two look the same: what all begin with goes first; then each is cut
// at the place at which most of them differ.
function distinct(names, most) {
  const whole = numbered(names).map((name) => [...name]);
  if (whole.every((name) => name.length <= most)) return whole.map((name) => name.join(""));
  const start = sharedStart(whole);
  if (start >= LEAST_SHARED) return distinct(whole.map((name) => name.slice(start).join("")), most - 2).map((name) => `…${name}`);
  const cut = (name, head) => (name.length <= most ? name : [...name.slice(0, head), "…", ...name.slice(name.length - (most - 1 - head))]).join("");
  const shown = whole.map((name) => cut(name, most >> 1));
  const alike = (at) => shown.some((name, other) => other !== at && name === shown[at]);
  const groups = new Map(), heads = [...Array(most - 1).keys()].sort((a, b) => Math.abs(a - most / 2) - Math.abs(b - most / 2));
  shown.forEach((name, at) => { if (alike(at)) groups.set(name, [...(groups.get(name) ?? []), at]); });
  for (const group of groups.values()) {
    for (const head of heads) if (group.some(alike)) for (const at of group) shown[at] = cut(whole[at], head);
    if (group.some(alike)) for (const at of group) shown[at] = `${cut(whole[at].slice(0, most - 4), most)}… ${at}`;
  }
  return shown;
}

// A seat's name in a picture, in a box of its own, which cuts off what has no room; the title has all of it.
// With the class "right" among `extra` it ends where its box ends, with "middle" it lies in the middle of it.
function nameTag(x, y, wide, seat, names, extra = "", size = 12) {
  const most = Math.floor(wide / (size * (extra.includes("strong") ? 0.66 : 0.583)));
  const shown = distinct(names.map((_, other) => who(other, names)), most)[seat] ?? who(seat, names);
  const [ends, mid] = ["right", "middle"].map((each) => extra.split(" ").includes(each));
  return titled(draw("svg", { x: round(x), y: round(y - size * 0.75), width: wide, height: size * 1.5 },
    label(ends ? wide : mid ? wide / 2 : 0, size * 0.75, shown, { class: ends || mid ? extra : `start ${extra}`, "font-size": size })), names[seat] || `seat ${seat}`);
}

// Pictures side by side, as many as fit; `basis`: about how wide each is, in pixels.
const cards = (pictures, basis) => el("div", { class: `cards b${basis}` }, pictures);
// Pictures in their own size.
const natural = (pictures) => el("div", { class: "cards natural" }, pictures.map((each) => {
  const [, , wide, tall] = each.getAttribute("viewBox").split(" ");
  return grown(each, { width: `${wide / 16}em`, height: `${tall / 16}em` }, []);
}));

// --- A person's turn. `ctx.draft` is `{ window, text }` then: the name of the open window, and what is typed so far. A node
// that can be named has a word in `data-says`; a click on it makes the text what the drawing's `say(text, word, view, window)` returns.
const says = (node, word, ctx) => (ctx.draft ? grown(node, { "data-says": word }, []) : node);
const wordsIn = (text) => text.split(/[\s,]+/).filter(Boolean);
const toggled = (words, word) => (words.includes(word) ? words.filter((each) => each !== word) : [...words, word]);

// Buttons that say a word each: `[word, text, whether it is chosen]`.
const choices = (heading, buttons, ctx) => el("div", { class: "choices", role: "group", "aria-label": heading }, el("h2", {}, heading),
  buttons.map(([word, text, chosen]) => says(el("button", { type: "button", "aria-pressed": Boolean(chosen) }, text), word, ctx)));
const seatChoices = (heading, seats, chosen, ctx) => choices(heading, seats.map((seat) => [String(seat), [badge(seat), ` ${who(seat, ctx.names)}`], seat === chosen]), ctx);
