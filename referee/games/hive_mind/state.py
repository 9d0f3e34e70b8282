"""What a match of Hive Mind is made of: the three rule sets, the state, and what the state says of one Hive.

A state keeps what was submitted and what was told; points are counted from that when they are asked for.
"""

from typing import Literal

from msgspec import Struct

from protocol.games.hive_mind import BUYING_ROUND, HiveMindEvent, Points, Round, Wallet

SEATS = 5
ROUNDS = 3
"""Rounds a Hive."""


class RuleSet(Struct, frozen=True, kw_only=True):
    """What the three variants do differently."""

    hives: tuple[str, ...]
    at_once: bool
    """Whether all Hives are in play together, not one after the other."""
    garnets: int
    """What each seat starts with unless the option says otherwise (R6)."""
    free_uses: int
    """Doubles that cost nothing, and as many Blocks."""
    double_price: int | None = None
    """Garnets; None where only the free uses are to be had."""
    block_price: int | None = None
    blocks_at_end: bool = False
    """Whether Blocks are told only just before the reveal."""
    gauntlet: bool = False
    """Whether scores are guessed, feats win a token, and who has a token cannot be eliminated; hex guesses then
    break no tie."""
    gives_token: bool = False
    """Whether the winner's second token is for another seat."""
    garnets_for: Literal["points", "top scores"] = "points"


RULE_SETS = {
    "recharged": RuleSet(
        hives=("Charge", "Marcer", "Zero"),
        at_once=True,
        garnets=0,
        free_uses=1,
        blocks_at_end=True,
    ),
    "tempo-up": RuleSet(
        hives=("1", "2", "3"),
        at_once=True,
        garnets=2,
        free_uses=1,
        double_price=2,
        block_price=1,
        gives_token=True,
        garnets_for="top scores",
    ),
    "gauntlet": RuleSet(
        hives=("1", "2"),
        at_once=False,
        garnets=8,
        free_uses=0,
        double_price=5,
        block_price=3,
        gauntlet=True,
    ),
}


class Result(Struct, frozen=True, kw_only=True):
    """What the points come to. Tuples of `points` and `feats` are indexed by seat."""

    points: tuple[Points, ...]
    feats: tuple[int, ...] | None
    ranking: tuple[tuple[int, ...], ...]
    feats_winner: int | None
    """Who wins the token for feats."""
    tied: tuple[int, ...]
    """The elimination candidate, or those between whom a tie must be broken."""

    @property
    def winners(self) -> tuple[int, ...]:
        """Those who stand first (R2)."""
        return self.ranking[0]

    @property
    def winner_breaks_tie(self) -> bool:
        """Whether the elimination is for the winner to decide (R3)."""
        return len(self.tied) > 1 and len(self.winners) == 1 and self.winners[0] not in self.tied


class HiveMindState(Struct, frozen=True, kw_only=True):
    """A match of Hive Mind between two windows. Tuples are indexed by seat unless they say otherwise."""

    variant: str
    garnets: tuple[int, ...]
    """What each seat started with."""
    values: dict[str, str]
    """Hive to its initial values."""
    rounds: tuple[tuple[Round, ...], ...] = ()
    """By round played: what each seat was taken to have submitted."""
    scores: tuple[dict[str, int], ...] | None = None
    """What each seat guessed of the others' totals, once that is done."""
    result: Result | None = None
    """Once there are no more points to be had."""
    token_asked: bool = False
    """Whether the winner has been asked whom to give a token."""
    token_to: int | None = None
    eliminated: int | None = None
    """Once it is settled, and with it the match."""
    told: tuple[tuple[HiveMindEvent, ...], ...] = ((),) * (SEATS + 1)
    """What each seat was told so far, and last what all were."""


class Turn(Struct, frozen=True):
    """Where a match is: the Hives in play, and which of their rounds it is, from 1."""

    hives: tuple[str, ...]
    number: int


class Play(Struct, frozen=True):
    """What was done on one Hive so far."""

    placements: tuple[tuple[str | None, ...], ...]
    """By round, then by seat: the shape's letters; None where it placed none."""
    doublers: tuple[int, ...]
    blockers: tuple[int, ...]
    guesses: tuple[str | None, ...]


def _turns(rules: RuleSet) -> tuple[Turn | None, ...]:
    """The round that is due, by how many are played; last None."""
    together = [rules.hives] if rules.at_once else [(hive,) for hive in rules.hives]
    return (*(Turn(hives, number) for hives in together for number in range(1, ROUNDS + 1)), None)


_TURNS = {variant: _turns(rules) for variant, rules in RULE_SETS.items()}


def turn(state: HiveMindState) -> Turn | None:
    """The round now due; None when all are played."""
    return _TURNS[state.variant][len(state.rounds)]


def rounds_on(state: HiveMindState, hive: str) -> tuple[tuple[Round, ...], ...]:
    """The rounds played so far in which a Hive was in play; of each, every seat's part."""
    rules = RULE_SETS[state.variant]
    if rules.at_once:
        return state.rounds
    first = ROUNDS * rules.hives.index(hive)
    return state.rounds[first : first + ROUNDS]


def play_on(state: HiveMindState, hive: str) -> Play:
    """What was done on a Hive so far."""
    rounds = rounds_on(state, hive)
    return Play(
        placements=tuple([tuple([action.place.get(hive) for action in actions]) for actions in rounds]),
        doublers=seats_that("double", rounds, hive),
        blockers=seats_that("block", rounds, hive),
        guesses=tuple([action.guess.get(hive) for action in rounds[-1]]) if rounds else (None,) * SEATS,
    )


def wallet(state: HiveMindState, seat: int) -> Wallet:
    """What a seat can pay with now (R6). Only the rounds in which it may buy count."""
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


def price(rules: RuleSet, action: Round) -> int:
    """The garnets that a round's Doubles and Blocks cost; free uses go first.

    Free uses are counted anew: where there are any, a match has only one round that can use them.
    """
    doubles = max(0, len(action.double) - rules.free_uses) * (rules.double_price or 0)
    return doubles + max(0, len(action.block) - rules.free_uses) * (rules.block_price or 0)


def seats_that(
    what: Literal["double", "block"], rounds: tuple[tuple[Round, ...], ...], hive: str
) -> tuple[int, ...]:
    """The seats that double or block on a Hive, given the rounds in which it was in play."""
    buying = rounds[BUYING_ROUND - 1] if len(rounds) >= BUYING_ROUND else ()
    return tuple([seat for seat, action in enumerate(buying) if hive in getattr(action, what)])
