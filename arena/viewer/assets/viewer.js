// The page: what is shown of which step, to which eyes.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const game = drawings[data.game] ?? { name: data.game, board: () => null, scores: () => null };
const SPEEDS = [0.5, 1, 2, 4, 8, 16, 30, 60];
const LAST = data.steps.length - 1;
let ROW = 30;
const MOST_WORDS = 600;
const state = { at: 0, eyes: data.eyes[0], layer: null, playing: false, speed: 2 };
const curves = new Map();
const { viewOf, contextOf } = stepsOf(data);
const context = (at) => ({ ...contextOf(state.eyes, at), layer: state.layer });
const mayKnow = (seat) => seat === null || state.eyes === "host" || String(seat) === state.eyes;
const nameOf = (seat) => who(seat, data.names);
const eyesOf = (eyes) => (eyes === "host" || eyes === "spectator" ? `the ${eyes}` : nameOf(eyes));

// --- Clocks: the last that is known of each seat, step by step.
const clocks = [];
{
  // Before a seat's first window its reserve is whole, as agreed.
  let known = data.names.map((_, seat) => (data.reserve_ms ? [seat, 0, 0, data.reserve_ms] : undefined));
  for (const step of data.steps) {
    if (step.clocks) {
      known = [...known];
      for (const each of step.clocks) known[each[0]] = each;
    }
    clocks.push(known);
  }
}
const mostReserve = Math.max(data.reserve_ms, 1, ...data.steps.flatMap((step) => (step.clocks ?? []).map((each) => each[3])).slice(0, 50000));

function lasting(ms) {
  if (ms < 1) return "under 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60000);
  return minutes < 60 ? `${minutes} min ${Math.floor((ms % 60000) / 1000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// `share` of the bar is full, and what is left up to `over` was taken from the reserve.
function bar(kind, share, said, over = 0) {
  const wide = (part) => round(Math.max(0, Math.min(1, part)) * 100);
  return el("span", { class: "gauge", title: said },
    draw("svg", { class: `bar ${kind}`, viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
      draw("rect", { width: 100, height: 6, class: "empty" }), draw("rect", { width: wide(over), height: 6, class: "over" }),
      draw("rect", { width: wide(share), height: 6, class: "full" })),
    el("span", { class: "soft" }, said));
}

function clockBars([, main, used, reserve]) {
  const bars = [];
  if (main && used > main && data.reserve_ms) bars.push(bar("used", main / used, `used ${lasting(used)}, main ${lasting(main)}`, 1));
  else if (main) bars.push(bar("used", used / main, `used ${lasting(used)} of ${lasting(main)}`));
  else if (used) bars.push(el("span", { class: "soft" }, `used ${lasting(used)}`));
  const of = data.reserve_ms && reserve <= data.reserve_ms ? ` of ${lasting(data.reserve_ms)}` : "";
  if (data.reserve_ms || reserve) bars.push(bar("reserve", reserve / mostReserve, `reserve ${lasting(reserve)}${of}`));
  return el("span", { class: "clocks" }, bars);
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
}

// What a drawing can show besides: a button each, of which one may be pressed.
function showLayers(layers) {
  renew($("layers"), layers.map(({ id, name }) => el("button", { type: "button", "data-layer": id, "aria-pressed": id === state.layer }, name)));
}

function showTold(step) {
  const rows = [];
  for (const [text, seat, kind] of step.facts ?? []) {
    if (mayKnow(seat)) rows.push(el("li", { class: kind }, el("span", { class: "kind" }, SIGNS[kind] ?? "", " ", kind), " ", text));
  }
  for (const [text, seat] of step.told ?? []) {
    if (mayKnow(seat)) rows.push(el("li", { class: "told" }, el("span", { class: "kind" }, seat === null ? "told to all" : `told to ${nameOf(seat)}`), " ", text));
  }
  const nothing = state.eyes === "host" ? "nothing to report" : "hidden from this viewpoint";
  if (!rows.length) rows.push(el("li", { class: "soft" }, nothing));
  renew($("facts"), rows);
  $("title").textContent = plain(step.title);
}

const SIGNS = { taken: "✓", default: "○", refused: "✕", late: "◷", verdict: "§", gone: "†", pause: "‖", note: "✎", end: "■" };

function showSeats(view, ctx) {
  let scores = null;
  try { scores = view && game.scores(view, ctx); } catch { /* as above */ }
  const order = data.names.map((_, seat) => seat);
  const ended = ctx.at === LAST && data.places.some((place) => place !== null);
  if (ended) order.sort((a, b) => (data.places[a] ?? Infinity) - (data.places[b] ?? Infinity) || a - b);
  else if (scores) order.sort((a, b) => (scores.of[b] ?? -Infinity) - (scores.of[a] ?? -Infinity) || a - b);
  const rows = order.map((seat) => {
    const clock = mayKnow(seat) ? clocks[ctx.at][seat] : undefined;
    const row = el("li", {}, badge(seat), el("span", { class: "who" }, nameOf(seat)),
      el("span", { class: "score" }, scores && scores.of[seat] !== null && scores.of[seat] !== undefined ? scores.of[seat] : ""));
    const manifest = data.manifests?.[seat] ? `manifest: ${data.manifests[seat].slice(0, 80)}` : null;
    const details = [ended && data.places[seat] !== null ? `place ${data.places[seat]}` : null, scores?.text?.[seat], manifest].filter(Boolean);
    if (details.length) row.append(el("span", { class: "soft detail" }, details.join(" · ")));
    if (clock) row.append(clockBars(clock));
    return row;
  });
  renew($("standing"), rows);
  $("seats").querySelector("h2").textContent = plain(ended ? `Final places${scores ? `, with ${scores.what}` : ""}` : scores ? `Bots by ${scores.what}` : "Bots");
  showCurve(ctx.at);
}

// The ends of an axis: whole steps of 1, 2 or 5 times a power of ten.
function roundEnds(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
  return { low: Math.floor(low / step) * step, high: Math.ceil(high / step) * step };
}

// Scores over the steps, for the eyes of now: at most 300 points a seat.
function curveOf(eyes) {
  if (!curves.has(eyes)) {
    const by = Math.max(1, Math.ceil(LAST / 300)), seen = [];
    for (let at = 0; at <= LAST; at = at === LAST ? at + 1 : Math.min(LAST, at + by)) {
      let scores = null;
      try { const view = viewOf(eyes, at); scores = view && game.scores(view, context(at)); } catch { /* as above */ }
      if (scores) seen.push([at, scores.of]);
    }
    const values = seen.flatMap(([, of]) => of.filter((each) => typeof each === "number"));
    curves.set(eyes, values.length && seen.length > 2 ? { seen, ...roundEnds(Math.min(0, ...values), Math.max(1, ...values)) } : null);
  }
  return curves.get(eyes);
}

// What was not looked at yet is not drawn: nobody learns the end at the first step.
let curveEyes = null, curveTo = -1, cursor = null;
function showCurve(at) {
  const x = (step) => round(24 + (step / Math.max(1, LAST)) * 250);
  if (curveEyes !== state.eyes || curveTo < at) {
    curveEyes = state.eyes;
    curveTo = Math.max(curveTo, at);
    const curve = curveOf(state.eyes);
    $("curve").replaceChildren();
    cursor = null;
    if (!curve) return;
    const y = (value) => round(84 - ((value - curve.low) / (curve.high - curve.low)) * 76);
    const ends = [];
    const lines = data.names.map((_, seat) => {
      const known = curve.seen.filter(([step, of]) => step <= curveTo && typeof of[seat] === "number");
      if (known.length) ends.push([seat, y(known.at(-1)[1][seat])]);
      return draw("polyline", { class: `line s${seat % 8} ${seat >= 8 ? "dashed" : ""}`, points: known.map(([step, of]) => `${x(step)},${y(of[seat])}`).join(" ") });
    });
    ends.sort((a, b) => a[1] - b[1]);
    const gap = Math.min(9, 84 / Math.max(1, ends.length));
    ends.forEach((end, n) => { end[1] = Math.max(end[1], n ? ends[n - 1][1] + gap : 6); });
    for (let n = ends.length - 1, floor = 88; n >= 0; n -= 1, floor -= gap) ends[n][1] = Math.min(ends[n][1], floor);
    cursor = draw("line", { class: "cursor", y1: 4, y2: 88 });
    $("curve").append(draw("svg", { viewBox: "0 0 292 96", role: "img", "aria-label": "scores, step by step" },
      draw("line", { class: "axis", x1: 24, x2: 274, y1: y(0), y2: y(0) }),
      label(20, y(curve.high) + 1, curve.high, { class: "tick", "text-anchor": "end", "font-size": 8 }),
      label(20, y(curve.low), curve.low, { class: "tick", "text-anchor": "end", "font-size": 8 }),
      lines, ends.map(([seat, y]) => label(x(curveTo) + 4, y, seat, { class: `end s${seat % 8}`, "font-size": 8, "text-anchor": "start" })), cursor));
  }
  if (cursor) { cursor.setAttribute("x1", x(at)); cursor.setAttribute("x2", x(at)); }
}

// A line of the list has room for a name or a seat's number, and not for both.
function short(words) {
  const seat = /^seat (\d+) \(/.exec(words)?.[1];
  const both = `seat ${seat} (${data.names[seat]}): `;
  return (words.startsWith(both) ? `${nameOf(seat)}: ${words.slice(both.length)}` : words).slice(0, 120);
}

// The list of steps: only the rows that are in sight are in the page. A row stays the row of its step as long as it
// is there, so that what is clicked or focused is what was seen. One row is reached by Tab: that of the step now.
let firstRow = -1;
const rowsThere = new Map();
function rowOf(at, stop) {
  const step = data.steps[at];
  const known = (step.facts ?? []).filter(([, seat]) => mayKnow(seat));
  const signs = [...new Set(known.map(([, , kind]) => kind))].filter((kind) => kind !== "taken");
  const acted = known.filter(([, , kind]) => kind === "taken" || kind === "default");
  const words = acted.length === 1 ? acted[0][0] : acted.length ? `${acted.length} bots acted` : (step.told ?? []).find(([, seat]) => mayKnow(seat))?.[0] ?? step.title;
  const row = el("li", { "aria-setsize": LAST + 1, "aria-posinset": at + 1 },
    el("button", { type: "button", "data-step": at, tabindex: at === stop ? 0 : -1, ...(at === state.at ? { "aria-current": "step" } : {}) },
      el("span", { class: "number" }, at + 1), el("span", { class: "text" }, short(String(words))),
      el("span", { class: "signs" }, signs.map((kind) => el("span", { class: kind, title: kind, role: "img", "aria-label": kind }, SIGNS[kind])))));
  return row;
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

// A view as a list: for those who do not see the picture, and for games without one.
function tidy(value, budget = { left: MOST_WORDS }) {
  if (value === null || typeof value !== "object") return el("span", {}, value === null ? "none" : value === true ? "yes" : value === false ? "no" : value);
  const simple = (each) => each === null || typeof each !== "object";
  if (Array.isArray(value) && value.every(simple)) return el("span", {}, listed(value.slice(0, 100).map((each) => each ?? "none")));
  const list = el("dl", { class: "tidy" });
  for (const [key, each] of Object.entries(value)) {
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

let later = 0;
function settle() {
  clearTimeout(later);
  if (state.playing) return;
  later = setTimeout(() => {
    try { history.replaceState(null, "", `#step=${state.at + 1}&eyes=${state.eyes}`); } catch { /* a page in a frame */ }
    $("live").textContent = plain(`Step ${state.at + 1} of ${LAST + 1}, as seen by ${eyesOf(state.eyes)}. ${$("heading").textContent}. ${[...$("facts").children].slice(0, 4).map((each) => each.textContent).join(". ")}`);
  }, 200);
}

function show() {
  const view = viewOf(state.eyes, state.at), ctx = context(state.at), step = data.steps[state.at];
  showBoard(view, ctx);
  showTold(step);
  showSeats(view, ctx);
  showRows(true);
  showWords();
  $("slider").value = state.at + 1;
  $("slider").setAttribute("aria-valuetext", `step ${state.at + 1} of ${LAST + 1}`);
  $("where").textContent = `${state.at + 1} / ${LAST + 1}`;
  $("eyes").value = state.eyes;
  $("speed").value = state.speed;
  $("first").disabled = $("back").disabled = state.at === 0;
  $("next").disabled = $("last").disabled = state.at === LAST;
  settle();
}

function go(to) {
  state.at = Math.max(0, Math.min(LAST, to));
  show();
}

function playing(on) {
  if (on && state.at === LAST) state.at = 0;
  state.playing = on && LAST > 0;
  $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  document.body.classList.toggle("playing", state.playing);
  due = performance.now() + 1000 / SPEEDS[state.speed];
  cancelAnimationFrame(framed);
  if (state.playing) framed = requestAnimationFrame(frame);
  show();
}

let due = 0, framed = 0;
function frame(now) {
  if (!state.playing) return;
  if (now >= due - 4) {
    // A frame that came late shows the step that is due by then.
    const each = 1000 / SPEEDS[state.speed], steps = Math.max(1, Math.floor((now - due) / each) + 1);
    due += steps * each;
    go(state.at + steps);
    if (state.at === LAST) { playing(false); return; }
  }
  framed = requestAnimationFrame(frame);
}

function look(eyes) {
  if (!data.eyes.includes(eyes)) return;
  state.eyes = eyes;
  show();
}

function faster(by) {
  state.speed = Math.max(0, Math.min(SPEEDS.length - 1, state.speed + by));
  due = Math.min(due, performance.now() + 1000 / SPEEDS[state.speed]);
  show();
}

const KEYS = {
  ArrowRight: () => leave(state.at + 1), ArrowLeft: () => leave(state.at - 1), PageDown: () => leave(state.at + 10),
  PageUp: () => leave(state.at - 10), Home: () => leave(0), End: () => leave(LAST), " ": () => playing(!state.playing),
  "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1), h: () => look("host"), s: () => look("spectator"),
  e: () => nextEyes(1), E: () => nextEyes(-1),
};
const UP_DOWN = { ArrowUp: -1, ArrowDown: 1 };
const leave = (to) => { if (state.playing) playing(false); go(to); };
const nextEyes = (by) => look(data.eyes[(data.eyes.indexOf(state.eyes) + by + data.eyes.length) % data.eyes.length]);

// The same replay may be of several matches: which one it was opened from is in the link alone.
const MATCH = /^[a-z0-9][a-z0-9-]{0,63}\/[1-9]\d{0,8}[a-z]{1,4}$/;
// Older links have block and seating, both counted from 0.
const OLD_MATCH = /^([a-z0-9][a-z0-9-]{0,63})\/(\d{1,8})-(\d{1,2})$/;
const named = (given) => given.replace(OLD_MATCH, (_, slug, block, seating) => `${slug}/${Number(block) + 1}${"abcdefghijklmnopqrstuvwxyz"[seating] ?? ""}`);
let match = null;

function fromLink() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const name = named(asked.get("match") ?? "");
  if ($("match") && MATCH.test(name)) {
    match = name;
    const [slug, file] = match.split("/");
    $("match").href = `../${slug}/match/${file}.html`;
    $("match").textContent = "Back to the match";
  }
  const step = Number.parseInt(asked.get("step") ?? "", 10), eyes = asked.get("eyes");
  if (Number.isFinite(step)) state.at = Math.max(0, Math.min(LAST, step - 1));
  if (eyes !== null && data.eyes.includes(eyes)) state.eyes = eyes;
}

$("game").textContent = plain(game.name);
$("count").textContent = `Steps (${LAST + 1})${data.left_out ? "; some boards or words are left out to keep the page small" : ""}`;
$("slider").max = LAST + 1;
for (const eyes of data.eyes) {
  $("eyes").append(el("option", { value: eyes }, eyes === "host" ? "host: everything" : eyes === "spectator" ? "spectator" : data.names[eyes] ? `${nameOf(eyes)} (seat ${eyes})` : `seat ${eyes}`));
}
$("eyes").disabled = data.eyes.length === 1;
SPEEDS.forEach((speed, at) => $("speed").append(el("option", { value: at }, `${speed} / s`)));
$("eyes").addEventListener("change", () => look($("eyes").value));
$("speed").addEventListener("change", () => { state.speed = Number($("speed").value); playing(state.playing); });
$("slider").addEventListener("input", () => leave(Number($("slider").value) - 1));
$("first").addEventListener("click", () => leave(0));
$("back").addEventListener("click", () => leave(state.at - 1));
$("next").addEventListener("click", () => leave(state.at + 1));
$("last").addEventListener("click", () => leave(LAST));
$("play").addEventListener("click", () => playing(!state.playing));
$("link").addEventListener("click", async () => {
  const here = `step=${state.at + 1}&eyes=${state.eyes}${match ? `&match=${match}` : ""}`;
  try { await navigator.clipboard.writeText(`${location.href.split("#")[0]}#${here}`); $("live").textContent = "The link is copied."; } catch { location.hash = here; }
});
$("steps").addEventListener("scroll", () => { if (Math.abs(Math.floor($("steps").scrollTop / ROW) - 4 - firstRow) > 2) showRows(false); });
$("rows").addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-step]");
  if (chosen) leave(Number(chosen.dataset.step));
});
$("layers").addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-layer]")?.dataset.layer;
  if (chosen === undefined) return;
  state.layer = state.layer === chosen ? null : chosen;
  show();
});
$("words").addEventListener("toggle", showWords);
addEventListener("hashchange", () => { fromLink(); show(); });
addEventListener("resize", () => showRows(false));
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, textarea")) return;
  if (event.target.matches("input") && event.key.startsWith("Arrow")) return;
  if (event.target.matches("#rows button") && UP_DOWN[event.key]) {
    event.preventDefault();
    leave(state.at + UP_DOWN[event.key]);
    return;
  }
  if (event.key === " " && event.target.matches("button, summary")) return;
  const act = KEYS[event.key] ?? (/^[0-9]$/.test(event.key) ? () => look(event.key) : null);
  if (!act) return;
  event.preventDefault();
  act();
});
fromLink();
show();
document.body.dataset.ready = "yes";
