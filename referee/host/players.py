"""The players of a match: a bot in a process here, a bot on another machine, a person. Each kind has a class.

Each player opens its seat's line, runs from its start to its end, and reports its processor time. Freezing,
measuring, keeping and killing concern only bots in processes here.
"""

import secrets
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import assert_never

import trio
from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.codec import Refused, decode_client_message
from protocol.messages import Submit
from referee import sandbox
from referee.bot_folder import REMOTE, BotFolder
from referee.host.host import Host
from referee.host.kept_bots import KeptBot, KeptBots, Kind, can_stay
from referee.host.observers import MatchLog
from referee.host.plan import Plan
from referee.linux.processes import MICROSECONDS, most_cores
from referee.match import BotIdentity, bot_seed, remote_bot_seed
from referee.sandbox import NOTHING, Meter, Process, Reading, Terminal
from referee.wire import SOCKET_NAME, Arrived, Bell, Line, LocalLine, MemoryLine, RemoteLine, Wire, from_z85, z85

KEY_CONTENT = "key:"
"""Prefix of a remote bot's content. The key's bytes follow in hexadecimal."""
MOST_LAST_ANSWERS = 1_000
"""The largest number of a program's last answers that are counted."""
AWAY_SECONDS = 60.0
"""Seconds without a line after which a bot on another machine has left the match."""


class SandboxedBot(Struct, frozen=True):
    """A bot from its folder, in a process of its own."""

    folder: BotFolder
    terminal: Terminal | None = None
    """The terminal of its author, if it is being debugged: then it runs outside the sandbox, and its clock is
    stopped."""


class LocalSeat(Struct, frozen=True):
    """A seat in the referee's own process: a person at the terminal.

    `play` speaks the wire protocol over its line.

    Its `hello` has an empty token, since no other process can reach its line.
    """

    name: str
    play: Callable[[MemoryLine], Awaitable[None]]


class RemoteBot(Struct, frozen=True):
    """A bot that connects over the network with a key.

    It runs in no sandbox, and its use of resources is unknown.
    """

    name: str
    """The host's name for the bot."""
    key: str
    """The bot's public key, in Z85."""

    @property
    def given(self) -> str:
        """The bot as a user writes it."""
        return f"{REMOTE}{self.name}"

    @property
    def version(self) -> str:
        """An empty text: the version is unknown."""
        return ""

    @property
    def content(self) -> str:
        """The key, in place of the hash of a bot's content: nothing else is known of the bot."""
        return f"{KEY_CONTENT}{from_z85(self.key).hex()}"


def answered_window(frame: bytes) -> int | None:
    """Return the number of the window that a frame submits to; None: it is no submission."""
    try:
        message = decode_client_message(frame)
    except Refused:
        return None
    if isinstance(message, Submit):
        return message.window
    return None


def remote_bot(name: str, content: str) -> RemoteBot:
    """Return the remote bot that has a `RemoteBot.content`."""
    return RemoteBot(name, z85(bytes.fromhex(content.removeprefix(KEY_CONTENT))))


Player = SandboxedBot | LocalSeat | RemoteBot


class WrongPlayersError(ValueError):
    """The players do not fit the game."""


class Usage(Struct, frozen=True, kw_only=True):
    """What a bot has used in a match. None: unknown."""

    cpu_us: int | None = None
    """Processor time in microseconds."""
    peak_bytes: int | None = None
    """Peak memory."""
    peak_processes: int | None = None
    """The most processes and threads at once."""
    scratch_bytes: int | None = None
    """The most bytes that its scratch folder held at any reading."""


class SeatDriver:
    """A player in its seat, for one match."""

    line: Line

    def __init__(self, seat: int, identity: BotIdentity) -> None:
        self.seat = seat
        self.identity = identity
        self.is_hung_up = False
        """True if the match has disconnected the bot."""
        self.last_line = ""
        """The last line of output of a process that exited before the match was over."""
        self.start_cpu_us: int | None = None
        """Processor time that the bot's process used before its first message, in microseconds; None: unknown."""
        self.terminal: Terminal | None = None
        """The terminal of a bot that is being debugged. Such a bot is not killed; it exits by itself."""

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:
        """Open and return the line to the player, which rings the bell."""
        raise NotImplementedError

    async def run(self, host: Host, log: MatchLog) -> None:
        """Run the player once, from its start to its end, and notify the host of both."""
        raise NotImplementedError

    def cpu_time(self) -> tuple[int, int]:
        """Return the player's processor time over the match in microseconds, and the number of its cores.

        A player whose time is unknown counts as thinking all the time.
        """
        return round(trio.current_time() * MICROSECONDS), 1

    def usage(self) -> Usage:
        """Return the resources that the player has used in this match."""
        return Usage()

    def note_start_up(self) -> None:
        """Record the processor time that the player's process has used. Call when its first message arrives."""

    def unlogged_bytes(self) -> int:
        """Return the number of bytes of output in this match for which the log had no room."""
        return 0

    def output_wait_us(self) -> int:
        """Return the most microseconds that the player can have waited to print discarded output in this match."""
        return 0

    def stuck_at(self) -> str:
        """Return the file and line that the player was at when a window's time ran out; empty: unknown."""
        return ""

    async def take_kept(self, kept: KeptBots) -> None:
        """Take a kept bot for this match, if there is one; otherwise reserve a place for one."""

    def go_on(self, host: Host, log: MatchLog) -> None:
        """Thaw a kept bot and start to measure it."""

    def dismiss(self, *, is_told: bool) -> None:  # noqa: ARG002 - not all use it
        """Disconnect the player after the match; it is not invited to another.

        `is_told`: whether `over` was sent to it.
        """
        self.line.hang_up()

    async def part(self) -> int:
        """Disconnect a connected player; return how many windows its program answered only as it ended."""
        return 0

    def measure(self) -> Reading:
        """Return the kernel's counters for the player."""
        return NOTHING

    def let_run(self, *, runs: bool) -> None:
        """Thaw the player, or freeze it."""

    async def ended(self) -> None:
        """Wait until the player has exited by itself."""

    async def kill(self) -> None:
        """Kill the player and everything that it left behind."""

    def close(self) -> None:
        """Release the player's resources. Idempotent."""


class ConsoleSeat(SeatDriver):
    """A person at the terminal."""

    line: MemoryLine

    def __init__(self, seat: int, identity: BotIdentity, play: Callable[[MemoryLine], Awaitable[None]]) -> None:
        super().__init__(seat, identity)
        self._play = play
        self._runs: list[trio.Event] = []

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:  # noqa: ARG002 - it needs no task
        """See `SeatDriver`."""
        self.line = MemoryLine(bell)
        return self.line

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `SeatDriver`."""
        done = trio.Event()
        self._runs.append(done)
        log.started(self.seat, "person")
        await self._play(self.line)
        done.set()
        await host.left(self.seat, 0)

    async def ended(self) -> None:
        """See `SeatDriver`."""
        for done in self._runs:
            await done.wait()


class RemoteSeat(SeatDriver):
    """A bot on another machine."""

    line: RemoteLine

    def __init__(self, seat: int, identity: BotIdentity, line: RemoteLine) -> None:
        super().__init__(seat, identity)
        self.line = line

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:  # noqa: ARG002 - it needs no task
        """See `SeatDriver`."""
        self.line.begin(bell, self.identity.token)
        return self.line

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `SeatDriver`."""
        log.started(self.seat, "remote")
        if self.line.awaited or self.line.connected:
            await self.line.missing(AWAY_SECONDS)
            why = f"its line was down for more than {AWAY_SECONDS:g} s"
        else:
            why = "it was not there, and was not waited for any more"
        await host.left(self.seat, 0, why)

    def dismiss(self, *, is_told: bool) -> None:  # noqa: ARG002 - to it, it is the same
        """See `SeatDriver`. A line that outlives the match is closed by its owner."""
        if not self.line.stands:
            self.line.hang_up()


class ProcessSeat(SeatDriver):
    """A bot in a process here. It may be kept from an earlier match, and for the next one."""

    line: LocalLine

    def __init__(
        self,
        seat: int,
        identity: BotIdentity,
        folder: BotFolder,
        *,
        plan: Plan,
        wire: Wire,
        log: Path,
        terminal: Terminal | None = None,
    ) -> None:
        """Set up the player. Its output goes to `log`, that of a second start to `NAME.start-2.log`, and so on."""
        super().__init__(seat, identity)
        self.terminal = terminal
        self.process: Process | None = None
        self.kept: KeptBot | None = None
        """This bot among the kept ones, while it plays this match; None: it is not to be kept."""
        self._goes_on = False
        """True if the bot was resumed from an earlier match, and `run` has not started to wait for its end yet."""
        self._folder = folder
        self._plan = plan
        self._wire = wire
        self._log = log
        self._meter: Meter | None = None
        self._cpu_before = 0
        self._unlogged_before = 0
        self._output_wait_before = 0
        self._starts = 0
        self._sockets: Path | None = None
        self._nursery: trio.Nursery
        """The nursery of the tasks of the bot's process."""

    async def take_kept(self, kept: KeptBots) -> None:
        """See `SeatDriver`."""
        if can_stay(self._folder) and self.terminal is None:
            self.kept = await kept.take(Kind(self._folder, self._plan.isolation, self._plan.warm))
            self.identity = replace(self.identity, token=self.kept.token, kept=self.kept.matches or UNSET)

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:
        """See `SeatDriver`."""
        if self.kept is not None:
            self._nursery, self.line = self.kept.nursery, self.kept.line
            self.line.turn_to(bell)
        else:
            self._sockets = Path(tempfile.mkdtemp(prefix="arena-"))
            self._nursery, self.line = nursery, self._wire.open_line(nursery, bell, self._sockets)
        return self.line

    def go_on(self, host: Host, log: MatchLog) -> None:
        """See `SeatDriver`."""
        # Its `hello` to this match has been received already.
        if self.kept is None or self.kept.process is None or self.kept.process.has_ended:
            return
        process = self.kept.process
        self._goes_on = True
        process.begin_match(self._next_log())
        log.started(self.seat, "kept")
        self._cpu_before = -process.cpu_us()
        self._unlogged_before = -process.unlogged_bytes()
        self._output_wait_before = -process.output_wait_us()
        self._runs(host, process)
        process.thaw()

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `SeatDriver`."""
        if self._goes_on and self.process is not None:
            process, self._goes_on = self.process, False  # If it has ended since, it ended in this match.
        else:
            process = await self._start(host, log)
        if self.is_hung_up:
            await process.kill()  # It started too late.
        exit_code = await process.wait()
        log.last_words(self.seat, process.last_line)
        if process.lost and not self.is_hung_up:
            host.abort(process.lost)
        else:
            self.last_line = self.last_line or process.last_line
            await host.left(self.seat, exit_code, process.why_ended())

    def cpu_time(self) -> tuple[int, int]:
        """See `SeatDriver`."""
        if self.process is None:
            return 0, 1
        bound = None
        if self.process.has_group:
            bound = self._folder.limits.cpus
        return self._cpu_before + self.process.cpu_us(), most_cores(bound)

    def usage(self) -> Usage:
        """See `SeatDriver`."""
        if self.process is None:
            return Usage(cpu_us=0)
        return Usage(
            cpu_us=self.cpu_time()[0],
            peak_bytes=self.process.peak_bytes(),
            peak_processes=self.process.peak_processes(),
            scratch_bytes=self.process.scratch_bytes(),
        )

    def note_start_up(self) -> None:
        """See `SeatDriver`."""
        self.start_cpu_us = self.cpu_time()[0]

    def unlogged_bytes(self) -> int:
        """See `SeatDriver`."""
        if self.process is None:
            return 0
        return self._unlogged_before + self.process.unlogged_bytes()

    def output_wait_us(self) -> int:
        """See `SeatDriver`."""
        if self.process is None:
            return 0
        return self._output_wait_before + self.process.output_wait_us()

    def stuck_at(self) -> str:
        """See `SeatDriver`."""
        if self.process is None:
            return ""
        return self.process.stuck_at()

    def measure(self) -> Reading:
        """See `SeatDriver`."""
        if self._meter is None:
            return NOTHING
        return self._meter.read()

    def let_run(self, *, runs: bool) -> None:
        """See `SeatDriver`."""
        if self.process is None or self.terminal is not None:
            return
        if runs:
            self.process.thaw()
        else:
            self.process.freeze()

    async def ended(self) -> None:
        """See `SeatDriver`."""
        if self.process is not None:
            await self.process.wait()

    async def kill(self) -> None:
        """See `SeatDriver`."""
        if self.process is not None:
            await self.process.kill()

    def close(self) -> None:
        """See `SeatDriver`."""
        if self.kept is not None:
            self.kept.end()
        self._close_meter()
        if self._sockets is not None:
            try:
                (self._sockets / SOCKET_NAME).unlink(missing_ok=True)
                self._sockets.rmdir()
            except OSError:
                # A bot without a sandbox may have put files there. To look for them each time would take long.
                shutil.rmtree(self._sockets, ignore_errors=True)

    def dismiss(self, *, is_told: bool) -> None:
        """See `SeatDriver`.

        The bridge ends a program at `over`, and the program's last answers are still to be read.
        """
        if self._folder.transport == "zmq" or self.kept is not None or not is_told:
            self.line.hang_up()

    async def part(self) -> int:
        """See `SeatDriver`."""
        windows: set[int] = set()
        if not self.is_hung_up and self._folder.transport == "stdio" and self.kept is None:
            await self.line.settle()
            while self.line.has_more() and len(windows) < MOST_LAST_ANSWERS:
                item = self.line.receive_nowait()
                if isinstance(item, Arrived) and (window := answered_window(item.frame)) is not None:
                    windows.add(window)
                if not self.line.has_more():
                    await self.line.settle()  # It may have sent more than a line holds.
        self.line.hang_up()
        return len(windows)

    def invite(self) -> bool:
        """Invite the bot to its next match if it may be kept; return whether it may."""
        if self.kept is None or self.process is None:
            return False
        self.kept.invite()
        return True

    def stays_away(self) -> bool:
        """Return whether the bot will miss the next match: it has exited, or sends too much instead of `hello`."""
        assert self.kept is not None  # noqa: S101 - it was invited
        assert self.process is not None  # noqa: S101 - as above
        return self.process.has_ended or self.kept.says_too_much

    def is_back(self) -> bool:
        """Return whether the bot has sent `hello` for its next match."""
        assert self.kept is not None  # noqa: S101 - it was invited
        return self.kept.is_back()

    async def stay(self, kept: KeptBots) -> None:
        """Hand the bot over to the kept bots, to wait for its next match; remove it if it has exited."""
        assert self.kept is not None  # noqa: S101 - it was invited
        assert self.process is not None  # noqa: S101 - as above
        if self.process.has_ended:
            await self.process.kill()
        else:
            bot, self.kept = self.kept, None
            await kept.keep(bot)

    async def _start(self, host: Host, log: MatchLog) -> Process:
        """Start the bot, for the first time or again, and return its process."""
        self._close_meter()
        host.starting(self.seat)
        began = trio.current_time()
        process = await sandbox.start(
            self._nursery,
            self._folder,
            line=self.line.path,
            token=self.identity.token,
            isolation=self.terminal or self._plan.isolation,
            log=self._next_log(),
            warm=self._plan.warm,
            kept=self.kept is not None,
        )
        log.started(self.seat, process.how, trio.current_time() - began)
        if self.process is not None:
            self._cpu_before += self.process.cpu_us()
            self._unlogged_before += self.process.unlogged_bytes()
            self._output_wait_before += self.process.output_wait_us()
        if self.kept is not None:
            self.kept.process = process
        self._runs(host, process)
        return process

    def _runs(self, host: Host, process: Process) -> None:
        """Start to measure the bot's process, and notify the host that it runs."""
        self.process = process
        self._meter = process.meter()
        host.started(self.seat)

    def _close_meter(self) -> None:
        if self._meter is not None:
            self._meter.close()
            self._meter = None

    def _next_log(self) -> Path:
        """Return the file for the bot's output. A bot that is started again gets a new one."""
        self._starts += 1
        if self._starts == 1:
            return self._log
        return self._log.with_suffix(f".start-{self._starts}.log")


def seated(
    plan: Plan,
    players: Sequence[Player],
    *,
    transcript: Path,
    wire: Wire | None,
    remote: Mapping[str, RemoteLine],
) -> list[SeatDriver]:
    """Return the players of a match by seat. A wire is needed if a bot runs in a process here."""
    here: list[SeatDriver] = []
    for seat, player in enumerate(players):
        who = identity(plan, seat, player, seats=len(players))
        match player:
            case LocalSeat():
                here.append(ConsoleSeat(seat, who, player.play))
            case RemoteBot():
                line = remote[player.key]
                here.append(RemoteSeat(seat, _credited(who, line.delay, plan.credit_ms), line))
            case SandboxedBot():
                assert wire is not None  # noqa: S101 - `play` has made one
                log = transcript.with_suffix(f".seat-{seat}.log")
                here.append(
                    ProcessSeat(seat, who, player.folder, plan=plan, wire=wire, log=log, terminal=player.terminal)
                )
            case _ as unreachable:
                assert_never(unreachable)
    return here


def _credited(who: BotIdentity, delay: float | None, most_ms: int) -> BotIdentity:
    """Return a remote bot's identity with its network delay and the part of it, at most `most_ms`, not charged."""
    if delay is None:
        return who
    delay_us = round(delay * MICROSECONDS)
    credit_us = min(delay_us, most_ms * MICROSECONDS // 1_000)
    return replace(who, delay_us=delay_us, credit_us=credit_us or UNSET)


def identity(plan: Plan, seat: int, player: Player, *, seats: int) -> BotIdentity:
    """Return the identity of the player in a seat.

    Its name is the plan's label of the seat, if there are labels.
    """
    place = plan.seating * seats + seat
    seed = bot_seed(plan.seed, place)
    label = ""
    if plan.labels:
        label = plan.labels[seat]
    if isinstance(player, LocalSeat):
        return BotIdentity(name=label or player.name, version="", content="", seed=seed, token="")
    token = secrets.token_hex(16)
    if isinstance(player, RemoteBot):
        seed, name = remote_bot_seed(plan.seed, place), label or player.name
        return BotIdentity(name=name, version="", content="", seed=seed, token=token, remote=player.key)
    bot = player.folder
    who = BotIdentity(name=label or bot.name, version=bot.version, content=bot.content, seed=seed, token=token)
    if player.terminal is not None:
        who = replace(who, debugged=True)
    if who.name != bot.name:
        who = replace(who, manifest=bot.name)
    return who


def check_players(plan: Plan, players: Sequence[Player], seats: int, remote: Collection[str]) -> None:
    """Check that players can play a match.

    Raises:
        WrongPlayersError: they cannot.
    """
    if len(players) != seats:
        raise WrongPlayersError(f"{plan.game} has {seats} seats; {len(players)} players were given")
    if why := cannot_play(plan, [each for each in players if isinstance(each, RemoteBot)], remote):
        raise WrongPlayersError(str(why))
    for player in players:
        if isinstance(player, SandboxedBot) and not player.folder.plays(plan.game):
            raise WrongPlayersError(
                f"{player.folder.given} does not play {plan.game}: see `games` in its bot.toml"
            )


class TermsConflict(Struct, frozen=True):
    """The reason why remote bots cannot play under a match's terms."""

    field: str
    """Field of the terms that rules them out, or "" if none does."""
    what: str

    def __str__(self) -> str:
        """Return the field, if there is one, and the reason."""
        return f"{self.field}: {self.what}" if self.field else self.what


def cannot_play(plan: Plan, bots: Sequence[RemoteBot], lines: Collection[str]) -> TermsConflict | None:
    """Return the reason why remote bots cannot play a match, or None.

    `lines`: the keys for which there are lines.
    """
    keys = {bot.key for bot in bots}
    if len(keys) < len(bots):
        return TermsConflict("", "two remote seats have the same key")
    if not keys <= set(lines):
        return TermsConflict("", "there is no line for a remote seat; `arena host` makes one")
    if bots and not plan.policy.ponder:
        return TermsConflict("ponder", "a bot on another machine cannot be kept from thinking")
    if bots and plan.clock is not None and plan.clock.kind == "cpu":
        return TermsConflict("clock", "of a bot on another machine no processor time is known")
    return None
