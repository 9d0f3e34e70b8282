"""The matches of one team's bot, with the causes of losses, time and memory, which only the team may see.

A match is shown once its block counts, as everywhere: until then others may still play from the same deal, and
even the view of the team's own seat would reveal it.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing

from msgspec import Struct

from arena.pages.competition import Competition, Overview
from arena.pages.contents import replay_path
from arena.pages.matches import ended_text, match_file, opponents_of
from arena.pages.tables import plain_text
from arena.quantities import MISSING
from arena.reports import USAGE, MatchListed, SeatListed, Share, archive_name, field_of, match_listed
from arena.schedule import WITHDRAWN_MARK, match_of
from arena.statistics import Reported
from arena.tournament import Ledger, NotBegun


class TeamSeat(Struct, frozen=True, kw_only=True):
    """A seat of the team's bot."""

    listed: SeatListed
    """Result, with the causes of a loss."""
    ended: str
    """Result in words."""
    used: tuple[tuple[str, str], ...]
    """Heading and value of each measured resource."""


class TeamMatch(Struct, frozen=True, kw_only=True):
    """A match of the team's bot that counts."""

    competition: Competition
    listed: MatchListed
    """The match with all its seats. Only the team's own seats have causes of losses."""
    own: tuple[TeamSeat, ...]
    """The team's seats: more than one if versions of its bot met."""
    against: str
    """The other bots."""
    is_here: bool
    """True if the transcript is in the results folder."""
    is_public: bool
    """True if everybody may see the replay of all seats."""

    @property
    def page(self) -> str:
        """Path of the match's public page."""
        return f"{self.competition.slug}/match/{match_file(self.listed.block, self.listed.seating)}"

    @property
    def replay(self) -> str | None:
        """Path of the match's public replay; None if there is none."""
        return replay_path(self.listed.head) if self.is_public else None

    @property
    def path(self) -> str:
        """Competition and name of the match in addresses."""
        return f"{self.competition.slug}/{self.listed.match}"


class TeamPart(Struct, frozen=True, kw_only=True):
    """A team's part of one competition."""

    competition: Competition
    overview: Overview
    entrants: tuple[int, ...]
    """The versions of the team's bot."""
    rows: tuple[int, ...]
    """The rows of its matches in the index, in schedule order."""

    def matches(self, rows: Iterable[int]) -> list[TeamMatch]:
        """Return the matches of some rows, read from the ledger."""
        keys = self.overview.index.keys(rows)
        return list(map(self._match, self.competition.some(keys)))

    def match(self, name: str) -> TeamMatch | None:
        """Return the match with a name; None if none that counts has it, or if it is not the team's."""
        key = match_of(name)
        row = None if key is None else self.overview.index.row_of(*key)
        if row is None or not set(self.overview.index.entrants[row].tolist()).intersection(self.entrants):
            return None
        return next(iter(self.matches([row])), None)

    def bot_page(self, label: str | None = None) -> str | None:
        """Return the path of the public page of a version; of the latest one without a label. None: unknown."""
        labels = self.overview.found.digest.labels
        for entrant in reversed(self.entrants):
            if label is None or labels[entrant].removesuffix(WITHDRAWN_MARK) == label:
                return f"{self.competition.slug}/bot/{entrant}.html"
        return None

    def shares(self, ledger: Ledger, folder: str) -> Iterator[Share]:
        """Yield the contents of the team's archive, by version. `folder`: of the competition in the archive."""
        labels = self.overview.found.digest.labels
        for entrant in self.entrants:
            keys = self.overview.index.keys(self.overview.index.of_bot(entrant))
            name = archive_name(labels[entrant])
            yield Share(
                ledger=ledger,
                labels=tuple(labels),
                entrant=entrant,
                folder=f"{folder}/{name}".lstrip("/"),
                keys=keys,
            )

    def _match(self, row: Reported) -> TeamMatch:
        digest = self.overview.found.digest
        listed = match_listed(row, digest.labels, causes_of=self.entrants)
        own = [seat for seat in listed.seats if seat.entrant in self.entrants]
        return TeamMatch(
            competition=self.competition,
            listed=listed,
            own=tuple(
                TeamSeat(listed=seat, ended=ended_text(row.played, seat.seat).text, used=_used(row, seat.seat))
                for seat in own
            ),
            against=plain_text(opponents_of(row.played.entrants, digest, own[0].entrant)),
            is_here=self.competition.stored_transcript(row) is not None,
            is_public=self.competition.transcript(row) is not None,
        )


def _used(match: Reported, seat: int) -> tuple[tuple[str, str], ...]:
    if not match.reports:
        return ()
    used = [(column.heading, column.cell(match.reports[seat])) for column in USAGE]
    return tuple((heading, value) for heading, value in used if value != MISSING)


def team_parts(competitions: Iterable[Competition], team: str) -> list[TeamPart]:
    """Return a team's part of each competition in which its bot plays or has played.

    The bot is the one that entered under the team's name, with all its later versions. The ledger's matches are
    not read, but the index that pages have.

    Raises:
        WrongUse: a ledger is not valid.
        MachineCannot: a ledger cannot be read.
    """
    parts: list[TeamPart] = []
    for competition in competitions:
        try:
            overview = competition.overview()
        except NotBegun:
            continue
        with closing(Ledger(competition.ledger)) as ledger:
            field = field_of(ledger)
        # Later events may have entered bots that the overview does not know yet.
        known = min(len(field.teams), len(overview.found.digest.labels))
        entrants: list[int] = []
        for entrant, first in enumerate(field.teams[:known]):
            if field.labels[first] == team and entrant != field.spec.house:
                entrants.append(entrant)
        rows = {row for entrant in entrants for row in overview.index.of_bot(entrant)}
        if entrants:
            parts.append(
                TeamPart(
                    competition=competition,
                    overview=overview,
                    entrants=tuple(entrants),
                    rows=tuple(sorted(rows)),
                )
            )
    return parts
