"""Finds keys that stand twice in one object of a JSON text: readers differ in which of the two counts. Pure."""

import json
from collections import Counter
from typing import Any


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

    # Numbers stay text: nothing here reads them, and a long one would be refused for its length.
    json.loads(text, object_pairs_hook=once, parse_int=str, parse_float=str)
