"""Tables of pages, and the meaning of each column."""

from collections.abc import Sequence

from msgspec import Struct

ABOUT = {
    "#": "The place. h is the house bot, which fills empty seats and does not compete.",
    "bot": "The program that played.",
    "rating": "Strength in Elo: 400 points are odds of 10 to 1 to be ranked before the other. The mean is 0.",
    "95 % interval": "Where the true rating most likely lies. Matches from one deal count as one result here.",
    "mean points": "Points per match: the share of the other seats that were ranked below, ties as a half.",
    "points": "The sum over all matches. A match has 1 for the first place and 0 for the last, ties a half.",
    "reached": "The last round of the bracket that the bot reached.",
    "played": "Matches that count. A bot in several seats of a match counts for each.",
    "won": "Matches that the bot alone won.",
    "tied": "Matches in which the bot shared the first place.",
    "lost": "All other matches.",
    "wins": "Matches in which the bot alone was first.",
    "shared wins": "Matches in which the bot was first with others.",
    "W-T-L": "Matches won, tied and lost.",
    "faults": "Matches in which the bot crashed, left, misbehaved or never started.",
    "defaults": "Moves that the game made for the bot, because no legal action came in time.",
    "refused": "Messages of the bot that the referee could not act on.",
    "time per move": "Average thinking time per move.",
    "Buchholz": "The sum of the points of the bot's opponents.",
    "byes": "Rounds without an opponent.",
    "house": "Rounds against the house bot.",
    "median time per move": "Half of all moves took this long or less.",
    "99th percentile": "99 % of all moves took this long or less.",
    "longest": "The longest move.",
    "processor time": "Of all matches together. A dash: not measured.",
    "peak memory": "The most memory that the bot's processes used at once. A dash: not measured.",
    "ok": "Matches in which the bot played to the end.",
    "crashed": "Its process ended by a signal or with an exit code other than 0 before the match was over.",
    "disconnected": "Its process ended with exit code 0, or it did not read what it was sent.",
    "misbehaved": "The referee ended the connection, because of a wrong hello or too many refused messages.",
    "never_started": "It never sent a valid hello.",
    "window": "The name of the window in which they differ.",
    "turn": "The turn or round, as the game counts.",
    "base": "What base did.",
    "head": "What head would have done.",
    "base's outcome": "How the match ended for base.",
    "head's outcome": "How the match of the same deal ended for head in the same seat.",
    "match": "A number for the deal and a letter for the seating: 18a and 18b have the same deal.",
    "place": "The seat's place in the match; = where it is shared.",
    "seat": "The place at the table, counted from 0.",
    "conduct": "ok, or the bot's first fault.",
    "ended": "How the match ended for the bot.",
    "against": "The bots in the other seats.",
    "result": "Who won. With more than two bots: the first places; = marks a shared place.",
    "ended by": "Why the match ended, where that is unusual.",
    "opponent": "A bot that it met.",
    "ranked before": "How often the bot was ranked before the other in a match of both.",
    "level": "How often both had the same place.",
    "ranked behind": "How often the bot was ranked behind the other.",
    "matches lost by a fault": "Matches in which the bot lost by a fault, of all that it played. A dash: none.",
    "seats": "The bots by seat, from seat 0.",
    "round": "The round's number. A round's pairings are known before its results.",
    "bots": "The bots that meet.",
    "matches": "The matches from one deal, each with the bots in other seats.",
    "share": "Points, of those that the bot would have if it had won all its matches.",
    "asked for": "When the host requested it.",
    "from match": "The first match that it affects; waits: not in effect yet.",
    "goes on to": "The stages in which the bot plays next.",
}
"""Meaning of each heading, from the glossary."""
BETWEEN = "between"
"""Kind of a cell that holds the text between names."""
AGAINST = "against "
"""Prefix of a bot's name in a heading of a gauntlet's table."""
WORDS = frozenset(
    {
        "bot",
        "match",
        "ended",
        "against",
        "result",
        "seats",
        "conduct",
        "name",
        "opponent",
        "ended by",
        "matches",
        "reached",
        "bots",
        "window",
        "base",
        "head",
        "goes on to",
        "change",
        "asked for",
    }
)
"""Headings of the columns that hold text."""


class Cell(Struct, frozen=True):
    """A cell of a table."""

    text: str
    href: str = ""
    kind: str = ""
    """CSS class of the cell."""
    parts: tuple["Cell", ...] = ()
    """Names and the text between them (kind `between`), which replace `text`, so that names are not split."""


class Table(Struct, frozen=True):
    """A table whose columns are explained below it."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[Cell]]
    sortable: bool = True
    head: str = "bot"
    """Heading of the column that names the rows."""

    @property
    def about(self) -> list[tuple[str, str]]:
        """Headings with their meanings."""
        found = []
        for each in self.columns:
            if each in ABOUT:
                found.append((each, ABOUT[each]))
            elif each.startswith(AGAINST):
                found.append((each, "Points in matches with this bot, and of how many matches."))
        return found

    def is_words(self, column: str) -> bool:
        """Return whether the column holds text, not numbers."""
        return column in WORDS


def listed(names: Sequence[str], between: str = ", ") -> list[Cell]:
    """Return names with the same text between them, as parts of a cell."""
    found: list[Cell] = []
    for name in names:
        found += [Cell(between, kind=BETWEEN), Cell(name)] if found else [Cell(name)]
    return found


def in_line(*parts: Cell | str) -> Cell:
    """Return a cell of several names; strings are the text between them."""
    return Cell("", parts=tuple(each if isinstance(each, Cell) else Cell(each, kind=BETWEEN) for each in parts))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Cell]], head: str = "bot") -> Table:
    """Return a table of these cells."""
    cells = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in rows]
    return Table(title, tuple(columns), cells, head=head)
