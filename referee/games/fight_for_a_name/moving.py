"""Moves of The Fight For a Name: what may be submitted (R1, R4-R6), and what a round's moves come to."""

from collections import Counter

from msgspec.structs import replace

from protocol.games.fight_board import HEXES, PILLAR_AT, START, STEPS
from protocol.games.fight_for_a_name import Crowded, Direction, HexKey, Move, Pillar, PillarShows, SeatKey, Visit
from referee.games.fight_for_a_name.state import SEAT_KEYS, FightState, Player, in_final_phase
from referee.rules import Addressed, Illegal

INCOME = 2
"""MP that a seat on the board gains each round."""
ALONE, NOT_ALONE = 4, 3
"""MP for ending a move on Start, alone there or not."""
CROWD = 5
"""More visitors than these at one pillar get nothing."""
MOST_GIVEN = 2
"""MP that a seat with a title may give in a round (R5)."""


def checked_move(state: FightState, seat: int, move: Move) -> Move:
    """The canonical spelling of a move or of gifts. Raises Illegal by R1, R4, R5 or R6."""
    player = state.players[seat]
    if player.position is None:
        if move.path or move.reinforce:
            raise Illegal("a seat with a title does not move; it gives")
        _check_gifts(state, player, move.give)
        return Move(give=dict(sorted(move.give.items(), key=lambda gift: int(gift[0]))))
    if move.give:
        raise Illegal("only a seat with a title gives")
    if len(move.path) + sum(move.reinforce.values()) > player.mp:
        raise Illegal(f"this costs more than your {player.mp} MP")
    _destination(player, move.path)
    _check_reinforcements(state, player, move.reinforce)
    return Move(path=move.path, reinforce=dict(sorted(move.reinforce.items(), key=lambda part: int(part[0]))))


def _destination(player: Player, path: tuple[Direction, ...]) -> str:
    """Where a path leads. Raises Illegal where that is nowhere, or a pillar in a way that breaks R1."""
    at = player.position or START
    for number, way in enumerate(path, 1):
        there = STEPS[at].get(way)
        if there is None:
            raise Illegal(f"step {number}: {way} of {at} there is nothing")
        if there in PILLAR_AT:
            if number < len(path):
                raise Illegal(f"step {number}: a pillar can only be the last hex of a path")
            if len(set(path)) > 1:
                raise Illegal(f"a path to {there} goes in one direction throughout")
            if any(visit.pillar == there for visit in player.visits):
                raise Illegal(f"you have visited {there} before")
        at = there
    return at


def _check_reinforcements(state: FightState, player: Player, reinforce: dict[HexKey, int]) -> None:
    if reinforce and not in_final_phase(state):
        raise Illegal("reinforcing begins with the final phase")
    for name in reinforce:
        if int(name) in state.white:
            raise Illegal(f"hex {name} is white")
        if int(name) not in player.reached:
            raise Illegal(f"none of your moves before this round ended on hex {name}")


def _check_gifts(state: FightState, player: Player, give: dict[SeatKey, int]) -> None:
    if sum(give.values()) > MOST_GIVEN:
        raise Illegal(f"at most {MOST_GIVEN} MP may be given")
    for key in give:
        if state.players[int(key)].position is None:
            raise Illegal(f"seat {key} is not on the board")
        if int(key) == player.barred:
            raise Illegal(f"seat {key} was given {MOST_GIVEN} MP last round")


def play_moves(state: FightState, moves: tuple[Move, ...]) -> tuple[FightState, tuple[Addressed, ...]]:
    """All moves and gifts of a round, at once; then what Start, hexes and pillars give."""
    players = [_moved(state, player, move) for player, move in zip(state.players, moves, strict=True)]
    gifts = [sum(move.give.get(key, 0) for move in moves) for key in SEAT_KEYS]
    at_start = sum(player.position == START for player in players)
    for seat, (player, gift) in enumerate(zip(players, gifts, strict=True)):
        start = 0 if player.position != START else ALONE if at_start == 1 else NOT_ALONE
        players[seat] = replace(player, income=start + gift)
    arrived = {
        seat: PILLAR_AT[player.position]
        for seat, (player, move) in enumerate(zip(players, moves, strict=True))
        if move.path and player.position in PILLAR_AT
    }
    given = {key: gift for key, gift in zip(SEAT_KEYS, gifts, strict=True) if gift}
    return _visit(replace(state, gifts=given), players, arrived)


def _moved(state: FightState, player: Player, move: Move) -> Player:
    """A player after its own move: only what it can tell itself."""
    if player.position is None:
        # Two MP can only go to one seat as the single gift of the round.
        barred = next((int(key) for key, amount in move.give.items() if amount == MOST_GIVEN), None)
        return replace(player, moves=(*player.moves, move), barred=barred)
    position = _destination(player, move.path)
    strengths, spent, reached = list(player.strengths), list(player.spent), player.reached
    for name, amount in move.reinforce.items():
        strengths[int(name) - 1] += amount
        spent[int(name) - 1] += amount
    if position in HEXES:
        number = int(position)
        reached = reached if number in reached else tuple(sorted((*reached, number)))
        if number not in state.white:
            strengths[number - 1] += len(move.path) + 1
            spent[number - 1] += len(move.path)
    return replace(
        player,
        position=position,
        mp=player.mp - len(move.path) - sum(move.reinforce.values()),
        strengths=tuple(strengths),
        spent=tuple(spent),
        reached=reached,
        moves=(*player.moves, move),
    )


def _visit(
    state: FightState, players: list[Player], arrived: dict[int, Pillar]
) -> tuple[FightState, tuple[Addressed, ...]]:
    """Pillars take their visitors in, or turn a crowd away (R2)."""
    crowds = {pillar for pillar, count in Counter(arrived.values()).items() if count > CROWD}
    told = []
    for seat, pillar in arrived.items():
        titles = () if pillar in crowds else state.setup.pillars[pillar]
        visit = Visit(round=state.round, pillar=pillar, titles=titles)
        players[seat] = replace(players[seat], visits=(*players[seat].visits, visit))
        told.append(
            Addressed(
                PillarShows(pillar=visit.pillar, titles=titles) if titles else Crowded(pillar=visit.pillar), seat
            )
        )
    visitors = tuple(seat for seat, pillar in arrived.items() if pillar not in crowds)
    return replace(state, players=tuple(players), visitors=visitors), tuple(told)
