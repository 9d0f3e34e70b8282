"""Words of a game as JSON values."""

import json
from typing import Any

from protocol.codec import encode


def plain(words: Any) -> Any:
    """As JSON values, the order of keys included."""
    return json.loads(encode(words))


def same(expected: Any, got: Any) -> None:
    """Equal byte for byte: values, and the order of keys."""
    assert json.dumps(expected) == json.dumps(got)
