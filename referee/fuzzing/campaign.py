"""Plays script after script until so many windows have been judged, or one is found wrong and made small."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from referee.fuzzing.check import check
from referee.fuzzing.driver import play_all
from referee.fuzzing.generate import draw_script
from referee.fuzzing.script import Script
from referee.fuzzing.shrink import Shrinker

BATCH = 20
"""Matches in one run of trio's loop."""


class Finding(Struct, frozen=True):
    """A script by which the referee breaks a rule of time."""

    what: str
    """The rule's place, what should have been, and what was."""
    script: Script
    drawn: str
    """The seed it was drawn from."""


class Tally(Struct):
    """What has been played so far."""

    matches: int = 0
    windows: int = 0
    messages: int = 0
    """Said by bots."""


def judge_script(script: Script) -> str | None:
    """Plays a script; what is wrong with the referee by it, if anything is."""
    return check(script, play_all([script])[0])


def fuzz(seed: str, windows: int, told: Callable[[Tally], Any] = lambda _: None) -> tuple[Tally, Finding | None]:
    """Judges at least so many windows, or up to the first that is wrong.

    Args:
        seed: the same gives the same scripts.
        windows: how many.
        told: called after each batch of matches.
    """
    tally = Tally()
    while tally.windows < windows:
        seeds = [f"{seed}/{tally.matches + number}" for number in range(BATCH)]
        scripts = [draw_script(each) for each in seeds]
        for drawn, script, trace in zip(seeds, scripts, play_all(scripts), strict=True):
            tally.matches += 1
            tally.windows += len(trace.windows)
            tally.messages += len(trace.did)
            what = check(script, trace)
            if what is not None:
                return tally, shrunk(script, what, drawn)
        told(tally)
    return tally, None


def shrunk(script: Script, what: str, drawn: str) -> Finding:
    """The finding, as small as it can be made."""
    if judge_script(script) is None:  # It fails after other matches only: keep it as it is.
        return Finding(what, script, drawn)
    smallest = Shrinker(script, lambda each: judge_script(each) is not None).shrink()
    return Finding(judge_script(smallest) or what, smallest, drawn)
