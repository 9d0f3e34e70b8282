// Runes to Ruins: symbols of six runes, drawn from their segments, as far as the viewer knows them.
drawings["runes-to-ruins"] = (() => {
  const STEP = 17, WIDE = 6 * STEP + 44, TALL = 4 * STEP + 62;

  function rune(name, column, row, ctx, extra = "") {
    const segments = ctx.runes[name];
    if (!segments) return [];
    const spot = (point) => [(2 * column + (point % 3)) * STEP, (2 * row + Math.floor(point / 3)) * STEP];
    return segments.split(" ").map((segment) => {
      const [[x1, y1], [x2, y2]] = [...segment].map((point) => spot(Number(point)));
      return draw("line", { class: `rune ${extra}`, x1, y1, x2, y2 });
    });
  }

  function symbol(title, runes, ctx, below, seat = null, extra = "") {
    const parts = [];
    for (let row = 0; row < 5; row += 1) for (let column = 0; column < 7; column += 1) {
      parts.push(draw("circle", { class: "peg", cx: column * STEP, cy: row * STEP, r: 1.6 }));
    }
    runes.forEach((name, position) => { if (name) parts.push(...rune(name, position % 3, Math.floor(position / 3), ctx, extra)); });
    if (!runes.some(Boolean)) parts.push(label(3 * STEP, 2 * STEP, "?", { class: "name", "font-size": 34 }));
    const said = runes.map((name, at) => `${at}: ${name ?? "unknown"}`).join(", ");
    return picture(WIDE, TALL, `${seat === null ? title : [who(seat, ctx.names), title].filter(Boolean).join(", ")}: ${said}`,
      draw("rect", { class: "card", x: 2, y: 2, width: WIDE - 4, height: TALL - 4, rx: 8 }),
      seat === null ? null : token(18, 18, seat, 10),
      label(seat === null ? 14 : 34, 18, title, { "font-size": 11, class: "strong start" }),
      draw("g", { transform: "translate(22 38)" }, parts),
      label(WIDE / 2, TALL - 12, below, { "font-size": 9, class: "name" }));
  }

  // What everybody was shown of the others' symbols, by seat: runes at their positions, and runes without one.
  function shown(view) {
    const seen = {};
    for (const played of view.history) for (const event of played.told) {
      if (event.type !== "revealed") continue;
      seen[event.seat] ??= { at: [null, null, null, null, null, null], loose: [] };
      if (event.position !== null) seen[event.seat].at[event.position] = event.rune;
      else seen[event.seat].loose.push(event.rune);
    }
    return seen;
  }

  function board(view, ctx) {
    const shownSymbols = [], guesses = [];
    const six = [null, null, null, null, null, null];
    if (ctx.reveal) {
      for (const [seat, runes] of Object.entries(ctx.reveal.symbols)) shownSymbols.push(symbol("", runes, ctx, "", Number(seat)));
    } else if (view.holdings) {
      view.holdings.forEach((each, seat) => {
        shownSymbols.push(symbol(each.discovered ? `found: round ${each.discovered}` : "", each.symbol ?? each.submitted.at(-1) ?? six, ctx, `insight ${each.insight}, mantra ${each.mantra}`, seat));
        if (each.guesses.length) guesses.push(symbol("", each.guesses.at(-1), ctx, `guesses so far: ${each.guesses.length}`, seat, "guess"));
      });
    } else {
      const seen = shown(view);
      for (let seat = 0; seat < ctx.seats; seat += 1) {
        const own = seat === view.seat;
        const found = view.discovered[seat];
        const known = own ? view.symbol ?? view.submitted.at(-1) ?? six : seen[seat]?.at ?? six;
        const loose = seen[seat]?.loose ?? [];
        shownSymbols.push(symbol(own ? "own symbol" : found ? `found: round ${found}` : "", known, ctx,
          own ? (view.insight === null ? "" : `insight ${view.insight}, mantra ${view.mantra}`) : loose.length ? `also ${listed(loose).slice(0, 26)}` : "", seat));
      }
      for (const played of view.history.slice(-4)) (played.action?.guesses ?? []).forEach((runes, index) => {
        const answer = played.told.find((event) => event.type === "guess" && event.index === index);
        guesses.push(symbol(`round ${played.round}`, runes, ctx, answer ? `exact ${answer.exact}, moved ${answer.moved}, group ${answer.group}` : "", null, "guess"));
      });
    }
    const more = [];
    if (guesses.length) more.push(el("h3", {}, view.holdings ? "Each bot's last guess" : "Guesses of the last four rounds"), cards(guesses.slice(0, 12), 180));
    return {
      heading: ctx.reveal ? "the end" : view.rounds ? `round ${view.round} (${view.rounds} at most)` : `round ${view.round}`,
      legend: ctx.reveal || view.holdings ? "Six runes make a symbol, on seven by five points." : "Hidden symbols show as \"?\".",
      node: cards(shownSymbols, guesses.length ? 180 : 300),
      more,
    };
  }

  function scores(view, ctx) {
    if (!view.holdings) return null;
    return { what: "mantra", of: view.holdings.map((each) => each.mantra),
      text: view.holdings.map((each) => `insight ${each.insight}${each.discovered ? `, discovered in round ${each.discovered}` : ""}`) };
  }

  return { name: "Runes to Ruins", board, scores };
})();
