"""The views of Runes to Ruins for seats, spectators and the host."""

from msgspec.structs import replace

from protocol.games.runes_to_ruins import Holding, RunesHostView, RunesView
from referee.games.runes_to_ruins.state import RunesState, artefacts, discovered_seats
from referee.rules import remembered


def seat_view(state: RunesState, seat: int) -> RunesView:
    """Return the view of one seat: its own state, actions and events, and the public facts."""
    own, has = state.standings[seat], artefacts(state, seat)
    return replace(
        spectator_view(state),
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
def spectator_view(state: RunesState) -> RunesView:
    """Return the public facts."""
    return replace(
        _NOTHING,
        round=state.round,
        rounds=state.options.rounds,
        attempt=state.attempt,
        discovered=discovered_seats(state),
        history=state.history,
    )


def host_view(state: RunesState) -> RunesHostView:
    """Return the view of the host, which includes all secrets."""
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
