"""What every game must satisfy, for us and for people who add one: `check_game`.

Also a command: `python -m referee.proofs.conformance GAME`. A game is played at random, seed by seed, and every
promise of its contract is put to the test on the way:

1. the same journal gives the same bytes, under two PYTHONHASHSEEDs too (`repetition`);
2. every default is legal, a window is open exactly while there is no outcome, the ranking partitions the seats,
   events are of declared types, answers of windows that answer at once commute (`promises`, `swaps`);
3. secret swap: two matches in which a seat was told the same so far show it the same, byte for byte (`swaps`);
4. sealed swap: what another seat submits changes nothing before the window closes (`swaps`);
5. events that are declared anonymous are the same, whoever sits where (`reseating`).

A game's author may lend a forger of histories that a seat cannot tell from the true one (`forging`).

What it cannot know is whether the game tells a seat too much in the first place: an event is told on purpose, and
counts as told. Which events a seat should get is for tests of the rules.
"""

from collections.abc import Sequence
from typing import Any

from referee.proofs.conformance.finding import ConformanceError
from referee.proofs.conformance.forging import Forge
from referee.proofs.conformance.playing import Examination, Report
from referee.proofs.conformance.repetition import check_repetition
from referee.proofs.conformance.reseating import ANONYMOUS, anonymous_tags
from referee.rules import Game

__all__ = ["ConformanceError", "Report", "check_game"]

REPEATED_SEEDS = 6


def check_game(
    game: Game[Any], seeds: Sequence[int] = range(200), forge: Forge | None = None, *, shared: bool = False
) -> list[Report]:
    """Plays every seed in every variant, or shares the seeds among them.

    Args:
        game: the game.
        seeds: of the matches that are played.
        forge: what finds other histories that look alike, if its author lends that.
        shared: whether each seed is played in one variant only, two seeds at a time.

    Returns:
        A report for each variant.

    Raises:
        ConformanceError: a promise is broken, or there was too little to compare to say that it holds.
    """
    examinations = [Examination(game, variant.name, forge) for variant in game.variants]
    for number, seed in enumerate(seeds):
        # In twos, because odd seeds have other options than even ones.
        turn = number // 2 % len(examinations)
        for examination in [examinations[turn]] if shared else examinations:
            examination.play(seed)
    for examination in examinations:
        examination.report.unopened = tuple(sorted(set(game.actions) - examination.opened))
        _check_enough(examination)
    check_repetition(game, seeds[:REPEATED_SEEDS])
    return [examination.report for examination in examinations]


def _check_enough(examination: Examination) -> None:
    """A test in which nothing happened proves nothing."""
    report, variant = examination.report, examination.report.variant
    if report.twinned < report.matches:
        what = f"only {report.twinned} positions to compare in {report.matches} matches"
        raise ConformanceError("secret swap compares something", what, variant=variant)
    if anonymous_tags(examination.game) and not report.reseated:
        raise ConformanceError(ANONYMOUS, "no anonymous event was ever told", variant=variant)
    for window in sorted(examination.opened - examination.acted):
        what = f"no legal action was guessed in window {window}; give its form `Meta(examples=[…])`"
        raise ConformanceError("every window that opens is played", what, variant=variant)
