"""Hive Mind's three rule sets, the state of a match, the values of a Hive, and queries about it.

A state stores submissions and events; points are counted from them on demand.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, compress, filterfalse, product, starmap
from random import Random
from typing import Literal

from msgspec import Struct

from protocol.games.hive_mind import BUYING_ROUND, HiveMindEvent, Points, Round, Wallet
from protocol.games.hive_mind.board import CELLS, SHAPES
from referee.rules import BadSetupError, choice, sample

SEATS = 5
ROUNDS = 3
"""Rounds per Hive."""


class HiveRuleSet(Struct, frozen=True, kw_only=True):
    """The differences between the three variants."""

    hives: tuple[str, ...]
    at_once: bool
    """True if all Hives are in play together; False: one after the other."""
    garnets: int
    """Default number of garnets of each seat at the start (R6)."""
    free_uses: int
    """Number of free Doubles, and of free Blocks."""
    double_price: int | None = None
    """Price in garnets; None if only free uses are allowed."""
    block_price: int | None = None
    blocks_at_end: bool = False
    """True if Blocks are revealed only just before the reveal."""
    gauntlet: bool = False
    """True if scores are guessed, feats win a token, tokens prevent elimination, and hex guesses break no tie."""
    gives_token: bool = False
    """True if the winner's second token is for another seat."""
    garnets_for: Literal["points", "top scores"] = "points"


RULE_SETS = {
    "recharged": HiveRuleSet(
        hives=("Charge", "Marcer", "Zero"),
        at_once=True,
        garnets=0,
        free_uses=1,
        blocks_at_end=True,
    ),
    "tempo-up": HiveRuleSet(
        hives=("1", "2", "3"),
        at_once=True,
        garnets=2,
        free_uses=1,
        double_price=2,
        block_price=1,
        gives_token=True,
        garnets_for="top scores",
    ),
    "gauntlet": HiveRuleSet(
        hives=("1", "2"),
        at_once=False,
        garnets=8,
        free_uses=0,
        double_price=5,
        block_price=3,
        gauntlet=True,
    ),
}


class PointResults(Struct, frozen=True, kw_only=True):
    """The result of all points. `points` and `feats` are indexed by seat."""

    points: tuple[Points, ...]
    feats: tuple[int, ...] | None
    ranking: tuple[tuple[int, ...], ...]
    feats_winner: int | None
    """The seat that wins the token for feats."""
    tied: tuple[int, ...]
    """The elimination candidate, or several seats whose tie must be broken."""

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats ranked first (R2)."""
        return self.ranking[0]

    @property
    def winner_breaks_tie(self) -> bool:
        """True if the winner decides the elimination (R3)."""
        return len(self.tied) > 1 and len(self.winners) == 1 and self.winners[0] not in self.tied


class HiveMindState(Struct, frozen=True, kw_only=True):
    """A match of Hive Mind between two windows. Tuples are indexed by seat unless noted otherwise."""

    variant: str
    garnets: tuple[int, ...]
    """Garnets of each seat at the start."""
    values: dict[str, str]
    """Initial values, indexed by Hive."""
    rounds: tuple[tuple[Round, ...], ...] = ()
    """Resolved actions, indexed by round, then by seat."""
    scores: tuple[dict[str, int], ...] | None = None
    """Each seat's guesses of the others' totals; None until they are submitted."""
    result: PointResults | None = None
    """None until all points are known."""
    token_asked: bool = False
    """True once the window `give_token` has closed."""
    token_to: int | None = None
    eliminated: int | None = None
    """The eliminated seat; None until the match is over."""
    told: tuple[tuple[HiveMindEvent, ...], ...] = ((),) * (SEATS + 1)
    """Events so far, indexed by seat; the last tuple has the public events."""


class OpenHives(Struct, frozen=True):
    """The Hives in play and the number of their round, from 1."""

    hives: tuple[str, ...]
    number: int


class HiveMoves(Struct, frozen=True):
    """All moves on one Hive so far."""

    placements: tuple[tuple[str | None, ...], ...]
    """Letters of the placed shapes, indexed by round, then by seat; None: no shape."""
    doublers: tuple[int, ...]
    blockers: tuple[int, ...]
    guesses: tuple[str | None, ...]


def _turns(rules: HiveRuleSet) -> tuple[OpenHives | None, ...]:
    """Return all rounds of a match in order, then None; indexed by number of rounds played."""
    together = [rules.hives] if rules.at_once else [(hive,) for hive in rules.hives]
    return (*starmap(OpenHives, product(together, range(1, ROUNDS + 1))), None)


_TURNS = {variant: _turns(rules) for variant, rules in RULE_SETS.items()}


def turn(state: HiveMindState) -> OpenHives | None:
    """Return the next round; None if all are played."""
    return _TURNS[state.variant][len(state.rounds)]


def rounds_on(state: HiveMindState, hive: str) -> tuple[tuple[Round, ...], ...]:
    """Return all seats' actions in the rounds so far in which a Hive was in play."""
    rules = RULE_SETS[state.variant]
    if rules.at_once:
        return state.rounds
    first = ROUNDS * rules.hives.index(hive)
    return state.rounds[first : first + ROUNDS]


def _placements(actions: Sequence[Round], hive: str) -> tuple[str | None, ...]:
    return tuple([action.place.get(hive) for action in actions])


def play_on(state: HiveMindState, hive: str) -> HiveMoves:
    """Return all moves on a Hive so far."""
    rounds = rounds_on(state, hive)
    return HiveMoves(
        placements=tuple([_placements(actions, hive) for actions in rounds]),
        doublers=seats_that("double", rounds, hive),
        blockers=seats_that("block", rounds, hive),
        guesses=tuple([action.guess.get(hive) for action in rounds[-1]]) if rounds else (None,) * SEATS,
    )


def wallet(state: HiveMindState, seat: int) -> Wallet:
    """Return the seat's garnets, free uses and prices (R6). Only rounds that allow purchases change them."""
    rules, garnets = RULE_SETS[state.variant], state.garnets[seat]
    doubles = blocks = rules.free_uses
    for actions in state.rounds[BUYING_ROUND - 1 :: ROUNDS]:
        action = actions[seat]
        if action.double or action.block:
            garnets -= price(rules, action)
            doubles -= len(action.double)
            blocks -= len(action.block)
    return Wallet(
        garnets=garnets,
        free_doubles=max(0, doubles),
        free_blocks=max(0, blocks),
        double_price=rules.double_price,
        block_price=rules.block_price,
    )


def price(rules: HiveRuleSet, action: Round) -> int:
    """Return the price of a round's Doubles and Blocks in garnets, after free uses.

    All free uses are available each time: a variant with free uses has only one round that allows them.
    """
    doubles = max(0, len(action.double) - rules.free_uses) * (rules.double_price or 0)
    return doubles + max(0, len(action.block) - rules.free_uses) * (rules.block_price or 0)


def seats_that(
    what: Literal["double", "block"], rounds: tuple[tuple[Round, ...], ...], hive: str
) -> tuple[int, ...]:
    """Return the seats that double or block on a Hive, from the rounds in which it was in play."""
    buying = rounds[BUYING_ROUND - 1] if len(rounds) >= BUYING_ROUND else ()
    return tuple([seat for seat, action in enumerate(buying) if hive in getattr(action, what)])


ONES, TWOS, THREES = 5, 4, 3
"""Number of hexes of a Hive with the value 1, 2 and 3."""
# Three hexes that are all connected are a shape.
THREES_ALLOWED = tuple(filterfalse(SHAPES.__contains__, map("".join, combinations(CELLS, THREES))))
"""All legal positions of the three 3s."""


@lru_cache(maxsize=2**16)
def masks(values: str) -> tuple[int, int, int]:
    """Return masks of the hexes with the value 1, 2 and 3; A is the lowest bit."""
    ones = twos = threes = 0
    for at, digit in enumerate(values):
        if digit == "1":
            ones |= 1 << at
        elif digit == "2":
            twos |= 1 << at
        else:
            threes |= 1 << at
    return ones, twos, threes


def total(values: str, cells: int) -> int:
    """Return the sum of the values of the hexes in the mask `cells`."""
    _, twos, threes = masks(values)
    return cells.bit_count() + (cells & twos).bit_count() + 2 * (cells & threes).bit_count()


def where(values: str, value: str) -> str:
    """Return the hexes that have a value."""
    return "".join(compress(CELLS, map(value.__eq__, values)))


def draw_values(dice: Random) -> str:
    """Draw the values of a Hive; all legal layouts are equally likely."""
    threes = choice(dice, THREES_ALLOWED)
    values = dict.fromkeys(CELLS, "1")
    values.update(dict.fromkeys(threes, "3"))
    values.update(dict.fromkeys(sample(dice, [cell for cell in CELLS if cell not in threes], TWOS), "2"))
    return "".join(values.values())


def check_values(values: str, place: str) -> None:
    """Raise BadSetupError with `place` and the reason if these values are illegal."""
    if len(values) != len(CELLS):
        raise BadSetupError(f"{place}: {len(values)} values; a Hive has {len(CELLS)}")
    for cell, digit in zip(CELLS, values, strict=True):
        if digit not in "123":
            raise BadSetupError(f"{place}: the value of {cell} is {digit!r}; it must be 1, 2 or 3")
    for digit, wanted in (("1", ONES), ("2", TWOS), ("3", THREES)):
        if values.count(digit) != wanted:
            raise BadSetupError(f"{place}: {values.count(digit)} hexes of value {digit}; there must be {wanted}")
    threes = where(values, "3")
    if threes in SHAPES:
        raise BadSetupError(f"{place}: the three 3s, on {threes}, are all connected")
