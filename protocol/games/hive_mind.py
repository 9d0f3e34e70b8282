"""Words of Hive Mind: options, setup, actions, events and views. The rules are in docs/games/hive_mind.md.

A hex is a letter, A to L. A Hive's name is `1` or `2` in `gauntlet`, `1`, `2` or `3` in `tempo-up`, and `Charge`,
`Marcer` or `Zero` in `recharged`. A Hive's values are twelve digits, those of A to L.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from protocol.words import Action, Audience, Event, Options, Setup, View

Variant = Literal["recharged", "tempo-up", "gauntlet"]
# Views give plain numbers and text: to a type checker these are no more either. Values are checked at run time.
if TYPE_CHECKING:
    Seat = int
    SeatKey = str
else:
    Seat = Literal[0, 1, 2, 3, 4]
    SeatKey = Literal["0", "1", "2", "3", "4"]
Kind = Literal["tri", "arc", "line"]
WindowName = Literal["round", "scores", "give_token", "break_tie"]
BUYING_ROUND, LAST_ROUND = 2, 3
"""The round in which Doubles and Blocks are bought or used, and the one in which values are guessed."""
Garnets = Annotated[int, Meta(ge=0)]
Values = Annotated[str, Meta(examples=["112332112213", "213121231312", "131221311223", "322221133111"])]

_PLACES = [
    {"1": "ADE"},
    {"1": "HKL"},
    {"1": "CFI"},
    {"2": "ADE"},
    {"2": "AEH"},
    {"2": "CFI"},
    {"1": "ADE", "2": "HKL", "3": "CFI"},
    {"1": "EIJ", "2": "HIJ", "3": "ABE"},
    {"1": "CFI", "2": "ADE", "3": "EIJ"},
    {"Charge": "ADE", "Marcer": "HKL", "Zero": "CFI"},
    {"Charge": "EIJ", "Marcer": "HIJ", "Zero": "ABE"},
    {"Charge": "CFI", "Marcer": "ADE", "Zero": "EIJ"},
]
_HIVES = [["1"], ["2"], ["3"], ["Charge"], ["Marcer"], ["Zero"]]
_GUESSES = [
    {"1": "112332112213"},
    {"2": "213121231312"},
    {"1": "213121231312", "2": "131221311223", "3": "322221133111"},
    {"Charge": "213121231312", "Marcer": "131221311223", "Zero": "322221133111"},
]


class HiveMindOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host may set."""

    garnets: Garnets | Annotated[tuple[Garnets, ...], Meta(min_length=5, max_length=5)] | UnsetType = UNSET
    """Garnets to start with, the same for all or seat by seat; left out: 8, 2 or 0 by variant (R6)."""


class HiveMindSetup(Setup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The host's secret."""

    hives: dict[str, Values]
    """Hive to its values: five 1s, four 2s and three 3s that are not all connected."""


class Round(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Window `round`. Hives are those in play; every key may be left out."""

    place: Annotated[dict[str, str], Meta(examples=_PLACES)] = {}  # noqa: RUF012 - each Struct gets its own
    """Hive to a shape, by its three letters (R5)."""
    double: Annotated[tuple[str, ...], Meta(examples=_HIVES)] = ()
    """Round 2 only: Hives to double on."""
    block: Annotated[tuple[str, ...], Meta(examples=_HIVES)] = ()
    """Round 2 only: Hives to block on."""
    guess: Annotated[dict[str, str], Meta(examples=_GUESSES)] = {}  # noqa: RUF012 - each Struct gets its own
    """Round 3 only: Hive to twelve digits 1 to 3, its initial values as guessed (R12)."""


class Scores(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `scores`, `gauntlet` only."""

    scores: dict[SeatKey, int]
    """Any other seats to their totals as guessed."""


class GiveToken(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `give_token`, `tempo-up` only."""

    seat: Seat
    """Any other seat."""


class BreakTie(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `break_tie`."""

    seat: Seat
    """The elimination candidate: one of the tied."""


class Hint(Event, frozen=True, kw_only=True, tag="hint"):
    """To a seat: what its shape looked at."""

    hive: str
    round: int
    shape: Kind
    cells: str
    """The shape's hexes, sorted."""
    looks: str
    """The hexes it looks at, sorted."""
    total: int
    """The sum of their initial values."""


class HiveRound(Struct, frozen=True, kw_only=True):
    """What all are told of one Hive's round."""

    round: int
    shapes: dict[Kind, int]
    """Kind to how many of it were placed."""
    counts: dict[str, int]
    """Each of the twelve hexes to how many shapes lay over it."""


class RoundResult(Event, frozen=True, kw_only=True, tag="round_result"):
    """The end of a round, for each Hive in play."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    anonymous: ClassVar[bool] = True
    hives: dict[str, HiveRound]


class Doubles(Event, frozen=True, kw_only=True, tag="doubles"):
    """The end of round 2: who doubles, for each Hive in play on which anybody does."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    hives: dict[str, tuple[int, ...]]


class Blocks(Event, frozen=True, kw_only=True, tag="blocks"):
    """Who blocked, for each Hive in play on which anybody did."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    hives: dict[str, tuple[int, ...]]


class ScoreGuesses(Event, frozen=True, kw_only=True, tag="score_guesses"):
    """To a seat, `gauntlet` only: how the guessing of scores went for it."""

    right: int
    """How many scores it guessed right."""
    guessed_by: int
    """How many others guessed its score right."""


class TokenGiven(Event, frozen=True, kw_only=True, tag="token_given"):
    """The winner of `tempo-up` gave its second token away (R9)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    giver: int = field(name="from")
    to: int


class Points(Struct, frozen=True, kw_only=True):
    """A seat's points, by what they are for; the total is the sum of all but `threes` and `twos`."""

    hexes: int
    """Scored on hexes, doubling counted."""
    threes: int
    """Of these, on hexes of initial value 3."""
    twos: int
    """Of these, on hexes of initial value 2."""
    guesses: int
    """For right guesses of hexes."""
    blocks: int
    score_guesses: int
    """For right guesses of scores, less what others' right guesses cost; `gauntlet` only."""


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The end: everything to all."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    hives: dict[str, str]
    """Hive to its initial values."""
    placements: dict[str, dict[str, tuple[str | None, ...]]]
    """Seat to Hive to its three shapes by round, null where it placed none."""
    points: dict[str, Points]
    feats: dict[str, int] | UnsetType = UNSET
    """`gauntlet` only."""


HiveMindEvent = Hint | RoundResult | Doubles | Blocks | ScoreGuesses | TokenGiven | Reveal


class Wallet(Struct, frozen=True, kw_only=True):
    """What a seat can pay Double and Block with."""

    garnets: int
    """What is left of those it started with."""
    free_doubles: int
    """Uses left that cost nothing; they are used first."""
    free_blocks: int
    double_price: int | None
    """Garnets for a use that is not free; null where none is for sale."""
    block_price: int | None


class HiveMindView(View, frozen=True, kw_only=True):
    """What one seat, or a spectator (`seat` null), knows: what it was told, what it submitted, and the rules."""

    seat: int | None
    window: WindowName | None
    """The window that is open as far as this seat can know; null at the end, and while one seat decides alone."""
    hives: tuple[str, ...]
    """The Hives in play; none but in window `round`."""
    round: int
    """1 to 3, counted anew for each Hive; 0 but in window `round`."""
    unused: dict[str, tuple[Kind, ...]]
    """Hive in play to the kinds of shapes this seat has left there; empty for a spectator."""
    wallet: Wallet | None
    """Null for a spectator."""
    tied: tuple[int, ...]
    """In window `break_tie`, to the seat that decides: the seats it may name."""
    submitted: tuple[Round, ...]
    """What this seat was taken to have submitted to each `round` so far."""
    scores: dict[str, int] | None
    """What it was taken to have submitted to `scores`, once that is closed."""
    told: tuple[HiveMindEvent, ...]
    """All it has been told so far, in order."""


class HiveMindHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included: for the host's eyes. Tuples are indexed by seat."""

    window: WindowName | None
    hives: tuple[str, ...]
    """The Hives in play."""
    round: int
    initial: dict[str, str]
    """Every Hive to its initial values."""
    current: dict[str, str]
    """Every Hive to its values now; 0 where scored."""
    rounds: tuple[tuple[Round, ...], ...]
    """By round played: what each seat was taken to have submitted."""
    garnets: tuple[int, ...]
    """What each seat has left."""
    points: tuple[Points, ...]
    """So far."""
    feats: tuple[int, ...] | None
    """So far; `gauntlet` only."""
    scores: tuple[dict[str, int], ...] | None
    """What each seat guessed of the others' totals, once that is done."""
    tied: tuple[int, ...]
    """While a tie for elimination waits to be broken: between whom."""


class HiveMindDetail(View, frozen=True, kw_only=True):
    """The figures behind an outcome, as in the reveal."""

    points: dict[str, Points]
    feats: dict[str, int] | UnsetType = UNSET
