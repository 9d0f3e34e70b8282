"""Plays one match from plan to result: lines, sandboxes, transcript and host, started and ended in order."""

import hashlib
import os
import platform
import secrets
import shutil
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

import trio
from msgspec import UNSET, Raw, Struct, to_builtins
from msgspec.structs import replace

from protocol.codec import encode
from protocol.refusals import Conduct
from referee import sandbox
from referee.bot_folder import BotFolder
from referee.games import GAMES
from referee.host.feed import Feed, FeedTerms, Publish
from referee.host.host import MICROSECONDS, Host, HostIO
from referee.host.kept_bots import KeptBot, KeptBots, Kind, can_stay
from referee.host.match_log import MatchLog
from referee.host.plan import Plan, Result
from referee.host.remote_bot import RemoteBot, cannot_play
from referee.linux.cpu_time import most_cores
from referee.linux.private_file import FOLDER_MODE
from referee.log import SILENT, Logger
from referee.match import FORMAT, BotIdentity, Ended, Header, Match, clock_terms
from referee.rules import Deal, Table, Told
from referee.sandbox import NOTHING, Meter, Process, Reading
from referee.transcript import Transcript, open_transcript
from referee.unwrapped import unwrapped
from referee.wire import SOCKET_NAME, Bell, Line, MemoryLine, RemoteLine, Wire, open_wire

END_SECONDS = 1.0
"""How long a bot may take to end by itself after `over`; then it is killed."""
LAST_WORD_SECONDS = 0.2
"""How long a bot that was hung up on is left to read why."""
BOT_SEED_BITS = 53
AWAY_SECONDS = 60.0
"""A bot on another machine to which there has been no line for so long has left."""


class SandboxedBot(Struct, frozen=True):
    """A bot from its folder, in a process of its own."""

    folder: BotFolder


class LocalSeat(Struct, frozen=True):
    """A seat in the referee's own process: a person at the terminal. `play` speaks the wire over its line.

    It says `hello` with an empty token: nobody else can reach its line.
    """

    name: str
    play: Callable[[MemoryLine], Awaitable[None]]


Player = SandboxedBot | LocalSeat | RemoteBot
Watch = Callable[[Table, Sequence[Told]], None]
"""Called after the deal and after each closed window, with what was told."""


class WrongPlayersError(ValueError):
    """The players do not fit the game."""


async def play(
    plan: Plan,
    players: Sequence[Player],
    *,
    transcript: Path,
    watch: Watch | None = None,
    operator: trio.MemoryReceiveChannel[bool] | None = None,
    wire: Wire | None = None,
    kept: KeptBots | None = None,
    remote: Mapping[str, RemoteLine] | None = None,
    publish: Publish | None = None,
    log: Logger = SILENT,
) -> Result:
    """Plays a match.

    Args:
        plan: what is to be played.
        players: one for each seat, in order.
        transcript: the file to write; each bot's output goes beside it, to `NAME.seat-N.log`, if there is any
            (of a bot's second start to `NAME.seat-N.start-2.log`, and so on).
        watch: see `Watch`.
        operator: True pauses the match, False lets it go on.
        wire: the process's lines; None makes some for this match alone.
        kept: where bots of the tournament wait for their next match, if its policy keeps them; None: all end.
        remote: the lines of the players' keys, as far as they are on other machines.
        publish: takes the messages of the match's feed; None: it has none.
        log: the operator's.

    Raises:
        BadSetupError: options or setup break the game's rules.
        BadClockError: the `[clock]` table makes no clock of this match.
        WrongPlayersError: too many or too few players, or one that does not play the game.
        SandboxError: the isolation that was asked for cannot be given.
        TranscriptError: the transcript cannot be written. The attempt is void.
        OSError: the machine has run out of something else. The attempt is void.
    """
    table = Table(GAMES[plan.game], Deal(plan.variant, plan.seed, plan.options, plan.setup))
    _check_players(plan, table, players, remote or {})
    with unwrapped():
        if any(isinstance(player, SandboxedBot) for player in players) and wire is None:
            async with open_wire() as own:
                return await play(
                    plan,
                    players,
                    transcript=transcript,
                    watch=watch,
                    operator=operator,
                    wire=own,
                    remote=remote,
                    publish=publish,
                    log=log,
                )
        if plan.policy.processes == "fresh":
            kept = None
        one = _Play(
            plan, players, table, transcript, wire, kept=kept, remote=remote or {}, publish=publish, watch=watch,
            logger=log,
        )  # fmt: skip
        return await one.play(operator)


class _Play(HostIO):
    """One match being played, and all that has to be ended with it."""

    def __init__(
        self,
        plan: Plan,
        players: Sequence[Player],
        table: Table,
        transcript: Path,
        wire: Wire | None,
        *,
        kept: KeptBots | None,
        remote: Mapping[str, RemoteLine],
        publish: Publish | None,
        watch: Watch | None,
        logger: Logger,
    ) -> None:
        self.plan = plan
        self.players = players
        self.table = table
        self.path = transcript
        self.wire = wire
        self.kept = kept
        self.remote = remote
        self.bots = tuple(identity(plan, seat, player, seats=len(players)) for seat, player in enumerate(players))
        self.names = plan.labels or tuple(bot.name for bot in self.bots)
        self.log: MatchLog = MatchLog(logger, plan, self.names)
        self.terms = clock_terms(table.game, plan.variant, plan.policy, plan.clock)
        self.staying: dict[int, KeptBot] = {}
        """By seat, bots that may stay for another match, as long as they are this one's."""
        self.processes: dict[int, Process] = {}
        self.cpu_before = [0] * len(players)
        self.locals_done: list[trio.Event] = []
        self.starts = [0] * len(players)
        self.meters: dict[int, Meter] = {}
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.feed = None if publish is None else self._feed(publish)
        self.ponder, self.counts_cpu = plan.policy.ponder, self.terms.kind == "cpu"
        self.measured = not all(isinstance(player, LocalSeat) for player in players)
        self.watch = watch
        self.host: Host
        self.match: Match

    async def play(self, operator: trio.MemoryReceiveChannel[bool] | None) -> Result:
        """Plays it. Its parts know each other in circles, which are cut then: a collector would come late."""
        try:
            with unwrapped():
                return await self._play(operator)
        except Exception as error:
            self.log.failed(error)
            raise
        finally:
            vars(self).clear()

    async def _play(self, operator: trio.MemoryReceiveChannel[bool] | None) -> Result:
        head = ""
        self.log.begun()
        try:
            if self.kept is not None:
                await self._take_kept(self.kept)
            async with open_transcript(self.path, self._header()) as transcript:
                await self._run(transcript, operator)
            head = transcript.head or ""
        finally:
            for bot in self.staying.values():
                bot.end()
            for meter in self.meters.values():
                meter.close()
            if self.feed is not None:
                self.feed.over(head)
        result = self._result(head)
        self.log.over(result)
        return result

    async def _take_kept(self, kept: KeptBots) -> None:
        """Bots that wait for another match, and places for those that may from now on."""
        bots = list(self.bots)
        for seat, player in enumerate(self.players):
            if isinstance(player, SandboxedBot) and can_stay(player.folder):
                kind = Kind(player.folder, self.plan.isolation, self.plan.warm)
                bot = self.staying[seat] = await kept.take(kind)
                bots[seat] = replace(bots[seat], token=bot.token, kept=bot.matches or UNSET)
        self.bots = tuple(bots)

    async def _run(self, transcript: Transcript, operator: trio.MemoryReceiveChannel[bool] | None) -> None:
        local = [seat for seat, player in enumerate(self.players) if isinstance(player, SandboxedBot)]
        with _socket_folders([seat for seat in local if seat not in self.staying]) as sockets:
            async with trio.open_nursery() as nursery:
                self._open(nursery, sockets, transcript)
                for seat in range(len(self.players)):
                    self.restart(seat)
                if operator is not None:
                    nursery.start_soon(self._obey, operator)
                await self._judge()
                async with trio.open_nursery() as ending:
                    ending.start_soon(transcript.close)
                    await self._dismiss()
                nursery.cancel_scope.cancel()

    def _open(self, nursery: trio.Nursery, sockets: dict[int, Path], transcript: Transcript) -> None:
        """Makes the lines, and the host that holds them."""
        bell = self.bell = Bell()
        self.nursery = nursery
        self.lines: list[Line] = []
        for seat, player in enumerate(self.players):
            if isinstance(player, RemoteBot):
                line = self.remote[player.key]
                line.begin(bell, self.bots[seat].token)
                self.lines.append(line)
            elif isinstance(player, LocalSeat) or self.wire is None:
                self.lines.append(MemoryLine(bell))
            elif seat in self.staying:
                self.staying[seat].line.turn_to(bell)
                self.lines.append(self.staying[seat].line)
            else:
                self.lines.append(self.wire.open_line(nursery, bell, sockets[seat]))
        self.record, self.catch_up = transcript.append, transcript.catch_up  # type: ignore[method-assign]
        self.host = Host(self)
        self.match = Match(
            self.plan.match,
            self.table,
            terms=self.terms,
            policy=self.plan.policy,
            bots=self.bots,
            io=self.host,
            measured=self.measured,
        )
        for seat, bot in self.staying.items():
            if bot.process is not None:
                self._go_on_with(seat, bot.process)

    def _go_on_with(self, seat: int, process: Process) -> None:
        """A bot that has stayed is back already, with its `hello` to this match."""
        process.begin_log(self._next_log(seat))
        self.log.started(seat, "kept")
        self.cpu_before[seat] = -process.cpu_us()
        self._runs(seat, process)
        process.thaw()

    def _runs(self, seat: int, process: Process) -> None:
        """A seat's bot is there, and is measured from now on."""
        self.processes[seat] = process
        self.meters[seat] = process.meter()
        self.host.started(seat)

    async def _judge(self) -> None:
        """Runs the match. A fault in the referee itself voids it: no bot may lose by it."""
        try:
            await self.host.run(self.match)
        except Exception:  # noqa: BLE001 - whatever it is, it is not a bot's
            why = f"fault in the referee: {traceback.format_exc(limit=-3)}"
            self.match.apply(Ended.by_fault(self.match.now, why))

    async def _seat(self, nursery: trio.Nursery, seat: int) -> None:
        """One run of a seat's bot, from its start to its end."""
        player, line = self.players[seat], self.lines[seat]
        if isinstance(player, LocalSeat):
            assert isinstance(line, MemoryLine)  # noqa: S101 - `_open` made it so
            done = trio.Event()
            self.locals_done.append(done)
            self.log.started(seat, "person")
            await player.play(line)
            done.set()
            await self.host.left(seat, 0)
            return
        if isinstance(line, RemoteLine):
            self.log.started(seat, "remote")
            await line.missing(AWAY_SECONDS)
            await self.host.left(seat, 0)
            return
        assert isinstance(player, SandboxedBot)  # noqa: S101 - the others have been served
        staying = self.staying.get(seat)
        if staying is not None and staying.process is not None and not staying.process.has_ended:
            process = staying.process
        else:
            process = await self._start(nursery, seat, player.folder, staying)
        if self.match.seats[seat].gone:
            await process.kill()  # It came too late.
        exit_code = await process.wait()
        if not self.match.over:
            self.log.last_words(seat, process.last_line)
        if process.lost:
            self.host.abort("the process that warm bots are forked from has ended")
        else:
            await self.host.left(seat, exit_code)

    async def _start(
        self, nursery: trio.Nursery, seat: int, folder: BotFolder, staying: KeptBot | None
    ) -> Process:
        """Starts a seat's bot, for the first time or again."""
        if seat in self.meters:
            self.meters.pop(seat).close()
        self.host.starting(seat)
        began = trio.current_time()
        process = await sandbox.start(
            nursery if staying is None else staying.nursery,
            folder,
            line=self.lines[seat].path,  # type: ignore[attr-defined]
            token=self.bots[seat].token,
            isolation=self.plan.isolation,
            log=self._next_log(seat),
            warm=self.plan.warm,
            kept=staying is not None,
        )
        self.log.started(seat, process.how, trio.current_time() - began)
        if seat in self.processes:
            self.cpu_before[seat] += self.processes[seat].cpu_us()
        if staying is not None:
            staying.process = process
        self._runs(seat, process)
        return process

    def let_run(self, seat: int, runs: bool) -> None:
        """A policy without pondering: who owes nothing is frozen."""
        process = self.processes.get(seat)
        if process is not None:
            (process.thaw if runs else process.freeze)()

    def cpu_time(self, seat: int) -> tuple[int, int]:
        """A bot's processor time over all its starts, in microseconds, and on how many cores it may be used.

        A person at the terminal is counted as one who thinks all the time.
        """
        player, process = self.players[seat], self.processes.get(seat)
        if not isinstance(player, SandboxedBot):
            return round(trio.current_time() * MICROSECONDS), 1
        if process is None:
            return 0, 1
        cores = most_cores(player.folder.limits.cpus if process.has_group else None)
        return self.cpu_before[seat] + process.cpu_us(), cores

    def measure(self, seat: int) -> Reading:
        """What the kernel has counted for a seat's bot; nothing for a person."""
        meter = self.meters.get(seat)
        if meter is None or self.wire is None:
            return NOTHING
        return meter.read()

    def told(self, told: tuple[Told, ...]) -> None:
        """See `HostIO`."""
        if self.watch is not None:
            self.watch(self.table, told)

    def restart(self, seat: int) -> None:
        """See `HostIO`."""
        self.nursery.start_soon(self._seat, self.nursery, seat)

    def hung_up(self, seat: int) -> None:
        """See `HostIO`."""
        self.nursery.start_soon(self._end, seat)

    def behind(self, since: float) -> float:
        """See `HostIO`."""
        source = self.wire or next(iter(self.remote.values()), None)
        return 0.0 if source is None else source.behind(since)

    async def _end(self, seat: int) -> None:
        """Ends the bot that the match has hung up on."""
        if seat in self.processes:
            await trio.sleep(LAST_WORD_SECONDS)
            await self.processes[seat].kill()

    async def _dismiss(self) -> None:
        """The match is over: bots end by themselves, or are ended, and nothing of them is left; or they stay.

        One that is only being started meanwhile ends with the match's nursery.
        """
        invited = self._invite_again()
        for seat, line in enumerate(self.lines):
            if seat not in invited:
                line.hang_up()
        with trio.move_on_after(END_SECONDS):
            await self._until_back(invited)
            for seat, process in list(self.processes.items()):
                if seat not in invited:
                    await process.wait()
            for done in self.locals_done:
                await done.wait()
        for seat, process in list(self.processes.items()):
            if seat not in invited or process.has_ended:
                await process.kill()
            elif self.kept is not None:
                await self.kept.keep(self.staying.pop(seat))

    def _invite_again(self) -> set[int]:
        """Invites those bots to their next match of which nothing is known that speaks against it; their seats."""
        ended = self.match.ended
        if ended is None or ended.outcome is None:
            return set()
        seats = {seat for seat in self.staying if seat in self.processes and ended.conduct[seat] is Conduct.OK}
        for seat in seats:
            self.staying[seat].invite()
        return seats

    async def _until_back(self, invited: set[int]) -> None:
        """Freezes those who are back. Those who end instead, or take too long, are invited no more."""
        waited_for = set(invited)
        try:
            while waited_for:
                for seat in sorted(waited_for):
                    if self.processes[seat].has_ended or self.staying[seat].says_too_much:
                        invited.discard(seat)
                    elif self.staying[seat].is_back():
                        self.processes[seat].freeze()
                    else:
                        continue
                    waited_for.discard(seat)
                if waited_for:
                    await self.bell.wait()
        finally:
            invited -= waited_for

    async def _obey(self, operator: trio.MemoryReceiveChannel[bool]) -> None:
        async for pause in operator:
            self.host.order(pause=pause)

    def _feed(self, publish: Publish) -> Feed:
        """What spectators are told of it."""
        terms = FeedTerms(match=self.plan.match, players=self.names, clock=self.terms, started=self.started)
        return Feed(self.table, terms, publish, lambda: self.match.now)

    def _header(self) -> Header:
        table = self.table
        return Header(
            format=FORMAT,
            arena=_version(),
            match=self.plan.match,
            game=self.plan.game,
            variant=self.plan.variant,
            seed=self.plan.seed,
            options=Raw(encode(table.options)),
            setup=Raw(encode(table.setup)),
            clock=self.terms,
            policy=to_builtins(self.plan.policy),
            bots=self.bots,
            isolation=self.plan.isolation,
            measured=self.measured,
            machine=_machine(),
            started=self.started,
        )

    def _next_log(self, seat: int) -> Path:
        """Where what a seat's bot writes goes; a bot that is started again does not write over what it said."""
        self.starts[seat] += 1
        which = f".start-{self.starts[seat]}" if self.starts[seat] > 1 else ""
        return self.path.with_suffix(f".seat-{seat}{which}.log")

    def _result(self, head: str) -> Result:
        ended = self.match.ended
        assert ended is not None  # noqa: S101 - the host runs a match to its end
        seats = self.match.seats
        return Result(
            match=self.plan.match,
            outcome=ended.outcome,
            conduct=ended.conduct,
            void=ended.void,
            charged_us=tuple(seat.charged for seat in seats),
            windows=tuple(seat.windows for seat in seats),
            defaults=tuple(seat.defaults for seat in seats),
            refused=tuple(seat.refused.total() for seat in seats),
            remote=tuple(n for n, player in enumerate(self.players) if isinstance(player, RemoteBot)),
            verdicts=tuple(dict(seat.verdicts) for seat in seats),
            transcript=str(self.path),
            head=head,
        )


@cache
def _version() -> str:
    """This arena's. Looked up once: it is in a file."""
    return version("mist-arena")


@cache
def _machine() -> str:
    """What matches are played on."""
    system = f"{platform.system()} {platform.release()}"
    return f"{system}, {os.cpu_count()} cores, Python {platform.python_version()}"


@contextmanager
def _socket_folders(seats: Sequence[int]) -> Iterator[dict[int, Path]]:
    """By seat, a folder that may hold a socket: gone at the end."""
    if not seats:
        yield {}
        return
    top = Path(tempfile.mkdtemp(prefix="arena-"))
    folders = {seat: top / str(seat) for seat in seats}
    try:
        for folder in folders.values():
            folder.mkdir(FOLDER_MODE)
        yield folders
    finally:
        try:
            for folder in folders.values():
                (folder / SOCKET_NAME).unlink(missing_ok=True)
                folder.rmdir()
            top.rmdir()
        except OSError:
            # A bot without a sandbox may have put something there. To look for it each time would take long.
            shutil.rmtree(top, ignore_errors=True)


def identity(plan: Plan, seat: int, player: Player, *, seats: int) -> BotIdentity:
    """Who sits at a seat. A bot's own seed follows from the match's, from which it cannot be told back.

    No two bots have the same one in all the matches of one deal: seats are counted through them all.
    """
    digest = hashlib.sha256(f"{plan.seed}/bot/{plan.seating * seats + seat}".encode()).digest()
    seed = int.from_bytes(digest[:8], "big") >> (64 - BOT_SEED_BITS)
    if isinstance(player, LocalSeat):
        return BotIdentity(name=player.name, version="", content="", seed=seed, token="")
    token = secrets.token_hex(16)
    if isinstance(player, RemoteBot):
        return BotIdentity(name=player.name, version="", content="", seed=seed, token=token, remote=player.key)
    bot = player.folder
    return BotIdentity(name=bot.name, version=bot.version, content=bot.content, seed=seed, token=token)


def _check_players(plan: Plan, table: Table, players: Sequence[Player], remote: Mapping[str, RemoteLine]) -> None:
    if len(players) != table.seats:
        raise WrongPlayersError(f"{plan.game} has {table.seats} seats; {len(players)} players were given")
    if why := cannot_play(plan, [each for each in players if isinstance(each, RemoteBot)], remote.keys()):
        raise WrongPlayersError(why)
    for player in players:
        if isinstance(player, SandboxedBot) and not player.folder.plays(plan.game):
            raise WrongPlayersError(
                f"{player.folder.given} does not play {plan.game}: see `games` in its bot.toml"
            )
