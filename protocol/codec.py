"""Bytes to messages and back: the only encoder and decoder."""

from codecs import BOM_UTF8
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar, cast

import msgspec

from protocol.messages import MAX_FRAME_BYTES, ClientMessage, ServerMessage
from protocol.refusals import Refusal
from protocol.words import Action

ActionT = TypeVar("ActionT", bound=Action)

MAX_COMPLAINT_CHARACTERS = 200
"""A complaint about bytes may quote them; this bounds it."""
MAX_NESTING = 64
"""How deep a message may be nested. Without this bound the interpreter's stack would be the bound: a replay, which
has another stack, would say otherwise than the match did."""
TOO_DEEP = "nested too deeply"
BYTE_ORDER_MARK = "begins with a byte order mark; a message begins with {"
MOST_BRACKETS = 4_000
"""Lists and objects of one message, and brackets in its strings: no legal action has a tenth of that."""
_OPENING = bytes(1 if byte in b"[{" else 0 for byte in range(256))
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
"""Compact JSON of a message, event, view or record. Field order is the Struct's, so bytes are repeatable."""
_client_messages: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)
_server_messages: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)
_json = msgspec.json.Decoder()


class Refused(Exception):  # noqa: N818 - it is no error of ours, but an answer
    """Bytes that are no message, or no action. `text` is about the bytes alone, so their sender may see it."""

    def __init__(self, refusal: Refusal, text: str) -> None:
        super().__init__(text)
        self.refusal = refusal
        self.text = text


def decode_client_message(frame: bytes) -> ClientMessage:
    """A bot's message.

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
    """Why a frame of so many bytes is refused; None: it is not too large."""
    if size <= MAX_FRAME_BYTES:
        return None
    return Refused(Refusal.OVERSIZED, f"a frame of {size} bytes; {MAX_FRAME_BYTES} are allowed")


def decode_server_message(frame: bytes) -> ServerMessage:
    """A message of the referee, for bots.

    Raises:
        msgspec.MsgspecError: it is not a message of this protocol.
    """
    return _server_messages.decode(frame)


def decode_action(raw: bytes | msgspec.Raw, form: type[ActionT]) -> ActionT:
    """One action in a window's form. Whether it is legal is for the rules to say.

    Raises:
        Refused: it is not an object of exactly the form's keys and types.
    """
    try:
        decoded: ActionT = _actions(form).decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Refused(Refusal.ILLEGAL, _unknown_field(raw, form) or _short(error)) from None
    return decoded


def _unknown_field(raw: bytes | msgspec.Raw, form: type[Action]) -> str:
    """Return which field of an action its form does not have, and which it has; empty: that is not the fault."""
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


def decode_json(raw: bytes | msgspec.Raw) -> Any:
    """A JSON value, as plain Python values.

    Raises:
        msgspec.MsgspecError: it is not JSON.
    """
    return _json.decode(raw)


def _short(error: Exception) -> str:
    """The decoder's complaint, bounded: it may quote what the sender wrote."""
    return TOO_DEEP if isinstance(error, RecursionError) else str(error)[:MAX_COMPLAINT_CHARACTERS]


def is_deeper(text: bytes, most: int) -> bool:
    """Whether a text that is JSON is nested deeper than so many levels. All work is done by loops in C."""
    if text.count(b"[") + text.count(b"{") <= most:
        return False
    # Without its escapes every other piece between quotes is outside of strings.
    outside = b"".join(text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    steps = map((-1, 1).__getitem__, outside.translate(_OPENING, _NO_BRACKETS))
    return max(accumulate(steps), default=0) > most
