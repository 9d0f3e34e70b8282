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


def plausible(state: RunesState, seat: int, luck: Random) -> Json:
    """Return a submission to the open window, as plain JSON values."""
    draw = luck.random
    if state.round == 1:
        return {"symbol": POPULAR if draw() < SELDOM else draw_symbol(luck)}
    action: Json = {}
    purse = state.standings[seat].insight
    if draw() < SELDOM:
        action["abstain"] = True
    elif draw() < OFTEN:
        action["votes"] = {choice(luck, CONDITION_KEYS): 1}
        if purse and draw() < SELDOM:
            action["more_votes"] = True
            purse -= 1
    if purse and draw() < SELDOM:
        action["told"] = True
        purse -= 1
    action["visions"], purse = _visions(state, seat, purse, luck)
    action["learned"] = [
        choice(luck, _LEARNED)(seat, luck) for _ in range(below(luck, min(2 * state.round, MOST_LEARNED)))
    ]
    action["guesses"] = _guesses(state, seat, purse, luck)
    if has := artefacts(state, seat):
        if "light" in has and draw() < HALF:
            action["light"] = True
        if "dark" in has and draw() < HALF:
            action["dark"] = choice(luck, (seat, *OTHERS[seat]))
    return action


def _visions(state: RunesState, seat: int, purse: int, luck: Random) -> tuple[Json, int]:
    """Return some visions and the insight that remains."""
    visions: Json = {}
    for kind in sample(luck, KINDS, choice(luck, (0, 1, 1, 2, 3))):
        price = state.standings[seat].veils + 1 if kind == "veil" else COST.get(kind, 0)
        if price <= purse:
            purse -= price
            visions[kind] = _VISIONS[kind](state, seat, luck)
    return visions, purse


def _guesses(state: RunesState, seat: int, purse: int, luck: Random) -> list[list[RuneName]]:
    guesses: list[list[RuneName]] = []
    price = 0
    while price <= purse and luck.random() < HALF:
        purse -= price
        price = state.standings[seat].bought + len(guesses) + 1
        symbol = cast("Six", state.standings[choice(luck, OTHERS[seat])].symbol)
        guess, unused = [*symbol], [*_unused(symbol)]
        for position in sample(luck, range(6), choice(luck, (0, 1, 2, 4))):
            number = unused.pop(below(luck, len(unused)))
            insort(unused, NUMBER[guess[position]])
            guess[position] = NAMES[number]
        if luck.random() < HALF:
            shuffle(luck, guess)
        guesses.append(guess)
    return guesses


@lru_cache(maxsize=64)
def _unused(symbol: Six) -> tuple[int, ...]:
    """Return the numbers of the runes that are not in the symbol, ascending."""
    return tuple(number for number, rune in enumerate(NAMES) if rune not in symbol)


_VISIONS: dict[str, Callable[[RunesState, int, Random], Any]] = {
    "assign": lambda _, seat, luck: dict(zip(OTHER_KEYS[seat], sample(luck, NAMES, 4), strict=True)),
    "divine": lambda _, __, luck: choice(luck, DIVINE),
    "mundane": lambda _, __, luck: choice(luck, MUNDANE),
    "veil": lambda _, __, ___: True,
    "pattern": lambda _, seat, luck: {
        "groups": luck.choices(GROUPS, k=6),
        "seats": sample(luck, OTHERS[seat], 1 + below(luck, 4)),
    },
    "place": lambda _, __, luck: {"order": choice(luck, ("divine", "mundane")), "position": below(luck, 6)},
    "except": lambda _, seat, luck: {
        "seat": choice(luck, OTHERS[seat]),
        "runes": sample(luck, NAMES, below(luck, 6)),
    },
    "mirror": lambda state, seat, luck: {
        "rune": choice(luck, cast("Six", state.standings[seat].symbol)),
        "seat": choice(luck, OTHERS[seat]),
    },
    "window": lambda _, seat, luck: {"position": below(luck, 6), "seat": choice(luck, OTHERS[seat])},
}
_LEARNED: tuple[Callable[[int, Random], Json], ...] = (
    lambda _, luck: {"rune": choice(luck, NAMES)},
    lambda seat, luck: {
        "count": {"seat": choice(luck, OTHERS[seat]), "group": choice(luck, GROUPS), "number": below(luck, 7)}
    },
    lambda seat, luck: {"has": {"seat": choice(luck, OTHERS[seat]), "rune": choice(luck, NAMES)}},
    lambda _, luck: {
        "line": {
            "rune": choice(luck, NAMES),
            **choice(luck, ({"row": below(luck, 2)}, {"column": below(luck, 3)})),
        }
    },
    lambda seat, luck: {"shared": sample(luck, OTHERS[seat], 2)},
    lambda _, luck: {"most": sample(luck, NAMES, 1 + below(luck, 6))},
)
"""Generators of learned insights, one per kind."""
