"""Optional keys with empty values, which count as left out even where the form of a value has required keys."""

import re
from typing import Any

import msgspec
from msgspec import Raw

from protocol.codec import decode_json, encode

OBJECTS = ("pattern", "place", "except", "mirror", "window")
"""Optional keys of `visions` whose values have required keys, so that an empty object is not of their form."""
_EMPTY = re.compile(rb"\{\s*\}")
"""What stands in every text with an empty object, and in few others: most need not be decoded."""


def without_empty(raw: bytes | Raw) -> bytes | None:
    """The action without those of its optional keys that hold `{}`; None where it has none such."""
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
