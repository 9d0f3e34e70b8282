"""The Fight For a Name's board: flat-topped hexes with holders and seats, the pillars around them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from textwrap import wrap
from typing import assert_never, cast

from msgspec import Struct

from protocol.games.fight_for_a_name import (
    BoardShown,
    ChallengeShown,
    Claim,
    Colour,
    Crowded,
    Direction,
    FightEvent,
    FightHostView,
    FightView,
    PillarAnswer,
    PillarShows,
    Reveal,
    RoundResult,
    Standing,
    Title,
)
from protocol.games.fight_for_a_name import board as fight_board
from protocol.games.fight_for_a_name.board import ROWS, START
from protocol.text import INK, WALL_STYLE, Picture, canvas_text, joined, pairs, viewpoint
from protocol.words import Event

ACROSS = 7
"""Distance of columns of hexes, in characters. Rows are one line apart."""
BESIDE, WIDTH = 52, 80
"""Columns where the lines to the right of the board begin, and end."""
STYLE: dict[Colour, str] = {
    "red": "red",
    "orange": "dark_orange",
    "yellow": "yellow",
    "green": "green",
    "blue": "blue",
    "purple": "magenta",
}
LEGEND = "12r: hex, colour (w white)  =3: its holder  *2: seats there  @: you  <>^v: gates"
PLACES = {name: (2 * at - len(row) + 4, y) for y, row in enumerate(ROWS) for at, name in enumerate(row)}
"""Hex to its column and row, in half hexes."""
PILLARS: dict[str, tuple[int, int]] = {
    "phi": (0, 29), "lambda": (1, 2), "mu": (1, 38), "delta": (2, 0), "omega": (2, 43),
    "xi": (12, 1), "gamma": (12, 44), "theta": (14, 5), "sigma": (14, 38), "psi": (15, 26),
}  # fmt: skip
"""Pillar to the line and column of its name."""
GATES: dict[str, list[Direction]] = {}
"""Hex to the directions of its gates, each of which leads to the pillar whose name is there."""
for _name, _way in chain.from_iterable(fight_board.GATES.values()):
    GATES.setdefault(_name, []).append(_way)
GATE_AT = {
    "N": (-1, 3, "^"), "S": (2, 3, "v"), "NE": (0, ACROSS, ">"), "SE": (1, ACROSS, ">"),
    "NW": (0, 0, "<"), "SW": (1, 0, "<"),
}  # fmt: skip
"""Direction to a gate's line and column relative to its hex, and its character."""
GATE_STYLE, OWN_STYLE = "bold cyan", "bold reverse"


class Shown(Struct, frozen=True, kw_only=True):
    """Content of a drawing, for every viewpoint."""

    heading: str
    colours: Mapping[str, Colour]
    holders: Mapping[str, int]
    white: Sequence[int]
    positions: Mapping[str, str]
    own: str | None
    """Place of the viewer."""
    lines: Sequence[str]


def board(
    view: FightView | FightHostView, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
) -> Picture:
    """Draw the board under its heading, with the viewer's knowledge to its right."""
    del events, told
    shown = _host(view) if isinstance(view, FightHostView) else _seat(view)
    hexes = _hexes(shown, plain=plain).lines()
    beside = list(chain.from_iterable(map(_folded, shown.lines)))
    text = Picture(f"{shown.heading}\n", "bold")
    for at in range(max(len(hexes), len(beside))):
        line = hexes[at] if at < len(hexes) else Picture()
        if at < len(beside):
            line.pad_right(BESIDE - line.width)
            line.append(beside[at])
        text.append_text(line).append("\n")
    return text.append(LEGEND, "bright_black")


def _folded(line: str) -> list[str]:
    return wrap(line, WIDTH - BESIDE, subsequent_indent=" ")


def words(event: FightEvent) -> str:  # noqa: PLR0911 - one line for each kind of event
    """Return a short text for an event, addressed to its seat."""
    match event:
        case BoardShown():
            return "the colours of the hexes are shown"
        case ChallengeShown(numbers=numbers, target=target):
            return f"the timed game: which of {joined(numbers)} make {target}?"
        case PillarShows(pillar=pillar, titles=titles):
            return f"{pillar} shows {', '.join(titles)}"
        case Crowded(pillar=pillar):
            return f"{pillar} is crowded: it gives nothing"
        case PillarAnswer() as answer:
            yes = {True: "yes", False: "no"}
            return (
                f"body {yes[answer.body]}, parting {yes[answer.parting]}, other: not {answer.other}, "
                f"neither: not {' nor '.join(answer.neither)}; you have the crest of {answer.crest}"
            )
        case RoundResult() as result:
            claimed = pairs("; seat {1} claims {0}", result.claimed, "")
            gifts = pairs("; seat {} is given {}", result.gifts, "")
            return f"round {result.round} is over{claimed}{gifts}"
        case Standing(mp=mp, crests=crests):
            return f"you have {mp} MP, crests: {', '.join(crests) or 'none'}"
        case Reveal(titles=titles):
            return pairs("{0}: {1.body}, parted {1.parting}", titles, "; ")
        case _ as unreachable:
            assert_never(unreachable)


def _seat(view: FightView) -> Shown:
    return Shown(
        heading=f"round {view.round} of {view.rounds} ({viewpoint(view.seat)})",
        colours=cast("Mapping[str, Colour]", view.colours),
        holders=view.holders,
        white=view.white,
        positions=view.positions,
        own=view.position,
        lines=[*_standing(view.positions), *_own(view)],
    )


def _own(view: FightView) -> Iterator[str]:
    if view.title is not None:
        yield f"you are {view.title}"
    elif view.mp is not None:
        yield f"you are at {view.position} with {view.mp} MP; crests: {', '.join(view.crests) or 'none'}"
    if view.strengths:
        yield "your strengths: " + pairs("{}: {}", view.strengths)
    if view.round == 0:
        yield f"which of {pairs('{}: {}', dict(enumerate(view.numbers)))} make {view.target}?"
    if view.candidates is not None:
        yield f"the vote is on seats {joined(view.candidates)}"
    yield from _claims(view.claims)


def _host(view: FightHostView) -> Shown:
    last = view.history[-1] if view.history else None
    positions: dict[str, str] = {}
    players: list[str] = []
    for seat, player in enumerate(view.players):
        if player.position is not None:
            positions[str(seat)] = player.position
            players.append(f"seat {seat} at {player.position}: {joined((f'{player.mp} MP', *player.crests))}")
    return Shown(
        heading=f"round {view.round}, {view.phase} (as the host)",
        colours=cast("Mapping[str, Colour]", view.setup.colours),
        holders=last.holders if last else {},
        white=last.white if last else (),
        positions=positions,
        own=None,
        lines=[*players, *_claims(view.claims)],
    )


def _claims(claims: Mapping[Title, Claim]) -> Iterator[str]:
    if claims:
        yield "claimed: " + pairs("{0} seat {1.seat} in {1.round}", claims)


def _standing(positions: Mapping[str, str]) -> Iterator[str]:
    """Yield a line with the seats at each place, if there are any."""
    places: dict[str, list[str]] = {}
    for seat, place in positions.items():
        places.setdefault(place, []).append(seat)
    if places:
        ordered = sorted(places.items(), key=lambda item: (item[0].isdecimal(), item[0].zfill(2)))
        yield "; ".join(f"{place}: {', '.join(seats)}" for place, seats in ordered)


def _hexes(shown: Shown, *, plain: bool) -> Picture:
    canvas: dict[tuple[int, int], tuple[str, str]] = {}
    for name, (x, y) in PLACES.items():
        _draw(canvas, y + 1, ACROSS * x, _tile(shown, name), plain=plain)
    for name, ways in GATES.items():
        x, y = PLACES[name]
        for down, right, sign in map(GATE_AT.__getitem__, ways):
            canvas[y + 1 + down, ACROSS * x + right] = (sign, GATE_STYLE)
    for pillar, (line, column) in PILLARS.items():
        style = OWN_STYLE if shown.own == pillar else "bold"
        for offset, character in enumerate(pillar + _here(shown, pillar)):
            canvas[line, column + offset] = (character, style)
    return canvas_text(canvas)


def _here(shown: Shown, name: str) -> str:
    """Return the number of seats at a place, and a sign if the viewer is there."""
    here = list(shown.positions.values()).count(name)
    text = f"*{here}" if here else ""
    return f"{text}@" if shown.own == name else text


def _tile(shown: Shown, name: str) -> tuple[str, str, str]:
    """Return a hex's two lines of text, at most six columns wide, and its style."""
    if name == START:
        return START, _here(shown, name), OWN_STYLE if shown.own == name else "bold"
    colour = None if int(name) in shown.white else shown.colours.get(name)
    holder = shown.holders.get(name)
    held = "" if holder is None else f"={holder}"
    style = STYLE[colour] if colour else "white"
    if shown.own == name:
        style += " reverse"
    return f"{name}{'w' if colour is None else colour[0]}", held + _here(shown, name), style


def _draw(
    canvas: dict[tuple[int, int], tuple[str, str]],
    line: int,
    column: int,
    tile: tuple[str, str, str],
    *,
    plain: bool,
) -> None:
    """Draw one hex. Shared walls are drawn twice, identically."""
    up, down = ("/", "\\") if plain else (INK["/"], INK["\\"])
    walls = {(0, 0): up, (0, ACROSS): down, (1, 0): down, (1, ACROSS): up}
    for (at, right), wall in walls.items():
        canvas[line + at, column + right] = (wall, WALL_STYLE)
    name, below, style = tile
    for right in range(1, ACROSS):
        canvas.setdefault((line - 1, column + right), ("_", WALL_STYLE))
        canvas[line + 1, column + right] = ("_", WALL_STYLE)
    for at, text in enumerate((name, below)):
        for offset, character in enumerate(text.center(ACROSS - 1)):
            if character != " ":
                canvas[line + at, column + 1 + offset] = (character, style)
