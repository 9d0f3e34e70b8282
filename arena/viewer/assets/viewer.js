// The page: what is shown of which step, to which eyes.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const game = drawings[data.game] ?? { name: data.game, board: () => null, scores: () => null };
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 30, 60];
const LAST = data.steps.length - 1;
let ROW = 30;
const MOST_WORDS = 600;
const state = { at: 0, eyes: data.eyes[0], layer: null, playing: false, loops: false, speed: SPEEDS.indexOf(1) };
const { viewOf, contextOf } = stepsOf(data);
const context = (at) => ({ ...contextOf(state.eyes, at), layer: state.layer });
const mayKnow = (seat) => seat === null || state.eyes === "host" || String(seat) === state.eyes;
const nameOf = (seat) => who(seat, data.names);
const eyesOf = (eyes) => (eyes === "host" ? "everything" : eyes === "spectator" ? "what the audience sees" : `what ${nameOf(eyes)} sees`);

// --- What a step opens with: in the host's eyes the remarks; in others, and in a game without remarks, what all were
// told, what was played as far as it may be known, and what the seat was told.
const moveLine = ([text, seat]) => `${nameOf(seat)}: ${text}`;
const KEY_WEIGHT = 2, END_WEIGHT = 3, FEW_LINES = 3;
function linesOf(at) {
  const step = data.steps[at], lines = state.eyes === "host" ? [...step.remarks ?? []] : [];
  if (!lines.length) {
    const told = (step.told ?? []).filter(([, seat]) => seat === null || String(seat) === state.eyes);
    for (const [text, seat] of told) if (seat === null) lines.push([text, 0]);
    for (const [text, seat] of step.moves ?? []) if (mayKnow(seat)) lines.push([moveLine([text, seat]), 0]);
    for (const [text, seat] of told) if (seat !== null) lines.push([text, 0]);
  }
  // Unusual ends are said, and usual ones where no remark says them.
  const ends = lines.some(([, weight]) => weight === END_WEIGHT);
  for (const [text, seat, kind] of step.facts ?? []) {
    if (!mayKnow(seat)) continue;
    if (kind === "pause") lines.push([text, 1]);
    else if (kind === "end" && text !== "conduct: ok" && !(ends && text.startsWith("over: "))) lines.push([text, END_WEIGHT]);
  }
  if (!lines.length) lines.push([at === 0 ? "The match begins" : state.eyes === "host" ? "Nothing to report" : `Nothing new in ${eyesOf(state.eyes)}`, 0]);
  return lines.length > FEW_LINES || lines.some(([, weight]) => weight === END_WEIGHT) ? [...lines].sort((a, b) => b[1] - a[1]) : lines;
}

const heaviest = (lines) => lines.reduce((best, each) => (each[1] > best[1] ? each : best));

// The steps that a turning point or the end is in. Only who sees everything may know them.
const moments = data.steps.flatMap((step, at) => ((step.remarks ?? []).some(([, weight]) => weight >= KEY_WEIGHT) ? [at] : []));
const momentsNow = () => (state.eyes === "host" ? moments : []);

function showSaid() {
  renew($("said"), linesOf(state.at).map(([text, weight]) => el("li", { class: `w${weight}` }, text)));
}

// --- The parts of the page.
// How long a drawing moves: not at all where one steps quickly or jumps, or who looks wants no motion.
const MOTION_MS = 400, QUICK_MS = 300;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const drawnLast = { at: -1, eyes: "", when: -Infinity };
function motionMs(at) {
  const since = performance.now() - drawnLast.when, next = drawnLast.eyes === state.eyes && Math.abs(at - drawnLast.at) === 1;
  Object.assign(drawnLast, { at, eyes: state.eyes, when: performance.now() });
  const most = state.playing ? 600 / SPEEDS[state.speed] : MOTION_MS;
  return calm.matches || !next || since < QUICK_MS || most < QUICK_MS / 2 ? 0 : Math.min(MOTION_MS, most);
}

function showBoard(view, ctx) {
  const words = data.boards[state.eyes][ctx.at];
  let drawn = null;
  if (view) {
    try { drawn = game.board(view, ctx); } catch (error) {
      // One seat's own file may show what no match had.
      if (data.own === null) console.error(error);
      drawn = { heading: "this cannot be drawn", legend: "", node: tidy(view) };
    }
  }
  drawn ??= view ? { heading: "", legend: data.game in drawings ? "" : "This game has no drawing of its own.", node: tidy(view) }
    : { heading: "no board", legend: typeof words === "string" ? words : "", node: null };
  $("heading").textContent = plain(drawn.heading);
  $("legend").textContent = plain(drawn.legend);
  redraw($("board"), drawn.node ? [drawn.node] : [], motionMs(ctx.at));
  renew($("more"), drawn.more ?? []);
  showLayers(drawn.layers ?? []);
  return drawn;
}

// What a drawing can show besides: a button each, of which one may be pressed.
function showLayers(layers) {
  renew($("layers"), layers.map(({ id, name }) => el("button", { type: "button", "data-layer": id, "aria-pressed": id === state.layer }, name)));
}

function showTold() {
  if (!$("told").open) return;
  const step = data.steps[state.at], rows = [];
  for (const [text, seat, kind] of step.facts ?? []) {
    if (mayKnow(seat)) rows.push(el("li", { class: kind }, el("span", { class: "kind" }, SIGNS[kind] ?? "", " ", kind), " ", text));
  }
  for (const [text, seat] of step.told ?? []) {
    if (mayKnow(seat)) rows.push(el("li", { class: "told" }, el("span", { class: "kind" }, seat === null ? "told to all" : `told to ${nameOf(seat)}`), " ", text));
  }
  if (!rows.length) rows.push(el("li", { class: "soft" }, state.eyes === "host" ? "nothing to report" : "hidden from this viewpoint"));
  renew($("facts"), rows);
  $("title").textContent = plain(step.title);
  showClocks();
}

const SIGNS = { taken: "✓", default: "○", refused: "✕", late: "◷", verdict: "§", gone: "†", pause: "‖", note: "✎", end: "■" };

// The list of steps: only the rows that are in sight are in the page. A row stays the row of its step as long as it
// is there, so that what is clicked or focused is what was seen. One row is reached by Tab: that of the step now.
let firstRow = -1;
const rowsThere = new Map();
function rowOf(at, stop) {
  const [line, weight] = heaviest(linesOf(at)), key = weight >= KEY_WEIGHT && state.eyes === "host";
  const moves = (data.steps[at].moves ?? []).filter(([, seat]) => mayKnow(seat));
  const text = moves.length > 1 && line === moveLine(moves[0]) ? `${moves.length} bots act` : line;
  const known = (data.steps[at].facts ?? []).filter(([, seat, kind]) => mayKnow(seat) && kind !== "taken" && kind !== "end");
  const signs = [...new Set(known.map(([, , kind]) => kind))].map((kind) => [kind, kind, SIGNS[kind]]);
  if (key) signs.push(["key", "key moment", "★"]);
  return el("li", { "aria-setsize": LAST + 1, "aria-posinset": at + 1 },
    el("button", { type: "button", "data-step": at, tabindex: at === stop ? 0 : -1, class: key ? "key" : null, ...(at === state.at ? { "aria-current": "step" } : {}) },
      el("span", { class: "number" }, at + 1), el("span", { class: "text" }, text.slice(0, 160)),
      el("span", { class: "signs" }, signs.map(([kind, said, sign]) => el("span", { class: kind, title: said, role: "img", "aria-label": said }, sign)))));
}

function showRows(follow) {
  const box = $("steps"), rows = $("rows");
  ROW = Math.round(1.9 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  rows.style.setProperty("--row", `${ROW}px`);
  rows.style.height = `${(LAST + 1) * ROW}px`;
  if (follow) {
    const top = state.at * ROW;
    if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
  }
  const seen = Math.floor(box.scrollTop / ROW), held = rows.contains(document.activeElement);
  firstRow = Math.max(0, seen - 4);
  const end = Math.min(LAST + 1, firstRow + Math.ceil(box.clientHeight / ROW) + 8);
  const stop = state.at >= firstRow && state.at < end ? state.at : Math.min(seen, LAST);
  rows.style.paddingTop = `${firstRow * ROW}px`;
  for (const [at, row] of rowsThere) if (at < firstRow || at >= end) { row.remove(); rowsThere.delete(at); }
  let spot = rows.firstChild;
  for (let at = firstRow; at < end; at += 1) {
    const row = rowsThere.get(at), made = rowOf(at, stop);
    if (row) { become(row, made); spot = row.nextSibling; }
    else { rowsThere.set(at, made); rows.insertBefore(made, spot); }
  }
  if (held && follow) rows.querySelector(`[data-step="${state.at}"]`)?.focus({ preventScroll: true });
  else if (held && !rows.contains(document.activeElement)) box.focus({ preventScroll: true });
}

// Whether a value says that something is there.
const saysAny = (value) => value !== null && value !== "" && (typeof value !== "object" || Object.values(value).some(saysAny));

// The entries of a long list of which most have the same simple value: the others, and what that value is.
const MANY_ALIKE = 6;
function withoutUsual(entries) {
  const times = new Map();
  for (const [, each] of entries) if (typeof each !== "object") times.set(each, (times.get(each) ?? 0) + 1);
  const [usual, often] = [...times].reduce((best, each) => (each[1] > best[1] ? each : best), [null, 0]);
  if (often < MANY_ALIKE || 2 * often < entries.length) return entries;
  return [...entries.filter(([, each]) => each !== usual), [often === entries.length ? "all" : "all others", usual]];
}

// A view as a list: for those who do not see the picture, and for games without one. What is empty is left out.
function tidy(value, budget = { left: MOST_WORDS }) {
  if (value === null || typeof value !== "object") return el("span", {}, value === null ? "none" : value === true ? "yes" : value === false ? "no" : value);
  const simple = (each) => each === null || typeof each !== "object";
  if (Array.isArray(value) && value.every(simple)) return el("span", {}, listed(value.slice(0, 100).map((each) => each ?? "none")));
  const list = el("dl", { class: "tidy" });
  for (const [key, each] of withoutUsual(Object.entries(value).filter(([, each]) => saysAny(each)))) {
    if (budget.left <= 0) { list.append(el("dt", {}, "…"), el("dd", {}, "the rest is left out")); break; }
    budget.left -= 1;
    list.append(el("dt", {}, String(key).replaceAll("_", " ")), el("dd", {}, tidy(each, budget)));
  }
  return list;
}

function showWords() {
  const view = $("words").open ? viewOf(state.eyes, state.at) : null;
  const said = [...document.querySelectorAll("#stage [role=img]")].map((each) => el("p", {}, `${each.getAttribute("aria-label")}.`));
  $("view").replaceChildren(...(view ? [...said, el("h3", {}, "What is known"), tidy(view)] : []));
}

function show() {
  const view = viewOf(state.eyes, state.at), ctx = context(state.at);
  showSaid();
  const drawn = showBoard(view, ctx);
  showTold();
  showSeats(view, ctx, drawn.podium);
  showRows(true);
  showWords();
  showCell();
  showControls();
}
