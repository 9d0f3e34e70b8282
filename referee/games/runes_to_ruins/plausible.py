"""Random actions that are mostly legal, for playing without players: in conformance, golden matches, benchmarks.

They look at the host's secrets, so that guesses come near and seats are discovered.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from protocol.games.runes import DIVINE, MUNDANE, NAMES
from referee.games.runes_to_ruins.conditions import CONDITIONS
from referee.games.runes_to_ruins.learned import KINDS as LEARNED_KINDS
from referee.games.runes_to_ruins.state import OTHERS, RunesState, artefacts
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.games.runes_to_ruins.visions import COST, KINDS

POPULAR = draw_symbol(Random("popular"))
"""A symbol that is submitted often, so that symbols clash."""
OFTEN, HALF, SELDOM = 3 / 4, 1 / 2, 1 / 8
MOST_LEARNED = 6
Json = dict[str, Any]


def plausible(state: RunesState, seat: int, luck: Random) -> Json:
    """A submission to the open window, as plain JSON values."""
    if state.round == 1:
        return {"symbol": POPULAR if luck.random() < SELDOM else draw_symbol(luck)}
    action: Json = {}
    purse = state.standings[seat].insight
    if luck.random() < SELDOM:
        action["abstain"] = True
    elif luck.random() < OFTEN:
        action["votes"] = {str(luck.choice(CONDITIONS)): 1}
        if purse and luck.random() < SELDOM:
            action["more_votes"] = True
            purse -= 1
    if purse and luck.random() < SELDOM:
        action["told"] = True
        purse -= 1
    action["visions"], purse = _visions(state, seat, purse, luck)
    action["learned"] = [
        _LEARNED[luck.choice(LEARNED_KINDS)](seat, luck)
        for _ in range(luck.randrange(min(2 * state.round, MOST_LEARNED)))
    ]
    action["guesses"] = _guesses(state, seat, purse, luck)
    has = artefacts(state, seat)
    if "light" in has and luck.random() < HALF:
        action["light"] = True
    if "dark" in has and luck.random() < HALF:
        action["dark"] = luck.choice((seat, *OTHERS[seat]))
    return action


def _visions(state: RunesState, seat: int, purse: int, luck: Random) -> tuple[Json, int]:
    """Some visions, and what is left of the purse."""
    visions: Json = {}
    for kind in luck.sample(KINDS, luck.choice((0, 1, 1, 2, 3))):
        price = state.standings[seat].veils + 1 if kind == "veil" else COST.get(kind, 0)
        if price <= purse:
            purse -= price
            visions[kind] = _VISIONS[kind](state, seat, luck)
    return visions, purse


def _guesses(state: RunesState, seat: int, purse: int, luck: Random) -> list[list[str]]:
    guesses: list[list[str]] = []
    price = 0
    while price <= purse and luck.random() < HALF:
        purse -= price
        price = state.standings[seat].bought + max(1, len(guesses) + 1)
        guess: list[str] = list(state.symbols[luck.choice(OTHERS[seat])])
        for position in luck.sample(range(6), luck.choice((0, 1, 2, 4))):
            guess[position] = luck.choice([rune for rune in NAMES if rune not in guess])
        if luck.random() < HALF:
            luck.shuffle(guess)
        guesses.append(guess)
    return guesses


_VISIONS: dict[str, Callable[[RunesState, int, Random], Any]] = {
    "assign": lambda _, seat, luck: dict(zip(map(str, OTHERS[seat]), luck.sample(NAMES, 4), strict=True)),
    "divine": lambda _, __, luck: luck.choice(DIVINE),
    "mundane": lambda _, __, luck: luck.choice(MUNDANE),
    "veil": lambda _, __, ___: True,
    "pattern": lambda _, seat, luck: {
        "groups": luck.choices((*DIVINE, *MUNDANE), k=6),
        "seats": luck.sample(OTHERS[seat], luck.randint(1, 4)),
    },
    "place": lambda _, __, luck: {"order": luck.choice(("divine", "mundane")), "position": luck.randrange(6)},
    "except": lambda _, seat, luck: {
        "seat": luck.choice(OTHERS[seat]),
        "runes": luck.sample(NAMES, luck.randint(0, 5)),
    },
    "mirror": lambda state, seat, luck: {
        "rune": luck.choice(state.symbols[seat]),
        "seat": luck.choice(OTHERS[seat]),
    },
    "window": lambda _, seat, luck: {"position": luck.randrange(6), "seat": luck.choice(OTHERS[seat])},
}
_LEARNED: dict[str, Callable[[int, Random], Json]] = {
    "rune": lambda _, luck: {"rune": luck.choice(NAMES)},
    "count": lambda seat, luck: {
        "count": {
            "seat": luck.choice(OTHERS[seat]),
            "group": luck.choice((*DIVINE, *MUNDANE)),
            "number": luck.randint(0, 6),
        }
    },
    "has": lambda seat, luck: {"has": {"seat": luck.choice(OTHERS[seat]), "rune": luck.choice(NAMES)}},
    "line": lambda _, luck: {
        "line": {
            "rune": luck.choice(NAMES),
            **luck.choice(({"row": luck.randrange(2)}, {"column": luck.randrange(3)})),
        }
    },
    "shared": lambda seat, luck: {"shared": luck.sample(OTHERS[seat], 2)},
    "most": lambda _, luck: {"most": luck.sample(NAMES, luck.randint(1, 6))},
}
