"""Views of a match for each seat, a spectator and the host.

A seat's view is made of public facts and its own `FightSeat`, never of another seat's.
"""

from msgspec.structs import replace

from protocol.games.fight_for_a_name import FightHostPlayer, FightHostView, FightView, RoundResult
from protocol.games.fight_for_a_name.board import START
from referee.games.fight_for_a_name.state import (
    SEAT_KEYS,
    FightSeat,
    FightState,
    in_final_phase,
    title_of,
    winners,
)
from referee.rules import remembered

_START = RoundResult(
    round=0, positions=dict.fromkeys(SEAT_KEYS, START), holders={}, white=(), claimed={}, gifts={}
)
"""Result that stands in for the previous round in the first round."""


def voters(state: FightState) -> tuple[int, ...]:
    """Return the seats that take part in the open vote, or () if no vote is open."""
    if state.phase == "justice":
        return (state.claims["Justice"].seat,)
    return winners(state) if state.phase in ("token_vote", "elimination_vote") else ()


@remembered
def spectators_view(state: FightState) -> FightView:
    """Return the view of public facts."""
    last = state.history[-1] if state.history else _START
    return FightView(
        seat=None,
        round=state.round,
        rounds=state.options.rounds,
        colours=state.setup.colours,
        numbers=state.setup.challenge.numbers,
        target=state.setup.challenge.target,
        final_phase=in_final_phase(state),
        positions=last.positions,
        holders=last.holders,
        white=state.white,
        claims=state.claims,
        history=state.history,
        title=None,
        position=None,
        mp=None,
        crests={},
        strengths={},
        spent={},
        reached=(),
        visits=(),
        moves=(),
        barred=None,
        candidates=None,
        revealed=state.revealed,
    )


def seats_view(state: FightState, seat: int) -> FightView:
    """Return the public facts together with the seat's private facts and its own actions."""
    player = state.players[seat]
    on_board = player.position is not None
    return replace(
        spectators_view(state),
        seat=seat,
        title=None if on_board else title_of(state, seat),
        position=player.position,
        mp=player.mp if on_board else None,
        crests=player.crests,
        strengths=player.strengths,
        spent=player.spent,
        reached=player.reached,
        visits=player.visits,
        moves=player.moves,
        barred=player.barred,
        candidates=state.candidates if state.candidates and seat in voters(state) else None,
    )


def hosts_view(state: FightState) -> FightHostView:
    """Return the view of the whole state."""
    return FightHostView(
        setup=state.setup,
        phase=state.phase,
        round=state.round,
        challenge=state.challenge,
        players=tuple(map(_host_player, state.players)),
        history=state.history,
        claims=state.claims,
        candidates=state.candidates,
        voted_token=state.voted_token,
        eliminated=state.eliminated,
    )


def _host_player(player: FightSeat) -> FightHostPlayer:
    return FightHostPlayer(
        position=player.position,
        mp=player.mp,
        income=player.income,
        crests=player.crests,
        strengths=player.strengths,
        spent=player.spent,
        reached=player.reached,
        visits=player.visits,
        barred=player.barred,
    )
