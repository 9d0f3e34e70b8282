"""The only decoder of a bot's bytes: whatever they are, it answers with a message or with a refusal by name."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from protocol.codec import (
    MAX_NESTING,
    MOST_BRACKETS,
    TOO_DEEP,
    Refused,
    decode_action,
    decode_client_message,
    decode_server_message,
    encode,
    is_deeper,
)
from protocol.games.mist import ChooseFirst, Turn
from protocol.messages import MAX_FRAME_BYTES, MAX_NOTE_CHARACTERS, Hello, Note, Pause, Rejected, Submit, Undo
from protocol.refusals import Conduct, Fault, Refusal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "window", "action", "final", "text", "token", "name", "version", "protocol", "cells"]
)
NEAR_MESSAGES = st.dictionaries(
    KEYS, JSON | st.sampled_from(["hello", "submit", "undo", "pause", "note"]), max_size=6
)


@given(st.binary(max_size=200) | JSON.map(encode) | NEAR_MESSAGES.map(encode))
def test_any_bytes_are_a_message_or_a_refusal(frame: bytes) -> None:
    try:
        said = decode_client_message(frame)
    except Refused as refused:
        assert refused.refusal is Refusal.MALFORMED
        assert len(refused.text) <= 200
    else:
        assert isinstance(said, Hello | Submit | Undo | Pause | Note)


@given(st.binary(max_size=100) | JSON.map(encode))
def test_any_bytes_are_an_action_or_a_refusal(raw: bytes) -> None:
    try:
        assert isinstance(decode_action(raw, Turn), Turn)
    except Refused as refused:
        assert refused.refusal is Refusal.ILLEGAL


def test_a_frame_of_the_largest_size_is_read_and_one_byte_more_is_oversized() -> None:
    note = b'{"type":"note","text":"%s"}'
    room = MAX_FRAME_BYTES - len(note % b"")
    assert room == len(decode_client_message(note % (b"x" * room)).text)  # type: ignore[union-attr]
    with pytest.raises(Refused) as refused:
        decode_client_message(note % (b"x" * (room + 1)))
    assert refused.value.refusal is Refusal.OVERSIZED


@pytest.mark.parametrize(
    "number",
    [b"1.0", b"1e0", b"true", b'"1"', b"null", b"[1]"],
    ids=["point", "exponent", "bool", "text", "null", "list"],
)
def test_a_number_is_a_whole_json_number_and_nothing_like_it(number: bytes) -> None:
    with pytest.raises(Refused):
        decode_client_message(b'{"type":"undo","window":%s}' % number)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"type":"submit","window":0,"action":' + b"["])
def test_a_nesting_bomb_is_malformed(opening: bytes) -> None:
    with pytest.raises(Refused) as refused:
        decode_client_message(opening * 12_000 if len(opening) < 6 else opening + b"[" * 60_000)
    assert refused.value.refusal is Refusal.MALFORMED


def test_an_action_is_kept_as_it_was_written() -> None:
    said = decode_client_message(b'{"type":"submit","window":3,"action":{"cells": ["c3"]}}')
    assert isinstance(said, Submit)
    assert (3, b'{"cells": ["c3"]}', UNSET) == (said.window, bytes(said.action), said.final)


def test_a_bot_reads_what_the_referee_writes() -> None:
    told = Rejected(window=None, reason=Refusal.FLOOD, text="slower")
    assert told == decode_server_message(encode(told))
    with pytest.raises(msgspec.MsgspecError):
        decode_server_message(b'{"type":"news"}')


def test_the_words_of_each_closed_list_are_different() -> None:
    for words in (Refusal, Fault, Conduct):
        assert len(words) == len({word.value for word in words})


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"x":', b"}")])
def test_the_bound_on_nesting_does_not_depend_on_the_stack(opening: bytes, closing: bytes) -> None:
    """Or a replay would judge otherwise than the match: it stands elsewhere on its stack."""

    def frame(levels: int) -> bytes:
        return b'{"type":"submit","window":0,"action":' + opening * levels + b"1" + closing * levels + b"}"

    decode_client_message(frame(MAX_NESTING - 1))
    for levels in (MAX_NESTING, 500, 900, 1_000, 5_000):
        with pytest.raises(Refused) as refused:
            decode_client_message(frame(levels))
        assert (Refusal.MALFORMED, TOO_DEEP) == (refused.value.refusal, refused.value.text)


def test_brackets_in_a_text_and_side_by_side_are_not_nested() -> None:
    for action in (b'"' + b"[" * 500 + b'"', b"[" + b",".join([b"[]"] * 500) + b"]", b'"\\"' + b"{" * 500 + b'"'):
        decode_client_message(b'{"type":"submit","window":0,"action":%b}' % action)


def test_brackets_are_bounded_and_those_in_strings_are_no_levels() -> None:
    """Looking at them must hold up nobody: eleven bots once voided a match of thirteen by it."""
    decode_client_message(encode(Note(text="[" * MAX_NOTE_CHARACTERS)))
    decode_client_message(encode(Note(text='\\"[{' * (MAX_NOTE_CHARACTERS // 4))))
    wide = Submit(window=0, action=Raw(b"[" + b",".join([b"[]"] * (MOST_BRACKETS - 2)) + b"]"))
    decode_client_message(encode(wide))
    wider = Submit(window=0, action=Raw(b"[" + b",".join([b"[]"] * MOST_BRACKETS) + b"]"))
    with pytest.raises(Refused) as refused:
        decode_client_message(encode(wider))
    assert (Refusal.MALFORMED, TOO_DEEP) == (refused.value.refusal, refused.value.text)


@given(
    st.recursive(st.text('[]{}\\" a', max_size=4), lambda kids: st.lists(kids) | st.dictionaries(st.text(), kids))
)
def test_the_depth_of_nested_json_is_exact(value: object) -> None:
    def levels(each: object) -> int:
        inside = each.values() if isinstance(each, dict) else each if isinstance(each, list) else None
        return 0 if inside is None else 1 + max(map(levels, inside), default=0)

    text, deep = encode(value), levels(value)
    assert not is_deeper(text, deep)
    assert deep == 0 or is_deeper(text, deep - 1)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"cells": ["C3"]}', "this window takes 'first'; it has no 'cells'"),
        (b'{"first": 0, "\\u001b[2J": 1}', "this window takes 'first'; it has no '\\x1b[2J'"),
        (b'{"first": "x"}', "Expected `int`"),
        (b"[]", "Expected `object`"),
    ],
)
def test_a_field_that_a_window_does_not_have_is_named_with_those_that_it_has(raw: bytes, said: str) -> None:
    with pytest.raises(Refused, match=rf"^{re.escape(said)}"):
        decode_action(raw, ChooseFirst)
