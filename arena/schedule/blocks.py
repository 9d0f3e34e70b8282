"""Who plays whom, from which deal, in which seats. Pure: a function of the entrants, the blocks and a seed.

The unit is the block: one deal, played once for each seating. Blocks are made when asked for, so that a schedule
of a million costs nothing to begin.
"""

import re
from collections.abc import Sequence
from hashlib import shake_128
from string import ascii_lowercase as LETTERS  # noqa: N812 - they are constant

from msgspec import Struct

MOST_BLOCKS = 10_000_000
"""The most of one tournament, more than anybody plays."""
SEED_BITS = 53
"""Seeds of matches stay whole numbers in every JSON reader, JavaScript's included."""
DRAWN_BITS = 63
"""Of a tournament's drawn seed, as many as a file takes. Names of matches follow from it, and are known while
others are still to be played: of 53 bits, rented machines could find in days the one seed that leads to them."""

SWAPPED = (0, 1)
"""The shifts of a block of two seats."""
MATCH_NAME = re.compile(r"([1-9][0-9]{0,8})([a-z]{1,4})")
"""What pages and lists call a match: see `match_name`."""
NAME_BYTES = 8
"""A match's name is so long: among ten million drawn ones two are equal with a chance of 3 in a million."""


class Match(Struct, frozen=True, gc=False):
    """One match of a block."""

    name: str
    """Unique in its tournament, and says nothing: bots are told it, and must not know by it which deal this is."""
    block: int
    seating: int
    """Counts the block's matches from 0."""
    entrants: tuple[int, ...]
    """By seat: who sits there, as an index of the tournament's entrants."""
    seed: int
    """The deal's, the same in all matches of the block."""

    def dealt(self, deal: int) -> int:
        """Return the seed of the block's deal, the same in its matches; `deal`: how often it was dealt anew."""
        return _drawn(f"{self.seed}/again/{deal}") if deal else self.seed

    def own_dealt(self, deal: int) -> int:
        """Return that of a deal that no other match of the block has: for bots that may remember the block's."""
        return _drawn(f"{self.dealt(deal)}/own/{self.seating}")


class Block(Struct, frozen=True, gc=False):
    """One deal, played once for each seating that makes it fair."""

    number: int
    """Counts from 0, in schedule order."""
    round: int
    entrants: tuple[int, ...]
    """By seat, in the block's first match."""
    shifts: tuple[int, ...]
    """By how many places all move on, in each match."""
    seed: int
    """The tournament's."""

    @property
    def matches(self) -> tuple[Match, ...]:
        """Made anew at each call: a schedule of a million blocks does not make them for all."""
        seatings = rotations(self.entrants, self.shifts)
        # No part of a hash tells anything of another part: the names of matches give away no deal.
        drawn = shake_128(f"{self.seed}/{self.number}".encode()).digest(8 + NAME_BYTES * len(seatings))
        deal = int.from_bytes(drawn[:8], "big") >> (64 - SEED_BITS)
        names, letters = drawn[8:].hex(), 2 * NAME_BYTES
        return tuple(
            [
                Match(names[letters * seating :][:letters], self.number, seating, seated, deal)
                for seating, seated in enumerate(seatings)
            ]
        )


def _drawn(what: str) -> int:
    return int.from_bytes(shake_128(what.encode()).digest(8), "big") >> (64 - SEED_BITS)


def rotations(entrants: tuple[int, ...], shifts: Sequence[int]) -> list[tuple[int, ...]]:
    """Seatings that keep the order round the table, by how many places all move on."""
    return [entrants[-shift:] + entrants[:-shift] for shift in shifts]


def match_name(block: int, seating: int) -> str:
    """How pages and lists call a match: `12a`, the block counted from 1. Bots know it by `Match.name`."""
    return f"{block + 1}{_letters(seating)}"


def match_of(name: str) -> tuple[int, int] | None:
    """Return block and seating of a match that `match_name` calls so; None: it calls none so."""
    found = MATCH_NAME.fullmatch(name)
    if found is None:
        return None
    seating = 0
    for letter in found[2]:
        seating = seating * len(LETTERS) + LETTERS.index(letter) + 1
    return int(found[1]) - 1, seating - 1


def sortable_match_name(block: int, seating: int) -> str:
    """The same with leading zeros, `00012a`: so the name of a match's transcript begins."""
    return f"{block + 1:05d}{_letters(seating)}"


def _letters(seating: int) -> str:
    """Return `a` to `z`, then `aa`, `ab` and so on."""
    letters = ""
    number = seating + 1
    while number:
        number, letter = divmod(number - 1, len(LETTERS))
        letters = LETTERS[letter] + letters
    return letters
