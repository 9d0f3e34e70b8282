"""What the arena and its workers say to each other arrives as it was said."""

import errno
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from arena.workers.protocol import Answer, Done, MatchOrder, decoded, encoded, error_of, failed, order
from referee.bot_folder.manifest import find_bot
from referee.host.plan import Plan
from referee.host.players import SandboxedBot
from referee.match.seat_report import SeatReport, spread_of
from referee.sandbox import SandboxError
from referee.transcript.chain import TranscriptError
from tests.arena.stand_in import result

PLAN = Plan(match="m", game="mist", variant="v", seed=2**52)


@pytest.mark.parametrize(("options", "setup"), [(None, None), (Raw(b'{"max_turns":3}'), Raw(b'{"a":[1]}'))])
def test_an_order_arrives_with_all_that_belongs_to_its_plan(options: Raw | None, setup: Raw | None) -> None:
    plan = Plan(match="m", game="mist", variant="v", seed=1, options=options, setup=setup)
    bots = [SandboxedBot(find_bot("mist_random")), SandboxedBot(find_bot("mist_hunter"))]
    came = decoded(encoded(order(7, plan, bots, Path("/t/x.jsonl"))), MatchOrder)
    assert (7, Path("/t/x.jsonl")) == (came.number, came.transcript)
    assert plan == came.whole_plan()
    assert bots == list(decoded(came.players, tuple[SandboxedBot, ...]))


def test_a_result_arrives_as_it_was() -> None:
    bad = SeatReport(loss="killed: memory over 64 MB", spread=spread_of([1, 500]), peak_bytes=64)
    played = replace(result(PLAN, ("a", "b"), Path("t")), reports=(bad, SeatReport()))
    done = Done(number=1, result=played)
    assert done == decoded(encoded(done), Answer)


def full_disk() -> TranscriptError:
    error = TranscriptError("cannot be written: No space left on device", Path("/t/x"))
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    return error


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (SandboxError("no sandbox: x"), SandboxError, "no sandbox: x"),
        (full_disk(), TranscriptError, "/t/x: cannot be written: No space left on device"),
        (TranscriptError("too long", Path("/t/x")), TranscriptError, "/t/x: too long"),
        (OSError(errno.EMFILE, "Too many open files"), OSError, "[Errno 24] Too many open files"),
        (OSError("the path is too long"), OSError, "[Errno 0] the path is too long"),
        (RuntimeError("can't start new thread"), BlockingIOError, "[Errno 11] can't start new thread"),
        (MemoryError(), OSError, "[Errno 12] Cannot allocate memory"),
        (OSError(errno.ENOSPC, "No space", "/t/x"), OSError, "[Errno 28] No space: '/t/x'"),
        (KeyError("x"), RuntimeError, "in a referee process: KeyError: 'x'"),
    ],
)
def test_an_error_means_the_same_on_the_other_side(error: Any, kind: type[Exception], text: str) -> None:
    came = error_of(decoded(encoded(failed(1, error)), Answer))
    assert (kind, text) == (type(came), str(came))


def test_the_system_error_behind_a_transcripts_is_told_too() -> None:
    came = error_of(decoded(encoded(failed(1, full_disk())), Answer))
    assert isinstance(came.__cause__, OSError)
    assert errno.ENOSPC == came.__cause__.errno
