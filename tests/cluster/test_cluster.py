"""Tournaments on a Dask cluster: a real scheduler, real workers, one of them killed half-way."""

import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import CliRunner

from arena.commands.main import main
from arena.errors import CANNOT, DONE, UNDECIDED, WRONG_USE
from arena.tournament.ledger import INTERRUPTED
from arena.workers.cluster import tasks
from arena.workers.cluster.dask import connected
from arena.workers.cluster.transfer import INSTALL
from referee.match.records import Judged
from referee.transcript.reader import read_transcript
from tests.cluster import dask_pickles
from tests.cluster.dask_cluster import ROOT, DaskCluster, dask_cluster
from tests.real_wire.held import LONG, Gate
from tests.real_wire.processes import PATIENCE_SECONDS, alive, children, family, until
from tests.real_wire.test_killed import ARENA, BOT, REAL_MATCHES, TIMES, cup, gone, start, table
from tests.real_wire.test_stopped import stop

pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.timeout(1800)]
"""One at a time: two clusters beside each other would need more cores than there are."""
ON_CLUSTER = ("-m", "arena", "tournament", "--json", "--on")
"""With a check of its bots there, before the first match."""
AT_ONCE = ("-m", "arena", "tournament", "--no-check", "--json", "--on")
SHORT = REAL_MATCHES.replace("blocks = 3", "blocks = 2").replace("max_turns = 30", "max_turns = 4") + LONG
MATCHES = 4
SELF_SIGNED = shlex.split(
    "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=arena -keyout key.pem -out certificate.pem"
)
PLAYING = 4
"""Processes of a worker that plays a match: a node, a referee, two bots."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path / "cluster") as started:
        yield started


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return cup(tmp_path / "cup", SHORT)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Where the matches of `held` wait: some are left whatever comes late."""
    return Gate(tmp_path / "gate")


@pytest.fixture
def held(tmp_path: Path, gate: Gate) -> Path:
    return cup(tmp_path / "cup", SHORT, gate.bot)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Play the tournament on this machine; return its table."""
    folder = tmp_path_factory.mktemp("undisturbed")
    gate = Gate(folder / "gate")
    gate.open()
    return but_contents(table(start(ARENA, cup(folder / "cup", SHORT, gate.bot)), TIMES))


def but_contents(found: dict[str, Any]) -> dict[str, Any]:
    """Return a table without the hashes of bots: they name the gate at which theirs wait."""
    return {**found, "bots": [{key: bot[key] for key in bot if key != "content"} for bot in found["bots"]]}


def rows(file: Path, query: str) -> list[tuple[object, ...]]:
    """Read rows of a tournament's ledger, also while it is being written."""
    path = file.parent / "runs/cup/ledger.sqlite"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as book:
        try:
            return book.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            book.rollback()


def ended(command: Sequence[str], file: Path) -> tuple[int, str]:
    """How the arena ends, and its last line."""
    with start(command, file) as process:
        try:
            _, said = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
    return process.returncode, said.decode().splitlines()[-1]


def transcripts(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.jsonl")}


def begun(cluster: DaskCluster, file: Path, gate: Gate) -> "subprocess.Popen[bytes]":
    """Start the arena there; return it with a match played already, and others that wait."""
    arena = start((*AT_ONCE, cluster.on), file)
    gate.until(lambda: 1 == _played(file))
    until(lambda: gate.waiting)
    return arena


@pytest.mark.slow
def test_with_one_of_two_workers_killed_half_way_the_table_is_that_of_this_machine(
    held: Path, gate: Gate, cluster: DaskCluster, undisturbed: object
) -> None:
    workers = [cluster.add(host=host) for host in ("a", "b")]
    arena = begun(cluster, held, gate)
    victim = until(lambda: [worker for worker in workers if len(family(worker.pid)) >= PLAYING])[0]
    others = family(victim.pid)
    victim.kill()
    gate.open()
    assert undisturbed == but_contents(table(arena, TIMES))
    until(partial(gone, others))
    assert [(MATCHES,)] == rows(held, "SELECT count(*) FROM results")
    assert [(MATCHES,)] == rows(held, "SELECT count(*) FROM attempts WHERE played IS NOT NULL")
    assert {INTERRUPTED} == {void for (void,) in rows(held, "SELECT void FROM attempts WHERE void IS NOT NULL")}
    assert MATCHES == len(transcripts(held.parent / "runs/cup/transcripts"))
    survivor = next(worker for worker in workers if worker is not victim)
    until(lambda: not family(survivor.pid))


@pytest.mark.slow
def test_a_killed_node_is_replaced_and_a_worker_that_comes_later_can_end_it_alone(
    held: Path, gate: Gate, cluster: DaskCluster, undisturbed: object
) -> None:
    first = cluster.add()
    with begun(cluster, held, gate) as arena:
        (node,) = _nodes(first)
        os.kill(node, signal.SIGKILL)
        gate.until(lambda: 2 == _played(held))
        assert [node] != _nodes(first)
        first.kill()
        gate.open()
        cluster.add()
        assert undisturbed == but_contents(table(arena, TIMES))


@pytest.mark.slow
def test_an_arena_that_is_stopped_leaves_nothing_running_there_and_goes_on(
    held: Path, gate: Gate, cluster: DaskCluster, undisturbed: object
) -> None:
    worker = cluster.add(slots=2)
    with begun(cluster, held, gate) as arena:
        arena.send_signal(signal.SIGTERM)
        arena.communicate()
    until(lambda: not family(worker.pid))
    gate.open()
    assert undisturbed == but_contents(table(start((*AT_ONCE, cluster.on), held), TIMES))


@pytest.mark.slow
def test_a_cluster_that_cannot_play_is_told_how_to(file: Path, cluster: DaskCluster) -> None:
    on = cluster.on
    code, said = ended((*AT_ONCE, on), file)
    assert CANNOT == code
    assert said.startswith(f"arena: --on {on}: no worker there can play: it has none; no match counts yet; ")
    cluster.add("--nthreads", "2")
    cluster.add("--nthreads", "2", "--resources", "matches=8")
    until(lambda: 2 == trio.run(workers_of, on))
    code, said = ended((*AT_ONCE, on), file)
    address = on.replace("dask", "tcp")
    assert CANNOT == code
    assert (
        f"has no slots for matches; start it so: dask worker {address} --nthreads 4 --resources matches=4" in said
    )
    assert f"has 2 threads for 8 matches; start it so: dask worker {address} --nthreads 8" in said


def test_an_address_without_a_cluster_is_wrong_use(file: Path) -> None:
    def refused(*options: str) -> str:
        done = CliRunner().invoke(main, ["tournament", "--json", *options, str(file)])
        assert WRONG_USE == done.exit_code
        return done.stderr

    for on in ("cluster", "dask://host", "http://host:1"):
        expected = f"arena: --on {on}: neither local nor dask://HOST:PORT (with TLS dask+tls://HOST:PORT)\n"
        assert expected == refused("--on", on)
    assert ("arena: --concurrency and --workers are of this machine; a cluster's workers have slots\n") == refused(
        "--on", "dask://127.0.0.1:1", "--workers", "2"
    )


def test_without_dask_it_says_how_to_install_it(file: Path, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError")
    done = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, *ON_CLUSTER, "dask://127.0.0.1:1", str(file)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    needs = f"needs Dask, here and on each worker's machine: {INSTALL}\n"
    assert (WRONG_USE, f"arena: --on dask://127.0.0.1:1 {needs}") == (done.returncode, done.stderr)


@pytest.mark.slow
def test_a_worker_without_the_arena_is_named(tmp_path: Path, file: Path, cluster: DaskCluster) -> None:
    (tmp_path / "empty/arena").mkdir(parents=True)
    (tmp_path / "empty/arena/__init__.py").touch()
    lack = "has no arena (No module named 'arena.workers')"
    needs = f"{lack}; there: {INSTALL}"
    cluster.add(path=tmp_path / "empty")
    until(lambda: 1 == trio.run(workers_of, cluster.on))
    code, said = ended((*AT_ONCE, cluster.on), file)
    assert (CANNOT, True, True) == (code, needs in said, "tcp://" in said)
    with dask_cluster(tmp_path / "another", path=tmp_path / "empty") as another:
        another.add()
        until(lambda: 1 == trio.run(workers_of, another.on))
        code, said = ended((*AT_ONCE, another.on), file)
        assert CANNOT == code
        assert said.startswith(f"arena: --on {another.on}: its scheduler {needs}; no match counts yet; ")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is needed to make a certificate")
def test_no_client_without_a_certificate_gets_in_under_tls(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(  # noqa: S603 - our own words
        [*SELF_SIGNED, "-addext", "subjectAltName=IP:127.0.0.1"], cwd=tmp_path, check=True, capture_output=True
    )
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    files = ("--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key)
    with dask_cluster(tmp_path / "cluster", *files, "--protocol", "tls") as cluster:
        cluster.add()
        assert (CANNOT, True) == (ended((*ON_CLUSTER, cluster.on), file)[0], cluster.on.startswith("dask+tls://"))
        for name, value in (("CA_FILE", certificate), ("CLIENT__CERT", certificate), ("CLIENT__KEY", key)):
            monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", value)
        assert DONE == ended((*AT_ONCE, cluster.on), file)[0]


@pytest.mark.slow
def test_bots_are_sent_once_to_each_host_and_built_there_and_transcripts_can_go_to_a_store(
    tmp_path: Path, file: Path, cluster: DaskCluster
) -> None:
    for name in ("one", "two"):
        toml = file.parent / name / "bot.toml"
        toml.write_text(toml.read_text() + 'build = [["sh", "-c", "touch made-there"]]\n')
    cluster.add(host="a")
    cluster.add(host="b")
    store = tmp_path / "store"
    assert DONE == ended((*ON_CLUSTER, cluster.on, "--transcripts", f"file://{store}"), file)[0]
    places = {str(place) for (place,) in rows(file, "SELECT place FROM attempts")}
    assert {f"file://{store}/{name}" for name in transcripts(store)} == places
    assert (MATCHES, set()) == (len(places), transcripts(file.parent / "runs/cup/transcripts"))
    for host in ("a", "b"):
        assert 3 == len(list(cluster.cache(host).glob("contents/*/bot.toml")))  # With the check's random bot.
        assert 2 == len(list(cluster.cache(host).glob("built/*/made-there")))


@pytest.mark.slow
def test_a_bot_that_cannot_start_there_stops_a_tournament_before_its_first_match(
    file: Path, cluster: DaskCluster
) -> None:
    cluster.add(slots=2)
    (file.parent / "two/bot.py").write_text("def decide(:\n")
    code, said = ended((*ON_CLUSTER, cluster.on), file)
    assert (WRONG_USE, []) == (code, rows(file, "SELECT 1 FROM attempts"))
    assert "bots[1]: two: never started: it exited with code 1; its last line of output: SyntaxError" in said


@pytest.mark.slow
def test_regression_tests_are_played_there_too(tmp_path: Path, cluster: DaskCluster) -> None:
    cluster.add(slots=2)
    bots = (
        "--base",
        "mist_random",
        "--head",
        "mist_cautious",
        "--blocks",
        "2",
        "--isolation",
        "none",
        "--no-check",
    )
    results = tmp_path / "regress"
    command = ("-m", "arena", "regress", "mist", *bots, "--on", cluster.on, "--results")
    with start(command, results) as arena:
        table, said = arena.communicate()
    assert (UNDECIDED, True) == (arena.returncode, b"undecided" in table), said
    assert transcripts(results / "transcripts")


@pytest.mark.slow
def test_a_pickled_result_is_refused_and_never_run(tmp_path: Path, cluster: DaskCluster) -> None:
    """A worker may be somebody's who was broken into: what it gives is bytes, or nothing."""
    cluster.add()
    until(lambda: 1 == trio.run(workers_of, cluster.on))

    async def ask() -> bytes:
        client = await connected(cluster.on)
        try:
            (address,) = await client.workers()
            return await client.submit(address, dask_pickles.pickled, str(tmp_path / "ran"), slots=0).outcome()
        finally:
            await trio.to_thread.run_sync(client.close)

    with pytest.raises(TypeError, match="only able to deserialize"):
        trio.run(ask)
    assert not (tmp_path / "ran").exists()


async def workers_of(on: str) -> int:
    """How many workers a cluster has."""
    client = await connected(on)
    found = len(await client.workers())
    await trio.to_thread.run_sync(client.close)
    return found


def _played(file: Path) -> int:
    return len(rows(file, "SELECT 1 FROM attempts WHERE played IS NOT NULL"))


def _nodes(worker: "subprocess.Popen[bytes]") -> list[int]:
    return [pid for pid in children(worker.pid) if _runs(pid, "arena.workers.cluster.node")]


def _runs(pid: int, module: str) -> bool:
    """Say whether a process runs a module; no for one that ended meanwhile."""
    with suppress(OSError):
        return module in Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return False


@pytest.mark.slow
@pytest.mark.parametrize("all_of_it", [True, False], ids=["with its bots", "alone"])
def test_a_match_there_goes_on_where_its_worker_was_stopped(
    all_of_it: bool, tmp_path: Path, cluster: DaskCluster
) -> None:
    policy = "policy.main_ms = 1500\npolicy.reserve_ms = 0\n"
    slow = BOT.replace(
        '        if window.name == "first":\n', '        time.sleep(0.1)\n        if window.name == "first":\n', 1
    )
    assert slow != BOT
    file = cup(tmp_path / "cup", SHORT.replace(LONG, policy).replace("max_turns = 4", "max_turns = 30"), slow)
    worker = cluster.add()
    arena = start((*AT_ONCE, cluster.on), file)
    until(lambda: len(family(worker.pid)) >= PLAYING)
    time.sleep(2)
    stopped = [worker.pid, *(int(each.split()[0]) for each in family(worker.pid))] if all_of_it else _nodes(worker)
    stop(stopped, 6.0)
    table(arena, TIMES)
    assert [] == rows(file, "SELECT void FROM attempts WHERE void IS NOT NULL")
    played = list((file.parent / "runs/cup/transcripts").glob("*.jsonl"))
    assert MATCHES == len(played)
    assert not any(isinstance(each, Judged) for name in played for each in read_transcript(name))


@pytest.mark.slow
def test_a_node_with_nothing_to_do_is_sent_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its arena may have been killed."""
    monkeypatch.setattr(tasks, "IDLE_SECONDS", 0.1)
    before = family(os.getpid())
    first = tasks.node_of("an arena", 1)
    until(lambda: tasks.node_of("an arena", 1) is not first)
    tasks.send_home("an arena")
    until(lambda: not alive(family(os.getpid()) - before))
