"""A field that changes while machines of a cluster fail: bots arrive by content hash; the table stays the same."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.errors import CANNOT, DONE
from arena.tournament.ledger import Ledger
from tests.cluster.dask_cluster import DaskCluster, dask_cluster
from tests.cluster.test_cluster import ON_CLUSTER, rows
from tests.real_wire.processes import children, until
from tests.real_wire.test_killed import ARENA, BOT, REAL_MATCHES, TIMES, cup, start, table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]
LEDGER = "runs/cup/ledger.sqlite"
WAITS = "the scheduler is gone; waiting 120 s for it to come back"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path / "cluster") as started:
        yield started


class Cup:
    """A tournament on a cluster, whose bots enter and leave while it is played."""

    def __init__(self, folder: Path, cluster: DaskCluster, text: str, *more: str) -> None:
        self.file = cup(folder, text)
        self._said = folder / "said"
        self._command = (*ON_CLUSTER, cluster.on, "--patience", "2m", *more)
        self._cluster = cluster
        self.start()

    def start(self) -> None:
        """The arena goes on."""
        with self._said.open("ab") as said:
            self.arena = start(self._command, self.file, said)

    def kill(self) -> None:
        """The arena is gone, whatever it was at."""
        self.arena.kill()
        self.arena.communicate()

    @property
    def said(self) -> str:
        return self._said.read_text()

    def play(self, more: int) -> None:
        """Waits until so many more matches count."""
        before = self.played
        until(lambda: self.played >= before + more or self.arena.poll() is not None)

    @property
    def played(self) -> int:
        found = rows(self.file, "SELECT count(*) FROM results")
        return int(str(found[0][0])) if found else 0

    def entry(self, what: str, *words: str) -> None:
        """A host's command; each time the bot has another program."""
        bot = self.file.parent / "three"
        shutil.copytree(self.file.parent / "one", bot, dirs_exist_ok=True)
        (bot / "bot.py").write_text(BOT + f"# {time.monotonic_ns()}\n")
        done = CliRunner().invoke(main, ["entry", what, str(self.file), *words])
        assert DONE == done.exit_code, done.stderr

    def contents(self) -> list[str]:
        """The folders' names of the contents that have entered."""
        found = rows(
            self.file, "SELECT json_extract(data, '$.content') FROM events WHERE kind = 'entered' ORDER BY id"
        )
        return [str(content).removeprefix("sha256:") for (content,) in found]

    def until_sent(self, content: str, *hosts: str) -> None:
        """Waits until hosts have a bot."""
        places = [self._cluster.cache(host) / "contents" / content / "bot.py" for host in hosts]
        until(lambda: all(place.exists() for place in places) or self.arena.poll() is not None)
        assert all(place.exists() for place in places), self.said

    def assert_nothing_twice(self) -> None:
        """Each match that counts was played once to an end that counts."""
        found = rows(self.file, "SELECT count(*) FROM attempts WHERE played IS NOT NULL AND set_aside IS NULL")
        assert [(self.played,)] == found

    def begin_again(self) -> None:
        """Forgets what was played; what entered, and from which block on, is left."""
        with closing(sqlite3.connect(self.file.parent / LEDGER)) as book:
            book.execute("DELETE FROM results")
            book.execute("DELETE FROM attempts")
            book.commit()
        shutil.rmtree(self.file.parent / "runs/cup/transcripts")
        (self.file.parent / "runs/cup/ladder.json").unlink(missing_ok=True)

    def results(self) -> list[tuple[object, ...]]:
        """What came of each match that counts, in schedule order."""
        with closing(Ledger(self.file.parent / LEDGER)) as ledger:
            return [
                (each.block, each.seating, each.entrants, each.outcome, each.conduct) for each in ledger.results()
            ]


def kill_with_node(worker: "subprocess.Popen[bytes]") -> None:
    """Kills a worker and the node beside it, as the end of their machine would."""
    nodes = children(worker.pid)
    worker.kill()
    worker.wait()
    for node in nodes:
        with suppress(ProcessLookupError):
            os.kill(node, signal.SIGKILL)


def test_with_machines_lost_while_bots_enter_the_table_is_the_undisturbed_one(
    tmp_path: Path, cluster: DaskCluster
) -> None:
    first = cluster.add(host="a")
    cluster.add(host="b")
    played = Cup(tmp_path / "cup", cluster, REAL_MATCHES.replace("blocks = 3", "blocks = 5"))
    played.play(1)
    played.entry("add", str(played.file.parent / "three"), "--no-check")
    cluster.add(host="late")
    played.until_sent(played.contents()[0], "a", "b", "late")
    # What a node keeps is removed under its hands.
    shutil.rmtree(cluster.cache("b") / "contents")
    played.until_sent(played.contents()[0], "b")
    kill_with_node(first)
    played.play(1)
    played.entry("update", "one", str(played.file.parent / "three"), "--no-check")
    played.kill()
    played.start()
    played.until_sent(played.contents()[1], "b", "late")
    played.play(1)
    cluster.restart_scheduler()
    cluster.add(host="b")
    cluster.add(host="new")
    played.play(1)
    # The version that has left, too: it ends what it began.
    played.until_sent(played.contents()[0], "new")
    found = table(played.arena, TIMES)
    assert "has lost copies of bots, and gets them again" in played.said
    assert WAITS in played.said
    played.assert_nothing_twice()
    played.begin_again()
    assert json.dumps(table(start(ARENA, played.file), TIMES)) == json.dumps(found)


def test_a_ladder_without_an_end_goes_on_through_the_same(tmp_path: Path, cluster: DaskCluster) -> None:
    first = cluster.add(host="a")
    ladder = REAL_MATCHES.replace("blocks = 3", 'format = "ladder"\nendless = true\nold_versions = 1')
    played = Cup(tmp_path / "cup", cluster, ladder)
    played.play(1)
    played.entry("add", str(played.file.parent / "three"), "--no-check")
    played.until_sent(played.contents()[0], "a")
    cluster.add(host="b")
    kill_with_node(first)
    played.entry("update", "three", "--no-check")
    played.kill()
    played.start()
    played.until_sent(played.contents()[1], "b")
    cluster.restart_scheduler()
    cluster.add(host="b")
    played.play(6)
    played.entry("withdraw", "two")
    played.play(6)
    played.arena.terminate()
    played.arena.communicate()
    assert WAITS in played.said
    played.assert_nothing_twice()
    found = played.results()
    played.begin_again()
    with start(ARENA, played.file) as arena:
        until(lambda: played.played >= len(found) + 8)
        arena.terminate()
        arena.communicate()
    again = played.results()
    # Where it was stopped, blocks lack matches.
    shared = {result[:2] for result in found} & {result[:2] for result in again}
    assert len(shared) > 6
    assert [each for each in found if each[:2] in shared] == [each for each in again if each[:2] in shared]


def test_without_its_scheduler_it_waits_then_stops_and_goes_on_another_time(
    tmp_path: Path, cluster: DaskCluster
) -> None:
    cluster.add()
    file = cup(tmp_path / "cup", REAL_MATCHES)
    with start((*ON_CLUSTER, cluster.on, "--patience", "2s"), file) as arena:
        until(lambda: rows(file, "SELECT 1 FROM attempts"))
        on = cluster.on
        cluster.scheduler.kill()
        _, said = arena.communicate()
    assert CANNOT == arena.returncode
    assert f"--on {on}: the scheduler is gone; waiting 2 s for it to come back\n" in said.decode()
    last = "the scheduler is gone, and did not come back in 2 s; run again when it is back, it goes on"
    assert f"arena: --on {on}: {last}" == said.decode().splitlines()[-1]
    cluster.restart_scheduler()
    cluster.add()
    until(lambda: DONE == _ended(file, cluster))
    assert [(6,)] == rows(file, "SELECT count(*) FROM results")


def _ended(file: Path, cluster: DaskCluster) -> int:
    """How the arena ends, which there may have to be a worker for first."""
    with start((*ON_CLUSTER, cluster.on), file) as arena:
        arena.communicate()
    return arena.returncode
