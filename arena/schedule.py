"""Who plays whom, from which deal, in which seats. Pure: a function of the entrants, the blocks and a seed.

The unit is the block: one deal, played once for each seating. Blocks are made when asked for, so that a schedule
of a million costs nothing to begin.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import combinations

from msgspec import Struct

from arena.seating import Seating, shifts_of

SEED_BITS = 53
"""Seeds of matches stay whole numbers in every JSON reader, JavaScript's included."""


class Match(Struct, frozen=True):
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


class Block(Struct, frozen=True):
    """One deal, played once for each seating that makes it fair."""

    number: int
    """Counts from 0, in schedule order."""
    round: int
    matches: tuple[Match, ...]


def round_robin(entrants: int, blocks: int, seed: int) -> Iterator[Block]:
    """Every pair of entrants plays `blocks` blocks of two seats; a round gives each pair one.

    Rounds come one after the other, so that a tournament that was stopped half-way is as balanced as can be.
    """
    pairs = list(combinations(range(entrants), 2))
    for number in range(blocks * len(pairs)):
        turn, pair = divmod(number, len(pairs))
        yield block_of(number, turn, pairs[pair], seed)


def gauntlet(heads: int, entrants: int, blocks: int, seed: int) -> Iterator[Block]:
    """Each of the first `heads` entrants plays `blocks` blocks with each of the rest; a round gives each pair one."""
    pairs = [(head, other) for other in range(heads, entrants) for head in range(heads)]
    for number in range(blocks * len(pairs)):
        turn, pair = divmod(number, len(pairs))
        yield block_of(number, turn, pairs[pair], seed)


class Tables(Struct, frozen=True, kw_only=True):
    """A schedule for games of any number of seats: in each round every entrant sits at one table, or has a bye."""

    entrants: int
    """Those who compete; the house is numbered after them."""
    seats: int
    rounds: int
    rotations: int
    """How many of the rotations of its table a block plays."""
    filled: bool
    """Whether seats that are left over are the house's; if not, those who are left over have a bye."""

    def blocks(self, seed: int) -> Iterator[Block]:
        """The blocks, round after round: who has met least meets, who has sat there least sits there.

        More rounds only add to a schedule.
        """
        shifts = shifts_of(self.seats, self.rotations)
        house = self.entrants if self.filled else None
        seating = Seating(self.entrants, self.seats, shifts, house=house)
        number = 0
        for turn in range(self.rounds):
            # Not drawn by `random`, whose shuffles may differ from one Python to the next.
            lots = {entrant: _hash(seed, turn, f"lot {entrant}") for entrant in range(self.entrants)}
            for table in seating.next_round(sorted(lots, key=lots.__getitem__)):
                yield block_of(number, turn, table, seed, shifts)
                number += 1


def block_of(
    number: int, turn: int, entrants: tuple[int, ...], seed: int, shifts: Sequence[int] | None = None
) -> Block:
    """The block of these entrants: each of them sits in each seat once, or where these shifts bring them."""
    deal = int.from_bytes(_hash(seed, number, "deal")[:8], "big") >> (64 - SEED_BITS)
    return Block(
        number,
        turn,
        tuple(
            Match(_hash(seed, number, f"name {seating}").hex()[:12], number, seating, seated, deal)
            for seating, seated in enumerate(rotations(entrants, shifts))
        ),
    )


def rotations(entrants: tuple[int, ...], shifts: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """Seatings that keep the order round the table, by how many places all move on.

    All of them, unless shifts are given: each entrant then sits in each seat once. Two seats: swapped.
    """
    moves = range(len(entrants)) if shifts is None else shifts
    return [entrants[-shift:] + entrants[:-shift] for shift in moves]


def _hash(seed: int, block: int, purpose: str) -> bytes:
    """Nothing about one seed or name can be had from another, but by who knows the tournament's seed."""
    return sha256(f"{seed}/{block}/{purpose}".encode()).digest()
