"""Moves of The Fight For a Name, and visits of pillars.

Which moves (R1, R4-R6) and questions (R3) may be submitted, how a round's moves are played, and what pillars
answer.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from random import Random

from msgspec.structs import replace

from protocol.games.fight_for_a_name import (
    Ask,
    Banner,
    Colour,
    Crowded,
    Direction,
    HexKey,
    Move,
    Pillar,
    PillarAnswer,
    PillarShows,
    SeatKey,
    Title,
    Visit,
)
from protocol.games.fight_for_a_name.board import COLOURS, PILLAR_AT, START, STEPS
from referee.games.fight_for_a_name.state import NUMBER, SEAT_KEYS, FightSeat, FightState, in_final_phase, raised
from referee.rules import Addressed, Illegal, choice, sample

INCOME = 2
"""MP that a seat on the board gains each round."""
ALONE, NOT_ALONE = 4, 3
"""MP for ending a move on Start, alone there or not."""
CROWD = 5
"""Highest number of visitors that a pillar admits; if there are more, it admits none (R2)."""
MOST_GIVEN = 2
"""MP that a seat with a title may give in a round (R5)."""


def checked_move(state: FightState, seat: int, move: Move) -> Move:
    """Return a move or gifts in canonical spelling.

    Raises:
        Illegal: the move breaks R1, R4, R5 or R6.
    """
    if not move.path and not move.reinforce and not move.give:
        return move
    player = state.players[seat]
    if player.position is None:
        if move.path or move.reinforce:
            raise Illegal("a seat with a title does not move; it gives")
        _check_gifts(state, player, move.give)
        return Move(give=dict(sorted(move.give.items(), key=lambda gift: int(gift[0]))))
    if move.give:
        raise Illegal("only a seat with a title gives")
    price = len(move.path) + sum(move.reinforce.values()) if move.reinforce else len(move.path)
    if price > player.mp:
        raise Illegal(f"this costs more than your {player.mp} MP")
    if move.path:
        _check_destination(player, destination(player.position, move.path))
    if not move.reinforce:
        return move
    _check_reinforcements(state, player, move.reinforce)
    return Move(path=move.path, reinforce=dict(sorted(move.reinforce.items(), key=lambda part: int(part[0]))))


@lru_cache(maxsize=1024)
def destination(at: str, path: tuple[Direction, ...]) -> str:
    """Return the place to which a path leads.

    Results are cached: a move is played soon after its check, and seats often use the same paths.

    Raises:
        Illegal: the path leaves the board, or enters a pillar in a way that breaks R1.
    """
    for number, way in enumerate(path, 1):
        there = STEPS[at].get(way)
        if there is None:
            raise Illegal(f"step {number}, {way} from {at}, leads off the board")
        if there in PILLAR_AT:
            if number < len(path):
                raise Illegal(f"step {number}, {way} from {at}, enters {there}; a path ends at a pillar")
            if len(set(path)) > 1:
                raise Illegal(f"a path to {there} goes in one direction throughout")
        at = there
    return at


def _check_destination(player: FightSeat, place: str) -> None:
    """Raise Illegal if the place is a pillar that the player has visited before (R1)."""
    if place in PILLAR_AT and any(visit.pillar == place for visit in player.visits):
        raise Illegal(f"you have visited {place} before")


def _check_reinforcements(state: FightState, player: FightSeat, reinforce: dict[HexKey, int]) -> None:
    if not in_final_phase(state):
        raise Illegal("reinforcing begins with the final phase")
    for name in reinforce:
        if int(name) in state.white:
            raise Illegal(f"hex {name} is white")
        if int(name) not in player.reached:
            raise Illegal(f"none of your moves before this round ended on hex {name}")


def _check_gifts(state: FightState, player: FightSeat, give: dict[SeatKey, int]) -> None:
    if sum(give.values()) > MOST_GIVEN:
        raise Illegal(f"at most {MOST_GIVEN} MP may be given")
    for key in give:
        if state.players[int(key)].position is None:
            raise Illegal(f"seat {key} is not on the board")
        if int(key) == player.barred:
            raise Illegal(f"seat {key} was given {MOST_GIVEN} MP last round")


def play_moves(state: FightState, moves: tuple[Move, ...]) -> tuple[FightState, tuple[Addressed, ...]]:
    """Play all moves and gifts of a round at once, then apply the effects of Start, hexes and pillars."""
    places = [
        player.position and destination(player.position, move.path) if move.path else player.position
        for player, move in zip(state.players, moves, strict=True)
    ]
    gifts, at_start = _gifts(moves), ALONE if places.count(START) == 1 else NOT_ALONE
    players, arrived = [], {}
    stayed: dict[tuple[int, int], FightSeat] = {}
    """Updated player by the id of the player before and income, for idle seats that are not on a hex.

    Seats with equal players share one object, and continue to share one while they are idle.
    """
    for seat, (player, move, place) in enumerate(zip(state.players, moves, places, strict=True)):
        income = gifts.get(SEAT_KEYS[seat], 0) if gifts else 0
        if place is None:
            players.append(_given(player, move, income))
            continue
        if place == START:
            income += at_start
        if place not in NUMBER and not move.path and not move.reinforce:
            if (alike := (id(player), income)) not in stayed:
                stayed[alike] = replace(player, income=income, moves=(*player.moves, move))
            players.append(stayed[alike])
            continue
        players.append(_moved(state, player, move, place, income))
        if move.path and place in PILLAR_AT:
            arrived[seat] = PILLAR_AT[place]
    return _visit(state, players, gifts, arrived)


def _gifts(moves: tuple[Move, ...]) -> dict[SeatKey, int]:
    """Return the MP that each seat receives as gifts, above 0 only, ascending by seat."""
    given: dict[SeatKey, int] = {}
    for move in moves:
        if move.give:
            for key, amount in move.give.items():
                given[key] = given.get(key, 0) + amount
    return {key: given[key] for key in SEAT_KEYS if key in given} if given else given


def _given(player: FightSeat, move: Move, income: int) -> FightSeat:
    """Return a player with a title after its own gifts."""
    # A seat that gives 2 MP to one seat makes no other gift in that round.
    barred = next((int(key) for key, amount in move.give.items() if amount == MOST_GIVEN), None)
    return replace(player, moves=(*player.moves, move), barred=barred, income=income)


def _moved(state: FightState, player: FightSeat, move: Move, position: str, income: int) -> FightSeat:
    """Return a player after its own move: the part of the result that it knows itself, and its income."""
    steps, strengths, spent, reached = len(move.path), player.strengths, player.spent, player.reached
    for name, amount in move.reinforce.items():
        strengths, spent = raised(strengths, name, amount), raised(spent, name, amount)
    if (number := NUMBER.get(position)) is not None:
        if number not in reached:
            reached = tuple(sorted((*reached, number)))
        if number not in state.white:
            strengths, spent = raised(strengths, position, steps + 1), raised(spent, position, steps)
    return replace(
        player,
        position=position,
        mp=player.mp - steps - (sum(move.reinforce.values()) if move.reinforce else 0),
        income=income,
        strengths=strengths,
        spent=spent,
        reached=reached,
        moves=(*player.moves, move),
    )


def _visit(
    state: FightState, players: list[FightSeat], gifts: dict[SeatKey, int], arrived: dict[int, Pillar]
) -> tuple[FightState, tuple[Addressed, ...]]:
    """Admit the visitors of each pillar, or turn all of them away if they are a crowd (R2)."""
    places = [*arrived.values()]
    crowds = {pillar for pillar in places if places.count(pillar) > CROWD}
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
    return replace(state, players=tuple(players), gifts=gifts, visitors=visitors), tuple(told)


def checked_ask(player: FightSeat, ask: Ask) -> Ask:
    """Return `ask` in canonical form. Raise Illegal unless each of the six titles shown has one use (R3)."""
    shown = player.visits[-1].titles
    named = [ask.body[0], ask.parting[0], ask.other[0], *ask.neither, ask.crest]
    for title in () if set(named) == set(shown) else named:
        if title not in shown:
            raise Illegal(f"{title} is not shown here")
        if named.count(title) > 1:
            raise Illegal(f"{title} is named twice; each title shown is put to one use")
    first, second = ask.neither
    return ask if first < second else replace(ask, neither=(second, first))


def answered(state: FightState, seat: int, ask: Ask, rng: Random) -> tuple[FightState, PillarAnswer]:
    """Return the state in which the visitor has its crest, and its answer. No other seat changes."""
    answer = answer_to(ask, state.setup.titles, rng)
    player = state.players[seat]
    visit = replace(player.visits[-1], asked=ask, answer=answer)
    crests = dict(sorted({ask.crest: state.round, **player.crests}.items()))
    players = [*state.players]
    players[seat] = replace(player, visits=(*player.visits[:-1], visit), crests=crests)
    return replace(state, players=tuple(players)), answer


def answer_to(ask: Ask, banners: Mapping[Title, Banner], rng: Random) -> PillarAnswer:
    """Return a pillar's answer when the titles have the given banners."""
    other, one, two = banners[ask.other[0]], banners[ask.neither[0]], banners[ask.neither[1]]
    absent = _without(other.body, other.parting, ask.other[1])
    on_neither = _without(one.body, one.parting, two.body, two.parting)
    first, second = sorted(sample(rng, on_neither, 2))
    return PillarAnswer(
        body=banners[ask.body[0]].body == ask.body[1],
        parting=banners[ask.parting[0]].parting == ask.parting[1],
        other=choice(rng, absent),
        neither=(first, second),
        crest=ask.crest,
    )


@cache
def _without(*colours: Colour) -> tuple[Colour, ...]:
    return tuple(colour for colour in COLOURS if colour not in colours)
