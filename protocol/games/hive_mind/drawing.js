// Hive Mind: Hives of twelve hexes side by side; what lay over them, and what is known of their values.
drawings["hive-mind"] = (() => {
  const R = 34, W = R * Math.sqrt(3), ROWS = ["ABC", "DEFG", "HIJ", "KL"], WIDE = 4.6 * W, TALL = 7.35 * R;
  const places = {};
  const widest = 4;
  ROWS.forEach((row, y) => [...row].forEach((letter, at) => {
    const shift = { ABC: 0.5, DEFG: 0, HIJ: 0.5, KL: 1 }[row];
    places[letter] = [(at + shift) * W + (WIDE - (widest - 1) * W) / 2, 58 + y * R * 1.5];
  }));

  const sum = (points) => points.hexes + points.guesses + points.blocks + points.score_guesses;

  function hive(name, cells, shapes) {
    const [ground, above] = [[], []];
    for (const [letter, [x, y]] of Object.entries(places)) {
      const cell = cells[letter];
      ground.push(titled(standing(x, y, R - 1.4, { class: `cell value${cell.value ?? ""} ${cell.gone ? "gone" : ""}` }), `${letter}: ${cell.said}`));
      above.push(label(x, y - R * 0.66, letter, { class: "name", "font-size": 10 }));
      if (cell.gone) above.push(draw("path", { class: "burst thin-burst", d: `M${round(x - 15)} ${round(y + 15)}l30 -30` }));
      if (cell.value) above.push(label(x, y, cell.value, { class: "figure", "font-size": 20 }));
      for (let dot = 0; dot < Math.min(cell.count ?? 0, 15); dot += 1) {
        above.push(draw("circle", { class: "shape-dot", cx: round(x + (dot % 5 - (Math.min(cell.count, 5) - 1) / 2) * 8), cy: round(y + R * 0.5 + Math.floor(dot / 5) * 7), r: 3 }));
      }
    }
    const lines = [], signs = [];
    shapes.forEach(([seat, letters], n) => {
      const known = path([...(letters ?? "")].filter((letter) => places[letter]));
      if (!known.length) return;
      const off = (n - (shapes.length - 1) / 2) * 7;
      const spots = known.map((letter) => [places[letter][0] + off, places[letter][1] + off * 0.5]);
      lines.push(draw("polyline", { class: `shape s${seat % 8}`, points: points(spots) }));
      // The sign hangs out of the way of the number in the hex.
      const [[x1, y1], [x2, y2]] = [spots[0], spots[1] ?? spots[0]], length = Math.hypot(x2 - x1, y2 - y1) || 1;
      signs.push(token(x1 - ((x2 - x1) / length) * 15, y1 - ((y2 - y1) / length) * 15, seat, 7));
    });
    const named = label(WIDE / 2, 12, `Hive ${name}`, { "font-size": 15, class: "strong" });
    const said = Object.entries(cells).map(([letter, cell]) => `${letter} ${cell.said}`).join("; ");
    return picture(WIDE, TALL, `Hive ${name}: ${said}`, named, ground, lines, above, signs);
  }

  // A shape's three hexes in an order in which each is beside the next.
  function path(letters) {
    const near = (a, b) => Math.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1]) < W * 1.1;
    for (const middle of letters) {
      const ends = letters.filter((each) => each !== middle);
      if (ends.every((each) => near(middle, each))) return ends.length === 2 ? [ends[0], middle, ends[1]] : [middle, ...ends];
    }
    return letters;
  }

  function whole(initial, current, placed) {
    return Object.entries(initial).map(([name, digits]) => {
      const cells = {};
      [..."ABCDEFGHIJKL"].forEach((letter, n) => {
        const gone = current && current[name][n] === "0";
        cells[letter] = { value: digits[n], gone, said: `value ${digits[n]}${gone ? ", scored" : ""}` };
      });
      return hive(name, cells, placed(name));
    });
  }

  function known(view) {
    const told = view.told ?? [];
    const names = [...new Set([...told.filter((event) => event.type === "round_result").flatMap((event) => Object.keys(event.hives)), ...view.hives])];
    return names.map((name) => {
      const results = told.filter((event) => event.type === "round_result" && event.hives[name]).map((event) => event.hives[name]);
      const mine = told.filter((event) => event.type === "hint" && event.hive === name).map((event) => event.cells);
      const gone = new Set(results.filter((each) => each.round > 1).flatMap((each) => Object.entries(each.counts).filter(([, n]) => n % 2).map(([letter]) => letter)));
      const last = results.at(-1);
      const cells = {};
      for (const letter of "ABCDEFGHIJKL") {
        const count = last?.counts[letter] ?? 0;
        cells[letter] = { count, gone: gone.has(letter), said: `${counts(count, "shape")} lay over it last${gone.has(letter) ? ", scored" : ""}` };
      }
      return hive(name, cells, view.seat === null || !mine.length ? [] : [[view.seat, mine.at(-1)]]);
    });
  }

  function board(view, ctx) {
    let hives, legend, placed = () => [];
    if (ctx.reveal) {
      const rounds = ctx.reveal.placements;
      placed = (name) => Object.entries(rounds).map(([seat, by]) => [Number(seat), (by[name] ?? []).findLast((each) => each)]);
      hives = whole(ctx.reveal.hives, null, placed);
      legend = "The number in a hex is its initial value. Lines are the last shapes, each with its bot's number.";
    } else if (view.initial) {
      const played = view.rounds.at(-1) ?? [];
      placed = (name) => played.map((round, seat) => [seat, round?.place?.[name]]);
      hives = whole(view.initial, view.current, placed);
      legend = "The number in a hex is its initial value; a stroke: it has scored. Lines are the shapes of the last round, each with its bot's number.";
    } else {
      hives = known(view);
      legend = "Dots: how many shapes lay over a hex last; a stroke: it has scored. The line is the bot's own shape.";
    }
    const hints = (view.told ?? []).filter((event) => event.type === "hint").map((hint) => el("li", {}, `Hive ${hint.hive}, round ${hint.round}: the ${hint.kind ?? hint.shape} ${hint.cells} looks at ${hint.looks}, in all ${hint.total}`));
    const purse = view.wallet && view.window === "round" ? [el("p", { class: "soft" }, `${counts(view.wallet.garnets, "garnet")}; free Doubles: ${view.wallet.free_doubles}, free Blocks: ${view.wallet.free_blocks}`)] : [];
    return {
      heading: ctx.reveal ? "the end" : view.window === "round" ? `round ${view.round} on ${view.hives.length === 1 ? "Hive" : "Hives"} ${listed(view.hives)}`
        : view.window ? { scores: "scores are guessed", give_token: "a token may be given", break_tie: "a tie is to be broken" }[view.window] : "after all rounds",
      legend,
      node: cards(hives, 300),
      more: [...purse, ...(hints.length ? [el("ul", { class: "hints" }, hints)] : [])],
    };
  }

  function scores(view, ctx) {
    const all = ctx.reveal ? Object.values(ctx.reveal.points) : view.points;
    if (!all) return null;
    return { what: "points", of: all.map(sum), text: all.map((each) => `hexes ${each.hexes}, guesses ${each.guesses}, blocks ${each.blocks}${each.score_guesses ? `, guesses of scores ${each.score_guesses}` : ""}`) };
  }

  return { name: "Hive Mind", board, scores };
})();
