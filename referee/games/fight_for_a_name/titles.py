"""The end of a round: who holds what, and who claims a title with it."""

from collections.abc import Sequence

from msgspec.structs import replace

from protocol.games.fight_board import HEXES
from protocol.games.fight_for_a_name import Banner, Claim, HexKey, Title
from referee.games.fight_for_a_name.state import FightState, Player, without

Holders = dict[HexKey, int]
"""Hex to the seat that holds it, ascending by number; hexes that nobody holds are left out."""
BANNER_HEXES = 3


def holders(players: Sequence[Player]) -> Holders:
    """Of each hex, the seat whose strength there is the highest that no other seat has. White hexes have none."""
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
    """The seat with the highest of those strengths that only one seat has; None: there are none."""
    every = [*strengths.values()]
    best, strongest = 0, None
    for seat, strength in strengths.items():
        if strength > best and every.count(strength) == 1:
            best, strongest = strength, seat
    return strongest


def claim_titles(state: FightState, after: str = "") -> tuple[FightState, Holders]:
    """The round's claims, title by title in alphabetical order, each on what the one before it left.

    Titles up to `after` have had their turn. Returns the state after the claims, and who holds what then.
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
    """The hexes of each seat that holds enough for a banner of some colours."""
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
    """Which of the seats that have its crest claims a title, and the hexes its banner uses."""
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
    """A hex of the body's colour and two of the partings', the first of those held; none if some lack."""
    colours = state.setup.colours
    body = [name for name in held if colours[name] == banner.body]
    parting = [name for name in held if colours[name] == banner.parting]
    return (body[0], *parting[:2]) if body and len(parting) > 1 else ()


def _with_claim(state: FightState, title: Title, seat: int, hexes: tuple[HexKey, ...]) -> FightState:
    """The claimer leaves the board, the banner's hexes turn white, and what others spent there is given back."""
    players = tuple(
        replace(player, position=None, mp=0, income=0, strengths={}, spent={})
        if each == seat
        else _given_back(player, hexes)
        for each, player in enumerate(state.players)
    )
    claims: dict[Title, Claim] = {**state.claims, title: Claim(seat=seat, round=state.round)}
    white = tuple(sorted((*state.white, *map(int, hexes))))
    return replace(state, players=players, white=white, claims=dict(sorted(claims.items())))


def _given_back(player: Player, hexes: tuple[HexKey, ...]) -> Player:
    if player.strengths.keys().isdisjoint(hexes):
        return player
    back = sum(player.spent.get(name, 0) for name in hexes)
    return replace(
        player,
        mp=player.mp + back,
        strengths=without(player.strengths, hexes),
        spent=without(player.spent, hexes),
    )
