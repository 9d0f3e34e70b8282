"""Runes to Ruins under the contract of a game."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

from msgspec import Raw

from protocol.games.runes_to_ruins import (
    ChooseSymbol,
    ConditionWon,
    Discovered,
    GuessAnswer,
    Insight,
    LearnedAnswer,
    Mirrored,
    PlayRound,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesHostView,
    RunesOptions,
    RunesView,
    SymbolSet,
    VisionAnswer,
)
from protocol.words import Action, Event, Options, Outcome, Setup
from referee.games.runes_to_ruins import legal, views, worlds
from referee.games.runes_to_ruins.checking import checked_round, checked_symbol
from referee.games.runes_to_ruins.opening import close_attempt
from referee.games.runes_to_ruins.plausible import plausible
from referee.games.runes_to_ruins.rounds import close_round
from referee.games.runes_to_ruins.spelling import without_empty
from referee.games.runes_to_ruins.state import SEATS, RunesState
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.rules import (
    DAY_MS,
    Announced,
    BadSetupError,
    Building,
    Game,
    Illegal,
    Luck,
    Owed,
    Step,
    Taken,
    TimeTerms,
    Variant,
    Window,
    check_own,
)


class RunesToRuins(Game[RunesState]):
    """Five seats, each with a secret symbol of six runes; who finds out the others' before its own is found?"""

    name = "runes-to-ruins"
    variants = (
        # The source gives no times. It is of the series whose other texts give 24 hours where they give any.
        Variant("guardians", TimeTerms({"symbol": DAY_MS, "round": DAY_MS})),
    )
    actions = {"symbol": ChooseSymbol, "round": PlayRound}  # noqa: RUF012 - a ClassVar of the contract
    announced = {"symbol": Announced.SEATS, "round": Announced.SEATS}  # noqa: RUF012 - a ClassVar of the contract
    events = (
        Resubmit,
        SymbolSet,
        Insight,
        ConditionWon,
        VisionAnswer,
        Mirrored,
        LearnedAnswer,
        GuessAnswer,
        Revealed,
        Discovered,
        Purse,
        Reveal,
    )
    options = RunesOptions
    view_type = RunesView
    choices = legal.CHOICES

    def read_options(self, variant: str, given: Raw | None) -> Options:
        """See `Game.read_options`; a seat's artefacts may each stand once."""
        options = cast("RunesOptions", super().read_options(variant, given))
        for seat, artefacts in options.artefacts.items():
            if len(set(artefacts)) < len(artefacts):
                raise BadSetupError(f"options.artefacts.{seat}: an artefact stands twice")
        return options

    def seats(self, options: Options) -> int:
        """Five."""
        return SEATS

    def deal(self, variant: str, options: Options, setup: Setup, luck: Luck) -> Step[RunesState]:
        """No symbols yet: they are the seats' own. Nothing is told."""
        return Step(RunesState(options=cast("RunesOptions", options)))

    def window(self, state: RunesState) -> Window | None:
        """`symbol` until all symbols differ, then `round`."""
        if state.outcome is not None:
            return None
        return _SYMBOL if state.round == 1 else _ROUND

    def read_action(self, state: RunesState, seat: int, raw: bytes | Raw) -> Action:
        """See `Game.read_action`. An optional key with an empty value counts as left out."""
        try:
            return super().read_action(state, seat, raw)
        except Illegal:
            trimmed = without_empty(raw)
            if trimmed is None:
                raise
            return super().read_action(state, seat, trimmed)

    def check(self, state: RunesState, seat: int, action: Action) -> Action:
        """See `Game.check`."""
        if isinstance(action, PlayRound):
            return checked_round(state, seat, action)
        return checked_symbol(state, cast("ChooseSymbol", action))

    def build(self, view: RunesView, seat: int) -> Building:
        """See `legal`."""
        return legal.build(view, seat)

    def spell(self, view: RunesView, action: Action) -> Sequence[int]:
        """See `Game.spell`."""
        return legal.spell(action)

    def worlds(
        self,
        view: RunesView,
        events: Sequence[Event],
        seat: int,
        luck: Random,
        *,
        variant: str | None = None,
        options: Options | None = None,
    ) -> Iterator[RunesState]:
        """See `worlds`. The view says all that the events have told."""
        check_own(view, seat)
        return worlds.worlds(view, seat, luck, cast("RunesOptions", options or RunesOptions()))

    def draw_default(self, state: RunesState, seat: int, luck: Luck) -> Action:
        """A legal symbol that has not become invalid."""
        return ChooseSymbol(symbol=draw_symbol(luck.seat(seat), without=state.invalid))

    def close(self, state: RunesState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[RunesState]:
        """Sets the symbols or asks for them anew; or resolves a round."""
        actions: list[Any] = [part.action for part in taken if part is not None]
        if state.round == 1:
            return close_attempt(state, [action.symbol for action in actions], luck)
        return close_round(state, actions, luck)

    def view(self, state: RunesState, seat: int | None) -> RunesView:
        """What the seat did and was told, and public facts."""
        return views.spectator_view(state) if seat is None else views.seat_view(state, seat)

    def host_view(self, state: RunesState) -> RunesHostView:
        """All symbols, purses and votes."""
        return views.host_view(state)

    def outcome(self, state: RunesState) -> Outcome | None:
        """Settled when the last round closed."""
        return state.outcome

    def plausible(self, state: RunesState, seat: int, luck: Random) -> Any:
        """See `Game.plausible`."""
        return plausible(state, seat, luck)


_SYMBOL = Window("symbol", tuple(Owed(seat, None, drawn=True) for seat in range(SEATS)))
_ROUND = Window("round", tuple(Owed(seat, PlayRound()) for seat in range(SEATS)))
