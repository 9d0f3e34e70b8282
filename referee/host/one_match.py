"""Plays one match from plan to result: lines, sandboxes, transcript and host, started and ended in order."""

import os
import platform
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

import trio
from msgspec import UNSET, Raw, Struct, to_builtins
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games import fault_of_package, package_of
from protocol.messages import ClockTerms
from protocol.refusals import Conduct
from referee import __version__
from referee.display_text import printable
from referee.games import GAMES
from referee.host.host import Host, MatchHooks
from referee.host.kept_bots import KeptBots
from referee.host.observers import Feed, FeedTerms, MatchLog, Publish
from referee.host.plan import AttemptResult, Plan
from referee.host.players import (
    ConsoleSeat,
    Player,
    ProcessSeat,
    RemoteSeat,
    SandboxedBot,
    SeatDriver,
    check_players,
    seated,
)
from referee.linux.shortage import shortage_in, shortage_text, unwrapped
from referee.log import SILENT, Logger
from referee.match import FORMAT, TEXT, Ended, Header, Match, MatchTerms, SeatReport, clock_terms
from referee.rules import Addressed, Deal, Table
from referee.sandbox import Reading, Terminal
from referee.transcript import open_transcript
from referee.wire import Bell, RemoteLine, Wire, open_wire

LAST_WORD_SECONDS = 0.2
"""Seconds in which a bot that is removed from the match may read the reason."""
END_SECONDS = 1.0
"""Seconds after `over` in which a bot may exit by itself; then it is killed."""
Watch = Callable[[Table, Sequence[Addressed]], None]
"""A function called after the deal and after each closed window, with the table and the events sent."""


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
) -> AttemptResult:
    """Play a match.

    Args:
        plan: the match.
        players: one for each seat, in order.
        transcript: the file to write; each bot's output goes beside it, to `NAME.seat-N.log`, if there is any
            (of a bot's second start to `NAME.seat-N.start-2.log`, and so on).
        watch: see `Watch`.
        operator: True pauses the match, False lets it go on.
        wire: the process's wire; None opens one for this match alone.
        kept: the bots that wait for their next match, if the tournament's policy keeps them; None: all bots end.
        remote: the lines of bots on other machines, by their keys.
        publish: receives the messages of the match's feed; None: there is no feed.
        log: the operator's log.

    Raises:
        BadSetupError: options or setup break the game's rules.
        BadClockError: the `[clock]` table makes no clock of this match.
        WrongPlayersError: too many or too few players, or one that does not play the game.
        SandboxError: the requested isolation is not available.
        TranscriptError: the transcript cannot be written. The attempt is void.
        OSError: the machine has run out of something else. The attempt is void.
    """
    table = Table(GAMES[plan.game], Deal(plan.variant, plan.seed, plan.options, plan.setup))
    check_players(plan, players, table.seats, (remote or {}).keys())
    if plan.policy.processes == "fresh":
        kept = None
    with unwrapped():
        async with AsyncExitStack() as own:
            if wire is None and any(isinstance(player, SandboxedBot) for player in players):
                wire = await own.enter_async_context(open_wire())
            drivers = seated(plan, players, transcript=transcript, wire=wire, remote=remote or {})
            audience = Audience(watch=watch, publish=publish, log=log)
            one = RecordedMatch(plan, table, drivers, transcript, audience)
            one.kept = kept
            one.loop = wire or next(iter((remote or {}).values()), None)
            return await one.play(operator)


class Audience(Struct, frozen=True, kw_only=True):
    """The parties to whom a match is shown; see `play`."""

    watch: Watch | None
    publish: Publish | None
    log: Logger


class LocalMatch(MatchHooks):
    """A match in progress, with everything that ends with it. Set `record` before `run`."""

    kept: KeptBots | None = None
    measured = False

    def __init__(
        self, plan: Plan, table: Table, players: Sequence[SeatDriver], terms: ClockTerms, log: MatchLog
    ) -> None:
        self.plan = plan
        self.table = table
        self.players = players
        self.terms = terms
        self.log: MatchLog = log
        self.ponder, self.counts_cpu = plan.policy.ponder, terms.kind == "cpu"
        self.nursery: trio.Nursery
        self.host: Host
        self.match: Match

    async def run(
        self,
        close: Callable[[], Awaitable[None]] = trio.lowlevel.checkpoint,
        operator: trio.MemoryReceiveChannel[bool] | None = None,
    ) -> None:
        """Run the match from the start of its bots to their end. Awaits `close` while they end."""
        async with trio.open_nursery() as self.nursery:
            self._open()
            for player in self.players:
                self.restart(player.seat)
            if operator is not None:
                self.nursery.start_soon(self._obey, operator)
            await self._judge()
            for player in self.players:
                player.line.on_cut = None
            async with trio.open_nursery() as ending:
                ending.start_soon(close)
                await self._dismiss()
            self.nursery.cancel_scope.cancel()

    def _open(self) -> None:
        """Create the lines, the host that holds them, and the match."""
        self.bell = Bell()
        self.lines = [player.open_line(self.nursery, self.bell) for player in self.players]
        self.host = Host(self)
        terms = MatchTerms(
            match=self.plan.match,
            clock=self.terms,
            policy=self.plan.policy,
            bots=tuple(player.identity for player in self.players),
            measured=self.measured,
            unexcused=self.plan.unexcused,
        )
        self.match = Match(self.table, terms, io=self.host)
        for player in self.players:
            # The host is notified when a bot's connection is closed because of its messages.
            player.line.on_cut = partial(self.host.cut_off, player.seat)
        for player in self.players:
            player.go_on(self.host, self.log)

    async def _judge(self) -> None:
        """Run the match. A fault of the referee itself voids it, since no bot may lose by one."""
        try:
            await self.host.run(self.match)
        except Exception as error:  # noqa: BLE001 - no such error is a bot's
            if (short := shortage_in(error)) is not None:
                why = shortage_text(short)
            elif (fault := fault_of_package(error)) is not None:
                why = fault
            else:
                why = f"fault in the referee: {traceback.format_exc(limit=-3)}"
            self.match.apply(Ended.by_fault(self.match.now, why))

    # Hooks for the host; see `MatchHooks`.

    def restart(self, seat: int) -> None:
        """See `MatchHooks`."""
        self.nursery.start_soon(self.players[seat].run, self.host, self.log)

    def hang_up(self, seat: int) -> None:
        """See `MatchHooks`."""
        self.players[seat].is_hung_up = True
        self.nursery.start_soon(self._end, self.players[seat])

    def let_run(self, seat: int, runs: bool) -> None:
        """See `MatchHooks`."""
        self.players[seat].let_run(runs=runs)

    def started_up(self, seat: int) -> None:
        """See `MatchHooks`."""
        self.players[seat].note_start_up()

    def cpu_time(self, seat: int) -> tuple[int, int]:
        """See `MatchHooks`."""
        return self.players[seat].cpu_time()

    def worked(self) -> float:
        """See `MatchHooks`. Time in which other threads had the processor does not count."""
        return time.thread_time()

    def measure(self, seat: int) -> Reading:
        """See `MatchHooks`."""
        return self.players[seat].measure()

    def release(self) -> None:
        """Break the reference cycles of a match that is over, so that its memory is freed at once."""
        self.feed = None
        with suppress(AttributeError):  # It may not have been opened.
            del self.host, self.match

    async def _end(self, player: SeatDriver) -> None:
        await trio.sleep(LAST_WORD_SECONDS)
        if player.terminal is None:
            await player.kill()

    async def _dismiss(self) -> None:
        """End the bots after the match, and remove everything they leave; or keep them for their next match.

        A bot that is still being started ends with the match's nursery.
        """
        invited = self._invite_again()
        ended = self.match.ended
        is_told = ended is not None and ended.outcome is not None
        for player in self.players:
            if player not in invited:
                player.dismiss(is_told=is_told)
        with trio.move_on_after(END_SECONDS):
            await self._until_back(invited)
            for player in self.players:
                if player not in invited:
                    await player.ended()
        for player in self.players:
            if player.terminal is not None:
                await _debugged_to_the_end(player, player.terminal)
            if player not in invited:
                await player.kill()
                self.match.seats[player.seat].program.answers.after_end(await player.part())
        for bot in invited:
            if self.kept is not None:
                await bot.stay(self.kept)

    def _invite_again(self) -> list[ProcessSeat]:
        """Invite the bots that behaved well to their next match, and return them."""
        ended = self.match.ended
        if ended is None or ended.outcome is None:
            return []
        bots = [player for player in self.players if isinstance(player, ProcessSeat)]
        return [bot for bot in bots if ended.conduct[bot.seat] is Conduct.OK and bot.invite()]

    async def _until_back(self, invited: list[ProcessSeat]) -> None:
        """Wait for the invited bots, and freeze each that is ready. Remove those that exit or take too long."""
        waited_for = list(invited)
        try:
            while waited_for:
                for bot in list(waited_for):
                    if bot.stays_away():
                        invited.remove(bot)
                    elif bot.is_back():
                        bot.let_run(runs=False)
                    else:
                        continue
                    waited_for.remove(bot)
                if waited_for:
                    await self.bell.wait()
        finally:
            invited[:] = [bot for bot in invited if bot not in waited_for]

    async def _obey(self, operator: trio.MemoryReceiveChannel[bool]) -> None:
        async for pause in operator:
            self.host.order(pause=pause)


async def _debugged_to_the_end(player: SeatDriver, terminal: Terminal) -> None:
    """Wait for a debugged bot to end: its author may still be looking at it."""
    with trio.move_on_after(END_SECONDS):
        await player.ended()
        return
    terminal.still_runs()
    await player.ended()


class RecordedMatch(LocalMatch):
    """A match in progress with its transcript and feed."""

    loop: Wire | RemoteLine | None = None
    """The source of the event loop's stalls; None: unknown."""

    def __init__(
        self, plan: Plan, table: Table, players: Sequence[SeatDriver], transcript: Path, audience: Audience
    ) -> None:
        terms = clock_terms(table.game, plan.variant, plan.policy, plan.clock)
        self.names = tuple(player.identity.name for player in players)
        log: MatchLog = MatchLog(audience.log, plan, self.names)
        super().__init__(plan, table, players, terms, log)
        self.path = transcript
        self.watch = audience.watch
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        if audience.publish is not None:
            self.feed = self._feed(audience.publish)
        self.measured = not all(isinstance(player, ConsoleSeat) for player in players)

    async def play(self, operator: trio.MemoryReceiveChannel[bool] | None) -> AttemptResult:
        """Play the match, then break reference cycles so that its memory is freed at once."""
        try:
            with unwrapped():
                return await self._play(operator)
        except Exception as error:
            self.log.failed(error)
            raise
        finally:
            self.release()

    async def _play(self, operator: trio.MemoryReceiveChannel[bool] | None) -> AttemptResult:
        head = ""
        began = trio.current_time()
        self.log.begun()
        try:
            if self.kept is not None:
                for player in self.players:
                    await player.take_kept(self.kept)
            self.bots = tuple(player.identity for player in self.players)
            async with open_transcript(self.path, self._header()) as transcript:
                self.record, self.catch_up = transcript.append, transcript.catch_up
                await self.run(transcript.close, operator)
            head = transcript.head or ""
        finally:
            for player in self.players:
                player.close()
            if self.feed is not None:
                self.feed.over(head)
        self.log.stopped(self.stopped(began))
        result = self._result(head)
        self.log.over(result)
        return result

    # Hooks for the host; see `MatchHooks`.

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchHooks`."""
        if self.watch is not None:
            self.watch(self.table, told)

    def behind(self, since: float) -> float:
        """See `MatchHooks`."""
        if self.loop is None:
            return 0.0
        return self.loop.behind(since)

    def stopped(self, since: float) -> float:
        """See `MatchHooks`."""
        if self.loop is None:
            return 0.0
        return self.loop.stopped(since)

    def _feed(self, publish: Publish) -> Feed:
        """Return the match's feed for spectators."""
        terms = FeedTerms(
            match=self.plan.match,
            players=self.names,
            clock=self.terms,
            started=self.started,
            alone=self.plan.block is None,
        )
        return Feed(self.table, terms, publish, lambda: self.match.now)

    def _header(self) -> Header:
        table = self.table
        return Header(
            format=FORMAT,
            arena=__version__,
            match=self.plan.match,
            game=self.plan.game,
            package=package_of(self.plan.game) or UNSET,
            variant=self.plan.variant,
            seed=self.plan.seed,
            options=Raw(encode(table.options)),
            setup=Raw(encode(table.setup)),
            clock=self.terms,
            policy=to_builtins(self.plan.policy),
            bots=self.bots,
            isolation=self.plan.isolation,
            measured=self.measured,
            unexcused=self.plan.unexcused or UNSET,
            machine=_machine(),
            started=self.started,
        )

    def _result(self, head: str) -> AttemptResult:
        ended = self.match.ended
        assert ended is not None  # noqa: S101 - the host runs a match to its end
        seats = self.match.seats
        return AttemptResult(
            match=self.plan.match,
            outcome=ended.outcome,
            conduct=ended.conduct,
            void=ended.void,
            held_up=self.match.held_up,
            charged_us=tuple(seat.charged for seat in seats),
            windows=tuple(seat.windows for seat in seats),
            defaults=tuple(seat.defaults for seat in seats),
            refused=tuple(seat.refused.total() for seat in seats),
            remote=tuple(player.seat for player in self.players if isinstance(player, RemoteSeat)),
            debugged=tuple(player.seat for player in self.players if player.terminal is not None),
            reports=tuple(map(self._report, self.players)),
            verdicts=tuple(dict(seat.verdicts) for seat in seats),
            transcript=str(self.path),
            head=head,
        )

    def _report(self, player: SeatDriver) -> SeatReport:
        used = player.usage()
        report = replace(
            self.match.seats[player.seat].report(),
            cpu_us=used.cpu_us,
            start_cpu_us=player.start_cpu_us,
            peak_bytes=used.peak_bytes,
            peak_processes=used.peak_processes,
            scratch_bytes=used.scratch_bytes,
            unlogged_bytes=player.unlogged_bytes(),
            output_wait_us=player.output_wait_us(),
        )
        if report.loss or report.asked_default:
            report = replace(report, last_line=printable(player.last_line)[:TEXT])
        if report.late or report.unanswered:
            report = replace(report, stuck_at=printable(player.stuck_at())[:TEXT])
        return report


@cache
def _machine() -> str:
    """Return a line that describes this machine."""
    system = f"{platform.system()} {platform.release()}"
    return f"{system}, {os.cpu_count()} cores, Python {platform.python_version()}"
