"""The scene for the attempts, and the bots in it.

Bait lies in secret places, listeners wait where no bot may reach, and each bot has a folder. No code waits for the
listeners: the kernel stores arriving data until they are checked. A bot under examination is started as every bot
is, and writes JSON lines to its log. One is started by a referee of its own, the victim, which is killed while its
bot is frozen.
"""

import ctypes
import hashlib
import json
import marshal
import os
import pty
import secrets
import shutil
import signal
import socket
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct, convert

from referee import sandbox
from referee.bot_folder import BotFolder, find_bot
from referee.proofs.escapes.host_snapshot import groups_of
from referee.proofs.escapes.inside.attempt import FILE, Scene, Target, call, write_scene
from referee.proofs.escapes.inside.limits import CREATE, EXCLUSIVE, REMOVE
from referee.sandbox import PROJECT, Isolation

SECRETS = (
    *("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/machine-id", "/etc/passwd"),
    *("/etc/ssh/ssh_host_ed25519_key", "/etc/ssh/ssh_host_rsa_key"),
)
INSIDE = Path(__file__).with_name("inside")
PROGRAMS = {"attacker": "running", "neighbour": "neighbour", "forsaken": "neighbour"}
"""Module that each bot runs, keyed by its name. The referee of `forsaken` is killed."""
MEMORY_MB, PROCESSES, FILES, SCRATCH_MB, CPU_SECONDS, LOG_KB = 256, 32, 96, 8, 2, 1024
"""The limits of these bots: small, so that twice as much harms no machine."""
CPUS = 1.0
ARRIVED_BYTES = 200
UNCHECKED = 1
"""The flag of a compiled module that Python runs without checking its source."""
SEGMENT_BYTES = 4096


class BotPlace(Struct, frozen=True):
    """The folder, socket and log of one of the bots."""

    bot: BotFolder
    line: Path
    log: Path


class Fixture:
    """The prepared scene with its files and listeners. Made by `open_fixture`."""

    def __init__(self, folder: Path, held: ExitStack) -> None:
        """Prepare everything in an empty folder; `held` removes it again."""
        self.folder = folder
        self._held = held
        self.mark = secrets.token_hex(8)
        self.bait = f"arena-bait-{secrets.token_hex(16)}"
        self._listeners: defaultdict[str, list[socket.socket]] = defaultdict(list)
        """Listening sockets, keyed by the attempt that tries to reach them."""
        self._in_memory = ctypes.create_string_buffer(self.bait.encode())
        self._terminal: int | None = None
        self.scene = self._laid_out()

    def place(self, name: str, scene: Scene | None = None) -> BotPlace:
        """Prepare a bot's folder, and return its place. The bot can read `scene`, or this stage's."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        if not (folder / "inside").exists():
            shutil.copytree(INSIDE, folder / "inside", ignore=shutil.ignore_patterns("__pycache__"))
            _hide_a_program(folder / "inside" / "hashed.py")
        (folder / "bot.py").write_text(f"from inside.{PROGRAMS[name]} import main\n\nmain()\n")
        (folder / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n[limits]\n'
            f"memory_mb = {MEMORY_MB}\nprocesses = {PROCESSES}\nfiles = {FILES}\nscratch_mb = {SCRATCH_MB}\n"
            f"cpus = {CPUS}\ncpu_seconds = {CPU_SECONDS}\nlog_kb = {LOG_KB}\n"
        )
        (folder / FILE).write_text(write_scene(scene or self.scene))
        for path in (folder, *folder.rglob("*")):
            # If the arena runs as root, bots run as other users.
            path.chmod(0o755 if path.is_dir() else 0o644)
        bot = find_bot(str(folder))
        # The folder contains baits, and no other run can use it.
        self._held.callback(shutil.rmtree, bot.folder, ignore_errors=True)
        return BotPlace(bot, self._lines[name], self.folder / f"{name}.log")

    def arrivals(self) -> dict[str, str]:
        """Return the evidence of all that has arrived so far, keyed by attempt."""
        found = {}
        for attempt, sockets in self._listeners.items():
            for listener in sockets:
                if (word := _arrived(listener)) is not None:
                    found[attempt] = f"{word!r} arrived at {listener.getsockname()!r}"
        if self._terminal is not None:
            with suppress(OSError):
                word = os.read(self._terminal, ARRIVED_BYTES).decode(errors="replace")
                found["types-into-a-terminal"] = f"{word!r} was seen on the terminal"
        return found

    def _laid_out(self) -> Scene:
        self._lines = {name: self._line(name) for name in (*PROGRAMS, "other")}
        baits = self._baits()
        return Scene(
            mark=self.mark,
            bait_sha256=hashlib.sha256(self.bait.encode()).hexdigest(),
            baits=baits,
            system_secrets=tuple(filter(os.path.exists, SECRETS)),
            homes=tuple(dict.fromkeys((str(Path.home()), "/root", "/home"))),
            code=str(PROJECT / "referee"),
            targets=(self._referee(baits["temporary"]),),
            referee_environment_sha256=hashlib.sha256(Path("/proc/self/environ").read_bytes()).hexdigest(),
            other_folder=str(self.folder / "neighbour"),
            other_scratch="",
            other_log=str(self.folder / "neighbour.log"),
            other_socket=str(self._lines["neighbour"]),
            other_endpoint=str(self._lines["other"]),
            tcp=self._addresses("reaches-tcp", socket.SOCK_STREAM),
            udp=self._addresses("reaches-udp", socket.SOCK_DGRAM),
            abstract_socket=self.mark,
            path_socket=str(self._unix_sockets()),
            interfaces=tuple(dict(socket.if_nameindex()).values()),
            host_name=os.uname().nodename,
            groups=tuple(set(groups_of("self").values()) - {"/"}),
            terminal=self._opened_terminal(),
            shared_memory_key=self._segment(),
            first_key=secrets.randbits(24) << 6,
            memory_mb=MEMORY_MB,
            processes=PROCESSES,
            files=FILES,
            scratch_mb=SCRATCH_MB,
            cpu_seconds=CPU_SECONDS,
            cpus=CPUS,
        )

    def _line(self, name: str) -> Path:
        """Return the path of a socket in a separate new folder, as the referee makes it for a bot."""
        folder = self.folder / "lines" / name
        folder.mkdir(parents=True)
        return folder / "referee.sock"

    def _unix_sockets(self) -> Path:
        """Listen at the bots' sockets, at abstract addresses, and at a service's socket; return its path."""
        service = self.folder / "service.sock"
        for path, attempt in (
            # A bot may reach its own socket.
            (self._lines["attacker"], None),
            (self._lines["forsaken"], None),
            (self._lines["neighbour"], "reaches-another-bots-socket"),
            (self._lines["other"], "reaches-the-referees-other-endpoints"),
            (service, "reaches-path-sockets"),
        ):
            self._listen(attempt, socket.AF_UNIX, socket.SOCK_STREAM, str(path))
        for path in (self._lines["other"], service):
            # All users may write: this attempt does not test permissions of files.
            path.chmod(0o777)
        for kind, name in ((socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "datagram")):
            self._listen("reaches-abstract-sockets", socket.AF_UNIX, kind, f"\0{self.mark}-{name}")
        return service

    def _listen(self, attempt: str | None, family: int, kind: int, address: object) -> socket.socket | None:
        """Return a new listener; None if the machine has no such addresses."""
        try:
            # Without IPv6 the kernel may refuse the socket (booted with ipv6.disable=1) or only the address.
            listener = socket.socket(family, kind)
            self._held.callback(listener.close)
            listener.setblocking(False)
            listener.bind(address)  # type: ignore[arg-type]
        except OSError:
            if family == socket.AF_UNIX:
                raise
            return None
        if kind == socket.SOCK_STREAM:
            listener.listen()
        if attempt is not None:
            self._listeners[attempt].append(listener)
        return listener

    def _addresses(self, attempt: str, kind: int) -> tuple[tuple[str, int], ...]:
        """Listen at the loopback and at the machine's address in its network, and return the addresses."""
        found = []
        for host in filter(None, ("127.0.0.1", "::1", _own_address())):
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            if (listener := self._listen(attempt, family, kind, (host, 0))) is not None:
                found.append((host, listener.getsockname()[1]))
        return tuple(found)

    def _baits(self) -> dict[str, str]:
        """Write the bait to secret places, and return their paths by kind."""
        found: dict[str, str] = {}
        transcripts = Path.cwd() / "transcripts"
        for name, place in (
            ("temporary", self.folder),
            ("home", Path.home()),
            ("transcripts", transcripts if transcripts.is_dir() else Path.cwd()),
        ):
            with suppress(OSError):
                folder = Path(tempfile.mkdtemp(prefix=".arena-doctor-", dir=place))
                self._held.callback(shutil.rmtree, folder, ignore_errors=True)
                folder.chmod(0o755)
                (folder / "secret").write_text(f"{self.bait}\n")
                found[name] = str(folder / "secret")
        for name in PROGRAMS:
            (self.folder / name).mkdir()
        (self.folder / "neighbour" / "secret").write_text(f"{self.bait}\n")
        return found

    def _referee(self, bait: str) -> Target:
        descriptor = os.open(bait, os.O_RDONLY)
        self._held.callback(os.close, descriptor)
        return target("the referee", os.getpid(), ctypes.addressof(self._in_memory), descriptor)

    def _opened_terminal(self) -> str | None:
        try:
            ours, theirs = pty.openpty()
        except OSError:
            return None
        self._held.callback(os.close, ours)
        self._held.callback(os.close, theirs)
        os.set_blocking(ours, False)
        os.fchmod(theirs, 0o666)
        self._terminal = ours
        return os.ttyname(theirs)

    def _segment(self) -> int | None:
        """Return the key of a new System V segment with the bait, which all users may read."""
        key = secrets.randbits(30)
        try:
            segment = call("shmget", key, SEGMENT_BYTES, CREATE | EXCLUSIVE | 0o666)
        except OSError:
            return None
        self._held.callback(call, "shmctl", segment, REMOVE, None)
        address = call("shmat", segment, None, 0)
        ctypes.memmove(address, self.bait.encode(), len(self.bait))
        call("shmdt", ctypes.c_void_p(address))
        return key


@contextmanager
def open_fixture() -> Iterator[Fixture]:
    """Prepare a stage, and remove it at the end."""
    with ExitStack() as held:
        folder = Path(tempfile.mkdtemp(prefix="arena-doctor-"))
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        yield Fixture(folder, held)


def _hide_a_program(file: Path) -> None:
    """Write another program to the place of a module's compiled form, with a flag that makes Python trust it."""
    hidden = Path(cache_from_source(str(file)))
    hidden.parent.mkdir()
    code = compile('WHAT_RUNS = "another program"', str(file), "exec")
    # The magic number, the flag against checking the source, and the hash of an empty source.
    hidden.write_bytes(MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little") + source_hash(b"") + marshal.dumps(code))


def target(name: str, pid: int, address: int, descriptor: int | None = None) -> Target:
    """Return a process of this machine as a target that the bot may not touch."""
    command = Path("/proc", str(pid), "cmdline").read_bytes()
    return Target(name, pid, hashlib.sha256(command).hexdigest(), address, descriptor)


def _own_address() -> str | None:
    """Return this machine's address in its network. No packet is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))
        address: str = line.getsockname()[0]
        return address
    return None


def _arrived(listener: socket.socket) -> str | None:
    try:
        if listener.type == socket.SOCK_DGRAM:
            return listener.recv(ARRIVED_BYTES).decode(errors="replace").strip()
        connection, _ = listener.accept()
    except BlockingIOError:
        return None
    with connection:
        connection.setblocking(False)
        try:
            return connection.recv(ARRIVED_BYTES).decode(errors="replace").split("\n", 1)[0]
        except OSError:
            return "a connection"


GLANCE_SECONDS = 0.02
BEGIN_SECONDS = 120.0
"""Longest wait for a bot to start and write its first line: an emulated machine takes over 20 s."""


class How(Struct, frozen=True, kw_only=True):
    """The way in which the bots of an examination are started."""

    isolation: Isolation
    warm: bool


class ExaminationError(Exception):
    """The attempts could not be made. The text has the reason."""


class TargetBot:
    """A bot under examination. Made by `start`."""

    def __init__(self, place: BotPlace, process: sandbox.Process) -> None:
        self.process = process
        self.folder = place.bot.folder
        self.said: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        """The lines so far, keyed by the first key of each line."""
        self.in_order: list[dict[str, Any]] = []
        self._log = place.log
        self._read = 0
        self.complaint = "no output"
        self.exit: int | None = None
        """Exit code, negative for a signal; None: it still runs."""

    async def first(self, key: str) -> dict[str, Any]:
        """Wait for the first line under a key. Raise ExaminationError if the bot exits or writes nothing."""
        with trio.move_on_after(BEGIN_SECONDS):
            while not self.said[key] and await self.goes_on():
                pass
        if not self.said[key]:
            if self.exit is None:
                raise ExaminationError(
                    f"a bot that examines its sandbox did not begin within {BEGIN_SECONDS:g} s: "
                    "this machine is too busy or too slow"
                )
            if self.exit == -signal.SIGXCPU:
                raise ExaminationError(
                    "a bot that examines its sandbox used up its processor time before it began: "
                    "this machine is too slow"
                )
            raise ExaminationError(f"a bot that examines its sandbox does not run: {self.complaint}")
        return self.said[key][0]

    async def goes_on(self) -> bool:
        """Wait for a moment and read the new lines. Return False if no more lines can follow."""
        await trio.sleep(GLANCE_SECONDS)
        ended = self.exit is not None
        self.listen()
        return not ended

    def listen(self) -> None:
        """Read the new complete lines of the log."""
        if not self._log.exists():
            return  # The bot has written nothing.
        with self._log.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        complete = data[: data.rfind(b"\n") + 1]
        self._read += len(complete)
        for line in complete.decode(errors="replace").splitlines():
            try:
                told = json.loads(line)
                self.said[next(iter(told))].append(told)
                self.in_order.append(told)
            except (ValueError, TypeError, StopIteration):
                self.complaint = line

    async def follow(self) -> None:
        """Wait for the exit of the bot."""
        self.exit = await self.process.wait()


async def start(nursery: trio.Nursery, place: BotPlace, token: str, how: How) -> TargetBot:
    """Start a bot in its place. Raise the errors of `sandbox.start`."""
    process = await sandbox.start(
        nursery, place.bot, line=place.line, token=token, isolation=how.isolation, log=place.log, warm=how.warm
    )
    target_bot = TargetBot(place, process)
    nursery.start_soon(target_bot.follow)
    return target_bot


def victim_command(place: BotPlace, how: How) -> list[str]:
    """Return the command that starts the victim. The token of its bot goes to its standard input.

    It prints a line when the bot is frozen, and then waits to be killed.
    """
    words = (place.bot.folder, place.line, place.log, how.isolation, "warm" if how.warm else "cold")
    # With `-m`, Python would warn about a module that its package has already imported.
    begin = f"import sys, trio; from {__name__} import run_victim; trio.run(run_victim, *sys.argv[1:])"
    return [sys.executable, "-c", begin, *map(str, words)]


async def run_victim(*words: str) -> None:
    """Start the bot, freeze it, and wait to be killed."""
    folder, line, log, isolation, warm = words
    how = How(isolation=convert(isolation, Isolation), warm=warm == "warm")
    place = BotPlace(find_bot(folder), Path(line), Path(log))
    async with trio.open_nursery() as nursery:
        bot = await start(nursery, place, sys.stdin.readline().strip(), how)
        await bot.first("process")
        bot.process.freeze()
        sys.stdout.write("frozen\n")
        sys.stdout.flush()
        await trio.sleep_forever()
