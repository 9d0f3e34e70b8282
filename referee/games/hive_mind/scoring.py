"""What points and feats a match has brought each seat, counted from what was submitted."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from protocol.games import hive_layouts
from protocol.games.hive_board import CELLS
from protocol.games.hive_mind import Points
from referee.games.hive_mind.hive import masks
from referee.games.hive_mind.state import ROUNDS, RULE_SETS, SEATS, HiveMindState, Play, play_on

RightGuess = tuple[int, int]
"""Who guessed a total right, and whose."""
THREE_APART = 9
"""How many hexes three shapes cover that share none."""
MASKS: dict[str | None, int] = {None: 0, **{shape.cells: shape.mask for shape in hive_layouts.SHAPES}}
"""A shape's hexes as bits, A the lowest."""


class Tally(Struct):
    """One seat's points and feats while they are being counted; see `Points`."""

    hexes: int = 0
    threes: int = 0
    twos: int = 0
    guesses: int = 0
    blocks: int = 0
    feats: int = 0


def count(state: HiveMindState) -> tuple[tuple[Points, ...], tuple[int, ...]]:
    """Each seat's points so far, those of the guessing of scores left out, and its feats."""
    gauntlet = RULE_SETS[state.variant].gauntlet
    tallies = [Tally() for _ in range(SEATS)]
    for hive, values in state.values.items():
        _count_hive(values, play_on(state, hive), gauntlet, tallies)
    return _told(tallies)


def count_hive(values: str, play: Play, gauntlet: bool) -> list[Tally]:
    """Return what one Hive brings each seat; feats only where they are asked for."""
    tallies = [Tally() for _ in range(SEATS)]
    _count_hive(values, play, gauntlet, tallies)
    return tallies


def _count_hive(values: str, play: Play, gauntlet: bool, tallies: list[Tally]) -> None:
    """Add what one Hive brings each seat."""
    _count_hexes(values, play, tallies)
    _count_guesses(values, play, tallies)
    if gauntlet:
        _count_feats(values, play, tallies)


def summed(hives: Iterable[list[Tally]]) -> tuple[tuple[Points, ...], tuple[int, ...]]:
    """The points and feats of all Hives, by seat."""
    sums = [Tally() for _ in range(SEATS)]
    for tallies in hives:
        for total, each in zip(sums, tallies, strict=True):
            total.hexes += each.hexes
            total.threes += each.threes
            total.twos += each.twos
            total.guesses += each.guesses
            total.blocks += each.blocks
            total.feats += each.feats
    return _told(sums)


def _told(tallies: Sequence[Tally]) -> tuple[tuple[Points, ...], tuple[int, ...]]:
    """Return points and feats as they are told, by seat."""
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
    return tuple(points), tuple([each.feats for each in tallies])


def score(points: Points) -> int:
    """A seat's total."""
    return points.hexes + points.guesses + points.blocks + points.score_guesses


def right_guesses(points: Sequence[Points], scores: Sequence[dict[str, int]]) -> list[RightGuess]:
    """Every right guess of a total, all on the totals before any of them counts."""
    totals = {str(seat): score(each) for seat, each in enumerate(points)}
    return [
        (guesser, int(guessed))
        for guesser, guesses in enumerate(scores)
        for guessed, guess in guesses.items()
        if guess == totals[guessed]
    ]


def with_right_guesses(points: Sequence[Points], right: Sequence[RightGuess]) -> tuple[Points, ...]:
    """The points once each right guess has brought its guesser 1 and cost the guessed 2."""
    net = [0] * SEATS
    for guesser, guessed in right:
        net[guesser] += 1
        net[guessed] -= 2
    return tuple(replace(each, score_guesses=net[seat]) for seat, each in enumerate(points))


def values_now(values: str, play: Play) -> str:
    """A Hive's values as they are: 0 where they have been scored."""
    scored = 0
    for placements in play.placements[1:]:
        scored |= _odd([MASKS[cells] for cells in placements])
    return "".join(["0" if scored >> at & 1 else value for at, value in enumerate(values)])


def _count_hexes(values: str, play: Play, tallies: list[Tally]) -> None:
    """Rounds 2 and 3 of a Hive: an odd number of shapes over a hex scores it, once; an even number may block."""
    _, twos, threes = masks(values)
    scored = 0
    for number, placements in enumerate(play.placements[1:], 2):
        last = number == ROUNDS
        over = [MASKS[cells] for cells in placements]
        odd, alone = _odd(over) & ~scored, _alone(over)
        for seat, cells in enumerate(over):
            if mine := cells & odd:
                _gain(tallies[seat], mine, twos, threes)
                if last and seat in play.doublers:
                    _gain(tallies[seat], mine & alone, twos, threes)
        scored |= odd
        if last:
            _count_blocks(over, ~scored, play, tallies)


def _odd(over: Sequence[int]) -> int:
    """The hexes that an odd number of shapes lies over."""
    odd = 0
    for cells in over:
        odd ^= cells
    return odd


def _alone(over: Sequence[int]) -> int:
    """The hexes that one shape lies over."""
    once = twice = 0
    for cells in over:
        twice |= once & cells
        once |= cells
    return once & ~twice


def _gain(tally: Tally, cells: int, twos: int, threes: int) -> None:
    two, three = (cells & twos).bit_count(), (cells & threes).bit_count()
    tally.hexes += cells.bit_count() + two + 2 * three
    tally.threes += 3 * three
    tally.twos += 2 * two


def _count_blocks(over: list[int], left: int, play: Play, tallies: list[Tally]) -> None:
    """Hexes that did not score: a point for each blocker over one if another seat over it doubled."""
    for seat in play.blockers:
        doubled = 0
        for other in play.doublers:
            if other != seat:
                doubled |= over[other]
        tallies[seat].blocks += (over[seat] & doubled & left).bit_count()


def _count_guesses(values: str, play: Play, tallies: list[Tally]) -> None:
    """A point each for the right set of 1s, of 2s and of 3s (R12)."""
    ones, twos, threes = masks(values)
    for seat, guess in enumerate(play.guesses):
        if guess:
            guessed = masks(guess)
            tallies[seat].guesses += (guessed[0] == ones) + (guessed[1] == twos) + (guessed[2] == threes)


def _count_feats(values: str, play: Play, tallies: list[Tally]) -> None:
    """The four feats of `gauntlet`; each needs the shapes it speaks of (R4)."""
    twos = masks(values)[1]
    every = (1 << len(CELLS)) - 1
    for placements in play.placements:
        over = [MASKS[cells] for cells in placements]
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
