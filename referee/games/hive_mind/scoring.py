"""What points and feats a match has brought each seat, counted from what was submitted."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from protocol.games.hive_board import CELLS
from protocol.games.hive_mind import Points
from referee.games.hive_mind.hive import where
from referee.games.hive_mind.state import ROUNDS, RULE_SETS, SEATS, HiveMindState, Play, play_on

RightGuess = tuple[int, int]
"""Who guessed a total right, and whose."""
THREE_APART = 9
"""How many hexes three shapes cover that share none."""


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
    tallies = [Tally() for _ in range(SEATS)]
    for hive, values in state.values.items():
        play = play_on(state, hive)
        _count_hexes(values, play, tallies)
        _count_guesses(values, play, tallies)
        if RULE_SETS[state.variant].gauntlet:
            _count_feats(values, play, tallies)
    points = tuple(
        Points(
            hexes=tally.hexes,
            threes=tally.threes,
            twos=tally.twos,
            guesses=tally.guesses,
            blocks=tally.blocks,
            score_guesses=0,
        )
        for tally in tallies
    )
    return points, tuple(tally.feats for tally in tallies)


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
    left = list(values)
    for placements in play.placements[1:]:
        for at, cell in enumerate(CELLS):
            if len(seats_over(cell, placements)) % 2:
                left[at] = "0"
    return "".join(left)


def seats_over(cell: str, placements: Sequence[str | None]) -> list[int]:
    """The seats whose shapes lie over a hex."""
    return [seat for seat, cells in enumerate(placements) if cells and cell in cells]


def _count_hexes(values: str, play: Play, tallies: list[Tally]) -> None:
    """Rounds 2 and 3 of a Hive: an odd number of shapes over a hex scores it, once; an even number may block."""
    left = dict(zip(CELLS, map(int, values), strict=True))
    for number, placements in enumerate(play.placements[1:], 2):
        last = number == ROUNDS
        for cell, value in left.items():
            over = seats_over(cell, placements) if value else []
            if len(over) % 2:
                alone_twice = last and len(over) == 1 and over[0] in play.doublers
                for seat in over:
                    _gain(tallies[seat], value, 2 if alone_twice else 1)
                left[cell] = 0
            elif last and over:
                _count_blocks(over, play, tallies)


def _gain(tally: Tally, value: int, times: int) -> None:
    tally.hexes += times * value
    match value:
        case 3:
            tally.threes += times * value
        case 2:
            tally.twos += times * value


def _count_blocks(over: list[int], play: Play, tallies: list[Tally]) -> None:
    """A hex that did not score: a point for each blocker over it if another seat over it doubled."""
    for seat in over:
        if seat in play.blockers and any(other in play.doublers for other in over if other != seat):
            tallies[seat].blocks += 1


def _count_guesses(values: str, play: Play, tallies: list[Tally]) -> None:
    """A point each for the right set of 1s, of 2s and of 3s (R12)."""
    for seat, guess in enumerate(play.guesses):
        if guess:
            tallies[seat].guesses += sum(where(guess, digit) == where(values, digit) for digit in "123")


def _count_feats(values: str, play: Play, tallies: list[Tally]) -> None:
    """The four feats of `gauntlet`; each needs the shapes it speaks of (R4)."""
    twos = where(values, "2")
    for placements in play.placements:
        over = {cell: seats_over(cell, placements) for cell in CELLS}
        by_all = any(len(seats) == SEATS for seats in over.values())
        by_four = [seats for seats in over.values() if len(seats) == SEATS - 1]
        for seat, cells in enumerate(placements):
            if cells:
                avoided = not by_all and any(seat not in seats for seats in by_four)
                alone = all(len(over[cell]) == 1 for cell in cells)
                tallies[seat].feats += avoided + alone + all(cell in twos for cell in cells)
    if len(play.placements) == ROUNDS:
        for seat, shapes in enumerate(zip(*play.placements, strict=True)):
            tallies[seat].feats += len(set("".join(filter(None, shapes)))) == THREE_APART
