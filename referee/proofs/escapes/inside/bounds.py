"""Attempts to exceed limits of processes, descriptors and storage. They stop by themselves at twice the limit."""

import errno
import os
import resource
import signal
import threading
import time
from contextlib import suppress

from .attempt import Verdict, any_of, attacks, bounded, reason
from .scene import MEGABYTE, Scene

BLOCK = bytes(MEGABYTE // 4)
MOST_PROCESSES = 300
"""Largest number of processes to start, so that a machine without a limit is not harmed."""
FOLDERS_LOOKED_AT = 3000


@attacks("process limit", seconds=10)
def forks_without_end(scene: Scene) -> Verdict:
    """Starts processes until it gets no more."""
    children: list[int] = []
    stopped = "stopped by itself"
    try:
        while len(children) < min(2 * scene.processes, MOST_PROCESSES):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError as error:
        stopped = reason(error)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    # The two more are this process and the one that makes the attempts.
    got = bounded(len(children) + 2, scene.processes, "processes")
    return Verdict(got.result, f"{got.evidence}, {stopped}")


@attacks("process limit", seconds=10)
def starts_threads_without_end(scene: Scene) -> Verdict:
    """Starts threads until it gets no more."""
    over = threading.Event()
    threads: list[threading.Thread] = []
    threading.stack_size(256 * 1024)
    with suppress(RuntimeError, MemoryError):
        while len(threads) < min(2 * scene.processes, MOST_PROCESSES):
            thread = threading.Thread(target=over.wait, daemon=True)
            thread.start()
            threads.append(thread)
    over.set()
    return bounded(len(threads) + 2, scene.processes, "threads and processes")


@attacks("resource limits")
def opens_files_without_end(scene: Scene) -> Verdict:
    """Opens files until it gets no more."""
    opened: list[int] = []
    with suppress(OSError):
        while len(opened) < 2 * scene.files:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    return bounded(
        len(os.listdir("/proc/self/fd")) - 1 if not opened else opened[-1] + 1, scene.files, "descriptors"
    )


@attacks("resource limits")
def makes_one_huge_file(scene: Scene) -> Verdict:
    """Makes one file larger than its whole scratch."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    path = os.path.join(os.environ["TMPDIR"], "huge")

    def made() -> str:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(descriptor, 2 * scene.scratch_mb * MEGABYTE)
        finally:
            os.unlink(path)
        return f"{2 * scene.scratch_mb} MB"

    return any_of([("ftruncate", made)])


@attacks("resource limits")
def raises_its_limits(scene: Scene) -> Verdict:
    """Gives itself more memory, files and processes than it was given."""

    def raised(kind: int) -> str:
        _, most = resource.getrlimit(kind)
        if most == resource.RLIM_INFINITY:
            return "there is none"
        try:
            resource.setrlimit(kind, (most + 1, most + 1))
        except ValueError:
            # Python raises ValueError for EPERM here.
            raise PermissionError(errno.EPERM, "not raised") from None
        return f"raised to {most + 1}"

    kinds = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_NOFILE, "file size": resource.RLIMIT_FSIZE}
    return any_of((name, lambda kind=kind: raised(kind)) for name, kind in kinds.items())  # type: ignore[misc]


def _filled(folder: str, most_mb: float) -> float:
    """Write files to a folder, return the megabytes that it accepted, and remove the files."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    got = 0
    paths: list[str] = []
    try:
        while got < most_mb * MEGABYTE:
            paths.append(os.path.join(folder, f"fill-{os.getpid()}-{len(paths)}"))
            descriptor = os.open(paths[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                for _ in range(16):
                    got += os.write(descriptor, BLOCK)
            except OSError as error:
                if error.errno != errno.EFBIG:
                    raise
            finally:
                os.close(descriptor)
    except OSError:
        pass
    finally:
        for path in paths:
            with suppress(OSError):
                os.unlink(path)
    return got / MEGABYTE


@attacks("bounded scratch", seconds=10)
def fills_its_scratch(scene: Scene) -> Verdict:
    """Fills its scratch folder."""
    return bounded(_filled(os.environ["TMPDIR"], 2 * scene.scratch_mb), scene.scratch_mb, "MB")


@attacks("bounded shared memory", seconds=10)
def fills_shared_memory(scene: Scene) -> Verdict:
    """Fills /dev/shm."""
    return bounded(_filled("/dev/shm", 2 * scene.scratch_mb), scene.scratch_mb, "MB")


@attacks("read-only root", seconds=10)
def fills_the_disk(scene: Scene) -> Verdict:
    """Looks for any other folder that it may write to, and writes there more than its scratch would hold."""
    own = {os.path.realpath(os.environ["TMPDIR"]), "/dev/shm"}
    looked = 0
    until = time.monotonic() + 2
    for folder, folders, _ in os.walk("/"):
        looked += 1
        if looked > FOLDERS_LOOKED_AT or time.monotonic() > until:
            break
        folders[:] = [name for name in folders if os.path.join(folder, name) not in own]
        if folder == "/":
            # Try the likely folders first, and skip those that are not on a disk.
            folders[:] = sorted(set(folders) - {"proc", "sys", "dev"}, key=lambda name: name not in {"tmp", "var"})
        if os.access(folder, os.W_OK):
            got = _filled(folder, 2 * scene.scratch_mb)
            if got > scene.scratch_mb:
                return Verdict("escaped", f"wrote {got:.4g} MB to {folder}")
    return Verdict("held", f"none of {looked} folders took more than {scene.scratch_mb} MB")
