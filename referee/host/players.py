"""The players of a match: a bot in a process here, a bot on another machine, a person. One class a kind.

Each opens its seat's line, runs from its start to its end, and says what processor time it used. What else a match
does with its players (freeze, measure, keep, kill) concerns bots in processes here; nothing is done to others.
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
from referee.host.match_log import MatchLog
from referee.host.plan import Plan
from referee.linux.cpu_time import MICROSECONDS, most_cores
from referee.match import BotIdentity, bot_seed, remote_bot_seed
from referee.sandbox import NOTHING, Meter, Process, Reading, Terminal
from referee.wire import SOCKET_NAME, Arrived, Bell, Line, LocalLine, MemoryLine, RemoteLine, Wire, from_z85, z85

KEY_CONTENT = "key:"
"""What a remote bot's content begins with; the key's bytes follow, as hex."""
MOST_LAST_ANSWERS = 1_000
"""Answers that are counted, of a program's last ones."""
AWAY_SECONDS = 60.0
"""A bot on another machine to which there has been no line for so long has left."""


class SandboxedBot(Struct, frozen=True):
    """A bot from its folder, in a process of its own."""

    folder: BotFolder
    terminal: Terminal | None = None
    """Its author's: then it is outside the sandbox, and its clock stands."""


class LocalSeat(Struct, frozen=True):
    """A seat in the referee's own process: a person at the terminal. `play` speaks the wire over its line.

    It says `hello` with an empty token: nobody else can reach its line.
    """

    name: str
    play: Callable[[MemoryLine], Awaitable[None]]


class RemoteBot(Struct, frozen=True):
    """Comes over the network with a key. Nothing shuts it in, and of what it uses nothing is known."""

    name: str
    """What the host calls it."""
    key: str
    """The public key that it is known by, as Z85."""

    @property
    def given(self) -> str:
        """How it was asked for."""
        return f"{REMOTE}{self.name}"

    @property
    def version(self) -> str:
        """Nobody knows it."""
        return ""

    @property
    def content(self) -> str:
        """What stands for the hash of a bot's content: the key, by which it is known and nothing else."""
        return f"{KEY_CONTENT}{from_z85(self.key).hex()}"


def answered_window(frame: bytes) -> int | None:
    """Return the number of the window that a frame submits to; None: it is no submission."""
    try:
        said = decode_client_message(frame)
    except Refused:
        return None
    return said.window if isinstance(said, Submit) else None


def remote_bot(name: str, content: str) -> RemoteBot:
    """The remote bot of a `RemoteBot.content`."""
    return RemoteBot(name, z85(bytes.fromhex(content.removeprefix(KEY_CONTENT))))


Player = SandboxedBot | LocalSeat | RemoteBot


class WrongPlayersError(ValueError):
    """The players do not fit the game."""


class PlayerHere:
    """A player at its seat in one match."""

    line: Line

    def __init__(self, seat: int, identity: BotIdentity) -> None:
        self.seat = seat
        self.identity = identity
        self.is_out = False
        """The match has hung up on it."""
        self.last_line = ""
        """What its process wrote last that ended before the match did."""
        self.start_cpu_us: int | None = None
        """Processor time that its process used before its first message; None: unknown."""
        self.terminal: Terminal | None = None
        """The terminal of a bot that is being debugged; such a bot is not killed, it ends by itself."""

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:
        """Opens its line, which rings the bell."""
        raise NotImplementedError

    async def run(self, host: Host, log: MatchLog) -> None:
        """One run, from its start to its end, of which the host is told."""
        raise NotImplementedError

    def cpu_time(self) -> tuple[int, int]:
        """Its processor time over the match, in microseconds, and on how many cores it may be used.

        Where nothing is known, it counts as thinking all the time.
        """
        return round(trio.current_time() * MICROSECONDS), 1

    def usage(self) -> tuple[int | None, int | None]:
        """Its processor time over the match, in microseconds, and the most memory that it held, in bytes.

        None: nobody counts.
        """
        return None, None

    def note_start_up(self) -> None:
        """Read what its process has used until now: it has sent its first message."""

    def unlogged_bytes(self) -> int:
        """How much of its output in this match its log had no place for."""
        return 0

    def output_wait_us(self) -> int:
        """Return the microseconds, at most, for which it waited in this match to print what is not kept."""
        return 0

    def stuck_at(self) -> str:
        """Return file and line in which it was when the time of a window was over; an empty text: nobody knows."""
        return ""

    async def take_kept(self, kept: KeptBots) -> None:
        """Takes one that has stayed for this match, if there is one; or a place for one that may stay."""

    def go_on(self, host: Host, log: MatchLog) -> None:
        """One that has stayed is back."""

    def dismiss(self, *, is_told: bool) -> None:  # noqa: ARG002 - not all look at it
        """End its part: the match is over, and it is not invited to another. `is_told`: it was sent `over`."""
        self.line.hang_up()

    async def part(self) -> int:
        """Return how many windows its program answered only as it ended, once it has. Hangs up, if it is to be."""
        return 0

    def measure(self) -> Reading:
        """What the kernel has counted for it."""
        return NOTHING

    def let_run(self, *, runs: bool) -> None:
        """Freezes it, or lets it go on."""

    async def ended(self) -> None:
        """Waits until it has ended by itself."""

    async def kill(self) -> None:
        """Ends it, with all that it has left behind."""

    def close(self) -> None:
        """Gives back what is held for it. Idempotent."""


class PersonHere(PlayerHere):
    """A person."""

    line: MemoryLine

    def __init__(self, seat: int, identity: BotIdentity, play: Callable[[MemoryLine], Awaitable[None]]) -> None:
        super().__init__(seat, identity)
        self._play = play
        self._runs: list[trio.Event] = []

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:  # noqa: ARG002 - it needs no task
        """See `PlayerHere`."""
        self.line = MemoryLine(bell)
        return self.line

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `PlayerHere`."""
        done = trio.Event()
        self._runs.append(done)
        log.started(self.seat, "person")
        await self._play(self.line)
        done.set()
        await host.left(self.seat, 0)

    async def ended(self) -> None:
        """See `PlayerHere`."""
        for done in self._runs:
            await done.wait()


class RemoteBotHere(PlayerHere):
    """A bot on another machine."""

    line: RemoteLine

    def __init__(self, seat: int, identity: BotIdentity, line: RemoteLine) -> None:
        super().__init__(seat, identity)
        self.line = line

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:  # noqa: ARG002 - it needs no task
        """See `PlayerHere`."""
        self.line.begin(bell, self.identity.token)
        return self.line

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `PlayerHere`."""
        log.started(self.seat, "remote")
        if self.line.awaited or self.line.connected:
            await self.line.missing(AWAY_SECONDS)
            why = f"its line was down for more than {AWAY_SECONDS:g} s"
        else:
            why = "it was not there, and was not waited for any more"
        await host.left(self.seat, 0, why)

    def dismiss(self, *, is_told: bool) -> None:  # noqa: ARG002 - to it, it is the same
        """See `PlayerHere`. A line that stands is taken back by who lent it."""
        if not self.line.stands:
            self.line.hang_up()


class LocalBotHere(PlayerHere):
    """A bot in a process here, which may have stayed from another match, and may stay for the next."""

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
        """`log`: where its output goes; of a second start to `NAME.start-2.log`, and so on."""
        super().__init__(seat, identity)
        self.terminal = terminal
        self.process: Process | None = None
        self.kept: KeptBot | None = None
        """It, as one that may stay for another match, as long as it is this one's."""
        self._goes_on = False
        """Whether it was let go on from its last match, and its end has not been waited for yet."""
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
        """Of its process."""

    async def take_kept(self, kept: KeptBots) -> None:
        """See `PlayerHere`."""
        if can_stay(self._folder) and self.terminal is None:
            self.kept = await kept.take(Kind(self._folder, self._plan.isolation, self._plan.warm))
            self.identity = replace(self.identity, token=self.kept.token, kept=self.kept.matches or UNSET)

    def open_line(self, nursery: trio.Nursery, bell: Bell) -> Line:
        """See `PlayerHere`."""
        if self.kept is not None:
            self._nursery, self.line = self.kept.nursery, self.kept.line
            self.line.turn_to(bell)
        else:
            self._sockets = Path(tempfile.mkdtemp(prefix="arena-"))
            self._nursery, self.line = nursery, self._wire.open_line(nursery, bell, self._sockets)
        return self.line

    def go_on(self, host: Host, log: MatchLog) -> None:
        """See `PlayerHere`."""
        # Its `hello` to this match is there already.
        process = None if self.kept is None else self.kept.process
        if process is not None and not process.has_ended:
            self._goes_on = True
            process.begin_match(self._next_log())
            log.started(self.seat, "kept")
            self._cpu_before = -process.cpu_us()
            self._unlogged_before = -process.unlogged_bytes()
            self._output_wait_before = -process.output_wait_us()
            self._runs(host, process)
            process.thaw()

    async def run(self, host: Host, log: MatchLog) -> None:
        """See `PlayerHere`."""
        if self._goes_on and self.process is not None:
            process, self._goes_on = self.process, False  # It may have ended since: that is its end in this match.
        else:
            process = await self._start(host, log)
        if self.is_out:
            await process.kill()  # It came too late.
        exit_code = await process.wait()
        log.last_words(self.seat, process.last_line)
        if process.lost and not self.is_out:
            host.abort(process.lost)
        else:
            self.last_line = self.last_line or process.last_line
            await host.left(self.seat, exit_code, process.why_ended())

    def cpu_time(self) -> tuple[int, int]:
        """See `PlayerHere`."""
        if self.process is None:
            return 0, 1
        cores = most_cores(self._folder.limits.cpus if self.process.has_group else None)
        return self._cpu_before + self.process.cpu_us(), cores

    def usage(self) -> tuple[int | None, int | None]:
        """See `PlayerHere`."""
        return self.cpu_time()[0], None if self.process is None else self.process.peak_bytes()

    def note_start_up(self) -> None:
        """See `PlayerHere`."""
        self.start_cpu_us = self.cpu_time()[0]

    def unlogged_bytes(self) -> int:
        """See `PlayerHere`."""
        return self._unlogged_before + (0 if self.process is None else self.process.unlogged_bytes())

    def output_wait_us(self) -> int:
        """See `PlayerHere`."""
        return self._output_wait_before + (0 if self.process is None else self.process.output_wait_us())

    def stuck_at(self) -> str:
        """See `PlayerHere`."""
        return "" if self.process is None else self.process.stuck_at()

    def measure(self) -> Reading:
        """See `PlayerHere`."""
        return NOTHING if self._meter is None else self._meter.read()

    def let_run(self, *, runs: bool) -> None:
        """See `PlayerHere`."""
        if self.process is not None and self.terminal is None:
            (self.process.thaw if runs else self.process.freeze)()

    async def ended(self) -> None:
        """See `PlayerHere`."""
        if self.process is not None:
            await self.process.wait()

    async def kill(self) -> None:
        """See `PlayerHere`."""
        if self.process is not None:
            await self.process.kill()

    def close(self) -> None:
        """See `PlayerHere`."""
        if self.kept is not None:
            self.kept.end()
        self._close_meter()
        if self._sockets is not None:
            try:
                (self._sockets / SOCKET_NAME).unlink(missing_ok=True)
                self._sockets.rmdir()
            except OSError:
                # A bot without a sandbox may have put something there. To look for it each time would take long.
                shutil.rmtree(self._sockets, ignore_errors=True)

    def dismiss(self, *, is_told: bool) -> None:
        """See `PlayerHere`. At `over` the bridge ends a program, and what that says last is still to be heard."""
        if self._folder.transport == "zmq" or self.kept is not None or not is_told:
            self.line.hang_up()

    async def part(self) -> int:
        """See `PlayerHere`."""
        windows: set[int] = set()
        if not self.is_out and self._folder.transport == "stdio" and self.kept is None:
            await self.line.settle()
            while self.line.has_more() and len(windows) < MOST_LAST_ANSWERS:
                item = self.line.receive_nowait()
                if isinstance(item, Arrived) and (window := answered_window(item.frame)) is not None:
                    windows.add(window)
                if not self.line.has_more():
                    await self.line.settle()  # It may have said more than a line holds.
        self.line.hang_up()
        return len(windows)

    def invite(self) -> bool:
        """Invites it to its next match, if it may stay for one; whether it may."""
        if self.kept is None or self.process is None:
            return False
        self.kept.invite()
        return True

    def stays_away(self) -> bool:
        """Whether it will not come to its next match: it has ended, or says too much instead."""
        assert self.kept is not None  # noqa: S101 - it was invited
        assert self.process is not None  # noqa: S101 - as above
        return self.process.has_ended or self.kept.says_too_much

    def is_back(self) -> bool:
        """Whether it has come to its next match."""
        assert self.kept is not None  # noqa: S101 - it was invited
        return self.kept.is_back()

    async def stay(self, kept: KeptBots) -> None:
        """It is this match's no more, and waits for the next; unless it has ended."""
        assert self.kept is not None  # noqa: S101 - it was invited
        assert self.process is not None  # noqa: S101 - as above
        if self.process.has_ended:
            await self.process.kill()
        else:
            bot, self.kept = self.kept, None
            await kept.keep(bot)

    async def _start(self, host: Host, log: MatchLog) -> Process:
        """Starts it, for the first time or again."""
        self._close_meter()
        host.starting(self.seat)
        began = trio.current_time()
        process = await sandbox.start(
            self._nursery,
            self._folder,
            line=self.line.path,
            token=self.identity.token,
            isolation=self._plan.isolation,
            log=self._next_log(),
            warm=self._plan.warm,
            kept=self.kept is not None,
            terminal=self.terminal,
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
        """It is there, and is measured from now on."""
        self.process = process
        self._meter = process.meter()
        host.started(self.seat)

    def _close_meter(self) -> None:
        if self._meter is not None:
            self._meter.close()
            self._meter = None

    def _next_log(self) -> Path:
        """Where what it writes goes; a bot that is started again does not write over what it said."""
        self._starts += 1
        return self._log.with_suffix(f".start-{self._starts}.log") if self._starts > 1 else self._log


def seated(
    plan: Plan,
    players: Sequence[Player],
    *,
    transcript: Path,
    wire: Wire | None,
    remote: Mapping[str, RemoteLine],
) -> list[PlayerHere]:
    """The players of a match at their seats. `wire`: there is one where a bot is in a process here."""
    here: list[PlayerHere] = []
    for seat, player in enumerate(players):
        who = identity(plan, seat, player, seats=len(players))
        match player:
            case LocalSeat():
                here.append(PersonHere(seat, who, player.play))
            case RemoteBot():
                line = remote[player.key]
                here.append(RemoteBotHere(seat, _credited(who, line.delay, plan.credit_ms), line))
            case SandboxedBot():
                assert wire is not None  # noqa: S101 - `play` has made one
                log = transcript.with_suffix(f".seat-{seat}.log")
                here.append(
                    LocalBotHere(seat, who, player.folder, plan=plan, wire=wire, log=log, terminal=player.terminal)
                )
            case _ as unreachable:
                assert_never(unreachable)
    return here


def _credited(who: BotIdentity, delay: float | None, most_ms: int) -> BotIdentity:
    """A remote bot with what the network takes, and how much of that is not charged, at most `most_ms`."""
    if delay is None:
        return who
    delay_us = round(delay * MICROSECONDS)
    credit_us = min(delay_us, most_ms * MICROSECONDS // 1_000)
    return replace(who, delay_us=delay_us, credit_us=credit_us or UNSET)


def identity(plan: Plan, seat: int, player: Player, *, seats: int) -> BotIdentity:
    """Return the player at a seat. Its name is the plan's label of the seat, if the plan has labels."""
    place = plan.seating * seats + seat
    seed = remote_bot_seed(plan.seed, place) if isinstance(player, RemoteBot) else bot_seed(plan.seed, place)
    label = plan.labels[seat] if plan.labels else ""
    if isinstance(player, LocalSeat):
        return BotIdentity(name=label or player.name, version="", content="", seed=seed, token="")
    token = secrets.token_hex(16)
    if isinstance(player, RemoteBot):
        name = label or player.name
        return BotIdentity(name=name, version="", content="", seed=seed, token=token, remote=player.key)
    bot = player.folder
    debugged = UNSET if player.terminal is None else True
    return BotIdentity(
        name=label or bot.name,
        version=bot.version,
        content=bot.content,
        seed=seed,
        token=token,
        debugged=debugged,
        manifest=UNSET if label in {"", bot.name} else bot.name,
    )


def check_players(plan: Plan, players: Sequence[Player], seats: int, remote: Collection[str]) -> None:
    """Looks whether these players can play a match.

    Raises:
        WrongPlayersError: they cannot.
    """
    if len(players) != seats:
        raise WrongPlayersError(f"{plan.game} has {seats} seats; {len(players)} players were given")
    if why := cannot_play(plan, [each for each in players if isinstance(each, RemoteBot)], remote):
        raise WrongPlayersError(why)
    for player in players:
        if isinstance(player, SandboxedBot) and not player.folder.plays(plan.game):
            raise WrongPlayersError(
                f"{player.folder.given} does not play {plan.game}: see `games` in its bot.toml"
            )


def cannot_play(plan: Plan, bots: Sequence[RemoteBot], lines: Collection[str]) -> str | None:
    """Why a match cannot be played with these bots; None: it can. `lines`: the keys for which there is one."""
    keys = {bot.key for bot in bots}
    if len(keys) < len(bots):
        return "two remote seats have the same key"
    if not keys <= set(lines):
        return "there is no line for a remote seat; `arena host` makes one"
    if bots and not plan.policy.ponder:
        return "ponder: a bot on another machine cannot be kept from thinking"
    if bots and plan.clock is not None and plan.clock.kind == "cpu":
        return "clock: of a bot on another machine no processor time is known"
    return None
