"""The game class of Runes to Ruins."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

from msgspec import Raw
from msgspec.structs import replace

from protocol.games.runes_to_ruins import (
    ChooseSymbol,
    ConditionWon,
    Discovered,
    GuessAnswer,
    Holding,
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
from protocol.words import Action, Event, Outcome, Setup
from referee.games.runes_to_ruins import legal, worlds
from referee.games.runes_to_ruins.checking import checked_round, checked_symbol, without_empty
from referee.games.runes_to_ruins.plausible import plausible
from referee.games.runes_to_ruins.rounds import close_attempt, close_round
from referee.games.runes_to_ruins.state import SEATS, RunesState, artefacts, discovered_seats
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.rules import (
    DAY_MS,
    Announced,
    BadSetupError,
    Building,
    Game,
    Illegal,
    MatchRandom,
    PendingSeat,
    ResolvedActions,
    TimeTerms,
    Transition,
    Variant,
    Window,
    check_own,
    remembered,
)


class RunesToRuins(Game[RunesState, RunesOptions, Setup, RunesView]):
    """A game of five seats that each guess the secret six-rune symbols of the others."""

    name = "runes-to-ruins"
    variants = (
        # The source states no times. Other texts of its series state 24 hours if they state any.
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

    def read_options(self, variant: str, given: Raw | None) -> RunesOptions:
        """See `Game.read_options`; a seat may have each artefact only once."""
        options = super().read_options(variant, given)
        for seat, given_artefacts in options.artefacts.items():
            if len(set(given_artefacts)) < len(given_artefacts):
                raise BadSetupError(f"options.artefacts.{seat}: an artefact stands twice")
        return options

    def seats(self, options: RunesOptions) -> int:
        """Return 5."""
        return SEATS

    def deal(self, variant: str, options: RunesOptions, setup: Setup, rng: MatchRandom) -> Transition[RunesState]:
        """Return the initial state without symbols, which the seats choose; there are no events."""
        return Transition(RunesState(options=options))

    def window(self, state: RunesState) -> Window | None:
        """Return the window `symbol` until all symbols are set, then `round`."""
        if state.outcome is not None:
            return None
        return _SYMBOL if state.round == 1 else _ROUND

    def read_action(self, state: RunesState, seat: int, raw: bytes | Raw) -> Action:
        """See `Game.read_action`. An optional key with an empty value counts as absent."""
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
        rng: Random,
        *,
        variant: str | None = None,
        options: RunesOptions | None = None,
    ) -> Iterator[RunesState]:
        """See `worlds`. The events are not needed: the view contains their information."""
        check_own(view, seat)
        return worlds.worlds(view, seat, rng, options or RunesOptions())

    def draw_default(self, state: RunesState, seat: int, rng: MatchRandom) -> Action:
        """Draw a legal symbol that has not become invalid."""
        return ChooseSymbol(symbol=draw_symbol(rng.seat(seat), without=state.invalid))

    def close(self, state: RunesState, taken: ResolvedActions, rng: MatchRandom) -> Transition[RunesState]:
        """Close an attempt to set the symbols, or resolve a round."""
        actions: list[Any] = [part.action for part in taken if part is not None]
        if state.round == 1:
            return close_attempt(state, [action.symbol for action in actions], rng)
        return close_round(state, actions, rng)

    def view(self, state: RunesState, seat: int | None) -> RunesView:
        """Return the actions and events of the seat and the public facts; for None the public facts only."""
        public = _spectator_view(state)
        if seat is None:
            return public
        own, has = state.standings[seat], artefacts(state, seat)
        return replace(
            public,
            seat=seat,
            submitted=own.submitted,
            symbol=own.symbol,
            insight=own.insight,
            mantra=own.mantra,
            artefacts=has,
            may_abstain=not own.abstained,
            may_light="light" in has and not own.lit,
            may_window=not own.windowed and own.discovered is None,
            veil_cost=own.veils + 1,
            guess_cost=own.bought + 1,
            history=own.history,
        )

    def host_view(self, state: RunesState) -> RunesHostView:
        """Return the whole match, including all symbols and purses."""
        return RunesHostView(
            round=state.round,
            attempt=state.attempt,
            invalid=state.invalid,
            holdings=tuple(
                Holding(
                    symbol=standing.symbol,
                    insight=standing.insight,
                    mantra=standing.mantra,
                    received=standing.received,
                    veils=standing.veils,
                    bought=standing.bought,
                    discovered=standing.discovered,
                    guesses=standing.guesses,
                    submitted=standing.submitted,
                )
                for standing in state.standings
            ),
            conditions=state.conditions,
            used=state.used,
        )

    def outcome(self, state: RunesState) -> Outcome | None:
        """Return the outcome, which is set when the last round closes."""
        return state.outcome

    def plausible(self, state: RunesState, seat: int, rng: Random) -> Any:
        """See `Game.plausible`."""
        return plausible(state, seat, rng)


_SYMBOL = Window("symbol", tuple(PendingSeat(seat, None, drawn=True) for seat in range(SEATS)))
_ROUND = Window("round", tuple(PendingSeat(seat, PlayRound()) for seat in range(SEATS)))
_NOTHING = RunesView(
    seat=None,
    round=1,
    rounds=1,
    attempt=1,
    submitted=(),
    symbol=None,
    insight=None,
    mantra=None,
    artefacts=(),
    may_abstain=False,
    may_light=False,
    may_window=False,
    veil_cost=None,
    guess_cost=None,
    discovered={},
    history=(),
)
"""Empty view for `replace`, which takes a third of the time of creating a Struct with all these fields."""


@remembered
def _spectator_view(state: RunesState) -> RunesView:
    """Return the public facts."""
    return replace(
        _NOTHING,
        round=state.round,
        rounds=state.options.rounds,
        attempt=state.attempt,
        discovered=discovered_seats(state),
        history=state.history,
    )
