// Mist: 61 hexes that stand on a point. What a seat does not see lies in mist.
drawings.mist = (() => {
  const R = 30, W = R * Math.sqrt(3), TOP = 62, MIDDLE = 4.5 * W + 12, HIGH = TOP + 8 * R * 1.5 + R + 12;
  const RADIUS = [0, 3, 1, 0];
  const places = {};
  for (let row = 0; row < 9; row += 1) {
    const length = 9 - Math.abs(row - 4);
    for (let at = 0; at < length; at += 1) {
      places["ABCDEFGHI"[row] + (at + 1)] = [MIDDLE + (at - (length - 1) / 2) * W, TOP + row * R * 1.5];
    }
  }
  const CELLS = Object.keys(places);
  const centres = (cells) => cells.map((cell) => places[cell]);
  const apart = (one, other) => Math.hypot(places[one][0] - places[other][0], places[one][1] - places[other][1]);
  // A cell that is n steps away is between n·√3/2 and n cells' widths away.
  const within = (one, other, steps) => {
    let near = [one];
    for (let step = 0; step < steps; step += 1) near = CELLS.filter((cell) => near.some((each) => apart(cell, each) < W * 1.1));
    return near.includes(other);
  };
  const isSeat = (held) => held === 0 || held === 1;

  // --- What is known, step by step: what is not destroyed at once stays where it is.
  const memory = new Map();
  function upTo(ctx, key, next) {
    const kept = `${ctx.eyes} ${key}`;
    if (!memory.has(kept)) memory.set(kept, []);
    const grown = memory.get(kept);
    for (let at = grown.length; at <= ctx.at; at += 1) grown.push(next(grown[at - 1], ctx.view(at), at ? ctx.view(at - 1) : null));
    return grown[ctx.at];
  }

  const swappedOwners = (known) => Object.fromEntries(Object.entries(known).map(([cell, owner]) => [cell, 1 - owner]));

  // The pieces that a viewer was ever shown.
  function remembered(ctx) {
    return upTo(ctx, "own", (old, view, before) => {
      let known = { ...old };
      // One seat's own file begins with its first window, and tells of the first move and the swap at once.
      if (view?.first_move && !before?.first_move) {
        for (const cell of view.first_move) if (cell !== "E5") known[cell] = before?.mover ?? 1 - (view.mover ?? 1);
      }
      if (view?.swapped && !before?.swapped) known = swappedOwners(known);
      for (const [cell, held] of Object.entries(view?.visible ?? {})) {
        const owner = ownerOf(view, held);
        if (isSeat(owner)) known[cell] = owner;
      }
      return known;
    });
  }

  // The same for a seat as the host sees it: the pieces that it was shown, and the cells of its last sight.
  function knownTo(seat, ctx) {
    return upTo(ctx, `seat ${seat}`, (old, view, before) => {
      let { pieces, sight } = old ?? { pieces: {}, sight: [] };
      if (!view) return { pieces, sight };
      const swapped = view.swapped && !before?.swapped;
      pieces = swapped ? swappedOwners(pieces) : { ...pieces };
      const shown = [...(before?.vision[seat] ?? []), ...view.vision[seat]];
      if (view.first_move && !before?.first_move) shown.push(...view.first_move);
      for (const cell of shown) if (isSeat(view.board[cell])) pieces[cell] = view.board[cell];
      if (swapped || (before && before.turn !== view.turn && before.mover === seat)) sight = view.vision[seat];
      return { pieces, sight };
    });
  }

  function ownerOf(view, held) {
    if (held === "own") return view.seat ?? 0;
    if (held === "opponent") return 1 - (view.seat ?? 0);
    return held;
  }

  // Connected cells, the largest group first.
  function groupsOf(cells) {
    const left = new Set(cells), groups = [];
    while (left.size) {
      const group = [left.values().next().value];
      left.delete(group[0]);
      for (const cell of group) for (const other of left) if (apart(cell, other) < W * 1.1) { group.push(other); left.delete(other); }
      groups.push(group);
    }
    return groups.sort((one, other) => other.length - one.length);
  }

  // --- What the viewer sees: each cell's content, remembered pieces, and the last turn.
  function seenBy(view, ctx) {
    const whole = view.board ?? ctx.reveal?.board ?? null;
    const shown = {};
    if (whole) Object.assign(shown, whole);
    else for (const [cell, held] of Object.entries(view.visible)) shown[cell] = ownerOf(view, held);
    const old = whole ? {} : remembered(ctx);
    const known = { ...old, ...Object.fromEntries(Object.entries(shown).filter(([, held]) => isSeat(held))) };
    const largest = [0, 1].map((seat) => groupsOf(Object.keys(known).filter((cell) => known[cell] === seat))[0] ?? []);
    return { whole, shown, old, known, largest, ...news(view) };
  }

  // The last turn: pieces that stay, pieces that are lost, each with its owner, and who spotted a piece from where.
  function news(view) {
    const nothing = { fresh: [], lost: [], spotted: [] };
    if (view.vision) {
      const mover = view.mover === null ? view.vision.findIndex((cells) => cells.length) : 1 - view.mover;
      if (mover < 0) return nothing;
      const lost = view.lost[mover], watcher = 1 - mover;
      return {
        fresh: view.placed[mover].filter((cell) => !lost.includes(cell)), lost: lost.map((cell) => [cell, mover]),
        spotted: lost.filter((cell) => view.board[cell] === "empty"), by: watcher, from: view.placed[watcher].filter((cell) => !view.lost[watcher].includes(cell)),
        reach: RADIUS[view.placed[watcher].length],
      };
    }
    const seat = view.seat;
    if (seat === null) return nothing;
    return {
      fresh: view.placed.filter((cell) => !view.lost.includes(cell)),
      lost: [...view.lost.map((cell) => [cell, seat]), ...view.destroyed.map((cell) => [cell, 1 - seat])],
      spotted: view.spotted, by: seat, reach: RADIUS[view.placed.length],
      // After its own next turn a seat has other eyes than those that spotted.
      from: view.mover === seat ? view.placed.filter((cell) => !view.lost.includes(cell)) : [],
    };
  }

  // --- Parts of the picture.
  function shapeOf(seat, x, y, size = 1) {
    return seat === 0 ? draw("circle", { cx: round(x), cy: round(y), r: round(19 * size) }) : polygon(x, y, 23.5 * size, 4, 0);
  }

  function piece(cell, seat, extra, id) {
    const [x, y] = places[cell];
    return draw("g", { class: `piece p${seat} ${extra}`, "data-id": id }, shapeOf(seat, x, y), label(x, y, cell, { "font-size": 13 }));
  }

  function fog(cell) {
    const [x, y] = places[cell], seed = cell.charCodeAt(0) * 7 + cell.charCodeAt(1) * 13;
    return draw("g", { class: "fog" }, [0, 1, 2].map((at) => draw("circle", {
      cx: round(x + 13 * Math.cos(seed + at * 2.1)), cy: round(y + 10 * Math.sin(seed * 1.7 + at * 2.1)),
      r: 22 + ((seed + at * 5) % 9), fill: "url(#mist)" })));
  }

  // A piece that is lost: it bursts below what stands on its cell, and a cross stays until the next turn.
  function lostPiece([cell, seat], shown, view) {
    const [x, y] = places[cell], id = `${cell} turn ${view.turn}`;
    const rays = Array.from({ length: 16 }, (_, at) => [x + (at % 2 ? 18 : 29) * Math.cos(at * Math.PI / 8), y + (at % 2 ? 18 : 29) * Math.sin(at * Math.PI / 8)]);
    const [cx, cy, arm] = isSeat(shown[cell]) ? [x + 16, y - 15, 6] : [x, y, 10];
    const cross = draw("path", { class: "burst", d: `M${round(cx - arm)} ${round(cy - arm)}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}` });
    return [draw("g", { class: `lost p${seat}`, "data-id": `burst ${id}` }, draw("polygon", { class: "blast", points: points(rays) })),
      draw("g", { class: "lost", "data-id": `cross ${id}` }, cross)];
  }

  // From the nearest piece that sees it to a piece that is spotted.
  function glance(cell, { from, reach, by }) {
    const eye = from.filter((each) => within(each, cell, reach)).sort((one, other) => apart(one, cell) - apart(other, cell))[0];
    if (!eye || eye === cell) return null;
    return draw("g", { class: `glance p${by}` }, arrow(...places[eye], ...places[cell], 18, 22));
  }

  // Each side's name and the size of its largest group, in the corners that the board leaves free.
  function side(seat, seen, view, ctx) {
    const x = seat ? 2 * MIDDLE - 8 : 8, inward = seat ? -1 : 1, anchor = seat ? "right" : "start", wide = round(MIDDLE - 60);
    const exact = seen.whole || view.seat === seat, size = seen.largest[seat].length;
    const shown = exact ? size : size ? `${size}+` : "?";
    return draw("g", { class: `side p${seat}` }, draw("g", { class: `piece p${seat}` }, shapeOf(seat, x + inward * 13, 17, 0.62)),
      nameTag(seat ? x - 32 - wide : x + 32, 17, wide, seat, ctx.names, `strong ${seat ? "right" : ""}`, 18),
      titled(draw("g", {}, label(x, 58, shown, { class: `total ${anchor}`, "font-size": 42 })), `largest group: ${exact ? size : size ? `at least ${size}` : "not known"}`));
  }

  // The picture, said.
  function inWords(seen, view, ctx, layer) {
    const { shown, whole } = seen;
    const where = (held, board) => CELLS.filter((cell) => board[cell] === held);
    const old = Object.fromEntries(Object.entries(seen.old).filter(([cell]) => shown[cell] === undefined));
    const parts = [0, 1].filter((seat) => where(seat, shown).length).map((seat) => `${who(seat, ctx.names)} on ${listed(where(seat, shown))}`);
    if (!parts.length) parts.push(whole ? "No pieces on the board" : "No pieces in sight");
    const blocked = where("blocked", shown);
    parts.push(blocked.length ? `blocked: ${listed(blocked)}` : whole ? "no blocked cells" : "no blocked cells known");
    for (const seat of [0, 1]) if (Object.values(old).includes(seat)) parts.push(`remembered of ${who(seat, ctx.names)}: ${listed(where(seat, old))}`);
    for (const seat of [0, 1]) {
      const size = seen.largest[seat].length;
      if (size > 1) parts.push(`largest group of ${who(seat, ctx.names)}: ${whole || view.seat === seat ? "" : "at least "}${size}`);
    }
    if (seen.fresh.length) parts.push(`just placed: ${listed(seen.fresh)}`);
    const [mine, spotted] = [seen.lost.map(([cell]) => cell), seen.spotted];
    if (mine.length) parts.push(`lost: ${listed(mine)}`);
    if (spotted.length) parts.push(`spotted: ${listed(spotted)}`);
    if (layer) parts.push(layer.said);
    if (!whole) parts.push(`in mist: ${CELLS.filter((cell) => shown[cell] === undefined).length} of ${CELLS.length} hexes`);
    return parts.join("; ");
  }

  // What a seat knows, as a layer over the whole board.
  function layerOf(seat, view, ctx) {
    const { pieces, sight } = knownTo(seat, ctx);
    const others = CELLS.filter((cell) => view.board[cell] === 1 - seat), known = others.filter((cell) => cell in pieces);
    const name = who(seat, ctx.names);
    return { seat, pieces, sight: new Set(sight),
      said: `${name} knows ${known.length} of ${counts(others.length, "piece")} of ${who(1 - seat, ctx.names)}${known.length ? `: ${listed(known)}` : ""}; ${name} saw last: ${listed(sight, "nothing")}` };
  }

  function board(view, ctx) {
    const seen = seenBy(view, ctx), { shown, old, whole } = seen;
    const host = Boolean(view.vision) && !ctx.reveal;
    const layer = host && ["0", "1"].includes(ctx.layer) ? layerOf(Number(ctx.layer), view, ctx) : null;
    const [ground, clouds, names, pieces, marks] = [[], [], [], [], []];
    for (const cell of CELLS) {
      const [x, y] = places[cell], held = shown[cell];
      const misty = layer ? !layer.sight.has(cell) : held === undefined;
      const said = held === undefined ? (cell in old ? `remembered: ${who(old[cell], ctx.names)}` : "in mist") : isSeat(held) ? who(held, ctx.names) : held;
      const gone = seen.lost.filter(([lost]) => lost === cell).map(([, seat]) => `; a piece of ${who(seat, ctx.names)} is lost here${seen.spotted.includes(cell) ? ", for it was spotted" : ""}`);
      const hex = titled(standing(x, y, R - 1, { class: `cell ${held === "blocked" && !misty ? "blocked" : misty ? "unseen" : "seen"}` }), `${cell}: ${said}${gone.join("")}`);
      ground.push(ctx.draft?.window === "turn" && !view.forbidden.includes(cell) ? says(hex, cell, ctx) : hex);
      if (misty) clouds.push(fog(cell));
      if (isSeat(held)) {
        const unknown = layer && !(cell in layer.pieces);
        pieces.push(piece(cell, held, `${unknown ? "unknown" : ""} ${seen.fresh.includes(cell) ? "fresh" : ""}`, cell));
      } else if (cell in old) pieces.push(piece(cell, old[cell], "old", cell));
      else names.push(label(x, y, cell, { class: `name ${misty ? "misty" : held === "blocked" ? "on-dark" : ""}`, "font-size": 13 }));
    }
    const groups = seen.largest.flatMap((cells, seat) => {
      if (cells.length < 2) return [];
      const [x, y] = centres(cells).reduce((best, each) => (each[1] < best[1] - 1 || (each[1] < best[1] + 1 && each[0] < best[0]) ? each : best));
      const size = `${cells.length}${whole || view.seat === seat ? "" : "+"}`;
      marks.push(draw("g", { class: `size p${seat}`, "data-id": `size ${seat}` }, draw("circle", { cx: round(x), cy: round(y - R + 3), r: 12 }), label(x, y - R + 3, size, { "font-size": 14 })));
      return [draw("path", { class: `group p${seat}`, d: closed(outline(centres(cells), R, 1.5)), "fill-rule": "evenodd" })];
    });
    const looking = host ? view.spotting.findIndex((cells) => cells.length) : -1;
    const gaze = looking < 0 ? [] : [draw("path", { class: `gaze p${looking}`, d: closed(outline(centres(view.spotting[looking]), R, 5)) })];
    // What a person is about to place, and what it would let them see.
    const chosen = ctx.draft ? cellsIn(ctx.draft.text) : [], reach = CELLS.filter((cell) => chosen.some((each) => within(each, cell, RADIUS[chosen.length] ?? 0)));
    if (chosen.length) gaze.push(draw("path", { class: `gaze p${view.seat}`, d: closed(outline(centres(reach), R, 5)) }));
    marks.push(...chosen.map((cell) => grown(piece(cell, view.seat, "draft", `draft ${cell}`), { "aria-hidden": "true" }, [])));
    const lost = seen.lost.map((each) => lostPiece(each, shown, view));
    marks.push(...lost.map(([, cross]) => cross));
    for (const cell of seen.spotted) marks.push(glance(cell, seen));
    for (const cell of seen.spotted) if (!seen.lost.some(([lost]) => lost === cell)) marks.push(draw("circle", { class: "ring spotted", cx: round(places[cell][0]), cy: round(places[cell][1]), r: 25 }));
    const gradient = draw("radialGradient", { id: "mist" }, draw("stop", { offset: "0", class: "thick" }), draw("stop", { offset: "1", class: "thin" }));
    return {
      heading: ctx.reveal ? `the end, after ${counts(ctx.reveal.turns, "turn")}`
        : view.mover === null ? (view.turn ? `after turn ${view.turn}` : "before the first turn") : `turn ${view.turn}: ${who(view.mover, ctx.names)} to move`,
      legend: legendOf(seen, ctx, layer, looking),
      node: picture(2 * MIDDLE, HIGH, inWords(seen, view, ctx, layer), draw("defs", {}, gradient), draw("g", {}, ground), draw("g", {}, clouds),
        draw("g", {}, groups), draw("g", {}, names), draw("g", {}, gaze), draw("g", {}, lost.map(([blast]) => blast)), draw("g", {}, pieces), draw("g", {}, marks), [0, 1].map((seat) => side(seat, seen, view, ctx))),
      layers: host ? [0, 1].map((seat) => ({ id: String(seat), name: `What ${who(seat, ctx.names)} knows` })) : [],
    };
  }

  function legendOf(seen, ctx, layer, looking) {
    if (layer) return `${layer.said.split(":")[0].split(";")[0]}: those that are filled. No mist: what ${who(layer.seat, ctx.names)} saw last.`;
    const wins = "The largest group wins; it is shaded. Thick rim: just placed; star and cross: lost.";
    if (seen.whole) return wins + (looking < 0 ? "" : ` Dotted line: where ${who(looking, ctx.names)} spots pieces now.`);
    return `${wins} Pieces in mist are remembered. Dashed ring: spotted.`;
  }

  function scores(view, ctx) {
    const groups = ctx.reveal ? ctx.reveal.groups : view.groups;
    if (!groups) return null;
    return { what: "largest group", of: [0, 1].map((seat) => groups[seat]?.[0] ?? 0),
      text: [0, 1].map((seat) => `groups ${listed((groups[seat] ?? []).slice(0, 12), "none")}`) };
  }

  // --- A person's turn: a click on a cell takes it, or takes it back. One too many replaces the last.
  const cellsIn = (text) => wordsIn(text.toUpperCase()).filter((word) => word in places);

  function say(text, word, view) {
    if (!(word in places)) return word;
    const cells = toggled(cellsIn(text), word), most = view.pieces[1];
    return (cells.length > most ? [...cells.slice(0, most - 1), word] : cells).join(" ");
  }

  return { name: "Mist", board, scores, say };
})();
