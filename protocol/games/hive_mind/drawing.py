"""Hive Mind's Hives side by side: the latest shapes, and known values or, for the host, the true ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, assert_never

from protocol.games.hexes import Place, centred_rows
from protocol.games.hive_mind import (
    Blocks,
    Doubles,
    Hint,
    HiveMindEvent,
    HiveMindHostView,
    HiveMindView,
    HiveRound,
    Points,
    Reveal,
    RoundResult,
    ScoreGuesses,
    TokenGiven,
)
from protocol.text import Picture, Tile, honeycomb, joined, pairs, viewpoint
from protocol.words import Event

PLACES = centred_rows(["ABC", "DEFG", "HIJ", "KL"])
APART = 10
"""Distance of two Hives, in half hexes."""
COLUMNS = 2 * APART
STYLE = {"1": "on grey35", "2": "white on blue", "3": "bold white on red"}
OWN, GONE, PLAIN = "bold white on green", "bright_black", "on grey35"
SEAT_LEGEND = "a hex: letter, how many shapes lay over it last; * yours, x scored and empty now"
HOST_LEGEND = "a hex: its letter and initial value; x it scored and holds nothing any more"


def board(
    view: HiveMindView | HiveMindHostView, events: Sequence[Event], *, plain: bool, told: Sequence[Event] = ()
) -> Picture:
    """Draw the Hives under a heading; after the reveal with all values for every viewpoint."""
    del told
    for event in events:
        if isinstance(event, Reveal):
            values = {hive: _valued(digits, digits) for hive, digits in event.hives.items()}
            return _drawn("the end", values, _all_points(event.points), HOST_LEGEND, plain)
    if isinstance(view, HiveMindHostView):
        values = {hive: _valued(digits, view.current[hive]) for hive, digits in view.initial.items()}
        points = _all_points(dict(enumerate(view.points)))
        return _drawn(f"{_heading(view)} (as the host)", values, points, HOST_LEGEND, plain)
    hives = {hive: _covered(view, hive) for hive in _shown(view)}
    return _drawn(f"{_heading(view)} ({viewpoint(view.seat)})", hives, _known(view), SEAT_LEGEND, plain)


def words(event: HiveMindEvent) -> str:  # noqa: PLR0911 - one line for each kind of event
    """Return a short text for an event, addressed to its seat."""
    match event:
        case Hint() as hint:
            return _hint(hint)
        case RoundResult(hives=hives):
            return "; ".join(map(_counted, hives, hives.values()))
        case Doubles(hives=hives):
            return f"Doubles: {_by_hive(hives)}"
        case Blocks(hives=hives):
            return f"Blocks: {_by_hive(hives)}"
        case ScoreGuesses(right=right, guessed_by=guessed_by):
            return f"you guessed {right} scores right; {guessed_by} guessed yours"
        case TokenGiven(giver=giver, to=to):
            return f"seat {giver} gives a token to seat {to}"
        case Reveal(points=points):
            sums = {seat: _sum(each) for seat, each in sorted(points.items())}
            return "points: " + pairs("seat {} {}", dict(sorted(sums.items(), key=itemgetter(1), reverse=True)))
        case _ as unreachable:
            assert_never(unreachable)


def _counted(hive: str, result: HiveRound) -> str:
    """Return a text for a Hive's round: the shapes over each hex, and the number of each kind in brackets."""
    cells = " ".join(f"{cell}{n}" for cell, n in result.counts.items() if n)
    kinds = joined(f"{n} {kind}" for kind, n in result.shapes.items() if n)
    text = f"{hive}, round {result.round}: {cells or 'nothing'}"
    return f"{text} ({kinds})" if kinds else text


def _heading(view: HiveMindView | HiveMindHostView) -> str:
    if view.window == "round":
        return f"round {view.round} on {', '.join(view.hives)}"
    return {"scores": "scores are guessed", "give_token": "a token may be given", None: "after all rounds"}.get(
        view.window, "a tie is to be broken"
    )


def _shown(view: HiveMindView) -> list[str]:
    """Return the Hives in play, and those with results."""
    shown: dict[str, None] = {}
    for event in view.told:
        if isinstance(event, RoundResult):
            shown |= dict.fromkeys(event.hives)
    return list(shown | dict.fromkeys(view.hives))


def _covered(view: HiveMindView, hive: str) -> dict[str, Tile]:
    """Return the tiles of a Hive with its latest counts."""
    counts: Mapping[str, int] = {}
    mine = ""
    gone: set[str] = set()
    for event in view.told:
        if isinstance(event, Hint) and event.hive == hive:
            mine = event.cells
        elif isinstance(event, RoundResult) and hive in event.hives:
            counts = event.hives[hive].counts
            if event.hives[hive].round > 1:
                gone.update(cell for cell, n in counts.items() if n % 2)
    tiles: dict[str, Tile] = {}
    for cell in PLACES:
        mark, style = " ", PLAIN
        if cell in gone:
            mark, style = "x", GONE
        elif cell in mine:
            mark, style = "*", OWN
        tiles[cell] = Tile(f"{cell}{counts.get(cell) or ' '}{mark}", style)
    return tiles


def _valued(initial: str, now: str) -> dict[str, Tile]:
    """Return the tiles of a Hive with its initial values, marked where they are scored."""
    tiles: dict[str, Tile] = {}
    for cell, value, left in zip(PLACES, initial, now, strict=True):
        tiles[cell] = Tile(f"{cell}{value}x", GONE) if left == "0" else Tile(f"{cell}{value} ", STYLE[value])
    return tiles


def _known(view: HiveMindView) -> Iterator[str]:
    """Yield the seat's hints, and its means to pay."""
    for event in view.told:
        if isinstance(event, Hint):
            yield _hint(event)
    if view.wallet is not None and view.window == "round":
        purse = view.wallet
        yield f"{purse.garnets} garnets; Doubles free: {purse.free_doubles}, Blocks free: {purse.free_blocks}"
    if view.tied:
        yield f"tied: seats {joined(view.tied)}"


def _hint(hint: Hint) -> str:
    return f"{hint.hive}, round {hint.round}: your {hint.shape} {hint.cells} sees {hint.looks} = {hint.total}"


def _all_points(points: Mapping[Any, Points]) -> list[str]:
    return ["  ".join(f"seat {seat}: {_sum(each)}" for seat, each in points.items())]


def _sum(points: Points) -> int:
    return points.hexes + points.guesses + points.blocks + points.score_guesses


def _by_hive(hives: Mapping[str, Sequence[int]]) -> str:
    """Return the seats of each Hive, as `seat 1` or `seats 1, 2`: readers replace these by names."""
    found = [
        f"{hive} by {'seat' if len(seats) == 1 else 'seats'} {joined(seats)}" for hive, seats in hives.items()
    ]
    return "; ".join(found) or "none"


def _drawn(
    heading: str, hives: Mapping[str, Mapping[str, Tile]], known: Iterable[str], legend: str, plain: bool
) -> Picture:
    places: dict[str, Place] = {}
    tiles: dict[str, Tile] = {}
    for number, (hive, held) in enumerate(hives.items()):
        for cell, (x, y) in PLACES.items():
            places[f"{hive}/{cell}"] = (x + number * APART, y)
            tiles[f"{hive}/{cell}"] = held[cell]
    names = "".join(f"{hive:<{COLUMNS}}" for hive in hives).rstrip()
    drawing = honeycomb(places, tiles, {}, plain=plain) if places else Picture()
    lines = "".join(map("{}\n".format, known))
    return Picture.assemble((f"{heading}\n", "bold"), f"   {names}\n", drawing, lines, (legend, "bright_black"))
