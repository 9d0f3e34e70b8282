"""The end of a round: who holds what, and who claims a title with it."""

from collections.abc import Sequence

from msgspec.structs import replace

from protocol.games.fight_board import HEXES, TITLES
from protocol.games.fight_for_a_name import Banner, Claim, Title
from referee.games.fight_for_a_name.state import NOTHING, FightState, Player, on_board

Holders = dict[int, int]
"""Number of a hex to the seat that holds it, ascending; hexes that nobody holds are left out."""


def holders(players: Sequence[Player]) -> Holders:
    """Of each hex, the seat whose strength there is the highest that no other seat has. White hexes have none."""
    held = {}
    for number, strengths in enumerate(zip(*(player.strengths for player in players), strict=True), 1):
        alone = [strength for strength in strengths if strength and strengths.count(strength) == 1]
        if alone:
            held[number] = strengths.index(max(alone))
    return held


def claim_titles(state: FightState) -> FightState:
    """The round's claims, title by title in alphabetical order, each on what the one before it left."""
    held = holders(state.players)
    for title in TITLES:
        if title not in state.claims and (claimed := _claimed(state, title, held)):
            state = _with_claim(state, title, *claimed)
            held = holders(state.players)
    return state


def _claimed(state: FightState, title: Title, held: Holders) -> tuple[int, tuple[int, ...]] | None:
    """Who claims a title, and the hexes its banner uses."""
    found = []
    for seat in on_board(state):
        player = state.players[seat]
        hexes = _banner_hexes(state, state.setup.titles[title], held, seat) if title in player.crests else ()
        if hexes:
            spent = sum(player.spent[number - 1] for number in hexes)
            found.append((-spent, player.crests[title], state.challenge.index(seat), seat, hexes))
    if not found:
        return None
    *_, seat, hexes = min(found)
    return seat, hexes


def _banner_hexes(state: FightState, banner: Banner, held: Holders, seat: int) -> tuple[int, ...]:
    """A hex of the body's colour and two of the partings', the lowest numbers the seat holds; none if it lacks."""
    colours = state.setup.colours
    own = [number for number, holder in held.items() if holder == seat]
    body = [number for number in own if colours[HEXES[number - 1]] == banner.body]
    parting = [number for number in own if colours[HEXES[number - 1]] == banner.parting]
    return (body[0], *parting[:2]) if body and len(parting) > 1 else ()


def _with_claim(state: FightState, title: Title, seat: int, hexes: tuple[int, ...]) -> FightState:
    """The claimer leaves the board, the banner's hexes turn white, and what others spent there is given back."""
    players = tuple(
        replace(player, position=None, mp=0, strengths=NOTHING, spent=NOTHING)
        if each == seat
        else _given_back(player, hexes)
        for each, player in enumerate(state.players)
    )
    claims: dict[Title, Claim] = {**state.claims, title: Claim(seat=seat, round=state.round)}
    return replace(
        state, players=players, white=tuple(sorted((*state.white, *hexes))), claims=dict(sorted(claims.items()))
    )


def _given_back(player: Player, hexes: tuple[int, ...]) -> Player:
    if not any(player.strengths[number - 1] for number in hexes):
        return player
    strengths, spent = list(player.strengths), list(player.spent)
    back = sum(spent[number - 1] for number in hexes)
    for number in hexes:
        strengths[number - 1] = spent[number - 1] = 0
    return replace(player, mp=player.mp + back, strengths=tuple(strengths), spent=tuple(spent))
