"""Bots at some seats of a match that somebody else steps."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from arena.simulation.bots import BotGiven, source_of
from arena.simulation.one_match import welcome
from arena.simulation.player import Player, Rules
from arena.simulation.refereed import terms_of
from protocol.words import Action
from referee.match import Policy, bot_seed
from referee.rules import Addressed, Answered, Table, Taken, WindowClosed


class Opponents:
    """Bots as `play` takes them. The holder of the match asks them and tells them."""

    def __init__(self, game: str, bots: Mapping[int, BotGiven]) -> None:
        """Takes seat to bot.

        Raises:
            ValueError, TypeError: one is no bot, or not for this game.
        """
        self.givens = dict(bots)
        """The bots as they were given, by seat."""
        self._sources = {seat: source_of(game, bot, fresh=True) for seat, bot in bots.items()}
        self._players: dict[int, Player] = {}

    def begin(self, table: Table) -> None:
        """A new match: each is welcomed, and hears what is told at its start. Raises BotError."""
        self._terms = terms_of(table, Policy(), None)
        self._players = {seat: Player(source.make(), seat, Rules()) for seat, source in self._sources.items()}
        for seat, player in self._players.items():
            welcome(player, table, self._terms, bot_seed(table.deal.seed, seat))
        self.tell(table.start)

    def answers(self, table: Table) -> dict[int, Action | None]:
        """What they submit to the open window, by seat that owes; None: the default.

        Raises:
            BotError: one of them raised.
            IllegalActionError: one of them broke a rule.
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
        """Passes on what is for them. Raises BotError."""
        for each in told:
            for seat, player in self._players.items():
                if each.seat is None or each.seat == seat:
                    player.tell(each.event)

    def closed(self, taken: Mapping[int, Taken]) -> None:
        """The window closed: by seat what was taken. Raises BotError."""
        for seat, each in taken.items():
            self._players[seat].close(each, reserve_ms=self._reserve_ms)

    def catch_up(self, table: Table) -> None:
        """Play them through a match that others have played so far: its deal and journal, as `table` has them.

        What they answer does not count; what was taken of them does. In the open window they are asked, too.
        Raises as `answers` does.
        """
        replayed = Table(table.game, table.deal)
        self.begin(replayed)
        self.answers(replayed)
        told: list[Addressed] = []
        for move in table.journal:
            match move:
                case Answered(seat, action):
                    told += replayed.answer(seat, action)
                case WindowClosed(taken):
                    self.tell([*told, *replayed.close(taken)])
                    self.closed({seat: part for seat, part in enumerate(taken) if seat in self._players and part})
                    self.answers(replayed)
                    told = []
                case _ as unreachable:
                    assert_never(unreachable)

    @property
    def _reserve_ms(self) -> int:
        return self._terms.reserve_ms
