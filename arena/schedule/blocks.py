"""Blocks and their matches, derived from the entrants and the tournament's seed. Pure.

A block is one deal, played once for each seating. Blocks are made on demand, so that a schedule of a million
blocks costs nothing at the start.
"""

import re
from collections.abc import Sequence
from hashlib import shake_128
from string import ascii_lowercase as LETTERS  # noqa: N812 - they are constant

from msgspec import Struct

MOST_BLOCKS = 10_000_000
"""Maximum number of blocks in a tournament."""
SEED_BITS = 53
"""Bits of a match's seed; every JSON reader, JavaScript's included, reads such a number exactly."""
DRAWN_BITS = 63
"""Bits of a tournament's drawn seed, the most that a tournament file accepts.

The names of matches are derived from this seed, and bots see some of them while other matches are still to be
played. With 53 bits, rented machines could find the seed behind the names within days.
"""

SWAPPED = (0, 1)
"""Shifts of a block of two seats."""
MATCH_NAME = re.compile(r"([1-9][0-9]{0,8})([a-z]{1,4})")
"""Pattern of the names that `match_name` makes."""
NAME_BYTES = 8
"""Bytes of a match's name: among ten million drawn names, two are equal with a chance of 3 in a million."""


class ScheduledMatch(Struct, frozen=True, gc=False):
    """One match of a block."""

    name: str
    """Random name, unique in its tournament; bots receive it and must not recognize the deal by it."""
    block: int
    seating: int
    """Number of the match in its block, from 0."""
    entrants: tuple[int, ...]
    """Entrants' numbers, indexed by seat."""
    seed: int
    """Seed of the deal, the same in all matches of the block."""

    def dealt(self, deal: int) -> int:
        """Return the seed of the block's deal, the same in all its matches, after `deal` new deals."""
        return _drawn(f"{self.seed}/again/{deal}") if deal else self.seed

    def own_dealt(self, deal: int) -> int:
        """Return the seed of a deal of this match only, for bots that may remember the block's deal."""
        return _drawn(f"{self.dealt(deal)}/own/{self.seating}")


class Block(Struct, frozen=True, gc=False):
    """One deal, played once for each seating that makes it fair."""

    number: int
    """Number from 0, in schedule order."""
    round: int
    entrants: tuple[int, ...]
    """Entrants' numbers in the block's first match, indexed by seat."""
    shifts: tuple[int, ...]
    """Number of places by which all entrants move on in each match."""
    seed: int
    """Seed of the tournament."""

    @property
    def matches(self) -> tuple[ScheduledMatch, ...]:
        """The block's matches, computed at each call so that a long schedule does not store them."""
        seatings = rotations(self.entrants, self.shifts)
        # The parts of a hash are independent of each other, so the names of matches reveal no deal.
        drawn = shake_128(f"{self.seed}/{self.number}".encode()).digest(8 + NAME_BYTES * len(seatings))
        deal = int.from_bytes(drawn[:8], "big") >> (64 - SEED_BITS)
        names, letters = drawn[8:].hex(), 2 * NAME_BYTES
        return tuple(
            [
                ScheduledMatch(names[letters * seating :][:letters], self.number, seating, seated, deal)
                for seating, seated in enumerate(seatings)
            ]
        )


def _drawn(what: str) -> int:
    return int.from_bytes(shake_128(what.encode()).digest(8), "big") >> (64 - SEED_BITS)


def rotations(entrants: tuple[int, ...], shifts: Sequence[int]) -> list[tuple[int, ...]]:
    """Return one seating per shift; each moves all entrants on by that number of places."""
    return [entrants[-shift:] + entrants[:-shift] for shift in shifts]


def match_name(block: int, seating: int) -> str:
    """Return a match's name in pages and lists, such as `12a`, with blocks counted from 1.

    Bots receive `ScheduledMatch.name` instead.
    """
    return f"{block + 1}{_letters(seating)}"


def match_of(name: str) -> tuple[int, int] | None:
    """Return the block and the seating of a match named by `match_name`; None for any other text."""
    found = MATCH_NAME.fullmatch(name)
    if found is None:
        return None
    seating = 0
    for letter in found[2]:
        seating = seating * len(LETTERS) + LETTERS.index(letter) + 1
    return int(found[1]) - 1, seating - 1


def sortable_match_name(block: int, seating: int) -> str:
    """Return `match_name` with leading zeros, such as `00012a`: the start of the transcript's file name."""
    return f"{block + 1:05d}{_letters(seating)}"


def _letters(seating: int) -> str:
    """Return `a` to `z`, then `aa`, `ab` and so on."""
    letters = ""
    number = seating + 1
    while number:
        number, letter = divmod(number - 1, len(LETTERS))
        letters = LETTERS[letter] + letters
    return letters
