"""State of a ladder without an end. Pure."""

from typing import Annotated

from msgspec import Meta, Struct

from arena.statistics import START

Number = Annotated[int, Meta(ge=0, le=2**53)]
Real = Annotated[float, Meta(ge=-1e6, le=1e6)]
Variance = Annotated[float, Meta(gt=0, le=START)]
WAVES = 2
"""Maximum number of pending waves."""


class LadderState(Struct, kw_only=True, forbid_unknown_fields=True):
    """State of a ladder before a wave is made: everything it needs from earlier results. Lists are by entrant."""

    turn: Number = 0
    """Number of waves made."""
    first: Number = 0
    """Number of the first block that is in no wave yet."""
    pending: list[list[tuple[Number, ...]]] = []
    """Tables of the waves whose results are not in the ratings yet: the last blocks before `first`."""
    matches: Number = 0
    """Number of matches in the ratings."""
    head: Annotated[str, Meta(max_length=200)] = ""
    """Hash of the last line of the last such match's transcript."""
    fields: Number = 0
    """Number of fields (`fields_of`) that have started."""
    period: Number = 0
    """Number of the period, from 1; 0 before the first."""
    means: list[Real] = []
    """Estimated log-strengths."""
    variances: list[Variance] = []
    blocks: list[Number] = []
    """Numbers of blocks in this period, including pending waves."""
    charged_us: list[Number] = []
    """Charged thinking time in this period, in microseconds."""
    met: list[list[Number]] = []
    """Recent opponents of each bot, the latest last."""

    @property
    def rated(self) -> int:
        """Number of the first block whose results are not in the ratings."""
        return self.first - sum(map(len, self.pending))

    def fits(self, numbers: int, seats: int) -> bool:
        """Return True if the state is consistent for these numbers of entrants and seats; files are untrusted."""
        length = len(self.means)
        tables = [table for wave in self.pending for table in wave]
        return (
            length <= numbers
            and all(len(each) == length for each in (self.variances, self.blocks, self.charged_us, self.met))
            and len(self.pending) <= WAVES
            and self.rated >= 0
            and all(len(table) == seats and max(table) < length for table in tables)
        )
