// The player: controls, keys and links.
let later = 0;
function settle() {
  clearTimeout(later);
  if (state.playing) return;
  later = setTimeout(() => {
    try { history.replaceState(null, "", `#${here()}${document.body.classList.contains("embed") ? "&embed" : ""}`); } catch { /* a page in a frame */ }
    $("live").textContent = plain(`Step ${state.at + 1} of ${LAST + 1}, showing ${eyesOf(state.eyes)}. ${linesOf(state.at).slice(0, 4).map(([text]) => text).join(". ")}. ${$("heading").textContent}.`);
  }, 200);
}

function showControls() {
  $("slider").value = state.at + 1;
  $("slider").setAttribute("aria-valuetext", `step ${state.at + 1} of ${LAST + 1}`);
  $("where").textContent = `${state.at + 1} / ${LAST + 1}`;
  $("eyes").value = state.eyes;
  $("speed").value = state.speed;
  $("loop").setAttribute("aria-pressed", state.loops);
  $("first").disabled = $("back").disabled = state.at === 0;
  $("next").disabled = $("last").disabled = state.at === LAST;
  $("key-back").disabled = momentNear(-1) === undefined;
  $("key-next").disabled = momentNear(1) === undefined;
  showMarks();
  settle();
}

// The key moments above the slider, once for each viewpoint.
let marked = null;
function showMarks() {
  if (marked === state.eyes) return;
  marked = state.eyes;
  const marks = momentsNow().slice(-MOST_MARKS).map((at) => draw("rect", { x: round((at / Math.max(1, LAST)) * 1000 - 2), width: 4, height: 6 }));
  $("marks").replaceChildren(...marks);
}

const momentNear = (by) => (by > 0 ? momentsNow().find((at) => at > state.at) : momentsNow().findLast((at) => at < state.at));
function toMoment(by) {
  const at = momentNear(by);
  if (at !== undefined) leave(at);
}

function go(to) {
  state.at = Math.max(0, Math.min(LAST, to));
  show();
}

function playing(on) {
  if (on && !state.playing && state.at === LAST) state.at = 0;
  state.playing = on && LAST > 0;
  $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  document.body.classList.toggle("playing", state.playing);
  due = performance.now() + 1000 / SPEEDS[state.speed];
  cancelAnimationFrame(framed);
  if (state.playing) framed = requestAnimationFrame(frame);
  show();
}

// A match that is played again and again rests at its end.
const REST_MS = 3000;
let due = 0, framed = 0;
function frame(now) {
  if (!state.playing) return;
  if (now >= due - 4) {
    // A frame that came late shows the step that is due by then.
    const each = 1000 / SPEEDS[state.speed], steps = Math.max(1, Math.floor((now - due) / each) + 1);
    due += steps * each;
    go(state.at === LAST ? 0 : state.at + steps);
    if (state.at === LAST) {
      if (!state.loops) { playing(false); return; }
      due = now + Math.max(REST_MS, each);
    }
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

function loop() {
  state.loops = !state.loops;
  showControls();
}

function wholeScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else $("left").requestFullscreen?.().catch(() => {});
}

function help() {
  if ($("help").open) $("help").close();
  else $("help").showModal();
}

const KEYS = {
  ArrowRight: () => leave(state.at + 1), ArrowLeft: () => leave(state.at - 1), PageDown: () => leave(state.at + 10),
  PageUp: () => leave(state.at - 10), Home: () => leave(0), End: () => leave(LAST), " ": () => playing(!state.playing),
  "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1), h: () => look("host"), s: () => look("spectator"),
  e: () => nextEyes(1), E: () => nextEyes(-1), n: () => toMoment(1), p: () => toMoment(-1), l: loop, f: wholeScreen,
  z: () => toggleZoom(), c: copyLink, "?": help,
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
const here = () => `step=${state.at + 1}&eyes=${state.eyes}${match ? `&match=${match}` : ""}`;

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
  if (asked.has("loop")) state.loops = true;
  // Within a page elsewhere: the board, its controls and names, and a link to the match that opens a page of its own.
  document.body.classList.toggle("embed", asked.has("embed"));
  if ($("match") && asked.has("embed")) grown($("match"), { target: "_blank", rel: "noopener" }, []);
  return asked.has("play");
}

// A link to this moment: into the sheet of a telephone, or copied.
async function copyLink() {
  const url = `${location.href.split("#")[0]}#${here()}`;
  try {
    if (navigator.share && matchMedia("(pointer: coarse)").matches) { await navigator.share({ title: document.title, url }); return; }
    await navigator.clipboard.writeText(url);
    say("Link copied");
  } catch (error) {
    if (error.name === "AbortError") return;
    location.hash = here();
    say("The link is in the address");
  }
}

let said = 0;
function say(text) {
  $("note").textContent = text;
  clearTimeout(said);
  said = setTimeout(() => { $("note").textContent = ""; }, 4000);
}

$("game").textContent = plain(game.name);
$("count").textContent = `Steps (${LAST + 1})${data.left_out ? "; some boards or words are left out to keep the page small" : ""}`;
$("slider").max = LAST + 1;
for (const eyes of data.eyes) $("eyes").append(el("option", { value: eyes }, eyesOf(eyes)));
$("eyes").disabled = data.eyes.length === 1;
SPEEDS.forEach((speed, at) => $("speed").append(el("option", { value: at }, `${speed} / s`)));
$("full").hidden = !document.fullscreenEnabled;
// A page in a notebook's frame has no address.
$("link").hidden = location.protocol === "about:";
$("eyes").addEventListener("change", () => look($("eyes").value));
$("speed").addEventListener("change", () => { state.speed = Number($("speed").value); playing(state.playing); });
$("slider").addEventListener("input", () => leave(Number($("slider").value) - 1));
$("first").addEventListener("click", () => leave(0));
$("key-back").addEventListener("click", () => toMoment(-1));
$("back").addEventListener("click", () => leave(state.at - 1));
$("next").addEventListener("click", () => leave(state.at + 1));
$("key-next").addEventListener("click", () => toMoment(1));
$("last").addEventListener("click", () => leave(LAST));
$("play").addEventListener("click", () => playing(!state.playing));
$("loop").addEventListener("click", loop);
$("full").addEventListener("click", wholeScreen);
$("link").addEventListener("click", copyLink);
$("keys").addEventListener("click", help);
$("close").addEventListener("click", help);
$("help").addEventListener("click", (event) => { if (event.target === $("help")) help(); });
$("curve").addEventListener("click", (event) => { const step = stepAt(event); if (step !== null) leave(step); });
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
$("told").addEventListener("toggle", showTold);
addEventListener("hashchange", () => { fromLink(); show(); });
addEventListener("resize", () => { zoomed(1, 0, 0); showRows(false); });
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, textarea")) return;
  if ($("help").open && event.key !== "?") return;
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
const plays = fromLink();
show();
if (plays && !calm.matches) playing(true);
// The curve needs the scores of all steps, so the board is painted first.
requestAnimationFrame(() => setTimeout(() => {
  curveWaits = false;
  showCurve(state.at);
  document.body.dataset.ready = "yes";
}));
