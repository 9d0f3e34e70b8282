"""Tables of pages: what is in them, and what each column means."""

from collections.abc import Sequence

from msgspec import Struct

ABOUT = {
    "#": "The place. h is the house, which fills seats and does not compete.",
    "bot": "The program that played.",
    "rating": "Strength in Elo: 400 points are odds of 10 to 1 to be ranked before the other. The mean is 0.",
    "95 % interval": "Where the rating is, as far as the results say; clustered by block.",
    "mean points": "Points a match: the share of the other seats that were ranked below, ties as a half.",
    "points": "The sum over all matches. A match has 1 for the first place and 0 for the last, ties a half.",
    "played": "Matches that count. A bot in several seats of a match counts for each.",
    "won": "Matches that it alone won.",
    "tied": "Matches in which it shared the first place.",
    "lost": "All other matches.",
    "wins": "Matches in which it alone was first.",
    "shared wins": "Matches in which it was first with others.",
    "W-T-L": "Matches won, tied and lost.",
    "faults": "Matches in which the bot crashed, left, misbehaved or never started.",
    "defaults": "Windows in which the default action was taken, because no legal action came in time.",
    "refused": "Messages of the bot that the referee could not act on.",
    "a window": "Charged time a window, on average.",
    "Buchholz": "The sum of the points of the bot's opponents.",
    "byes": "Rounds without an opponent.",
    "house": "Rounds against the house's bot.",
    "half of windows": "Half of all windows took at most so long.",
    "99 %": "99 % of all windows took at most so long.",
    "worst": "The longest window.",
    "processor time": "Of all matches together. A dash: nobody counted.",
    "peak memory": "The most memory that the bot's processes held at once. A dash: nobody counted.",
    "ok": "Matches to the end of which the bot was there.",
    "crashed": "Its process ended by a signal or with an exit code other than 0 before the match was over.",
    "disconnected": "Its process ended with exit code 0, or it left unread what it was sent.",
    "misbehaved": "The referee hung up on it, for a wrong hello or too many refused messages.",
    "never_started": "It never said a right hello.",
    "window": "The window in which they part, by its name.",
    "turn": "The turn or round, as the game counts.",
    "base": "What base did.",
    "head": "What head would have done.",
    "base's outcome": "How the match ended for base.",
    "head's there": "How the match of the same deal ended for head in the same seat.",
    "match": "The block's number and the letter of the seating.",
    "place": "The seat's place in the match; = where it is shared.",
    "seat": "Counted from 0.",
    "conduct": "ok, or the first fault that the bot committed.",
    "windows": "Times that the seat was asked to act.",
    "charged": "Time charged to the seat in the whole match.",
    "ended": "How the match ended for the bot.",
    "against": "The bots in the other seats.",
    "result": "Who won; or the bots by their places, with > before the next place and = where one is shared.",
    "ended by": "Why the match was over, in the game's words.",
    "opponent": "A bot that it met.",
    "ranked before": "Times that the bot was ranked before the other in a match of both.",
    "level": "Times that both had the same place.",
    "ranked behind": "Times that it was ranked behind the other.",
    "matches lost by a fault": "Matches in which the bot lost by a fault, of all that it played. A dash: none.",
    "seats": "The bots by seat, from seat 0.",
    "block": "The block's number. All its matches are played from one deal.",
    "round": "The round's number. A round's pairings are known before its results.",
    "bots": "The bots that meet.",
    "matches": "Matches of the block, each in another seating.",
    "share": "Points, of those that it would have if it had won all its matches.",
    "asked for": "When the host asked for it.",
    "from block": "The first block that it concerns; waits: no arena has taken it in yet.",
    "goes on to": "The stages in which the bot plays next.",
}
"""What headings mean, in the words of the glossary."""
AGAINST = "against "
"""Before a bot's name: a heading of a gauntlet's table."""
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
        "bots",
        "window",
        "base",
        "head",
        "goes on to",
        "change",
        "asked for",
    }
)
"""Headings of columns that hold no numbers."""


class Cell(Struct, frozen=True):
    """What stands in a table."""

    text: str
    href: str = ""
    kind: str = ""
    """A class of the style."""


class Table(Struct, frozen=True):
    """A table whose columns are explained below it."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[Cell]]
    sortable: bool = True
    head: str = "bot"
    """The column that names the rows."""

    @property
    def about(self) -> list[tuple[str, str]]:
        """The columns with what they mean."""
        found = []
        for each in self.columns:
            if each in ABOUT:
                found.append((each, ABOUT[each]))
            elif each.startswith(AGAINST):
                found.append((each, "Points in matches with this bot, and of how many matches."))
        return found

    def is_words(self, column: str) -> bool:
        """Whether the column holds words, and no numbers."""
        return column in WORDS


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Cell]], head: str = "bot") -> Table:
    """A table of these cells."""
    cells = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in rows]
    return Table(title, tuple(columns), cells, head=head)
