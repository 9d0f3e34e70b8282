"""The course of The Fight For a Name: the timed game, rounds, the holders of hexes and claims of titles."""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from protocol.games.fight_for_a_name import Banner, Claim, HexKey, Move, Pick, Puzzle, RoundResult, Standing, Title
from protocol.games.fight_for_a_name.board import HEXES
from referee.games.fight_for_a_name import ending
from referee.games.fight_for_a_name.moving import INCOME, play_moves
from referee.games.fight_for_a_name.state import SEAT_KEYS, FightSeat, FightState, of_each, without
from referee.rules import Addressed, MatchRandom, Transition, sample

Holders = dict[HexKey, int]
"""Seat that holds each hex, in ascending order of hexes; hexes without a holder are left out."""
BANNER_HEXES = 3


def rank_challenge(
    puzzle: Puzzle, picks: Sequence[Pick], elapsed_ms: Sequence[int], rng: Random
) -> tuple[int, ...]:
    """Return the seats ranked by the timed game, best first (R7); ties are drawn at random.

    `picks` and `elapsed_ms` are indexed by seat.
    """

    def rank(seat: int) -> tuple[bool, int]:
        right = is_right(puzzle, picks[seat])
        return not right, elapsed_ms[seat] if right else 0

    # Any draw would do by R7. This one gives the order in the example scenarios, which do not mark it as drawn.
    drawn = sample(rng, range(len(picks)), len(picks))
    return tuple(sorted(drawn, key=rank))


def is_right(puzzle: Puzzle, pick: Pick) -> bool:
    """Return whether the picked numbers add up to the target. An empty pick is wrong even for target 0 (R7)."""
    return pick.pick != () and sum(puzzle.numbers[position] for position in pick.pick) == puzzle.target


def next_round(state: FightState) -> FightState:
    """Start the next round's moves: pay every seat's income, and give seats on the board their MP."""
    players = tuple(of_each(state.players, _ready))
    return replace(state, phase="move", round=state.round + 1, players=players, visitors=(), gifts={})


def _ready(player: FightSeat) -> FightSeat:
    """Return the player with its income paid and, on the board, its MP for the next round."""
    if player.position is None:
        return _paid(player)
    return replace(player, mp=player.mp + player.income + INCOME, income=0)


def _paid(player: FightSeat) -> FightSeat:
    """Return the player with its income paid."""
    return replace(player, mp=player.mp + player.income, income=0) if player.income else player


def close_moves(state: FightState, moves: tuple[Move, ...], rng: MatchRandom) -> Transition[FightState]:
    """Play a round's moves, then continue with the visitors of pillars, or end the round."""
    after, told = play_moves(state, moves)
    if after.visitors:
        return Transition(replace(after, phase="pillar"), told)
    ended = end_round(after, rng)
    return Transition(ended.state, (*told, *ended.told))


def end_round(state: FightState, rng: MatchRandom) -> Transition[FightState]:
    """Resolve claims, report the result to all seats, then start the next round or the end of the game."""
    after, held = claim_titles(state)
    result = _result(state, after, held)
    after = replace(after, history=(*after.history, result))
    told = (Addressed(result), *_standings(after))
    if ending.reason(after) is None:
        return Transition(next_round(after), told)
    paid = tuple(map(_paid, after.players))
    over = ending.begin(replace(after, players=paid, visitors=()), rng)
    return Transition(over.state, (*told, *over.told))


def _result(before: FightState, after: FightState, held: Holders) -> RoundResult:
    return RoundResult(
        round=after.round,
        positions={
            key: player.position
            for key, player in zip(SEAT_KEYS, after.players, strict=True)
            if player.position is not None
        },
        holders=held,
        white=after.white,
        claimed={title: claim.seat for title, claim in after.claims.items() if title not in before.claims},
        gifts=after.gifts,
    )


def _standings(state: FightState) -> list[Addressed]:
    """Return the private standing of each seat on the board, addressed to it."""
    standings: list[Addressed] = []
    for seat, standing in enumerate(of_each(state.players, _standing)):
        if standing is not None:
            standings.append(Addressed(standing, seat))
    return standings


def _standing(player: FightSeat) -> Standing | None:
    if player.position is None:
        return None
    return Standing(mp=player.mp + player.income, crests=tuple(player.crests), strengths=player.strengths)


def holders(players: Sequence[FightSeat]) -> Holders:
    """Return the holder of each hex: the seat with the highest strength that no other seat shares.

    White hexes have no holder.
    """
    alone: Holders = {}
    several: dict[HexKey, dict[int, int]] = {}
    for seat, player in enumerate(players):
        for name, strength in player.strengths.items():
            if name not in alone:
                alone[name] = seat
            elif name in several:
                several[name][seat] = strength
            else:
                other = alone[name]
                several[name] = {other: players[other].strengths[name], seat: strength}
    for name, strengths in several.items():
        best = _strongest(strengths)
        if best is None:
            del alone[name]
        else:
            alone[name] = best
    return {name: alone[name] for name in HEXES if name in alone}


def _strongest(strengths: dict[int, int]) -> int | None:
    """Return the seat with the highest unshared strength, or None if every strength is shared."""
    every = [*strengths.values()]
    best, strongest = 0, None
    for seat, strength in strengths.items():
        if strength > best and every.count(strength) == 1:
            best, strongest = strength, seat
    return strongest


def claim_titles(state: FightState, after: str = "") -> tuple[FightState, Holders]:
    """Resolve the round's claims in alphabetical order of titles; each sees the result of the previous one.

    Titles up to `after` are already resolved. Returns the state after the claims, and its holders.
    """
    held = holders(state.players)
    own = _enough_for_a_banner(held)
    crests = {title for seat in own for title in state.players[seat].crests if title > after}
    for title in sorted(crests - state.claims.keys()):
        having = [seat for seat in own if title in state.players[seat].crests]
        if claimed := _claimed(state, title, having, own):
            return claim_titles(_with_claim(state, title, *claimed), title)
    return state, held


def _enough_for_a_banner(held: Holders) -> dict[int, list[HexKey]]:
    """Return the hexes of each seat that holds at least `BANNER_HEXES` of them."""
    own: dict[int, list[HexKey]] = {}
    for name, seat in held.items():
        if seat in own:
            own[seat].append(name)
        else:
            own[seat] = [name]
    return {seat: hexes for seat, hexes in own.items() if len(hexes) >= BANNER_HEXES}


def _claimed(
    state: FightState, title: Title, having: Sequence[int], own: dict[int, list[HexKey]]
) -> tuple[int, tuple[HexKey, ...]] | None:
    """Return the seat that claims a title, of those with its crest, and the hexes its banner uses."""
    found = []
    for seat in having:
        player = state.players[seat]
        if hexes := _banner_hexes(state, state.setup.titles[title], own[seat]):
            spent = sum(player.spent.get(name, 0) for name in hexes)
            found.append((-spent, player.crests[title], state.challenge.index(seat), seat, hexes))
    if not found:
        return None
    *_, seat, hexes = min(found)
    return seat, hexes


def _banner_hexes(state: FightState, banner: Banner, held: Sequence[HexKey]) -> tuple[HexKey, ...]:
    """Return the first held hex of the body's colour and two of the parting's, or () if any is missing."""
    colours = state.setup.colours
    body = [name for name in held if colours[name] == banner.body]
    parting = [name for name in held if colours[name] == banner.parting]
    return (body[0], *parting[:2]) if body and len(parting) > 1 else ()


def _with_claim(state: FightState, title: Title, seat: int, hexes: tuple[HexKey, ...]) -> FightState:
    """Remove the claimer from the board, turn the banner's hexes white, and refund others' spending there."""
    players = [_given_back(player, hexes) for player in state.players]
    players[seat] = replace(state.players[seat], position=None, mp=0, income=0, strengths={}, spent={})
    claims: dict[Title, Claim] = {**state.claims, title: Claim(seat=seat, round=state.round)}
    white = tuple(sorted((*state.white, *map(int, hexes))))
    return replace(state, players=tuple(players), white=white, claims=dict(sorted(claims.items())))


def _given_back(player: FightSeat, hexes: tuple[HexKey, ...]) -> FightSeat:
    if player.strengths.keys().isdisjoint(hexes):
        return player
    back = sum(player.spent.get(name, 0) for name in hexes)
    return replace(
        player,
        mp=player.mp + back,
        strengths=without(player.strengths, hexes),
        spent=without(player.spent, hexes),
    )
