"""Lists of matches, and the page of one match."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from arena.pages.competition import MatchOnPage, Overview
from arena.pages.tables import Cell, Table, in_line, listed, table
from arena.quantities import counted, duration, ordinal
from arena.reports import unusual_end, usage_rows
from arena.schedule import TWO, match_name
from arena.statistics import Digest, Played, points
from protocol.refusals import Conduct
from referee.match import SeatReport, sentences

MANY = 3
"""Maximum number of places or opponents that a row of a list of matches names."""
MOST_SEATS = 5
"""Maximum number of seats of a match whose bots are all named in a list."""
MOST_VOIDS = 10
"""Maximum number of void attempts at a block whose reasons a page shows."""


class SeatOnPage(Struct, frozen=True, kw_only=True):
    """Result and statistics of one seat in a match."""

    seat: int
    label: str
    entrant: int
    place: str
    points: str
    conduct: str
    sentences: list[str]
    """Descriptions of what went wrong."""
    charged: str
    a_window: str
    windows: int
    defaults: int
    refused: int
    used: list[tuple[str, str]]
    """Heading and value of each measured resource."""
    scores: list[tuple[str, str]]
    """Name and value of what the game counts for the seat."""


def match_file(block: int, seating: int) -> str:
    """Return the file name of a match's page, such as `18a.html`. Both arguments count from 0."""
    return f"{match_name(block, seating)}.html"


def match_href(here: str) -> Callable[[MatchOnPage], str]:
    """Return a function that links to a match's page. `here` is the path to the competition's folder."""
    return lambda match: f"{here}match/{match_file(match.played.block, match.played.seating)}"


def match_parts(overview: Overview, match: MatchOnPage, block: Sequence[MatchOnPage]) -> dict[str, Any]:
    """Return the values for the template of one match. `block` holds all matches of its block."""
    digest, played = overview.found.digest, match.played
    return {
        "result": result_cell(played, digest),
        "reason": unusual_end(played.outcome.reason),
        "seats": seats_of(match, digest.labels),
        "others": _seatings(overview, block),
        # These texts may reveal the deal, which is no longer secret now that the block is over.
        "voids": [why for block, _, why in overview.found.voids if block == played.block][:MOST_VOIDS],
        "head": played.head,
        "no_transcript": f"The transcript is at {match.transcript}."
        if "://" in match.transcript
        else "The transcript is not in the results folder.",
    }


def _seatings(overview: Overview, matches: Iterable[MatchOnPage]) -> Table:
    """Return the table of a block's matches with the bots in their seats."""
    digest = overview.found.digest
    rows = [
        [
            Cell(
                match_name(match.played.block, match.played.seating),
                match_file(match.played.block, match.played.seating),
            ),
            seats_cell(match.played.entrants, digest),
            result_cell(match.played, digest),
        ]
        for match in matches
    ]
    return table("Matches from this deal", ("match", "seats", "result"), rows, head="match")


def seats_cell(entrants: Sequence[int], digest: Digest) -> Cell:
    """Return the names by seat from seat 0, shortened; with house bots, the competitors and their seats."""
    if digest.house in entrants:
        seated = [(seat, bot) for seat, bot in enumerate(entrants) if bot != digest.house]
        parts: list[Cell | str] = []
        for seat, bot in seated[:MANY]:
            parts += [Cell(digest.labels[bot]), f" in seat {seat}, "]
        more = f"{len(seated) - MANY} more, " if len(seated) > MANY else ""
        return in_line(*parts, f"{more}house bots in the others")
    return _some([digest.labels[bot] for bot in entrants], MOST_SEATS)


def match_table(overview: Overview, matches: Iterable[MatchOnPage], href: Callable[[MatchOnPage], str]) -> Table:
    """Return a table of these matches. `href` returns the link of a match's name, or "" for none."""
    digest = overview.found.digest
    return _matches(digest, matches, href, ("result",), lambda match: [result_cell(match.played, digest)])


def matches_of_bot(
    overview: Overview, matches: Iterable[MatchOnPage], href: Callable[[MatchOnPage], str], bot: int
) -> Table:
    """Return a table of a bot's matches: its seats, results and opponents."""
    digest = overview.found.digest

    def cells(match: MatchOnPage) -> list[Cell]:
        entrants = match.played.entrants
        seats = [seat for seat, entrant in enumerate(entrants) if entrant == bot]
        ended = [_ended(match.played, seat) for seat in seats]
        return [
            Cell(", ".join(map(str, seats))),
            Cell(", ".join(words for words, _ in ended), kind=ended[0][1] if len(ended) == 1 else ""),
            _opponents(entrants, digest, bot),
        ]

    return _matches(digest, matches, href, ("seat", "ended", "against"), cells)


def _opponents(entrants: Sequence[int], digest: Digest, bot: int) -> Cell:
    """Return the names of the other bots and the number of house bots."""
    others = [entrant for entrant in dict.fromkeys(entrants) if entrant not in (bot, digest.house)]
    cell = _some([digest.labels[entrant] for entrant in others], MANY)
    houses = sum(entrant == digest.house for entrant in entrants) if bot != digest.house else 0
    if not houses:
        return cell
    return in_line(*cell.parts, f"{' and ' if others else ''}{counted(houses, 'house bot')}")


def _matches(
    digest: Digest,
    matches: Iterable[MatchOnPage],
    href: Callable[[MatchOnPage], str],
    heads: tuple[str, ...],
    cells: Callable[[MatchOnPage], list[Cell]],
) -> Table:
    """Return a table of matches. The columns for conduct and unusual ends are omitted if they would be empty."""
    found = [
        (match, _conducts(match.played, digest), unusual_end(match.played.outcome.reason)) for match in matches
    ]
    faults = any(conduct for _, conduct, _ in found)
    ends = any(end for _, _, end in found)
    rows = [
        [
            Cell(match_name(match.played.block, match.played.seating), href(match)),
            *cells(match),
            *([Cell(conduct, kind="bad" if conduct else "")] if faults else []),
            *([Cell(end)] if ends else []),
        ]
        for match, conduct, end in found
    ]
    columns = ("match", *heads, *(("conduct",) if faults else ()), *(("ended by",) if ends else ()))
    return table("Matches", columns, rows, head="match")


def _some(names: Sequence[str], most: int) -> Cell:
    """Return a list of names; if there are more than `most`, the first ones and the number of the others."""
    if len(names) <= most:
        return in_line(*listed(names))
    return in_line(*listed(names[:MANY]), f", and {len(names) - MANY} more")


def _ended(played: Played, seat: int) -> tuple[str, str]:
    """Return a seat's result in words (won, tied, lost, or its place) and the kind of the cell."""
    place, shared = _rank(played, seat)
    if len(played.entrants) == TWO:
        return ("tied", "") if shared else ("won", "won") if place == 1 else ("lost", "lost")
    return f"{ordinal(place)}{' shared' if shared else ''} of {len(played.entrants)}", "won" if place == 1 else ""


def result_cell(played: Played, digest: Digest) -> Cell:
    """Return the winner; of more than two seats, the best competitors' places and the places of house bots."""
    labels, house = digest.labels, digest.house
    if len(played.entrants) == TWO:
        one, other = (labels[played.entrants[seat]] for group in played.outcome.ranking for seat in group)
        if len(played.outcome.ranking) == 1:
            return in_line(Cell(one), " and ", Cell(other), " tied")
        return in_line(Cell(one), " beat ", Cell(other))
    ranked = [(_place(played, seat), played.entrants[seat]) for group in played.outcome.ranking for seat in group]
    named = [(place, bot) for place, bot in ranked if bot != house]
    parts: list[Cell | str] = []
    for place, bot in named[:MANY]:
        parts += [f"{', ' if parts else ''}{place if place.endswith('=') else f'{place}.'} "]
        parts += [Cell(labels[bot])]
    if len(named) > MANY:
        parts.append(f", and {len(named) - MANY} more")
    houses = [place for place, bot in ranked if bot == house]
    if houses:
        parts.append(f"; house {'bots' if len(houses) > 1 else 'bot'}: {', '.join(houses)}")
    return in_line(*parts)


def _conducts(played: Played, digest: Digest) -> str:
    """Return the bots with misconduct, and its kind."""
    return "; ".join(
        f"{'house bot' if entrant == digest.house else digest.labels[entrant]}: {conduct.value.replace('_', ' ')}"
        for entrant, conduct in zip(played.entrants, played.conduct, strict=True)
        if conduct is not Conduct.OK
    )


def seats_of(match: MatchOnPage, labels: Sequence[str]) -> list[SeatOnPage]:
    """Return the seats of a match, from seat 0."""
    played = match.played
    reports = match.reports or (None,) * len(played.entrants)
    return [_seat(played, seat, report, labels) for seat, report in enumerate(reports)]


def _seat(played: Played, seat: int, report: SeatReport | None, labels: Sequence[str]) -> SeatOnPage:
    windows, charged = played.windows[seat], played.charged_us[seat]
    return SeatOnPage(
        seat=seat,
        label=labels[played.entrants[seat]],
        entrant=played.entrants[seat],
        place=_place(played, seat),
        points=f"{points(played.outcome, seat):.3g}",
        conduct=played.conduct[seat].value.replace("_", " "),
        sentences=[] if report is None else sentences(report, windows=windows, refused=played.refused[seat]),
        charged=duration(charged),
        a_window=duration(charged / windows) if windows else "-",
        windows=windows,
        defaults=played.defaults[seat],
        refused=played.refused[seat],
        used=[] if report is None else _used(report),
        scores=_scores(played, seat),
    )


def _used(report: SeatReport) -> list[tuple[str, str]]:
    (_, half, most, worst, processor, memory), *_ = usage_rows([""], [report])
    found = [
        ("median time per move", half),
        ("99th percentile", most),
        ("longest", worst),
        ("processor time", processor),
        ("peak memory", memory),
    ]
    if report.hello_us is not None:
        found.append(("start-up", duration(report.hello_us)))
    return [(name, value) for name, value in found if value != "-"]


def _place(played: Played, seat: int) -> str:
    place, shared = _rank(played, seat)
    return f"{place}{'=' if shared else ''}"


def _rank(played: Played, seat: int) -> tuple[int, bool]:
    """Return the place of a seat, from 1, and whether others share it."""
    before = 0
    for group in played.outcome.ranking:
        if seat in group:
            return before + 1, len(group) > 1
        before += len(group)
    raise AssertionError


def _scores(played: Played, seat: int) -> list[tuple[str, str]]:
    outcome, key = played.outcome, str(seat)
    found: list[tuple[str, Any]] = [("score", (outcome.scores or {}).get(key))]
    found += [("tokens", outcome.tokens.get(key)), ("garnets", outcome.garnets.get(key))]
    said = [(name, str(value)) for name, value in found if value is not None]
    if len(played.entrants) == TWO:  # With two seats, the places already name the winner.
        return said
    if seat in outcome.winners:
        said.append(("", "named winner"))
    if seat == outcome.eliminated:
        said.append(("", "elimination candidate"))
    return said
