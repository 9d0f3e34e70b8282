"""Which matches count, and who played them: 100,000 matches take some megabytes.

Rows are matches in schedule order.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from arena.arrays import Whole, np
from arena.statistics import Played

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD_LETTERS = 64


class MatchIndex(Struct, frozen=True):
    """Arrays with a row for each match."""

    blocks: Whole
    seatings: Whole
    entrants: "NDArray[np.int32]"
    """By seat."""
    heads: "NDArray[Any]"
    """Of the transcripts, in order."""
    head_rows: Whole
    """The row of each of `heads`."""

    def __len__(self) -> int:
        return len(self.blocks)

    def keys(self, rows: Iterable[int]) -> list[tuple[int, int]]:
        """Block and seating of these rows, those left out that are not there."""
        return [(int(self.blocks[row]), int(self.seatings[row])) for row in rows if 0 <= row < len(self)]

    def row_of(self, block: int, seating: int) -> int | None:
        """The row of a match; None: it does not count."""
        first, end = np.searchsorted(self.blocks, (block, block + 1)).tolist()
        return next((row for row in range(first, end) if self.seatings[row] == seating), None)

    def of_block(self, block: int) -> list[tuple[int, int]]:
        """All matches of a block."""
        return self.keys(range(*np.searchsorted(self.blocks, (block, block + 1)).tolist()))

    def of_bot(self, entrant: int) -> list[int]:
        """The rows of a bot's matches."""
        found: list[int] = np.flatnonzero((self.entrants == entrant).any(axis=1)).tolist()
        return found

    def key_of(self, head: str) -> tuple[int, int] | None:
        """Block and seating of the match whose transcript has this head."""
        place = int(np.searchsorted(self.heads, head.encode()))
        if place == len(self.heads) or self.heads[place] != head.encode():
            return None
        return self.keys([int(self.head_rows[place])])[0]


def index_of(played: Sequence[Played], seats: int) -> MatchIndex:
    """The index of matches in schedule order, all of so many seats."""
    # A strange ledger may say a megabyte: no page asks for such a head.
    heads = np.array([match.head[:HEAD_LETTERS].encode() for match in played], dtype=f"S{HEAD_LETTERS}")
    order = np.argsort(heads, kind="stable")
    return MatchIndex(
        blocks=np.array([match.block for match in played], dtype=np.int64),
        seatings=np.array([match.seating for match in played], dtype=np.int64),
        entrants=np.array([match.entrants for match in played], dtype=np.int32).reshape(len(played), seats),
        heads=heads[order],
        head_rows=order,
    )
