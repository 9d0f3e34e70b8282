"""Words of Hive Mind: options, setup, actions, events and views. The rules are in docs/games/hive_mind.md.

A hex is a letter, A to L. A Hive's name is `1` or `2` in `gauntlet`, `1`, `2` or `3` in `tempo-up`, and `Charge`,
`Marcer` or `Zero` in `recharged`. A Hive's values are twelve digits, those of A to L.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from protocol.words import Action, Audience, Event, Options, Setup, View

Variant = Literal["recharged", "tempo-up", "gauntlet"]
# A type checker sees plain numbers and text, as in views; values are checked at run time.
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
    """Settings that a host may change."""

    garnets: Garnets | Annotated[tuple[Garnets, ...], Meta(min_length=5, max_length=5)] | UnsetType = UNSET
    """Garnets at the start, the same for all or indexed by seat; left out: 8, 2 or 0 by variant (R6)."""


class HiveMindSetup(Setup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The host's secret."""

    hives: dict[str, Values]
    """Hive to its values: five 1s, four 2s and three 3s that are not all connected."""


class Round(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Window `round`. Hives are those in play; every key may be left out."""

    place: Annotated[dict[str, str], Meta(examples=_PLACES)] = {}  # noqa: RUF012 - each Struct gets its own
    """Hive to a shape, by its three letters (R5)."""
    double: Annotated[tuple[str, ...], Meta(examples=_HIVES)] = ()
    """Hives to double on; round 2 only."""
    block: Annotated[tuple[str, ...], Meta(examples=_HIVES)] = ()
    """Hives to block on; round 2 only."""
    guess: Annotated[dict[str, str], Meta(examples=_GUESSES)] = {}  # noqa: RUF012 - each Struct gets its own
    """Hive to twelve digits 1 to 3, a guess of its initial values; round 3 only (R12)."""


class Scores(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `scores`, `gauntlet` only."""

    scores: dict[SeatKey, int]
    """Some other seats to guesses of their totals."""


class GiveToken(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `give_token`, `tempo-up` only."""

    seat: Seat
    """Any other seat."""


class BreakTie(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `break_tie`."""

    seat: Seat
    """The elimination candidate: one of the tied."""


class Hint(Event, frozen=True, kw_only=True, tag="hint"):
    """Sum of the hexes that a shape looks at, sent to the seat that placed it."""

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
    """Public results of one Hive's round."""

    round: int
    shapes: dict[Kind, int]
    """Kind to the number of shapes of it that were placed."""
    counts: dict[str, int]
    """Each of the twelve hexes to the number of shapes over it."""


class RoundResult(Event, frozen=True, kw_only=True, tag="round_result"):
    """Results of each Hive in play at the end of a round."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    anonymous: ClassVar[bool] = True
    hives: dict[str, HiveRound]


class Doubles(Event, frozen=True, kw_only=True, tag="doubles"):
    """Seats that double on each Hive in play, sent at the end of round 2; other Hives are left out."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    hives: dict[str, tuple[int, ...]]


class Blocks(Event, frozen=True, kw_only=True, tag="blocks"):
    """Seats that blocked on each Hive in play; other Hives are left out."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    hives: dict[str, tuple[int, ...]]


class ScoreGuesses(Event, frozen=True, kw_only=True, tag="score_guesses"):
    """Results of guessing scores, sent to each seat; `gauntlet` only."""

    right: int
    """Number of scores that it guessed right."""
    guessed_by: int
    """Number of others that guessed its score right."""


class TokenGiven(Event, frozen=True, kw_only=True, tag="token_given"):
    """Gift of the second token by the winner of `tempo-up` (R9)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    giver: int = field(name="from")
    to: int


class Points(Struct, frozen=True, kw_only=True):
    """A seat's points by their reason; the total is the sum of all but `threes` and `twos`."""

    hexes: int
    """Scored on hexes, doubling counted."""
    threes: int
    """Those of `hexes` on hexes of initial value 3."""
    twos: int
    """Those of `hexes` on hexes of initial value 2."""
    guesses: int
    """Points for right guesses of hexes."""
    blocks: int
    score_guesses: int
    """Points for right guesses of scores, less the cost of others' right guesses; `gauntlet` only."""


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """All secrets, sent to all at the end."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    hives: dict[str, str]
    """Hive to its initial values."""
    placements: dict[str, dict[str, tuple[str | None, ...]]]
    """Seat to Hive to its three shapes by round, null for none."""
    points: dict[str, Points]
    feats: dict[str, int] | UnsetType = UNSET
    """Seat to feats; `gauntlet` only."""


HiveMindEvent = Hint | RoundResult | Doubles | Blocks | ScoreGuesses | TokenGiven | Reveal


class Wallet(Struct, frozen=True, kw_only=True):
    """A seat's means to pay for Double and Block."""

    garnets: int
    """Garnets left of those at the start."""
    free_doubles: int
    """Free uses left; they are used first."""
    free_blocks: int
    double_price: int | None
    """Garnets for a use that is not free; null where none is for sale."""
    block_price: int | None


class HiveMindView(View, frozen=True, kw_only=True):
    """Knowledge of one seat, or of a spectator (`seat` null): its events, its submissions and the rules."""

    seat: int | None
    window: WindowName | None
    """The open window, as far as this seat can know; null at the end, and while a single seat decides."""
    hives: tuple[str, ...]
    """The Hives in play; empty outside window `round`."""
    round: int
    """Round from 1 to 3 for each Hive; 0 outside window `round`."""
    unused: dict[str, tuple[Kind, ...]]
    """Hive in play to the kinds of shapes this seat has left there; empty for a spectator."""
    wallet: Wallet | None
    """The seat's means to pay; null for a spectator."""
    tied: tuple[int, ...]
    """Seats that the deciding seat may name in window `break_tie`."""
    submitted: tuple[Round, ...]
    """This seat's action in each `round` so far, defaults included."""
    scores: dict[str, int] | None
    """This seat's action in `scores`, default included, once that is closed."""
    told: tuple[HiveMindEvent, ...]
    """All events of this seat so far, in order."""


class HiveMindHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included, for the host. Tuples are indexed by seat."""

    window: WindowName | None
    hives: tuple[str, ...]
    """The Hives in play."""
    round: int
    initial: dict[str, str]
    """Every Hive to its initial values."""
    current: dict[str, str]
    """Every Hive to its values now; 0 where scored."""
    rounds: tuple[tuple[Round, ...], ...]
    """Actions of all seats, defaults included; indexed by round, then seat."""
    garnets: tuple[int, ...]
    """Garnets left; indexed by seat."""
    points: tuple[Points, ...]
    """Points so far; indexed by seat."""
    feats: tuple[int, ...] | None
    """Feats so far; `gauntlet` only."""
    scores: tuple[dict[str, int], ...] | None
    """Each seat's guesses of the others' totals, once submitted."""
    tied: tuple[int, ...]
    """Seats between which a tie for elimination must be broken."""


class HiveMindDetail(View, frozen=True, kw_only=True):
    """Figures behind an outcome, as in the reveal."""

    points: dict[str, Points]
    feats: dict[str, int] | UnsetType = UNSET
