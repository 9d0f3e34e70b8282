"""Words of Runes to Ruins: options, actions, events and views. The rules are in docs/games/runes_to_ruins.md.

Runes and groups are named as in `runes`; a list of six runes is a symbol's positions 0 1 2 / 3 4 5.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from protocol.games.runes import DivineGroup, Group, MundaneGroup, RuneName
from protocol.words import Action, Audience, Event, Options, View

# Views give plain numbers and text: to a type checker these are no more either. Values are checked at run time.
if TYPE_CHECKING:
    Seat = int
    SeatKey = str
    Position = int
    ConditionKey = str
    Six = tuple[RuneName, ...]
    SixGroups = tuple[Group, ...]
else:
    Seat = Literal[0, 1, 2, 3, 4]
    SeatKey = Literal["0", "1", "2", "3", "4"]
    Position = Literal[0, 1, 2, 3, 4, 5]
    ConditionKey = Literal["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"]
    Six = tuple[RuneName, RuneName, RuneName, RuneName, RuneName, RuneName]
    """A symbol, or a guess at one, by position."""
    SixGroups = tuple[Group, Group, Group, Group, Group, Group]
Order = Literal["divine", "mundane"]
Artefact = Literal["light", "dark"]
Kind = Literal["assign", "divine", "mundane", "veil", "pattern", "place", "except", "mirror", "window"]
"""The nine kinds of vision, in the order in which they are answered."""
LearnedKind = Literal["rune", "count", "has", "line", "shared", "most"]
Answer = dict[str, bool] | tuple[int | str, ...] | str | bool | int
"""`assign`, `divine`, `mundane`: seat to whether; `pattern`: six counts; `place`: groups; the rest: one value."""


class RunesOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host may set."""

    rounds: Annotated[int, Meta(ge=2, le=1_000)] = 30
    """After so many rounds the match ends as it stands."""
    artefacts: dict[SeatKey, tuple[Artefact, ...]] = {}  # noqa: RUF012 - msgspec gives each its own
    """Seat to the artefacts it has, each at most once."""


class ChooseSymbol(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `symbol`."""

    symbol: Six


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A part of an action that has keys of its own."""


class Pattern(Part, frozen=True, kw_only=True):
    """How many of these seats have a rune of that group, in each position?"""

    groups: SixGroups
    seats: tuple[Seat, ...]


class Place(Part, frozen=True, kw_only=True):
    """Which groups of that Order do others have there?"""

    order: Order
    position: Position


class Except(Part, frozen=True, kw_only=True):
    """Which rune does that seat use, other than these?"""

    seat: Seat
    runes: tuple[RuneName, ...]


class Mirror(Part, frozen=True, kw_only=True):
    """Reveals an own rune; what that seat asks about this one, this one learns about it."""

    rune: RuneName
    seat: Seat


class Through(Part, frozen=True, kw_only=True):
    """The vision `window`: reveals an own rune and its position; which rune does that seat have there?"""

    position: Position
    seat: Seat


class Visions(Part, frozen=True, kw_only=True):
    """The visions of one round, each at most once."""

    assign: dict[SeatKey, RuneName] | UnsetType = UNSET
    divine: DivineGroup | UnsetType = UNSET
    mundane: MundaneGroup | UnsetType = UNSET
    veil: bool = False
    pattern: Pattern | UnsetType = UNSET
    place: Place | UnsetType = UNSET
    except_: Except | UnsetType = field(default=UNSET, name="except")
    mirror: Mirror | UnsetType = UNSET
    window: Through | UnsetType = UNSET


class Count(Part, frozen=True, kw_only=True):
    """That seat uses so many runes of that group."""

    seat: Seat
    group: Group
    number: Annotated[int, Meta(ge=0, le=6)]


class Has(Part, frozen=True, kw_only=True):
    """That seat uses that rune."""

    seat: Seat
    rune: RuneName


class Line(Part, frozen=True, kw_only=True):
    """Somebody uses that rune in that row, or in that column: one of the two keys."""

    rune: RuneName
    row: Literal[0, 1] | UnsetType = UNSET
    column: Literal[0, 1, 2] | UnsetType = UNSET


class Learned(Part, frozen=True, kw_only=True):
    """One learned insight: exactly one of the keys."""

    rune: RuneName | UnsetType = UNSET
    count: Count | UnsetType = UNSET
    has: Has | UnsetType = UNSET
    line: Line | UnsetType = UNSET
    shared: tuple[Seat, Seat] | UnsetType = UNSET
    most: tuple[RuneName, ...] | UnsetType = UNSET


class PlayRound(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Window `round`: any of these parts."""

    votes: dict[ConditionKey, Annotated[int, Meta(ge=1)]] | UnsetType = UNSET
    """Condition to votes for it."""
    more_votes: bool = False
    """Buys three more votes."""
    told: bool = False
    """Buys to be told which condition won."""
    abstain: bool = False
    visions: Visions | UnsetType = UNSET
    learned: tuple[Learned, ...] = ()
    guesses: tuple[Six, ...] = ()
    light: bool = False
    """Uses the Power of Light."""
    dark: Seat | UnsetType = UNSET
    """Uses the Power of Dark on that seat."""


class Resubmit(Event, frozen=True, kw_only=True, tag="resubmit"):
    """Two seats submitted the same symbol: all submit anew."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    attempt: int
    """The number of the attempt that opens, 2 first."""


class SymbolSet(Event, frozen=True, kw_only=True, tag="symbol_set"):
    """To its seat: the symbol it has for the match."""

    symbol: Six


class Insight(Event, frozen=True, kw_only=True, tag="insight"):
    """What the condition of the last vote pays at the start of a round."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    round: int
    """The round that starts."""
    earned: dict[str, int]
    """Seat to insight; seats that abstained are left out."""
    positions: dict[str, int]
    """Seat that abstained to its position in the order of what was earned, 1 for most."""


class ConditionWon(Event, frozen=True, kw_only=True, tag="condition"):
    """To a seat that paid for it: the condition that won this round's vote."""

    condition: int


class VisionAnswer(Event, frozen=True, kw_only=True, tag="vision"):
    """To its seat: the answer to a vision."""

    kind: Kind
    answer: Answer


class Mirrored(Event, frozen=True, kw_only=True, tag="mirrored"):
    """To the seat that used `mirror`: the answer, about seat `of`, to what `of` asked about it."""

    of: int
    kind: Kind | LearnedKind
    answer: Answer


class LearnedAnswer(Event, frozen=True, kw_only=True, tag="learned"):
    """To its seat: the answer to a learned insight, and the mantra it brought."""

    index: int
    answer: int | bool
    mantra: int


class GuessAnswer(Event, frozen=True, kw_only=True, tag="guess"):
    """To its seat: how near its guess came to the closest symbol."""

    index: int
    exact: int
    moved: int
    group: int


class Revealed(Event, frozen=True, kw_only=True, tag="revealed"):
    """A seat showed a rune of its symbol to use `mirror` (`position` null) or `window`."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int
    rune: RuneName
    position: int | None


class Discovered(Event, frozen=True, kw_only=True, tag="discovered"):
    """Somebody guessed the symbols of these seats."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seats: tuple[int, ...]


class Purse(Event, frozen=True, kw_only=True, tag="purse"):
    """To each seat, at the end of a round: what it holds when all is settled."""

    insight: int
    mantra: int


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The end: everything to all."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    symbols: dict[str, Six]
    guesses: dict[str, tuple[Six, ...]]
    """Seat to all its guesses in order."""
    conditions: tuple[int, ...]
    """The winners of the votes, from round 2 on."""


RunesEvent = (
    Resubmit
    | SymbolSet
    | Insight
    | ConditionWon
    | VisionAnswer
    | Mirrored
    | LearnedAnswer
    | GuessAnswer
    | Revealed
    | Discovered
    | Purse
    | Reveal
)


class Played(View, frozen=True, kw_only=True):
    """A round that is over, as one seat, or a spectator, saw it."""

    round: int
    action: PlayRound | None
    """What was taken of the seat; null for a spectator."""
    told: tuple[RunesEvent, ...]
    """All it was told when the round closed, in order, `insight` for the next round included."""


class RunesView(View, frozen=True, kw_only=True):
    """What a seat knows: events and its own actions. A spectator's `seat` is null, its affairs null or empty."""

    seat: int | None
    round: int
    """The round being played, counting from 1; at the end, the last."""
    rounds: int
    """The last round there can be."""
    attempt: int
    """In round 1: how many times symbols are being submitted, this one counted. Later, how many it took."""
    submitted: tuple[Six, ...]
    """The symbols that this seat submitted in the attempts that are over."""
    symbol: Six | None
    """Its own symbol, once set."""
    insight: int | None
    mantra: int | None
    artefacts: tuple[Artefact, ...]
    """Those it has, by the options."""
    may_abstain: bool
    may_light: bool
    may_window: bool
    veil_cost: int | None
    """What its next `veil` costs."""
    guess_cost: int | None
    """What its next guess costs beyond a round's first."""
    discovered: dict[str, int]
    """Seat to the round in which it was discovered; discovered seats only."""
    history: tuple[Played, ...]
    """The rounds that are over, from round 2 on."""


class Holding(View, frozen=True, kw_only=True):
    """One seat's affairs, for the host's eyes."""

    symbol: Six | None
    insight: int
    mantra: int
    received: int
    """Mantra received in the match."""
    veils: int
    """How often it used `veil`."""
    bought: int
    """How many guesses it bought."""
    discovered: int | None
    guesses: tuple[Six, ...]
    submitted: tuple[Six, ...]


class RunesHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included: for the host's eyes."""

    round: int
    attempt: int
    invalid: tuple[Six, ...]
    """Symbols that more than one seat submitted at once."""
    holdings: tuple[Holding, ...]
    """By seat."""
    conditions: tuple[int, ...]
    """The winners of the votes, from round 2 on."""
    used: tuple[int, ...]
    """Of them, those that are not free again, ascending."""


class RunesDetail(View, frozen=True, kw_only=True):
    """The figures behind an outcome."""

    discovered: dict[str, int]
    """Seat to round; discovered seats only."""
    mantra: dict[str, int]
    """Seat to the mantra it held after the last settling."""
