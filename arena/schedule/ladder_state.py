"""Where a ladder without an end stands. Pure."""

from typing import Annotated

from msgspec import Meta, Struct

from arena.statistics import START

Number = Annotated[int, Meta(ge=0, le=2**53)]
Real = Annotated[float, Meta(ge=-1e6, le=1e6)]
Variance = Annotated[float, Meta(gt=0, le=START)]
WAVES = 2
"""So many can be pending at once."""


class LadderState(Struct, kw_only=True, forbid_unknown_fields=True):
    """Where a ladder stands before a wave is made: all that it needs to know of what was played. By entrant."""

    turn: Number = 0
    """How many waves were made."""
    first: Number = 0
    """The number of the first block that is in no wave yet."""
    pending: list[list[tuple[Number, ...]]] = []
    """The tables of waves whose results are not in the ratings yet: the last blocks before `first`."""
    matches: Number = 0
    """How many are in the ratings."""
    head: Annotated[str, Meta(max_length=200)] = ""
    """Of the last one's transcript: the hash of its last line."""
    fields: Number = 0
    """How many of the fields (`fields_of`) have begun."""
    period: Number = 0
    """Counts from 1."""
    means: list[Real] = []
    """Log-strengths."""
    variances: list[Variance] = []
    blocks: list[Number] = []
    """In this period, those of waves that are pending among them."""
    charged_us: list[Number] = []
    """In this period."""
    met: list[list[Number]] = []
    """Whom a bot met lately, the latest last."""

    @property
    def rated(self) -> int:
        """The number of the first block whose results are not in the ratings."""
        return self.first - sum(map(len, self.pending))

    def fits(self, numbers: int, seats: int) -> bool:
        """Whether it can be of a ladder of at most so many entrants: a file may come from anybody."""
        length = len(self.means)
        tables = [table for wave in self.pending for table in wave]
        return (
            length <= numbers
            and all(len(each) == length for each in (self.variances, self.blocks, self.charged_us, self.met))
            and len(self.pending) <= WAVES
            and self.rated >= 0
            and all(len(table) == seats and max(table) < length for table in tables)
        )
