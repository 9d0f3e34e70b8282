"""A Dask cluster on this machine: a scheduler, and workers that are processes of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real_wire.processes import until

ROOT = Path(__file__).parents[2]
LISTENS = ("--host", "127.0.0.1", "--no-dashboard")


class DaskCluster:
    """A scheduler, and the workers that are added."""

    def __init__(self, folder: Path, *more: str, path: Path = ROOT) -> None:
        """What a test does with it.

        Args:
            folder: for what it writes.
            more: what scheduler and workers are told on their command lines, besides.
            path: where the scheduler finds the arena.
        """
        self._folder = folder
        self._more = more
        self._path = path
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        until(self._is_up)

    @property
    def on(self) -> str:
        """Its address for the arena."""
        address: str = json.loads(self._file.read_text())["address"]
        return address.replace("tcp://", "dask://").replace("tls://", "dask+tls://")

    def add(self, *more: str, slots: int = 1, host: str = "host", path: Path = ROOT) -> "subprocess.Popen[bytes]":
        """Another worker; those of one `host` share what a machine's processes share."""
        self._path = path
        told = more or ("--nthreads", str(slots), "--resources", f"matches={slots}")
        scheduler = ("--scheduler-file", str(self._file), "--no-nanny")
        worker = self._start("worker", *scheduler, *told, cache=self._folder / host)
        self.workers.append(worker)
        return worker

    def restart_scheduler(self) -> None:
        """Kills the scheduler, and starts another at its address. Its workers end: Dask's do without one."""
        port = self.on.rpartition(":")[2]
        self.kill_scheduler()
        self.scheduler = self._start("scheduler", "--port", port, "--scheduler-file", str(self._file))
        until(self._is_up)

    def kill_scheduler(self) -> None:
        """As its machine's end would."""
        self.scheduler.kill()
        self.scheduler.wait()
        self._file.unlink(missing_ok=True)

    def cache(self, host: str = "host") -> Path:
        """Where the workers of a host keep what they were sent."""
        return self._folder / host / "mist-arena"

    def close(self) -> None:
        """End all of it that is still there. It keeps nothing; in order one might wait for another."""
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()

    def _is_up(self) -> bool:
        return self._file.exists() and self._file.read_text().endswith("}")

    def _start(self, what: str, *arguments: str, cache: Path | None = None) -> "subprocess.Popen[bytes]":
        log = self._folder / f"{what}-{len(self.workers)}.log"
        with log.open("wb") as log_file:
            return subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
                [sys.executable, "-m", "dask", what, *LISTENS, *arguments, *self._more],
                cwd=self._folder,
                env=os.environ | {"PYTHONPATH": str(self._path), "XDG_CACHE_HOME": str(cache)},
                stderr=log_file,
            )


@contextmanager
def dask_cluster(folder: Path, *more: str, path: Path = ROOT) -> Iterator[DaskCluster]:
    """Run a scheduler without workers for as long as the test runs."""
    folder.mkdir()
    cluster = DaskCluster(folder, *more, path=path)
    try:
        yield cluster
    finally:
        cluster.close()
