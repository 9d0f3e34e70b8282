"""Schedules of two seats played to their end in no time, the better bot winning or luck deciding."""

from collections.abc import Callable
from hashlib import sha256

from arena.schedule.blocks import Block, ScheduledMatch
from arena.schedule.contract import Schedule, next_round
from arena.schedule.fields import ScheduleSpec
from arena.statistics.standings import CountedMatch
from protocol.refusals import Conduct
from tests.arena.stand_in import outcome

Decide = Callable[[ScheduledMatch], float]
"""Points of the first seat."""
RANKINGS = {1.0: ((0,), (1,)), 0.0: ((1,), (0,)), 0.5: ((0, 1),)}


def lower_wins(match: ScheduledMatch) -> float:
    """Return a result in which the bot with the lower number is better."""
    one, other = match.entrants
    return float(one < other)


def by_lot(match: ScheduledMatch) -> float:
    """As the match's name has it."""
    return sha256(match.name.encode()).digest()[0] % 3 / 2


def all_tied(match: ScheduledMatch) -> float:
    """Nobody ever wins."""
    return 0.5


def result(match: ScheduledMatch, decide: Decide) -> CountedMatch:
    """Return a match with this result."""
    return CountedMatch(
        block=match.block,
        seating=match.seating,
        entrants=match.entrants,
        outcome=outcome(*RANKINGS[decide(match)]),
        conduct=(Conduct.OK, Conduct.OK),
        charged_us=(0, 0),
        windows=(1, 1),
        defaults=(0, 0),
        refused=(0, 0),
    )


def played_out(
    schedule: Schedule, decide: Decide = by_lot, seed: int = 1
) -> tuple[list[list[Block]], list[CountedMatch]]:
    """All rounds, each asked for anew from the results so far, and all results."""
    rounds: list[list[Block]] = []
    results: list[CountedMatch] = []
    while blocks := next_round(schedule.rounds(seed), results):
        rounds.append(blocks)
        results += [result(match, decide) for block in blocks for match in block.matches]
    return rounds, results


def spec(
    format_: str, entrants: int, *, blocks: int = 1, rounds: int | None = None, filled: bool = False
) -> ScheduleSpec:
    """Return a tournament of two seats."""
    return ScheduleSpec(format=format_, blocks=blocks, rounds=rounds, entrants=entrants, seats=2, filled=filled)


def pairs(rounds: list[list[Block]]) -> list[list[tuple[int, ...]]]:
    """Who meets whom in each round, the lower number first."""
    return [[tuple(sorted(block.entrants)) for block in blocks] for blocks in rounds]
