// A person's seat: the board with that seat's eyes, an action typed or clicked together, the clock, and what happened.
// Words of others go through `plain` into text nodes. The referee decides everything; this page shows what it says.
const MOTION_MS = 400, TICK_MS = 100, PREVIEW_MS = 150, PING_MS = 15000, SETTLE_MS = 300, LAST_MS = 10000;
const MOST_LINES = 500, MOST_CHIPS = 24, FEW_CHIPS = 4, MOST_WORDS = 150;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// --- A link to a seat: its secret leaves the address before anything else happens.
async function join(place) {
  const said = place.querySelector("[role=status]"), key = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  const answer = await post(place.dataset.to, { key });
  if (answer.ok) { location.replace("./"); return; }
  said.textContent = plain(answer.text);
  said.nextElementSibling.hidden = false;
}

// What the server answers; without an answer, why.
async function post(to, body) {
  try {
    const answer = await fetch(to, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), cache: "no-store" });
    try { return await answer.json(); } catch { return { ok: false, text: `The server did not understand (${answer.status}).` }; }
  } catch { return { ok: false, text: "The server cannot be reached. Try again." }; }
}

function seat(root) {
  const part = (name) => root.querySelector(`[data-${name}]`), say = (body) => post(root.dataset.say, body);
  const form = part("form"), text = root.querySelector("#text"), log = part("log"), scroll = log.parentElement, title = root.querySelector("#turn");
  const name = document.title, views = [], known = new Set(), tasks = JSON.parse(root.dataset.tasks ?? "{}");
  let table = null, opened = null, sent = null, last = -1, reveal = null, people = null, over = null, connected = null, settled = false;
  let skew = Infinity, paused = null, clicked = false, drawn = 0, previewed = 0, pinged = 0, stop = null;

  // --- The board, in a shadow tree, because drawings have a style sheet of their own.
  const inside = root.querySelector(".drawing").attachShadow({ mode: "open" }), board = el("div", { id: "board" }), more = el("div", { id: "more" }), ring = el("div", { class: "focus", hidden: "" });
  inside.append(el("link", { rel: "stylesheet", href: root.dataset.more }), ...styled(root.dataset.style, board, more), ring);
  const game = () => drawings[table?.game] ?? { board: () => null, scores: () => null };
  const nameOf = (each) => (each === table.seat ? "you" : who(each, table.names));
  const mayAct = () => opened !== null && !opened.stands && over === null;

  function context() {
    const draft = mayAct() ? { window: opened.window, text: text.value } : null;
    return { at: views.length - 1, eyes: String(table.seat), seats: table.seats, names: table.names, runes: table.runes, last: over !== null, view: (number) => views[number], reveal, draft };
  }

  function drawBoard(moves) {
    if (!table || !views.length) return;
    const view = views.at(-1);
    let made;
    try { made = game().board(view, context()); } catch (error) { console.error(error); }
    made ??= { heading: "", legend: table.game in drawings ? "This cannot be drawn." : "This game has no drawing of its own.", node: values(view) };
    const nodes = made.node ? [made.node] : [];
    for (const node of [...nodes, ...made.more ?? []]) dress(node);
    board.className = more.className = mayAct() ? "choosing" : "";
    part("heading").textContent = plain(made.heading);
    part("legend").textContent = plain(made.legend);
    redraw(board, nodes, moves && !calm.matches ? MOTION_MS : 0);
    renew(more, made.more ?? []);
    if (Boolean(made.moreFirst) !== (more.nextSibling === board)) made.moreFirst ? board.before(more) : board.after(more);
    showRing();
    if (part("board").open) showWords();
  }

  // What can be named is a button, and one of each picture is reached by Tab; arrows lead to the others.
  function dress(node) {
    for (const fold of node.querySelectorAll("details")) fold.toggleAttribute("open", [...more.querySelectorAll("details[open]")].some((each) => each.firstChild.textContent === fold.firstChild.textContent));
    const pictures = node.matches("svg") ? [node] : [...node.querySelectorAll("svg")];
    for (const svg of pictures) {
      const named = [...svg.querySelectorAll("[data-says]")];
      if (!named.length) continue;
      svg.setAttribute("role", "group");
      const stopAt = named.find((each) => each.dataset.says === stop) ?? named[0];
      for (const each of named) {
        grown(each, { role: "button", tabindex: each === stopAt ? 0 : -1, "aria-label": each.querySelector("title")?.textContent ?? each.dataset.says }, []);
      }
    }
  }

  // A ring around what has the focus: in a picture its own outline would lie below its neighbours.
  function showRing() {
    const focused = inside.activeElement?.closest("svg [data-says]");
    ring.hidden = !focused || !focused.matches(":focus-visible");
    if (ring.hidden) return;
    const { left, top, width, height } = focused.getBoundingClientRect(), corner = inside.host.getBoundingClientRect();
    for (const [name, value] of Object.entries({ left: left - corner.left, top: top - corner.top, width, height })) ring.style.setProperty(name, `${round(value)}px`);
  }

  // The values of a view, for those who do not see the picture, and for games without one.
  function values(value, budget = { left: 400 }) {
    if (value === null || typeof value !== "object") return el("span", {}, value ?? "none");
    if (Array.isArray(value) && value.every((each) => each === null || typeof each !== "object")) return el("span", {}, listed(value.slice(0, 100).map((each) => each ?? "none")));
    const list = el("dl", { class: "tidy" });
    for (const [key, each] of Object.entries(value)) {
      if ((budget.left -= 1) < 0) { list.append(el("dt", {}, "…"), el("dd", {}, "the rest is left out")); break; }
      list.append(el("dt", {}, String(key).replaceAll("_", " ")), el("dd", {}, values(each, budget)));
    }
    return list;
  }

  function showWords() {
    const said = [...inside.querySelectorAll("svg[aria-label]")].filter((each) => !each.ownerSVGElement).map((each) => el("p", {}, each.getAttribute("aria-label")));
    renew(part("board").lastElementChild, [...said, values(views.at(-1) ?? null)]);
  }

  const soon = () => { clearTimeout(drawn); drawn = setTimeout(() => drawBoard(settled), 20); };

  // --- The action: what is clicked goes into the line, at the place that the game says.
  function named(word) {
    if (!mayAct()) return;
    clicked = true;
    const say = game().say ?? ((before, each) => [before.trim(), each].filter(Boolean).join(" "));
    write(say(text.value, word, views.at(-1), opened.window) ?? text.value);
  }

  function write(words) {
    text.value = words.slice(0, text.maxLength);
    changed();
  }

  function changed() {
    keep();
    drawBoard(false);
    showTurn();
    clearTimeout(previewed);
    judge({ text: "" });
    if (text.value.trim() && text.value.trim() !== sent?.text) previewed = setTimeout(preview, PREVIEW_MS);
  }

  async function preview() {
    const asked = text.value, window = opened?.id, answer = await say({ do: "preview", window, text: asked });
    // What is being clicked together is not wrong yet.
    if (opened?.id === window && text.value === asked) judge(answer.ok ? { text: answer.effect ? `${begun(answer.effect)}.` : `You would play: ${answer.text}` } : { text: clicked ? `Not yet: ${answer.text}` : answer.text, wrong: !clicked });
  }

  function judge({ text: words, wrong = false }) {
    const said = root.querySelector("#said");
    said.textContent = plain(words);
    said.className = wrong ? "wrong" : "";
    text.setAttribute("aria-invalid", wrong);
  }

  async function submit(final) {
    if (!mayAct()) return;
    const words = text.value.trim(), window = opened.id;
    clearTimeout(previewed);
    const same = !words || words === sent?.text;
    if (!final && same) { if (sent) await submit(true); return; }
    const answer = await say(same ? { do: "done", window } : { do: "submit", window, text: words, final });
    if (!answer.ok) { judge({ text: answer.text, wrong: true }); note(`Not submitted: ${answer.text}`, "fault"); }
  }

  // What is typed for a window outlives a reload.
  const kept = () => `play ${location.pathname} ${table?.match}`;
  function keep() {
    try { sessionStorage.setItem(kept(), JSON.stringify({ window: opened?.id, text: text.value })); } catch { /* It is only a comfort. */ }
  }
  function typed(window) {
    try { const found = JSON.parse(sessionStorage.getItem(kept())); return found?.window === window ? String(found.text) : ""; } catch { return ""; }
  }

  // --- What the server tells.
  const takes = {
    now: () => {},
    table: (told) => {
      table = told;
      part("rules").hidden = !told.rules;
      part("rules").querySelector("pre").textContent = plain(told.rules).replaceAll("\\u{a}", "\n");
      part("pause").hidden = !told.pauses;
      part("leave").hidden = false;
    },
    begun: (told) => note(told.text),
    view: (told) => { views.push(told.view); soon(); },
    event: (told) => { reveal = told.reveal ?? reveal; note(told.text); soon(); },
    window: (told) => {
      opened = { ...told, left: told.main_ms, reserve: told.reserve_ms, held: 0, announced: false };
      sent = null;
      text.value = typed(told.id);
      drawBoard(settled);
      showForms();
      judge({ text: "" });
      // The task is known when the same window opens again; what may be typed changes.
      note(known.has(told.window) ? "It is your turn." : `It is your turn. ${tasks[told.window] ?? capital(told.ask)}`, "mine");
      known.add(told.window);
    },
    accepted: (told) => {
      if (told.window !== opened?.id) return;
      const untouched = !text.value.trim() || text.value.trim() === sent?.text;
      sent = told.action === null ? null : { text: told.text };
      opened.stands = told.final;
      if (untouched || told.final) text.value = told.text;
      if (sent) sent.text = text.value.trim() || told.text;
      judge({ text: "" });
      if (told.final) note(`Played: ${told.action === null ? opened.default_text : told.text}`);
      else note(told.action === null ? "Taken back." : `Submitted: ${told.text}`);
      keep();
      soon();
    },
    rejected: (told) => { judge({ text: told.text, wrong: true }); note(`Not accepted: ${told.text}`, "fault"); },
    closed: (told) => {
      if (!opened?.stands) note(told.by_default ? `Your time was up. This was played for you: ${told.text}` : `Played: ${told.text}`, told.by_default ? "fault" : "");
      opened = sent = null;
      text.value = "";
      soon();
    },
    paused: (told) => { paused = told.at_ms; note(`Paused: the clocks stand still${told.text ? ` (${told.text})` : ""}.`); },
    resumed: (told) => {
      if (opened && paused !== null) opened.held += told.at_ms - Math.max(paused, opened.at_ms);
      paused = null;
      note("The clocks run again.");
    },
    people: (told) => { people = told; },
    pong: (told) => { if (told.n === pinged) part("delay").textContent = `Your line: ${Math.round(performance.now() - told.n)} ms there and back.`; },
    over: (told) => { over = told; opened = null; showResult(); soon(); },
    replay: (told) => { over.replay = told; showResult(); },
    moved: () => location.reload(),
    fault: (told) => { opened = null; note(`The referee has disconnected your seat: ${told.text} The match goes on without you.`, "fault"); },
    gone: (told) => { if (table?.waits) table.waits = told.text; over ??= { gone: told.text }; opened = null; stream.close(); showResult(); },
  };

  function take(event) {
    const number = event.lastEventId && Number(event.lastEventId), told = JSON.parse(event.data);
    // Those without a number are events of this moment, so the browser repeats the last number with them.
    if (told.type in NUMBERED) { if (number <= last) return; last = number; }
    // A message is never early: the least difference of the clocks is the truest.
    if (told.type === "now") skew = Math.min(skew, performance.now() - told.at_ms);
    settle(told);
    takes[told.type]?.(told);
    showTurn();
    showPeople();
  }

  // All that was told before this page came is no news. It ends with a message of this moment, or with a pause.
  let settling = 0;
  function settle(told) {
    if (settled) return;
    clearTimeout(settling);
    const age = performance.now() - skew - told.at_ms;
    if (told.type in NUMBERED && Math.abs(age) < SETTLE_MS) settledNow();
    else settling = setTimeout(settledNow, SETTLE_MS);
  }

  function settledNow() {
    settled = true;
    scroll.setAttribute("aria-live", "polite");
    root.dataset.ready = "";
  }

  function note(words, kind = "") {
    const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 40;
    log.append(el("li", { class: kind }, words));
    if (log.children.length > MOST_LINES) log.firstElementChild.remove();
    if (atEnd) scroll.scrollTop = scroll.scrollHeight;
  }

  // --- What is to be done.
  function showTurn() {
    const act = mayAct();
    form.hidden = !act;
    root.querySelector(".turn").hidden = over !== null;
    title.textContent = act ? (sent ? "Submitted" : "Your turn") : opened?.stands ? "Played. Waiting for the others" : table ? "Waiting for the others" : "Waiting for the match";
    document.title = act && !sent ? `Your turn: ${name}` : name;
    root.classList.toggle("acts", act);
    root.querySelector("#task").hidden = !act;
    if (!act) return;
    const task = tasks[opened.window] ?? capital(opened.ask);
    root.querySelector("#task").textContent = plain(task);
    root.querySelector("#ask").textContent = plain(capital(opened.ask));
    const changes = text.value.trim() && text.value.trim() !== sent?.text;
    part("send").textContent = sent && changes ? "Submit instead" : "Submit";
    part("send").disabled = !changes;
    part("done").textContent = sent || changes ? "Done" : "Submit nothing";
    part("done").classList.toggle("second", !sent || Boolean(changes));
    part("done").title = "It stands at once: the window may close";
    part("undo").hidden = !sent;
    part("clear").disabled = !text.value;
    root.querySelector("#default").textContent = plain(sent ? `${sent.text} counts when your time is up. Until then you may change it; Done lets it stand at once.` : opened.if_nothing);
  }

  // A clause as a sentence's start: names of players stay as they are.
  const begun = (clause) => (/^you/.test(clause) ? capital(clause) : clause);
  const capital = (words) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  // A button with what it types and what that means: the meaning in words alone, unless `typed` shows both.
  const chip = (words, meaning, whole, typed = false) => el("button", { type: "button", "data-whole": whole ? words : null, "data-says": whole ? null : words },
    typed || !meaning ? words : meaning, typed && meaning && meaning !== words ? el("span", { class: "soft" }, ` ${meaning}`) : null);

  // Actions that are legal now, the words of the window, and its forms.
  function showForms() {
    // Where a board can be clicked, few examples do; else they are what is chosen from, beside the line and in words.
    const clickable = inside.querySelector("[data-says]") !== null;
    const examples = opened.examples.slice(0, MOST_CHIPS), short = examples.filter(([words]) => words.length <= 40).slice(0, clickable ? FEW_CHIPS : MOST_CHIPS);
    const chips = part("examples");
    if (clickable) root.querySelector("#default").after(chips);
    else root.querySelector(".hand label").before(chips);
    renew(chips, short.map(([words, meaning, effect]) => (effect && !clickable ? chip(words, begun(effect), true) : chip(words, meaning, true, true))));
    const forms = (table.forms[opened.window] ?? []).map(([shape, meaning]) => el("li", {}, el("code", {}, shape), meaning ? ` ${meaning}` : null));
    const rest = examples.filter((each) => !short.includes(each)).map(([words, meaning]) => chip(words, meaning, true, true));
    renew(part("words").lastElementChild, [el("ul", {}, forms), el("div", { class: "chips", role: "group", "aria-label": "Words" }, rest, opened.words.slice(0, MOST_WORDS).map((word) => chip(word, "", false)))]);
  }

  // --- The clock. Main time runs first, then the reserve.
  const seconds = (ms) => (ms < 100000 ? `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s` : clock(ms));
  function clock(ms) {
    const whole = Math.max(0, Math.ceil(ms / 1000)), two = (number) => String(number).padStart(2, "0");
    return whole < 3600 ? `${Math.floor(whole / 60)}:${two(whole % 60)}` : `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  }

  function tick() {
    const shown = part("clock");
    shown.hidden = !opened;
    if (!opened) return;
    const now = paused ?? performance.now() - skew, passed = Math.max(0, now - opened.at_ms - opened.held), left = opened.main_ms - passed;
    const inReserve = left <= 0 && opened.reserve_ms > 0, whole = inReserve ? opened.reserve_ms : opened.main_ms, rest = Math.max(0, inReserve ? opened.reserve_ms + left : left);
    const words = [el("strong", {}, clock(rest)), el("span", { class: "soft" }, paused !== null ? " paused" : inReserve ? " of your reserve" : opened.reserve_ms ? ` and ${clock(opened.reserve_ms)} in reserve` : " left")];
    renew(shown, [el("span", {}, words), gauge(rest / Math.max(1, whole))]);
    shown.className = `clock ${inReserve ? "reserve" : ""} ${paused === null && left + opened.reserve_ms < LAST_MS ? "last" : ""}`;
    if (paused !== null || !mayAct() || !settled) return;
    if (!opened.announced && left + opened.reserve_ms <= LAST_MS && opened.main_ms + opened.reserve_ms > 2 * LAST_MS) {
      opened.announced = true;
      note(`${Math.ceil((left + opened.reserve_ms) / 1000)} seconds are left.`, "fault");
    }
    if (inReserve && !opened.reserved) { opened.reserved = true; note("Your main time is over; your reserve runs.", "fault"); }
  }

  function gauge(share) {
    const bar = (kind, width) => draw("rect", { class: kind, width: round(100 * Math.min(1, Math.max(0, width))), height: 6 });
    return draw("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, bar("empty", 1), bar("full", share));
  }

  // --- Who plays, and links for friends.
  const links = new Map();
  function showPeople() {
    if (!table && !people) return;
    const seats = people?.seats ?? table.names.map((name, each) => ({ seat: each, name, kind: each === table.seat ? "you" : "bot", here: true, taken: true }));
    const scores = scoresNow();
    renew(part("people"), seats.map((each) => {
      const about = { you: "you", bot: "", person: each.taken ? (each.here ? "a person" : "a person, away") : "waiting for a friend" }[each.kind];
      const row = el("li", { class: each.kind }, badge(each.seat), el("span", { class: "name" }, each.name || `seat ${each.seat}`), el("span", { class: "soft" }, about), el("span", { class: "score" }, scores?.[each.seat] ?? ""));
      if (people?.may_invite.includes(each.seat)) row.append(invitation(each.seat));
      return row;
    }));
  }

  function scoresNow() {
    try { return views.length ? game().scores(views.at(-1), context())?.of ?? null : null; } catch { return null; }
  }

  function invitation(number) {
    const link = links.get(number);
    if (!link) return el("button", { type: "button", "data-invite": number }, "Make a link");
    return el("label", { class: "invitation" }, "Send this link to your friend", el("input", { type: "text", readonly: "", value: link, "data-link": number }));
  }

  async function invite(number) {
    const answer = await say({ do: "invite", seat: number });
    if (answer.ok) links.set(number, new URL(answer.href, location.href).href);
    else note(answer.text, "fault");
    showPeople();
  }

  // --- The end.
  const ORDINALS = ["", "1st", "2nd", "3rd"];
  function showResult() {
    const place = part("result"), heading = place.querySelector("h2"), shown = place.hidden;
    place.hidden = false;
    part("pause").hidden = part("leave").hidden = true;
    const again = table?.waits ? el("span", { class: "soft" }, table.waits) : el("a", { class: "button", href: "../" }, "Play again");
    if (over.gone !== undefined) {
      heading.textContent = plain(over.gone);
      renew(place.querySelector(".actions"), [again]);
      return;
    }
    const mine = over.places[table.seat], shared = over.places.filter((each) => each === mine).length > 1;
    heading.textContent = mine === 1 ? (shared ? "You share the first place" : "You won") : table.seats === 2 ? "You lost" : `You are ${shared ? "one of those " : ""}in place ${mine} of ${table.seats}`;
    const order = table.names.map((_, each) => each).sort((a, b) => over.places[a] - over.places[b] || a - b), scores = scoresNow();
    renew(place.querySelector(".podium"), order.map((each) => el("li", { class: each === table.seat ? "you" : "" }, el("span", { class: "place" }, ORDINALS[over.places[each]] ?? `${over.places[each]}th`), badge(each),
      el("span", { class: "name" }, each === table.seat ? `${table.names[each]} (you)` : who(each, table.names)), el("span", { class: "score" }, scores?.[each] ?? ""))));
    const replay = over.replay?.ready ? el("a", { class: "button", href: over.replay.href }, "Watch the replay, with all that was hidden") : el("span", { class: "soft" }, over.replay ? "There is no replay of this match." : "The replay is being made…");
    renew(place.querySelector(".actions"), table.waits ? [again] : [again, replay]);
    if (shown && settled) heading.focus({ preventScroll: false });
    if (shown) note(`The match is over: ${heading.textContent}.`, "mine");
  }

  // --- Hands: mouse, fingers and keys.
  function pressed(event) {
    const word = event.target.closest?.("[data-says]");
    if (!word) return;
    stop = word.dataset.says;
    named(stop);
  }
  inside.addEventListener("click", pressed);
  for (const each of ["focusin", "focusout"]) inside.addEventListener(each, () => requestAnimationFrame(showRing));
  addEventListener("resize", showRing);
  part("words").addEventListener("click", pressed);
  const WAYS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  inside.addEventListener("keydown", (event) => {
    const here = event.target.closest?.("svg [data-says]");
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...here.ownerSVGElement.querySelectorAll("[data-says]")];
    let to = null;
    if (event.key === "Enter" || event.key === " ") here.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    else if (event.key === "Home") to = all[0];
    else if (event.key === "End") to = all.at(-1);
    else if (event.key === "Escape") text.focus();
    else if (event.key in WAYS) to = nearest(here, all, WAYS[event.key]);
    else return;
    event.preventDefault();
    if (!to) return;
    here.setAttribute("tabindex", -1);
    to.setAttribute("tabindex", 0);
    stop = to.dataset.says;
    to.focus();
  });

  // Of those that lie that way, the nearest; what lies aside counts as farther.
  function nearest(here, others, [dx, dy]) {
    const middle = (node) => { const { left, top, width, height } = node.getBoundingClientRect(); return [left + width / 2, top + height / 2]; };
    const [x, y] = middle(here);
    let found = null, least = Infinity;
    for (const other of others) {
      const [ox, oy] = middle(other), along = (ox - x) * dx + (oy - y) * dy, aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx), far = along + 2 * aside;
      if (other !== here && along > 1 && aside < 2 * along && far < least) { found = other; least = far; }
    }
    return found;
  }

  text.addEventListener("input", () => { clicked = false; changed(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); submit(false); });
  part("done").addEventListener("click", () => submit(true));
  part("clear").addEventListener("click", () => { write(""); text.focus(); });
  part("undo").addEventListener("click", async () => {
    const answer = await say({ do: "undo", window: opened?.id });
    if (!answer.ok) judge({ text: answer.text, wrong: true });
  });
  part("examples").addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-whole]");
    if (chosen) write(chosen.dataset.whole);
  });
  part("words").addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-whole]");
    if (chosen) write(chosen.dataset.whole);
  });
  part("board").addEventListener("toggle", () => { if (part("board").open) showWords(); });
  part("pause").addEventListener("click", async () => {
    const answer = await say({ do: "pause" });
    if (!answer.ok) note(answer.text, "fault");
  });
  part("leave").addEventListener("click", async () => {
    if (part("leave").dataset.sure === undefined) { part("leave").dataset.sure = ""; part("leave").textContent = "Really leave? The match goes on without you"; return; }
    const answer = await say({ do: "leave" });
    note(answer.ok ? "You have left the match." : answer.text, "fault");
  });
  part("people").addEventListener("click", (event) => {
    const asked = event.target.closest("[data-invite]"), link = event.target.closest("[data-link]");
    if (asked) invite(Number(asked.dataset.invite));
    if (link) link.select();
  });

  // --- The line to the server. The browser connects again by itself, and is told what it missed.
  const NUMBERED = Object.fromEntries(["table", "begun", "view", "event", "window", "accepted", "rejected", "closed", "paused", "resumed", "over", "replay", "fault"].map((each) => [each, true]));
  const stream = new EventSource(root.dataset.events);
  const line = (words) => { const shown = part("line"); if (shown.textContent !== words) shown.textContent = words; shown.hidden = !words; };
  stream.addEventListener("message", take);
  stream.addEventListener("open", () => { if (connected === false) note("The connection is back."); connected = true; skew = Infinity; line(""); ping(); });
  stream.addEventListener("error", () => {
    const ended = stream.readyState === EventSource.CLOSED;
    if (over?.gone !== undefined || (over && ended)) return;
    if (connected !== false) note(ended ? "This match is not here any more." : "Connection lost, trying again: the clock goes on.", "fault");
    connected = false;
    line(ended ? "This match is not here any more, or this browser has no seat in it." : "Connection lost, trying again: the clock goes on.");
    if (ended) { over = { gone: "This match is not here any more" }; showResult(); }
  });
  async function ping() {
    if (document.hidden || stream.readyState !== EventSource.OPEN) return;
    pinged = performance.now();
    await say({ do: "ping", n: pinged });
  }
  setInterval(ping, PING_MS);
  setInterval(tick, TICK_MS);
}

const place = document.getElementById("play"), link = document.getElementById("join");
if (link) join(link);
else if (place) seat(place);
