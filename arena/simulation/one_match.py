"""Plays a match in this process on the rules alone, which is fast. `refereed` uses the whole referee.

The bots sit at all seats, or, as `Opponents`, at some seats of a match whose steps the caller controls.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsIndex, Unpack, overload

from msgspec import UNSET
from msgspec.structs import replace

from arena.simulation.bots import BotGiven, Source, source_of, sources_of
from arena.simulation.defensive_copy import defensive_copy
from arena.simulation.match import DealArguments, Given, Match, PlayedResult, Result, new_table, result_of
from arena.simulation.player import NAME, OnError, OnIllegal, Player, Rules
from arena.simulation.refereed import ThinkMs, VirtualReferee, terms_of
from protocol.codec import decode_json, encode
from protocol.games.fight_for_a_name import FightView
from protocol.games.hive_mind import HiveMindView
from protocol.games.mist import MistView
from protocol.games.pointing import PointingView
from protocol.games.runes_to_ruins import RunesView
from protocol.messages import PROTOCOL, ClockTerms, Over, Welcome
from protocol.words import Action, Outcome
from referee.match import Policy, bot_seed, forfeited_at_once, with_forfeits
from referee.rules import Addressed, Table, Taken, WindowClosed


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
    return result if transcript is None else replace(result, transcript=referee.write(Path(transcript)))


def messages_to_seats(
    game: str, bots: Sequence[BotGiven], *, variant: str | None = None, seed: int | None = None
) -> list[list[bytes]]:
    """Return every message that each seat receives in a match, as on the wire, by seat. Raise as `play`."""
    table = new_table(game, variant, seed, None, None)
    referee = VirtualReferee(
        table, sources_of(game, bots, table.seats), Rules(), terms_of(table, Policy(), None), Policy()
    )
    referee.play()
    return [referee.messages_to(seat) for seat in range(table.seats)]


def play_table(
    table: Table, sources: Sequence[Source], rules: Rules, terms: ClockTerms, *, seating: int = 0
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
        outcome = with_forfeits(table.outcome, frozenset(player.seat for player in players if player.gone))
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
    window = table.window
    assert window is not None  # noqa: S101 - the caller checks this
    main_ms = terms.main_ms[window.name]
    game, state = table.game, table.state
    for owed in window.owed:
        player = players[owed.seat]
        if not player.gone:
            view = game.view(state, owed.seat)
            player.ask(table, owed, view, main_ms=main_ms, reserve_ms=terms.reserve_ms)
    for owed in window.owed:
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
    return forfeited_at_once(len(players), frozenset(player.seat for player in players if player.gone))


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
        window = table.window
        if window is None:
            return {}
        asked = [owed for owed in window.owed if owed.seat in self._players]
        for owed in asked:
            view = table.game.view(table.state, owed.seat)
            self._players[owed.seat].ask(
                table, owed, view, main_ms=self._terms.main_ms[window.name], reserve_ms=self._reserve_ms
            )
        return {owed.seat: self._players[owed.seat].answer(table) for owed in asked}

    def tell(self, told: Sequence[Addressed]) -> None:
        """Pass events to the bots that may know them. Raise BotError if a bot raises."""
        for each in told:
            for seat, player in self._players.items():
                if each.seat is None or each.seat == seat:
                    player.tell(each.event)

    def closed(self, taken: Sequence[Taken | None]) -> None:
        """Pass the bots the results of a closed window, indexed by seat. Raise BotError if a bot raises."""
        for seat, player in self._players.items():
            its_taken = taken[seat]
            if its_taken is not None:
                player.close(its_taken, reserve_ms=self._reserve_ms)

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

    @property
    def _reserve_ms(self) -> int:
        return self._terms.reserve_ms
