"""The result of all points: ranking, tokens, garnets and elimination."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import UNSET, UnsetType

from protocol.games.hive_mind import HiveMindDetail, Points
from protocol.words import Outcome
from referee.games.hive_mind.scoring import score
from referee.games.hive_mind.state import RULE_SETS, SEATS, HiveMindState, Result, RuleSet

TOP = 3
"""Number of highest scores that win a garnet in `tempo-up`; seats tied with the last of them win one too."""
POINTS_A_GARNET = 5
WINNER_TOKENS = 2
"""Tokens of the winner; in `tempo-up` one of them goes to another seat."""


def settle(rules: RuleSet, points: Sequence[Points], feats: Sequence[int]) -> Result:
    """Compute the result from all points and feats."""
    seats = range(SEATS)
    ranking = _groups(seats, lambda seat: standing(rules, points[seat]))
    feats_winner = None
    if rules.gauntlet:
        feats_winner = _only(
            _groups(seats, lambda seat: (feats[seat], -points[seat].threes, -points[seat].twos))[0]
        )
    safe = (_only(ranking[0]), feats_winner) if rules.gauntlet else ()
    return Result(
        points=tuple(points),
        feats=tuple(feats) if rules.gauntlet else None,
        ranking=ranking,
        feats_winner=feats_winner,
        tied=_groups((seat for seat in seats if seat not in safe), lambda seat: order(points[seat]))[-1],
    )


def outcome(state: HiveMindState) -> Outcome | None:
    """Return the outcome; None until the eliminated seat is known."""
    result = state.result
    if result is None or state.eliminated is None:
        return None
    rules = RULE_SETS[state.variant]
    scores = {str(seat): score(points) for seat, points in enumerate(result.points)}
    return Outcome(
        ranking=result.ranking,
        winners=result.winners,
        eliminated=state.eliminated,
        scores=scores,
        tokens=_tokens(rules, result, state.token_to),
        garnets=_garnets(rules, scores),
        reason="finished",
        detail=HiveMindDetail(points=points_by_seat(result), feats=feats_by_seat(result)),
    )


def points_by_seat(result: Result) -> dict[str, Points]:
    """Return the points indexed by seat, for the reveal and the outcome."""
    return {str(seat): points for seat, points in enumerate(result.points)}


def feats_by_seat(result: Result) -> dict[str, int] | UnsetType:
    """Return the feats indexed by seat, for the reveal and the outcome; UNSET except in `gauntlet`."""
    return UNSET if result.feats is None else {str(seat): feats for seat, feats in enumerate(result.feats)}


def standing(rules: RuleSet, points: Points) -> tuple[int, ...]:
    """Return the ranking key of a seat; higher is better (R11)."""
    return order(points) if rules.gauntlet else (*order(points), points.guesses)


def order(points: Points) -> tuple[int, ...]:
    """Return the elimination key of a seat, without guesses; the lowest is eliminated."""
    return score(points), points.threes, points.twos


def _groups(seats: Iterable[int], key: Callable[[int], tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Group seats by equal keys, the highest first."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for seat in seats:
        groups.setdefault(key(seat), []).append(seat)
    return tuple(tuple(groups[each]) for each in sorted(groups, reverse=True))


def _only(seats: tuple[int, ...]) -> int | None:
    """Return the only seat of a group; None if several are tied, because tied seats win no token."""
    return seats[0] if len(seats) == 1 else None


def _tokens(rules: RuleSet, result: Result, token_to: int | None) -> dict[str, int]:
    """Return the tokens won, indexed by seat. A winner that gives none away still has only one (R9)."""
    tokens = [0] * SEATS
    winner = _only(result.winners)
    if winner is not None:
        tokens[winner] += 1 if rules.gauntlet or rules.gives_token else WINNER_TOKENS
    for seat in (result.feats_winner, token_to):
        if seat is not None:
            tokens[seat] += 1
    return {str(seat): number for seat, number in enumerate(tokens) if number}


def _garnets(rules: RuleSet, scores: dict[str, int]) -> dict[str, int]:
    if rules.garnets_for == "top scores":
        least = sorted(scores.values())[-TOP]
        return {seat: 1 for seat, total in scores.items() if total >= least}
    return {seat: total // POINTS_A_GARNET for seat, total in scores.items() if total >= POINTS_A_GARNET}
