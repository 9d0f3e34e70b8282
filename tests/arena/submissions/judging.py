"""A competition that has begun, with teams, a judge and stand-ins for all that takes long."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from arena.accounts import Account, Accounts, Database
from arena.submissions.competition import Competition
from arena.submissions.judge import Judge, judge_lock
from arena.submissions.records import Submissions
from arena.submissions.scrimmages import ScrimmagePlayer, Scrimmages
from arena.submissions.store import UploadStore
from arena.submissions.submission import Submission
from arena.tournament.ledger import Ledger
from arena.tournament.notices import Notice
from arena.tournament.results_folder import LEDGER
from arena.workers import LOCAL, Placement
from tests.arena.cups import bot_folders, play_cup
from tests.arena.submissions.examining import StandInExaminer, Tick, no_tick
from tests.builders.tournaments import write_tournament

HERE = Placement(on=LOCAL, transcripts=None, concurrency=1, workers=1)


def begun_cup(folder: Path, *more: str, begin: bool = True) -> Path:
    """Write a round robin of a and b, and play it; return its file."""
    bot_folders(folder, "ab")
    file = write_tournament(folder / "cup.toml", ["a", "b"], "[server]", "in_flight = 9", *more)
    if begin:
        play_cup(file)
    return file


class Court:
    """The open server of a competition."""

    def __init__(self, file: Path, tick: Tick = no_tick) -> None:
        self.competition = Competition.read(file)
        self.database = Database(self.competition.database)
        self.accounts = Accounts(self.database)
        self.store = UploadStore(self.competition.uploads, 2**20, free_bytes=0)
        self.submissions = Submissions(
            self.database,
            self.competition.terms,
            competition="cup",
            store=self.store,
            logs=self.competition.logs,
            entries_until=self.competition.entries_until,
        )
        self.submissions.jobs._pauses = (*[0.0] * 20, 3_600.0)
        self.scrimmages = Scrimmages(self.database, self.competition.terms, competition=self.competition)
        self.examiner = StandInExaminer(file.parent / "in", tick)
        (file.parent / "in").mkdir(exist_ok=True)
        self.said: list[str] = []
        self.notices: list[Notice] = []
        self.judge = Judge(
            lambda: Competition.read(file),
            self.submissions,
            self.examiner,
            ScrimmagePlayer(self.competition, self.scrimmages, HERE),
            holder="test",
            tell=self.said.append,
            notify=self.notices.append,
        )

    def member(self, team: str) -> Account:
        found = self.accounts.team(team) or self.accounts.new_team(team)
        members = self.accounts.members(found.id)
        return members[0] if members else self.accounts.accept(self.accounts.invite(found.id), "Mia")

    def submit(self, team: str, archive: str | bytes) -> Submission:
        with self.store.begin() as part:
            part.write(archive.encode() if isinstance(archive, str) else archive)
            upload = part.finish()
        return self.submissions.receive(self.member(team), upload, "bot.zip").submission

    def now(self, submission: Submission) -> Submission:
        found = self.submissions.by_id(submission.id)
        assert found is not None
        return found

    def judge_all(self) -> None:
        with judge_lock(self.competition.server):
            self.judge.run(once=True)

    def close(self) -> None:
        self.database.close()


def with_court(file: Path, do: Callable[[Court], None]) -> None:
    with closing(Court(file)) as court:
        do(court)


def versions(file: Path) -> list[tuple[str, str, int | None]]:
    """Return label, content and predecessor of each entry in the ledger, in order."""
    with closing(Ledger(Competition.read(file).results / LEDGER)) as ledger:
        found = [event.what for event in ledger.events()]
    return [(what.label, what.content, what.predecessor) for what in found]  # type: ignore[union-attr]
