"""Words of The Fight For a Name: options, setup, actions, events, views. Rules: docs/games/fight_for_a_name.md.

Seats that are keys are text (`"0"`), and so are the numbers of hexes where they are keys or stand beside names of
other places; in lists of numbers and of seats both are numbers.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from protocol.words import Action, Audience, Event, Options, Setup, View

# fmt: off
# Views give plain numbers and text: to a type checker these are no more either. Values are checked at run time.
if TYPE_CHECKING:
    Seat = int
    SeatKey = str
    Position = int
    HexKey = str
else:
    Seat = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    SeatKey = Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]
    Position = Literal[0, 1, 2, 3, 4, 5, 6, 7]
    HexKey = Literal[
        "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18",
        "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36",
    ]
Direction = Literal["N", "NE", "SE", "S", "SW", "NW"]
Colour = Literal["red", "orange", "yellow", "green", "blue", "purple"]
Pillar = Literal["phi", "psi", "mu", "lambda", "sigma", "theta", "omega", "delta", "gamma", "xi"]
Title = Literal[
    "Charity", "Courage", "Diligence", "Faith", "Honour", "Hope",
    "Humility", "Justice", "Mercy", "Patience", "Prudence", "Temperance",
]
# fmt: on
Amount = Annotated[int, Meta(ge=1)]
Gift = Annotated[int, Meta(ge=1, le=2)]


class FightOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host may set."""

    rounds: Annotated[int, Meta(ge=1, le=1_000, examples=[1, 2, 3, 4, 6, 12])] = 12
    """After so many rounds the match ends."""


class Banner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The colours of a title's banner: one hex of the body's, two of the partings'."""

    body: Colour
    parting: Colour


class Puzzle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The timed game: which of the numbers add up to the target? (R7)."""

    numbers: tuple[int, ...]
    target: int


class FightSetup(Setup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The host's secrets, but for the hexes' colours and the puzzle, which all are shown."""

    colours: dict[HexKey, Colour]
    titles: dict[Title, Banner]
    pillars: dict[Pillar, tuple[Title, ...]]
    challenge: Puzzle


class Pick(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `challenge`: the positions of the numbers that add up to the target."""

    pick: tuple[Position, ...]


class Move(Action, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Window `move`: on the board a path and reinforcements, with a title gifts."""

    path: tuple[Direction, ...] = ()
    reinforce: dict[HexKey, Amount] = {}  # noqa: RUF012 - a Struct copies an empty default
    """Hex to the MP put on it (R6)."""
    give: dict[SeatKey, Gift] = {}  # noqa: RUF012 - as above
    """Seat to the MP given to it (R5)."""


class Ask(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `pillar`: the six titles shown, each put to one use (R3)."""

    body: tuple[Title, Colour]
    parting: tuple[Title, Colour]
    other: tuple[Title, Colour]
    neither: tuple[Title, Title]
    crest: Title


class Vote(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Windows `token_vote`, `elimination_vote` and `justice`: one of the candidates, or nobody."""

    seat: Seat | None


class BoardShown(Event, frozen=True, kw_only=True, tag="board"):
    """The start: the hexes' colours."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    colours: dict[HexKey, Colour]


class ChallengeShown(Event, frozen=True, kw_only=True, tag="challenge"):
    """The start: the puzzle of the timed game."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    numbers: tuple[int, ...]
    target: int


class PillarShows(Event, frozen=True, kw_only=True, tag="pillar_shows"):
    """To a visitor: the six titles of its pillar."""

    pillar: Pillar
    titles: tuple[Title, ...]


class Crowded(Event, frozen=True, kw_only=True, tag="crowded"):
    """To each visitor of a pillar that too many visit: it gets nothing (R2)."""

    pillar: Pillar


class PillarAnswer(Event, frozen=True, kw_only=True, tag="pillar_answer"):
    """To a visitor: what its titles have told it (R3)."""

    body: bool
    parting: bool
    other: Colour
    neither: tuple[Colour, Colour]
    crest: Title


class RoundResult(Event, frozen=True, kw_only=True, tag="round_result"):
    """The end of a round: what all may know of it (R11)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    round: int
    positions: dict[str, str]
    """Seat to `Start`, a hex's number or a pillar; seats with titles are left out."""
    holders: dict[str, int]
    """Hex to the seat that holds it; hexes that nobody holds are left out."""
    white: tuple[int, ...]
    claimed: dict[str, int]
    """Title to the seat that claimed it in this round."""
    gifts: dict[str, int]
    """Seat to the MP it was given in this round."""


class Standing(Event, frozen=True, kw_only=True, tag="standing"):
    """The end of a round, to each seat on the board: what is its own."""

    mp: int
    crests: tuple[Title, ...]
    strengths: dict[str, int]


class Claim(Struct, frozen=True, kw_only=True, gc=False):
    """Who claimed a title, and in which round."""

    seat: int
    round: int


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The end: the host's secrets to all."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    titles: dict[Title, Banner]
    pillars: dict[Pillar, tuple[Title, ...]]
    challenge: tuple[int, ...]
    """Seats by their rank in the timed game, best first."""
    claims: dict[Title, Claim]


FightEvent = BoardShown | ChallengeShown | PillarShows | Crowded | PillarAnswer | RoundResult | Standing | Reveal


class Visit(Struct, frozen=True, kw_only=True, gc=False):
    """A seat's own visit to a pillar: all that was told of it, and what was asked."""

    round: int
    pillar: Pillar
    titles: tuple[Title, ...]
    """The six titles shown; none where it was crowded (R2)."""
    asked: Ask | None = None
    answer: PillarAnswer | None = None


class Candidates(Struct, frozen=True, kw_only=True, gc=False):
    """What a vote's window tells those who vote in it."""

    candidates: tuple[int, ...]


class FightView(View, frozen=True, kw_only=True):
    """What one seat, or a spectator (`seat` null), knows: what it was told, and what it did itself."""

    seat: int | None
    round: int
    """The round being played, counting from 1; 0 before the first; at the end, the last."""
    rounds: int
    """The option: the match's last round."""
    colours: dict[HexKey, Colour]
    numbers: tuple[int, ...]
    target: int
    final_phase: bool
    """Whether moves may reinforce (R6)."""
    positions: dict[str, str]
    """As of the end of the last round, as in `round_result`."""
    holders: dict[str, int]
    white: tuple[int, ...]
    claims: dict[Title, Claim]
    """Title to who claimed it, and when; in alphabetical order."""
    history: tuple[RoundResult, ...]
    """Every round's `round_result`."""
    title: str | None
    """The seat's own title."""
    position: str | None
    """Where this seat is now, its move of this round included; null for a seat with a title."""
    mp: int | None
    """What this seat may spend, after its own move; null for a seat with a title."""
    crests: dict[Title, int]
    """Crest to the round in which this seat got it first; in alphabetical order."""
    strengths: dict[str, int]
    """Hex to this seat's strength there, above 0 only."""
    spent: dict[str, int]
    """Hex to the MP that this seat has spent there and would get back, above 0 only."""
    reached: tuple[int, ...]
    """The hexes on which this seat has ended a move (R6)."""
    visits: tuple[Visit, ...]
    """This seat's visits to pillars. In the window `pillar` the last of them waits for its `asked`."""
    moves: tuple[Move, ...]
    """What this seat did in each round."""
    barred: int | None
    """The seat that this one may give nothing in the next move (R5)."""
    candidates: tuple[int, ...] | None
    """In a vote that this seat takes part in: those it may name."""
    revealed: Reveal | None
    """At the end: the host's secrets."""


class FightHostPlayer(Struct, frozen=True, kw_only=True):
    """One seat, for the host's eyes. The fields of `FightView` mean the same here."""

    position: str | None
    mp: int
    income: int
    """What it will be given at the end of this round: by Start, and by gifts."""
    crests: dict[Title, int]
    strengths: dict[str, int]
    spent: dict[str, int]
    reached: tuple[int, ...]
    visits: tuple[Visit, ...]
    barred: int | None


class FightHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included: for the host's eyes. The fields of `FightView` mean the same here."""

    setup: FightSetup
    phase: str
    """The open window, or `over`."""
    round: int
    challenge: tuple[int, ...]
    """Seats by their rank in the timed game, best first; none before it."""
    players: tuple[FightHostPlayer, ...]
    history: tuple[RoundResult, ...]
    claims: dict[Title, Claim]
    candidates: tuple[int, ...]
    voted_token: int | None
    """Who was voted a token (R9)."""
    eliminated: int | None


class FightDetail(View, frozen=True, kw_only=True):
    """The figures behind an outcome, of all seats."""

    claims: dict[Title, Claim]
    crests: dict[str, tuple[Title, ...]]
    strengths: dict[str, dict[str, int]]
