"""Words of Runes to Ruins: options, actions, events and views. The rules are in docs/games/runes_to_ruins.md.

Runes and groups are named as in `runes`; a list of six runes is a symbol's positions 0 1 2 / 3 4 5.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from protocol.games.runes_to_ruins.runes import DivineGroup, Group, MundaneGroup, RuneName
from protocol.words import Action, Audience, Event, Options, View

# A type checker sees plain numbers and text, as in views; values are checked at run time.
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
"""The nine kinds of vision, in the order of their answers."""
LearnedKind = Literal["rune", "count", "has", "line", "shared", "most"]
Answer = dict[str, bool] | tuple[int | str, ...] | str | bool | int
"""`assign`, `divine`, `mundane`: seat to true or false; `pattern`: six counts; `place`: groups; the rest: one
value.
"""


class RunesOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that a host may change."""

    rounds: Annotated[int, Meta(ge=2, le=1_000)] = 30
    """Rounds after which the match ends as it is."""
    artefacts: dict[SeatKey, tuple[Artefact, ...]] = {}  # noqa: RUF012 - msgspec gives each its own
    """Seat to its artefacts, each at most once."""


class ChooseSymbol(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `symbol`."""

    symbol: Six


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A part of an action that has keys of its own."""


class Pattern(Part, frozen=True, kw_only=True):
    """Question: how many of these seats have a rune of that group, in each position?"""

    groups: SixGroups
    seats: tuple[Seat, ...]


class Place(Part, frozen=True, kw_only=True):
    """Question: which groups of that Order do others have there?"""

    order: Order
    position: Position


class Except(Part, frozen=True, kw_only=True):
    """Question: which rune does that seat use, other than these?"""

    seat: Seat
    runes: tuple[RuneName, ...]


class Mirror(Part, frozen=True, kw_only=True):
    """Vision `mirror`: reveals a rune. If `seat` asks about this seat, this seat gets the answer about `seat`."""

    rune: RuneName
    seat: Seat


class Through(Part, frozen=True, kw_only=True):
    """Vision `window`: reveals an own rune and its position, and asks for that seat's rune there."""

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
    """Claim that a seat uses this number of runes of a group."""

    seat: Seat
    group: Group
    number: Annotated[int, Meta(ge=0, le=6)]


class Has(Part, frozen=True, kw_only=True):
    """Claim that a seat uses a rune."""

    seat: Seat
    rune: RuneName


class Line(Part, frozen=True, kw_only=True):
    """Claim that some seat uses a rune in a row or column; exactly one of the two keys is set."""

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
    """Condition to its number of votes."""
    more_votes: bool = False
    """True to buy three more votes."""
    told: bool = False
    """True to buy the number of the condition that won."""
    abstain: bool = False
    visions: Visions | UnsetType = UNSET
    learned: tuple[Learned, ...] = ()
    guesses: tuple[Six, ...] = ()
    light: bool = False
    """True to use the Power of Light."""
    dark: Seat | UnsetType = UNSET
    """Seat to use the Power of Dark on."""


class Resubmit(Event, frozen=True, kw_only=True, tag="resubmit"):
    """Request to all to submit again, because two seats submitted the same symbol."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    attempt: int
    """Number of the attempt that opens, from 2."""


class SymbolSet(Event, frozen=True, kw_only=True, tag="symbol_set"):
    """A seat's symbol for the match, sent to it."""

    symbol: Six


class Insight(Event, frozen=True, kw_only=True, tag="insight"):
    """Payments of the last vote's condition at the start of a round."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    round: int
    """Number of the round that starts."""
    earned: dict[str, int]
    """Seat to insight; seats that abstained are left out."""
    positions: dict[str, int]
    """Seat that abstained to its position in the order of earnings, 1 for most."""


class ConditionWon(Event, frozen=True, kw_only=True, tag="condition"):
    """The condition that won this round's vote, sent to a seat that paid for it."""

    condition: int


class VisionAnswer(Event, frozen=True, kw_only=True, tag="vision"):
    """Answer to a vision, sent to its seat."""

    kind: Kind
    answer: Answer


class Mirrored(Event, frozen=True, kw_only=True, tag="mirrored"):
    """Answer about seat `of` to a question that `of` asked about this seat, which used `mirror`."""

    of: int
    kind: Kind | LearnedKind
    answer: Answer


class LearnedAnswer(Event, frozen=True, kw_only=True, tag="learned"):
    """Answer to a learned insight and the mantra for it, sent to its seat."""

    index: int
    answer: int | bool
    mantra: int


class GuessAnswer(Event, frozen=True, kw_only=True, tag="guess"):
    """Similarity of a guess to the closest symbol, sent to its seat."""

    index: int
    exact: int
    moved: int
    group: int


class Revealed(Event, frozen=True, kw_only=True, tag="revealed"):
    """A rune that a seat revealed to use `mirror` (`position` null) or `window`."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int
    rune: RuneName
    position: int | None


class Discovered(Event, frozen=True, kw_only=True, tag="discovered"):
    """Seats whose symbols have been guessed."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seats: tuple[int, ...]


class Purse(Event, frozen=True, kw_only=True, tag="purse"):
    """A seat's insight and mantra at the end of a round, sent to it."""

    insight: int
    mantra: int


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """All secrets, sent to all at the end."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    symbols: dict[str, Six]
    guesses: dict[str, tuple[Six, ...]]
    """Seat to all its guesses in order."""
    conditions: tuple[int, ...]
    """Conditions that won the votes, from round 2 on."""


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
    """A finished round, as one seat or a spectator saw it."""

    round: int
    action: PlayRound | None
    """The seat's action, default included; null for a spectator."""
    told: tuple[RunesEvent, ...]
    """All events of the seat when the round closed, in order, `insight` for the next round included."""


class RunesView(View, frozen=True, kw_only=True):
    """Knowledge of a seat. For a spectator `seat` is null, and private fields are null or empty."""

    seat: int | None
    round: int
    """The round being played, counting from 1; at the end, the last."""
    rounds: int
    """The last possible round."""
    attempt: int
    """Number of the current attempt at submitting symbols in round 1; later, the number of attempts needed."""
    submitted: tuple[Six, ...]
    """Symbols that this seat submitted in finished attempts."""
    symbol: Six | None
    """This seat's symbol, once set."""
    insight: int | None
    mantra: int | None
    artefacts: tuple[Artefact, ...]
    """Artefacts of this seat, from the options."""
    may_abstain: bool
    may_light: bool
    may_window: bool
    veil_cost: int | None
    """Price of its next `veil`."""
    guess_cost: int | None
    """Price of its next guess after the first of a round."""
    discovered: dict[str, int]
    """Seat to the round in which it was discovered; discovered seats only."""
    history: tuple[Played, ...]
    """Finished rounds, from round 2 on."""


class Holding(View, frozen=True, kw_only=True):
    """One seat's state, for the host."""

    symbol: Six | None
    insight: int
    mantra: int
    received: int
    """Mantra received in the match."""
    veils: int
    """Number of times that it used `veil`."""
    bought: int
    """Number of guesses that it bought."""
    discovered: int | None
    guesses: tuple[Six, ...]
    submitted: tuple[Six, ...]


class RunesHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included, for the host."""

    round: int
    attempt: int
    invalid: tuple[Six, ...]
    """Symbols that more than one seat submitted at once."""
    holdings: tuple[Holding, ...]
    """State of each seat; indexed by seat."""
    conditions: tuple[int, ...]
    """Conditions that won the votes, from round 2 on."""
    used: tuple[int, ...]
    """The `conditions` that are not available again yet, in ascending order."""


class RunesDetail(View, frozen=True, kw_only=True):
    """Figures behind an outcome."""

    discovered: dict[str, int]
    """Seat to round; discovered seats only."""
    mantra: dict[str, int]
    """Seat to its mantra after the last settlement."""
