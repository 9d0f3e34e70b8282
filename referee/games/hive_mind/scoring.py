"""Points and feats of each seat, counted from all submissions; ranking, tokens, garnets and elimination."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from protocol.games.hive_mind import HiveMindDetail, Points
from protocol.games.hive_mind import layouts as hive_layouts
from protocol.games.hive_mind.board import CELLS
from protocol.words import Outcome
from referee.games.hive_mind.state import (
    ROUNDS,
    RULE_SETS,
    SEATS,
    HiveMindState,
    HiveMoves,
    HiveRuleSet,
    PointResults,
    masks,
    play_on,
)
from referee.rules import by_seat, ranked

RightGuess = tuple[int, int]
"""The seat that guessed a total right, and the seat that has this total."""
THREE_APART = 9
"""Number of hexes that three disjoint shapes cover."""
MASKS: dict[str | None, int] = {None: 0, **{shape.cells: shape.mask for shape in hive_layouts.SHAPES}}
"""Masks of hexes, indexed by shape; A is the lowest bit."""


class SeatCount(Struct):
    """A mutable count of one seat's points and feats; see `Points`."""

    hexes: int = 0
    threes: int = 0
    twos: int = 0
    guesses: int = 0
    blocks: int = 0
    feats: int = 0


def count(state: HiveMindState) -> tuple[tuple[Points, ...], tuple[int, ...]]:
    """Return each seat's points so far, without those for guessed scores, and its feats."""
    gauntlet = RULE_SETS[state.variant].gauntlet
    tallies = [SeatCount() for _ in range(SEATS)]
    for hive, values in state.values.items():
        _count_hive(values, play_on(state, hive), gauntlet, tallies)
    return _told(tallies)


def count_hive(values: str, play: HiveMoves, gauntlet: bool) -> list[SeatCount]:
    """Return the points of one Hive, indexed by seat, with feats if `gauntlet`."""
    tallies = [SeatCount() for _ in range(SEATS)]
    _count_hive(values, play, gauntlet, tallies)
    return tallies


def _count_hive(values: str, play: HiveMoves, gauntlet: bool, tallies: list[SeatCount]) -> None:
    """Add the points of one Hive to the tallies."""
    _count_hexes(values, play, tallies)
    _count_guesses(values, play, tallies)
    if gauntlet:
        _count_feats(values, play, tallies)


def summed(hives: Iterable[list[SeatCount]]) -> tuple[tuple[Points, ...], tuple[int, ...]]:
    """Return the points and feats of all Hives, indexed by seat."""
    sums = [SeatCount() for _ in range(SEATS)]
    for tallies in hives:
        for total, each in zip(sums, tallies, strict=True):
            total.hexes += each.hexes
            total.threes += each.threes
            total.twos += each.twos
            total.guesses += each.guesses
            total.blocks += each.blocks
            total.feats += each.feats
    return _told(sums)


def _told(tallies: Sequence[SeatCount]) -> tuple[tuple[Points, ...], tuple[int, ...]]:
    """Convert tallies to points and feats, indexed by seat."""
    points = [
        Points(
            hexes=each.hexes,
            threes=each.threes,
            twos=each.twos,
            guesses=each.guesses,
            blocks=each.blocks,
            score_guesses=0,
        )
        for each in tallies
    ]
    return tuple(points), tuple(map(attrgetter("feats"), tallies))


def score(points: Points) -> int:
    """Return a seat's total."""
    return points.hexes + points.guesses + points.blocks + points.score_guesses


def right_guesses(points: Sequence[Points], scores: Sequence[dict[str, int]]) -> list[RightGuess]:
    """Return all right guesses of totals, compared with the totals before any guess counts."""
    totals = by_seat(map(score, points))
    right: list[RightGuess] = []
    for guesser, guesses in enumerate(scores):
        for guessed, guess in guesses.items():
            if guess == totals[guessed]:
                right.append((guesser, int(guessed)))
    return right


def with_right_guesses(points: Sequence[Points], right: Sequence[RightGuess]) -> tuple[Points, ...]:
    """Return the points after each right guess: 1 more for the guesser, 2 less for the guessed seat."""
    net = [0] * SEATS
    for guesser, guessed in right:
        net[guesser] += 1
        net[guessed] -= 2
    return tuple([replace(each, score_guesses=change) for each, change in zip(points, net, strict=True)])


def values_now(values: str, play: HiveMoves) -> str:
    """Return a Hive's current values: 0 for scored hexes."""
    scored = 0
    for placements in play.placements[1:]:
        scored |= _odd(map(MASKS.__getitem__, placements))
    return "".join(["0" if scored >> at & 1 else value for at, value in enumerate(values)])


def _count_hexes(values: str, play: HiveMoves, tallies: list[SeatCount]) -> None:
    """Count rounds 2 and 3 of a Hive: an odd number of shapes scores a hex once; otherwise Blocks may count."""
    _, twos, threes = masks(values)
    scored = 0
    for number, placements in enumerate(play.placements[1:], 2):
        last = number == ROUNDS
        over = list(map(MASKS.__getitem__, placements))
        odd, alone = _odd(over) & ~scored, _alone(over)
        for seat, cells in enumerate(over):
            if mine := cells & odd:
                _gain(tallies[seat], mine, twos, threes)
                if last and seat in play.doublers:
                    _gain(tallies[seat], mine & alone, twos, threes)
        scored |= odd
        if last:
            _count_blocks(over, ~scored, play, tallies)


def _odd(over: Iterable[int]) -> int:
    """Return the hexes that an odd number of shapes covers."""
    odd = 0
    for cells in over:
        odd ^= cells
    return odd


def _alone(over: Sequence[int]) -> int:
    """Return the hexes that exactly one shape covers."""
    once = twice = 0
    for cells in over:
        twice |= once & cells
        once |= cells
    return once & ~twice


def _gain(tally: SeatCount, cells: int, twos: int, threes: int) -> None:
    two, three = (cells & twos).bit_count(), (cells & threes).bit_count()
    tally.hexes += cells.bit_count() + two + 2 * three
    tally.threes += 3 * three
    tally.twos += 2 * two


def _count_blocks(over: list[int], left: int, play: HiveMoves, tallies: list[SeatCount]) -> None:
    """Give each blocker a point per unscored hex that its shape and another doubling seat's shape cover."""
    for seat in play.blockers:
        doubled = 0
        for other in play.doublers:
            if other != seat:
                doubled |= over[other]
        tallies[seat].blocks += (over[seat] & doubled & left).bit_count()


def _count_guesses(values: str, play: HiveMoves, tallies: list[SeatCount]) -> None:
    """Give a point each for the right set of 1s, of 2s and of 3s (R12)."""
    ones, twos, threes = masks(values)
    for seat, guess in enumerate(play.guesses):
        if guess:
            guessed = masks(guess)
            tallies[seat].guesses += (guessed[0] == ones) + (guessed[1] == twos) + (guessed[2] == threes)


def _count_feats(values: str, play: HiveMoves, tallies: list[SeatCount]) -> None:
    """Count the four feats of `gauntlet`; a seat needs to have placed the shapes that a feat is about (R4)."""
    twos = masks(values)[1]
    every = (1 << len(CELLS)) - 1
    for placements in play.placements:
        over = list(map(MASKS.__getitem__, placements))
        alone, by_all_but_one = _alone(over), _alone([every & ~cells for cells in over])
        by_all = over[0] & over[1] & over[2] & over[3] & over[4]
        for seat, mine in enumerate(over):
            if mine:
                avoided = not by_all and by_all_but_one & ~mine != 0
                tallies[seat].feats += avoided + (not mine & ~alone) + (not mine & ~twos)
    if len(play.placements) == ROUNDS:
        for seat, shapes in enumerate(zip(*play.placements, strict=True)):
            covered = MASKS[shapes[0]] | MASKS[shapes[1]] | MASKS[shapes[2]]
            tallies[seat].feats += covered.bit_count() == THREE_APART


TOP = 3
"""Number of highest scores that win a garnet in `tempo-up`; seats tied with the last of them win one too."""
POINTS_A_GARNET = 5
WINNER_TOKENS = 2
"""Tokens of the winner; in `tempo-up` one of them goes to another seat."""


def settle(rules: HiveRuleSet, points: Sequence[Points], feats: Sequence[int]) -> PointResults:
    """Compute the result from all points and feats."""
    seats = range(SEATS)
    ranking = ranked(seats, lambda seat: standing(rules, points[seat]))
    feats_winner = None
    candidates = list(seats)
    if rules.gauntlet:
        most_feats = ranked(seats, lambda seat: (feats[seat], -points[seat].threes, -points[seat].twos))[0]
        feats_winner = _only(most_feats)
        with_token = (_only(ranking[0]), feats_winner)
        candidates = [seat for seat in seats if seat not in with_token]
    return PointResults(
        points=tuple(points),
        feats=tuple(feats) if rules.gauntlet else None,
        ranking=ranking,
        feats_winner=feats_winner,
        tied=ranked(candidates, lambda seat: order(points[seat]))[-1],
    )


def outcome(state: HiveMindState) -> Outcome | None:
    """Return the outcome; None until the eliminated seat is known."""
    result = state.result
    if result is None or state.eliminated is None:
        return None
    rules = RULE_SETS[state.variant]
    scores = by_seat(map(score, result.points))
    return Outcome(
        ranking=result.ranking,
        winners=result.winners,
        eliminated=state.eliminated,
        scores=scores,
        tokens=_tokens(rules, result, state.token_to),
        garnets=_garnets(rules, scores),
        reason="finished",
        detail=HiveMindDetail(points=by_seat(result.points), feats=feats_by_seat(result)),
    )


def feats_by_seat(result: PointResults) -> dict[str, int] | UnsetType:
    """Return the feats indexed by seat, for the reveal and the outcome; UNSET except in `gauntlet`."""
    return UNSET if result.feats is None else by_seat(result.feats)


def standing(rules: HiveRuleSet, points: Points) -> tuple[int, ...]:
    """Return the ranking key of a seat; higher is better (R11)."""
    return order(points) if rules.gauntlet else (*order(points), points.guesses)


def order(points: Points) -> tuple[int, ...]:
    """Return the elimination key of a seat, without guesses; the lowest is eliminated."""
    return score(points), points.threes, points.twos


def _only(seats: tuple[int, ...]) -> int | None:
    """Return the only seat of a group; None if several are tied, because tied seats win no token."""
    return seats[0] if len(seats) == 1 else None


def _tokens(rules: HiveRuleSet, result: PointResults, token_to: int | None) -> dict[str, int]:
    """Return the tokens won, indexed by seat. A winner that gives none away still has only one (R9)."""
    tokens = [0] * SEATS
    winner = _only(result.winners)
    if winner is not None:
        tokens[winner] += 1 if rules.gauntlet or rules.gives_token else WINNER_TOKENS
    for seat in (result.feats_winner, token_to):
        if seat is not None:
            tokens[seat] += 1
    return {str(seat): number for seat, number in enumerate(tokens) if number}


def _garnets(rules: HiveRuleSet, scores: dict[str, int]) -> dict[str, int]:
    if rules.garnets_for == "top scores":
        least = sorted(scores.values())[-TOP]
        return dict.fromkeys([seat for seat, total in scores.items() if total >= least], 1)
    return {seat: total // POINTS_A_GARNET for seat, total in scores.items() if total >= POINTS_A_GARNET}
