"""The matches of one team's bot, with the causes of losses, time and memory, which only the team may see.

A match is shown once its block counts, as everywhere: until then others may still play from the same deal, and
even the view of the team's own seat would reveal it.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing

from msgspec import Struct

from arena.pages.competition import Competition
from arena.pages.contents import replay_path
from arena.pages.matches import ended_text, match_file, opponents_of
from arena.pages.tables import plain_text
from arena.quantities import MISSING
from arena.reports import USAGE, MatchListed, SeatListed, Share, archive_name, field_of, match_listed
from arena.schedule import WITHDRAWN_MARK, labels_now, match_of
from arena.statistics import Reported
from arena.tournament import Ledger


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
    labels: tuple[str, ...]
    """Labels of all entrants."""
    house: int | None
    """The house bot."""
    entrants: tuple[int, ...]
    """The versions of the team's bot."""
    keys: tuple[tuple[int, int], ...]
    """Block and seating of its matches that count, in schedule order."""

    def matches(self, keys: Iterable[tuple[int, int]]) -> list[TeamMatch]:
        """Return some of the matches, read from the ledger."""
        return list(map(self._match, self.competition.some(list(keys))))

    def match(self, name: str) -> TeamMatch | None:
        """Return the match with a name; None if none that counts has it, or if it is not the team's."""
        key = match_of(name)
        if key is None or key not in self.keys:
            return None
        return next(iter(self.matches([key])), None)

    def bot_page(self, label: str | None = None) -> str | None:
        """Return the path of the public page of a version; of the latest one without a label. None: unknown."""
        for entrant in reversed(self.entrants):
            if label is None or self.labels[entrant].removesuffix(WITHDRAWN_MARK) == label:
                return f"{self.competition.slug}/bot/{entrant}.html"
        return None

    def shares(self, ledger: Ledger, folder: str) -> Iterator[Share]:
        """Yield the contents of the team's archive, by version. `folder`: of the competition in the archive."""
        for entrant in self.entrants:
            name = archive_name(self.labels[entrant])
            yield Share(
                ledger=ledger,
                labels=self.labels,
                entrant=entrant,
                folder=f"{folder}/{name}".lstrip("/"),
                keys=self.competition.of_bots.keys(ledger, [entrant]),
            )

    def _match(self, row: Reported) -> TeamMatch:
        listed = match_listed(row, self.labels, causes_of=self.entrants)
        own = [seat for seat in listed.seats if seat.entrant in self.entrants]
        others = opponents_of(row.played.entrants, self.labels, self.house, own[0].entrant)
        return TeamMatch(
            competition=self.competition,
            listed=listed,
            own=tuple(
                TeamSeat(listed=seat, ended=ended_text(row.played, seat.seat).text, used=_used(row, seat.seat))
                for seat in own
            ),
            against=plain_text(others),
            is_here=self.competition.stored_transcript(row) is not None,
            is_public=self.competition.transcript(row) is not None,
        )


def _used(match: Reported, seat: int) -> tuple[tuple[str, str], ...]:
    if not match.reports:
        return ()
    used = [(column.heading, column.cell(match.reports[seat])) for column in USAGE]
    return tuple((heading, value) for heading, value in used if value != MISSING)


def read_matches(competition: Competition) -> None:
    """Read a competition's matches, so that `team_parts` reads new ones alone. Raises the same errors."""
    if competition.ledger.is_file():
        with closing(Ledger(competition.ledger)) as ledger:
            competition.of_bots.keys(ledger, ())


def team_parts(competitions: Iterable[Competition], team: str) -> list[TeamPart]:
    """Return a team's part of each competition in which its bot plays or has played.

    The bot is the one that entered under the team's name, with all its later versions. Only new matches of the
    ledger are read; see `MatchesOfBots`.

    Raises:
        WrongUse: a ledger is not valid.
        MachineCannot: a ledger cannot be read.
    """
    parts: list[TeamPart] = []
    for competition in competitions:
        if not competition.ledger.is_file():
            continue
        with closing(Ledger(competition.ledger)) as ledger:
            if not ledger.terms():
                continue
            field = field_of(ledger)
            entrants = [
                entrant
                for entrant, first in enumerate(field.teams)
                if field.labels[first] == team and entrant != field.spec.house
            ]
            if entrants:
                keys = competition.of_bots.keys(ledger, entrants)
                parts.append(
                    TeamPart(
                        competition=competition,
                        labels=labels_now(field.spec, field.begun.labels),
                        house=field.spec.house,
                        entrants=tuple(entrants),
                        keys=tuple(keys),
                    )
                )
    return parts
