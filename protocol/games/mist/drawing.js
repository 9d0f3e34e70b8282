// Mist: 61 hexes that stand on a point. What a seat does not see lies in mist.
drawings.mist = (() => {
  const R = 30, W = R * Math.sqrt(3), TOP = 38, MIDDLE = 4.5 * W + 30;
  const places = {};
  for (let row = 0; row < 9; row += 1) {
    const length = 9 - Math.abs(row - 4);
    for (let at = 0; at < length; at += 1) {
      places["ABCDEFGHI"[row] + (at + 1)] = [MIDDLE + (at - (length - 1) / 2) * W, TOP + row * R * 1.5];
    }
  }

  // Which pieces a viewer was ever shown, step by step: what is not destroyed at once stays where it is.
  const memory = new Map();
  function remembered(ctx) {
    if (!memory.has(ctx.eyes)) memory.set(ctx.eyes, []);
    const grown = memory.get(ctx.eyes);
    for (let at = grown.length; at <= ctx.at; at += 1) {
      const view = ctx.view(at), before = at ? ctx.view(at - 1) : null;
      let known = { ...grown[at - 1] };
      // One seat's own file begins with its first window, and tells of the first move and the swap at once.
      if (view?.first_move && !before?.first_move) {
        for (const cell of view.first_move) if (cell !== "E5") known[cell] = before?.mover ?? 1 - (view.mover ?? 1);
      }
      if (view?.swapped && !before?.swapped) {
        known = Object.fromEntries(Object.entries(known).map(([cell, owner]) => [cell, 1 - owner]));
      }
      for (const [cell, held] of Object.entries(view?.visible ?? {})) {
        const owner = ownerOf(view, held);
        if (typeof owner === "number") known[cell] = owner;
      }
      grown.push(known);
    }
    return grown[ctx.at];
  }

  function ownerOf(view, held) {
    if (held === "own") return view.seat ?? 0;
    if (held === "opponent") return 1 - (view.seat ?? 0);
    return held;
  }

  function piece(x, up, seat, extra) {
    const y = up + 4;
    const shape = seat === 0
      ? draw("circle", { cx: round(x), cy: round(y), r: 14.5 })
      : polygon(x, y, 18.5, 4, 0);
    return draw("g", { class: `piece p${seat} ${extra}` }, shape, label(x, y, seat, { "font-size": 14 }));
  }

  function fog(x, y, cell) {
    const seed = cell.charCodeAt(0) * 7 + cell.charCodeAt(1) * 13;
    return draw("g", { class: "fog" }, [0, 1, 2].map((at) => draw("circle", {
      cx: round(x + 13 * Math.cos(seed + at * 2.1)), cy: round(y + 10 * Math.sin(seed * 1.7 + at * 2.1)),
      r: 22 + ((seed + at * 5) % 9), fill: "url(#mist)" })));
  }

  // The picture, said.
  function inWords(shown, old, view, whole, names) {
    const cells = Object.keys(places);
    const where = (held, board) => cells.filter((cell) => board[cell] === held);
    const remembered = Object.fromEntries(Object.entries(old).filter(([cell]) => shown[cell] === undefined));
    const pieces = [0, 1].filter((seat) => where(seat, shown).length).map((seat) => `${who(seat, names)} on ${listed(where(seat, shown))}`);
    const blocked = where("blocked", shown);
    const parts = pieces.length ? pieces : [whole ? "No pieces on the board" : "No pieces in sight"];
    parts.push(blocked.length ? `blocked: ${listed(blocked)}` : whole ? "no blocked cells" : "no blocked cells known");
    if (whole) return parts.join("; ");
    for (const seat of [0, 1]) if (Object.values(remembered).includes(seat)) parts.push(`remembered of ${who(seat, names)}: ${listed(where(seat, remembered))}`);
    for (const [name, list] of [["lost", view.lost], ["destroyed", view.destroyed], ["spotted", view.spotted], ["placed", view.placed]]) {
      if (list.length) parts.push(`${name}: ${listed(list)}`);
    }
    return [...parts, `in mist: ${cells.filter((cell) => shown[cell] === undefined).length} of ${cells.length} hexes`].join("; ");
  }

  function board(view, ctx) {
    const whole = ctx.reveal ? ctx.reveal.board : view.board;
    const shown = {};
    if (whole) Object.assign(shown, whole);
    else for (const [cell, held] of Object.entries(view.visible)) shown[cell] = ownerOf(view, held);
    const old = whole ? {} : remembered(ctx);
    const before = ctx.at ? ctx.view(ctx.at - 1) : null;
    const [ground, clouds, pieces, marks] = [[], [], [], []];
    for (const [cell, [x, y]] of Object.entries(places)) {
      const held = shown[cell];
      const seen = held !== undefined;
      const said = held === undefined ? (cell in old ? `remembered: ${who(old[cell], ctx.names)}` : "in mist")
        : typeof held === "number" ? who(held, ctx.names) : held;
      ground.push(titled(standing(x, y, R - 1.2,
        { class: `cell ${seen ? held === "blocked" ? "blocked" : "seen" : "unseen"}` }), `${cell}: ${said}`));
      if (held === "blocked") marks.push(draw("path", { class: "hatch",
        d: `M${round(x - 9)} ${round(y - 9)}l18 18m0 -18l-18 18` }));
      if (!seen) clouds.push(fog(x, y, cell));
      if (view.vision && !ctx.reveal) {
        view.vision.forEach((cells, seat) => {
          if (cells.includes(cell)) marks.push(draw("circle", { class: `sight p${seat}`,
            cx: round(x + (seat ? 8 : -8)), cy: round(y + R - 9), r: 3.2 }));
        });
      }
      if (typeof held === "number") {
        const fresh = before && before.board && before.board[cell] !== held ? "fresh" : "";
        pieces.push(piece(x, y, held, fresh));
      } else if (cell in old) pieces.push(piece(x, y, old[cell], "old"));
      if (!whole) {
        if (view.lost.includes(cell) || view.destroyed.includes(cell)) {
          marks.push(draw("path", { class: "burst", d: `M${round(x - 12)} ${round(y - 12)}l24 24m0 -24l-24 24` }));
        } else if (view.spotted.includes(cell)) marks.push(draw("circle", { class: "ring spotted", cx: round(x), cy: round(y + 4), r: 21 }));
        else if (view.placed.includes(cell) || (view.seat === null && view.first_move?.includes(cell))) {
          marks.push(draw("circle", { class: "ring placed", cx: round(x), cy: round(y + 4), r: 21 }));
        }
      }
      ground.push(label(x, y - R + 9.5, cell, { class: `name ${held === "blocked" ? "on-dark" : ""}`, "font-size": 8 }));
    }
    const gradient = draw("radialGradient", { id: "mist" }, draw("stop", { offset: "0", class: "thick" }),
      draw("stop", { offset: "1", class: "thin" }));
    const shapes = `Circles: ${who(0, ctx.names)}; diamonds: ${who(1, ctx.names)}`;
    return {
      heading: ctx.reveal ? `the end, after ${counts(ctx.reveal.turns, "turn")}`
        : view.mover === null ? (view.turn ? `after turn ${view.turn}` : "before the first turn")
          : `turn ${view.turn}: ${who(view.mover, ctx.names)} to move`,
      legend: whole
        ? `${shapes}; crosses are blocked cells.` + (ctx.reveal ? "" : ` Dots mark what each sees now: ${who(0, ctx.names)} left, ${who(1, ctx.names)} right.`)
        : `${shapes}; pale pieces are remembered. Solid ring: just placed; dashed ring: spotted; cross: destroyed.`,
      node: picture(2 * MIDDLE, TOP * 2 + 8 * R * 1.5, inWords(shown, old, view, whole, ctx.names), draw("defs", {}, gradient),
        draw("g", {}, ground), draw("g", {}, clouds), draw("g", {}, pieces), draw("g", {}, marks)),
    };
  }

  function scores(view, ctx) {
    const groups = ctx.reveal ? ctx.reveal.groups : view.groups;
    if (!groups) return null;
    return { what: "largest group", of: [0, 1].map((seat) => groups[seat]?.[0] ?? 0),
      text: [0, 1].map((seat) => `groups ${listed((groups[seat] ?? []).slice(0, 12), "none")}`) };
  }

  return { name: "Mist", board, scores };
})();
