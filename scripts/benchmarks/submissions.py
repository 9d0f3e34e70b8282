"""The judge of submissions beside a ladder: `submissions`."""

import argparse
import io
import os
import sqlite3
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.accounts import Account, Accounts, Database
from arena.submissions import Competition, Submission, Submissions, UploadStore
from arena.tournament import LEDGER
from benchmarks.harness import Judgement, bench
from referee.bot_folder import BUILT_IN, MEGABYTE

PAIRS, SECONDS, SETTLE = 6, 40.0, 3.0
QUICK_PAIRS, QUICK_SECONDS = 2, 15.0
AT_MOST_FALL = 0.10
"""Share of the ladder's matches that judging may cost."""
FLOOD, OTHERS, QUICK_OTHERS = 200, 4, 2
AT_MOST_TIMES = 2.0
"""Times as long as in quiet that a submission may take during another team's flood."""
PATIENCE_SECONDS = 600.0
ARENA = (sys.executable, "-m", "arena")
LADDER = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
format = "ladder"
endless = true
results = "runs"
[server]
submissions_per_day = 1000
in_flight = 1000
"""
FOR_THE_REFEREE = "SELECT count(*) FROM attempts WHERE played LIKE '%\"referee\"%' OR void LIKE '%referee%'"
RESULTS = "SELECT count(*) FROM results"
JUDGED = "SELECT count(*) FROM submissions WHERE state IN ('checked', 'entered', 'refused')"


class Season:
    """A ladder that is played, and its judge, each in a process of its own; without pages."""

    def __init__(self, folder: Path) -> None:
        file = folder / "cup.toml"
        file.write_text(LADDER)
        folder.chmod(0o755)  # Bots of root run as others.
        competition = Competition.read(file)
        self.database = Database(competition.database)
        self.submissions = Submissions(
            self.database,
            competition.terms,
            competition=competition.name,
            store=UploadStore(competition.uploads, competition.terms.upload_mb * MEGABYTE),
            logs=competition.logs,
        )
        self._accounts = Accounts(self.database)
        self._ledger = competition.results / LEDGER
        self._file = file
        self._number = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Play and judge in the block."""
        with ExitStack() as undo, Path(os.devnull).open("wb") as nowhere:
            for words in (("tournament", "--no-check"), ("judge",)):
                process = subprocess.Popen(
                    [*ARENA, words[0], self._file, *words[1:]], stdout=nowhere, stderr=nowhere
                )
                undo.callback(process.wait)
                undo.callback(process.terminate)
            wait_for(lambda: self.results() > 0)
            yield

    def member(self, team: str) -> Account:
        """Return the account of a team, which is made if it is missing."""
        found = self._accounts.team(team) or self._accounts.new_team(team)
        members = self._accounts.members(found.id)
        return members[0] if members else self._accounts.accept(self._accounts.invite(found.id), "Mia")

    def submit(self, team: str) -> Submission:
        """Hand in a bot that is like no other."""
        self._number += 1
        with self.submissions.store.begin() as part:
            part.write(archive(self._number))
            upload = part.finish()
        return self.submissions.receive(self.member(team), upload, "bot.tar.gz").submission

    def seconds_of(self, submission: Submission) -> float:
        """Wait for a verdict; return how long it took."""
        began = time.monotonic()
        wait_for(
            lambda: (found := self.submissions.by_id(submission.id)) is not None and found.verdict is not None
        )
        return time.monotonic() - began

    def pause(self, *, paused: bool) -> None:
        """Pause the judge, or let it go on."""
        self.submissions.pause(None, paused=paused)

    def judged(self) -> int:
        """Return the number of submissions with a verdict."""
        return int(self.database.value(JUDGED))

    def results(self) -> int:
        """Return the number of matches that count."""
        return self._value(RESULTS)

    def for_the_referee(self) -> int:
        """Return the number of matches with a window for which the referee was at fault."""
        return self._value(FOR_THE_REFEREE)

    def _value(self, query: str) -> int:
        try:
            with closing(sqlite3.connect(f"file:{self._ledger}?mode=ro", uri=True)) as connection:
                return int(connection.execute(query).fetchone()[0])
        except sqlite3.OperationalError:  # There is no ledger yet.
            return 0


def archive(number: int) -> bytes:
    """Return a sample bot that is like no other."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        for path in sorted((BUILT_IN / "mist_random").glob("bot.*")):
            content = path.read_bytes() + b"# %d\n" % number
            info = tarfile.TarInfo(path.name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return made.getvalue()


def wait_for(look: Callable[[], bool]) -> None:
    """Wait until something is so."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not look():
        if time.monotonic() > give_up:
            sys.exit("submissions: waited in vain")
        time.sleep(0.05)


def load() -> float:
    """Return the machine's load."""
    return os.getloadavg()[0]


def beside_a_ladder(season: Season, pairs: int, seconds: float) -> bool:
    """Measure the ladder with and without the judge by turns. Return whether its loss is within the bound."""
    for _ in range(FLOOD):
        season.submit("Fillers")
    ratios, verdicts, loads = [], 0, []
    for pair in range(pairs):
        rates = {}
        for paused in (True, False) if pair % 2 else (False, True):
            season.pause(paused=paused)
            if paused:
                wait_for(lambda: not season.submissions.queue().in_work)
            time.sleep(SETTLE)
            before, judged, began = season.results(), season.judged(), time.monotonic()
            time.sleep(seconds)
            rates[paused] = (season.results() - before) / (time.monotonic() - began)
            if not paused:
                verdicts += season.judged() - judged
        ratios.append(rates[False] / rates[True])
        loads.append(load())
        print(f"  ladder {rates[True]:.1f} matches a second alone, {rates[False]:.1f} beside the judge")
    fall = 1 - statistics.median(ratios)
    a_minute = 60 * verdicts / (pairs * seconds)
    print(
        f"{a_minute:.1f} submissions judged a minute, with five starts and a match each; the ladder loses "
        f"{100 * fall:.0f} % in the middle of {pairs} pairs (at most {100 * AT_MOST_FALL:.0f} %); load "
        f"{min(loads):.0f} to {max(loads):.0f}"
    )
    return fall <= AT_MOST_FALL


def in_a_flood(season: Season, others: int) -> bool:
    """Measure submissions of teams in quiet and in another team's flood. Return whether they are within bounds."""
    season.pause(paused=False)
    quiet = [season.seconds_of(season.submit(f"Quiet {number}")) for number in range(others)]
    for _ in range(FLOOD):
        season.submit("Flood")
    flooded = [season.seconds_of(season.submit(f"Other {number}")) for number in range(others)]
    alone, among = statistics.median(quiet), statistics.median(flooded)
    faults = season.for_the_referee()
    print(
        f"a submission takes {alone:.1f} s when none waits, {among:.1f} s while {FLOOD} of another team do: "
        f"{among / alone:.1f} times (at most {AT_MOST_TIMES:g}); matches with a window that the referee lost: "
        f"{faults} of {season.results():,} (none); load {load():.0f}"
    )
    return among <= AT_MOST_TIMES * alone and not faults


@bench("submissions")
def submissions(options: argparse.Namespace) -> Judgement:
    """Measure verdicts a minute beside a ladder, what the ladder loses by them, and a flood of one team's uploads.

    The ladder is measured with and without the judge by turns, other teams' submissions before and in the flood.
    """
    pairs, seconds = (QUICK_PAIRS, QUICK_SECONDS) if options.quick else (PAIRS, SECONDS)
    good = []
    measures: tuple[Callable[[Season], bool], ...] = (
        partial(in_a_flood, others=QUICK_OTHERS if options.quick else OTHERS),
        partial(beside_a_ladder, pairs=pairs, seconds=seconds),
    )
    for measure in measures:
        with TemporaryDirectory(dir=Path.cwd(), prefix="bench-submissions-") as scratch:
            season = Season(Path(scratch))
            with closing(season.database), season.running():
                good.append(measure(season))
    return all(good)
