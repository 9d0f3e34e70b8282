// Bots, their scores and places, the curve of scores, and their clocks.
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

function showClocks() {
  renew($("clocks"), data.names.map((_, seat) => {
    const clock = mayKnow(seat) ? clocks[state.at][seat] : undefined;
    const manifest = data.manifests?.[seat] ? `manifest: ${data.manifests[seat].slice(0, 80)}` : null;
    return el("li", {}, badge(seat), el("span", { class: "who" }, nameOf(seat), el("span", { class: "soft" }, ` seat ${seat}`)),
      manifest ? el("span", { class: "soft detail" }, manifest) : null, clock ? clockBars(clock) : null);
  }));
}

function scoresAt(view, ctx) {
  // One seat's own file may show what no match had.
  try { return view && game.scores(view, ctx); } catch { return null; }
}

const scoreOf = (scores, seat) => scores?.of[seat] ?? "";

// `drawn`: the drawing has a podium of its own.
function showSeats(view, ctx, drawn) {
  const scores = scoresAt(view, ctx);
  const order = data.names.map((_, seat) => seat);
  const ended = ctx.at === LAST && data.places.some((place) => place !== null);
  if (ended) order.sort((a, b) => (data.places[a] ?? Infinity) - (data.places[b] ?? Infinity) || a - b);
  else if (scores) order.sort((a, b) => (scores.of[b] ?? -Infinity) - (scores.of[a] ?? -Infinity) || a - b);
  renew($("standing"), order.map((seat) => {
    const row = el("li", { class: String(seat) === state.eyes ? "chosen" : null }, badge(seat), el("span", { class: "who" }, nameOf(seat)), el("span", { class: "score" }, scoreOf(scores, seat)));
    const details = [ended && data.places[seat] !== null ? `place ${data.places[seat]}` : null, scores?.text?.[seat]].filter(Boolean);
    if (details.length) row.append(el("span", { class: "soft detail" }, details.join(" · ")));
    return row;
  }));
  renew($("podium"), ended && !drawn ? podium(scores) : []);
  $("seats").querySelector("h2").textContent = plain(ended ? `Final places${scores ? `, with ${scores.what}` : ""}` : scores ? `Bots by ${scores.what}` : "Bots");
  showCurve(ctx.at);
}

// The first three places as steps, the winner's the highest. Who shares a place stands on the same step.
const STEPS_SHOWN = 3, NAMES_SHOWN = 3, ORDINALS = ["1st", "2nd", "3rd"];
function podium(scores) {
  const shared = [1, 2, 3].map((place) => data.places.flatMap((each, seat) => (each === place ? [seat] : [])));
  // Those who share a place by something else than these scores have none on their step.
  const scoreOn = (seats) => (new Set(seats.map((seat) => scoreOf(scores, seat))).size === 1 ? scoreOf(scores, seats[0]) : "");
  return shared.slice(0, STEPS_SHOWN).flatMap((seats, at) => (seats.length ? [el("li", { class: `step${at + 1}` },
    seats.slice(0, NAMES_SHOWN).map((seat) => el("span", { class: "winner" }, badge(seat), el("span", { class: "name", title: nameOf(seat) }, nameOf(seat)))),
    seats.length > NAMES_SHOWN ? el("span", { class: "soft" }, `and ${seats.length - NAMES_SHOWN} more`) : null,
    el("span", { class: "block" }, el("strong", {}, ORDINALS[at]), el("span", { class: "score" }, scoreOn(seats))))] : []));
}

// The ends of an axis: whole steps of 1, 2 or 5 times a power of ten.
function roundEnds(low, high) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
  return { low: Math.floor(low / step) * step, high: Math.ceil(high / step) * step };
}

// Scores over the steps, for the eyes of now: at most 300 points a seat.
const curves = new Map();
function curveOf(eyes) {
  if (!curves.has(eyes)) {
    const by = Math.max(1, Math.ceil(LAST / 300)), seen = [];
    for (let at = 0; at <= LAST; at = at === LAST ? at + 1 : Math.min(LAST, at + by)) {
      const scores = scoresAt(viewOf(eyes, at), context(at));
      if (scores) seen.push([at, scores.of]);
    }
    const values = seen.flatMap(([, of]) => of.filter((each) => typeof each === "number"));
    curves.set(eyes, values.length && seen.length > 2 ? { seen, ...roundEnds(Math.min(0, ...values), Math.max(1, ...values)) } : null);
  }
  return curves.get(eyes);
}

const MOST_MARKS = 80;
// What was not looked at yet is not drawn: nobody learns the end at the first step.
const CURVE_LEFT = 24, CURVE_WIDE = 250;
let curveWaits = true, curveEyes = null, curveTo = -1, cursor = null;
function showCurve(at) {
  if (curveWaits) return;
  const x = (step) => round(CURVE_LEFT + (step / Math.max(1, LAST)) * CURVE_WIDE);
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
      return draw("polyline", { class: `line ${ofSeat(seat)} ${seat >= 8 ? "dashed" : ""}`, points: known.map(([step, of]) => `${x(step)},${y(of[seat])}`).join(" ") });
    });
    ends.sort((a, b) => a[1] - b[1]);
    const gap = Math.min(9, 84 / Math.max(1, ends.length));
    ends.forEach((end, n) => { end[1] = Math.max(end[1], n ? ends[n - 1][1] + gap : 6); });
    for (let n = ends.length - 1, floor = 88; n >= 0; n -= 1, floor -= gap) ends[n][1] = Math.min(ends[n][1], floor);
    cursor = draw("line", { class: "cursor", y1: 4, y2: 88 });
    const marks = momentsNow().filter((step) => step <= curveTo).slice(-MOST_MARKS).map((step) =>
      titled(draw("path", { class: "moment", d: `M${x(step)} 89l3.5 4.5l-3.5 4.5l-3.5 -4.5z` }), `Step ${step + 1}: ${heaviest(data.steps[step].remarks)[0]}`));
    $("curve").append(draw("svg", { viewBox: "0 0 292 100", role: "img", "aria-label": `scores, step by step${marks.length ? `; key moments: ${marks.length}` : ""}` },
      draw("line", { class: "axis", x1: 24, x2: 274, y1: y(0), y2: y(0) }),
      label(20, y(curve.high) + 1, curve.high, { class: "tick", "text-anchor": "end", "font-size": 8 }),
      label(20, y(curve.low), curve.low, { class: "tick", "text-anchor": "end", "font-size": 8 }),
      lines, marks, ends.map(([seat, y]) => label(x(curveTo) + 4, y, seat, { class: `end ${ofSeat(seat)}`, "font-size": 8, "text-anchor": "start" })), cursor));
  }
  if (cursor) { cursor.setAttribute("x1", x(at)); cursor.setAttribute("x2", x(at)); }
}

// The step at a place of the curve.
function stepAt(event) {
  const svg = $("curve").querySelector("svg");
  if (!svg || !(event.clientX || event.clientY)) return null;
  const { left, width } = svg.getBoundingClientRect();
  return Math.max(0, Math.min(curveTo, Math.round((((event.clientX - left) / width) * svg.viewBox.baseVal.width - CURVE_LEFT) / CURVE_WIDE * LAST)));
}
