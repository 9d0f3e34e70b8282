"""Entering bots into a tournament that has begun, as `arena entry` and the judge of submissions do it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from arena.checks import check_asked, check_field
from arena.config import (
    Entry,
    Stage,
    Tournament,
    difference,
    find_entrant,
    is_season,
    look_alike,
    read_season,
    read_tournament,
)
from arena.errors import WrongUse
from arena.season import tournament_as_begun
from arena.terminal import say
from arena.tournament import (
    CHECKS,
    LEDGER,
    FieldState,
    Ledger,
    StartTerms,
    copies_of_file,
    enter,
    field_state_of,
    keep_begun,
    keep_entry,
    load_start_terms,
    now,
    results_folder_of,
    update,
)
from arena.workers import LOCAL, Placement, PoolSetup, workers_kept
from referee.bot_folder import (
    MOST_FILES,
    MOST_MB,
    BotFolder,
    BotFolderError,
    ContentError,
    UploadError,
    content_hash,
    folder_name,
    unpacked_upload,
)

HERE = Placement(on=LOCAL, transcripts=None, concurrency=None, workers=None)


class OpenField:
    """The field of a started tournament, which is changed."""

    def __init__(
        self, tournament: Tournament, ledger: Ledger, begun: StartTerms, *, checks: bool, received: datetime | None
    ) -> None:
        """See `open_field`."""
        self.tournament = tournament
        self.begun = begun
        self._ledger = ledger
        self._checks = checks
        self._received = received

    @property
    def standing(self) -> FieldState:
        """Current field from the ledger."""
        return field_state_of(self._ledger, self.begun)

    def predecessor(self, label: str) -> int | None:
        """Return the entrant whose place a bot with this label takes; None if it enters as a new bot.

        Raises:
            WrongUse: no bot can enter under this label.
        """
        standing = self.standing
        if label in standing.labels:
            number = standing.labels.index(label)
            first = standing.teams[number]
            if first != number:
                raise WrongUse(f"{label}: is what a version of {standing.labels[first]} is called")
            return standing.entrant(label)
        for other in filter(partial(look_alike, label), standing.labels):
            raise WrongUse(f"{label}: looks like {other}: {difference(label, other)}; give it another name")
        return None

    def take_in(self, bot: Entry, label: str, given: str, before: int | None = None) -> None:
        """Check a bot, keep a copy of it, and enter it.

        Args:
            bot: the bot.
            label: its label; with `before`, the label of the bot that it is a version of.
            given: the name by which it is found again.
            before: the entrant whose place it takes as a new version.

        Raises:
            WrongUse: it cannot start, or may not enter.
            MachineCannot: it could not be started or kept.
        """
        version = label if before is None else self.standing.next_version(before)
        if before is not None:
            keep_begun(self.tournament.results, self.begun, before)
        if isinstance(bot, BotFolder):
            self._check(bot, version)
        self.keep(bot, before)
        self.write(bot, label, given, before)

    def keep(self, bot: Entry, before: int | None) -> None:
        """Keep copies of a bot, and of what it takes the place of.

        Raises:
            WrongUse: the copies cannot be made.
            MachineCannot: there is no space.
        """
        if before is not None:
            keep_begun(self.tournament.results, self.begun, before)
        if isinstance(bot, BotFolder):
            keep_entry(self.tournament.results, bot)

    def write(self, bot: Entry, label: str, given: str, before: int | None) -> None:
        """Write the entry of a bot into the ledger; arguments are those of `take_in`.

        Raises:
            WrongUse: it may not enter.
            MachineCannot: the ledger cannot be written.
        """
        write = enter if before is None else update
        write(self._ledger, self.begun, bot, label, given, received=self._received)

    def _check(self, bot: BotFolder, label: str) -> None:
        """Build a bot and, if the field has checks, check that it starts.

        Raises:
            WrongUse: it cannot start.
        """
        failed: dict[int, str] = {}
        form = replace(self.tournament.form, isolation=self.begun.isolation)
        players, _ = PoolSetup(where=HERE, isolation=form.isolation).pool_for((bot,), failed=failed)
        if failed:
            raise WrongUse(f"{bot.given}: {failed[0]}")
        if not self._checks:
            return
        alone = replace(self.tournament, form=form, bots=(bot,), labels=(label,))
        check = check_asked(HERE, alone, failed, plays=True)
        folder = self.tournament.results / CHECKS / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
        (found,) = check_field(alone, players, check, folder)
        if found.broken:
            raise WrongUse(f"{bot.given}: {found.broken}; logs: {folder}")
        if not found.tally.is_well:
            for text in found.tally.said:
                say(f"check: {label}: {text}")


@contextmanager
def open_field(tournament: Tournament, *, checks: bool, received: datetime | None = None) -> Iterator[OpenField]:
    """Open the ledger of a started tournament for changes of its field.

    Args:
        tournament: the tournament.
        checks: whether each new bot is started once.
        received: the time that decides whether a bot is in time, when it is written; None: now, at once, too.

    Raises:
        WrongUse: it has not started, or its deadline for entries is over.
    """
    with workers_kept(), closing(Ledger(tournament.results / LEDGER)) as ledger:
        field = OpenField(tournament, ledger, load_start_terms(ledger), checks=checks, received=received)
        if received is None:
            field.standing.check_deadline(now())
        yield field


def tournament_to_change(cup: Path, results: Path | None) -> Tournament:
    """Read the tournament of a file, with its bots as they were at the start, not as their folders are now.

    Args:
        cup: the file of a tournament or of a season.
        results: the results folder, in place of the file's; for a season, that of a stage.

    Raises:
        WrongUse: the file is not valid, or the stage is not named, or it has not started.
    """
    if is_season(cup):
        return _of_stage(cup, results)
    place = results_folder_of(results or cup)
    return replace(read_tournament(cup, copies_of_file(place, withdrawn_only=False)), results=place)


def _of_stage(cup: Path, results: Path | None) -> Tournament:
    """Return the tournament of a season's stage. Raises as `tournament_to_change`."""
    season = read_season(cup)
    parts: dict[str, Stage] = {}
    for stage in season.stages:
        parts |= dict.fromkeys(stage.parts, stage)
    if results is None or results.name not in parts:
        known = ", ".join(map(str, map(season.folder, parts)))
        raise WrongUse(f"{cup}: is a season's: name a stage's folder with --results; there are {known}")
    season = replace(season, results=results.parent)
    return tournament_as_begun(season, parts[results.name], results.name)


def bot_in(
    tournament: Tournament,
    path: Path,
    called: str,
    *,
    inside: Path | None = None,
    most_mb: int = MOST_MB,
    reserve_mb: int = 0,
    unfit: Callable[[str], None] = lambda _: None,
) -> Entry:
    """Return the bot of a folder or an archive.

    Args:
        tournament: the tournament that it is to enter.
        path: the folder or the archive.
        called: its name in errors.
        inside: folder in which the archive is unpacked; None: that for temporary files.
        most_mb: maximum megabytes of an archive's files together, beside the tournament's own cap.
        reserve_mb: megabytes of the disk that stay free, beside the bot and its copies.
        unfit: called with the content hash of an unpacked bot that may not play; the cache may have a copy of it.

    Raises:
        WrongUse: it may not play in this tournament.
        OSError: the machine lacks memory, disk or another resource.
    """
    caps = tournament.form.entry
    with ExitStack() as stack:
        place = path
        try:
            if not path.is_dir():
                place = stack.enter_context(
                    unpacked_upload(
                        path,
                        most_mb=min(caps.size_mb or MOST_MB, most_mb),
                        most_files=caps.files or MOST_FILES,
                        inside=inside,
                        reserve_mb=reserve_mb,
                    )
                )
            return find_entrant(tournament, folder_name(place), called)
        except UploadError as error:
            raise WrongUse(f"{called}: {error}") from None
        except BotFolderError as error:
            if place != path:
                with suppress(ContentError, OSError):
                    unfit(content_hash(place))
            # The author does not know the folder into which the archive was unpacked.
            raise WrongUse(str(error).replace(str(place), called)) from None
