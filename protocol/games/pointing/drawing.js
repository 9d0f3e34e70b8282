// Pointing: the anonymous map as trees and loops; for those who may know, who pointed where.
drawings.pointing = (() => {
  const GAP = 34, DOWN = 40, R = 7;

  // A tree seen from its end: the end on top, those who point at it below.
  function tree(shape, depth = 0) {
    const below = shape.map((each) => tree(each, depth + 1));
    const wide = Math.max(1, below.reduce((all, each) => all + each.wide, 0));
    const deep = below.length ? Math.max(...below.map((each) => each.deep)) : depth;
    return { below, wide, deep, depth };
  }

  function placed(node, left, top, out, kind) {
    const x = left + (node.wide * GAP) / 2, y = top + node.depth * DOWN;
    let at = left;
    for (const each of node.below) {
      const [ex, ey] = placed(each, at, top, out, "dot");
      out.push(arrow(ex, ey, x, y, R, R + 1, { class: "way" }));
      at += each.wide * GAP;
    }
    out.push(draw("circle", { class: kind, cx: round(x), cy: round(y), r: R }));
    return [x, y];
  }

  function section(each) {
    const title = each.size === 1 ? each.kind : `${each.kind} of ${each.size}`;
    const parts = [];
    let width, height;
    if (each.kind === "loop") {
      const seats = each.shape.length, ring = Math.max(26, seats * 9), hung = Math.max(0, ...each.shape.map((trees) => depthOf(trees))) * 26;
      width = height = 2 * (ring + hung + R + 8);
      const spots = each.shape.map((_, at) => { const angle = (2 * Math.PI * at) / seats - Math.PI / 2; return [width / 2 + ring * Math.cos(angle), height / 2 + ring * Math.sin(angle), angle]; });
      each.shape.forEach((trees, at) => {
        const [x, y, angle] = spots[at], [tx, ty] = spots[(at + 1) % seats];
        if (seats > 1) parts.push(seats === 2 ? bent(x, y, tx, ty) : arrow(x, y, tx, ty, R, R + 1, { class: "way" }));
        fan(trees, x, y, angle, Math.PI / Math.max(2, seats * 0.7), parts, true);
      });
      for (const [x, y] of spots) parts.push(draw("circle", { class: "loop", cx: round(x), cy: round(y), r: R }));
    } else {
      const grown = tree(each.shape);
      width = Math.max(grown.wide * GAP, 80);
      height = grown.deep * DOWN + 2 * R + 6;
      placed(grown, (width - grown.wide * GAP) / 2, R + 3, parts, each.cut ? "dot cut" : "dot end");
    }
    const named = each.cut ? `${title}, cut` : title;
    return picture(width, height + 20, named, label(width / 2, 7, named, { "font-size": 11, class: "name" }),
      draw("g", { transform: "translate(0 18)" }, parts));
  }

  const depthOf = (trees) => (trees.length ? 1 + Math.max(...trees.map(depthOf)) : 0);

  function fan(trees, x, y, angle, spread, parts, cut) {
    trees.forEach((each, at) => {
      const turn = angle + (trees.length > 1 ? (at / (trees.length - 1) - 0.5) * spread : 0);
      const ex = x + 26 * Math.cos(turn), ey = y + 26 * Math.sin(turn);
      parts.push(arrow(ex, ey, x, y, R - 2, R, { class: cut ? "way cutway" : "way" }));
      fan(each, ex, ey, turn, spread * 0.8, parts, false);
      parts.push(draw("circle", { class: "dot", cx: round(ex), cy: round(ey), r: R - 2 }));
    });
  }

  function bent(x1, y1, x2, y2) {
    const [mx, my] = [(x1 + x2) / 2 + (y2 - y1) * 0.35, (y1 + y2) / 2 - (x2 - x1) * 0.35];
    const last = arrow(mx, my, x2, y2, 0, R + 1, {});
    last.querySelector("line").remove();
    const length = Math.hypot(x2 - mx, y2 - my);
    return draw("g", { class: "way" }, draw("path", { class: "bend", d: `M${round(x1)} ${round(y1)}Q${round(mx)} ${round(my)} ${round(x2 - ((x2 - mx) / length) * R)} ${round(y2 - ((y2 - my) / length) * R)}` }), last);
  }

  // Who pointed where: seats in a circle.
  function circle(targets, points_, title, names) {
    const radius = 110, middle = radius + 16, top = 4;
    const seats = Object.keys(targets), parts = [label(middle, 10, title, { "font-size": 13, class: "strong" })];
    const spot = Object.fromEntries(seats.map((seat, at) => {
      const angle = (2 * Math.PI * at) / seats.length - Math.PI / 2;
      return [seat, [middle + radius * Math.cos(angle), top + 30 + radius + radius * Math.sin(angle)]];
    }));
    for (const seat of seats) {
      const target = targets[seat];
      if (target === null || !(target in spot)) continue;
      const both = targets[target] === Number(seat);
      const [x1, y1] = spot[seat], [x2, y2] = spot[target];
      const [ox, oy] = both ? [(y2 - y1), -(x2 - x1)].map((each) => (each / Math.hypot(x2 - x1, y2 - y1)) * 4) : [0, 0];
      parts.push(arrow(x1 + ox, y1 + oy, x2 + ox, y2 + oy, 11, 12, { class: `way pointed s${seat % 8}` }));
    }
    for (const seat of seats) {
      parts.push(titled(token(...spot[seat], seat, 10.5), `${who(seat, names)} points at ${targets[seat] === null ? "nobody" : who(targets[seat], names)}${points_ ? `, ${counts(points_[seat] ?? 0, "point")}` : ""}`));
    }
    const said = seats.map((seat) => `${who(seat, names)} at ${targets[seat] === null ? "nobody" : who(targets[seat], names)}`);
    return picture(2 * middle, 2 * middle + 24, `${title}: ${listed(said)}`, parts);
  }

  function board(view, ctx) {
    const drawn = [], maps = view.maps ?? [];
    const rounds = ctx.reveal ? ctx.reveal.rounds : view.rounds;
    if ((ctx.reveal || ctx.eyes === "host") && rounds.length) {
      const circles = rounds.map((each, at) => circle(each.targets, each.points, `round ${at + 1}`, ctx.names));
      drawn.push(cards(ctx.reveal ? circles : circles.slice(-1), 300));
    }
    if (maps.length) drawn.push(el("h3", { class: "mid" }, `The map of round ${maps.length}, as told to all`), natural(maps.at(-1).map(section)));
    const own = (view.targets ?? []).map((seat, at) => `round ${at + 1}: ${seat === null ? "nobody" : who(seat, ctx.names)}`);
    if (!drawn.length) drawn.push(el("p", {}, "There is no map yet: the first round is being played."));
    return {
      heading: ctx.reveal ? "the end" : view.tied.length ? `a vote on ${listed(view.tied.map((seat) => who(seat, ctx.names)))}` : view.round <= 3 ? `round ${view.round}` : "after three rounds",
      legend: "The map shows no names. Each dot points at the one above it, rings point around a loop; dashed arrows and hollow dots were cut.",
      node: el("div", { class: "pile" }, drawn),
      more: own.length ? [el("p", {}, `${who(view.seat, ctx.names)} pointed at: ${own.join("; ")}`)] : [],
    };
  }

  function scores(view, ctx) {
    const all = ctx.reveal ? ctx.reveal.scores : view.scores;
    return all ? { what: "points", of: ctx.names.map((_, seat) => all[seat] ?? 0) } : null;
  }

  return { name: "Pointing", board, scores };
})();
