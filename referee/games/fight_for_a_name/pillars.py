"""Pillars of identity: validation of visitors' questions, and the answers to them (R3)."""

from collections.abc import Mapping
from functools import cache
from random import Random

from msgspec.structs import replace

from protocol.games.fight_for_a_name import Ask, Banner, Colour, PillarAnswer, Title
from protocol.games.fight_for_a_name.board import COLOURS
from referee.games.fight_for_a_name.state import FightState, Player
from referee.rules import Illegal, choice, sample


def checked_ask(player: Player, ask: Ask) -> Ask:
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
