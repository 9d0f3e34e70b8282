// Hive Mind: Hives of twelve hexes; the shapes over them, what they score, and what is known of their values.
drawings["hive-mind"] = (() => {
  const R = 34, W = R * Math.sqrt(3), ROWS = ["ABC", "DEFG", "HIJ", "KL"], LETTERS = ROWS.join(""), WIDE = 4 * W + 22, TALL = 268;
  const SHIFTS = [0.5, 0, 0.5, 1], SETS = ["1", "2", "3"];
  const places = {};
  ROWS.forEach((row, y) => [...row].forEach((letter, at) => { places[letter] = [11 + (at + 0.5 + SHIFTS[y]) * W, 66 + y * R * 1.5]; }));

  const sum = (points) => points.hexes + points.guesses + points.blocks + points.score_guesses;
  const letters = (shape) => [...(shape ?? "")].filter((letter) => places[letter]);

  // --- What is known of each Hive: its values and, by round, the shapes (by seat, or only how many) over its hexes.
  function hivesOf(view, ctx) {
    if (view.initial) return Object.entries(view.initial).map(([name, values], n) => {
      const played = view.feats ? view.rounds.slice(3 * n, 3 * n + 3) : view.rounds;
      const whose = (key) => (played[1] ?? []).flatMap((action, seat) => ((action[key] ?? []).includes(name) ? [seat] : []));
      return { name, values, doubles: whose("double"), blocks: whose("block"), hints: [],
        guesses: (played[2] ?? []).flatMap((action, seat) => (action.guess?.[name] ? [[seat, action.guess[name]]] : [])),
        rounds: played.map((round) => ({ placed: round.map((action) => action.place?.[name] ?? null) })) };
    });
    const told = view.told ?? [], results = told.filter((event) => event.type === "round_result").map((event) => event.hives);
    const reveal = ctx.reveal, names = reveal ? Object.keys(reveal.hives) : [...new Set([...results.flatMap(Object.keys), ...view.hives])];
    return names.map((name) => {
      const whose = (type) => told.filter((event) => event.type === type).flatMap((event) => event.hives[name] ?? []);
      const hints = told.filter((event) => event.type === "hint" && event.hive === name);
      const guesses = (view.submitted ?? []).flatMap((action) => (action.guess?.[name] ? [[view.seat, action.guess[name]]] : []));
      const rounds = reveal
        ? [0, 1, 2].map((at) => ({ placed: Object.keys(reveal.placements).map((seat) => reveal.placements[seat][name]?.[at] ?? null) }))
        : results.filter((hives) => hives[name]).map((hives) => {
          const own = hints.find((hint) => hint.round === hives[name].round);
          return { placed: Array.from({ length: ctx.seats }, (_, seat) => (own && seat === view.seat ? own.cells : null)), counts: hives[name].counts };
        });
      return { name, values: reveal?.hives[name] ?? null, doubles: whose("doubles"), blocks: whose("blocks"), hints, guesses, rounds, left: view.unused?.[name], own: view.seat };
    });
  }

  // What became of each hex in each round: how many shapes lay over it, who scored what, and when it was scored.
  function settled({ values, rounds, doubles, blocks }) {
    const scoredIn = {};
    return rounds.map(({ placed, counts }, at) => Object.fromEntries([...LETTERS].map((letter, n) => {
      const over = placed.flatMap((shape, seat) => (letters(shape).includes(letter) ? [seat] : [])), count = counts ? counts[letter] ?? 0 : over.length;
      const cell = { over, count, gains: [], doubled: false, scoredIn: scoredIn[letter] };
      if (at === 0 || !count || cell.scoredIn !== undefined) return [letter, cell];
      const value = values ? Number(values[n]) : null;
      if (count % 2) {
        scoredIn[letter] = at + 1;
        cell.scored = true;
        cell.doubled = value !== null && at === 2 && count === 1 && doubles.includes(over[0]);
        if (value !== null) cell.gains = over.map((seat) => [seat, cell.doubled ? 2 * value : value]);
      } else if (at === 2 && value !== null) {
        cell.blocked = over.filter((seat) => blocks.includes(seat) && over.some((other) => other !== seat && doubles.includes(other)));
        cell.gains = cell.blocked.map((seat) => [seat, 1]);
      }
      return [letter, cell];
    })));
  }

  const rightSets = (guess, values) => SETS.map((digit) => [...LETTERS].every((_, n) => (guess[n] === digit) === (values[n] === digit)));

  // --- Parts of the picture.
  // Shapes that share a hex are drawn one within the other.
  function levelled(shapes) {
    const done = [];
    for (const [seat, cells] of shapes) {
      const taken = done.filter((each) => each.cells.some((letter) => cells.includes(letter))).map((each) => each.level);
      done.push({ seat, cells, level: [0, 1, 2, 3, 4].find((level) => !taken.includes(level)) ?? 4 });
    }
    return done;
  }

  // `taken`: places at which no number shall hang.
  function shapesOf(name, placed, round, taken) {
    const lines = [], signs = [], spots = [...taken];
    for (const { seat, cells, level } of levelled(placed.flatMap((shape, seat) => (letters(shape).length ? [[seat, letters(shape)]] : [])))) {
      const loops = outline(cells.map((letter) => places[letter]), R, 3 + 4.2 * level), id = `shape ${name} ${round} ${seat}`;
      lines.push(draw("path", { class: `shape ${ofSeat(seat)} dash${seat % 5}`, d: closed(loops), "data-id": id }));
      if (seat % 5 === 4) lines.push(draw("path", { class: "shape-core", d: closed(loops), "data-id": `${id} core` }));
      // Its number hangs on the corner that is farthest from what is written elsewhere.
      const room = ([x, y]) => Math.min(60, ...spots.map(([ox, oy]) => Math.hypot(ox - x, oy - y))) - 0.02 * y;
      const spot = loops.flat().reduce((best, each) => (room(each) > room(best) ? each : best));
      spots.push(spot);
      signs.push(token(...spot, seat, 8.5));
    }
    return { lines, signs };
  }

  function pill(x, y, text, extra, id) {
    const wide = 10 + 6.4 * text.length;
    return draw("g", { class: `pill ${extra}`, "data-id": id }, draw("rect", { x: round(x - wide / 2), y: round(y - 8), width: round(wide), height: 16, rx: 8 }),
      label(x, y, text, { "font-size": 12 }));
  }

  // What a hex brought in this round, in few signs: "×2: 0", "+3", "×3: +2".
  function short(cell, scores) {
    const many = cell.count > (cell.over.length === cell.count ? 1 : 0) ? `×${cell.count}` : "";
    if (!cell.count || !scores) return many;
    const gain = cell.gains.length ? `+${cell.gains[0][1]}` : cell.scored ? "" : "0";
    return [many, cell.blocked?.length ? `B${gain}` : gain].filter(Boolean).join(": ");
  }

  function cellInWords(letter, n, hive, cell, at, ctx) {
    const names = (seats) => seats.map((seat) => who(seat, ctx.names)).join(" and ");
    const parts = [hive.values ? `value ${hive.values[n]}` : null];
    if (cell) {
      const over = cell.over.length === cell.count ? names(cell.over) : counts(cell.count, "shape");
      parts.push(cell.count ? `under ${over}` : null);
      if (cell.scoredIn !== undefined) parts.push(`scored in round ${cell.scoredIn}, empty`);
      else if (cell.blocked?.length) parts.push(`${names(cell.blocked)} ${cell.blocked.length > 1 ? "gain" : "gains"} 1 by a Block`);
      else if (cell.gains.length) parts.push(`${counts(cell.gains[0][1], "point")}${cell.gains.length > 1 ? " each" : ""}${cell.doubled ? ", doubled" : ""}`);
      else if (cell.scored) parts.push("scored");
      else if (cell.count && at > 0) parts.push("an even number, no points");
    }
    return `${letter}: ${parts.filter(Boolean).join(", ") || "nothing known"}`;
  }

  function badges(x, text, seats) {
    if (!seats.length) return null;
    return draw("g", { class: "bought" }, label(x, TALL - 46, text, { "font-size": 11, class: "strong" }), seats.map((seat, n) => token(x + (n % 3 - (Math.min(seats.length, 3) - 1) / 2) * 17, TALL - 30 + 17 * Math.floor(n / 3), seat, 7.5)));
  }

  function hivePicture(hive, ctx) {
    const all = settled(hive), at = all.length - 1, cells = all[at], last = hive.rounds[at], hint = ctx.reveal ? null : hive.hints.find((each) => each.round === at + 1);
    const [ground, figures, pills, taken] = [[], [], [], []];
    const choosing = ctx.draft?.window === "round" && hive.left !== undefined, chosen = choosing ? letters(read(ctx.draft.text, [hive.name]).place[hive.name]) : [];
    [...LETTERS].forEach((letter, n) => {
      const [x, y] = places[letter], cell = cells?.[letter], value = hive.values?.[n];
      const gone = cell?.scoredIn !== undefined || (cell?.scored && !value);
      const hex = titled(standing(x, y, R - 1, { class: `cell ${gone ? "spent" : value ? `value${value}` : ""}` }), cellInWords(letter, n, hive, cell, at, ctx));
      ground.push(choosing ? grown(says(hex, `${hive.name} ${letter}`, ctx), { "aria-pressed": chosen.includes(letter) }, []) : hex);
      figures.push(label(value ? x - 10 : x, value ? y - 8 : y - 3, letter, { "font-size": value ? 11 : 14 }));
      if (value) figures.push(label(x + 2, y + 1, value, { class: `figure ${gone ? "spent" : ""}`, "font-size": 21 }));
      if (gone) figures.push(draw("path", { class: "burst thin-burst", d: `M${round(x - 12)} ${round(y + 12)}l24 -24` }));
      if (hint?.looks.includes(letter)) figures.push(draw("circle", { class: "looked", cx: round(x), cy: round(y), r: R * 0.68 }));
      const text = cell ? short(cell, at > 0 && hive.values && !gone) : "";
      const kind = cell?.doubled ? "doubled" : cell?.gains.length ? "gain" : "plain";
      if (text) taken.push([x, y + R * 0.66]);
      if (text) pills.push(pill(x, y + R * 0.66, text, kind, `pill ${hive.name} ${at} ${letter}`));
    });
    const { lines, signs } = last ? shapesOf(hive.name, last.placed, at, taken) : { lines: [], signs: [] };
    if (chosen.length) lines.push(draw("path", { class: `shape ${ofSeat(hive.own)} draft`, d: closed(outline(chosen.map((letter) => places[letter]), R, 3)), "data-id": `draft ${hive.name}` }));
    const looks = choosing ? `left: ${listed(hive.left, "no shape")}` : hint ? `${hint.cells} looks at ${hint.looks || "nothing"}: ${hint.total}` : at >= 0 ? `round ${at + 1}` : "";
    const names = (seats) => listed(seats.map((seat) => who(seat, ctx.names)));
    const said = [`Hive ${hive.name}${at >= 0 ? `, round ${at + 1}` : ""}: ${[...LETTERS].map((letter, n) => cellInWords(letter, n, hive, cells?.[letter], at, ctx)).join("; ")}`];
    if (hint) said.push(looks);
    if (hive.doubles.length) said.push(`doubled: ${names(hive.doubles)}`);
    if (hive.blocks.length) said.push(`blocked: ${names(hive.blocks)}`);
    return picture(WIDE, TALL, said.join(". "), label(8, 14, `Hive ${hive.name}`, { "font-size": 16, class: "strong start" }),
      label(WIDE - 8, 14, looks, { "font-size": 12, class: "right" }), ground, figures, lines, signs, pills,
      badges(W / 2 + 6, "Double", hive.doubles), badges(WIDE - W / 2 - 6, "Block", hive.blocks));
  }

  // What is new in a seat's points since the step before, by reason.
  function gained(points, before) {
    const reasons = { hexes: "hexes", blocks: "Blocks", guesses: "guesses", score_guesses: "guesses of scores" };
    const news = Object.entries(reasons).map(([key, reason]) => [reason, points[key] - before[key]]).filter(([, more]) => more);
    const more = sum(points) - sum(before);
    return news.length ? `${more > 0 ? "+" : ""}${more}: ${news.map(([reason, each]) => `${reason} ${each}`).join(", ")}` : "";
  }

  // Names with totals, the best first, and what the step brought.
  function tally(view, ctx) {
    const points = ctx.reveal ? Object.values(ctx.reveal.points) : view.points ?? null, seats = ctx.names.map((_, seat) => seat);
    const before = ctx.at ? ctx.view(ctx.at - 1)?.points : null, most = Math.max(1, ...(points ?? []).map(sum));
    if (points) seats.sort((one, other) => sum(points[other]) - sum(points[one]) || one - other);
    const said = [];
    const rows = seats.map((seat, n) => {
      const y = 48 + 47 * n, total = points ? sum(points[seat]) : null, news = points && before ? gained(points[seat], before[seat]) : "";
      said.push(`${who(seat, ctx.names)}: ${total ?? "points not known"}${news ? ` (${news})` : ""}`);
      const [from, to] = [34, 58], mid = round(y);
      return draw("g", { "data-id": `tally ${seat}` }, token(18, y, seat, 11), draw("line", { class: `shape ${ofSeat(seat)} dash${seat % 5}`, x1: from, x2: to, y1: mid, y2: mid }),
        seat % 5 === 4 ? draw("line", { class: "shape-core", x1: from, x2: to, y1: mid, y2: mid }) : null,
        nameTag(66, y - 4, WIDE - (points ? 112 : 74), seat, ctx.names, "", 14),
        total === null ? null : [draw("rect", { class: `share ${ofSeat(seat)}`, x: 66, y: y + 7, width: round((WIDE - 74) * Math.max(0, total) / most), height: 5, rx: 2.5 }),
          label(WIDE - 8, y - 4, total, { class: "figure right", "font-size": 22 }), label(66, y + 21, news, { class: "gained start", "font-size": 11 })]);
    });
    const title = points ? ctx.reveal ? "Points at the end" : "Points" : "Points are still secret";
    return grown(picture(WIDE, TALL + 14, `${title}: ${said.join("; ")}`, label(8, 14, title, { "font-size": 16, class: "strong start" }), rows), { class: ctx.draft ? null : "lead" }, []);
  }

  // What a seat was told: its hints, the latest first.
  function hintsPicture(view, ctx) {
    const hints = view.told.filter((event) => event.type === "hint").reverse().slice(0, 9);
    const rows = hints.flatMap((hint, n) => [label(8, 44 + 25 * n, `${hint.hive}, round ${hint.round}: ${hint.cells} → ${hint.looks || "none"}`, { class: "start", "font-size": 12.5 }),
      label(WIDE - 8, 44 + 25 * n, hint.total, { class: "figure right", "font-size": 17 })]);
    const said = hints.map((hint) => `Hive ${hint.hive}, round ${hint.round}: the ${hint.shape} ${hint.cells} looks at ${hint.looks || "nothing"}, in all ${hint.total}`);
    return picture(WIDE, TALL, `What ${who(view.seat, ctx.names)} was told: ${said.join("; ")}`, label(8, 14, "Sums told so far", { "font-size": 16, class: "strong start" }), rows);
  }

  // Which guesses were right, as a table; null if there is none to tell of.
  function guessTable(hives, ctx) {
    const judged = hives.filter((hive) => hive.values && hive.guesses.length);
    if (!judged.length) return null;
    const seats = [...new Set(judged.flatMap((hive) => hive.guesses.map(([seat]) => seat)))].sort((one, other) => one - other);
    const sets = (right, which) => {
      const chosen = SETS.filter((_, n) => right[n] === which), shown = chosen.length === 3 ? "all" : chosen.map((digit) => `${digit}s`).join(" ");
      return shown ? el("p", { class: which ? "strong" : "soft" }, `${which ? "✓" : "✕"} ${shown}`, el("span", { class: "hidden" }, which ? " right" : " wrong")) : null;
    };
    const rows = judged.map((hive) => el("tr", {}, el("th", { scope: "row" }, hive.name), seats.map((seat) => {
      const guess = hive.guesses.find(([other]) => other === seat)?.[1], right = guess ? rightSets(guess, hive.values) : null;
      return el("td", {}, right ? [sets(right, true), sets(right, false)] : "–");
    })));
    return el("table", { class: "guesses" }, el("caption", {}, "Guesses of all 1s, 2s and 3s: ✓ right, a point each; ✕ wrong"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Hive"), seats.map((seat) => el("th", { scope: "col", title: ctx.names[seat] || null }, badge(seat), " ", el("span", { class: "whose" }, who(seat, ctx.names)))))), el("tbody", {}, rows));
  }

  function board(view, ctx) {
    const hives = hivesOf(view, ctx), all = view.initial || ctx.reveal;
    const told = !all && view.seat !== null && view.told.some((event) => event.type === "hint");
    const guesses = guessTable(hives, ctx);
    const purse = view.wallet && view.window === "round" ? [el("p", { class: "soft" }, `${counts(view.wallet.garnets, "garnet")}; free Doubles: ${view.wallet.free_doubles}, free Blocks: ${view.wallet.free_blocks}`)] : [];
    const turn = ctx.draft ? chooser(view, ctx) : [];
    return {
      heading: ctx.reveal ? "the end" : view.window === "round" ? `round ${view.round} on ${view.hives.length === 1 ? "Hive" : "Hives"} ${listed(view.hives)}`
        : view.window ? { scores: "scores are guessed", give_token: "a token may be given", break_tie: "a tie is to be broken" }[view.window] : "after all rounds",
      legend: all
        ? "The number in a hex is its value. An outline is a bot's shape of the latest round; ×2: two shapes share a hex. From round 2 on a hex with an odd number of shapes scores for all of them, once. Gold: doubled; B: by a Block."
        : `${view.seat === null ? "" : "The outline is the seat's own shape, rings are the hexes that it looks at. "}×2: so many shapes lay over a hex in the latest round; a stroke: it has scored.`,
      node: cards([...hives.map((hive) => hivePicture(hive, ctx)), told ? hintsPicture(view, ctx) : tally(view, ctx)], 300),
      more: [...turn, ...purse, ...(guesses ? [guesses] : [])],
    };
  }

  function scores(view, ctx) {
    const all = ctx.reveal ? Object.values(ctx.reveal.points) : view.points;
    if (!all) return null;
    return { what: "points", of: all.map(sum), text: all.map((each) => `hexes ${each.hexes}, guesses ${each.guesses}, blocks ${each.blocks}${each.score_guesses ? `, guesses of scores ${each.score_guesses}` : ""}`) };
  }

  // --- A person's turn. Words: `Charge A` for a hex of a shape, `double Charge`, `guess Charge A` for the next value of a hex,
  // `guess Charge` for no guess, a seat, `2 +` and `2 -` for a guess of its points.
  function read(text, hives) {
    const action = { place: {}, double: [], block: [], guess: {} }, words = wordsIn(text);
    const named = (word) => hives.find((hive) => hive.toLowerCase() === word?.toLowerCase()) ?? word;
    for (let at = 0; at < words.length;) {
      const key = words[at].toLowerCase();
      if (key === "none") at += 1;
      else if (key === "guess") { action.guess[named(words[at + 1])] = words[at + 2] ?? ""; at += 3; }
      else if (key in action) { action[key].push(named(words[at + 1])); at += 2; }
      else { action.place[named(words[at])] = (words[at + 1] ?? "").toUpperCase(); at += 2; }
    }
    return action;
  }

  const spoken = ({ place, double, block, guess }) => [...Object.entries(place).filter(([, cells]) => cells).map((pair) => pair.join(" ")),
    ...double.map((hive) => `double ${hive}`), ...block.map((hive) => `block ${hive}`), ...Object.entries(guess).map(([hive, values]) => `guess ${hive} ${values}`)].join(" ");
  const guessed = (text) => Object.fromEntries(wordsIn(text).filter((word) => /^\d:-?\d+$/.test(word)).map((word) => word.split(":").map(Number)));

  function say(text, word, view, window) {
    const [first, second, third] = word.split(" ");
    if (window === "scores" && second) {
      const points = guessed(text);
      points[first] = (points[first] ?? 10) + (second === "+" ? 1 : -1) * (first in points ? 1 : 0);
      return Object.entries(points).map((pair) => pair.join(":")).join(" ");
    }
    if (window !== "round" || !second) return word;
    const action = read(text, view.hives);
    if (first === "double" || first === "block") action[first] = toggled(action[first], second);
    else if (first === "guess" && third) {
      const values = action.guess[second] ?? "1".repeat(LETTERS.length), at = LETTERS.indexOf(third);
      action.guess[second] = values.slice(0, at) + (Number(values[at]) % 3 + 1) + values.slice(at + 1);
    } else if (first === "guess") delete action.guess[second];
    else {
      const cells = letters(action.place[first]), left = toggled(cells, second);
      action.place[first] = (left.length > 3 ? [second] : left).sort().join("");
    }
    return spoken(action);
  }

  // What is bought and guessed, below the board.
  function chooser(view, ctx) {
    const { window, text } = ctx.draft, others = ctx.names.map((_, seat) => seat).filter((seat) => seat !== view.seat);
    if (window === "break_tie") return [seatChoices("Who is to go", view.tied, Number(text.trim() || NaN), ctx)];
    if (window === "give_token") return [seatChoices("Who gets a token", others, Number(text.trim() || NaN), ctx)];
    if (window === "scores") {
      const points = guessed(text);
      return others.map((seat) => choices(`Points of ${who(seat, ctx.names)}: ${points[seat] ?? "no guess"}`, [[`${seat} -`, "one less"], [`${seat} +`, seat in points ? "one more" : "guess"]], ctx));
    }
    const action = read(text, view.hives), bought = (key, name) => choices(name, view.hives.map((hive) => [`${key} ${hive}`, `${name} on ${hive}`, action[key].includes(hive)]), ctx);
    if (view.round === 2) return [bought("double", "Double"), bought("block", "Block")];
    return view.round === 3 ? [el("h2", {}, "Guess the values: a point for all 1s, for all 2s, for all 3s. A click on a hex changes its value."),
      cards(view.hives.map((hive) => guessPicture(hive, action.guess[hive], ctx)), 220), choices("No guess", Object.keys(action.guess).map((hive) => [`guess ${hive}`, `None for ${hive}`]), ctx)] : [];
  }

  function guessPicture(hive, values, ctx) {
    const hexes = [...LETTERS].map((letter, n) => {
      const [x, y] = places[letter], value = values?.[n];
      return says(titled(draw("g", {}, standing(x, y, R - 1, { class: `cell ${value ? `value${value}` : ""}` }), label(x - 10, y - 8, letter, { "font-size": 11 }),
        label(x + 2, y + 1, value ?? "?", { class: "figure", "font-size": 21 })), `${letter}: ${value ?? "no guess"}`), `guess ${hive} ${letter}`, ctx);
    });
    const counted = values ? `, ${SETS.map((digit) => `${[...values].filter((each) => each === digit).length} of ${digit}`).join(", ")} (there are 5, 4 and 3)` : "";
    return picture(WIDE, TALL, `Guess of ${hive}${counted}`, label(8, 14, `${hive}${values ? "" : ": no guess"}`, { "font-size": 16, class: "strong start" }),
      label(WIDE - 8, 30, values ? `1s, 2s, 3s: ${SETS.map((digit) => [...values].filter((each) => each === digit).length).join(", ")} (5, 4, 3)` : "", { "font-size": 12, class: "right" }), hexes);
  }

  return { name: "Hive Mind", board, scores, say };
})();
