"""The remote bots of one tournament: their port and connections, their matches, and reports to their authors.

Their connections end in the arena's own process, which therefore plays all matches of such a tournament. A
connection is used for many matches, one at a time.
"""

import zlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import MachineCannot
from arena.quantities import pluralise
from arena.terminal import Screen, progress_console
from arena.workers.api import Worker
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
from referee.host import AttemptResult, Plan, Player, Publish, RemoteBot, open_kept_bots, play
from referee.log import SILENT, Logger
from referee.transcript import TranscriptError, read_transcript, seat_lines
from referee.wire import Address, KeyPair, Lobby, RemoteLine, open_lobby, open_wire, z85

TURNED_AWAY_SHOWN = 20
"""Maximum number of refused connections that are shown, so that strangers cannot fill the host's screen."""
LOGGED_CONNECTIONS = 200
"""Maximum number of reported connections and disconnections per bot, in case a bot reconnects all the time."""


class Hosting(Struct, frozen=True):
    """The address and keys of the port, and the time to wait for remote bots."""

    address: Address
    keys: KeyPair
    """The host's own keys."""
    wait_seconds: float


@asynccontextmanager
async def open_listener(
    hosting: Hosting,
    bots: Sequence[RemoteBot],
    screen: Screen,
    *,
    option: str,
    log: Logger,
    barred: Collection[str] = (),
    stands: bool = False,
    came: Callable[[RemoteBot, bool], None] = lambda _bot, _is_here: None,
) -> AsyncIterator[Lobby]:
    """Open a port for remote bots, and close it when the context exits.

    Args:
        hosting: Address and keys of the port.
        bots: Bots that may connect.
        screen: Terminal for messages to people.
        option: Command-line option that sets another address; shown to people.
        log: Operator's log.
        barred: Keys of those bots that may no longer connect.
        stands: Whether a connection is used for match after match.
        came: Called when a bot connects (True) or disconnects (False), `LOGGED_CONNECTIONS` times per bot at most.

    Raises:
        MachineCannot: the port cannot be opened.
    """
    named = {bot.key: bot for bot in bots}
    shown = 0
    logged: Counter[str] = Counter()
    told: set[tuple[str, str]] = set()

    def turned_away(address: str, why: str) -> None:
        nonlocal shown
        if (address, why) in told:
            return  # An author whose key is not registered yet tries to connect again and again.
        shown += 1
        if shown <= TURNED_AWAY_SHOWN:
            screen.say(f"refused {address}: {why}{'; further ones are not shown' * (shown == TURNED_AWAY_SHOWN)}")
            log.warning("turned_away", address=address, reason=why)
            told.add((address, why))

    def tell_came(key: str, is_here: bool) -> None:
        logged[key] += 1
        if logged[key] <= LOGGED_CONNECTIONS:
            log.info("remote_connected" if is_here else "remote_disconnected", bot=named[key].name)
            came(named[key], is_here)

    address = hosting.address
    opening = open_lobby(address, hosting.keys, named, turned_away, tell_came, barred=barred, stands=stands)
    async with AsyncExitStack() as stack:
        try:
            lobby = await stack.enter_async_context(opening)
        except OSError as error:
            where = address.endpoint(address.port)
            raise MachineCannot(f"{where}: cannot listen there: {error.strerror or error}") from None
        reach = f" (only from this machine: another {option} opens it)" if address.loopback else ""
        log.info("listening", endpoint=lobby.endpoint)
        screen.say(f"listening at {lobby.endpoint}{reach}, key {z85(hosting.keys.public)}")
        yield lobby


TELL_SECONDS = 10.0
"""Maximum number of seconds by which the report of a match delays the bot's next match."""
MOST_UNTOLD = 20
"""Maximum number of unreported matches per bot; the oldest are dropped."""
LOOK_SECONDS = 1.0
MILLISECONDS = 1_000


class RemoteBotStatistics(Struct):
    """Statistics of one remote bot's connections, for all openings of the port."""

    matches: int = 0
    cuts: int = 0
    """Number of times that the bot was disconnected."""
    shortest: float | None = None
    """Shortest network delay measured before a match, in seconds."""
    longest: float | None = None
    """Longest network delay measured before a match, in seconds."""

    def measured(self, delay: float | None) -> None:
        """Count a match that starts, and the network delay in seconds, unless it is None."""
        self.matches += 1
        if delay is not None:
            self.shortest = delay if self.shortest is None else min(self.shortest, delay)
            self.longest = delay if self.longest is None else max(self.longest, delay)


class _Untold(Struct, frozen=True):
    """A match that is to be reported to one seat's author."""

    result: AttemptResult
    seat: int
    delay: float | None


class RemoteSeats:
    """The remote bots of a tournament; `open` is called again for each change of the tournament's bots."""

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
        """Prepare, without opening the port.

        Args:
            hosting: Address and keys of the port.
            slots: Maximum number of concurrent matches.
            guests: Bots of a season's other stages and groups, which may connect but have no match here.
            goes_on: Whether other tournaments follow; if so, bots are not dismissed at the end of this one.
            publish: Function that publishes messages on the live feed; None if there is no feed.
            log: Operator's log.
        """
        self.screen = progress_console()
        """Terminal for messages about connections."""
        self.standings: Mapping[str, TableRow] = {}
        """Latest rows of the table, by the bot's key."""
        self.barred: Collection[str] = ()
        """Keys of bots that may no longer connect."""
        self.over = False
        """True if all matches of the tournament are over."""
        self._hosting = hosting
        self.slots = slots
        self._guests = guests
        self._goes_on = goes_on
        self._publish = publish
        self._log = log
        self._known: dict[str, RemoteBotStatistics] = {}
        self._named: dict[str, str] = {}
        self._lines: Mapping[str, RemoteLine] = {}
        self._busy: set[str] = set()
        """Keys of bots that are in a match or receive reports."""
        self._freed = trio.Event()
        """Set, and replaced by a new event, when a bot is no longer busy."""
        self._closing = False
        self._unawaited: Collection[str] = ()
        self._untold: dict[str, deque[_Untold]] = {}
        """Unreported matches, by the bot's key."""
        self._told: dict[str, str] = {}
        """Latest message about each disconnected bot's absence, by key; it prevents repetition."""

    @property
    def matches(self) -> int:
        """Number of started matches, summed over remote bots."""
        return sum(known.matches for known in self._known.values())

    @asynccontextmanager
    async def open(self, matches: int, bots: Sequence[RemoteBot]) -> AsyncIterator[list[Worker[Player]]]:
        """Open the port for these bots and yield one worker for all matches; `matches` is the remaining number."""
        self._busy, self._freed, self._unawaited = set(), trio.Event(), self.barred
        self._closing = self.over = False
        self._named |= {bot.key: bot.name for bot in bots}
        playing = {bot.key for bot in bots}
        guests = {bot.key: bot for bot in self._guests if bot.key not in playing | set(self.barred)}
        slots = max(1, min(self.slots, matches))
        async with AsyncExitStack() as stack:
            opening = open_listener(
                self._hosting,
                [*bots, *guests.values()],
                self.screen,
                option="--listen",
                log=self._log,
                barred=self.barred,
                stands=True,
                came=self._came,
            )
            lobby = await stack.enter_async_context(opening)
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
        """Store the port number, which the kernel may have chosen, so that the next `open` uses the same port."""
        self._lines = lobby.lines
        address = self._hosting.address
        port = int(lobby.endpoint.rpartition(":")[2])
        self._hosting = replace(self._hosting, address=replace(address, port=port))

    def seat(self, players: Sequence[Player]) -> bool:
        """Reserve the remote bots of a match, and return whether that was possible.

        Each must be free, and either ready or a disconnected bot for which matches no longer wait.
        """
        keys = [player.key for player in players if isinstance(player, RemoteBot)]
        if any(key in self._busy or not self._may_begin(key) for key in keys):
            return False
        self._busy.update(keys)
        for key in keys:
            line = self._lines[key]
            line.awaited = line.connected or not self._is_gone(key)
        return True

    def awaits(self, players: Sequence[Player]) -> bool:
        """Return whether a match of these players would wait for a disconnected bot."""
        keys = {player.key for player in players if isinstance(player, RemoteBot)} - self._busy
        return any(not (self._lines[key].connected or self._is_gone(key)) for key in keys)

    def await_no_more(self, keys: Collection[str]) -> None:
        """Let matches of these withdrawn bots start without waiting for them."""
        self._unawaited = {*self.barred, *keys}

    def _may_begin(self, key: str) -> bool:
        line = self._lines[key]
        return line.ready or (not line.connected and self._is_gone(key))

    def _is_gone(self, key: str) -> bool:
        """Return whether matches no longer wait for a bot, should it be disconnected."""
        return key in self._unawaited or self._left(self._lines[key]) <= 0

    def _left(self, line: RemoteLine) -> float:
        """Return the seconds that matches still wait for a disconnected bot; negative if that time is over."""
        return line.away_since + self._hosting.wait_seconds - trio.current_time()

    async def _play(self, one: Any, plan: Plan, players: Sequence[Player], *, transcript: Path) -> AttemptResult:
        """Play a match whose remote bots were reserved by `seat`."""
        bots = {seat: player for seat, player in enumerate(players) if isinstance(player, RemoteBot)}
        delays = {seat: self._lines[bot.key].delay for seat, bot in bots.items()}
        for seat, bot in bots.items():
            delay = delays[seat]
            self._of(bot.key).measured(delay)
            self._log.info(
                "remote_delay", match=plan.match, seat=seat, bot=bot.name, ms=None if delay is None else _ms(delay)
            )
        result: AttemptResult | None = None
        try:
            result = await one(plan, players, transcript=transcript)
            return result
        finally:
            for seat, bot in bots.items():
                untold = None if result is None else _Untold(result, seat, delays[seat])
                self._nursery.start_soon(self._let_go, bot.key, untold)

    async def _let_go(self, key: str, untold: "_Untold | None") -> None:
        """Send a bot its unreported matches and the optional match `untold`, and free it for the next match."""
        line = self._lines[key]
        await line.rest()
        if untold is not None:
            self._untold.setdefault(key, deque(maxlen=MOST_UNTOLD)).append(untold)
        if line.connected or not self._is_gone(key):
            with trio.move_on_after(TELL_SECONDS):
                await line.present()  # The bot may have been disconnected a moment ago.
                await self._tell(key, line)
        self._busy.discard(key)
        self._freed.set()
        self._freed = trio.Event()

    async def _tell(self, key: str, line: RemoteLine) -> None:
        """Send an author every unreported match; keep a report for later if the bot is disconnected."""
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

    def _of(self, key: str) -> RemoteBotStatistics:
        return self._known.setdefault(key, RemoteBotStatistics())

    def _came(self, bot: RemoteBot, is_here: bool) -> None:
        self._told.pop(bot.key, None)
        if self._closing:
            return
        self.screen.say(f"{bot.name} {'is connected' if is_here else 'is disconnected'}")

    async def _tell_who_is_missing(self, playing: Collection[str]) -> None:
        """Report on the terminal how long matches wait for each disconnected bot, and when they no longer do.

        Bots that have reconnected receive their unreported matches.
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
        """Return one line of text about the connections of each remote bot."""
        said = []
        for key, known in self._known.items():
            delay = "no delay measured"
            if known.shortest is not None and known.longest is not None:
                shortest, longest = _ms(known.shortest), _ms(known.longest)
                span = f"{shortest:g}" if shortest == longest else f"{shortest:g} to {longest:g}"
                delay = f"network delay {span} ms (round trip)"
            said.append(
                f"{self._named.get(key, key)} (remote): {pluralise(known.matches, 'match')}, {delay},"
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


def _seat_parts(result: AttemptResult, seat: int) -> list[bytes]:
    """Return the seat's transcript as messages; empty if it is too long or cannot be read."""
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
