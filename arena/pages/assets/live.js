// Matches as they are played: what the server tells, drawn. Words of others go through `plain` into text nodes.
const MOST_VIEWS = 1000;
const OVER_SECONDS = 8;
const AGAIN_MS = 5000;
const TICK_MS = 200;
const root = document.getElementById("live");
// A season's projector follows the stage that is being played; at the next stage the page is loaded anew.
const events = root.dataset.events ?? "live/events";
const part = root.querySelector("[data-part]")?.textContent;
const kiosk = root.dataset.kiosk !== undefined;
const style = root.dataset.style;
// The first page of a competition shows one match, in small.
const small = root.dataset.small !== undefined;
// Name and colour of each bot's team, if the host names teams. Those of few bots are named, those of more only marked.
const teams = new Map(Object.entries(JSON.parse(root.dataset.teams ?? "{}")));
// On a projector names of few bots may take several lines; those of more are cut.
const MOST_FOLDED = 5, portrait = matchMedia("(orientation: portrait)");
const LINES_SHOWN = kiosk || small ? 3 : 6;
const one = !kiosk && location.hash.startsWith("#match=") ? decodeURIComponent(location.hash.slice(7)) : null;
const matches = new Map(), cards = new Map();
let stage = [], runes = {}, connected = null, shown = null, generation = 0, held = false;

// --- What the server tells. Each message says how something is now, so that one told twice changes nothing.
function take(message) {
  if (message.type === "all") {
    const before = new Map(matches);
    matches.clear();
    for (const each of message.matches) { if (before.has(each.id)) matches.set(each.id, before.get(each.id)); merge(each, true); }
    stage = message.stage;
    runes = message.runes;
  } else if (message.type === "whole") merge(message, true);
  else if (message.type === "match") merge(message, false);
  else if (message.type === "gone") matches.delete(message.id);
  else if (message.type === "stage") stage = message.stage;
}

function merge(told, whole) {
  const { type, log, log_from: from, ...fields } = told;
  let match = matches.get(told.id);
  if (!match || (whole && match.state !== "playing" && fields.state === "playing")) {
    match = { id: told.id, lines: new Map(), views: [], key: `spectator ${generation += 1}` };
    matches.set(told.id, match);
  }
  if (whole && log) match.lines.clear();
  (log ?? []).forEach((line, at) => match.lines.set(from + at, line));
  for (const at of match.lines.keys()) { if (match.lines.size <= 50) break; match.lines.delete(at); }
  if ("window" in fields) match.heard = performance.now();
  if (fields.view) {
    if (match.views.length >= MOST_VIEWS) { match.views = []; match.key = `spectator ${generation += 1}`; }
    match.views.push(fields.view);
    match.dirty = true;
  }
  if (fields.reveal) match.dirty = true;
  Object.assign(match, fields);
  // One that was over when this page came is not news.
  if (match.state !== "playing") match.over ??= performance.now() - (match.met ? 0 : OVER_SECONDS * 1000);
  match.met = true;
}

// --- What may be seen with all secrets, some seconds late: the last match from a deal.
const LATE_MS = 3000;
const BANNER_MS = 9000;
const lates = new Map();
let told = "", bannered = 0;
async function lookLate() {
  try {
    const answer = await fetch(root.dataset.late, { cache: "no-store" });
    if (!answer.ok) return;
    const found = await answer.json(), before = new Map(lates);
    lates.clear();
    for (const each of found.matches) {
      lates.set(each.id, { ...each, seconds: found.seconds });
      const match = matches.get(each.id);
      if (match && before.get(each.id)?.step !== each.step) {
        match.dirty = true;
        if (each.id === shown) announce(each.remarks.filter(([, weight]) => weight > 1).at(-1)?.[0] ?? "");
      }
    }
    for (const id of before.keys()) if (!lates.has(id) && matches.has(id)) matches.get(id).dirty = true;
    soon();
  } catch { /* The next look may succeed. */ }
}

// A turning point, a crash or a void attempt is said aloud for some seconds.
function announce(words) {
  const banner = root.querySelector("[data-banner]");
  if (!banner || !words || words === told) return;
  told = words;
  banner.textContent = plain(words);
  banner.hidden = false;
  clearTimeout(bannered);
  bannered = setTimeout(() => { banner.hidden = true; }, BANNER_MS);
}

const lateOf = (match) => (match.state === "playing" ? lates.get(match.id) : undefined);

// --- Drawing.
function boardOf(match) {
  const game = drawings[match.game], late = lateOf(match), views = late ? late.views : match.views;
  const at = views.length - 1;
  if (!game || at < 0) return { heading: "", legend: "", node: el("p", {}, match.state === "playing" ? "The board is shown at the next move." : "") };
  const eyes = late ? "host" : match.key, reveal = late ? null : match.reveal ?? null;
  const context = { at, eyes, seats: match.players.length, names: numbered(match.players), runes, last: false, view: (number) => views[number], reveal };
  try {
    const drawn = game.board(views[at], context);
    if (late) drawn.heading = [drawn.heading, `all that is hidden, ${late.seconds} s late`].filter(Boolean).join(" · ");
    return drawn;
  } catch { return { heading: "this cannot be drawn", legend: "", node: el("p", {}, "") }; }
}

function scoresOf(match) {
  const late = lateOf(match);
  if (late?.scores.length) return late.scores;
  const game = drawings[match.game], view = match.views.at(-1);
  if (match.scores && Object.keys(match.scores).length) return match.players.map((_, seat) => match.scores[seat] ?? null);
  if (!game || !view) return null;
  try { return game.scores(view, { seats: match.players.length, names: match.players, reveal: match.reveal ?? null })?.of ?? null; } catch { return null; }
}

function cardOf(match) {
  if (cards.has(match.id)) return cards.get(match.id);
  const board = el("div", { class: kiosk ? "drawing large" : "drawing" });
  const inside = board.attachShadow({ mode: "open" });
  const card = {
    heading: el("p", { class: "soft" }), board, seats: el("ol", { class: "players" }), log: el("ul", { class: "log" }), legend: el("p", { class: "soft legend" }),
    drawn: el("div", { id: "board" }), more: el("div", { id: "more" }), title: el("h2", {}), state: el("p", { class: "state", role: "status" }), clocks: [],
  };
  inside.append(...styled(style, card.drawn, card.more));
  card.node = el("article", { class: "match" }, el("header", {}, card.title, card.state), card.seats, el("div", { class: "stage" }, card.heading, board, card.legend), card.log);
  cards.set(match.id, card);
  return card;
}

// A name that may be broken into lines after its parts only.
const SEAMS = /(?<=[a-zA-Z0-9][_./-])(?=[a-zA-Z0-9])/;
const foldable = (name) => name.split(SEAMS).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));

function teamOf(label, named) {
  const [name, colour] = teams.get(label) ?? [];
  if (!name || (!named && !colour)) return null;
  const mark = colour ? draw("svg", { class: "mark", viewBox: "0 0 10 10", "aria-hidden": "true" }, draw("circle", { cx: 5, cy: 5, r: 4.5, fill: colour })) : null;
  return el("span", { class: named ? "team" : "team small", title: name }, mark, el("span", { class: named ? "name" : "hidden" }, name));
}

function ordinal(place) {
  const ending = [11, 12, 13].includes(place % 100) ? "th" : ["th", "st", "nd", "rd"][place % 10] ?? "th";
  return `${place}${ending}`;
}

const SAID = { playing: "being played", over: "Finished. The result is shown once all matches from its deal are over.", void: "This attempt does not count; the match is played again.", ended: "finished" };

function show(match) {
  const card = cardOf(match);
  if (match.dirty) {
    match.dirty = false;
    const drawn = boardOf(match);
    card.heading.textContent = plain(drawn.heading);
    card.legend.textContent = plain(drawn.legend);
    card.drawn.replaceChildren(...(drawn.node ? [drawn.node] : []));
    card.more.replaceChildren(...(drawn.more ?? []));
  }
  card.title.textContent = plain(!kiosk && match.players.length <= 2 ? match.players.join(" – ") : drawings[match.game]?.name ?? match.game);
  const paused = match.paused ? `paused: ${match.paused}` : SAID[match.state];
  const told = [paused, ...(match.link && !kiosk ? [" · ", el("a", { href: match.link }, "result")] : [])];
  if (card.said !== `${paused}${match.link ?? ""}`) { card.said = `${paused}${match.link ?? ""}`; card.state.replaceChildren(...told.map((each) => (each instanceof Node ? each : plain(each)))); }
  card.state.className = `state ${match.state}`;
  const scores = scoresOf(match);
  const owing = new Set(match.window?.seats ?? []);
  card.clocks = [];
  const seats = match.players.length, folds = kiosk && seats <= MOST_FOLDED;
  const names = distinct(match.players, !kiosk ? 18 : folds ? (seats > 2 ? 32 : 20) : portrait.matches ? 15 : 26);
  card.seats.replaceChildren(...match.players.map((name, seat) => {
    const clock = owing.has(seat) ? clockOf(match, seat) : null;
    if (clock) card.clocks.push(clock);
    const place = match.places?.[seat];
    return el("li", { class: `${owing.has(seat) ? "owes" : ""} ${place === 1 ? "first" : ""}` },
      badge(seat),
      el("span", { class: "name", title: name }, folds ? foldable(names[seat]) : names[seat], seats > MOST_FOLDED ? teamOf(name, false) : null),
      el("span", { class: "score" }, scores && scores[seat] !== null && scores[seat] !== undefined ? scores[seat] : ""),
      place ? el("span", { class: "place" }, ordinal(place)) : null,
      seats > MOST_FOLDED ? null : teamOf(name, true),
      clock ? clock.node : el("span", { class: "clock" }));
  }));
  const late = lateOf(match);
  const lines = late?.remarks.length ? late.remarks.slice(-LINES_SHOWN).map(([words]) => words) : [...match.lines.entries()].sort((a, b) => a[0] - b[0]).slice(-LINES_SHOWN).map(([, line]) => line);
  const spelled = lines.join("\n");
  if (card.spelled !== spelled) { card.spelled = spelled; card.log.replaceChildren(...lines.map((line) => el("li", {}, line))); }
  return card.node;
}

// --- Clocks: main time runs first, then the reserve, if everyone may know of it.
function clockOf(match, seat) {
  const text = el("span", { class: "time" }), full = draw("rect", { height: 6, class: "full" });
  const node = el("span", { class: "clock" }, text,
    draw("svg", { class: "gauge", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, draw("rect", { width: 100, height: 6, class: "empty" }), full));
  const clock = { node, run: () => {
    if (!match.window) return;
    const { main_ms: main, reserve_ms: reserves, passed_ms: passed } = match.window;
    const gone = passed + (match.paused ? 0 : performance.now() - match.heard);
    const left = main - gone, reserve = reserves[seat];
    if (left > 0 || reserve === null || reserve === undefined) {
      text.textContent = time(Math.max(0, left));
      full.setAttribute("width", round(Math.max(0, Math.min(1, left / Math.max(1, main))) * 100));
      node.classList.remove("reserve");
    } else {
      text.textContent = `reserve ${time(Math.max(0, reserve + left))}`;
      full.setAttribute("width", round(Math.max(0, Math.min(1, (reserve + left) / Math.max(1, reserve))) * 100));
      node.classList.add("reserve");
    }
  } };
  clock.run();
  return clock;
}

function time(ms) {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60], two = (number) => String(Math.floor(number)).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

setInterval(() => { for (const id of onScreen) for (const clock of cards.get(id)?.clocks ?? []) clock.run(); }, TICK_MS);

// --- The page: boards, and lists of what is played and what has ended.
let onScreen = [];
function place(parent, nodes) {
  nodes.forEach((node, at) => { if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null); });
  while (parent.children.length > nodes.length) parent.lastElementChild.remove();
}

function row(match) {
  const words = match.players.length <= 4 ? match.players.join(" – ") : `${match.players.slice(0, 3).join(", ")} and ${match.players.length - 3} more`;
  const winners = Object.entries(match.places ?? {}).filter(([, at]) => at === 1).map(([seat]) => match.players[seat]);
  return el("li", { class: match.state }, match.link ? el("a", { href: match.link, class: "name" }, words) : el("span", { class: "name" }, words),
    el("span", { class: "soft" }, winners.length ? ` first: ${winners.slice(0, 4).join(", ")}` : match.state === "playing" ? "" : ` ${SAID[match.state]}`));
}

function showPage() {
  const known = (one ? [one] : stage).map((id) => matches.get(id)).filter(Boolean);
  // Those that are played come first. One that ends keeps its place for a while; then it is in the list below.
  const fresh = known.filter((match) => match.state === "playing" || performance.now() - match.over < OVER_SECONDS * 1000);
  const inOrder = [...fresh.filter((match) => match.state === "playing"), ...fresh.filter((match) => match.state !== "playing").reverse()];
  const boards = one ? known : fresh.length ? inOrder : known.filter((match) => match.views.length).slice(-1);
  onScreen = boards.map((match) => match.id);
  place(root.querySelector(".boards"), boards.map(show));
  const playing = [...matches.values()].filter((match) => match.state === "playing");
  const ended = [...matches.values()].filter((match) => match.state !== "playing").reverse().sort((a, b) => b.over - a.over);
  const others = playing.filter((match) => !onScreen.includes(match.id));
  fill("others", others);
  fill("ended", ended.slice(0, 20));
  say(connected === false ? "Connection lost; trying again." : connected === null ? "Connecting…"
    : playing.length ? `${playing.length} ${playing.length === 1 ? "match is" : "matches are"} being played.` : "There is no live match to show now.");
}

function fill(name, found) {
  const section = root.querySelector(`[data-list=${name}]`);
  section.hidden = !found.length;
  section.querySelector("ul").replaceChildren(...found.map(row));
}

function say(words) {
  const said = root.querySelector("[data-said]");
  if (said.textContent !== words) said.textContent = words;
}

// --- The kiosk: one match after the other, for a while after its end, too.
function choose() {
  const now = matches.get(shown);
  const playing = stage.map((id) => matches.get(id)).filter((match) => match?.state === "playing");
  if (now && ((now.state === "playing" && (lates.has(now.id) || !playing.some((match) => lates.has(match.id)))) || performance.now() - now.over < OVER_SECONDS * 1000)) return now;
  return playing.findLast((match) => lates.has(match.id)) ?? playing.at(-1) ?? now ?? [...matches.values()].filter((match) => match.views.length).reverse().sort((a, b) => b.over - a.over)[0] ?? null;
}

function showKiosk() {
  const match = choose();
  shown = match?.id ?? null;
  if (match?.state === "void") announce("This attempt does not count; the match is played again.");
  onScreen = match ? [match.id] : [];
  root.querySelector(".boards").classList.toggle("many", (match?.players.length ?? 0) > 2);
  place(root.querySelector(".boards"), match ? [show(match)] : []);
  const others = [...matches.values()].filter((each) => each.state === "playing" && each !== match);
  root.querySelector("[data-next]").textContent = plain(!others.length ? "" : others[0].players.length > 2 ? `Also being played: ${counts(others.length, "more match")}` : `Also being played: ${others.slice(0, 4).map((each) => each.players.join(" – ")).join("; ")}`);
  const over = root.querySelector(".idle .state.finished");
  say(connected === false ? "Connection lost; trying again." : match || over ? "" : "There is no live match to show now.");
}

function showSmall() {
  const match = choose();
  const playing = match?.state === "playing";
  root.closest("section").hidden = !playing;
  shown = match?.id ?? null;
  onScreen = playing ? [match.id] : [];
  place(root.querySelector(".boards"), playing ? [show(match)] : []);
}

const showAll = kiosk ? showKiosk : small ? showSmall : showPage;
let framed = 0;
function soon() {
  if (!framed && !held) framed = requestAnimationFrame(() => { framed = 0; showAll(); for (const id of cards.keys()) if (!matches.has(id)) cards.delete(id); });
}

function listen() {
  const source = new EventSource(one ? `live/${encodeURIComponent(one)}/events` : events);
  source.onmessage = (event) => { connected = true; take(JSON.parse(event.data)); soon(); };
  source.onerror = () => {
    connected = false;
    soon();
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS * (1 + Math.random()));
  };
}

setInterval(() => { if (root.querySelector("[data-part]")?.textContent !== part) location.reload(); else soon(); }, 1000);
if (kiosk) {
  navigator.wakeLock?.request("screen").catch(() => {});
}
addEventListener("hashchange", () => location.reload());
addEventListener("pagehide", () => { held = true; });
addEventListener("pageshow", () => { held = false; });
listen();
if (root.dataset.late) { lookLate(); setInterval(lookLate, LATE_MS); }
soon();
document.body.dataset.ready = "yes";
