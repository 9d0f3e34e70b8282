"""Lists of matches, and the schedule. Pages never show the seed of the deals."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from arena.pages.competition import Competition, Overview
from arena.pages.contents import replay_path
from arena.pages.pictures import picture_path
from arena.pages.tables import Cell, PageTable, RowMarks, in_line, listed, plain_text, table
from arena.pages.template import MATCHES_A_PAGE, Page, PageMaker, name, newest_first, page_count
from arena.quantities import Column, ordinal, pluralise
from arena.reports import unusual_end
from arena.schedule import TWO, Block, match_name
from arena.statistics import CountedMatch, Digest, Reported, places_by_seat
from protocol.refusals import Conduct

Row = TypeVar("Row")
MATCH_MEANING = "A number for the deal and a letter for the seating: 18a and 18b have the same deal."
SEAT_MEANING = "The place at the table, counted from 0."
SEATS_MEANING = "The bots by seat, from seat 0."
RESULT_MEANING = "Who won. With more than two bots: the first places; = marks a shared place."
SCORE_MEANING = "The numbers are scores of the game: {}."
USUAL = "usual"
"""Word for the end of a match that was played to its end without misconduct."""
MOST_NOW = 200
"""Maximum rows of the table of matches being played."""
MOST_NAMED = 5
"""Maximum number of a block's bots that the kiosk names."""
MANY = 3
"""Maximum number of places or opponents that a row of a list of matches names."""
MOST_SEATS = 5
"""Maximum number of seats of a match whose bots are all named in a list."""
LENGTH: Column[Reported] = Column(
    "moves", lambda match: sum(match.played.windows), meaning="How often the game asked one of the bots to act."
)
"""Length of a match."""


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
        filters=filters_of(overview, found),
        table=match_table(overview, found[::-1], match_href(""), TranscriptLinks(maker, competition, "../")),
        pages=newest_first(page, pages, path),
    )


def match_column(name: Callable[[Row], str]) -> Column[Row]:
    """Return the column of the names of matches."""
    return Column("match", name, meaning=MATCH_MEANING, is_text=True)


def name_of(match: Reported) -> str:
    """Return a match's name, such as `18a`."""
    return match_name(match.played.block, match.played.seating)


def picture_of_match(maker: PageMaker, match: Reported) -> str | None:
    """Return the path of the picture of a match's last position; None if pages have no pictures."""
    return picture_path(match.played.head) if maker.pictures else None


def score_unit(overview: Overview) -> str:
    """Return what scores of the competition's game count, such as `Largest group`; empty if that is unknown."""
    # Imported late, as the commentary of the game is.
    from protocol.games import GameLoadError  # noqa: PLC0415
    from protocol.text import COMMENTARIES  # noqa: PLC0415

    try:
        commentary = COMMENTARIES.get(str(overview.found.terms.get("game")))
    except GameLoadError:
        return ""
    return "" if commentary is None else commentary.outcome_unit or commentary.unit


def result_column(overview: Overview) -> Column[Reported]:
    """Return the column of results, with scores."""
    digest, unit = overview.found.digest, score_unit(overview)
    meaning = RESULT_MEANING
    if unit:
        meaning = f"{RESULT_MEANING} {SCORE_MEANING.format(unit.lower())}"
    return Column("result", lambda match: result_cell(match.played, digest), meaning=meaning, is_text=True)


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


class TranscriptLinks:
    """Addresses of what is made of the matches' transcripts, on a page with lists of matches."""

    def __init__(self, maker: PageMaker, competition: Competition, top: str) -> None:
        """`top` is the path to the site's root."""
        self._maker = maker
        self._competition = competition
        self._top = top

    def replay(self, match: Reported) -> str:
        """Return the link to a match's replay; "" if there is none."""
        path = replay_path(match.played.head)
        if not self._maker.replays or path is None or self._competition.transcript(match) is None:
            return ""
        return f"{self._top}{path}#match={self._competition.slug}/{name_of(match)}"

    def picture(self, match: Reported) -> str:
        """Return the address of the picture of a match's last position; "" if there is none."""
        path = picture_of_match(self._maker, match)
        if path is None or self._competition.transcript(match) is None:
            return ""
        return f"{self._top}{path}"


def match_table(
    overview: Overview,
    matches: Iterable[Reported],
    href: Callable[[Reported], str],
    links: TranscriptLinks | None = None,
) -> PageTable:
    """Return a table of these matches.

    Args:
        overview: the competition.
        matches: the rows from top to bottom.
        href: returns the link of a match's name; "" for none.
        links: addresses of replays and pictures; None: the table has none.
    """
    return _matches(overview, list(matches), href, [result_column(overview)], links)


def matches_of_bot(
    overview: Overview,
    matches: Iterable[Reported],
    href: Callable[[Reported], str],
    bot: int,
    links: TranscriptLinks | None = None,
) -> PageTable:
    """Return a table of a bot's matches: how they ended, opponents and seats. Others: see `match_table`."""
    digest = overview.found.digest

    def seats(match: Reported) -> list[int]:
        return [seat for seat, entrant in enumerate(match.played.entrants) if entrant == bot]

    def ended(match: Reported) -> Cell:
        results = [ended_text(match.played, seat) for seat in seats(match)]
        if len(results) == 1:
            return results[0]
        return Cell(", ".join(each.text for each in results))

    def against(match: Reported) -> Cell:
        return opponents_of(match.played.entrants, digest.labels, digest.house, bot)

    def score(match: Reported) -> str:
        return _score_line(match.played, seats(match))

    columns: list[Column[Reported]] = [
        Column("ended", ended, meaning="How the match ended for the bot.", is_text=True),
        Column("against", against, meaning="The bots in the other seats.", is_text=True),
        Column("seat", lambda match: ", ".join(map(str, seats(match))), meaning=SEAT_MEANING),
    ]
    rows = list(matches)
    if any(match.played.outcome.scores for match in rows):
        meaning = f"The bot's score in the game, and the best of the others. {score_unit(overview)}".strip()
        columns.insert(1, Column("score", score, meaning=meaning, is_text=True))
    return _matches(overview, rows, href, columns, links)


def _score_line(played: CountedMatch, seats: Sequence[int]) -> str:
    """Return the best score of these seats and of the others, such as `24 to 5`; empty without scores."""
    own: list[int] = []
    others: list[int] = []
    for seat, score in (played.outcome.scores or {}).items():
        (own if seat in map(str, seats) else others).append(score)
    return f"{max(own)} to {max(others)}" if own and others else ""


def opponents_of(entrants: Sequence[int], labels: Sequence[str], house: int | None, bot: int) -> Cell:
    """Return the names of the other bots and the number of house bots."""
    counts: Counter[int | None] = Counter(entrants)
    del counts[bot]
    houses = counts.pop(house, 0)
    parts: list[Cell | str] = [*_some([labels[entrant] for entrant in counts if entrant is not None], MANY).parts]
    if houses:
        between = " and " * bool(parts)
        parts.append(f"{between}{pluralise(houses, 'house bot')}")
    return in_line(*parts)


def _matches(
    overview: Overview,
    matches: Sequence[Reported],
    href: Callable[[Reported], str],
    columns: Sequence[Column[Reported]],
    links: TranscriptLinks | None,
) -> PageTable:
    """Return a table of matches. Columns that would be empty are left out: boards, conduct, ends, replays."""
    digest = overview.found.digest

    def conduct(match: Reported) -> Cell:
        text = _conducts(match.played, digest)
        return Cell(text, kind="bad" * bool(text))

    def end(match: Reported) -> str:
        return unusual_end(match.played.outcome.reason)

    def board(match: Reported) -> Cell:
        return Cell("") if links is None else Cell("", links.replay(match), picture=links.picture(match))

    def watch(match: Reported) -> Cell:
        return Cell("watch", links.replay(match)) if links is not None and links.replay(match) else Cell("")

    shown = [match_column(name_of), *columns, LENGTH]
    if any(set(match.played.conduct) != {Conduct.OK} for match in matches):
        shown.append(Column("conduct", conduct, meaning="ok, or the bot's first fault.", is_text=True))
    if any(map(end, matches)):
        meaning = "Why the match ended, where that is unusual."
        shown.append(Column("ended by", end, meaning=meaning, is_text=True))
    if links is not None and any(map(links.replay, matches)):
        shown.append(Column("replay", watch, is_text=True))
    if links is not None and any(map(links.picture, matches)):
        shown.insert(1, Column("board", board, meaning="The last position.", is_text=True))
    marks = [RowMarks(match.played.entrants, ends_of(match.played)) for match in matches]
    return replace(table("Matches", shown, matches, head="match", href=href), marks=marks)


def ends_of(played: CountedMatch) -> tuple[str, ...]:
    """Return words for how a match ended: the unusual reason and misconduct, or `usual`."""
    found = [unusual_end(played.outcome.reason)]
    found += [conduct.value.replace("_", " ") for conduct in played.conduct if conduct is not Conduct.OK]
    return tuple(dict.fromkeys(filter(None, found))) or (USUAL,)


class MatchFilters(Struct, frozen=True):
    """The choices of the filter of a list of matches: what its rows have."""

    bots: list[tuple[int, str]]
    """Numbers and labels, in the order of labels."""
    seats: list[int]
    ends: list[str]


def filters_of(overview: Overview, matches: Sequence[Reported], bot: int | None = None) -> MatchFilters:
    """Return the filter of a list of matches. `bot`: the one whose matches they are; it is no opponent."""
    digest = overview.found.digest
    labels = digest.labels
    entrants = set(chain.from_iterable(match.played.entrants for match in matches)) - {bot, digest.house}
    bots = sorted(((entrant, labels[entrant]) for entrant in entrants), key=lambda each: each[1])
    ends = set(chain.from_iterable(ends_of(match.played) for match in matches))
    return MatchFilters(bots, list(range(digest.seats)), sorted(ends))


def _some(names: Sequence[str], most: int) -> Cell:
    """Return a list of names; if there are more than `most`, the first ones and the number of the others."""
    if len(names) <= most:
        return in_line(*listed(names))
    return in_line(*listed(names[:MANY]), f", and {len(names) - MANY} more")


def ended_text(played: CountedMatch, seat: int) -> Cell:
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
    scores = played.outcome.scores or {}
    order = list(chain.from_iterable(played.outcome.ranking))
    if len(order) == TWO:
        return _of_two(played, digest, order)
    parts: list[Cell | str] = []
    named, houses = 0, []
    for seat in order:
        place, bot = place_text(played, seat), played.entrants[seat]
        if bot == house:
            houses.append(place)
            continue
        named += 1
        if named <= MANY:
            dot = "." * (not place.endswith("="))
            score = f" {scores[str(seat)]}" if str(seat) in scores else ""
            parts += [f"{', ' * bool(parts)}{place}{dot} ", Cell(labels[bot]), score]
    if named > MANY:
        parts.append(f", and {named - MANY} more")
    if houses:
        parts.append(f"; house bot{'s' * (len(houses) > 1)}: {', '.join(houses)}")
    return in_line(*parts)


def result_sentence(played: CountedMatch, digest: Digest) -> str:
    """Return a match's result in words: who won, with the score."""
    return plain_text(result_cell(played, digest))


def _of_two(played: CountedMatch, digest: Digest, order: Sequence[int]) -> Cell:
    """Return who beat whom, with the score. `order`: the seats, the winner first."""
    one, other = (Cell(digest.labels[played.entrants[seat]]) for seat in order)
    scores = [(played.outcome.scores or {}).get(str(seat)) for seat in order]
    known = "" if None in scores else f" {scores[0]}"
    if len(played.outcome.ranking) == 1:
        same = known and scores[0] == scores[1]
        return in_line(one, " and ", other, " tied", f" at{known}" if same else "")
    return in_line(one, " beat ", other, f",{known} to {scores[1]}" if known else "")


def headline(played: CountedMatch, digest: Digest) -> Cell:
    """Return who won, in a sentence with the score."""
    first = played.outcome.ranking[0]
    if len(played.entrants) == TWO or len(first) > MANY:
        return result_cell(played, digest)
    names = listed([digest.labels[played.entrants[seat]] for seat in first], between=" and ")
    score = (played.outcome.scores or {}).get(str(first[0]))
    how = " wins" if len(first) == 1 else " share the first place"
    return in_line(*names, how, "" if score is None else f" with {score}")


def _conducts(played: CountedMatch, digest: Digest) -> str:
    """Return the bots with misconduct, and its kind."""
    texts = []
    for entrant, conduct in zip(played.entrants, played.conduct, strict=True):
        if conduct is not Conduct.OK:
            name = "house bot" if entrant == digest.house else digest.labels[entrant]
            texts.append(f"{name}: {conduct.value.replace('_', ' ')}")
    return "; ".join(texts)


def place_text(played: CountedMatch, seat: int) -> str:
    """Return the place of a seat, from 1, with `=` after a shared one."""
    place, shared = _rank(played, seat)
    return f"{place}{'=' * shared}"


def _rank(played: CountedMatch, seat: int) -> tuple[int, bool]:
    """Return the place of a seat, from 1, and whether others share it."""
    places = places_by_seat(played.outcome)
    return places[seat], list(places.values()).count(places[seat]) > 1


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
        match_column(lambda row: match_name(row[0].number, row[1])),
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
