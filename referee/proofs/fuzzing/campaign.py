"""The loop of the fuzzer: it plays scripts until enough windows are checked, or shrinks the first that fails."""

from msgspec import Struct

from referee.proofs.fuzzing.check import check
from referee.proofs.fuzzing.driver import play_all
from referee.proofs.fuzzing.generate import draw_script
from referee.proofs.fuzzing.script import Script
from referee.proofs.fuzzing.shrink import MOST_TRIES, Shrinker

BATCH = 20


class Finding(Struct, frozen=True):
    """A script in which the referee breaks a rule of time."""

    what: str
    """The place of the violation, the expected value, and the actual one."""
    script: Script
    drawn: str
    """The seed that generated the original script."""


class Tally(Struct):
    """Counts of the matches, windows and messages played so far."""

    matches: int = 0
    windows: int = 0
    messages: int = 0


def judge_script(script: Script) -> str | None:
    """Play a script, and return the first violation of the referee; None: there is none."""
    return check(script, play_all([script])[0])


def fuzz(seed: str, windows: int, tries: int = MOST_TRIES) -> tuple[Tally, Finding | None]:
    """Check at least that number of windows, or stop at the first violation.

    Args:
        seed: the seed of the scripts; the same seed gives the same scripts.
        windows: the number of windows to check.
        tries: the number of smaller scripts that are tried for a script that fails.

    Returns:
        The counts, and the violation if there is one.
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
    """Return the finding with a script as small as the shrinker can make it."""
    smallest = Shrinker(finding.script, lambda each: judge_script(each) is not None, tries).shrink()
    if smallest is finding.script:
        return finding
    return Finding(judge_script(smallest) or finding.what, smallest, finding.drawn)
