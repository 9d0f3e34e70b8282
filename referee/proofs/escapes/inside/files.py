"""Attempts on files of others: secrets of the host, files of another bot, and all that could be written to."""

import importlib.util
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress

from .attempt import AttemptVerdict, Scene, Way, any_of, attacks, done, open_once, opened, proof

SOME_BYTES = 4096
SYSTEM_FOLDERS = ("/", "/usr", "/usr/bin", "/etc", "/home", "/root", "/var", "/var/tmp", "/run", "/opt", "/arena")
DEVICES = (
    *("mem", "kmsg", "kvm", "fuse", "net/tun", "vhost-net", "vsock", "loop-control", "rtc0"),
    *("sda", "vda", "xvda", "nvme0n1", "dm-0"),
)
SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
)


JUDGE = ("referee.host", "referee.match", "referee.sandbox", "referee.transcript", "arena.commands")
"""Modules that no bot may import. If the arena is installed, an empty folder hides the package `arena` itself."""


def _importable(name: str) -> bool:
    with suppress(ModuleNotFoundError):  # Its package does not exist here.
        return importlib.util.find_spec(name) is not None
    return False


def _read(path: str) -> bytes:
    with opened(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
        return os.read(descriptor, SOME_BYTES)


def _bait(scene: Scene, path: str) -> Way:
    return path, lambda: scene.bait_in(_read(path))


def _content(path: str) -> Way:
    return path, lambda: f"{len(_read(path))} bytes were read"


def _listed(path: str) -> Way:
    return path, lambda: f"{len(os.listdir(path))} names were read"


def _baits(scene: Scene, paths: Iterable[str]) -> AttemptVerdict:
    """Try to read the bait from files, by their paths and through the root folders of other processes."""
    ways: list[Way] = []
    for path in paths:
        ways += [_bait(scene, path), *_through_proc(scene, path)]
    return any_of(ways)


def _through_proc(scene: Scene, path: str) -> Iterable[Way]:
    """Yield ways to read a file through the root folders of other processes."""
    for process in (1, *scene.pids):
        yield _bait(scene, f"/proc/{process}/root{path}")


@attacks("minimal root")
def reads_the_hosts_files(scene: Scene) -> AttemptVerdict:
    """Reads a file in the arena's temporary folder and in its home."""
    return _baits(scene, [path for place, path in scene.baits.items() if place != "transcripts"])


@attacks("minimal root")
def reads_transcripts(scene: Scene) -> AttemptVerdict:
    """Reads a file where the transcripts lie."""
    return _baits(scene, [path for place, path in scene.baits.items() if place == "transcripts"])


@attacks("minimal root")
def reads_system_secrets(scene: Scene) -> AttemptVerdict:
    """Reads /etc/shadow and its like."""
    return any_of(map(_content, scene.system_secrets))


@attacks("minimal root")
def reads_homes(scene: Scene) -> AttemptVerdict:
    """Lists the arena's home folder, and ~/.ssh in every home."""
    ways = [_listed(f"{home}/.ssh") for home in scene.homes]
    if "home" in scene.baits:
        # The path of the interpreter may contain the home folder, but its other content must be hidden.
        folder = os.path.dirname(scene.baits["home"])
        ways.append(("home", lambda: proof(os.path.exists(folder), os.path.basename(folder))))
    return any_of(ways)


@attacks("minimal root")
def reads_the_referees_code(scene: Scene) -> AttemptVerdict:
    """Reads or imports the judge's rooms."""

    def imported() -> str:
        """Return the modules that can be imported; bots may import the rules, but nothing else of the referee."""
        found = list(filter(_importable, JUDGE))
        return proof(found, f"can import {', '.join(found)}")

    return any_of([_content(f"{scene.code}/host/__init__.py"), _listed(scene.code), ("import", imported)])


@attacks("minimal root")
def reads_another_bots_folder(scene: Scene) -> AttemptVerdict:
    """Reads a file in the other bot's folder."""
    path = f"{scene.other_folder}/secret"
    return any_of([_bait(scene, path), *_through_proc(scene, "/bot/secret"), *_through_proc(scene, path)])


@attacks("minimal root")
def reads_another_bots_scratch(scene: Scene) -> AttemptVerdict:
    """Reads what the other bot wrote to its scratch."""
    path = f"{scene.other_scratch}/{scene.mark}"
    return any_of([_bait(scene, path), *_through_proc(scene, path)])


@attacks("minimal root")
def reads_another_bots_log(scene: Scene) -> AttemptVerdict:
    """Reads the other bot's output from its log and from its open files."""
    outputs = f"/proc/{scene.targets[1].pid}/fd"
    return any_of([_bait(scene, scene.other_log), _writing(f"{outputs}/1"), _writing(f"{outputs}/2")])


def _writing(path: str) -> Way:
    return path, done("opened for writing", open_once, path, os.O_WRONLY | os.O_NONBLOCK)


def _creating(scene: Scene, folder: str) -> Way:
    def created() -> str:
        path = os.path.join(folder, f"arena-doctor-{scene.mark}")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(path)
        return "a file was made"

    return folder, created


@attacks("minimal root")
def runs_what_its_hash_does_not_cover(scene: Scene) -> AttemptVerdict:
    """Runs a compiled module that lies in `__pycache__`, in place of the module that everybody can read."""

    def compiled() -> str:
        from .hashed import WHAT_RUNS  # noqa: PLC0415 - that is the attempt

        return proof(WHAT_RUNS != "this", WHAT_RUNS)

    return any_of([("import", compiled)])


@attacks("read-only root")
def writes_to_the_system(scene: Scene) -> AttemptVerdict:
    """Makes a file in /, /usr and other folders of the machine."""
    return any_of(_creating(scene, folder) for folder in SYSTEM_FOLDERS)


@attacks("read-only root")
def writes_to_its_own_folder(scene: Scene) -> AttemptVerdict:
    """Makes and changes files where its program lies."""
    own = os.getcwd()
    return any_of([_creating(scene, own), _writing(f"{own}/bot.py"), _mode(f"{own}/bot.py")])


def _mode(path: str) -> Way:
    def changed() -> str:
        # Set the present mode again, because the file may belong to the machine.
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode))
        return "its mode was set"

    return f"chmod {path}", changed


@attacks("read-only root")
def writes_beside_its_socket(scene: Scene) -> AttemptVerdict:
    """Makes a file in the folder of its socket, renames the socket."""
    socket = os.environ["ARENA_ENDPOINT"].removeprefix("ipc://")

    def renamed() -> str:
        os.rename(socket, f"{socket}.away")
        os.rename(f"{socket}.away", socket)
        return "renamed"

    return any_of([_creating(scene, os.path.dirname(socket)), ("rename", renamed)])


@attacks("read-only root")
def writes_to_what_is_others(scene: Scene) -> AttemptVerdict:
    """Opens the host's bait, the other bot's files and the referee's code for writing."""
    others = [*scene.baits.values(), f"{scene.other_folder}/secret", f"{scene.code}/__init__.py"]
    return any_of(map(_writing, others))


@attacks("read-only root")
def writes_to_dev(scene: Scene) -> AttemptVerdict:
    """Makes a file in /dev, and sets the mode of a device there."""
    return any_of([_creating(scene, "/dev"), _mode("/dev/null")])


@attacks("no capabilities")
def makes_a_device(scene: Scene) -> AttemptVerdict:
    """Makes a node for the machine's memory and for a disk, in its scratch."""

    def node(kind: int, major: int, minor: int) -> Callable[[], str]:
        def made() -> str:
            path = os.path.join(os.environ["TMPDIR"], f"node-{scene.mark}")
            os.mknod(path, kind | 0o600, os.makedev(major, minor))
            os.unlink(path)
            return "a node was made"

        return made

    return any_of([("/dev/mem", node(stat.S_IFCHR, 1, 1)), ("a disk", node(stat.S_IFBLK, 8, 0))])


@attacks("minimal root")
def opens_devices(scene: Scene) -> AttemptVerdict:
    """Opens disks, the kernel's memory and log, and doors to other parts of the kernel."""
    paths = [f"/dev/{name}" for name in DEVICES]
    return any_of((path, done("opened", open_once, path, os.O_RDONLY | os.O_NONBLOCK)) for path in paths)


@attacks("minimal root")
def changes_kernel_settings(scene: Scene) -> AttemptVerdict:
    """Opens settings of the kernel for writing, and control groups."""
    groups = []
    with suppress(OSError):
        groups = [f"/sys/fs/cgroup/{name}/cgroup.procs" for name in os.listdir("/sys/fs/cgroup")]
    return any_of(map(_writing, (*SETTINGS, "/sys/fs/cgroup/cgroup.procs", *groups)))


@attacks("control group namespace")
def sees_the_machines_control_groups(scene: Scene) -> AttemptVerdict:
    """Reads in which of the machine's control groups it is."""
    if not scene.groups:
        return AttemptVerdict("not tried", "the arena itself is in none")
    seen = set(_read("/proc/self/cgroup").decode().replace("\n", ":").split(":"))
    found = [path for path in seen if path.startswith(tuple(scene.groups))]
    if found:
        return AttemptVerdict("escaped", f"it is in {found[0]}")
    return AttemptVerdict("held", "it sees none of them")


@attacks("minimal root")
def reads_the_kernels_memory(scene: Scene) -> AttemptVerdict:
    """Reads /proc/kcore, and the addresses in /proc/kallsyms."""

    def addresses() -> str:
        return proof(int(_read("/proc/kallsyms").split()[0], 16), "addresses were read")

    return any_of([_content("/proc/kcore"), ("/proc/kallsyms", addresses)])


@attacks("own environment")
def inherits_secrets(scene: Scene) -> AttemptVerdict:
    """Looks for the bait in its environment and behind every descriptor it was started with."""

    def variables() -> str:
        return proof(scene.bait_in(repr(dict(os.environ)).encode()), "the bait was there")

    def behind(descriptor: str) -> Way:
        return f"descriptor {descriptor}", lambda: scene.bait_in(os.pread(int(descriptor), SOME_BYTES, 0))

    return any_of([("environment", variables), *map(behind, sorted(os.listdir("/proc/self/fd"), key=int))])
