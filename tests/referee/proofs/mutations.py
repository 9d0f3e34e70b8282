"""Hostile changes to JSON values and to bytes, drawn from a seed: for fuzzers of what reads strangers' text."""

import copy
from pathlib import Path
from random import Random
from resource import getpagesize
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 9, 255, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**300, 1.5,
    -0.0, 1e308, "", "0", "-1", "x", "\0", "\x1b[2J", "\u202e", "[bold]", "ä", "x" * 1_000, "ok", "default", "cpu",
    [], [0], [[]], [None], {}, {"0": 0}, {"type": "over"}, {"": {}}, [[[[[[[[]]]]]]]],
)  # fmt: skip
"""What stands where something else was expected."""
BYTES = (
    b"\0", b"\xff", b"\n", b"\r", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"-", b" ",
    b"9" * 30, b"9" * 5_000, b"1e999", b"NaN", b"\\ud800", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"[" * 2_000,
)  # fmt: skip


def mutated(value: Any, rng: Random) -> Any:
    """Return a copy with something in it changed."""
    changed = copy.deepcopy(value)
    places = list(_places(changed))
    holder, key = rng.choice(places) if places else ([changed], 0)
    old = holder[key]
    match rng.randrange(8):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(("more", "at", "seat", "type", "kind", "0", ""))] = rng.choice(VALUES)
        case 2 if isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(old))
        case 3 if isinstance(holder, list):
            del holder[key]
        case 4 | 5 if isinstance(old, int):
            holder[key] = rng.choice((old + 1, old - 1, -old, old * 2, old + 10**6, old * 10**6, 1 - old))
        case 6:
            other, place = rng.choice(places) if places else (holder, key)
            holder[key] = copy.deepcopy(other[place])
        case _:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return changed


def _places(value: Any) -> Any:
    """Where something stands in a value: what holds it, and its key there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from _places(inner)


def mutated_bytes(content: bytes, rng: Random) -> bytes:
    """Return the bytes with some flipped, inserted, removed, doubled or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(5):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                changed[at:at] = rng.choice(BYTES)
            case 2:
                del changed[at : at + rng.choice((1, 10, 1_000))]
            case 3:
                changed[at:at] = changed[at : at + rng.choice((1, 100))]
            case _ if rng.random() < 0.2:
                del changed[at:]
    return bytes(changed)


def memory() -> int:
    """Bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()
