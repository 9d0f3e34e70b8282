"""The bridge for programs that speak by lines: what they write is cut into frames, whatever it is."""

import pytest

from bots.stdio_bridge import Lines
from protocol.messages import MAX_FRAME_BYTES


@pytest.mark.parametrize(
    ("written", "frames"),
    [
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"o", b"n", b"e\ntw", b"o\n"], [b"one", b"two"]),
        ([b"\n\none\n\n"], [b"one"]),
        ([b"one"], []),
        ([b"\xff\x00\n"], [b"\xff\x00"]),
    ],
    ids=["two at once", "in pieces", "empty lines", "no end yet", "any bytes"],
)
def test_each_line_is_a_frame(written: list[bytes], frames: list[bytes]) -> None:
    lines = Lines()
    assert frames == [frame for piece in written for frame in lines.cut(piece)]


@pytest.mark.parametrize("pieces", [1, 7])
def test_a_line_that_is_too_long_is_passed_on_once_and_cut_so_that_it_is_refused_as_too_long(pieces: int) -> None:
    lines = Lines()
    text = b"x" * (3 * MAX_FRAME_BYTES) + b"\nnext\n"
    size = -(-len(text) // pieces)
    frames = [frame for at in range(0, len(text), size) for frame in lines.cut(text[at : at + size])]
    assert [MAX_FRAME_BYTES + 1, 4] == [len(frame) for frame in frames]


def test_what_has_no_end_when_the_program_ends_is_a_line_too() -> None:
    lines = Lines()
    assert [] == list(lines.cut(b"last"))
    assert b"last" == lines.end()
