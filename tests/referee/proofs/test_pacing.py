"""What a bot can learn of how long another thinks, from when, in what order and at what size it hears things.

A thinker takes 1 ms or 900 ms for each of a thousand windows, as chance has it; a watcher guesses which, having
been told the truth about the first half of them. In virtual time, where there is no noise to hide behind.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Literal

import pytest

from protocol.codec import encode
from protocol.messages import Opened
from referee.proofs.fuzzing.driver import play_all
from referee.proofs.fuzzing.script import Planned, ReceivedMessage, Script, ScriptStep, Submits, When
from tests.long import mostly_slow

WINDOWS = 1_000
QUICK, SLOW = 1_000, 900_000
MAIN_MS = 1_000
THINKER, WATCHER = 0, 1
CHANCE = 0.5
SURE = 0.99
"""Not 1: where a window's number grows a digit, it looks like none before."""
NOISE = 0.075
"""How far from a half one guesser in a thousand comes by luck in 500 windows: 3.3 standard deviations."""

Pacing = Literal["prompt", "fixed"]
Seen = tuple[tuple[int, int], ...]
"""All a watcher hears of one window: each message's time after the one before, and its size."""


def thinking(seed: str) -> list[int]:
    rng = Random(seed)
    return [rng.choice((QUICK, SLOW)) for _ in range(WINDOWS)]


def match(pacing: Pacing, kind: str, thinks: Sequence[int], *, final: bool = True, watcher: int = 0) -> Script:
    """Both owe an answer to each window; in one of the kind `turn`, they do by turns."""
    both = kind != "turn"
    windows = [Planned(kind, (THINKER, WATCHER)) for _ in thinks] if both else []
    for _ in thinks if not both else ():
        windows += [Planned(kind, (THINKER,)), Planned(kind, (WATCHER,))]
    steps = []
    for number, ticks in enumerate(thinks):
        for seat, after in ((THINKER, ticks), (WATCHER, watcher)):
            when = When(edge="opened", seat=seat, number=number, ticks=after)
            steps.append(
                ScriptStep(when=when, seat=seat, act=Submits(window=number, final=final or seat == WATCHER))
            )
    return Script(
        seats=2, windows=tuple(windows), main_ms=MAIN_MS, pacing=pacing, hello=(0, 0), steps=tuple(steps)
    )


def heard(script: Script) -> tuple[ReceivedMessage, ...]:
    (trace,) = play_all([script])
    assert len(script.windows) == len(trace.windows)
    return trace.heard[WATCHER]


def windows_seen(messages: Sequence[ReceivedMessage]) -> list[Seen]:
    """Return the messages from each of the watcher's windows to the next, without their contents."""
    starts = [place for place, each in enumerate(messages) if isinstance(each.message, Opened)]
    seen = []
    for start, end in pairwise([*starts, len(messages)]):
        span = messages[start : end + 1]
        seen.append(tuple((b.at - a.at, len(encode(b.message))) for a, b in pairwise(span)))
    return seen


def sizes_apart_from_numbers(seen: Seen) -> Seen:
    """Ids grow a digit now and then, which tells how far the match is and nothing else."""
    return tuple((gap, size // 20) for gap, size in seen)


def guessed_right(seen: Sequence[Seen], truth: Sequence[int]) -> float:
    """Return the share of the second half's windows that can be predicted from the first half's truth."""
    half = len(truth) // 2
    known: dict[Seen, Counter[int]] = defaultdict(Counter)
    for each, ticks in zip(seen[:half], truth[:half], strict=True):
        known[each][ticks] += 1
    guesses = [known[each].most_common(1)[0][0] if known[each] else QUICK for each in seen[half:]]
    return sum(guess == ticks for guess, ticks in zip(guesses, truth[half:], strict=True)) / len(guesses)


def share(pacing: Pacing, kind: str, watcher: int = 0) -> float:
    truth = thinking(f"{kind}/{watcher}")
    seen = [
        sizes_apart_from_numbers(each) for each in windows_seen(heard(match(pacing, kind, truth, watcher=watcher)))
    ]
    if kind == "turn":
        # The thinker's next turn falls between two of the watcher's.
        seen, truth = seen[:-1], truth[1:]
    return guessed_right(seen, truth)


KINDS = pytest.mark.parametrize("kind", ["turn", "sealed", "asked"])


@pytest.mark.slow
@KINDS
def test_with_prompt_pacing_a_bot_sees_how_long_another_thought(kind: str) -> None:
    assert SURE <= share("prompt", kind)


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("watcher", mostly_slow(1, [500_000, 0, 999_999]))
def test_with_fixed_pacing_it_cannot_tell_1_ms_from_900_ms(kind: str, watcher: int) -> None:
    assert CHANCE == pytest.approx(share("fixed", kind, watcher), abs=NOISE)


@KINDS
@pytest.mark.parametrize("final", [True, False])
def test_with_fixed_pacing_every_byte_and_every_moment_is_the_same(kind: str, final: bool) -> None:
    """Not `alike`: nothing at all differs, so that no cleverer guesser could do better."""
    quick, slow, mixed = ([QUICK] * 50, [SLOW] * 50, thinking("mixed")[:50])
    told = [heard(match("fixed", kind, thinks, final=final)) for thinks in (quick, slow, mixed)]
    assert told[0] == told[1] == told[2]


@KINDS
def test_with_prompt_pacing_only_the_moments_differ(kind: str) -> None:
    """No message tells by its content, size or place that another has answered."""
    quick, slow = ([each.message for each in heard(match("prompt", kind, [t] * 50))] for t in (QUICK, SLOW))
    assert quick == slow
