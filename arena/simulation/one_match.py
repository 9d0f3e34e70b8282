"""Plays a match in this process, the quick way: bots on the rules' table. `refereed` has the whole referee."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, SupportsIndex, Unpack, overload

from msgspec import UNSET
from msgspec.structs import replace

from arena.simulation.bots import BotGiven, Source, sources_of
from arena.simulation.match import DealArguments, Given, Match, dealt
from arena.simulation.player import NAME, OnError, OnIllegal, Player, Rules
from arena.simulation.refereed import Hall, ThinkMs, terms_of
from arena.simulation.result import PlayedResult, Result, result_of
from arena.simulation.unshared import unshared
from protocol.codec import decode_json, encode
from protocol.games.fight_for_a_name import FightView
from protocol.games.hive_mind import HiveMindView
from protocol.games.mist import MistView
from protocol.games.pointing import PointingView
from protocol.games.runes_to_ruins import RunesView
from protocol.messages import PROTOCOL, ClockTerms, Over, Welcome
from protocol.words import Outcome
from referee.match import Policy, bot_seed, forfeited_at_once, with_forfeits
from referee.rules import Addressed, Table, Taken


class PlayArguments(DealArguments, total=False):
    """What `play` can be given besides the game and its bots: see there."""

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
    """Plays one match to its end, bots in the order of their seats.

    With the same seed and the same bots it has the outcome that a referee's match has, if nobody runs out of time.
    Bots are not shut in: they are this process's own code. A `Bot` object keeps what it knows; give its class if
    each match is to have a fresh one.

    Args:
        game: its name, as `arena games` lists it.
        bots: functions from window to action, `Bot` objects or classes, sample bots by name, folders.
        variant: None: the game's first.
        seed: None: one is drawn; the result names it.
        options: what the host sets; None: all defaults.
        setup: the host's secrets; None: drawn.
        on_illegal: `raise`, or `default`: what a referee does, who tells the bot and takes the default at last.
        on_error: what a bot's exception does: `raise`; `default`: its window takes the default, and it goes on;
            `forfeit`: it loses.
        transcript: where to write one that `arena replay` verifies; nothing may be there yet.
        clock: a virtual clock, with the fields of the `[clock]` table; None: the variant's own times.
        think_ms: how many milliseconds a seat thinks about a window, in virtual time. None: it takes none.

    Raises:
        ValueError: game, variant, options, setup, clock or bots are wrong.
        TypeError: one of the bots is no bot.
        IllegalActionError: an action broke a rule.
        BotError: a bot raised; its exception is the cause.
        referee.transcript.TranscriptError: the transcript cannot be written.
    """
    table = dealt(game, variant, seed, options, setup)
    sources = sources_of(game, bots, table.seats)
    rules = Rules(on_illegal, on_error)
    policy = Policy(fault="forfeit") if on_error == "forfeit" else Policy()
    terms = terms_of(table, policy, clock)
    if transcript is None and think_ms is None and terms.increment_ms is UNSET:
        return play_table(table, sources, rules, terms)
    hall = Hall(table, sources, rules, terms, policy, think_ms=think_ms)
    result = hall.play()
    return result if transcript is None else replace(result, transcript=hall.write(Path(transcript)))


def heard(
    game: str, bots: Sequence[BotGiven], *, variant: str | None = None, seed: int | None = None
) -> list[list[bytes]]:
    """By seat: every message that it is sent in a match, as over the wire. Raises as `play`."""
    table = dealt(game, variant, seed, None, None)
    hall = Hall(table, sources_of(game, bots, table.seats), Rules(), terms_of(table, Policy(), None), Policy())
    hall.play()
    return [hall.heard(seat) for seat in range(table.seats)]


def play_table(
    table: Table, sources: Sequence[Source], rules: Rules, terms: ClockTerms, *, seating: int = 0
) -> PlayedResult:
    """Plays a match in which no time passes. `seating` counts the matches of one deal. Raises as `play`."""
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
        assert table.outcome is not None  # noqa: S101 - it has just been looked at
        outcome = with_forfeits(table.outcome, frozenset(player.seat for player in players if player.gone))
    for player in players:
        player.hear(Over(unshared(outcome)))
    return result_of(table, sources, players, outcome, told)


def welcome(player: Player, table: Table, terms: ClockTerms, seed: int) -> None:
    """Says to a bot what a referee's welcome says."""
    player.hear(
        Welcome(
            protocol=PROTOCOL,
            match=NAME,
            game=table.game.name,
            variant=table.deal.variant,
            seat=player.seat,
            seats=table.seats,
            options=decode_json(encode(table.options)),
            clock=unshared(terms),
            seed=seed,
        )
    )


def _play_window(
    table: Table, players: Sequence[Player], terms: ClockTerms, told: list[Addressed]
) -> tuple[Addressed, ...]:
    """One window: all that owe are asked before any is answered. What is told when it closes."""
    window = table.window
    assert window is not None  # noqa: S101 - the caller has looked
    main_ms = terms.main_ms[window.name]
    game, state = table.game, table.state
    for owed in window.owed:
        player = players[owed.seat]
        if not player.gone:
            view = game.view(state, owed.seat)
            player.ask(table, owed, view, main_ms=main_ms, reserve_ms=terms.reserve_ms)
    taken: list[Taken | None] = [None] * table.seats
    for owed in window.owed:
        action = players[owed.seat].answer(table)
        if action is not None:
            taken[owed.seat] = Taken(action)
            if window.asap:
                news = table.answer(owed.seat, action)
                told += news
                _tell(players, news)
    for owed in window.owed:
        if taken[owed.seat] is None:
            taken[owed.seat] = Taken(table.default(owed.seat), by_default=True)
    news = table.close(tuple(taken))
    for owed in window.owed:
        if (closed := taken[owed.seat]) is not None:
            players[owed.seat].close(closed, reserve_ms=terms.reserve_ms)
    return news


def _tell(players: Sequence[Player], told: Sequence[Addressed]) -> None:
    for each in told:
        if each.seat is not None:
            players[each.seat].tell(each.event)
            continue
        for player in players:
            player.tell(each.event)


def _forfeited(players: Sequence[Player]) -> Outcome | None:
    """The outcome if at most one seat is left that has not forfeited."""
    if players[0].rules.on_error != "forfeit":
        return None
    return forfeited_at_once(len(players), frozenset(player.seat for player in players if player.gone))
