"""The pages of matches: their list, the schedule, and one match. Pages never show the seed of the deals."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

from msgspec import Struct

from arena.pages.competition import Competition, Overview
from arena.pages.contents import replay_path, transcript_path
from arena.pages.pictures import card_path
from arena.pages.tables import Cell, PageTable, in_line, listed, plain_text, table
from arena.pages.template import MATCHES_A_PAGE, Page, PageMaker, name, newest_first, page_count
from arena.quantities import MISSING, Column, duration, ordinal, pluralise
from arena.reports import USAGE, SeatListed, match_listed, unusual_end
from arena.schedule import TWO, Block, match_name, match_of
from arena.statistics import CountedMatch, Digest, Reported, places_by_seat
from protocol.refusals import Conduct
from referee.match import SeatReport

Row = TypeVar("Row")
MATCH_MEANING = "A number for the deal and a letter for the seating: 18a and 18b have the same deal."
SEAT_MEANING = "The place at the table, counted from 0."
SEATS_MEANING = "The bots by seat, from seat 0."
RESULT_MEANING = "Who won. With more than two bots: the first places; = marks a shared place."
MOST_NOW = 200
"""Maximum rows of the table of matches being played."""
MOST_NAMED = 5
"""Maximum number of a block's bots that the kiosk names."""
MANY = 3
"""Maximum number of places or opponents that a row of a list of matches names."""
MOST_SEATS = 5
"""Maximum number of seats of a match whose bots are all named in a list."""
MOST_VOIDS = 10
"""Maximum number of void attempts at a block whose reasons a page shows."""


START_UP: Column[SeatReport] = Column("start-up", lambda report: report.hello_us, duration)


class SeatOnPage(Struct, frozen=True):
    """Result and statistics of one seat in a match."""

    result: SeatListed
    place: str
    used: list[tuple[str, str]]
    """Heading and value of each measured resource."""
    scores: list[tuple[str, str]]
    """Name and value of what the game counts for the seat."""


def match_file(block: int, seating: int) -> str:
    """Return the file name of a match's page, such as `18a.html`. Both arguments count from 0."""
    return f"{match_name(block, seating)}.html"


def match_href(here: str) -> Callable[[Reported], str]:
    """Return a function that links to a match's page. `here` is the path to the competition's folder."""
    return lambda match: f"{here}match/{match_file(match.played.block, match.played.seating)}"


def matches_page(maker: PageMaker, competition: Competition, number: int | None = None) -> Page | None:
    """Return a page of `MATCHES_A_PAGE` matches; without a number, the newest ones."""
    overview = competition.overview()
    total = len(overview.index)
    pages = page_count(total)
    page = pages if number is None else number
    if not 0 < page <= pages:
        return None
    first = (page - 1) * MATCHES_A_PAGE
    found = competition.some(overview.index.keys(range(first, min(first + MATCHES_A_PAGE, total))))
    span = ""
    if found:
        span = f"Matches {first + len(found)} to {first + 1}, newest first."

    def path(page: int) -> str:
        return "matches.html" if page == pages else f"matches-{page}.html"

    return maker.of_competition(
        competition,
        overview,
        "matches",
        "matches.html" if number is None else f"matches-{page}.html",
        title="Matches",
        span=span,
        table=match_table(overview, found[::-1], match_href("")),
        pages=newest_first(page, pages, path),
    )


def old_match_page(maker: PageMaker, competition: Competition, block: int, seating: int) -> Page | None:
    """Return the page of a match at its old address of block and seating, to which older pages linked."""
    return match_page(maker, competition, match_name(block, seating))


def match_page(maker: PageMaker, competition: Competition, match: str) -> Page | None:
    """Return the page of a match; None until its block counts."""
    key = match_of(match)
    if key is None:
        return None
    block, seating = key
    overview = competition.overview()
    row = overview.index.row_of(block, seating)
    if row is None:
        return None
    together = competition.some(overview.index.of_block(block))
    for each in together:
        if each.played.seating == seating:
            return page_of_match(maker, competition, overview, each, row=row, block=together)
    return None


def page_of_match(
    maker: PageMaker,
    competition: Competition,
    overview: Overview,
    match: Reported,
    *,
    row: int,
    block: Sequence[Reported],
) -> Page:
    """Return the page of a match. `row` is its index row; `block` holds all matches of its block."""
    head, name = match.played.head, _name(match)
    is_here = competition.transcript(match) is not None
    replay = replay_path(head) if is_here and maker.replays else None
    result = result_sentence(match.played, overview.found.digest)
    return maker.of_competition(
        competition,
        overview,
        "match",
        f"match/{name}.html",
        title=f"Match {name}",
        shared_title=result,
        description=f"Match {name} of {competition.title}",
        image=card_path(head) if replay else None,
        replay=replay,
        embed=maker.embed_line(replay, f"{competition.slug}/{name}", result),
        transcript=transcript_path(head) if is_here and maker.transcripts else None,
        its_name=f"{competition.slug}/{name}",
        is_elsewhere=not is_here,
        finished=overview.finished,
        pages=neighbours(overview, row),
        **match_context(overview, match, block),
    )


def neighbours(overview: Overview, row: int) -> list[tuple[str, str]]:
    """Return links to the previous and the next match of the schedule."""
    found = []
    for word, other in (("Previous match", row - 1), ("Next match", row + 1)):
        found += [(word, match_file(*key)) for key in overview.index.keys([other])]
    return found


def match_context(overview: Overview, match: Reported, block: Sequence[Reported]) -> dict[str, Any]:
    """Return the values for the template of one match. `block` holds all matches of its block."""
    digest, played = overview.found.digest, match.played
    no_transcript = "The transcript is not in the results folder."
    if "://" in match.transcript:
        no_transcript = f"The transcript is at {match.transcript}."
    return {
        "result": result_cell(played, digest),
        "reason": unusual_end(played.outcome.reason),
        "seats": seats_of(match, digest.labels),
        "others": _seatings(overview, block),
        # These texts may reveal the deal, which is no longer secret now that the block is over.
        "voids": [why for block, _, why in overview.found.voids if block == played.block][:MOST_VOIDS],
        "head": played.head,
        "no_transcript": no_transcript,
    }


def _match_column(name_of: Callable[[Row], str]) -> Column[Row]:
    """Return the column of the names of matches."""
    return Column("match", name_of, meaning=MATCH_MEANING, is_text=True)


def _name(match: Reported) -> str:
    return match_name(match.played.block, match.played.seating)


def _seatings(overview: Overview, matches: Iterable[Reported]) -> PageTable:
    """Return the table of a block's matches with the bots in their seats."""
    digest = overview.found.digest

    def seats(match: Reported) -> Cell:
        return seats_cell(match.played.entrants, digest)

    def href(match: Reported) -> str:
        return f"{_name(match)}.html"

    seats_column = Column("seats", seats, meaning=SEATS_MEANING, is_text=True)
    columns = (_match_column(_name), seats_column, _result_column(digest))
    return table("Matches from this deal", columns, list(matches), head="match", href=href)


def _result_column(digest: Digest) -> Column[Reported]:
    return Column("result", lambda match: result_cell(match.played, digest), meaning=RESULT_MEANING, is_text=True)


def seats_cell(entrants: Sequence[int], digest: Digest) -> Cell:
    """Return the names by seat from seat 0, shortened; with house bots, the competitors and their seats."""
    if digest.house in entrants:
        seated = [(seat, bot) for seat, bot in enumerate(entrants) if bot != digest.house]
        parts: list[Cell | str] = []
        for seat, bot in seated[:MANY]:
            parts += [Cell(digest.labels[bot]), f" in seat {seat}, "]
        if len(seated) > MANY:
            return in_line(*parts, f"{len(seated) - MANY} more, house bots in the others")
        return in_line(*parts, "house bots in the others")
    return _some([digest.labels[bot] for bot in entrants], MOST_SEATS)


def match_table(overview: Overview, matches: Iterable[Reported], href: Callable[[Reported], str]) -> PageTable:
    """Return a table of these matches. `href` returns the link of a match's name, or "" for none."""
    digest = overview.found.digest
    return _matches(digest, list(matches), href, [_result_column(digest)])


def matches_of_bot(
    overview: Overview, matches: Iterable[Reported], href: Callable[[Reported], str], bot: int
) -> PageTable:
    """Return a table of a bot's matches: its seats, results and opponents."""
    digest = overview.found.digest

    def seats(match: Reported) -> list[int]:
        return [seat for seat, entrant in enumerate(match.played.entrants) if entrant == bot]

    def ended(match: Reported) -> Cell:
        results = [_ended(match.played, seat) for seat in seats(match)]
        if len(results) == 1:
            return results[0]
        return Cell(", ".join(each.text for each in results))

    def against(match: Reported) -> Cell:
        return _opponents(match.played.entrants, digest, bot)

    columns: list[Column[Reported]] = [
        Column("seat", lambda match: ", ".join(map(str, seats(match))), meaning=SEAT_MEANING),
        Column("ended", ended, meaning="How the match ended for the bot.", is_text=True),
        Column("against", against, meaning="The bots in the other seats.", is_text=True),
    ]
    return _matches(digest, list(matches), href, columns)


def _opponents(entrants: Sequence[int], digest: Digest, bot: int) -> Cell:
    """Return the names of the other bots and the number of house bots."""
    counts: Counter[int | None] = Counter(entrants)
    del counts[bot]
    houses = counts.pop(digest.house, 0)
    parts: list[Cell | str] = [
        *_some([digest.labels[entrant] for entrant in counts if entrant is not None], MANY).parts
    ]
    if houses:
        between = " and " * bool(parts)
        parts.append(f"{between}{pluralise(houses, 'house bot')}")
    return in_line(*parts)


def _matches(
    digest: Digest,
    matches: Sequence[Reported],
    href: Callable[[Reported], str],
    columns: Sequence[Column[Reported]],
) -> PageTable:
    """Return a table of matches. The columns for conduct and unusual ends are omitted if they would be empty."""

    def conduct(match: Reported) -> Cell:
        text = _conducts(match.played, digest)
        return Cell(text, kind="bad" * bool(text))

    def end(match: Reported) -> str:
        return unusual_end(match.played.outcome.reason)

    shown = [_match_column(_name), *columns]
    if any(set(match.played.conduct) != {Conduct.OK} for match in matches):
        shown.append(Column("conduct", conduct, meaning="ok, or the bot's first fault.", is_text=True))
    if any(map(end, matches)):
        meaning = "Why the match ended, where that is unusual."
        shown.append(Column("ended by", end, meaning=meaning, is_text=True))
    return table("Matches", shown, matches, head="match", href=href)


def _some(names: Sequence[str], most: int) -> Cell:
    """Return a list of names; if there are more than `most`, the first ones and the number of the others."""
    if len(names) <= most:
        return in_line(*listed(names))
    return in_line(*listed(names[:MANY]), f", and {len(names) - MANY} more")


def _ended(played: CountedMatch, seat: int) -> Cell:
    """Return a seat's result in words: won, tied, lost, or its place."""
    place, shared = _rank(played, seat)
    seats = len(played.entrants)
    if seats == TWO and shared:
        return Cell("tied")
    if seats == TWO:
        word = "won" if place == 1 else "lost"
        return Cell(word, kind=word)
    how = " shared" * shared
    return Cell(f"{ordinal(place)}{how} of {seats}", kind="won" * (place == 1))


def result_cell(played: CountedMatch, digest: Digest) -> Cell:
    """Return the winner; of more than two seats, the best competitors' places and the places of house bots."""
    labels, house = digest.labels, digest.house
    order = list(chain.from_iterable(played.outcome.ranking))
    if len(order) == TWO:
        one, other = (Cell(labels[played.entrants[seat]]) for seat in order)
        if len(played.outcome.ranking) == 1:
            return in_line(one, " and ", other, " tied")
        return in_line(one, " beat ", other)
    parts: list[Cell | str] = []
    named, houses = 0, []
    for seat in order:
        place, bot = _place(played, seat), played.entrants[seat]
        if bot == house:
            houses.append(place)
            continue
        named += 1
        if named <= MANY:
            dot = "." * (not place.endswith("="))
            parts += [f"{', ' * bool(parts)}{place}{dot} ", Cell(labels[bot])]
    if named > MANY:
        parts.append(f", and {named - MANY} more")
    if houses:
        parts.append(f"; house bot{'s' * (len(houses) > 1)}: {', '.join(houses)}")
    return in_line(*parts)


def result_sentence(played: CountedMatch, digest: Digest) -> str:
    """Return a match's result in words: who won, and the scores of two seats if there are any."""
    text = plain_text(result_cell(played, digest))
    scores = played.outcome.scores
    if scores is None or len(played.entrants) != TWO or not {"0", "1"} <= set(scores):
        return text
    best, other = (seat for group in played.outcome.ranking for seat in group)
    return f"{text}, {scores[str(best)]:g} to {scores[str(other)]:g}"


def _conducts(played: CountedMatch, digest: Digest) -> str:
    """Return the bots with misconduct, and its kind."""
    texts = []
    for entrant, conduct in zip(played.entrants, played.conduct, strict=True):
        if conduct is not Conduct.OK:
            name = "house bot" if entrant == digest.house else digest.labels[entrant]
            texts.append(f"{name}: {conduct.value.replace('_', ' ')}")
    return "; ".join(texts)


def seats_of(match: Reported, labels: Sequence[str]) -> list[SeatOnPage]:
    """Return the seats of a match, from seat 0."""
    played = match.played
    return [
        SeatOnPage(each, _place(played, each.seat), _used(match, each.seat), _scores(played, each.seat))
        for each in match_listed(match, labels).seats
    ]


def _used(match: Reported, seat: int) -> list[tuple[str, str]]:
    """Return heading and value of each measured resource."""
    if not match.reports:
        return []
    used = {column.heading: column.cell(match.reports[seat]) for column in (*USAGE, START_UP)}
    return [(heading, value) for heading, value in used.items() if value != MISSING]


def _place(played: CountedMatch, seat: int) -> str:
    place, shared = _rank(played, seat)
    return f"{place}{'=' * shared}"


def _rank(played: CountedMatch, seat: int) -> tuple[int, bool]:
    """Return the place of a seat, from 1, and whether others share it."""
    places = places_by_seat(played.outcome)
    return places[seat], list(places.values()).count(places[seat]) > 1


def _scores(played: CountedMatch, seat: int) -> list[tuple[str, str]]:
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


def schedule_page(maker: PageMaker, competition: Competition) -> Page:
    """Return the page of current matches and next blocks."""
    overview = competition.overview()
    blocks = {block.number: block for block in overview.coming}
    now = []
    for number, seating, _ in _under_way(overview)[-MOST_NOW:]:
        if number in blocks:
            now.append((blocks[number], seating))
    return maker.of_competition(
        competition,
        overview,
        "schedule",
        "schedule.html",
        title="Schedule",
        now=_now(overview, now),
        coming=_coming(overview, _not_begun(overview)),
    )


def coming_text(overview: Overview, most: int = 2) -> list[str]:
    """Return up to `most` next pairings of which no match has started, without house bots."""
    texts = []
    for block in _not_begun(overview)[:most]:
        names, _ = _competitors(block, overview.found.digest)
        text = " \N{EN DASH} ".join(map(name, names[:MOST_NAMED]))
        if len(names) > MOST_NAMED:
            text += f" and {len(names) - MOST_NAMED} more"
        texts.append(text)
    return texts


def _competitors(block: Block, digest: Digest) -> tuple[list[str], int]:
    """Return the names of a block's competitors, and its number of house bots."""
    names = [digest.labels[each] for each in block.entrants if each != digest.house]
    return names, len(block.entrants) - len(names)


def _under_way(overview: Overview) -> tuple[tuple[int, int, str], ...]:
    """Return the matches being played. A stopped arena leaves unfinished attempts, which do not count."""
    return overview.times.under_way if overview.running else ()


def _not_begun(overview: Overview) -> list[Block]:
    """Return the next blocks of which no match has started."""
    begun = {block for block, _, _ in _under_way(overview)}
    return [block for block in overview.coming if block.number not in begun]


def _now(overview: Overview, matches: Sequence[tuple[Block, int]]) -> PageTable:
    """Return the table of matches being played, given by block and seating."""
    digest = overview.found.digest

    def seats(row: tuple[Block, int]) -> Cell:
        block, seating = row
        if seating >= len(block.shifts):
            return seats_cell(block.entrants, digest)
        seated = deque(block.entrants)
        seated.rotate(block.shifts[seating])
        return seats_cell(seated, digest)

    columns: tuple[Column[tuple[Block, int]], ...] = (
        _match_column(lambda row: match_name(row[0].number, row[1])),
        Column("seats", seats, meaning=SEATS_MEANING, is_text=True),
    )
    return table("Being played now", columns, matches, head="match")


def _coming(overview: Overview, blocks: Sequence[Block]) -> PageTable:
    """Return the table of the next blocks."""

    def matches(block: Block) -> str:
        names = [match_name(block.number, 0), match_name(block.number, len(block.shifts) - 1)]
        return " to ".join(dict.fromkeys(names))

    def bots(block: Block) -> Cell:
        names, houses = _competitors(block, overview.found.digest)
        parts: list[Cell | str] = [*listed(names)]
        if houses:
            parts.append(f", {pluralise(houses, 'house bot')}")
        return in_line(*parts)

    columns: tuple[Column[Block], ...] = (
        Column(
            "matches",
            matches,
            meaning="The matches from one deal, each with the bots in other seats.",
            is_text=True,
        ),
        Column(
            "round",
            lambda block: block.round + 1,
            meaning="The round's number. A round's pairings are known before its results.",
        ),
        Column("bots", bots, meaning="The bots that meet.", is_text=True),
    )
    return table("What comes next", columns, blocks, head="matches")
