"""`arena judge`: the process that judges what teams submit. `arena serve --play` starts it."""

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import click
from msgspec import Struct

from arena.accounts import Database
from arena.commands.options import NotifyOption
from arena.config import Notices
from arena.options import option, options
from arena.submissions import (
    JUDGING,
    Competition,
    Judge,
    MachineExaminer,
    ScrimmagePlayer,
    Scrimmages,
    Submissions,
    UploadStore,
    judge_lock,
)
from arena.terminal import say
from arena.tournament import no_notices, open_notices
from arena.workers import LOCAL, Placement
from referee.bot_folder import MEGABYTE

NICE = 10
"""Amount by which the judge and the bots that it starts yield to matches that count."""


class JudgeOptions(Struct, frozen=True, kw_only=True):
    """Options of the judge."""

    results: Annotated[Path | None, option("Results folder, in place of the file's.")] = None
    on: Annotated[
        str,
        option(
            "Start bots here (local), or on an existing Dask cluster (dask://HOST:PORT).",
            show_default=True,
            metavar="PLACE",
        ),
    ] = LOCAL
    once: Annotated[bool, option("End when nothing waits.")] = False
    notify: NotifyOption = None


@click.command("judge", short_help="Judge what teams submit.")
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@options(JudgeOptions)
def command(file: Path, *, asked: JudgeOptions) -> None:
    """Judge the submissions of the competition in FILE, and print a line for each verdict.

    It may be stopped or killed at any time; run it again to go on.
    """
    competition = Competition.read(file, asked.results)
    where = Placement(on=asked.on, transcripts=None, concurrency=None, workers=None)
    os.nice(NICE)
    notices = competition.form.notices or Notices()
    with (
        judge_lock(competition.server) as holder,
        closing(Database(competition.database)) as database,
        open_notices(asked.notify or notices.url) as notify,
    ):
        terms = competition.terms
        submissions = Submissions(
            database,
            terms,
            competition=competition.name,
            store=UploadStore(competition.uploads, terms.upload_mb * MEGABYTE),
            logs=competition.logs,
            entries_until=competition.entries_until,
        )
        scrimmages = Scrimmages(database, terms, competition=competition)
        judge = Judge(
            lambda: Competition.read(file, asked.results),
            submissions,
            MachineExaminer(where, competition.server / JUDGING, terms),
            ScrimmagePlayer(competition, scrimmages, where),
            holder=holder,
            notify=notify if "judging" in notices.events else no_notices,
        )
        say(f"{competition.name}: {submissions.queue().waiting} in the queue")
        judge.run(once=asked.once)
