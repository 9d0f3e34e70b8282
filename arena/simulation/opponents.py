"""Bots at some seats of a match whose steps the caller controls."""

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

    def closed(self, taken: Mapping[int, Taken]) -> None:
        """Pass the resolved actions of a closed window, by seat. Raise BotError if a bot raises."""
        for seat, each in taken.items():
            self._players[seat].close(each, reserve_ms=self._reserve_ms)

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
