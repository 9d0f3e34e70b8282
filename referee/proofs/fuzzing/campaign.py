"""Plays script after script until so many windows have been judged, or one is found wrong and made small."""

from msgspec import Struct

from referee.proofs.fuzzing.check import check
from referee.proofs.fuzzing.driver import play_all
from referee.proofs.fuzzing.generate import draw_script
from referee.proofs.fuzzing.script import Script
from referee.proofs.fuzzing.shrink import MOST_TRIES, Shrinker

BATCH = 20


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


def judge_script(script: Script) -> str | None:
    """Plays a script; what is wrong with the referee by it, if anything is."""
    return check(script, play_all([script])[0])


def fuzz(seed: str, windows: int, tries: int = MOST_TRIES) -> tuple[Tally, Finding | None]:
    """Judges at least so many windows, or up to the first that is wrong.

    Args:
        seed: the same gives the same scripts.
        windows: how many.
        tries: how many smaller scripts are tried for one that is found wrong.
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
                return tally, shrunk(Finding(what, script, drawn), tries)
    return tally, None


def shrunk(finding: Finding, tries: int = MOST_TRIES) -> Finding:
    """The finding, as small as it can be made."""
    smallest = Shrinker(finding.script, lambda each: judge_script(each) is not None, tries).shrink()
    if smallest is finding.script:
        return finding
    return Finding(judge_script(smallest) or finding.what, smallest, finding.drawn)
