"""An index of the matches that count and their players; 100,000 matches need a few megabytes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from arena.arrays import Whole, np
from arena.statistics import Played

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD_LETTERS = 64


class MatchIndex(Struct, frozen=True):
    """Arrays with one row per match, in schedule order."""

    blocks: Whole
    seatings: Whole
    entrants: "NDArray[np.int32]"
    """Entrant numbers of shape (matches, seats)."""
    heads: "NDArray[Any]"
    """Heads of the transcripts, sorted."""
    head_rows: Whole
    """The match row of each entry of `heads`."""

    def __len__(self) -> int:
        return len(self.blocks)

    def keys(self, rows: Iterable[int]) -> list[tuple[int, int]]:
        """Return block and seating of these rows; rows that do not exist are skipped."""
        return [(int(self.blocks[row]), int(self.seatings[row])) for row in rows if 0 <= row < len(self)]

    def row_of(self, block: int, seating: int) -> int | None:
        """Return the row of a match; None if it does not count."""
        first, end = np.searchsorted(self.blocks, (block, block + 1)).tolist()
        return next((row for row in range(first, end) if self.seatings[row] == seating), None)

    def of_block(self, block: int) -> list[tuple[int, int]]:
        """Return block and seating of all matches of a block."""
        return self.keys(range(*np.searchsorted(self.blocks, (block, block + 1)).tolist()))

    def of_bot(self, entrant: int) -> list[int]:
        """Return the rows of a bot's matches."""
        found: list[int] = np.flatnonzero((self.entrants == entrant).any(axis=1)).tolist()
        return found

    def key_of(self, head: str) -> tuple[int, int] | None:
        """Return block and seating of the match whose transcript has this head; None if there is none."""
        place = int(np.searchsorted(self.heads, head.encode()))
        if place == len(self.heads) or self.heads[place] != head.encode():
            return None
        return self.keys([int(self.head_rows[place])])[0]


def index_of(played: Sequence[Played], seats: int) -> MatchIndex:
    """Return the index of matches in schedule order, each with `seats` seats."""
    # A damaged ledger may hold a head of any length. No page requests such a head, so it is cut.
    heads = np.array([match.head[:HEAD_LETTERS].encode() for match in played], dtype=f"S{HEAD_LETTERS}")
    order = np.argsort(heads, kind="stable")
    return MatchIndex(
        blocks=np.array([match.block for match in played], dtype=np.int64),
        seatings=np.array([match.seating for match in played], dtype=np.int64),
        entrants=np.array([match.entrants for match in played], dtype=np.int32).reshape(len(played), seats),
        heads=heads[order],
        head_rows=order,
    )
