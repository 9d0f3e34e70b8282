"""The competition that a server is for: its file, its folders, and the part of it that takes entries now."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from arena.accounts import DATABASE, SERVER, Account
from arena.config import (
    Season,
    ServerTerms,
    Tournament,
    TournamentFile,
    is_season,
    read_form,
    read_season,
    read_tournament,
    results_of,
)
from arena.errors import WrongUse
from arena.schedule import EntriesClosed, competing
from arena.season import all_bots
from arena.submissions.entering import tournament_to_change
from arena.submissions.records import Submissions
from arena.submissions.store import SubmissionRefused
from arena.tournament import LEDGER, FieldState, Ledger, field_state_of, load_start_terms, withdraw

UPLOADS, LOGS, JUDGING, SCRIMMAGES = "uploads", "logs", "judging", "scrimmages"
"""Names of folders in the server's."""


class OpenPart(Struct, frozen=True):
    """A tournament that takes the entry of a bot now."""

    results: Path
    """Its results folder."""


class NotYet(Struct, frozen=True):
    """No tournament takes the entry yet; `text` says what is waited for."""

    text: str


class NoMore(Struct, frozen=True):
    """No tournament will take the entry; `text` is the reason."""

    text: str


Part = OpenPart | NotYet | NoMore


class Competition:
    """A tournament or a season, as its file says."""

    def __init__(self, file: Path, form: TournamentFile, results: Path, season: Season | None) -> None:
        """See `read`."""
        self.file = file
        self.form = form
        self.results = results
        self._season = season

    @classmethod
    def read(cls, file: Path, results: Path | None = None) -> "Competition":
        """Read the file of a tournament or a season. The folders of its bots are not read.

        Args:
            file: the file.
            results: the results folder, in place of the file's.

        Raises:
            WrongUse: one line with file, line and field of what is wrong.
        """
        if is_season(file):
            season = read_season(file)
            if results is not None:
                raise WrongUse(f"{file}: is a season's, whose results folder is in the file")
            return cls(file, season.form, season.results, season)
        form = read_form(file)
        return cls(file, form, results or results_of(file, form), None)

    @property
    def name(self) -> str:
        """Name of the competition, for the queue."""
        return self.file.stem

    @property
    def terms(self) -> ServerTerms:
        """What teams may do."""
        return self.form.server

    @property
    def server(self) -> Path:
        """Folder of the database, the uploads and the logs."""
        return self.results / SERVER

    @property
    def database(self) -> Path:
        """Path of the database."""
        return self.server / DATABASE

    @property
    def uploads(self) -> Path:
        """Folder of the uploads."""
        return self.server / UPLOADS

    @property
    def logs(self) -> Path:
        """Folder of the judge's logs."""
        return self.server / LOGS

    def folder(self, name: str) -> Path:
        """Return the results folder with this name: of a season's stage or group, or of the tournament."""
        return self.results if self._season is None else self._season.folder(name)

    def folders(self) -> list[Path]:
        """Return the results folders of the tournament, or of all parts of the season, the latest stage first."""
        if self._season is None:
            return [self.results]
        folders: list[Path] = []
        for stage in reversed(self._season.stages):
            folders += map(self._season.folder, stage.parts)
        return folders

    def entries_until(self) -> str | None:
        """Return the time until which bots may enter, with the extensions so far; None: to the end."""
        for _, standing in self._begun():
            return standing.entries_until
        until = self.form.entries_until
        return None if until is None else until.isoformat()

    def part_for(self, label: str) -> Part:
        """Return the tournament in which a bot with this label enters, or plays a new version.

        In a season that is the stage that is played: of the first one, which all may enter, the group with the
        fewest bots; of a later one the group in which the bot competes.
        """
        open_parts = [(folder, standing) for folder, standing in self._begun() if not _is_closed(standing)]
        for folder, standing in open_parts:
            if label in _teams(standing):
                return OpenPart(folder)
        if self._season is None:
            if open_parts:
                return OpenPart(self.results)
            if any(True for _ in self._begun()):
                return NoMore("the competition is closed")
            return NotYet("the competition has not begun")
        return self._part_of_season(self._season, label, open_parts)

    def _part_of_season(self, season: Season, label: str, open_parts: list[tuple[Path, FieldState]]) -> Part:
        """Return the part of a season for a bot that competes in no open part."""
        begun = {folder.name for folder, _ in self._begun()}
        first, *later = season.stages
        here = [(folder, standing) for folder, standing in open_parts if folder.name in first.parts]
        if here:
            folder, _ = min(here, key=lambda each: len(competing(each[1].spec)))
            return OpenPart(folder)
        if not begun.intersection(first.parts):
            return NotYet("the season has not begun")
        ahead = [stage.name for stage in later if begun.isdisjoint(stage.parts)]
        if label not in self._labels():
            return NoMore(f"{first.name}, the stage that new bots may enter, is over")
        if ahead:
            return NotYet(f"{ahead[0]}, the next stage, has not begun")
        return NoMore(f"{label} does not compete in the stage that is played now")

    def tournament(self, part: Part) -> Tournament:
        """Return a tournament whose terms a bot is checked under.

        Raises:
            WrongUse: the competition's file or its folders are not valid.
        """
        if isinstance(part, OpenPart):
            return self.tournament_in(part.results)
        if self._season is not None:
            return all_bots(self._season)
        return read_tournament(self.file)

    def tournament_in(self, results: Path) -> Tournament:
        """Return the tournament of a results folder, which has begun. Raises as `tournament`."""
        found = tournament_to_change(self.file, results)
        with closing(Ledger(results / LEDGER)) as ledger:
            isolation = load_start_terms(ledger).isolation
        return replace(found, form=replace(found.form, isolation=isolation))

    def competitors(self) -> dict[str, str]:
        """Return the content hash of the version that plays now, by label, for the bots on this machine."""
        found: dict[str, str] = {}
        for _, standing in self._begun():
            labels, teams = standing.labels, standing.teams
            for entrant in competing(standing.spec):
                content = standing.content(entrant)
                if content is not None and content.startswith("sha256:") and entrant != standing.spec.house:
                    found[labels[teams[entrant]]] = content
        return found

    def contents(self) -> set[str]:
        """Return the content hashes of all bots that compete or have competed, the house's too."""
        found: set[str] = set()
        for _, standing in self._begun():
            found.update(filter(None, map(standing.content, range(len(standing.labels)))))
        return found

    def copies(self, content: str) -> list[Path]:
        """Return the folders in which a copy of a bot's content may be."""
        return [folder / "entries" / content.removeprefix("sha256:") for folder, _ in self._begun()]

    def withdraw(self, submissions: Submissions, account: Account) -> None:
        """Withdraw the bot of an account's team from the tournament in which it competes.

        Raises:
            SubmissionRefused: it does not compete.
        """
        label = account.team_name or ""
        withdrawn = False
        for folder, standing in self._begun():
            if label in _teams(standing) and not _is_closed(standing):
                with closing(Ledger(folder / LEDGER)) as ledger:
                    try:
                        withdraw(ledger, load_start_terms(ledger), label)
                    except WrongUse as error:
                        raise SubmissionRefused(error.format_message()) from None
                withdrawn = True
        if account.team is None or not withdrawn:
            raise SubmissionRefused("your team has no bot that competes")
        submissions.withdraw_entered(account.team, account, f"withdrawn by {account.name}")

    def _begun(self) -> Iterator[tuple[Path, FieldState]]:
        """Yield the folder and the field of each tournament that has begun, the latest stage first."""
        for folder in self.folders():
            if not (folder / LEDGER).is_file():
                continue
            with closing(Ledger(folder / LEDGER)) as ledger:
                if ledger.terms():
                    yield folder, field_state_of(ledger, load_start_terms(ledger))

    def _labels(self) -> set[str]:
        """Return the labels of all bots that compete or have competed."""
        found: set[str] = set()
        for _, standing in self._begun():
            found.update(standing.labels)
        return found


def _is_closed(standing: FieldState) -> bool:
    return any(isinstance(event.what, EntriesClosed) for event in standing.events)


def _teams(standing: FieldState) -> set[str]:
    """Return the labels of the bots that compete, without the numbers of their versions."""
    labels, teams = standing.labels, standing.teams
    return {labels[teams[entrant]] for entrant in competing(standing.spec)}
