"""The remote bots of one tournament: who of them is there, what they play, and what their authors are told of it.

Their lines end in the arena's own process, which therefore plays all matches of such a tournament itself. A line
stands for match after match; a bot has one match at a time.
"""

import zlib
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.quantities import counted
from arena.terminal import progress_console
from arena.workers.api import Worker
from arena.workers.listener import Hosting, open_listener
from protocol.codec import encode
from protocol.news import (
    MOST_PARTS,
    PART_BYTES,
    Dismissed,
    MatchReport,
    TableRow,
    TranscriptPart,
    most_unpacked,
)
from referee.host import Plan, Player, Publish, RemoteBot, Result, open_kept_bots, play
from referee.log import SILENT, Logger
from referee.transcript import TranscriptError, read_transcript, seat_lines
from referee.wire import Lobby, RemoteLine, open_wire

TELL_SECONDS = 10.0
"""The most that a bot's next match waits until its author has been told of the last one."""
MOST_UNTOLD = 20
"""Matches of one bot of which its author is told when he is back; earlier ones are forgotten."""
LOOK_SECONDS = 1.0
MILLISECONDS = 1_000


class Known(Struct):
    """What was seen of one remote bot, over all times that the port was open."""

    matches: int = 0
    cuts: int = 0
    """How often its line ended."""
    shortest: float | None = None
    longest: float | None = None
    """The network's delay, in seconds, as it was measured before its matches."""

    def measured(self, delay: float | None) -> None:
        """A match begins."""
        self.matches += 1
        if delay is not None:
            self.shortest = delay if self.shortest is None else min(self.shortest, delay)
            self.longest = delay if self.longest is None else max(self.longest, delay)


class _Untold(Struct, frozen=True):
    """A match of which one seat's author is to be told."""

    result: Result
    seat: int
    delay: float | None


class RemoteSeats:
    """See the module. Made once; `open` is the venue of each field that the tournament is played with."""

    def __init__(
        self,
        hosting: Hosting,
        *,
        slots: int,
        guests: Sequence[RemoteBot] = (),
        goes_on: bool = False,
        publish: Publish | None = None,
        log: Logger = SILENT,
    ) -> None:
        """Begins.

        Args:
            hosting: where bots come in.
            slots: matches at once.
            guests: bots that are let in and have no match here: of a season's other stages and groups.
            goes_on: other tournaments come after this one: at its end bots are not told that all is over.
            publish: takes messages of the live feed; None: there is none.
            log: the operator's.
        """
        self.screen = progress_console()
        """Where people are told who comes and goes."""
        self.standings: Mapping[str, TableRow] = {}
        """By key: where a bot stands, as of the last count."""
        self.barred: Collection[str] = ()
        """Keys that are not let in any more."""
        self.over = False
        """Whether there are no more matches."""
        self._hosting = hosting
        self.slots = slots
        self._guests = guests
        self._goes_on = goes_on
        self._publish = publish
        self._log = log
        self._known: dict[str, Known] = {}
        self._named: dict[str, str] = {}
        self._lines: Mapping[str, RemoteLine] = {}
        self._busy: set[str] = set()
        """Keys of bots that have a match, or are being told what came of it."""
        self._freed = trio.Event()
        """Set when one of them is free, and made anew."""
        self._closing = False
        self._unawaited: Collection[str] = ()
        self._untold: dict[str, deque[_Untold]] = {}
        """By key: matches of which an author was not told, because he was away."""
        self._told: dict[str, str] = {}
        """By key: what was said last of its absence."""

    @property
    def matches(self) -> int:
        """How many were begun."""
        return sum(known.matches for known in self._known.values())

    @asynccontextmanager
    async def open(self, matches: int, bots: Sequence[RemoteBot]) -> AsyncIterator[list[Worker[Player]]]:
        """The worker that plays all matches, and the port for these bots; `matches`: how many are left."""
        self._busy, self._freed, self._unawaited = set(), trio.Event(), self.barred
        self._closing = self.over = False
        self._named |= {bot.key: bot.name for bot in bots}
        playing = {bot.key for bot in bots}
        guests = {bot.key: bot for bot in self._guests if bot.key not in playing | set(self.barred)}
        slots = max(1, min(self.slots, matches))
        async with AsyncExitStack() as stack:
            lobby = await open_listener(
                self._hosting,
                [*bots, *guests.values()],
                self.screen,
                stack,
                option="--listen",
                log=self._log,
                barred=self.barred,
                stands=True,
                came=self._came,
            )
            self._stay_at(lobby)
            wire = await stack.enter_async_context(open_wire())
            kept = await stack.enter_async_context(open_kept_bots(wire))
            self._nursery = await stack.enter_async_context(trio.open_nursery())
            self._nursery.start_soon(self._tell_who_is_missing, playing)
            one = partial(play, wire=wire, kept=kept, remote=self._lines, publish=self._publish, log=self._log)
            try:
                yield [Worker(play=partial(self._play, one), slots=slots, seat=self.seat, awaits=self.awaits)]
                with trio.move_on_after(TELL_SECONDS):
                    while self._busy:
                        await self._freed.wait()
            finally:
                self._closing = True
                self._nursery.cancel_scope.cancel()
                if self.over and not self._goes_on:
                    for line in self._lines.values():
                        line.tell(encode(Dismissed(text="the tournament is over")))
                for key, line in self._lines.items():
                    if key in guests:
                        continue
                    self._of(key).cuts += max(0, line.cuts)

    def _stay_at(self, lobby: Lobby) -> None:
        """Keeps the port, also one that the kernel chose: bots come back to it when the field has changed."""
        self._lines = lobby.lines
        address = self._hosting.address
        port = int(lobby.endpoint.rpartition(":")[2])
        self._hosting = replace(self._hosting, address=replace(address, port=port))

    def seat(self, players: Sequence[Player]) -> bool:
        """Keeps the remote bots of a match for it, if all are free, and there or unawaited; whether it did."""
        keys = [player.key for player in players if isinstance(player, RemoteBot)]
        if any(key in self._busy or not self._may_begin(key) for key in keys):
            return False
        self._busy.update(keys)
        for key in keys:
            line = self._lines[key]
            line.awaited = line.connected or not self._is_gone(key)
        return True

    def awaits(self, players: Sequence[Player]) -> bool:
        """Whether a match of these waits for a bot that is not there."""
        keys = {player.key for player in players if isinstance(player, RemoteBot)} - self._busy
        return any(not (self._lines[key].connected or self._is_gone(key)) for key in keys)

    def await_no_more(self, keys: Collection[str]) -> None:
        """These bots withdraw: those of their matches that are still played do not wait for them."""
        self._unawaited = {*self.barred, *keys}

    def _may_begin(self, key: str) -> bool:
        line = self._lines[key]
        return line.ready or (not line.connected and self._is_gone(key))

    def _is_gone(self, key: str) -> bool:
        """Whether a bot that is not there is not waited for."""
        return key in self._unawaited or self._left(self._lines[key]) <= 0

    def _left(self, line: RemoteLine) -> float:
        """How long a bot that is not there will be waited for, in seconds."""
        return line.away_since + self._hosting.wait_seconds - trio.current_time()

    async def _play(self, one: Any, plan: Plan, players: Sequence[Player], *, transcript: Path) -> Result:
        """Plays a match whose remote bots were kept for it."""
        bots = {seat: player for seat, player in enumerate(players) if isinstance(player, RemoteBot)}
        delays = {seat: self._lines[bot.key].delay for seat, bot in bots.items()}
        for seat, bot in bots.items():
            delay = delays[seat]
            self._of(bot.key).measured(delay)
            self._log.info(
                "remote_delay", match=plan.match, seat=seat, bot=bot.name, ms=None if delay is None else _ms(delay)
            )
        result: Result | None = None
        try:
            result = await one(plan, players, transcript=transcript)
            return result
        finally:
            for seat, bot in bots.items():
                untold = None if result is None else _Untold(result, seat, delays[seat])
                self._nursery.start_soon(self._let_go, bot.key, untold)

    async def _let_go(self, key: str, untold: "_Untold | None") -> None:
        """A bot's match is over: its author is told what there is to tell, and it is free for the next."""
        line = self._lines[key]
        await line.rest()
        if untold is not None:
            self._untold.setdefault(key, deque(maxlen=MOST_UNTOLD)).append(untold)
        if line.connected or not self._is_gone(key):
            with trio.move_on_after(TELL_SECONDS):
                await line.present()  # Its line may just have been cut.
                await self._tell(key, line)
        self._busy.discard(key)
        self._freed.set()
        self._freed = trio.Event()

    async def _tell(self, key: str, line: RemoteLine) -> None:
        """Tells an author of all matches that he was not told of. What a line that is cut had not taken, again."""
        waiting, cuts = self._untold.get(key), line.cuts
        while waiting and line.connected and line.cuts == cuts:
            untold = waiting[0]
            line.tell(encode(_report(untold, self.standings.get(key))))
            parts = await trio.to_thread.run_sync(_seat_parts, untold.result, untold.seat, abandon_on_cancel=True)
            for part in parts:
                await line.told()
                line.tell(part)
            await line.told()
            if line.cuts == cuts:
                waiting.popleft()

    def _of(self, key: str) -> Known:
        return self._known.setdefault(key, Known())

    def _came(self, bot: RemoteBot, is_here: bool) -> None:
        self._told.pop(bot.key, None)
        if self._closing:
            return
        self.screen.say(f"{bot.name} {'is connected' if is_here else 'is disconnected'}")

    async def _tell_who_is_missing(self, playing: Collection[str]) -> None:
        """Says of each bot that is away how long its matches wait for it, and then that they do not.

        Authors of bots that are back are told what they missed.
        """
        while True:
            await trio.sleep(LOOK_SECONDS)
            for key, line in self._lines.items():
                if line.connected and self._untold.get(key) and key not in self._busy:
                    self._busy.add(key)
                    self._nursery.start_soon(self._let_go, key, None)
                if line.connected or key in self._busy or key in self._unawaited or key not in playing:
                    continue
                left = self._left(line)
                is_gone = "its matches begin without it" if left <= 0 else "its matches wait"
                if self._told.get(key) != is_gone:
                    more = "" if left <= 0 else f" for it, {left:.0f} s at most"
                    self._told[key] = is_gone
                    self.screen.say(f"{self._named[key]} is not connected: {is_gone}{more}")

    def lines(self) -> list[str]:
        """What was seen of each remote bot, a line each."""
        said = []
        for key, known in self._known.items():
            delay = "no delay measured"
            if known.shortest is not None and known.longest is not None:
                shortest, longest = _ms(known.shortest), _ms(known.longest)
                span = f"{shortest:g}" if shortest == longest else f"{shortest:g} to {longest:g}"
                delay = f"network delay {span} ms (round trip)"
            said.append(
                f"{self._named.get(key, key)} (remote): {counted(known.matches, 'match')}, {delay},"
                f" {_disconnected(known.cuts)}"
            )
        return said


def _disconnected(times: int) -> str:
    """Return how often a bot was disconnected, in words."""
    if times == 0:
        return "never disconnected"
    return f"disconnected {'once' if times == 1 else f'{times} times'}"


def _ms(seconds: float) -> float:
    return round(seconds * MILLISECONDS, 2)


def _report(untold: _Untold, standing: TableRow | None) -> MatchReport:
    result, seat, delay = untold.result, untold.seat, untold.delay
    outcome = result.outcome
    place = score = None
    if outcome is not None:
        place = next((place for place, group in enumerate(outcome.ranking, 1) if seat in group), None)
        score = (outcome.scores or {}).get(str(seat))
    return MatchReport(
        match=result.match,
        seat=seat,
        seats=len(result.conduct),
        place=place,
        score=score,
        reason=result.void or "void" if outcome is None else outcome.reason,
        conduct=str(result.conduct[seat].value),
        head=result.head,
        delay_ms=None if delay is None else _ms(delay),
        standing=standing,
    )


def _seat_parts(result: Result, seat: int) -> list[bytes]:
    """The seat's own transcript in messages; none, if it is too long for them."""
    try:
        lines = b"".join(seat_lines(read_transcript(Path(result.transcript)), seat))
    except (TranscriptError, OSError):
        return []
    packed = zlib.compress(lines)
    parts = [packed[start : start + PART_BYTES] for start in range(0, len(packed), PART_BYTES)]
    if len(parts) > MOST_PARTS or len(lines) > most_unpacked(len(packed)):
        return []
    return [
        encode(TranscriptPart(match=result.match, seat=seat, part=number, parts=len(parts), data=data))
        for number, data in enumerate(parts)
    ]
