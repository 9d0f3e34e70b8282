// Runes to Ruins: symbols of six runes as far as the viewer knows them, purses, and how close guesses came.
drawings["runes-to-ruins"] = (() => {
  const STEP = 20, LEFT = 20, TOP = 38, WIDE = 6 * STEP + 2 * LEFT, TALL = 170, SIX = [0, 1, 2, 3, 4, 5], MOST_COINS = 12;
  const DIVINE = ["Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"], MUNDANE = ["Straight", "Torn", "Origin", "Cross", "Angled", "Slash"];
  const groupsOf = (name) => [name.slice(name.indexOf(" ") + 1), name.slice(0, name.indexOf(" "))];
  const cornerOf = (position) => [2 * STEP * (position % 3), 2 * STEP * Math.floor(position / 3)];

  function rune(name, position, ctx, extra = "") {
    const [left, top] = cornerOf(position), spot = (point) => [left + (point % 3) * STEP, top + Math.floor(point / 3) * STEP];
    return (ctx.runes[name] ?? "").split(" ").filter(Boolean).map((segment) => {
      const [[x1, y1], [x2, y2]] = [...segment].map((point) => spot(Number(point)));
      return draw("line", { class: `rune ${extra}`, x1, y1, x2, y2 });
    });
  }

  // A card: whose it is, what stands on the grid of seven by five points, and lines below it.
  function card(seat, note, said, ctx, cells, runes, below, tall = TALL) {
    const pegs = Array.from({ length: 35 }, (_, at) => draw("circle", { class: "peg", cx: (at % 7) * STEP, cy: Math.floor(at / 7) * STEP, r: 1.4 }));
    return picture(WIDE, tall, `${who(seat, ctx.names)}${note ? `, ${note}` : ""}; ${said}`,
      draw("rect", { class: "card", x: 1.5, y: 1.5, width: WIDE - 3, height: tall - 3, rx: 8 }),
      token(16, 17, seat, 10), nameTag(30, 17, note ? 66 : 122, seat, ctx.names, "strong", note ? 11 : 12), note ? label(WIDE - 8, 17, note, { "font-size": 9, class: /^found/.test(note) ? "found ends" : "strong ends" }) : null,
      draw("g", { transform: `translate(${LEFT} ${TOP})` }, cells, pegs, runes), below);
  }

  function square(of, position, kind, words) {
    const [x, y] = cornerOf(position);
    return titled(draw("rect", { class: `place ${kind}`, x: x + 1, y: y + 1, width: 2 * STEP - 2, height: 2 * STEP - 2, rx: 3 }), `${of}, position ${position}: ${words}`);
  }

  // Six runes; each square is coloured as its rune was compared, and has the sign of that.
  function sixOf(of, runes, states, ctx, extra = "") {
    return [runes.map((name, at) => square(of, at, states[at] ?? "", `${name}${states[at] ? `, ${KINDS[states[at]][0]}` : ""}`)),
      [...runes.flatMap((name, at) => rune(name, at, ctx, extra)), ...runes.flatMap((_, at) => {
        const [x, y] = cornerOf(at);
        return KINDS[states[at]]?.[1] ? sign(states[at], x + 2 * STEP - 9, y + 8) : [];
      })]];
  }

  function purse(insight, mantra) {
    const row = (y, name, number, kind) => [label(8, y, name, { "font-size": 9, class: "name start" }),
      Array.from({ length: Math.min(number, MOST_COINS) }, (_, at) => draw("circle", { class: kind, cx: 52 + at * 6, cy: y, r: 4 })),
      label(WIDE - 8, y, number, { "font-size": 11, class: "strong ends" })];
    return [...row(134, "insight", insight, "insight"), ...row(153, mantra >= 10 ? "mantra !" : "mantra", mantra, "mantra")].flat();
  }

  const purseSaid = (insight, mantra) => `; insight ${insight}, mantra ${mantra}${mantra >= 10 ? ", too much for a token" : ""}`;

  // A symbol that is known, with the best guess of others at it.
  function whole(seat, symbol, note, states, ctx, below, saidBelow) {
    const [cells, runes] = sixOf(`seat ${seat}`, symbol, states, ctx), said = symbol.map((name, at) => `${at}: ${name}`).join(", ");
    return card(seat, note, `${said}${states.length ? `; the best guess at it: ${tallySaid(tally(states))}` : ""}${saidBelow}`, ctx, cells, runes, below);
  }

  // --- What a seat knows of the others: what it was told for sure, which a veil cannot turn, and what all were shown.
  const blank = () => ({ at: SIX.map(() => null), yes: SIX.map(() => new Set()), no: SIX.map(() => new Set()), has: new Set(), counts: {} });

  function knowledge(view, ctx) {
    const known = Array.from({ length: ctx.seats }, blank), others = known.map((_, seat) => seat).filter((seat) => seat !== view.seat);
    for (const { action, told } of view.history) {
      const visions = action?.visions ?? {}, found = told.find((event) => event.type === "discovered")?.seats ?? [];
      for (const event of told) {
        if (event.type === "revealed" && event.position !== null) known[event.seat].at[event.position] = event.rune;
        else if (event.type === "revealed") known[event.seat].has.add(event.rune);
        else if (event.type === "vision") sees(known, others, visions, event);
        else if (event.type === "mirrored" && event.kind === "except") known[event.of].has.add(event.answer);
        else if (event.type === "learned") learns(known, action?.learned?.[event.index] ?? {}, event.answer);
        else if (event.type === "guess" && event.exact === 6 && found.length === 1) known[found[0]].at = action?.guesses?.[event.index] ?? known[found[0]].at;
      }
    }
    known.forEach(concluded);
    return known;
  }

  function sees(known, others, visions, { kind, answer }) {
    if (kind === "except" && visions.except) known[visions.except.seat].has.add(answer);
    if (kind === "window" && visions.window) known[visions.window.seat].at[visions.window.position] = answer;
    if (kind === "pattern" && visions.pattern) {
      const { groups, seats } = visions.pattern;
      for (const seat of seats) answer.forEach((number, at) => { if (number === seats.length) known[seat].yes[at].add(groups[at]); else if (number === 0) known[seat].no[at].add(groups[at]); });
    }
    if (kind === "place" && visions.place) {
      const { order, position } = visions.place, groups = order === "divine" ? DIVINE : MUNDANE;
      for (const seat of others) for (const group of groups) if (!answer.includes(group)) known[seat].no[position].add(group);
    }
  }

  function learns(known, asked, answer) {
    if (asked.has && answer === true) known[asked.has.seat].has.add(asked.has.rune);
    if (asked.count) known[asked.count.seat].counts[asked.count.group] = answer;
  }

  // A group that alone is left is the one; two groups make a rune.
  function concluded(one) {
    for (const at of SIX) {
      if (one.at[at]) continue;
      for (const groups of [DIVINE, MUNDANE]) {
        for (const [group, number] of Object.entries(one.counts)) if (number === 0) one.no[at].add(group);
        const left = groups.filter((group) => !one.no[at].has(group));
        if (left.length === 1) one.yes[at].add(left[0]);
      }
      const [divine, mundane] = [DIVINE, MUNDANE].map((groups) => groups.find((group) => one.yes[at].has(group)));
      if (divine && mundane) one.at[at] = `${mundane} ${divine}`;
    }
    for (const name of one.at) one.has.delete(name);
  }

  // A position of which no rune is known: a line for each Order, with the group or a dot for each that is possible still.
  function hints(one, at) {
    const [x, y] = cornerOf(at), words = [], drawn = [DIVINE, MUNDANE].map((groups, row) => {
      const group = groups.find((each) => one.yes[at].has(each)), out = groups.filter((each) => one.no[at].has(each)), line = y + 13 + row * 14;
      if (group) { words.push(group); return label(x + STEP, line, group, { "font-size": 8, class: "strong" }); }
      if (out.length) words.push(`not ${out.join(" or ")}`);
      return groups.map((each, n) => draw("circle", { class: out.includes(each) ? "pip out" : "pip", cx: x + 7.5 + n * 5, cy: line, r: 1.8 }));
    });
    return { drawn: drawn.flat(), said: words.length ? words.join(", ") : "unknown", level: [DIVINE, MUNDANE].some((groups) => groups.some((each) => one.yes[at].has(each))) ? "half" : "" };
  }

  function partly(seat, one, note, ctx) {
    const cells = [], said = [], has = [...one.has], groups = Object.entries(one.counts).filter(([, number]) => number > 0).map(([group, number]) => `${group} ${number}`);
    for (const at of SIX) {
      if (one.at[at]) { cells.push(square(`seat ${seat}`, at, "known", one.at[at])); said.push(`${at}: ${one.at[at]}`); continue; }
      const found = hints(one, at);
      cells.push(square(`seat ${seat}`, at, found.level, found.said), ...found.drawn);
      said.push(`${at}: ${found.said}`);
    }
    const lines = [has.length ? `has ${listed(has)}` : "", groups.length ? `groups: ${listed(groups)}` : ""].filter(Boolean);
    // Small runes for those whose position is open, then the groups that were counted.
    const lineOf = (n) => listed(groups.slice(3 * n, 3 * n + 3)), top = has.length ? 148 : 134;
    const small = has.slice(0, 6).map((name, n) => titled(draw("g", { transform: `translate(${28 + n * 22} 126) scale(.42)` }, rune(name, 0, ctx)), `${name}, position unknown`));
    const below = [has.length ? label(8, 134, "and", { "font-size": 9, class: "name start" }) : null, ...small,
      ...[0, 1, 2].map((n) => (groups.length > 3 * n && top + n * 12 < TALL ? label(8, top + n * 12, lineOf(n), { "font-size": 8, class: "name start" }) : null))];
    return card(seat, note, [...said, ...lines].join("; "), ctx, cells, one.at.flatMap((name, at) => (name ? rune(name, at, ctx) : [])), below);
  }

  // --- Guesses: how each rune compares with a symbol, and which symbol is closest.
  const KINDS = { exact: ["in place", "M-4 0l3 3.5l5 -7"], moved: ["elsewhere", "M-5 0h10M-2.5 -2.5l-2.5 2.5l2.5 2.5M2.5 -2.5l2.5 2.5l-2.5 2.5"],
    group: ["by group", "M-4.5 -1q2.2 -3 4.5 -1t4.5 -1M-4.5 3q2.2 -3 4.5 -1t4.5 -1"], none: ["not at all", ""] };

  // How a rune compares, as a sign that no font need have.
  function sign(kind, x, y) {
    const at = { d: KINDS[kind][1], transform: `translate(${round(x)} ${round(y)})` };
    return [draw("path", { class: "sign halo", ...at }), draw("path", { class: "sign", ...at })];
  }

  function compared(guess, symbol) {
    return guess.map((name, at) => (name === symbol[at] ? "exact" : symbol.includes(name) ? "moved" : groupsOf(name).some((group) => groupsOf(symbol[at]).includes(group)) ? "group" : "none"));
  }

  const tally = (states) => ["exact", "moved", "group"].map((kind) => states.filter((each) => each === kind).length);
  const better = (a, b) => { const at = a.findIndex((each, n) => each !== b[n]); return at >= 0 && a[at] > b[at]; };

  // Of the symbols of others that nobody had found before that round, the one that the guess is closest to.
  function closest(guess, seat, symbols, found, number) {
    let best = null;
    symbols.forEach((symbol, other) => {
      if (!symbol || other === seat || (found[other] ?? Infinity) < number) return;
      const states = compared(guess, symbol);
      if (!best || better(tally(states), tally(best.states))) best = { other, states };
    });
    return best;
  }

  const tallySaid = ([exact, moved, group]) => `${exact} in place, ${moved} elsewhere, ${group} by group`;

  function guessCard(seat, guess, note, best, numbers, ctx) {
    const states = best?.states ?? (numbers?.[0] === 6 ? SIX.map(() => "exact") : SIX.map(() => "")), found = best ? tally(best.states) : numbers;
    const runes = guess.map((name, at) => `${at}: ${name}${states[at] ? ` (${KINDS[states[at]][0]})` : ""}`).join(", ");
    const said = `guess: ${runes}${found ? `; ${tallySaid(found)}` : ""}${best ? `, closest to ${who(best.other, ctx.names)}'s symbol` : ""}`;
    const pips = found ? Object.keys(KINDS).slice(0, 3).flatMap((kind, n) => [draw("rect", { class: `place ${kind}`, x: 8 + n * 52, y: 127, width: 13, height: 13, rx: 2 }),
      ...sign(kind, 30 + n * 52, 134), label(40 + n * 52, 134, found[n], { "font-size": 11, class: "start strong" })]) : [];
    const whose = best ? [label(8, 155, "closest:", { "font-size": 9, class: "name start" }), token(56, 155, best.other, 8), nameTag(68, 155, 86, best.other, ctx.names)] : [];
    return card(seat, note, said, ctx, ...sixOf(`${note} of seat ${seat}`, guess, states, ctx, "guess"), [...pips, ...whose]);
  }

  function bestOf(guesses, symbol) {
    return guesses.map((guess) => compared(guess, symbol)).reduce((all, each) => (!all || better(tally(each), tally(all)) ? each : all), null);
  }

  // Who came how close to whom: the best guess of each seat at each other's symbol, position by position.
  function closeness(symbols, guesses, ctx) {
    const parts = [label(WIDE / 2, 12, "best guess of each (row) at each (column)", { "font-size": 7, class: "name" })], said = [], CELL = 27, spotOf = (at) => 24 + at * CELL;
    symbols.forEach((_, seat) => { parts.push(token(spotOf(seat) + 11, 28, seat, 7), token(10, 48 + seat * 21, seat, 7)); });
    symbols.forEach((_, seat) => symbols.forEach((symbol, other) => {
      if (other === seat || !symbol) return;
      const best = bestOf(guesses[seat], symbol);
      const words = `${who(seat, ctx.names)} at ${who(other, ctx.names)}: ${best ? tallySaid(tally(best)) : "no guess"}`;
      said.push(words);
      const [left, top] = [spotOf(other), 40 + seat * 21];
      parts.push(titled(draw("g", {}, SIX.map((at) => draw("rect", { class: `place ${best?.[at] ?? ""}`, x: left + (at % 3) * 8, y: top + Math.floor(at / 3) * 8, width: 7, height: 7, rx: 1 }))), words));
    }));
    for (const [kind, x] of [["exact", 8], ["moved", 55], ["group", 110]]) {
      parts.push(draw("rect", { class: `place ${kind}`, x, y: 153, width: 8, height: 8, rx: 1 }), label(x + 11, 157, KINDS[kind][0], { "font-size": 7, class: "name start" }));
    }
    return picture(WIDE, TALL, `How close guesses came. ${said.join("; ")}`, draw("rect", { class: "card", x: 1.5, y: 1.5, width: WIDE - 3, height: TALL - 3, rx: 8 }), parts);
  }

  function board(view, ctx) {
    const over = ctx.reveal, host = view.holdings, found = host ? host.map((each) => each.discovered) : Array.from({ length: ctx.seats }, (_, seat) => view.discovered[seat] ?? null);
    const symbols = over ? found.map((_, seat) => over.symbols[seat]) : host?.map((each) => each.symbol), guesses = over ? found.map((_, seat) => over.guesses[seat] ?? []) : host?.map((each) => each.guesses);
    const noted = (seat) => (found[seat] ? `found in ${found[seat]}` : over ? (found.filter((each) => !each).length > 1 ? "never found" : "wins") : seat === view.seat ? "own" : ""), shown = [], tried = [];
    const known = host || over ? null : knowledge(view, ctx);
    for (let seat = 0; seat < ctx.seats; seat += 1) {
      const money = host ? [host[seat].insight, host[seat].mantra] : seat === view.seat && view.insight !== null ? [view.insight, view.mantra] : null;
      const [drawn, words] = money ? [purse(...money), purseSaid(...money)] : [null, ""];
      const symbol = symbols?.[seat] ?? (host ? host[seat].submitted.at(-1) : seat === view.seat ? view.symbol ?? view.submitted.at(-1) : null);
      const states = (symbol && guesses && bestOf(guesses.filter((_, other) => other !== seat).flat(), symbol)) ?? [];
      shown.push(symbol ? whole(seat, symbol, noted(seat) || (states.length ? `${tally(states)[0]} of 6` : ""), states, ctx, drawn, words) : partly(seat, known?.[seat] ?? blank(), noted(seat), ctx));
    }
    if (guesses?.some((each) => each.length)) shown.push(closeness(symbols, guesses, ctx));
    const number = over ? view.round : view.round - 1;
    if (guesses) guesses.forEach((each, seat) => { if (each.length) tried.push(guessCard(seat, each.at(-1), `guess ${each.length}`, closest(each.at(-1), seat, symbols, found, number), null, ctx)); });
    else for (const played of view.history.slice(-4).reverse()) (played.action?.guesses ?? []).forEach((guess, index) => {
      const answer = played.told.find((event) => event.type === "guess" && event.index === index);
      tried.push(guessCard(view.seat, guess, `round ${played.round}`, null, answer ? [answer.exact, answer.moved, answer.group] : null, ctx));
    });
    return {
      heading: over ? "the end" : view.rounds ? `round ${view.round} (${view.rounds} at most)` : `round ${view.round}`,
      legend: known ? "A full square: the rune is known; a half one: a group of it. Dots: the groups that are possible still, Divine above Mundane. Below: runes whose position is open, and groups that were counted."
        : "Squares: the best guess at each symbol, or how a guess compares: ✓ in place, ↔ elsewhere in the symbol, ≈ shares a group. "
          + "A symbol of which 6 of 6 are in place is found. 10 mantra or more at the end cost the token.",
      node: ctx.draft?.window === "symbol" ? chooser(view, ctx)[0] : cards(shown, 220),
      more: [...(ctx.draft && ctx.draft.window !== "symbol" ? chooser(view, ctx) : []), ...(tried.length ? [el("h2", {}, guesses ? "Each bot's last guess" : "Guesses of the last four rounds, the latest first"), cards(tried.slice(0, 12), 220)] : [])],
    };
  }

  function scores(view) {
    if (!view.holdings) return null;
    const symbols = view.holdings.map((each) => each.symbol);
    return { what: "positions right in the best guess",
      of: view.holdings.map((each, seat) => Math.max(0, ...each.guesses.flatMap((guess) => symbols.map((symbol, other) => (symbol && other !== seat ? tally(compared(guess, symbol))[0] : 0))))),
      text: view.holdings.map((each) => `insight ${each.insight}, mantra ${each.mantra}${each.discovered ? `, discovered in round ${each.discovered}` : ""}`) };
  }

  // --- A person's turn. A symbol or a guess is six runes; a position that was emptied is `?` until a rune fills it.
  // Words: a rune; `at 3` for a position; a group; `seat 2`; and the beginning of a part, such as `vote 13` or `divine`.
  const RUNES_TAKEN = ["assign", "except", "mirror", "rune", "has", "line", "most", "guess"], LISTS = ["assign", "except", "most", "guess", "pattern"];
  const CONDITIONS = ["most line segments", "fewest line segments", "most straight lines", "fewest straight lines", "most joined pairs", "most runes of one group", "most runes sharing a group",
    "most runes others use", "fewest runes others use", "least insight", "least mantra received", "fewest visions used", "one for each Mundane group", "one for each Divine group", "two to each, two more if undiscovered"];
  const ASKED = { divine: "Who uses this Divine group?", mundane: "Who uses this Mundane group?", veil: "Turn answers about you round", assign: "A rune for each other seat", pattern: "Groups by position",
    place: "Groups of others in a position", except: "Another rune of a seat", mirror: "What it asks about you", window: "The rune in a position", rune: "How many use a rune", count: "Runes of a group", has: "Has a seat this rune?", line: "How many have it in a row", shared: "What two seats share", most: "How many of these" };
  const isRune = (word) => MUNDANE.includes(word.split(" ")[0]) && DIVINE.includes(word.split(" ")[1]);

  // Six runes with another one: it fills the first gap, or comes after the last; one that is there goes.
  function sixWith(runes, word) {
    if (word.startsWith("at ")) return runes.map((each, at) => (at === Number(word.slice(3)) ? "?" : each));
    if (runes.includes(word)) return runes.map((each) => (each === word ? "?" : each));
    const gap = runes.indexOf("?");
    if (gap >= 0) return runes.with(gap, word);
    return runes.length < 6 ? [...runes, word] : runes;
  }
  const runesIn = (text) => text.split(",").map((each) => each.trim()).filter(Boolean);
  const sixSaid = (runes) => (runes.every((each) => each === "?") ? "" : runes.join(", ").replace(/(, \?)+$/, ""));

  function say(text, word, view, window) {
    if (window === "symbol") return isRune(word) || word.startsWith("at ") ? sixSaid(sixWith(runesIn(text), word)) : [text.trim(), word].filter(Boolean).join(" ");
    const parts = text.split(";").map((part) => part.trim()).filter((part) => part && part !== "none"), last = parts.at(-1) ?? "", [begun] = last.split(" ");
    const written = (part) => [...parts.slice(0, -1), part].filter(Boolean).join("; ");
    if (word === "none") return word;
    if (isRune(word) && begun !== "guess" && RUNES_TAKEN.includes(begun)) {
      return written(`${last}${LISTS.includes(begun) && isRune(last.split(" ").slice(-2).join(" ")) ? "," : ""} ${word}`);
    }
    if (isRune(word) || word.startsWith("at ")) {
      const at = parts.findLastIndex((part) => part.startsWith("guess")), six = sixSaid(sixWith(runesIn(parts[at]?.slice(5) ?? ""), word));
      const others = parts.filter((_, each) => each !== at);
      return [...others, ...(six ? [`guess ${six}`] : [])].join("; ");
    }
    if (DIVINE.includes(word) || MUNDANE.includes(word)) {
      const open = begun === "pattern" ? (last.includes(":") ? "," : ":") : "";
      return written(`${last}${open} ${word}`.trim());
    }
    if (/^seat \d$/.test(word)) return written(`${last}${begun === "assign" && last !== "assign" ? "," : ""} ${word.slice(5)}${begun === "except" ? ":" : ""}`);
    return toggled(parts, word).join("; ");
  }

  // All runes in rows of their Divine groups; those that are chosen are marked.
  function palette(chosen, ctx) {
    const cells = DIVINE.flatMap((divine, row) => MUNDANE.map((mundane, column) => {
      const name = `${mundane} ${divine}`, at = `translate(${74 + column * 50} ${22 + row * 50})`;
      return says(titled(draw("g", { class: "choice", transform: at, "aria-pressed": chosen.includes(name) }, draw("rect", { class: "hit", width: 48, height: 48, rx: 4 }), draw("rect", { class: `place ${chosen.includes(name) ? "known" : ""}`, width: 48, height: 48, rx: 4 }),
        draw("g", { transform: "translate(6 6) scale(.9)" }, rune(name, 0, ctx))), name), name, ctx);
    }));
    const heads = MUNDANE.map((group, at) => label(98 + at * 50, 12, group, { "font-size": 11, class: "name" })).concat(DIVINE.map((group, at) => label(4, 46 + at * 50, group, { "font-size": 11, class: "start name" })));
    return grown(picture(378, 324, "The runes", heads, cells), { class: "palette" }, []);
  }

  function chosenCard(runes, title, view, ctx) {
    const cells = SIX.map((at) => {
      const [left, top] = cornerOf(at), name = runes[at] ?? "?";
      return says(titled(draw("g", { class: "choice" }, draw("rect", { class: `place hit ${name === "?" ? "" : "known"}`, x: left + 1, y: top + 1, width: 2 * STEP - 2, height: 2 * STEP - 2, rx: 3 }),
        name === "?" ? label(left + STEP, top + STEP, at, { "font-size": 13, class: "name" }) : rune(name, at, ctx)), `position ${at}: ${name === "?" ? "empty" : name}`), `at ${at}`, ctx);
    });
    return card(view.seat, title, `${title}: ${runes.length ? runes.join(", ") : "no rune yet"}`, ctx, cells, [], [], TOP + 4 * STEP + 12);
  }

  function chooser(view, ctx) {
    const { window, text } = ctx.draft, parts = text.split(";").map((part) => part.trim());
    const guess = runesIn(window === "symbol" ? text : parts.findLast((part) => part.startsWith("guess"))?.slice(5) ?? "");
    const runes = el("div", { class: "runes" }, chosenCard(guess, window === "symbol" ? "your symbol" : "your guess", view, ctx), palette(guess, ctx));
    if (window === "symbol") return [runes];
    const has = (part) => parts.includes(part), starts = (key) => parts.some((part) => part.split(" ")[0] === key);
    const others = ctx.names.map((_, seat) => seat).filter((seat) => seat !== view.seat);
    const fold = (name, ...nodes) => el("details", {}, el("summary", {}, name), nodes);
    return [el("h2", {}, "A guess: six runes, in their positions"), runes,
      choices("Vote for what pays insight next", CONDITIONS.map((name, at) => [`vote ${at + 1}`, `${at + 1} ${name}`, parts.some((part) => part === `vote ${at + 1}` || part.startsWith(`vote ${at + 1} `))]), ctx),
      choices("Buy, for 1 insight each", [["told", "Be told which wins", has("told")], ["more votes", "Three votes more", has("more votes")], ...(view.may_abstain ? [["abstain", "Abstain (free)", has("abstain")]] : []), ...(view.may_light ? [["light", "Light", has("light")]] : [])], ctx),
      fold("Ask about others", choices("Kinds of questions", Object.entries(ASKED).filter(([key]) => key !== "window" || view.may_window).map(([key, meaning]) => [key, `${key}: ${meaning}`, starts(key)]), ctx),
        choices("Whom", others.map((seat) => [`seat ${seat}`, [badge(seat), ` ${who(seat, ctx.names)}`]]), ctx),
        choices("Groups", [...DIVINE, ...MUNDANE].map((group) => [group, group]), ctx))];
  }

  return { name: "Runes to Ruins", board, scores, say };
})();
