// Kuhn poker: the cards that the viewer knows, the chips and the moves.
drawings["kuhn-poker"] = (() => {
  const NAMES = ["?", "J", "Q", "K"];

  function board(view, ctx) {
    const cards = view.cards ?? (view.shown.length ? view.shown : [0, 1].map((seat) => (seat === view.seat ? view.card : 0)));
    const parts = [0, 1].flatMap((seat) => {
      const x = 50 + 110 * seat, bets = view.moves.filter((move, at) => at % 2 === seat && move === "bet").length;
      return [
        draw("rect", { fill: "none", stroke: "currentColor", x: x - 25, y: 30, width: 50, height: 70, rx: 6 }),
        label(x, 65, NAMES[cards[seat]], { "font-size": 24 }),
        token(x, 14, seat),
        label(x, 114, counts(1 + bets, "chip"), { "font-size": 11 }),
      ];
    });
    const said = [0, 1].map((seat) => `${who(seat, ctx.names)}: ${NAMES[cards[seat]]}`);
    const moves = view.moves.map((move, at) => `${who(at % 2, ctx.names)}: ${move}`);
    return {
      heading: `${counts(view.moves.length, "move")} made`,
      legend: "Each seat's card, ? if it is not known, and its chips in the pot.",
      node: natural([picture(210, 124, listed(said), parts)]),
      more: [el("p", {}, listed(moves, "no move yet"))],
    };
  }

  return { name: "Kuhn poker", board, scores: () => null };
})();
