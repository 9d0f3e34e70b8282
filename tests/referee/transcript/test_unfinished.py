"""Which window a bot left unanswered, from the transcript of a match that is still being written."""

from pathlib import Path

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.messages import Accepted, Closed, Invited, Opened, Over, Rejected, ServerMessage
from protocol.refusals import Refusal
from protocol.words import Outcome
from referee.match.records import Out
from referee.transcript.reader import TAIL_BYTES, unanswered_window
from referee.transcript.writer import part_of

OPENED = Opened(id=3, window="turn", view={}, default=None, main_ms=1_000, reserve_ms=0)
OUTCOME = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=1, scores=None, reason="decided")


def sent(seat: int, message: ServerMessage) -> Out:
    return Out(at=1, seat=seat, frame=Raw(encode(message)))


def written(folder: Path, *records: Out, rest: bytes = b"") -> Path:
    """A transcript that has got as far as these records."""
    path = folder / "match.jsonl"
    part_of(path).write_bytes(b"".join(encode(record) + b"\n" for record in records) + rest)
    return path


def test_an_open_window_of_which_nothing_was_accepted_is_unanswered(tmp_path: Path) -> None:
    path = written(tmp_path, sent(0, OPENED))
    assert OPENED == unanswered_window(path, 0)
    assert unanswered_window(path, 1) is None
    assert unanswered_window(tmp_path / "other.jsonl", 0) is None


def test_what_other_seats_are_sent_does_not_answer_it(tmp_path: Path) -> None:
    other = (sent(1, Accepted(3, None)), sent(1, Over(OUTCOME)))
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), *other), 0)
    path = written(tmp_path, sent(0, OPENED), sent(0, Accepted(3, None)), sent(1, OPENED))
    assert unanswered_window(path, 0) is None


@pytest.mark.parametrize(
    "message",
    [
        Accepted(3, None),
        Closed(window=3, taken=None, by_default=True, charged_ms=5, reserve_ms=0),
        Over(OUTCOME),
    ],
)
def test_an_accepted_answer_the_windows_end_and_the_matchs_end_settle_it(
    tmp_path: Path, message: ServerMessage
) -> None:
    assert unanswered_window(written(tmp_path, sent(0, OPENED), sent(0, message)), 0) is None


def test_a_refusal_and_the_beginning_of_a_line_leave_it_open(tmp_path: Path) -> None:
    refused = sent(0, Rejected(window=3, reason=Refusal.ILLEGAL, text="not there"))
    rest = encode(sent(0, Accepted(3, None)))[:-1]
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), refused, rest=rest), 0)
    again = sent(0, Invited(token="t"))
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), again), 0)


def test_only_the_end_of_a_long_file_is_looked_at(tmp_path: Path) -> None:
    others = [sent(1, OPENED)] * (TAIL_BYTES // 100)
    assert unanswered_window(written(tmp_path, sent(0, OPENED), *others), 0) is None
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), *others, sent(0, OPENED)), 0)
