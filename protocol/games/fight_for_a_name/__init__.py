"""Words of The Fight For a Name: options, setup, actions, events, views. Rules: docs/games/fight_for_a_name.md.

Seats that are keys are text (`"0"`), and so are the numbers of hexes if they are keys or appear together with
names of other places; in lists of numbers and of seats both are numbers.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from protocol.words import Action, Audience, Event, Options, Setup, View

# fmt: off
# A type checker sees plain numbers and text, as in views; values are checked at run time.
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
    """Settings that a host may change."""

    rounds: Annotated[int, Meta(ge=1, le=1_000, examples=[1, 2, 3, 4, 6, 12])] = 12
    """Rounds after which the match ends."""


class Banner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The colours of a title's banner: one hex of the body's, two of the partings'."""

    body: Colour
    parting: Colour


class Puzzle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """The timed game: find the numbers that add up to the target (R7)."""

    numbers: tuple[int, ...]
    target: int


class FightSetup(Setup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The host's secrets, and the hexes' colours and the puzzle, which are shown to all."""

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
    """MP put on each hex (R6)."""
    give: dict[SeatKey, Gift] = {}  # noqa: RUF012 - as above
    """MP given to each seat (R5)."""


class Ask(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `pillar`: the six titles shown, each put to one use (R3)."""

    body: tuple[Title, Colour]
    parting: tuple[Title, Colour]
    other: tuple[Title, Colour]
    neither: tuple[Title, Title]
    crest: Title


class Vote(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Windows `token_vote`, `elimination_vote` and `justice`: one of the candidates, or none."""

    seat: Seat | None


class BoardShown(Event, frozen=True, kw_only=True, tag="board"):
    """The hexes' colours, sent at the start."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    colours: dict[HexKey, Colour]


class ChallengeShown(Event, frozen=True, kw_only=True, tag="challenge"):
    """The puzzle of the timed game, sent at the start."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    numbers: tuple[int, ...]
    target: int


class PillarShows(Event, frozen=True, kw_only=True, tag="pillar_shows"):
    """The six titles of a pillar, sent to its visitor."""

    pillar: Pillar
    titles: tuple[Title, ...]


class Crowded(Event, frozen=True, kw_only=True, tag="crowded"):
    """Notice to each visitor of a pillar with too many visitors that it gets nothing (R2)."""

    pillar: Pillar


class PillarAnswer(Event, frozen=True, kw_only=True, tag="pillar_answer"):
    """The titles' answers, sent to a pillar's visitor (R3)."""

    body: bool
    parting: bool
    other: Colour
    neither: tuple[Colour, Colour]
    crest: Title


class RoundResult(Event, frozen=True, kw_only=True, tag="round_result"):
    """Public results at the end of a round (R11)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    round: int
    positions: dict[str, str]
    """Seat to `Start`, a hex's number or a pillar; seats with titles are left out."""
    holders: dict[str, int]
    """Hex to the seat that holds it; hexes without a holder are left out."""
    white: tuple[int, ...]
    claimed: dict[str, int]
    """Title to the seat that claimed it in this round."""
    gifts: dict[str, int]
    """Seat to the MP that it received as gifts in this round."""


class Standing(Event, frozen=True, kw_only=True, tag="standing"):
    """Private state of each seat on the board, sent to it at the end of a round."""

    mp: int
    crests: tuple[Title, ...]
    strengths: dict[str, int]


class Claim(Struct, frozen=True, kw_only=True, gc=False):
    """Seat that claimed a title, and the round of the claim."""

    seat: int
    round: int


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The host's secrets, sent to all at the end."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    titles: dict[Title, Banner]
    pillars: dict[Pillar, tuple[Title, ...]]
    challenge: tuple[int, ...]
    """Seats by their rank in the timed game, best first."""
    claims: dict[Title, Claim]


FightEvent = BoardShown | ChallengeShown | PillarShows | Crowded | PillarAnswer | RoundResult | Standing | Reveal


class Visit(Struct, frozen=True, kw_only=True, gc=False):
    """A seat's own visit to a pillar: its question and all answers."""

    round: int
    pillar: Pillar
    titles: tuple[Title, ...]
    """The six titles shown; none if the pillar was crowded (R2)."""
    asked: Ask | None = None
    answer: PillarAnswer | None = None


class Candidates(Struct, frozen=True, kw_only=True, gc=False):
    """Public content of a vote's window for its voters."""

    candidates: tuple[int, ...]


class FightView(View, frozen=True, kw_only=True):
    """Knowledge of one seat, or of a spectator (`seat` null): its events and its own actions."""

    seat: int | None
    round: int
    """The round being played, counting from 1; 0 before the first; at the end, the last."""
    rounds: int
    """The option: the match's last round."""
    colours: dict[HexKey, Colour]
    numbers: tuple[int, ...]
    target: int
    final_phase: bool
    """True if moves may reinforce (R6)."""
    positions: dict[str, str]
    """Positions at the end of the last round, as in `round_result`."""
    holders: dict[str, int]
    white: tuple[int, ...]
    claims: dict[Title, Claim]
    """Title to its claim, in alphabetical order."""
    history: tuple[RoundResult, ...]
    """Every round's `round_result`."""
    title: str | None
    """The seat's own title."""
    position: str | None
    """Current position of this seat, its move of this round included; null for a seat with a title."""
    mp: int | None
    """MP that this seat may spend, after its own move; null for a seat with a title."""
    crests: dict[Title, int]
    """Crest to the round in which this seat got it first; in alphabetical order."""
    strengths: dict[str, int]
    """Hex to this seat's strength there, above 0 only."""
    spent: dict[str, int]
    """Hex to the MP that this seat has spent there and would get back, above 0 only."""
    reached: tuple[int, ...]
    """The hexes on which this seat has ended a move (R6)."""
    visits: tuple[Visit, ...]
    """This seat's visits to pillars. In the window `pillar` the last one has no `asked` yet."""
    moves: tuple[Move, ...]
    """This seat's move in each round."""
    barred: int | None
    """Seat that this one may not give to in the next move (R5)."""
    candidates: tuple[int, ...] | None
    """Seats that this one may vote for; null outside a vote that it takes part in."""
    revealed: Reveal | None
    """The host's secrets, once they are revealed at the end."""


class FightHostPlayer(Struct, frozen=True, kw_only=True):
    """One seat's state, for the host. The fields of `FightView` mean the same here."""

    position: str | None
    mp: int
    income: int
    """MP that it will receive at the end of this round, from Start and from gifts."""
    crests: dict[Title, int]
    strengths: dict[str, int]
    spent: dict[str, int]
    reached: tuple[int, ...]
    visits: tuple[Visit, ...]
    barred: int | None


class FightHostView(View, frozen=True, kw_only=True):
    """The whole match, secrets included, for the host. The fields of `FightView` mean the same here."""

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
    """Seat that won the vote for a token (R9)."""
    eliminated: int | None


class FightDetail(View, frozen=True, kw_only=True):
    """Figures behind an outcome, of all seats."""

    claims: dict[Title, Claim]
    crests: dict[str, tuple[Title, ...]]
    strengths: dict[str, dict[str, int]]
