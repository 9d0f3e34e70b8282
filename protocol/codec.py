"""The only encoder and decoder of messages."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar, cast

import msgspec

from protocol.messages import MAX_FRAME_BYTES, ClientMessage, ServerMessage
from protocol.refusals import Refusal
from protocol.words import Action

ActionT = TypeVar("ActionT", bound=Action)
FormT = TypeVar("FormT")

MAX_COMPLAINT_CHARACTERS = 200
"""Longest complaint about undecodable bytes; it may quote them."""
MAX_NESTING = 64
"""Deepest nesting of a message.

A fixed bound makes a replay refuse the same messages as the match did, although its stack has another size.
"""
TOO_DEEP = "nested too deeply"
BYTE_ORDER_MARK = "begins with a byte order mark; a message begins with {"
MOST_BRACKETS = 4_000
"""Most brackets in one message, those inside strings included; no legal action has a tenth of that."""
_OPENING = bytes(map(b"[{".__contains__, range(256)))
_NO_BRACKETS = bytes(set(range(256)).difference(b"[]{}"))

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
"""Encode a message, event, view or record as compact JSON, in the Struct's field order; repeatable to the byte."""
_client_messages: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)
_server_messages: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)
_json = msgspec.json.Decoder()


class Refused(Exception):  # noqa: N818 - it is no error of ours, but an answer
    """Bytes that are no valid message or action; `text` describes only the bytes, so their sender may see it."""

    def __init__(self, refusal: Refusal, text: str) -> None:
        super().__init__(text)
        self.refusal = refusal
        self.text = text


def decode_client_message(frame: bytes) -> ClientMessage:
    """Decode a bot's message.

    Raises:
        Refused: it is larger than `MAX_FRAME_BYTES`, or not exactly one known message.
    """
    if refused := oversized(len(frame)):
        raise refused
    try:
        message = _client_messages.decode(frame)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        text = BYTE_ORDER_MARK if frame.startswith(BOM_UTF8) else _short(error)
        raise Refused(Refusal.MALFORMED, text) from None
    opening = frame.count(b"[") + frame.count(b"{")
    if opening > MAX_NESTING and (opening > MOST_BRACKETS or is_deeper(frame, MAX_NESTING)):
        raise Refused(Refusal.MALFORMED, TOO_DEEP)
    return message


def oversized(size: int) -> Refused | None:
    """Return the refusal of a frame of this size in bytes, or None if it is small enough."""
    if size <= MAX_FRAME_BYTES:
        return None
    return Refused(Refusal.OVERSIZED, f"a frame of {size} bytes; {MAX_FRAME_BYTES} are allowed")


def decode_server_message(frame: bytes) -> ServerMessage:
    """Decode a referee's message, for bots.

    Raises:
        msgspec.MsgspecError: it is not a message of this protocol.
    """
    return _server_messages.decode(frame)


def decode_action(raw: bytes | msgspec.Raw, form: type[ActionT]) -> ActionT:
    """Decode one action of a window's form. The rules decide whether it is legal.

    Raises:
        Refused: it is not an object of exactly the form's keys and types.
    """
    try:
        decoded: ActionT = _actions(form).decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Refusal.ILLEGAL, _unknown_field(raw, form) or _short(error)) from None
    return decoded


def _unknown_field(raw: bytes | msgspec.Raw, form: type[Action]) -> str:
    """Name an action's first unknown field and the form's fields, or return "" if the error is another one."""
    try:
        given = _json.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return ""
    fields = form.__struct_encode_fields__
    if not isinstance(given, dict):
        return ""
    strange = [key for key in cast("dict[str, Any]", given) if key not in fields]
    if not strange:
        return ""
    takes = ", ".join(map(repr, fields)) or "no field"
    return f"this window takes {takes}; it has no {strange[0]!a}"[:MAX_COMPLAINT_CHARACTERS]


@lru_cache(maxsize=128)
def _actions(form: type[Action]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(form)


def decode_untrusted(raw: bytes | msgspec.Raw, form: type[FormT]) -> FormT:
    """Decode a stranger's JSON that is no message of a bot, such as the body of a request.

    Raises:
        Refused: it is not JSON of this form, or nested too deeply.
    """
    try:
        return msgspec.json.decode(raw, type=form)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Refusal.MALFORMED, _short(error)) from None


def decode_json(raw: bytes | msgspec.Raw) -> Any:
    """Decode a JSON value to plain Python values.

    Raises:
        msgspec.MsgspecError: it is not JSON.
    """
    return _json.decode(raw)


def _short(error: Exception) -> str:
    """Return the decoder's message, shortened because it may quote the sender."""
    return TOO_DEEP if isinstance(error, RecursionError) else str(error)[:MAX_COMPLAINT_CHARACTERS]


def is_deeper(text: bytes, most: int) -> bool:
    """Return whether JSON text is nested deeper than `most` levels. All loops run in C."""
    if text.count(b"[") + text.count(b"{") <= most:
        return False
    # Without escapes, every other piece between quotes is outside of strings.
    outside = b"".join(text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    steps = map((-1, 1).__getitem__, outside.translate(_OPENING, _NO_BRACKETS))
    return max(accumulate(steps), default=0) > most


class RepeatedKeyError(ValueError):
    """A key appears twice in one JSON object."""


def refuse_repeated_keys(text: bytes) -> None:
    """Check that no JSON object repeats a key: parsers differ in which of the two values they use.

    Raises:
        RepeatedKeyError: names the key.
        RecursionError: the text is nested too deeply.
    """

    def once(pairs: list[tuple[str, Any]]) -> None:
        counts = Counter(key for key, _ in pairs)
        for key, count in counts.items() if len(counts) < len(pairs) else ():
            if count > 1:
                # This reader takes half a surrogate pair for a character; no writer does.
                shown = key.encode(errors="replace").decode()
                raise RepeatedKeyError(f'the key "{shown}" stands twice in one object')

    import json  # noqa: PLC0415 - bots import this module, and need no second reader

    # Numbers stay text: nothing here reads them, and a long one would be refused for its length.
    json.loads(text, object_pairs_hook=once, parse_int=str, parse_float=str)
