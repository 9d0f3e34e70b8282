"""Optional keys with empty values, which count as absent even if the type of the value has required keys."""

import re
from typing import Any

import msgspec
from msgspec import Raw

from protocol.codec import decode_json, encode

OBJECTS = ("pattern", "place", "except", "mirror", "window")
"""Optional keys of `visions` whose values have required keys, so that an empty object would not decode."""
_EMPTY = re.compile(rb"\{\s*\}")
"""Pattern in each text with an empty object and in few others, so that most texts need no decoding."""


def without_empty(raw: bytes | Raw) -> bytes | None:
    """Return the action without its optional keys that hold `{}`, or None if it has no such key."""
    if not _EMPTY.search(raw):
        return None
    try:
        action: Any = decode_json(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    visions = action.get("visions") if isinstance(action, dict) else None
    if not isinstance(visions, dict):
        return None
    kept = {key: value for key, value in visions.items() if key not in OBJECTS or value != {}}
    return encode({**action, "visions": kept}) if len(kept) < len(visions) else None
