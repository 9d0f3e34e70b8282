// Pointing: each round's chains, loops and nodes, with the seats' numbers for those who may know them; points as bars.
drawings.pointing = (() => {
  const GAP = 46, DOWN = 42, R = 12, CROWD = 9;
  const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0");

  // --- Sections, from a map without names or from who pointed where: a tree is a seat, if known, and those that point at it.
  const treeOf = (shape) => ({ seat: null, below: shape.map(treeOf) });
  const fromMap = (each) => ({
    ...each, tree: each.kind === "loop" ? null : treeOf(each.shape),
    ring: each.kind === "loop" ? each.shape.map((trees) => ({ seat: null, hung: trees.map(treeOf) })) : [],
  });

  function fromTargets(targets) {
    const seats = Object.keys(targets).map(Number), looped = new Set(), sections = [];
    for (const start of seats) {
      const ring = [];
      for (let seat = start; seat !== null && !ring.includes(seat); seat = targets[seat]) ring.push(seat);
      if (targets[ring.at(-1)] === start && !looped.has(start)) {
        for (const seat of ring) looped.add(seat);
        sections.push({ kind: "loop", size: ring.length, cut: false, tree: null, seats: ring });
      }
    }
    const cut = (seat) => !looped.has(seat) && looped.has(targets[seat]);
    const grownAt = (end) => ({ seat: end, below: seats.filter((seat) => targets[seat] === end && !looped.has(seat)).map(grownAt) });
    for (const section of sections) {
      section.ring = section.seats.map((seat) => ({ seat, hung: seats.filter((other) => targets[other] === seat && cut(other)).map(grownAt) }));
    }
    for (const end of seats) {
      if (looped.has(end) || (targets[end] !== null && !cut(end))) continue;
      const tree = grownAt(end), size = sizeOf(tree);
      sections.push({ kind: size > 1 ? "chain" : "node", size, cut: cut(end), tree, ring: [] });
    }
    return sections;
  }

  const sizeOf = (tree) => tree.below.reduce((all, each) => all + sizeOf(each), 1);
  const wideOf = (tree) => Math.max(1, tree.below.reduce((all, each) => all + wideOf(each), 0));
  const deepOf = (tree) => (tree.below.length ? 1 + Math.max(...tree.below.map(deepOf)) : 0);
  const seatsOf = (tree) => [tree.seat, ...tree.below.flatMap(seatsOf)];

  // --- One section as a picture. A seat that is known has its number in its circle, and its points beside it.
  function spot(x, y, seat, depth, kind, { pointsOf, names, latest }) {
    const points = pointsOf(seat, depth);
    if (seat === null) return draw("g", { class: `seat ${kind}` }, draw("circle", { cx: round(x), cy: round(y), r: R }), label(x, y, points, { "font-size": 11 }));
    return titled(draw("g", { class: `seat ${kind}`, "data-id": latest ? `seat ${seat}` : null }, draw("circle", { cx: round(x), cy: round(y), r: R }),
      label(x, y, seat, { "font-size": 12 }), label(x + R + 2, y - R + 2, points, { "font-size": 10, class: "gain" })), `seat ${seat}: ${who(seat, names)}, ${points}`);
  }

  function placed(tree, depth, left, top, kind, parts, scene) {
    const x = left + (wideOf(tree) * GAP) / 2, y = top + depth * DOWN;
    let at = left;
    for (const each of tree.below) {
      const [ex, ey] = placed(each, depth + 1, at, top, "", parts, scene);
      parts.push(arrow(ex, ey, x, y, R, R + 1, { class: "way" }));
      at += wideOf(each) * GAP;
    }
    parts.push(spot(x, y, tree.seat, depth, kind, scene));
    return [x, y];
  }

  function bent(x1, y1, x2, y2) {
    const [mx, my] = [(x1 + x2) / 2 + (y2 - y1) * 0.4, (y1 + y2) / 2 - (x2 - x1) * 0.4];
    const length = Math.hypot(x2 - mx, y2 - my), [dx, dy] = [(x2 - mx) / length, (y2 - my) / length], [ex, ey] = [x2 - dx * (R + 1), y2 - dy * (R + 1)];
    return draw("g", { class: "way" }, draw("path", { class: "bend", d: `M${round(x1)} ${round(y1)}Q${round(mx)} ${round(my)} ${round(ex)} ${round(ey)}` }),
      draw("polygon", { points: points([[ex, ey], [ex - dx * 7 - dy * 3.5, ey - dy * 7 + dx * 3.5], [ex - dx * 7 + dy * 3.5, ey - dy * 7 - dx * 3.5]]) }));
  }

  // A loop; what pointed into it and was cut stands outside, with its number, or how many seats hang on it.
  function ringOf(ring, parts, scene) {
    const radius = Math.max(24, ring.length * 9), around = (angle, far) => [far * Math.cos(angle), far * Math.sin(angle)], reached = [];
    const angles = ring.map((_, at) => (2 * Math.PI * at) / ring.length - Math.PI / 2);
    ring.forEach(({ hung: trees }, at) => {
      const [x, y] = around(angles[at], radius), [tx, ty] = around(angles[(at + 1) % ring.length], radius);
      parts.push(ring.length === 2 ? bent(x, y, tx, ty) : arrow(x, y, tx, ty, R, R + 1, { class: "way" }));
      trees.forEach((tree, n) => {
        const [ex, ey] = around(angles[at] + (n - (trees.length - 1) / 2) * Math.min(0.5, 4 / ring.length / trees.length), radius + 40);
        const said = tree.seat === null ? `${counts(sizeOf(tree), "bot")} hung here, cut off` : `${who(tree.seat, scene.names)} pointed here, and was cut off`;
        reached.push([ex, ey]);
        parts.push(arrow(ex, ey, x, y, 8, R + 1, { class: "way cutway" }), draw("circle", { class: "ghost", cx: round(ex), cy: round(ey), r: 9 }),
          titled(label(ex, ey, tree.seat ?? sizeOf(tree), { "font-size": 10, class: "name" }), said));
      });
    });
    ring.forEach(({ seat }, at) => {
      const [x, y] = around(angles[at], radius);
      reached.push([x, y]);
      parts.push(spot(x, y, seat, 0, "", scene));
    });
    const [lefts, tops] = [reached.map(([x]) => x), reached.map(([, y]) => y)], [left, top] = [Math.min(...lefts) - R - 4, Math.min(...tops) - R - 6];
    return [draw("g", { transform: `translate(${round(-left)} ${round(-top)})` }, parts), Math.max(...lefts) + R + 16 - left, Math.max(...tops) + R + 4 - top];
  }

  // Those who are alone, in one picture, up to four in a row.
  function aloneOf(nodes, scene) {
    const wide = Math.min(4, nodes.length);
    return [nodes.map(({ tree, cut }, at) => spot(16 + (at % 4) * GAP, 18 + Math.floor(at / 4) * 36, tree.seat, 0, cut ? "cut" : "", scene)),
      wide * GAP, Math.ceil(nodes.length / 4) * 36];
  }

  function sectionPicture(section, { number, gained, names, latest }) {
    const { kind, size, cut, tree, ring, nodes } = section, crowd = size >= CROWD && !nodes;
    const pointsOf = (seat, depth) => (seat !== null ? signed(gained[seat] ?? 0) : crowd ? "−1" : kind === "chain" ? signed(depth) : kind === "loop" ? "0" : number === 1 ? "+1" : "?");
    const scene = { pointsOf, names, latest };
    const title = (nodes ? `alone: ${size}` : `${crowd ? "crowd" : kind} of ${size}`) + (cut ? ", cut" : ""), drawn = [];
    let [parts, width, height] = nodes ? aloneOf(nodes, scene) : kind === "loop" ? ringOf(ring, drawn, scene)
      : [drawn, wideOf(tree) * GAP + 10, deepOf(tree) * DOWN + 2 * R + 12];
    width = Math.max(width, 84);
    if (tree) placed(tree, 0, (width - wideOf(tree) * GAP) / 2 - 4, R + 6, cut ? "cut" : "", drawn, scene);
    const seats = nodes ? nodes.map((each) => each.tree.seat) : tree ? seatsOf(tree) : ring.map(({ seat }) => seat);
    const named = seats.includes(null) ? "" : `: ${listed(seats.map((seat) => `${who(seat, names)} ${signed(gained[seat] ?? 0)}`))}`;
    return picture(width + 8, height + 26, title + named, draw("rect", { class: "area", x: 1, y: 1, width: round(width + 6), height: round(height + 24), rx: 8 }),
      label(width / 2 + 4, 12, title, { "font-size": 11, class: "strong" }), draw("g", { transform: "translate(4 22)" }, parts));
  }

  // Chains and loops have a colour each, the largest first; those who are alone have none.
  function sectionPictures(sections, played) {
    const ordered = sections.filter((each) => each.size > 1).sort((a, b) => b.size - a.size || (a.kind < b.kind ? -1 : 1));
    const nodes = sections.filter((each) => each.size === 1);
    const pictures = ordered.map((each, at) => grown(sectionPicture(each, played), { class: ofSeat(at) }, []));
    return nodes.length ? [...pictures, sectionPicture({ kind: "node", size: nodes.length, cut: false, tree: null, ring: [], nodes }, played)] : pictures;
  }

  // --- Points: a bar for each seat, round by round; what was lost reaches to the left.
  function bars(rounds, total, names, out) {
    const seats = Object.keys(total).map(Number).sort((a, b) => total[b] - total[a] || a - b);
    const pieces = seats.map((seat) => {
      const gains = rounds.map((each) => each.points[seat] ?? 0);
      return [...gains, total[seat] - gains.reduce((all, each) => all + each, 0)];
    });
    const sum = (all, sign) => all.reduce((found, each) => found + Math.max(0, sign * each), 0);
    const most = Math.max(1, ...pieces.map((all) => sum(all, 1))), least = Math.max(0, ...pieces.map((all) => sum(all, -1)));
    const [left, right] = [148, 308], unit = (right - left) / (most + least), zero = left + least * unit, ROW = 23;
    const rows = seats.flatMap((seat, n) => {
      const y = 13 + n * ROW, found = [];
      let [up, down] = [zero, zero];
      pieces[n].forEach((gain, at) => {
        const width = Math.abs(gain) * unit, [what, kind] = at < rounds.length ? [`round ${at + 1}`, at + 1] : ["all three rounds", "all"];
        if (gain < 0) down -= width;
        if (gain) {
          const bar = draw("rect", { "data-id": `points ${at} of seat ${seat}`, class: `piece-of p-${kind} ${gain < 0 ? "lost" : ""}`,
            x: round(gain > 0 ? up : down), y: y - 7, width: round(Math.max(1, width - 1)), height: 14, rx: 2 });
          found.push(titled(bar, `${what}: ${signed(gain)}`));
        }
        if (gain > 0) up += width;
      });
      return [draw("g", { "data-id": `row of seat ${seat}` }, token(11, y, seat, 9.5), nameTag(26, y, 116, seat, names, total[seat] === total[seats[0]] ? "strong" : ""),
        label(338, y, `${String(total[seat]).replace("-", "−")}${seat === out ? " ✕" : ""}`, { "font-size": 13, class: "strong ends" })), ...found];
    });
    const tall = 13 + seats.length * ROW;
    const said = `Points after ${counts(rounds.length, "round")}: ${listed(seats.map((seat) => `${who(seat, names)} ${total[seat]}${seat === out ? ", eliminated" : ""}`))}`;
    return picture(342, tall, said, draw("line", { class: "axis", x1: round(zero), x2: round(zero), y1: 2, y2: tall - 8 }), rows);
  }

  // The three best scores, each with all who have it.
  function podium(total, names) {
    const seats = Object.keys(total).map(Number), best = [...new Set(Object.values(total))].sort((a, b) => b - a).slice(0, 3);
    const steps = [[1, 0, 40], [0, 114, 62], [2, 228, 24]].filter(([place]) => place in best);
    const parts = steps.flatMap(([place, x, tall]) => {
      const there = seats.filter((seat) => total[seat] === best[place]), top = 138 - tall, rows = Math.ceil(there.length / 4);
      const tokens = there.slice(0, 12).map((seat, n) => {
        const row = Math.floor(n / 4), wide = Math.min(4, there.length - 4 * row);
        return titled(token(x + 57 + ((n % 4) - (wide - 1) / 2) * 25, top - 12 - (rows > 3 ? 2 - row : rows - 1 - row) * 23, seat, 11), who(seat, names));
      });
      return [draw("rect", { class: `step place-${place + 1}`, x: x + 2, y: top, width: 110, height: tall, rx: 4 }),
        label(x + 57, top + 12, `${["1st", "2nd", "3rd"][place]}: ${counts(best[place], "point")}`, { "font-size": 12, class: "strong" }), ...tokens,
        there.length === 1 ? nameTag(x + 5, top - 33, 104, there[0], names, "middle") : null];
    });
    const said = best.map((score, place) => `place ${place + 1} with ${counts(score, "point")}: ${listed(seats.filter((seat) => total[seat] === score).map((seat) => who(seat, names)))}`);
    return picture(342, 140, `The podium: ${said.join("; ")}`, parts);
  }

  function board(view, ctx) {
    const over = ctx.reveal !== null && ctx.reveal !== undefined, maps = view.maps ?? [];
    const rounds = over ? ctx.reveal.rounds : view.rounds, total = over ? ctx.reveal.scores : view.scores;
    const nodes = [], earlier = [];
    if (rounds.length && total) nodes.push(natural([over ? podium(total, ctx.names) : null, bars(rounds, total, ctx.names, view.eliminated)].filter(Boolean)));
    const most = Math.max(rounds.length, maps.length);
    for (let number = most; number > 0; number -= 1) {
      const known = rounds[number - 1], sections = known ? fromTargets(known.targets) : maps[number - 1].map(fromMap);
      const played = { number, gained: known?.points ?? {}, names: ctx.names, latest: number === most };
      (number === most ? nodes : earlier).push(el("h2", { class: "mid" }, `Round ${number}`), natural(sectionPictures(sections, played)));
    }
    const own = (view.targets ?? []).map((seat, at) => `round ${at + 1}: ${seat === null ? "nobody" : who(seat, ctx.names)}`);
    if (ctx.draft) nodes.unshift(ctx.draft.window === "vote" ? seatChoices("Who is to go", view.tied, seatIn(ctx.draft.text), ctx) : pointed(view, ctx));
    else if (!nodes.length) nodes.push(el("p", {}, "There is no map yet: the first round is being played."));
    return {
      heading: over ? "the end" : view.tied.length ? `a vote on ${listed(view.tied.map((seat) => who(seat, ctx.names)))}` : view.round <= 3 ? `round ${view.round}` : "after three rounds",
      legend: rounds.length ? "Arrows: who points at whom. In a chain each bot gets a point for every bot after it; loops get nothing. Dashed: cut off. "
        + "Bars: points by round, the latest in full colour; lost points in red, and points for all three rounds in gold."
        : "The map shows no names, and what each dot scores. Each dot points at the one above it, rings point around a loop; dashed arrows and dots were cut.",
      node: el("div", { class: "pile" }, nodes), podium: over,
      more: [own.length ? el("p", {}, `${who(view.seat, ctx.names)} pointed at: ${own.join("; ")}`) : null, ...earlier].filter(Boolean),
    };
  }

  function scores(view, ctx) {
    const all = ctx.reveal ? ctx.reveal.scores : view.scores;
    return all ? { what: "points", of: ctx.names.map((_, seat) => all[seat] ?? 0) } : null;
  }

  // --- A person's turn: the others around the own seat, and an arrow to the one that is pointed at.
  const seatIn = (text) => (/^\d{1,2}$/.test(text.trim()) ? Number(text) : null);
  const say = (text, word) => (text.trim() === word ? "nobody" : word);

  function pointed(view, ctx) {
    const [WIDE, HIGH, ACROSS, UP] = [380, 330, 140, 118], middle = [WIDE / 2, HIGH / 2 - 4], target = seatIn(ctx.draft.text);
    const others = ctx.names.map((_, seat) => seat).filter((seat) => seat !== view.seat);
    const placeOf = (at) => [middle[0] + ACROSS * Math.sin((2 * Math.PI * at) / others.length), middle[1] - UP * Math.cos((2 * Math.PI * at) / others.length)];
    const seats = others.map((seat, at) => {
      const [x, y] = placeOf(at), name = who(seat, ctx.names);
      const node = draw("g", { class: "choice", "aria-pressed": seat === target }, draw("rect", { class: "hit", x: round(x - 46), y: round(y - 22), width: 92, height: 46, rx: 8 }), token(x, y - 4, seat, 15),
        nameTag(x - 45, y + 17, 90, seat, ctx.names, "middle", 11));
      return says(titled(node, `seat ${seat}: ${name}`), String(seat), ctx);
    });
    const at = others.indexOf(target), way = at < 0 ? null : draw("g", { class: `trail ${ofSeat(view.seat)}`, "data-id": "draft" }, arrow(...middle, ...placeOf(at), 19, 26));
    const said = `Whom to point at. ${target === null ? "Nobody is chosen" : `Chosen: ${who(target, ctx.names)}`}`;
    return natural([picture(WIDE, HIGH, said, way, seats, token(...middle, view.seat, 17, "own"), label(middle[0], middle[1] + 29, "you", { "font-size": 12, class: "strong" }))]);
  }

  return { name: "Pointing", board, scores, say };
})();
