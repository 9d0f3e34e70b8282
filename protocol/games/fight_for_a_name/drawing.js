// The Fight For a Name: hexes that lie on a side, who holds them and who stands there; pillars beyond the gates.
drawings["fight-for-a-name"] = (() => {
  const R = 30, H = R * Math.sqrt(3) / 2, LEFT = 92, TOP = 66;
  const LENGTHS = [1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1];
  const names = [...Array.from({ length: 18 }, (_, n) => String(n + 1)), "Start", ...Array.from({ length: 18 }, (_, n) => String(n + 19))];
  const places = {};
  let next = 0;
  LENGTHS.forEach((length, row) => {
    for (let at = 0; at < length; at += 1) {
      places[names[next]] = [LEFT + R + (2 * at - length + 4) * R * 1.5, TOP + H + row * H];
      next += 1;
    }
  });
  const WIDTH = 2 * LEFT + 2 * R + 6 * R * 1.5, HEIGHT = 2 * TOP + 14 * H;
  // Hex to the directions of its gates; the pillar to which each leads.
  const GATES = { phi: ["1 N"], lambda: ["2 NW", "4 N"], mu: ["3 NE", "6 N"], delta: ["7 SW", "7 NW", "14 NW"], omega: ["10 SE", "10 NE", "17 NE"],
    xi: ["20 SW", "27 NW", "27 SW"], gamma: ["23 SE", "30 NE", "30 SE"], theta: ["31 S", "34 SW"], sigma: ["33 S", "35 SE"], psi: ["36 S"] };
  const SPOTS = { phi: [0.5, 0.045], lambda: [0.17, 0.09], mu: [0.83, 0.09], delta: [0.065, 0.29], omega: [0.935, 0.29], xi: [0.065, 0.71],
    gamma: [0.935, 0.71], theta: [0.17, 0.91], sigma: [0.83, 0.91], psi: [0.5, 0.955] };
  const TURN = { N: -90, NE: -30, SE: 30, S: 90, SW: 150, NW: -150 };
  const spot = (place) => places[place] ?? (SPOTS[place] ? [SPOTS[place][0] * WIDTH, SPOTS[place][1] * HEIGHT] : null);

  function people(x, y, seats, own) {
    const small = seats.length > 2 ? 6.5 : 8, across = seats.length > 2 ? 3 : 2, shown = seats.length > 6 ? 5 : 6;
    const spotOf = (at) => [x + ((at % across) - (Math.min(seats.length, across) - 1) / 2) * (2 * small + 1), y + Math.floor(at / across) * (2 * small)];
    return seats.slice(0, shown).map((seat, at) => token(...spotOf(at), seat, small, seat === own ? "own" : ""))
      .concat(seats.length > 6 ? [label(...spotOf(5), `+${seats.length - 5}`, { "font-size": 10 })] : []);
  }

  // The picture, said.
  function inWords(here, holders, names) {
    const stand = Object.entries(here).map(([place, seats]) => `${listed(seats.map((seat) => who(seat, names)))} at ${place}`);
    const held = {};
    for (const [hex, seat] of Object.entries(holders)) (held[seat] ??= []).push(hex);
    const hold = Object.entries(held).map(([seat, hexes]) => `${who(seat, names)} holds ${listed(hexes)}`);
    return [...(stand.length ? stand : ["nobody is on the board"]), ...(hold.length ? hold : ["nobody holds a hex"])].join("; ");
  }

  function board(view, ctx) {
    const last = view.history.at(-1);
    const colours = view.colours ?? view.setup.colours;
    const holders = view.holders ?? last?.holders ?? {}, white = view.white ?? last?.white ?? [];
    const positions = view.positions ? { ...view.positions }
      : Object.fromEntries(view.players.map((player, seat) => [seat, player.position]).filter(([, place]) => place !== null));
    if (view.seat !== undefined && view.seat !== null && view.position) positions[view.seat] = view.position;
    const here = {};
    for (const [seat, place] of Object.entries(positions)) (here[place] ??= []).push(Number(seat));
    const [ground, above] = [[], []];
    for (const [pillar, gates] of Object.entries(GATES)) {
      const [px, py] = spot(pillar);
      for (const gate of gates) {
        const [hex, way] = gate.split(" "), [x, y] = places[hex], angle = (TURN[way] * Math.PI) / 180;
        ground.push(draw("line", { class: "gate", x1: round(x + H * Math.cos(angle)), y1: round(y + H * Math.sin(angle)), x2: round(px), y2: round(py) }));
      }
      ground.push(draw("rect", { class: "pillar", x: round(px - 31), y: round(py - 20), width: 62, height: here[pillar]?.length > 3 ? 54 : 40, rx: 7 }));
      above.push(label(px, py - 10, pillar, { "font-size": 12, class: "strong" }), ...people(px, py + 8, here[pillar] ?? [], view.seat));
    }
    for (const [hex, [x, y]] of Object.entries(places)) {
      const colour = hex === "Start" ? "start" : white.includes(Number(hex)) ? "white" : colours[hex] ?? "white";
      const holder = holders[hex];
      const seats = here[hex] ?? [];
      const strength = view.strengths?.[hex];
      ground.push(titled(lying(x, y, R - 1.3, { class: `cell hex-${colour}` }),
        `${hex}, ${colour}${holder === undefined ? "" : `, held by ${who(holder, ctx.names)}`}${seats.length ? `, here: ${listed(seats.map((seat) => who(seat, ctx.names)))}` : ""}${strength ? `, own strength ${strength}` : ""}`));
      if (hex === "Start") {
        above.push(label(x, y - 14, "Start", { "font-size": 11, class: "strong" }), ...people(x, y + 1, seats, view.seat));
        continue;
      }
      above.push(label(x - 9, y - 17, hex, { "font-size": 10, class: `strong on-${colour}` }), label(x + 9, y - 17, colour[0].toUpperCase(), { "font-size": 8, class: `on-${colour}` }));
      if (holder !== undefined) {
        above.push(draw("rect", { class: `flag s${holder % 8}`, x: round(x - 11), y: round(y + 12), width: 22, height: 11, rx: 2 }),
          label(x, y + 18, `⚑${holder}`, { "font-size": 9, class: "flagged" }));
      }
      above.push(...people(x, y - (seats.length > 3 ? 5 : 1), seats, view.seat));
      if (strength) above.push(label(x + 19, y + 2, strength, { "font-size": 9, class: `on-${colour}` }));
    }
    const revealed = ctx.reveal ?? view.revealed;
    const more = [];
    if (view.title) more.push(el("p", {}, `${who(view.seat, ctx.names)} is ${view.title}.`));
    else if (view.mp !== undefined && view.mp !== null) more.push(el("p", {}, `${who(view.seat, ctx.names)} has ${view.mp} movement points; crests: ${listed(Object.keys(view.crests))}.`));
    const claims = Object.entries(view.claims).map(([title, claim]) => el("li", {}, badge(claim.seat), ` ${title}, in round ${claim.round}`));
    if (claims.length) more.push(el("h3", {}, "Titles claimed"), el("ul", { class: "claims" }, claims));
    if (revealed) more.push(el("h3", {}, "Banners"), el("ul", { class: "claims" }, Object.entries(revealed.titles).map(([title, banner]) => el("li", {}, `${title}: body ${banner.body}, partings ${banner.parting}`))));
    if (view.round === 0 && view.numbers) more.push(el("p", {}, `The timed game: which of ${listed(view.numbers)} make ${view.target}?`));
    return {
      heading: ctx.reveal ? "the end" : view.rounds ? `round ${view.round} of ${view.rounds}` : `round ${view.round}, ${view.phase.replaceAll("_", " ")}`,
      legend: "A hex: its number and the first letter of its colour (W: white); a flag names its holder. Dashed lines are gates to the pillars.",
      node: picture(WIDTH, HEIGHT, inWords(here, holders, ctx.names), ground, above),
      more,
    };
  }

  function scores(view, ctx) {
    if (!view.players) return null;
    const titles = {};
    for (const [title, claim] of Object.entries(view.claims)) titles[claim.seat] = title;
    return { what: "movement points", of: view.players.map((player) => (player.position === null ? null : player.mp)),
      text: view.players.map((player, seat) => titles[seat] ? `is ${titles[seat]}` : `at ${player.position}, ${counts(Object.keys(player.crests).length, "crest")}`) };
  }

  return { name: "The Fight For a Name", board, scores };
})();
