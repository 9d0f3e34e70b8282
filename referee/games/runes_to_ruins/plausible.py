"""Random, mostly legal actions for conformance tests, golden matches and benchmarks.

They use the secrets of the host, so that guesses are near and seats are discovered.
"""

from bisect import insort
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Any, cast

from protocol.games.runes_to_ruins import Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES, RuneName
from referee.games.runes_to_ruins.conditions import CONDITIONS
from referee.games.runes_to_ruins.state import OTHER_KEYS, OTHERS, RunesState, artefacts
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.games.runes_to_ruins.visions import COST, KINDS
from referee.rules import below, choice, sample, shuffle

POPULAR = draw_symbol(Random("popular"))
"""A symbol that is submitted often, so that symbols clash."""
OFTEN, HALF, SELDOM = 3 / 4, 1 / 2, 1 / 8
MOST_LEARNED = 6
GROUPS = (*DIVINE, *MUNDANE)
CONDITION_KEYS = tuple(map(str, CONDITIONS))
NUMBER: dict[str, int] = {name: number for number, name in enumerate(NAMES)}
Json = dict[str, Any]


def plausible(state: RunesState, seat: int, rng: Random) -> Json:
    """Return a submission to the open window, as plain JSON values."""
    draw = rng.random
    if state.round == 1:
        return {"symbol": POPULAR if draw() < SELDOM else draw_symbol(rng)}
    action: Json = {}
    purse = state.standings[seat].insight
    if draw() < SELDOM:
        action["abstain"] = True
    elif draw() < OFTEN:
        action["votes"] = {choice(rng, CONDITION_KEYS): 1}
        if purse and draw() < SELDOM:
            action["more_votes"] = True
            purse -= 1
    if purse and draw() < SELDOM:
        action["told"] = True
        purse -= 1
    action["visions"], purse = _visions(state, seat, purse, rng)
    action["learned"] = [
        choice(rng, _LEARNED)(seat, rng) for _ in range(below(rng, min(2 * state.round, MOST_LEARNED)))
    ]
    action["guesses"] = _guesses(state, seat, purse, rng)
    if has := artefacts(state, seat):
        if "light" in has and draw() < HALF:
            action["light"] = True
        if "dark" in has and draw() < HALF:
            action["dark"] = choice(rng, (seat, *OTHERS[seat]))
    return action


def _visions(state: RunesState, seat: int, purse: int, rng: Random) -> tuple[Json, int]:
    """Return some visions and the insight that remains."""
    visions: Json = {}
    for kind in sample(rng, KINDS, choice(rng, (0, 1, 1, 2, 3))):
        price = state.standings[seat].veils + 1 if kind == "veil" else COST.get(kind, 0)
        if price <= purse:
            purse -= price
            visions[kind] = _VISIONS[kind](state, seat, rng)
    return visions, purse


def _guesses(state: RunesState, seat: int, purse: int, rng: Random) -> list[list[RuneName]]:
    guesses: list[list[RuneName]] = []
    price = 0
    while price <= purse and rng.random() < HALF:
        purse -= price
        price = state.standings[seat].bought + len(guesses) + 1
        symbol = cast("Six", state.standings[choice(rng, OTHERS[seat])].symbol)
        guess, unused = [*symbol], [*_unused(symbol)]
        for position in sample(rng, range(6), choice(rng, (0, 1, 2, 4))):
            number = unused.pop(below(rng, len(unused)))
            insort(unused, NUMBER[guess[position]])
            guess[position] = NAMES[number]
        if rng.random() < HALF:
            shuffle(rng, guess)
        guesses.append(guess)
    return guesses


@lru_cache(maxsize=64)
def _unused(symbol: Six) -> tuple[int, ...]:
    """Return the numbers of the runes that are not in the symbol, ascending."""
    return tuple(number for number, rune in enumerate(NAMES) if rune not in symbol)


_VISIONS: dict[str, Callable[[RunesState, int, Random], Any]] = {
    "assign": lambda _, seat, rng: dict(zip(OTHER_KEYS[seat], sample(rng, NAMES, 4), strict=True)),
    "divine": lambda _, __, rng: choice(rng, DIVINE),
    "mundane": lambda _, __, rng: choice(rng, MUNDANE),
    "veil": lambda _, __, ___: True,
    "pattern": lambda _, seat, rng: {
        "groups": rng.choices(GROUPS, k=6),
        "seats": sample(rng, OTHERS[seat], 1 + below(rng, 4)),
    },
    "place": lambda _, __, rng: {"order": choice(rng, ("divine", "mundane")), "position": below(rng, 6)},
    "except": lambda _, seat, rng: {
        "seat": choice(rng, OTHERS[seat]),
        "runes": sample(rng, NAMES, below(rng, 6)),
    },
    "mirror": lambda state, seat, rng: {
        "rune": choice(rng, cast("Six", state.standings[seat].symbol)),
        "seat": choice(rng, OTHERS[seat]),
    },
    "window": lambda _, seat, rng: {"position": below(rng, 6), "seat": choice(rng, OTHERS[seat])},
}
_LEARNED: tuple[Callable[[int, Random], Json], ...] = (
    lambda _, rng: {"rune": choice(rng, NAMES)},
    lambda seat, rng: {
        "count": {"seat": choice(rng, OTHERS[seat]), "group": choice(rng, GROUPS), "number": below(rng, 7)}
    },
    lambda seat, rng: {"has": {"seat": choice(rng, OTHERS[seat]), "rune": choice(rng, NAMES)}},
    lambda _, rng: {
        "line": {
            "rune": choice(rng, NAMES),
            **choice(rng, ({"row": below(rng, 2)}, {"column": below(rng, 3)})),
        }
    },
    lambda seat, rng: {"shared": sample(rng, OTHERS[seat], 2)},
    lambda _, rng: {"most": sample(rng, NAMES, 1 + below(rng, 6))},
)
"""Generators of learned insights, one per kind."""
