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
import trio
from click.testing import CliRunner

from arena.commands.main import main
from arena.errors import CANNOT, DONE
from arena.tournament.ledger import Ledger
from tests.cluster.dask_cluster import DaskCluster, dask_cluster
from tests.cluster.test_cluster import ON_CLUSTER, rows, workers_of
from tests.real_wire.held import LONG, Gate
from tests.real_wire.processes import children, until
from tests.real_wire.test_killed import REAL_MATCHES, TIMES, cup, start, table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(1800)]
LEDGER = "runs/cup/ledger.sqlite"
HERE = ("-m", "arena", "tournament", "--no-check", "--json", "--workers", "1", "--concurrency", "2")
SHORT = REAL_MATCHES.replace("blocks = 3", "blocks = 2").replace("max_turns = 30", "max_turns = 4") + LONG
WAITS = "the scheduler is gone; waiting 300 s for it to come back"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path / "cluster") as started:
        yield started


class Cup:
    """A tournament on a cluster, whose bots enter and leave while it is played.

    Each match waits until it is let go on: however slowly workers come, there are matches left for them.
    """

    def __init__(self, folder: Path, cluster: DaskCluster, text: str) -> None:
        self._gate = Gate(folder / "gate")
        self.file = cup(folder, text, self._gate.bot)
        self._said = folder / "said"
        self._command = (*ON_CLUSTER, cluster.on, "--patience", "5m", "--no-check")
        self._cluster = cluster
        self.start()

    def start(self) -> None:
        """Start the arena, or let it go on."""
        with self._said.open("ab") as said:
            self.arena = start(self._command, self.file, said)

    def kill(self) -> None:
        """Kill the arena, whatever it is at."""
        self.arena.kill()
        self.arena.communicate()

    @property
    def said(self) -> str:
        return self._said.read_text()

    def play(self, more: int) -> None:
        """Wait until so many more matches count."""
        before = self.played
        self._gate.until(lambda: self.played >= before + more)
        assert self.arena.poll() is None, self.said

    def until_waiting(self, matches: int) -> None:
        """Wait until so many matches are held, each by a worker that has all that it needs."""
        until(lambda: matches == len(self._gate.waiting) or self.arena.poll() is not None)
        assert self.arena.poll() is None, self.said

    def play_on(self) -> None:
        """No match waits any more."""
        self._gate.open()

    @property
    def played(self) -> int:
        found = rows(self.file, "SELECT count(*) FROM results")
        return int(str(found[0][0])) if found else 0

    def entry(self, what: str, *words: str) -> None:
        """Run a host's command; each time the bot has another program."""
        bot = self.file.parent / "three"
        shutil.copytree(self.file.parent / "one", bot, dirs_exist_ok=True)
        (bot / "bot.py").write_text(f"{self._gate.bot}# {time.monotonic_ns()}\n")
        done = CliRunner().invoke(main, ["entry", what, str(self.file), *words])
        assert DONE == done.exit_code, done.stderr

    def take_in(self) -> None:
        """Lets what was begun come to its end, after which the arena takes changes in."""
        self._gate.until(lambda: not rows(self.file, "SELECT 1 FROM events WHERE block IS NULL"))

    def contents(self) -> list[str]:
        """Return the folders' names of the contents that have entered."""
        found = rows(
            self.file, "SELECT json_extract(data, '$.content') FROM events WHERE kind = 'entered' ORDER BY id"
        )
        return [str(content).removeprefix("sha256:") for (content,) in found]

    def until_sent(self, content: str, *hosts: str) -> None:
        """Wait until hosts have a bot, before any match more ends."""
        until(lambda: self._sent(content, *hosts) or self.arena.poll() is not None)
        assert self._sent(content, *hosts), self.said

    def play_until_sent(self, content: str, host: str) -> None:
        """Lets matches go on until a host has a bot."""
        self._gate.until(lambda: self._sent(content, host))

    def _sent(self, content: str, *hosts: str) -> bool:
        return all((self._cluster.cache(host) / "contents" / content / "bot.py").exists() for host in hosts)

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
        """Return the results of all matches that count, in schedule order."""
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
    played = Cup(tmp_path / "cup", cluster, SHORT)
    played.play(1)
    played.entry("add", str(played.file.parent / "three"), "--no-check")
    played.take_in()
    played.until_sent(played.contents()[0], "a", "b")
    played.until_waiting(2)
    # What a node keeps is removed under its hands.
    shutil.rmtree(cluster.cache("b") / "contents")
    played.play_until_sent(played.contents()[0], "b")
    kill_with_node(first)
    played.entry("update", "one", str(played.file.parent / "three"), "--no-check")
    played.kill()
    played.start()
    played.take_in()
    played.play_until_sent(played.contents()[1], "b")
    cluster.restart_scheduler()
    cluster.add(host="new")
    # The version that has left, too: it ends what it began.
    played.until_sent(played.contents()[0], "new")
    played.play_on()
    found = table(played.arena, TIMES)
    assert "has lost copies of bots, and gets them again" in played.said
    assert WAITS in played.said
    played.assert_nothing_twice()
    played.begin_again()
    assert json.dumps(table(start(HERE, played.file), TIMES)) == json.dumps(found)


def test_a_ladder_without_an_end_goes_on_through_the_same(tmp_path: Path, cluster: DaskCluster) -> None:
    first = cluster.add(host="a")
    ladder = SHORT.replace("blocks = 2", 'format = "ladder"\nendless = true\nold_versions = 1')
    played = Cup(tmp_path / "cup", cluster, ladder)
    played.play(1)
    played.entry("add", str(played.file.parent / "three"), "--no-check")
    played.take_in()
    cluster.add(host="b")
    played.until_sent(played.contents()[0], "a", "b")
    kill_with_node(first)
    played.entry("update", "three", "--no-check")
    played.kill()
    played.start()
    played.take_in()
    played.play_until_sent(played.contents()[1], "b")
    played.play(3)
    played.entry("withdraw", "two")
    played.take_in()
    played.play(3)
    played.arena.terminate()
    played.arena.communicate()
    played.play_on()
    played.assert_nothing_twice()
    found = played.results()
    played.begin_again()
    with start(HERE, played.file) as arena:
        until(lambda: played.played >= len(found) + 4)
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
    gate = Gate(tmp_path / "gate")
    file = cup(tmp_path / "cup", SHORT.replace("blocks = 2", "blocks = 1"), gate.bot)
    with start((*ON_CLUSTER, cluster.on, "--no-check", "--patience", "2s"), file) as arena:
        until(lambda: gate.waiting)
        on = cluster.on
        cluster.scheduler.kill()
        _, said = arena.communicate()
    assert CANNOT == arena.returncode
    assert f"--on {on}: the scheduler is gone; waiting 2 s for it to come back\n" in said.decode()
    last = "the scheduler is gone, and did not come back in 2 s; no match counts yet; to go on once this is "
    assert said.decode().splitlines()[-1].startswith(f"arena: --on {on}: {last}")
    gate.open()
    cluster.restart_scheduler()
    cluster.add()
    until(lambda: 1 == trio.run(workers_of, cluster.on))
    with start((*ON_CLUSTER, cluster.on, "--no-check"), file) as arena:
        arena.communicate()
    assert DONE == arena.returncode
    assert [(2,)] == rows(file, "SELECT count(*) FROM results")
