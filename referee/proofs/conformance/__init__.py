"""Checks of the contract that every game must satisfy, for our games and for yours: `check_game`.

The package is also a command: `python -m referee.proofs.conformance GAME`. It plays a game at random, seed by
seed, and tests every promise of the contract on the way:

1. the same journal gives the same bytes, under two PYTHONHASHSEEDs too (`playing`);
2. every default is legal, a window is open exactly while there is no outcome, the ranking partitions the seats,
   events are of declared types, answers of windows that answer at once commute (`playing`, `swaps`);
3. secret swap: two matches that sent a seat the same messages so far show it the same bytes (`swaps`);
4. sealed swap: the submissions of other seats change nothing before the window closes (`swaps`);
5. events that are declared anonymous are the same for every arrangement of the seats (`swaps`);
6. the game's text, commentary, legal actions and encoder, where it has them, work in every position (`parts`).

The author of a game may pass a forger of histories that a seat cannot distinguish from the true one (`Forge`).

These checks cannot detect that a game reveals too much by its events: an event is sent on purpose. Tests of the
rules must check which events a seat receives.
"""

from collections.abc import Sequence

from referee.proofs.conformance.parts import PartsExamination
from referee.proofs.conformance.playing import (
    ConformanceReport,
    GameExamination,
    check_repetition,
    guessed_options,
)
from referee.proofs.conformance.sitting import ConformanceError
from referee.proofs.conformance.swaps import ANONYMOUS, Forge, anonymous_tags
from referee.rules import AnyGame

__all__ = ["ConformanceError", "ConformanceReport", "check_game"]

REPEATED_SEEDS = 6
PARTS_SEEDS = 2
"""Number of matches per variant in which the parts beside the rules are used."""


def check_game(
    game: AnyGame, seeds: Sequence[int] = range(200), forge: Forge | None = None, *, shared: bool = False
) -> list[ConformanceReport]:
    """Play every seed in every variant, or share the seeds among the variants.

    Args:
        game: the game.
        seeds: the seeds of the matches.
        forge: a function that finds other histories that look the same to a seat; None: no histories are forged.
        shared: whether each seed is played in one variant only, two seeds at a time.

    Returns:
        A report for each variant.

    Raises:
        ConformanceError: a promise is broken, or too little was compared to test it.
    """
    examinations = [GameExamination(game, variant.name, forge) for variant in game.variants]
    for number, seed in enumerate(seeds):
        # Each variant gets two seeds in a row, because odd seeds have other options than even ones.
        turn = number // 2 % len(examinations)
        for examination in [examinations[turn]] if shared else examinations:
            examination.play(seed)
    for examination in examinations:
        examination.report.unopened = tuple(sorted(set(game.actions) - examination.opened))
        _check_enough(examination)
        _check_parts(examination.report, game, seeds[:PARTS_SEEDS])
    check_repetition(game, seeds[:REPEATED_SEEDS])
    return [examination.report for examination in examinations]


def _check_parts(report: ConformanceReport, game: AnyGame, seeds: Sequence[int]) -> None:
    """Check the parts beside the rules in one variant, and count the checks in its report."""
    parts = PartsExamination(game, report.variant)
    for seed in seeds:
        parts.play(seed, guessed_options(game, report.variant, seed) if seed % 2 else None)
    report.drawn, report.typed = parts.drawn, parts.typed
    report.commented, report.built, report.encoded = parts.commented, parts.built, parts.encoded


def _check_enough(examination: GameExamination) -> None:
    """Raise ConformanceError if too little was compared, or a window was never played."""
    report, variant = examination.report, examination.report.variant
    if report.twinned < report.matches:
        what = f"only {report.twinned} positions to compare in {report.matches} matches"
        raise ConformanceError("secret swap compares something", what, variant=variant)
    if anonymous_tags(examination.game) and not report.reseated:
        raise ConformanceError(ANONYMOUS, "no anonymous event was ever told", variant=variant)
    for window in sorted(examination.opened - examination.acted):
        what = f"no legal action was guessed in window {window}; give its form `Meta(examples=[…])`"
        raise ConformanceError("every window that opens is played", what, variant=variant)
