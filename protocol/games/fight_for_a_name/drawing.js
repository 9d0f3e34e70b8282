// The Fight For a Name: hexes that lie on a side, who holds them and who moved; the race for the titles; banners.
drawings["fight-for-a-name"] = (() => {
  const R = 30, H = R * Math.sqrt(3) / 2, LEFT = 48, TOP = 54, PARTS = 4;
  const LENGTHS = [1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1];
  const hexes = [...Array.from({ length: 18 }, (_, n) => String(n + 1)), "Start", ...Array.from({ length: 18 }, (_, n) => String(n + 19))];
  const places = {};
  let next = 0;
  LENGTHS.forEach((length, row) => {
    for (let at = 0; at < length; at += 1) {
      places[hexes[next]] = [LEFT + R + (2 * at - length + 4) * R * 1.5, TOP + H + row * H];
      next += 1;
    }
  });
  const WIDTH = 2 * LEFT + 2 * R + 6 * R * 1.5, HEIGHT = 2 * TOP + 14 * H;
  const WAYS = { N: [0, -2 * H], NE: [R * 1.5, -H], SE: [R * 1.5, H], S: [0, 2 * H], SW: [-R * 1.5, H], NW: [-R * 1.5, -H] };
  const GATES = { phi: ["1 N"], lambda: ["2 NW"], mu: ["3 NE"], delta: ["7 NW", "7 SW"], omega: ["10 NE", "10 SE"],
    xi: ["27 NW", "27 SW"], gamma: ["30 NE", "30 SE"], theta: ["31 S"], sigma: ["33 S"], psi: ["36 S"] };
  // A pillar lies where its gates lead to: on one hex or two beyond the edge, and beside no hex that is not a gate.
  const PILLARS = Object.fromEntries(Object.entries(GATES).map(([pillar, gates]) => [pillar, gates.map((gate) => {
    const [hex, way] = gate.split(" ");
    return [places[hex][0] + WAYS[way][0], places[hex][1] + WAYS[way][1]];
  })]));
  const middle = (spots) => [spots[0][0], (spots[0][1] + spots.at(-1)[1]) / 2];
  const spot = (place) => places[place] ?? (PILLARS[place] ? middle(PILLARS[place]) : null);
  const letter = (colour) => colour[0].toUpperCase();

  function people(place, x, y, seats, own, nameOf) {
    const across = seats.length > 2 ? 3 : 2, small = seats.length > 2 ? 8 : seats.length > 1 ? 11 : 12, shown = seats.length > 6 ? 5 : 6;
    const rows = Math.ceil(Math.min(seats.length, 6) / across);
    const spotOf = (at) => {
      const inRow = Math.min(across, Math.min(seats.length, 6) - Math.floor(at / across) * across);
      return [x + ((at % across) - (inRow - 1) / 2) * (2 * small + 1), y + (Math.floor(at / across) - (rows - 1) / 2) * (2 * small + 1)];
    };
    return seats.slice(0, shown).map((seat, at) => titled(grown(token(...spotOf(at), seat, small, seat === own ? "own" : ""), { "data-id": `seat ${seat}` }, []), `seat ${seat}: ${nameOf(seat)}, at ${place}`))
      .concat(seats.length > 6 ? [titled(label(...spotOf(5), `+${seats.length - 5}`, { "font-size": 11, class: "strong" }), listed(seats.slice(5).map(nameOf)))] : []);
  }

  // The way that each seat went last: its own step by step, those of others from where to where.
  function trails(view, positions) {
    const results = view.history, last = results.at(-1)?.positions ?? {};
    const moved = Object.entries(positions).some(([seat, place]) => (last[seat] ?? "Start") !== place);
    const before = moved ? last : results.at(-2)?.positions ?? {};
    return Object.entries(positions).flatMap(([seat, place]) => {
      const from = before[seat] ?? "Start", [a, b] = [spot(from), spot(place)];
      if (from === place || !a || !b) return [];
      const path = Number(seat) === view.seat ? (view.moves?.at(-1)?.path ?? []) : [];
      const way = path.reduce((all, step) => [...all, [all.at(-1)[0] + (WAYS[step]?.[0] ?? 0), all.at(-1)[1] + (WAYS[step]?.[1] ?? 0)]], [a]);
      const parts = PILLARS[from] || way.length < 3 ? [] : [points(way.slice(0, -1))];
      const [x, y] = parts.length ? way.at(-2) : a;
      const drawn = () => [...parts.map((each) => draw("polyline", { points: each })), arrow(x, y, b[0], b[1], parts.length ? 0 : 8, 15)];
      return [draw("g", { class: "trail halo" }, drawn()), draw("g", { class: `trail ${ofSeat(seat)}` }, drawn())];
    });
  }

  // --- The race: of the four parts of each seat's best banner, those it has. Banners are known to the host alone.
  function bestOf(view, seat, colours, holders) {
    const held = {};
    for (const [hex, holder] of Object.entries(holders)) if (holder === seat) held[colours[hex]] = (held[colours[hex]] ?? 0) + 1;
    let best = null;
    for (const [title, { body, parting }] of Object.entries(view.setup.titles)) {
      if (title in view.claims) continue;
      const has = [title in view.players[seat].crests, held[body] > 0, held[parting] > 0, held[parting] > 1];
      const parts = has.filter(Boolean).length;
      if (parts > (best?.parts ?? 0)) best = { title, body, parting, has, parts };
    }
    return best;
  }

  const titlesOf = (claims) => Object.fromEntries(Object.entries(claims).map(([title, claim]) => [claim.seat, { title, round: claim.round }]));

  function slot(x, y, colour, has) {
    return draw("g", { class: has ? "" : "missing" }, lying(x, y, 10, { class: `cell hex-${colour}` }), label(x, y, letter(colour), { "font-size": 9, class: has ? `on-${colour}` : "" }));
  }

  const shield = (x, y, has) => draw("path", { class: has ? "crest" : "crest none", d: `M${x - 7} ${y - 8}h14v8q0 6 -7 9q-7 -3 -7 -9z` });

  function race(view, ctx, colours, holders) {
    const claimed = titlesOf(view.claims), seats = ctx.names.map((_, seat) => seat), ROW = 25;
    const best = seats.map((seat) => (view.players && !claimed[seat] ? bestOf(view, seat, colours, holders) : null));
    const held = seats.map((seat) => Object.keys(holders).filter((hex) => holders[hex] === seat));
    const purse = (seat) => (view.players ? view.players[seat].mp : seat === view.seat ? view.mp : null);
    const crests = (seat) => (view.players ? view.players[seat].crests : seat === view.seat ? view.crests : null);
    const order = [...seats].sort((a, b) => (claimed[a]?.round ?? Infinity) - (claimed[b]?.round ?? Infinity) || (best[b]?.parts ?? 0) - (best[a]?.parts ?? 0) || held[b].length - held[a].length || a - b);
    const said = [];
    const rows = order.map((seat, n) => {
      const y = 32 + n * ROW, mp = claimed[seat] ? null : purse(seat), parts = [token(11, y, seat, 10), nameTag(26, y, 108, seat, ctx.names, claimed[seat] ? "strong" : "")];
      let words;
      if (claimed[seat]) {
        const first = claimed[seat].round === claimed[order[0]].round;
        parts.push(label(140, y, `★ ${claimed[seat].title}, round ${claimed[seat].round}${first ? ": wins" : ""}`, { "font-size": 12, class: "start strong" }));
        words = `is ${claimed[seat].title} since round ${claimed[seat].round}${first ? ", and wins" : ""}`;
      } else if (view.players) {
        const { title, body, parting, has } = best[seat] ?? { has: [] };
        if (title) parts.push(shield(150, y, has[0]), slot(173, y, body, has[1]), slot(195, y, parting, has[2]), slot(217, y, parting, has[3]), label(232, y, title, { "font-size": 11, class: "start name" }));
        words = title ? `has ${best[seat].parts} of ${PARTS} parts of ${title}` : "has no part of a banner";
      } else {
        const shown = held[seat].slice(0, 6), own = seat === view.seat ? Object.keys(view.crests).length : 0;
        parts.push(...shown.map((hex, at) => slot(150 + at * 22, y, colours[hex], true)), held[seat].length > 6 ? label(150 + 6 * 22, y, `+${held[seat].length - 6}`, { "font-size": 11 }) : null);
        if (own) parts.push(shield(300, y, true), label(312, y, own, { "font-size": 11, class: "start strong" }));
        words = `holds ${held[seat].length ? listed(held[seat].map((hex) => `${hex} (${colours[hex]})`)) : "no hex"}`;
      }
      if (mp !== null && mp !== undefined) {
        parts.push(draw("circle", { class: "coin", cx: 349, cy: y, r: 10 }), label(349, y, mp, { "font-size": 11, class: "on-coin" }));
        words += `, ${counts(mp, "movement point")}`;
      }
      const mine = Object.keys(crests(seat) ?? {});
      said.push(`${who(seat, ctx.names)} ${words}${mine.length && !claimed[seat] ? `, crests: ${listed(mine)}` : ""}`);
      return titled(draw("g", { "data-id": `race of seat ${seat}` }, parts), `seat ${seat}: ${said.at(-1)}`);
    });
    const heads = view.players ? [["crest", 147], ["body", 175], ["partings", 209]] : [["hexes held", 170], ...(view.seat === null ? [] : [["crests", 306]])];
    return picture(362, 32 + seats.length * ROW, `The race for a title: ${said.join("; ")}`, heads.map(([text, x]) => label(x, 9, text, { "font-size": 9, class: "name" })),
      view.players || view.seat !== null ? label(349, 9, "MP", { "font-size": 9, class: "name" }) : null, rows);
  }

  // --- Banners. Who does not know their colours may still see which hexes turned white for the only claim of a round.
  function coloursOf(title, view, ctx, colours) {
    const known = view.setup?.titles ?? ctx.reveal?.titles ?? view.revealed?.titles;
    if (known) return known[title];
    const at = view.history.findIndex((each) => title in each.claimed);
    if (at < 0 || Object.keys(view.history[at].claimed).length !== 1) return null;
    const turned = view.history[at].white.filter((hex) => !(view.history[at - 1]?.white ?? []).includes(hex)).map((hex) => colours[hex]);
    const parting = turned.find((colour) => turned.filter((each) => each === colour).length === 2);
    const body = turned.find((colour) => colour !== parting);
    return turned.length === 3 && parting && body ? { body, parting } : null;
  }

  function banner(title, claim, known, names) {
    const cloth = "M14 6h50v46l-25 -12l-25 12z", said = known ? `body ${known.body}, partings ${known.parting}` : "colours unknown";
    return grown(picture(78, 86, `${title}: ${said}${claim ? `, claimed by ${who(claim.seat, names)} in round ${claim.round}` : ""}`,
      draw("title", {}, `${title}: ${said}`),
      draw("path", { class: `cell hex-${known?.body ?? "start"}`, d: cloth }),
      known ? [draw("path", { class: `hex-${known.parting}`, d: "M14.6 6.6h10v40.2l-10 4.4zM63.4 6.6h-10v40.2l10 4.4z" }), label(39, 13, letter(known.body), { "font-size": 8, class: `on-${known.body}` }),
        label(19.5, 13, letter(known.parting), { "font-size": 8, class: `on-${known.parting}` }), label(58.5, 13, letter(known.parting), { "font-size": 8, class: `on-${known.parting}` })] : null,
      claim ? token(39, 28, claim.seat, 11) : known ? null : label(39, 28, "?", { "font-size": 16, class: "name" }),
      label(39, 63, title, { "font-size": 10.5, class: "strong" }), claim ? label(39, 77, `round ${claim.round}`, { "font-size": 10, class: "name" }) : null), { class: claim ? "banner" : "banner faded" }, []);
  }

  // The picture, said.
  function inWords(here, holders, bots) {
    const stand = Object.entries(here).map(([place, seats]) => `${listed(seats.map((seat) => who(seat, bots)))} at ${place}`);
    const held = {};
    for (const [hex, seat] of Object.entries(holders)) (held[seat] ??= []).push(hex);
    const hold = Object.entries(held).map(([seat, hexes]) => `${who(seat, bots)} holds ${listed(hexes)}`);
    return [...(stand.length ? stand : ["nobody is on the board"]), ...(hold.length ? hold : ["nobody holds a hex"])].join("; ");
  }

  function hexOf(hex, view, ctx, { colours, holders, white, here, before }) {
    const [x, y] = places[hex], name = (seat) => who(seat, ctx.names);
    const colour = hex === "Start" ? "start" : white.includes(Number(hex)) ? "white" : colours[hex] ?? "white";
    const holder = holders[hex], seats = here[hex] ?? [], strength = view.strengths?.[hex];
    const turned = colour === "white" && !(before?.white ?? white).includes(Number(hex));
    const ground = titled(lying(x, y, R - 1.3, { class: `cell hex-${colour}${turned ? " turned" : ""}` }),
      [`${hex}: ${colour}${turned ? " since this round, for a banner" : ""}`, holder === undefined ? "" : `held by ${name(holder)}`,
        seats.length ? `here: ${listed(seats.map(name))}` : "", strength ? `own strength ${strength}` : ""].filter(Boolean).join(", "));
    if (ctx.draft?.window === "move") says(ground, hex, ctx);
    if (hex === "Start") return [ground, [label(x, y - 20, "Start", { "font-size": 9, class: "strong" }), ...people(hex, x, y + 4, seats, view.seat, name)]];
    const above = [label(x - 9, y - 19, hex, { "font-size": 10, class: `strong on-${colour}` }), label(x + 9, y - 19, letter(colour), { "font-size": 8, class: `on-${colour}` })];
    if (holder !== undefined) {
      const fresh = before && before.holders[hex] !== holder ? "fresh" : "";
      above.push(draw("g", { class: `flag ${ofSeat(holder)} ${fresh}` }, draw("path", { d: `M${round(x - 12)} ${round(y + 10)}h24l-5 7l5 7h-24z` }), label(x - 2, y + 17, holder, { "font-size": 11 })));
    }
    above.push(...people(hex, x, holder === undefined ? y + 4 : y - (seats.length > 3 ? 5 : 3), seats, view.seat, name));
    if (strength) above.push(label(x + 21, y + 2, strength, { "font-size": 10, class: `strong on-${colour}` }));
    return [ground, above];
  }

  function board(view, ctx) {
    const last = view.history.at(-1), colours = view.colours ?? view.setup.colours;
    const holders = view.holders ?? last?.holders ?? {}, white = view.white ?? last?.white ?? [];
    const positions = view.positions ? { ...view.positions }
      : Object.fromEntries(view.players.map((player, seat) => [seat, player.position]).filter(([, place]) => place !== null));
    if (view.seat !== undefined && view.seat !== null && view.position) positions[view.seat] = view.position;
    const here = {};
    for (const [seat, place] of Object.entries(positions)) (here[place] ??= []).push(Number(seat));
    const [ground, above] = [[], []], state = { colours, holders, white, here, before: last && (view.history.at(-2) ?? { white: [], holders: {} }) };
    for (const [pillar, spots] of Object.entries(PILLARS)) {
      const [x, y] = middle(spots), seats = here[pillar] ?? [], name = (seat) => who(seat, ctx.names), long = spots.length > 1;
      const column = titled(draw("g", { class: "pillar" }, spots.map(([px, py]) => lying(px, py, R - 1.3))), `${pillar}: pillar${seats.length ? `, here: ${listed(seats.map(name))}` : ""}`);
      ground.push(ctx.draft?.window === "move" && view.mp !== null ? says(column, pillar, ctx) : column);
      above.push(label(x, spots[0][1] - (long ? 8 : 18), pillar, { "font-size": 10, class: "strong" }), ...people(pillar, x, y + (long ? 12 : 4), seats, view.seat, name));
    }
    for (const hex of Object.keys(places)) {
      const [below, top] = hexOf(hex, view, ctx, state);
      ground.push(below);
      above.push(...top);
    }
    const more = ctx.draft ? chooser(view, ctx) : [], known = (view.setup ?? ctx.reveal ?? view.revealed)?.titles, since = (title) => view.claims[title]?.round ?? Infinity;
    if (view.title) more.push(el("p", {}, `${who(view.seat, ctx.names)} is ${view.title}.`));
    else if (view.mp !== undefined && view.mp !== null) more.push(el("p", {}, `${who(view.seat, ctx.names)}: ${counts(view.mp, "movement point")}; crests: ${listed(Object.keys(view.crests))}.`));
    const titles = Object.keys(known ?? view.claims).sort((a, b) => since(a) - since(b) || (a < b ? -1 : 1));
    if (titles.length) more.push(el("h2", {}, known ? "Banners" : "Banners claimed"), natural(titles.map((title) => banner(title, view.claims[title], coloursOf(title, view, ctx, colours), ctx.names))));
    if (view.round === 0 && view.numbers && !ctx.draft) more.push(el("p", {}, `The timed game: which of ${listed(view.numbers)} make ${view.target}?`));
    return {
      heading: ctx.reveal ? "the end" : view.rounds ? `${view.round ? `round ${view.round}` : "before round 1"} of ${view.rounds}` : `round ${view.round}, ${view.phase.replaceAll("_", " ")}`,
      legend: `A hex has its number and the first letter of its colour (W: white); a flag names its holder, arrows show who moved. `
        + `${view.players ? "The list: what each player has of its best banner." : "The list: which hexes each player holds."} MP: movement points.`,
      node: el("div", { class: "duo" }, picture(WIDTH, HEIGHT, inWords(here, holders, ctx.names), ground, ctx.draft ? planned(view, ctx) : trails(view, positions), above), race(view, ctx, colours, holders)),
      more,
      // On a small screen the numbers of the timed game come before the board, which is not needed for it.
      moreFirst: Boolean(ctx.draft) && ctx.draft.window !== "move",
    };
  }

  function scores(view) {
    if (!view.players) return null;
    const claimed = titlesOf(view.claims), holders = view.history.at(-1)?.holders ?? {};
    return { what: `parts of a banner (${PARTS + 1}: a title)`,
      of: view.players.map((_, seat) => (claimed[seat] ? PARTS + 1 : bestOf(view, seat, view.setup.colours, holders)?.parts ?? 0)),
      text: view.players.map((player, seat) => (claimed[seat] ? `is ${claimed[seat].title}` : `at ${player.position}, ${counts(Object.keys(player.crests).length, "crest")}, ${counts(player.mp, "movement point")}`)) };
  }

  // --- A person's turn. In the window `move` a click on a hex leads the path there; after `put` it adds strength; a seat gets a gift.
  const EXITS = { phi: { S: "1" }, psi: { N: "36" }, mu: { SW: "3", S: "6" }, lambda: { SE: "2", S: "4" }, sigma: { N: "33", NW: "35" },
    theta: { N: "31", NE: "34" }, omega: { NW: "10", SW: "17" }, delta: { NE: "7", SE: "14" }, gamma: { SW: "30", NW: "23" }, xi: { SE: "27", NE: "20" } };
  const ASKING = [["body", 1], ["parting", 1], ["other", 1], ["neither", 1], ["crest", 0]], COLOURS = ["red", "orange", "yellow", "green", "blue", "purple"];
  const isAt = ([x, y]) => ([px, py]) => Math.hypot(px - x, py - y) < 2;

  function stepFrom(place, way) {
    if (PILLARS[place]) return EXITS[place][way] ?? null;
    const there = isAt([places[place][0] + WAYS[way][0], places[place][1] + WAYS[way][1]]);
    return hexes.find((hex) => there(places[hex])) ?? Object.keys(PILLARS).find((pillar) => PILLARS[pillar].some(there)) ?? null;
  }

  // Where a path leads, place by place, as far as it is one.
  function walked(start, path) {
    const passed = [start];
    for (const way of path) {
      const next = WAYS[way] ? stepFrom(passed.at(-1), way) : null;
      if (next === null) break;
      passed.push(next);
    }
    return passed;
  }

  // The shortest path between two places, over hexes alone; a pillar is entered straight, if it can be.
  function pathTo(start, goal) {
    for (const way of PILLARS[goal] ? Object.keys(WAYS) : []) {
      for (let steps = 1; steps < 14; steps += 1) if (walked(start, Array(steps).fill(way))[steps] === goal) return Array(steps).fill(way);
    }
    const reached = new Map([[start, []]]);
    for (const [place, path] of reached) {
      if (place === goal) return path;
      if (PILLARS[place] && place !== start) continue;
      for (const way of Object.keys(WAYS)) {
        const next = stepFrom(place, way);
        if (next !== null && !reached.has(next)) reached.set(next, [...path, way]);
      }
    }
    return null;
  }

  // A move as it is typed: its path, and then what it puts or gives to whom.
  function read(text) {
    const words = wordsIn(text), from = words.findIndex((word) => ["put", "give"].includes(word.toLowerCase()));
    const path = (from < 0 ? words : words.slice(0, from)).map((word) => word.toUpperCase()).filter((word) => WAYS[word]);
    const spent = from < 0 ? [] : words.slice(from + 1).map((word) => word.split(":")).filter((pair) => pair.length === 2);
    return { path, key: from < 0 ? null : words[from].toLowerCase(), spent: Object.fromEntries(spent.map(([where, amount]) => [where, Number(amount)])) };
  }

  function moved({ path, key, spent }) {
    const given = Object.entries(spent).filter(([, amount]) => amount > 0);
    return [...path, ...(given.length ? [key, ...given.map((pair) => pair.join(":"))] : [])].join(" ") || (key === "give" ? "none" : "stay");
  }

  function say(text, word, view, window) {
    const [first, second] = word.split(" ");
    if (window === "challenge") return toggled(wordsIn(text).filter((each) => each !== "none"), word).sort((a, b) => a - b).join(" ") || "none";
    if (window === "pillar") return asked(wordsIn(text), word, view);
    if (window !== "move" || (!second && !spot(word))) return WAYS[word] ? [...wordsIn(text).filter((each) => each !== "stay"), word].join(" ") : word;
    const move = read(text);
    if (second) {
      const before = move.key === first ? move.spent : {};
      return moved({ ...move, key: first, spent: { ...before, [second]: first === "give" ? ((before[second] ?? 0) + 1) % 3 : (before[second] ?? 0) + 1 } });
    }
    const passed = walked(view.position, move.path), seen = passed.indexOf(word);
    if (seen >= 0) return moved({ ...move, path: move.path.slice(0, seen === passed.length - 1 ? Math.max(0, seen - 1) : seen) });
    const before = PILLARS[word] ? [] : move.path.slice(0, passed.length - 1), path = pathTo(PILLARS[word] ? view.position : passed.at(-1), word);
    return path ? moved({ ...move, path: [...before, ...path] }) : text;
  }

  // A pillar is asked word by word: the next that is missing is a title or a colour; another of its kind replaces the last.
  const WANTED = ASKING.flatMap(([key, more]) => (key === "crest" ? ["title"] : key === "neither" ? ["title", "title"] : ["title", "colour"]).slice(0, more + 1));
  function asked(words, word) {
    const given = words.filter((each) => !ASKING.some(([key]) => key === each.toLowerCase())), kind = COLOURS.includes(word) ? "colour" : "title";
    const seen = kind === "title" ? given.indexOf(word) : -1, said = [];
    let filled = given, next = 0;
    if (seen >= 0) filled = given.slice(0, seen);
    else if (WANTED[given.length] === kind) filled = [...given, word];
    else if (WANTED[given.length - 1] === kind) filled = [...given.slice(0, -1), word];
    for (const [key, more] of ASKING) {
      if (next < filled.length) said.push(key, ...filled.slice(next, next + 1 + more));
      next += 1 + more;
    }
    return said.join(" ");
  }

  function planned(view, ctx) {
    const passed = ctx.draft.window === "move" && view.position ? walked(view.position, read(ctx.draft.text).path) : [];
    const spots = passed.map((place) => spot(place)), ends = spots.length > 1 ? [spots.at(-2), spots.at(-1)] : null;
    if (!ends) return [];
    const drawn = () => [draw("polyline", { points: points(spots.slice(0, -1)) }), arrow(...ends[0], ...ends[1], 0, 4)];
    return [draw("g", { class: "trail halo" }, drawn()), draw("g", { class: `trail draft ${ofSeat(view.seat)}` }, drawn())];
  }

  // What a click on the board cannot say, below it.
  function chooser(view, ctx) {
    const { window, text } = ctx.draft, words = wordsIn(text);
    if (window === "challenge") {
      const sum = words.reduce((all, word) => all + (view.numbers[word] ?? 0), 0);
      return [choices(`Which numbers make ${view.target}? Chosen: ${sum}`, view.numbers.map((number, n) => [String(n), String(number), words.includes(String(n))]), ctx)];
    }
    if (window === "pillar") {
      const { titles, pillar } = view.visits.at(-1);
      return [el("p", {}, `${pillar ?? "The pillar"} shows six titles. Say in this order: a title and a colour (is it its body colour?), a title and a colour (its parting colour?), a title and a colour (you learn another that it has not), two titles (colours that neither has), and a title whose crest you get.`),
        choices("Titles", titles.map((title) => [title, title, words.includes(title)]), ctx), choices("Colours", COLOURS.map((colour) => [colour, colour]), ctx)];
    }
    if (window !== "move") return [seatChoices("One of", view.candidates ?? [], Number(text.trim() || NaN), ctx)];
    const move = read(text), seats = Object.keys(view.positions);
    if (view.title) return [choices("Gifts: 2 movement points to one, or 1 each to two", seats.map((seat) => [`give ${seat}`, [badge(seat), ` ${who(seat, ctx.names)}${move.spent[seat] ? ` +${move.spent[seat]}` : ""}`], Boolean(move.spent[seat])]), ctx)];
    const steps = el("p", {}, `${counts(move.path.length, "step")} of ${view.mp}`), hexesHeld = (view.reached ?? []).filter((hex) => !view.white.includes(hex));
    return [steps, ...(view.final_phase && hexesHeld.length ? [choices("Put movement points on a hex", hexesHeld.map((hex) => [`put ${hex}`, `${hex}${move.spent[hex] ? ` +${move.spent[hex]}` : ""}`, Boolean(move.spent[hex])]), ctx)] : [])];
  }

  return { name: "The Fight For a Name", board, scores, say };
})();
