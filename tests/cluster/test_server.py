"""The season's server on a cluster: what teams hand in is built, started and played on the workers."""

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.submissions import Submission
from referee.bot_folder import BUILT_IN
from tests.arena.submissions.judging import Court
from tests.cluster.dask_cluster import DaskCluster, dask_cluster
from tests.real_wire.processes import until
from tests.real_wire.test_server import RESULTS, Server

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(1800)]
MANIFEST = b"""
name = "built"
version = "1"
command = ["python", "built.py"]
build = [["sh", "-c", "echo it is being built; %s"]]
games = ["mist"]
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path / "cluster") as started:
        yield started


@pytest.fixture
def server(tmp_path: Path, cluster: DaskCluster) -> Iterator[Server]:
    tmp_path.chmod(0o755)  # Bots of root run as others.
    server = Server(tmp_path, on=cluster.on)
    yield server
    server.stop()


def archive(build: bytes) -> bytes:
    """Return a bot whose program a command of its build makes."""
    made = io.BytesIO()
    program = (BUILT_IN / "mist_random/bot.py").read_bytes()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        for name, content in {"bot.toml": MANIFEST % build, "program.py": program}.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return made.getvalue()


def ended(court: Court, submission: Submission) -> Submission:
    def over() -> Submission | None:
        now = court.now(submission)
        return now if now.is_over else None

    found = until(over)
    assert found is not None
    return found


def test_from_upload_to_entry_everything_is_done_on_the_workers(server: Server, cluster: DaskCluster) -> None:
    for host in ("one", "other"):
        cluster.add(host=host, slots=2)
    server.start()
    server.plays()
    with closing(Court(server.file)) as court:
        good = ended(court, court.submit("Red Pandas", archive(b"cp program.py built.py")))
        bad = ended(court, court.submit("Blue Whales", archive(b"exit 7")))
        logs = [court.submissions.log(each, "build.log") for each in (good, bad)]
    assert ("entered", "Red Pandas") == (good.state, good.entered)
    assert good.verdict is not None
    steps = {step.name: step for step in good.verdict.steps}
    assert {"unpack", "build", "starts"} == steps.keys()
    assert (steps["starts"].cpu_seconds or 0) > 0.1  # Of the bots, which ran on the workers.
    assert "refused" == bad.state
    assert bad.verdict is not None
    assert "build: exit code 7: it is being built; its log: build.log" == bad.verdict.reason
    assert [b"it is being built\n"] * 2 == logs
    built = [path for host in ("one", "other") for path in (cluster.cache(host) / "built").glob("*.log")]
    assert built
    here = Path(os.environ["XDG_CACHE_HOME"]) / "mist-arena/built"
    assert not list(here.glob("*.log"))
    results = server.value(RESULTS)
    until(lambda: server.value(RESULTS) > results + 2)
