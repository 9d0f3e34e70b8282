"""Plays a match in this process: on the rules alone, which is fast, or by the whole referee in virtual time.

The bots sit at all seats, or, as `Opponents`, at some seats of a match whose steps the caller controls.
"""

import heapq
import platform
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan
from numbers import Real
from pathlib import Path
from typing import Any, Literal, SupportsIndex, Unpack, overload

import msgspec
from msgspec import UNSET, Raw, to_builtins
from msgspec.structs import replace

from arena.simulation.bots import (
    NAME,
    BotGiven,
    BotSource,
    OnError,
    OnIllegal,
    Player,
    Rules,
    defensive_copy,
    source_of,
    sources_of,
)
from arena.simulation.match import DealArguments, Given, Match, PlayedResult, Result, new_table, result_of
from protocol.codec import decode_json, decode_server_message, encode
from protocol.games import package_of
from protocol.games.fight_for_a_name import FightView
from protocol.games.hive_mind import HiveMindView
from protocol.games.mist import MistView
from protocol.games.pointing import PointingView
from protocol.games.runes_to_ruins import RunesView
from protocol.messages import PROTOCOL, ClientMessage, ClockTerms, Hello, Opened, Over, Rejected, Welcome
from protocol.refusals import Refusal
from protocol.words import Action, Outcome
from referee import __version__
from referee.match import (
    FORMAT,
    MICROSECONDS_PER_MS,
    BotIdentity,
    ClockTable,
    Frame,
    Handed,
    Header,
    Left,
    MatchTerms,
    Out,
    Policy,
    Record,
    Woke,
    bot_seed,
    clock_terms,
    forfeited_at_once,
    with_forfeits,
)
from referee.match import (
    Match as RefereeMatch,
)
from referee.rules import Addressed, ResolvedAction, Table, WindowClosed

TOKEN = "in-process"  # noqa: S105 - no other process can reach these lines
ThinkMs = Callable[[int, Opened], float]
"""Returns the milliseconds that a seat thinks about a window."""
MOST_MS = 10**15
"""Maximum thinking time in milliseconds; it exceeds all clocks and replaces infinity."""


class _Surroundings:
    """Environment of the match: see `referee.match.MatchIO`."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.sent: deque[tuple[int, bytes, bool]] = deque()
        self.news: list[Addressed] = []

    def record(self, record: Record) -> None:
        """Add a line to the transcript."""
        self.records.append(record)

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """Queue a frame for a bot."""
        self.sent.append((seat, frame, timed))

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Collect events."""
        self.news += told

    def _pass_over(self, *_: Any, **__: Any) -> None:
        """Ignore what concerns only bots in processes."""

    nobody_handed = reconnected = hang_up = restart = paused = resumed = _pass_over


class VirtualReferee:
    """A match by the whole referee, its bots, and the messages between them, in virtual microseconds.

    Every message passes through the codec, as on the wire. Only the bots' stated thinking time passes.
    """

    def __init__(
        self,
        table: Table,
        sources: Sequence[BotSource],
        rules: Rules,
        terms: ClockTerms,
        policy: Policy,
        *,
        think_ms: ThinkMs | None = None,
    ) -> None:
        """Prepare the match. Raise BotError if a bot's annotations are wrong."""
        self._table, self._sources, self._terms, self._policy = table, sources, terms, policy
        self._think_ms = think_ms
        self._players = [Player(source.make(), seat, rules) for seat, source in enumerate(sources)]
        self._bots = tuple(_identity(source, table.deal.seed, seat) for seat, source in enumerate(sources))
        self._started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._io = _Surroundings()
        match_terms = MatchTerms(match=NAME, clock=terms, policy=policy, bots=self._bots)
        self._match = RefereeMatch(table, match_terms, io=self._io)
        self._coming: list[tuple[int, int, int, ClientMessage]] = []
        """Heap of the bots' messages: arrival time, order, seat, message."""
        self._count = 0
        self._busy_until = [0] * len(sources)
        self._now = 0

    def play(self) -> PlayedResult:
        """Play to the end. Raise IllegalActionError and BotError as the rules demand."""
        self.play_windows(None)
        ended = self._match.ended
        assert ended is not None  # noqa: S101 - the match is over
        assert ended.outcome is not None  # noqa: S101 - in virtual time nothing is the referee's fault
        for player, seat in zip(self._players, self._match.seats, strict=True):
            player.windows, player.defaults = seat.windows, seat.defaults
        return result_of(self._table, self._sources, self._players, ended.outcome, self._io.news)

    def play_windows(self, most: int | None) -> None:
        """Play until `most` windows have closed, or to the end if None. Raise as `play`."""
        self._match.begin()
        for player in self._players:
            self._say(player.seat, 0, Hello(token=TOKEN, name="", version="", protocol=PROTOCOL))
        while not self._match.over and (most is None or self._table.number < most):
            self._step()

    def write(self, path: Path) -> str:
        """Write the transcript of the match. Raise TranscriptError if that fails."""
        from referee.transcript import write_transcript  # noqa: PLC0415 - it needs trio

        write_transcript(path, self.header, self._io.records)
        return str(path)

    @property
    def records(self) -> list[Record]:
        """Lines of the transcript so far, without the header."""
        return self._io.records

    @property
    def header(self) -> Header:
        """First line of the transcript."""
        return Header(
            format=FORMAT,
            arena=__version__,
            match=NAME,
            game=self._table.game.name,
            package=package_of(self._table.game.name) or UNSET,
            variant=self._table.deal.variant,
            seed=self._table.deal.seed,
            options=Raw(encode(self._table.options)),
            setup=Raw(encode(self._table.setup)),
            clock=self._terms,
            policy=to_builtins(self._policy),
            bots=self._bots,
            isolation="none",
            machine=f"{platform.system()} {platform.machine()}, virtual time",
            started=self._started,
        )

    def messages_to(self, seat: int) -> list[bytes]:
        """Return all messages sent to a seat."""
        return [bytes(each.frame) for each in self._io.records if isinstance(each, Out) and each.seat == seat]

    def _step(self) -> None:
        deadline = self._match.next_deadline()
        if self._coming and (deadline is None or self._coming[0][0] <= deadline):
            self._now, _, seat, said = heapq.heappop(self._coming)
            frame = encode(said)
            self._match.apply(Frame(self._now, seat, frame, len(frame)))
        else:
            assert deadline is not None  # noqa: S101 - a match waits for a bot or for the time
            self._now = deadline
            self._match.apply(Woke(at=deadline, deadline=deadline))
        self._deliver()

    def _deliver(self) -> None:
        """Deliver the match's frames to the bots; their replies arrive after their thinking time."""
        while self._io.sent:
            seat, frame, timed = self._io.sent.popleft()
            player = self._players[seat]
            if timed:
                self._match.apply(Handed(at=self._now, seat=seat))
            message = decode_server_message(frame)
            if isinstance(message, Rejected) and message.reason is Refusal.ILLEGAL:
                player.refused(message.text)
            player.hear_any(message)
            if player.gone:
                self._match.apply(Left(at=self._now, seat=seat, exit=1))
            at = max(self._now, self._busy_until[seat])
            if isinstance(message, Opened) and self._think_ms is not None:
                at += _microseconds(self._think_ms(seat, message))
                self._busy_until[seat] = at
            for said in player.take():
                self._say(seat, at, said)

    def _say(self, seat: int, at: int, said: ClientMessage) -> None:
        heapq.heappush(self._coming, (at, self._count, seat, said))
        self._count += 1


def _microseconds(think_ms: Any) -> int:
    """Return a thinking time in microseconds. Raise ValueError if it is not a number."""
    if not isinstance(think_ms, Real) or isnan(think_ms):
        raise ValueError(f"think_ms: it gave {think_ms!r:.100}; expected milliseconds")
    return round(min(max(0.0, float(think_ms)), MOST_MS) * MICROSECONDS_PER_MS)


def terms_of(table: Table, policy: Policy, clock: Mapping[str, Any] | None) -> ClockTerms:
    """Return the times of a match, by default the variant's own.

    Raises:
        ValueError: the fields of the clock are invalid.
    """
    return clock_terms(table.game, table.deal.variant, policy, _clock(clock))


def _identity(source: BotSource, seed: int, seat: int) -> BotIdentity:
    own_seed = bot_seed(seed, seat)
    return BotIdentity(
        name=source.name, version=source.version, content=source.content, seed=own_seed, token=TOKEN
    )


def _clock(given: Mapping[str, Any] | None) -> ClockTable | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"clock: {given!r:.100} is not a table of fields")  # noqa: TRY004 - as of what is in it
    try:
        table = msgspec.convert(dict(given), ClockTable)
    except msgspec.ValidationError as error:
        raise ValueError(f"clock: {error}") from None
    if table.kind == "cpu":
        raise ValueError("clock.kind: there is no processor time to count in this process; wall, or left out")
    return table


class PlayArguments(DealArguments, total=False):
    """Arguments of `play` besides the game and its bots: see there."""

    on_illegal: OnIllegal
    on_error: OnError
    transcript: str | Path | None
    clock: Mapping[str, Any] | None
    think_ms: ThinkMs | None


@overload
def play(
    game: Literal["mist"], bots: Sequence[BotGiven], **arguments: Unpack[PlayArguments]
) -> Result[Match[MistView]]: ...
@overload
def play(
    game: Literal["hive-mind"], bots: Sequence[BotGiven], **arguments: Unpack[PlayArguments]
) -> Result[Match[HiveMindView]]: ...
@overload
def play(
    game: Literal["pointing"], bots: Sequence[BotGiven], **arguments: Unpack[PlayArguments]
) -> Result[Match[PointingView]]: ...
@overload
def play(
    game: Literal["fight-for-a-name"], bots: Sequence[BotGiven], **arguments: Unpack[PlayArguments]
) -> Result[Match[FightView]]: ...
@overload
def play(
    game: Literal["runes-to-ruins"], bots: Sequence[BotGiven], **arguments: Unpack[PlayArguments]
) -> Result[Match[RunesView]]: ...
@overload
def play(game: str, bots: Sequence[BotGiven], **arguments: Unpack[PlayArguments]) -> PlayedResult: ...
def play(
    game: str,
    bots: Sequence[BotGiven],
    *,
    variant: str | None = None,
    seed: SupportsIndex | None = None,
    options: Given = None,
    setup: Given = None,
    on_illegal: OnIllegal = "raise",
    on_error: OnError = "raise",
    transcript: str | Path | None = None,
    clock: Mapping[str, Any] | None = None,
    think_ms: ThinkMs | None = None,
) -> PlayedResult:
    """Play one match to its end, with the bots in the order of their seats.

    The outcome equals that of a referee's match with the same seed and bots, if no bot runs out of time. Bots are
    not sandboxed: they run in this process. A `Bot` object keeps its memory; pass its class to get a new bot for
    each match.

    Args:
        game: name of the game, as in `arena games`.
        bots: functions from window to action, `Bot` objects or classes, names of sample bots, folders.
        variant: name of the variant, by default the game's first.
        seed: seed of the match, by default random; the result contains it.
        options: options of the host, by default all defaults.
        setup: secrets of the host, by default random.
        on_illegal: `raise`, or `default`: reject the action as a referee does, and use the default in the end.
        on_error: effect of a bot's exception: `raise`; `default`: use the default and play on; `forfeit`: the bot
            loses.
        transcript: path of a new file for a transcript that `arena replay` verifies.
        clock: virtual clock with the fields of the `[clock]` table, by default the variant's own times.
        think_ms: returns a seat's thinking time for a window, in virtual milliseconds; by default none.

    Raises:
        ValueError: game, variant, options, setup, clock or bots are wrong.
        TypeError: one of the bots is not a bot.
        IllegalActionError: an action broke a rule.
        BotError: a bot raised; its exception is the cause.
        referee.transcript.TranscriptError: the transcript cannot be written.
    """
    table = new_table(game, variant, seed, options, setup)
    sources = sources_of(game, bots, table.seats)
    rules = Rules(on_illegal, on_error)
    policy = Policy(fault="forfeit") if on_error == "forfeit" else Policy()
    terms = terms_of(table, policy, clock)
    if transcript is None and think_ms is None and terms.increment_ms is UNSET:
        return play_table(table, sources, rules, terms)
    referee = VirtualReferee(table, sources, rules, terms, policy, think_ms=think_ms)
    result = referee.play()
    if transcript is None:
        return result
    return replace(result, transcript=referee.write(Path(transcript)))


def messages_to_seats(
    game: str, bots: Sequence[BotGiven], *, variant: str | None = None, seed: int | None = None
) -> list[list[bytes]]:
    """Return every message that each seat receives in a match, as on the wire, by seat. Raise as `play`."""
    table = new_table(game, variant, seed, None, None)
    referee = VirtualReferee(
        table, sources_of(game, bots, table.seats), Rules(), terms_of(table, Policy(), None), Policy()
    )
    referee.play()
    return list(map(referee.messages_to, range(table.seats)))


def play_table(
    table: Table, sources: Sequence[BotSource], rules: Rules, terms: ClockTerms, *, seating: int = 0
) -> PlayedResult:
    """Play a match without time. `seating` is the number of the match in its deal. Raise as `play`."""
    players = [Player(source.make(), seat, rules) for seat, source in enumerate(sources)]
    for player in players:
        welcome(player, table, terms, bot_seed(table.deal.seed, seating * table.seats + player.seat))
    told = list(table.start)
    _tell(players, table.start)
    outcome = _forfeited(players)
    while outcome is None and table.outcome is None:
        news = _play_window(table, players, terms, told)
        outcome = _forfeited(players)
        if outcome is None:
            told += news
            _tell(players, news)
            outcome = _forfeited(players)
    if outcome is None:
        assert table.outcome is not None  # noqa: S101 - the loop has ended
        outcome = with_forfeits(table.outcome, _gone(players))
    for player in players:
        player.hear(Over(defensive_copy(outcome)))
    return result_of(table, sources, players, outcome, told)


def welcome(player: Player, table: Table, terms: ClockTerms, seed: int) -> None:
    """Send a bot the welcome that a referee would send."""
    player.hear(
        Welcome(
            protocol=PROTOCOL,
            match=NAME,
            game=table.game.name,
            variant=table.deal.variant,
            seat=player.seat,
            seats=table.seats,
            options=decode_json(encode(table.options)),
            clock=defensive_copy(terms),
            seed=seed,
        )
    )


def _play_window(
    table: Table, players: Sequence[Player], terms: ClockTerms, told: list[Addressed]
) -> tuple[Addressed, ...]:
    """Play one window, in which all bots decide before any is answered; return the events at its close."""
    for owed in table.owed:
        player = players[owed.seat]
        if not player.gone:
            player.ask(table, owed, terms)
    for owed in table.owed:
        news = table.submit(owed.seat, players[owed.seat].answer(table))
        told += news
        _tell(players, news)
    taken = table.results()
    news = table.close(taken)
    for player, closed in zip(players, taken, strict=True):
        if closed is not None:
            player.close(closed, reserve_ms=terms.reserve_ms)
    return news


def _tell(players: Sequence[Player], told: Sequence[Addressed]) -> None:
    for each in told:
        if each.seat is not None:
            players[each.seat].tell(each.event)
            continue
        for player in players:
            player.tell(each.event)


def _forfeited(players: Sequence[Player]) -> Outcome | None:
    """Return the outcome if at most one seat has not forfeited, otherwise None."""
    if players[0].rules.on_error != "forfeit":
        return None
    return forfeited_at_once(len(players), _gone(players))


def _gone(players: Sequence[Player]) -> frozenset[int]:
    return frozenset(player.seat for player in players if player.gone)


class Opponents:
    """Bots of the kinds that `play` accepts. The caller requests their answers and passes them events."""

    def __init__(self, game: str, bots: Mapping[int, BotGiven]) -> None:
        """Prepare the bots, by seat.

        Raises:
            ValueError, TypeError: one is not a bot, or does not play this game.
        """
        self.givens = dict(bots)
        """The arguments for the bots, by seat."""
        self._sources = {seat: source_of(game, bot, fresh=True) for seat, bot in bots.items()}
        self._players: dict[int, Player] = {}

    def begin(self, table: Table) -> None:
        """Start a match: send each bot its welcome and the first events. Raise BotError if a bot raises."""
        self._terms = terms_of(table, Policy(), None)
        self._players = {seat: Player(source.make(), seat, Rules()) for seat, source in self._sources.items()}
        for seat, player in self._players.items():
            welcome(player, table, self._terms, bot_seed(table.deal.seed, seat))
        self.tell(table.start)

    def answers(self, table: Table) -> dict[int, Action | None]:
        """Return the bots' actions for the open window, by owing seat; None stands for the default.

        Raises:
            BotError: a bot raised.
            IllegalActionError: an action broke a rule.
        """
        asked = [owed for owed in table.owed if owed.seat in self._players]
        for owed in asked:
            self._players[owed.seat].ask(table, owed, self._terms)
        return {owed.seat: self._players[owed.seat].answer(table) for owed in asked}

    def tell(self, told: Sequence[Addressed]) -> None:
        """Pass events to the bots that may know them. Raise BotError if a bot raises."""
        for each in told:
            for seat, player in self._players.items():
                if each.seat is None or each.seat == seat:
                    player.tell(each.event)

    def closed(self, taken: Sequence[ResolvedAction | None]) -> None:
        """Pass the bots the results of a closed window, indexed by seat. Raise BotError if a bot raises."""
        for seat, player in self._players.items():
            its_taken = taken[seat]
            if its_taken is not None:
                player.close(its_taken, reserve_ms=self._terms.reserve_ms)

    def catch_up(self, table: Table) -> None:
        """Lead new bots through the past of a match: the deal and the journal of `table`.

        The journal's actions replace the bots' own answers. The bots also decide in the open window. Raise as
        `answers`.
        """
        replayed = Table(table.game, table.deal)
        self.begin(replayed)
        self.answers(replayed)
        told: list[Addressed] = []
        for move in table.journal:
            told += replayed.apply(move)
            if isinstance(move, WindowClosed):
                self.tell(told)
                self.closed(move.taken)
                self.answers(replayed)
                told = []
