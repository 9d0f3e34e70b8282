// Kuhn poker: cards, face down where the viewer does not know them, chips in the pot, and moves as speech.
drawings["kuhn-poker"] = (() => {
  const CARDS = ["face down", "the jack", "the queen", "the king"], LETTERS = ["", "J", "Q", "K"];
  const ENDINGS = ["pass pass", "bet pass", "bet bet", "pass bet pass", "pass bet bet"];
  const MIDDLES = [80, 260], WIDE = 340, HIGH = 212;

  // Each move as the seats would say it.
  const spoken = (moves) => moves.map((move, at) => (moves.slice(0, at).includes("bet") ? { bet: "call", pass: "fold" } : { bet: "bet", pass: "check" })[move]);

  function read(view) {
    const cards = view.cards ?? (view.shown.length ? view.shown : [0, 1].map((seat) => (seat === view.seat ? view.card : 0)));
    const said = spoken(view.moves), over = ENDINGS.includes(view.moves.join(" "));
    const chips = [0, 1].map((seat) => 1 + said.filter((word, at) => at % 2 === seat && ["bet", "call"].includes(word)).length);
    let winner = null;
    if (over) winner = said.at(-1) === "fold" ? view.moves.length % 2 : Number(cards[1] > cards[0]);
    return { cards, said, over, chips, winner, folded: said.indexOf("fold") % 2 };
  }

  function card(seat, known, faded, ctx) {
    const x = MIDDLES[seat] - 32, face = known ? [label(MIDDLES[seat], 129, LETTERS[known], { class: "strong", "font-size": 40 }),
      label(x + 12, 97, LETTERS[known], { "font-size": 13 }), label(x + 52, 161, LETTERS[known], { "font-size": 13 })]
      : draw("rect", { class: `share s${seat}`, x: x + 6, y: 88, width: 52, height: 80, rx: 4 });
    return titled(draw("g", { "data-id": `card ${seat}`, opacity: faded ? 0.45 : 1 }, draw("rect", { class: "card", x, y: 82, width: 64, height: 92, rx: 7 }),
      draw("rect", { fill: "none", stroke: "currentColor", x, y: 82, width: 64, height: 92, rx: 7 }), face), `${who(seat, ctx.names)}'s card: ${CARDS[known]}`);
  }

  function speech(seat, word, at, fresh) {
    const x = MIDDLES[seat];
    return draw("g", { "data-id": `said ${at}`, class: fresh ? "fresh" : "" }, draw("path", { class: "card", stroke: "currentColor", d: `M${x - 34} 36h68v28h-28l-6 10l-6 -10h-28z` }),
      label(x, 50, word, { class: "strong", "font-size": 16 }));
  }

  function side(seat, game, ctx) {
    const last = game.said.findLastIndex((_, at) => at % 2 === seat), x = MIDDLES[seat], toMove = !game.over && game.said.length % 2 === seat;
    const stake = game.chips[1 - game.winner], result = game.over ? (seat === game.winner ? `wins ${stake}` : `loses ${game.chips[seat]}`) : toMove ? "to move" : "";
    return draw("g", {}, token(x - 66, 16, seat, 10), nameTag(x - 52, 16, 128, seat, ctx.names, "strong", 14), card(seat, game.cards[seat], game.folded === seat, ctx),
      last >= 0 ? speech(seat, game.said[last], last, last === game.said.length - 1) : null,
      label(x, 194, result, { class: game.winner === seat ? "gained" : "", "font-size": 17 }),
      Array.from({ length: game.chips[seat] }, (_, n) => draw("ellipse", { "data-id": `chip ${seat} ${n}`, class: `share s${seat}`, stroke: "currentColor", cx: 152 + 36 * seat, cy: 150 - 8 * n, rx: 15, ry: 7 })));
  }

  function inWords(game, ctx) {
    const sides = [0, 1].map((seat) => `${who(seat, ctx.names)} has ${game.cards[seat] ? CARDS[game.cards[seat]] : "a hidden card"} and ${counts(game.chips[seat], "chip")} in the pot`);
    const end = game.over ? [`${who(game.winner, ctx.names)} wins ${game.chips[1 - game.winner]}`] : [];
    return [...sides, ...game.said.map((word, at) => `${who(at % 2, ctx.names)}: ${word}`), ...end].join("; ");
  }

  function board(view, ctx) {
    const game = read(view), pot = label(170, 172, `pot ${game.chips[0] + game.chips[1]}`, { "font-size": 15 });
    return {
      heading: game.over ? "the end" : `move ${game.said.length + 1}: ${who(game.said.length % 2, ctx.names)} to move`,
      legend: "The higher card wins the pot, unless its owner folds. A card without a letter is not known to this viewer.",
      node: picture(WIDE, HIGH, inWords(game, ctx), [0, 1].map((seat) => side(seat, game, ctx)), pot),
    };
  }

  function scores(view) {
    const game = read(view), stake = game.over ? game.chips[1 - game.winner] : 0;
    return game.over ? { what: "chips won", of: [0, 1].map((seat) => (seat === game.winner ? stake : -stake)) } : null;
  }

  return { name: "Kuhn poker", board, scores };
})();
