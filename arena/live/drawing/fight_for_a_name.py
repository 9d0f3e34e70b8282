"""The Fight For a Name's board: flat-topped hexes, who holds them, who stands there; pillars beside it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct
from rich.text import Text

from arena.live.drawing.honeycomb import INK, WALL_STYLE, canvas_text
from protocol.games.fight_for_a_name import (
    BoardShown,
    ChallengeShown,
    Claim,
    Colour,
    Crowded,
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
from protocol.words import Event, View

START = "Start"
ROW_LENGTHS = (1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 3, 2, 1)
ACROSS, DOWN = 6, 2
"""Columns from one column of hexes to the next, lines from one row to the next."""
STYLE: dict[Colour, str] = {
    "red": "red",
    "orange": "dark_orange",
    "yellow": "yellow",
    "green": "green",
    "blue": "blue",
    "purple": "magenta",
}
LEGEND = "a hex: number and colour (r o y g b p, w white), =seat that holds it, *n seats that stand there"
PLACES = {
    name: (2 * at - length + 4, y)
    for y, length in enumerate(ROW_LENGTHS)
    for at, name in enumerate(
        [*map(str, range(1, 19)), START, *map(str, range(19, 37))][
            sum(ROW_LENGTHS[:y]) : sum(ROW_LENGTHS[: y + 1])
        ]
    )
}
"""Hex to its column and row, in half hexes."""


class Shown(Struct, frozen=True, kw_only=True):
    """What is drawn, for all eyes alike."""

    heading: str
    colours: Mapping[str, Colour]
    holders: Mapping[str, int]
    white: Sequence[int]
    positions: Mapping[str, str]
    lines: Sequence[str]


def board(view: View, events: Sequence[Event], *, plain: bool) -> Text:
    """The board under its heading, then what the viewer knows beside it."""
    del events
    shown = _host(view) if isinstance(view, FightHostView) else _seat(cast("FightView", view))
    return Text.assemble(
        (shown.heading + "\n", "bold"),
        _hexes(shown, plain=plain),
        "".join(f"{line}\n" for line in (*_elsewhere(shown.positions), *shown.lines)),
        (LEGEND, "bright_black"),
    )


def words(event: Event) -> str:  # noqa: PLR0911 - one line for each kind of event
    """One event in a few words, said to the seat it is for."""
    match cast("FightEvent", event):
        case BoardShown():
            return "the colours of the hexes are shown"
        case ChallengeShown(numbers=numbers, target=target):
            return f"the timed game: which of {', '.join(map(str, numbers))} make {target}?"
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
            claimed = [f"seat {seat} claims {title}" for title, seat in result.claimed.items()]
            gifts = [f"seat {seat} is given {mp}" for seat, mp in result.gifts.items()]
            return f"round {result.round} is over" + "".join(f"; {each}" for each in (*claimed, *gifts))
        case Standing(mp=mp, crests=crests):
            return f"you have {mp} MP, crests: {', '.join(crests) or 'none'}"
        case Reveal(titles=titles):
            return "; ".join(f"{title}: {each.body}, parted {each.parting}" for title, each in titles.items())


def _seat(view: FightView) -> Shown:
    eyes = "as a spectator" if view.seat is None else f"as seat {view.seat}"
    return Shown(
        heading=f"round {view.round} of {view.rounds} ({eyes})",
        colours=cast("Mapping[str, Colour]", view.colours),
        holders=view.holders,
        white=view.white,
        positions=view.positions,
        lines=list(_own(view)),
    )


def _own(view: FightView) -> Iterator[str]:
    if view.title is not None:
        yield f"you are {view.title}"
    elif view.mp is not None:
        yield f"you are at {view.position} with {view.mp} MP; crests: {', '.join(view.crests) or 'none'}"
    if view.strengths:
        yield "your strengths: " + ", ".join(f"{number}: {each}" for number, each in view.strengths.items())
    if view.round == 0:
        numbers = ", ".join(f"{at}: {number}" for at, number in enumerate(view.numbers))
        yield f"which of {numbers} make {view.target}?"
    if view.candidates is not None:
        yield f"the vote is on seats {', '.join(map(str, view.candidates))}"
    yield from _claims(view.claims)


def _host(view: FightHostView) -> Shown:
    last = view.history[-1] if view.history else None
    players = [
        f"seat {seat} at {player.position}: {player.mp} MP, crests {', '.join(player.crests) or 'none'}"
        for seat, player in enumerate(view.players)
        if player.position is not None
    ]
    return Shown(
        heading=f"round {view.round}, {view.phase} (as the host)",
        colours=cast("Mapping[str, Colour]", view.setup.colours),
        holders=last.holders if last else {},
        white=last.white if last else (),
        positions={
            str(seat): player.position for seat, player in enumerate(view.players) if player.position is not None
        },
        lines=[*players, *_claims(view.claims)],
    )


def _claims(claims: Mapping[Title, Claim]) -> Iterator[str]:
    said = [f"{title} seat {claim.seat} in {claim.round}" for title, claim in claims.items()]
    if said:
        yield "claimed: " + ", ".join(said)


def _elsewhere(positions: Mapping[str, str]) -> Iterator[str]:
    """The seats on Start and at the pillars."""
    places: dict[str, list[str]] = {}
    for seat, place in positions.items():
        if place not in PLACES or place == START:
            places.setdefault(place, []).append(seat)
    if places:
        yield "; ".join(f"{place}: {', '.join(seats)}" for place, seats in sorted(places.items()))


def _hexes(shown: Shown, *, plain: bool) -> Text:
    canvas: dict[tuple[int, int], tuple[str, str]] = {}
    for name, (x, y) in PLACES.items():
        _draw(canvas, DOWN * y, ACROSS * x, _tile(shown, name), plain=plain)
    return canvas_text(canvas)


def _tile(shown: Shown, name: str) -> tuple[str, str, str, str]:
    """A hex's three lines of text, four, six and six columns wide, and its style."""
    here = sum(place == name for place in shown.positions.values())
    standing = f"*{here}" if here else ""
    if name == START:
        return "", START, standing, "bold"
    colour = None if int(name) in shown.white else shown.colours.get(name)
    holder = shown.holders.get(name)
    held = "" if holder is None else f"={holder}"
    return standing, f"{name}{'w' if colour is None else colour[0]}", held, STYLE[colour] if colour else "white"


def _draw(
    canvas: dict[tuple[int, int], tuple[str, str]],
    line: int,
    column: int,
    tile: tuple[str, str, str, str],
    *,
    plain: bool,
) -> None:
    """Draws one hex; walls that it shares are drawn twice, the same."""
    up, down = ("/", "\\") if plain else (INK["/"], INK["\\"])
    walls = dict.fromkeys(((1, 1), (2, 0), (3, 7), (4, 6)), up)
    walls |= dict.fromkeys(((1, 6), (2, 7), (3, 0), (4, 1)), down)
    walls |= {(at, right): "_" for at in (0, 4) for right in range(2, 6)}
    for (at, right), wall in walls.items():
        canvas[line + at, column + right] = (wall, WALL_STYLE)
    *texts, style = tile
    for number, (text, width) in enumerate(zip(texts, (4, 6, 6), strict=True), 1):
        for offset, character in enumerate(text.center(width)):
            if character != " ":
                canvas[line + number, column + (2 if width == 4 else 1) + offset] = (character, style)  # noqa: PLR2004
