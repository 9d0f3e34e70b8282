"""The bridge for programs that speak by lines: what they write is cut into frames, whatever it is."""

import pytest

from bots.stdio_bridge import FLOOD_BYTES, FREE_BYTES, LEAST_BYTES, SHOWN_BYTES, Lines, Prints
from protocol.messages import MAX_FRAME_BYTES, is_message


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


def test_an_unfinished_line_at_the_programs_end_is_a_line_too() -> None:
    lines = Lines()
    assert [] == list(lines.cut(b"last"))
    assert b"last" == lines.end()


def sorted_lines(prints: Prints, *lines: bytes) -> tuple[list[bytes], bytes]:
    return prints.sort(iter(lines))


def test_messages_go_to_the_referee_and_all_else_to_the_log_but_for_the_first_in_a_window() -> None:
    prints = Prints()
    submit = b'{"type":"submit","window":0,"action":null}'
    frames, logged = sorted_lines(prints, b"got welcome", submit, b"thinking", b"", b" \r", submit)
    assert [b"got welcome", submit, submit] == frames
    assert b"[stdout] got welcome\n[stdout] thinking\n" == logged
    assert ([], b"[stdout] more\n") == sorted_lines(prints, b"more")
    prints.begin()
    assert ([b"more"], b"[stdout] more\n") == sorted_lines(prints, b"more")


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"submit","window":0}',
        b' {"action":null,"type":"submit","window":0}\r',
        b'{"type":"note","text":"' + b"x" * MAX_FRAME_BYTES + b'"}',
        b'{"type":"hello"}',
    ],
    ids=["a field is missing", "in another order", "too long", "hello"],
)
def test_lines_meant_as_messages_are_passed_to_the_referee(line: bytes) -> None:
    assert ([line], b"") == sorted_lines(Prints(), line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"window","id":0}',
        b'{"type":"rejected","window":null}',
        b'{"cells":["E5"]}',
        b"{'type': 'submit'}",
        b'{"type":"submit","window":0',
        b'{"type":["submit"]}',
        b'"submit"',
        b"[" * 60_000,
        b'{"type":"submit","window":' + b"[" * 60_000,
        b"{" + b"x" * 2 * MAX_FRAME_BYTES,
        b'{"type":"welcome","x":"' + b"x" * MAX_FRAME_BYTES,
        b"\xff\xfe{\x00",
    ],
)
def test_lines_that_are_no_messages_are_not_answered(line: bytes) -> None:
    prints = Prints()
    prints.quiet()
    assert [] == sorted_lines(prints, line)[0]


def test_a_byte_order_mark_is_passed_over() -> None:
    pause = b'{"type":"pause"}'
    assert ([pause, pause], b"") == sorted_lines(Prints(), b"\xef\xbb\xbf" + pause, pause, b"\xef\xbb\xbf")


def test_the_referee_gets_the_start_of_a_long_line_which_is_no_message() -> None:
    line = b'{"type":"pause"}' + b" " * SHOWN_BYTES + b"x"
    ((shown,), _) = sorted_lines(Prints(), line)
    assert (SHOWN_BYTES + 3, False) == (len(shown), is_message(shown))


def test_a_flood_of_lines_is_told_by_its_bytes() -> None:
    prints = Prints()
    assert 1 == len(sorted_lines(prints, *[b"x" * 1_000] * (FREE_BYTES // 1_000))[0])
    assert 100 == pytest.approx(len(sorted_lines(prints, *[b"x" * 1_000] * (FLOOD_BYTES // 10))[0]), abs=1)
    assert FLOOD_BYTES // LEAST_BYTES == 32
    assert 10 == pytest.approx(len(sorted_lines(prints, *[b"x"] * 320)[0]), abs=1)
    assert 10 == pytest.approx(len(sorted_lines(prints, b"x" * 10 * FLOOD_BYTES)[0]), abs=1)
    prints.begin()
    assert 1 == len(sorted_lines(prints, *[b"x"] * (FREE_BYTES // LEAST_BYTES))[0])


def test_output_before_the_next_match_does_not_belong_to_that_match() -> None:
    prints = Prints()
    prints.quiet()
    assert [] == sorted_lines(prints, b"the last one was hard")[0]
    prints.begin()
    assert [b"got welcome"] == sorted_lines(prints, b"got welcome")[0]
