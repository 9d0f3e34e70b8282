"""Observations of The Fight For a Name. Colours, titles and places are numbered as in `fight_board`."""

from protocol.games.fight_for_a_name import FightView, Visit
from protocol.games.fight_for_a_name.board import COLOURS, HEXES, PILLARS, START, TITLES
from referee.encoding import Filling, VectorEncoder

SEATS, NUMBERS = 13, 8
LARGEST = 50
POINTS = 64
"""Divisor of MP and strengths."""
ROUNDS = 12
"""Divisor of rounds."""
PLACES = (START, *HEXES, *PILLARS)
PLACE = {name: number for number, name in enumerate(PLACES)}
PILLAR = {name: number for number, name in enumerate(PILLARS)}
TITLE = {name: number for number, name in enumerate(TITLES)}
COLOUR = {name: number for number, name in enumerate(COLOURS)}
HEX = {name: number for number, name in enumerate(HEXES)}
DECISIONS = ("challenge", "move on the board", "move with a title", "pillar", "vote")


class FightEncoder(VectorEncoder):
    """The current knowledge of a seat; of past rounds, only the last gifts and the pieces on the board."""

    choices = 98
    parts = (
        ("own seat", SEATS),
        ("decision (challenge, move on the board, move with a title, pillar, vote)", len(DECISIONS)),
        ("round, and rounds left, each / 12", 2),
        ("the final phase", 1),
        ("the puzzle's numbers / 50", NUMBERS),
        ("the puzzle's target / 400", 1),
        ("colours of the 36 hexes", len(HEXES) * len(COLOURS)),
        ("places of the seats: Start, 36 hexes, 10 pillars", SEATS * len(PLACES)),
        ("holders of the 36 hexes", len(HEXES) * SEATS),
        ("white hexes", len(HEXES)),
        ("claims of the 12 titles", len(TITLES) * SEATS),
        ("rounds of these claims / 12", len(TITLES)),
        ("gifts of the last round / 16", SEATS),
        ("own title", len(TITLES)),
        ("own place", len(PLACES)),
        ("own MP / 64", 1),
        ("own crests", len(TITLES)),
        ("own strengths / 64", len(HEXES)),
        ("own MP spent on hexes / 64", len(HEXES)),
        ("hexes reached", len(HEXES)),
        ("pillars visited", len(PILLARS)),
        ("titles shown by pillars", len(PILLARS) * len(TITLES)),
        ("titles shown in the visit that waits", len(TITLES)),
        ("answers: the title's body has the colour (1 yes, -1 no)", len(TITLES) * len(COLOURS)),
        ("answers: the title's parting has the colour (1 yes, -1 no)", len(TITLES) * len(COLOURS)),
        ("answers to `other`: title and colour asked", len(TITLES) * len(COLOURS)),
        ("answers to `other`: title and colour answered", len(TITLES) * len(COLOURS)),
        ("answers to `neither`: title and colour answered", len(TITLES) * len(COLOURS)),
        ("the seat that may be given nothing", SEATS),
        ("candidates of the vote", SEATS),
    )

    def fill(self, row: Filling, view: FightView) -> None:
        """See `VectorEncoder.fill`."""
        if view.seat is not None:
            row.put("own seat", view.seat)
            _fill_own(row, view)
        row.scaled("round, and rounds left, each / 12", view.round, ROUNDS, 0)
        row.scaled("round, and rounds left, each / 12", view.rounds - view.round, ROUNDS, 1)
        row.put("the final phase", 0, view.final_phase)
        for index, number in enumerate(view.numbers[:NUMBERS]):
            row.scaled("the puzzle's numbers / 50", number, LARGEST, index)
        row.scaled("the puzzle's target / 400", view.target, NUMBERS * LARGEST)
        for name, colour in view.colours.items():
            row.put("colours of the 36 hexes", HEX[name] * len(COLOURS) + COLOUR[colour])
        for key, place in view.positions.items():
            row.put("places of the seats: Start, 36 hexes, 10 pillars", int(key) * len(PLACES) + PLACE[place])
        for name, seat in view.holders.items():
            row.put("holders of the 36 hexes", (int(name) - 1) * SEATS + seat)
        row.mark("white hexes", (number - 1 for number in view.white))
        for title, claim in view.claims.items():
            row.put("claims of the 12 titles", TITLE[title] * SEATS + claim.seat)
            row.scaled("rounds of these claims / 12", claim.round, ROUNDS, TITLE[title])
        for key, gift in (view.history[-1].gifts if view.history else {}).items():
            row.scaled("gifts of the last round / 16", gift, 16, int(key))


def _fill_own(row: Filling, view: FightView) -> None:
    last = view.visits[-1] if view.visits else None
    waits = last is not None and last.round == view.round and bool(last.titles) and last.asked is None
    row.put("decision (challenge, move on the board, move with a title, pillar, vote)", _decision(view, waits))
    if view.title is not None:
        row.mark("own title", (number for name, number in TITLE.items() if name == view.title))
    if view.position is not None:
        row.put("own place", PLACE[view.position])
    row.scaled("own MP / 64", view.mp or 0, POINTS)
    row.mark("own crests", map(TITLES.index, view.crests))
    for part, amounts in (("own strengths / 64", view.strengths), ("own MP spent on hexes / 64", view.spent)):
        for name, amount in amounts.items():
            row.scaled(part, amount, POINTS, int(name) - 1)
    row.mark("hexes reached", (number - 1 for number in view.reached))
    for visit in view.visits:
        _fill_visit(row, visit)
    if last is not None and waits:
        row.mark("titles shown in the visit that waits", map(TITLES.index, last.titles))
    if view.barred is not None:
        row.put("the seat that may be given nothing", view.barred)
    row.mark("candidates of the vote", view.candidates or ())


def _decision(view: FightView, waits: bool) -> int:
    if view.candidates is not None:
        return DECISIONS.index("vote")
    if view.round == 0:
        return DECISIONS.index("challenge")
    if view.position is None:
        return DECISIONS.index("move with a title")
    return DECISIONS.index("pillar" if waits else "move on the board")


def _fill_visit(row: Filling, visit: Visit) -> None:
    row.put("pillars visited", PILLAR[visit.pillar])
    row.mark(
        "titles shown by pillars", (PILLAR[visit.pillar] * len(TITLES) + TITLE[title] for title in visit.titles)
    )
    asked, answer = visit.asked, visit.answer
    if asked is None or answer is None:
        return

    def at(title: str, colour: str) -> int:
        return TITLES.index(title) * len(COLOURS) + COLOURS.index(colour)

    row.put("answers: the title's body has the colour (1 yes, -1 no)", at(*asked.body), 1 if answer.body else -1)
    row.put(
        "answers: the title's parting has the colour (1 yes, -1 no)",
        at(*asked.parting),
        1 if answer.parting else -1,
    )
    row.put("answers to `other`: title and colour asked", at(*asked.other))
    row.put("answers to `other`: title and colour answered", at(asked.other[0], answer.other))
    for title, colour in zip(asked.neither, answer.neither, strict=True):
        row.put("answers to `neither`: title and colour answered", at(title, colour))
