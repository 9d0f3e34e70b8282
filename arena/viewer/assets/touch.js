// The board under fingers and mouse: swipe to step, pinch or tap twice to zoom, drag what is zoomed, tap a cell for its history.
const zoom = { scale: 1, x: 0, y: 0 };
const MOST_ZOOM = 5, TAP_PX = 10, TAP_MS = 500, TWICE_MS = 320, SWIPE_PX = 45;

function zoomed(scale, x, y) {
  const frame = $("frame"), k = Math.max(1, Math.min(MOST_ZOOM, scale));
  Object.assign(zoom, k < 1.05 ? { scale: 1, x: 0, y: 0 } : {
    scale: k, x: Math.min(0, Math.max(frame.clientWidth * (1 - k), x)), y: Math.min(0, Math.max(frame.clientHeight * (1 - k), y)),
  });
  $("board").style.transform = zoom.scale > 1 ? `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.scale})` : "";
  frame.classList.toggle("zoomed", zoom.scale > 1);
  $("whole").hidden = zoom.scale === 1;
}

// Zoom so that a point of the frame stays where it is.
function zoomAt(scale, px, py) {
  const k = Math.max(1, Math.min(MOST_ZOOM, scale));
  zoomed(k, px - ((px - zoom.x) / zoom.scale) * k, py - ((py - zoom.y) / zoom.scale) * k);
}

const toggleZoom = (px = $("frame").clientWidth / 2, py = $("frame").clientHeight / 2) => (zoom.scale > 1 ? zoomed(1, 0, 0) : zoomAt(2.5, px, py));

const fingers = new Map();
let pinch = null, lastTap = null;
const inFrame = (event) => {
  const { left, top } = $("frame").getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
};

function fingerDown(event) {
  if (event.button > 0) return;
  const [x, y] = inFrame(event);
  fingers.set(event.pointerId, { x, y, startX: x, startY: y, began: event.timeStamp, alone: fingers.size === 0 });
  if (fingers.size === 2) {
    const [a, b] = [...fingers.values()];
    pinch = { apart: Math.hypot(a.x - b.x, a.y - b.y) || 1, scale: zoom.scale };
    a.alone = b.alone = false;
  }
}

function fingerMoves(event) {
  const finger = fingers.get(event.pointerId);
  if (!finger) return;
  const [x, y] = inFrame(event), [dx, dy] = [x - finger.x, y - finger.y];
  Object.assign(finger, { x, y });
  if (fingers.size === 2 && pinch) {
    const [a, b] = [...fingers.values()];
    zoomAt(pinch.scale * (Math.hypot(a.x - b.x, a.y - b.y) / pinch.apart), (a.x + b.x) / 2, (a.y + b.y) / 2);
  } else if (fingers.size === 1 && zoom.scale > 1) zoomed(zoom.scale, zoom.x + dx, zoom.y + dy);
}

function fingerUp(event) {
  const finger = fingers.get(event.pointerId);
  fingers.delete(event.pointerId);
  if (fingers.size < 2) pinch = null;
  if (!finger?.alone || event.type === "pointercancel") return;
  const [dx, dy] = [finger.x - finger.startX, finger.y - finger.startY], took = event.timeStamp - finger.began;
  if (Math.hypot(dx, dy) < TAP_PX && took < TAP_MS) tapped(event, finger);
  else if (event.pointerType !== "mouse" && zoom.scale === 1 && Math.abs(dx) > SWIPE_PX && Math.abs(dx) > 2 * Math.abs(dy)) leave(state.at + (dx < 0 ? 1 : -1));
}

function tapped(event, { x, y }) {
  const twice = lastTap && event.timeStamp - lastTap.when < TWICE_MS && Math.hypot(x - lastTap.x, y - lastTap.y) < 4 * TAP_PX;
  lastTap = twice ? null : { x, y, when: event.timeStamp };
  if (twice) toggleZoom(x, y);
  chooseCell(event.clientX, event.clientY);
}

// --- A chosen cell: its name and what was there, step by step. Its title is `NAME: what is there`; the same name may
// be in several pictures of a board, so the how manieth it is counts, too.
const MOST_SEARCHED = 1000, MOST_CHANGES = 40, SLICE_MS = 12;
let cell = null, cellTitles = new Map(), cellEyes = null, searching = 0;

function partsOf(text) {
  const at = text.indexOf(": ");
  return at > 0 && at <= 40 ? [text.slice(0, at), text.slice(at + 2)] : [text, null];
}

function titlesIn(nodes) {
  const found = new Map();
  for (const node of nodes) {
    for (const title of node.querySelectorAll?.("title") ?? []) {
      const [name, there] = partsOf(title.textContent);
      if (there !== null) found.set(name, [...found.get(name) ?? [], there]);
    }
  }
  return found;
}

function titlesAt(at) {
  if (!cellTitles.has(at)) {
    let drawn = null;
    try { const view = viewOf(state.eyes, at); drawn = view && game.board(view, context(at)); } catch { /* it cannot be drawn */ }
    cellTitles.set(at, titlesIn(drawn?.node ? [drawn.node] : []));
  }
  return cellTitles.get(at);
}

// A piece may lie above its cell, so all that is at the place is looked through.
function chooseCell(x, y) {
  const titles = document.elementsFromPoint(x, y).map((node) => node.closest("#board *:has(> title)")?.querySelector(":scope > title"));
  const title = titles.find((each) => each && partsOf(each.textContent)[1] !== null) ?? titles.find((each) => each);
  cell = null;
  if (title) {
    const [name, there] = partsOf(title.textContent);
    const alike = [...$("board").querySelectorAll("title")].filter((each) => partsOf(each.textContent)[0] === name);
    cell = { name, number: alike.indexOf(title), history: there !== null };
  }
  showCell();
}

// Search backwards, in slices, so that the page stays quick; what is found is shown at once.
function showCell() {
  clearTimeout(searching);
  $("cell").hidden = cell === null;
  if (cell === null) return;
  if (cellEyes !== `${state.eyes} ${state.layer}`) { cellEyes = `${state.eyes} ${state.layer}`; cellTitles = new Map(); }
  $("cell-name").textContent = plain(cell.name);
  const changes = [], least = Math.max(0, state.at - MOST_SEARCHED);
  let at = state.at;
  const search = () => {
    for (const end = performance.now() + SLICE_MS; at >= least && changes.length <= MOST_CHANGES && performance.now() < end; at -= 1) {
      const there = titlesAt(at).get(cell.name)?.[cell.number] ?? "not on the board";
      if (changes.at(-1)?.there === there) changes.at(-1).since = at;
      else changes.push({ there, since: at });
    }
    renew($("history"), changes.slice(0, MOST_CHANGES).map(({ there, since }, number) => el("li", {},
      el("button", { type: "button", "data-step": since }, since === 0 ? "from the start" : `since step ${since + 1}`), " ", number === 0 ? el("strong", {}, there) : there)));
    if (at >= least && changes.length <= MOST_CHANGES) searching = setTimeout(search);
  };
  if (cell.history) search();
  else renew($("history"), []);
}

$("frame").addEventListener("pointerdown", fingerDown);
addEventListener("pointermove", fingerMoves);
addEventListener("pointerup", fingerUp);
addEventListener("pointercancel", fingerUp);
$("whole").addEventListener("click", () => zoomed(1, 0, 0));
$("uncell").addEventListener("click", () => { cell = null; showCell(); $("play").focus({ preventScroll: true }); });
$("history").addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-step]");
  if (chosen) leave(Number(chosen.dataset.step));
});
