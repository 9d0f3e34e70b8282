"""The rules of Mist against a second, naive implementation of the same page, over random matches."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.games.mist import Mist
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.long import cases
from tests.referee.games.mist.naive import CELLS, NEAR, NaiveMist, view
from tests.referee.games.playing import plain, same

VARIANTS = ("contractual-obligation", "heaven-and-hell")
ODD_CELLS = ["A6", "E0", "J1", "A10", "", "a1 ", "\u0131 1", "\u01311", "E\u0665", "5E", "e5", "E5", "AA", "\x00"]
ODD_ACTIONS: list[Any] = [
    {},
    [],
    "C3",
    7,
    True,
    {"cells": None},
    {"cells": "C3"},
    {"cells": ["C3"], "swap": True},
    {"cells": [], "swap": True},
    {"cells": ["C3"], "swap": False},
    {"cells": ["C3"], "swap": None},
    {"cells": ["C3"], "pass": False},
    {"cells": [3]},
    {"cells": [["C3"]]},
    {"swap": False},
    {"swap": 1},
    {"swap": "true"},
    {"first": 1},
    {"first": True},
    {"first": 1.0},
    {"first": 2},
    {"first": -1},
    {"first": None},
    {"first": 0, "swap": False},
]


def placement(rng: Random, pool: list[str], most: int) -> dict[str, Any]:
    """Cells that are mostly legal to name, in any order and case."""
    cells: list[str] = []
    for _ in range(rng.randint(1, most)):
        free = [cell for cell in pool if all(cell != other and cell not in NEAR[other] for other in cells)]
        if free:
            cells.append(rng.choice(free))
    if rng.random() < 0.03:
        cells.append(rng.choice(ODD_CELLS + CELLS))
    return {"cells": [rng.choice((cell, cell.lower())) for cell in cells]}


def submissions(rng: Random, naive: NaiveMist) -> Iterator[Any]:
    """Draw what the mover of each turn submits, in one of several tempers."""
    temper = rng.choice(("anywhere", "empty cells", "empty cells, one by one", "near the last", "one corner"))
    odd = rng.choice((0, 0, 0.05, 0.4))
    corner = rng.sample(CELLS, 12)
    while True:
        pool = CELLS
        if temper.startswith("empty"):
            pool = sorted(naive.empty()) or CELLS
        elif temper == "one corner":
            pool = corner if rng.random() < 0.9 else CELLS
        elif temper == "near the last":
            pool = [cell for last in naive.last for near in last for cell in sorted(NEAR[near])] or CELLS
        if rng.random() < odd:
            yield rng.choice(ODD_ACTIONS)
        elif naive.turns == 1 and rng.random() < 0.5:
            yield {"swap": True}
        elif rng.random() < 0.05:
            yield {"cells": []}
        elif rng.random() < 0.03:
            yield None
        else:
            yield placement(rng, pool, 1 if temper.endswith("one by one") else rng.choice((1, 2, 3, 3)))


def compare(variant: str, seed: int) -> str:
    """Plays one random match in both; every event, view, window, rejection and outcome must be the same."""
    rng = Random(f"{variant}/{seed}")
    options: dict[str, Any] = {"advantage": rng.choice((0, 1)), "first": rng.choice((0, 1, "choose"))}
    if rng.random() < 0.3:
        options["max_turns"] = rng.randint(1, 40)
    table = Table(Mist(), Deal(variant, seed, Raw(encode(options))))
    naive = NaiveMist(variant, options)
    told: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    submitting = submissions(rng, naive)
    while (due := naive.window()) is not None:
        name, mover = due
        assert table.window is not None
        assert (name, [mover]) == (table.window.name, [owed.seat for owed in table.window.owed])
        same(naive.default(), plain(table.default(mover)))
        for eyes in (0, 1):
            same(sorted(view(variant, options, eyes, told[eyes]).items()), shown_to(table, eyes))
        submitted = next(submitting)
        action = naive.legal(submitted)
        said = naive.play(action or naive.default())
        for audience, event in said:
            for hearer in (0, 1) if audience is None else (audience,):
                told[hearer].append(event)
        same(said, [[one.seat, plain(one.event)] for one in submit(table, mover, submitted, action)])
    same(naive.outcome(), plain(table.outcome))
    for eyes in (0, 1):
        same(sorted(view(variant, options, eyes, told[eyes]).items()), shown_to(table, eyes))
    return naive.reason or "not over"


def shown_to(table: Table, seat: int | None) -> Any:
    return sorted(plain(table.game.view(table.state, seat)).items())


def submit(table: Table, seat: int, submitted: Any, expected: dict[str, Any] | None) -> Any:
    """Close the window with what was submitted, or with the default where that is rejected."""
    taken: list[ResolvedAction | None] = [None, None]
    taken[seat] = ResolvedAction(table.default(seat), by_default=True)
    if submitted is not None:
        raw = json.dumps(submitted).encode()
        try:
            taken[seat] = ResolvedAction(table.read(seat, raw))
        except Illegal:
            assert expected is None, submitted
        else:
            same(expected, plain(taken[seat].action))  # type: ignore[union-attr]
    return table.close(tuple(taken))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(cases(4, 12)))
def test_a_second_implementation_of_the_page_tells_and_shows_the_same(variant: str, seed: int) -> None:
    compare(variant, seed)


@pytest.mark.parametrize(
    ("variant", "seed", "reason"),
    [
        ("contractual-obligation", 1000, "decided"),
        ("contractual-obligation", 1001, "turn_limit"),
        ("contractual-obligation", 1006, "full"),
    ],
)
def test_and_finds_the_same_reasons_for_the_end(variant: str, seed: int, reason: str) -> None:
    assert reason == compare(variant, seed)
