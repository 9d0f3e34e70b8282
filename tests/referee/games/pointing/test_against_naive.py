"""The rules of Pointing against a second, naive implementation of the same page, over random matches."""

import json
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.pointing.map import anonymous, connect, points
from referee.games.pointing.game import Pointing
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.playing import plain, same
from tests.referee.games.pointing.naive import NaivePointing, NaiveRound, view

SEEDS = range(50)
ODD_ACTIONS: list[Any] = [
    {},
    [],
    3,
    "3",
    {"target": "3"},
    {"target": 1.0},
    {"target": True},
    {"target": 99},
    {"target": -1},
    {"target": 1, "seat": 1},
    {"seat": 1},
    {"seat": None},
    {"target": None},
    {"target": [1]},
]
TEMPERS = ("anywhere", "shy", "nobody", "one after another", "at few", "in loops", "as before", "one crowd")


def pointers(rng: Random, seats: int, temper: str, before: dict[int, Any]) -> dict[int, Any]:
    """Where everyone points in one round, by one of several tempers."""
    everyone = list(range(seats))
    mixed = rng.sample(everyone, seats)
    few = rng.sample(everyone, min(3, seats))
    targets: dict[int, int | None] = {}
    for place, seat in enumerate(mixed):
        ahead = mixed[place - 1] if place else None
        match temper:
            case "anywhere":
                targets[seat] = rng.choice(everyone)
            case "shy":
                targets[seat] = rng.choice([None, rng.choice(everyone)])
            case "nobody":
                targets[seat] = None if rng.random() < 0.95 else rng.choice(everyone)
            case "one after another":
                targets[seat] = ahead if rng.random() < 0.9 else None
            case "at few":
                targets[seat] = rng.choice([*few, None])
            case "in loops":
                # Rings of two to four in the mixed order; some seats point into them instead.
                ring = 2 + seats % 3
                ahead = mixed[place - 1] if place % ring else mixed[min(place + ring, seats) - 1]
                targets[seat] = ahead if rng.random() < 0.8 else rng.choice(mixed)
            case "one crowd":
                targets[seat] = mixed[rng.randrange(place)] if place else None
            case _:
                targets[seat] = before.get(seat) if rng.random() < 0.97 else rng.choice(everyone)
    return targets


class Comparison:
    """One random match in both; every event, view, window, rejection and outcome must be the same."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.seats = self.rng.choice([3, 4, 5, 6, 8, 9, 10, 13, 13, 13, 17, 26])
        options = {"seats": self.seats}
        if self.rng.random() < 0.5:
            options["token_threshold"] = self.rng.choice([0, 1, 2, 3, 5, 30])
        self.table = Table(Pointing(), Deal("tempo-up", seed, Raw(encode(options))))
        self.naive = NaivePointing(**options)
        self.temper = self.rng.choice(TEMPERS)
        self.odd = self.rng.choice([0, 0, 0.1])
        self.told: list[dict[str, Any]] = []
        self.did: list[list[Any]] = [[] for _ in range(self.seats)]
        self.before: dict[int, Any] = {}

    def play(self) -> None:
        while (due := self.naive.window()) is not None:
            name, owing = due
            assert self.table.window is not None
            assert (name, owing) == (self.table.window.name, [owed.seat for owed in self.table.owed])
            for seat in owing:
                self.did[seat].append(None)
            self.compare_views()
            self.close(name, owing)
        self.compare_views()
        outcome = plain(self.table.outcome)
        assert outcome["eliminated"] in self.naive.may_go()
        same(self.naive.outcome(outcome["eliminated"]), outcome)

    def compare_views(self) -> None:
        for seat in range(self.seats):
            same(view(self.seats, seat, self.told, self.did[seat]), self.shown(seat))
        same(view(self.seats, None, self.told, []), self.shown(None))

    def shown(self, seat: int | None) -> Any:
        return plain(self.table.game.view(self.table.state, seat))

    def close(self, name: str, owing: list[int]) -> None:
        """Close the window in both with what is submitted, and the default where that is rejected."""
        submitted = self.submissions(name, owing)
        taken: list[ResolvedAction | None] = [None] * self.seats
        actions: dict[int, Any] = {}
        for seat in range(self.seats):
            legal = self.naive.legal(seat, submitted.get(seat))
            default = {"target": None} if name == "point" else {"seat": None}
            try:
                taken[seat] = ResolvedAction(self.table.read(seat, json.dumps(submitted.get(seat)).encode()))
                assert legal, submitted[seat]
            except Illegal:
                assert not legal, submitted[seat]
                if seat in owing:
                    taken[seat] = ResolvedAction(self.table.default(seat), by_default=True)
            if seat in owing:
                actions[seat] = self.did[seat][-1] = submitted[seat] if legal else default
                same(actions[seat], plain(taken[seat].action))  # type: ignore[union-attr]
        said = self.naive.play(actions)
        self.told += said
        heard = self.table.close(tuple(taken))
        assert {None} == {each.seat for each in heard}
        same(said, [plain(each.event) for each in heard])

    def submissions(self, name: str, owing: list[int]) -> dict[int, Any]:
        actions: dict[int, Any]
        if name == "point":
            temper = self.temper if self.rng.random() < 0.7 else self.rng.choice(TEMPERS)
            self.before = pointers(self.rng, self.seats, temper, self.before)
            actions = {seat: {"target": target} for seat, target in self.before.items()}
        else:
            named = [*self.naive.last(), *self.naive.last(), None, self.rng.randrange(self.seats)]
            actions = {seat: {"seat": self.rng.choice(named)} for seat in owing}
            actions[self.rng.randrange(self.seats)] = {"seat": self.rng.choice(self.naive.last())}
        for seat in actions:
            if self.rng.random() < self.odd:
                actions[seat] = self.rng.choice(ODD_ACTIONS)
        return actions


@cache
def compared(seed: int) -> Comparison:
    comparison = Comparison(seed)
    comparison.play()
    return comparison


@pytest.mark.parametrize("seed", range(8))
def test_a_second_implementation_of_the_page_tells_and_shows_the_same(seed: int) -> None:
    compared(seed)


@pytest.mark.slow
def test_these_matches_have_all_that_the_page_speaks_of() -> None:
    """Loops, nodes and chains that were cut, crowds, votes, ties of all, and points for all three rounds."""
    seen = dict.fromkeys(("loop", "cut node", "cut chain", "crowd", "vote", "no vote", "all tied", "drawn"), 0)
    always = 0
    for comparison in map(compared, SEEDS):
        naive = comparison.naive
        parts = [part for event in comparison.told if event["type"] == "map" for part in event["sections"]]
        seen["loop"] += any(part["kind"] == "loop" and any(part["shape"]) for part in parts)
        seen["cut node"] += any(part["kind"] == "node" and part["cut"] for part in parts)
        seen["cut chain"] += any(part["kind"] == "chain" and part["cut"] for part in parts)
        seen["crowd"] += any(part["size"] >= 9 for part in parts)
        seen["vote"] += naive.votes is not None
        seen["no vote"] += naive.votes is None
        seen["all tied"] += len(naive.winners()) == comparison.seats
        seen["drawn"] += len(naive.may_go()) > 1
        always += any(all(seat in each.starts() for each in naive.rounds) for seat in naive.seats)
    assert all(count >= 3 for count in (*seen.values(), always)), seen


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_every_possible_round_gives_the_same_map_and_points(seats: int) -> None:
    everyone = range(seats)
    for pointed in product(*[[None, *(other for other in everyone if other != seat)] for seat in everyone]):
        naive, connections = NaiveRound(dict(enumerate(pointed))), connect(pointed)
        same(naive.map(), plain(anonymous(connections)))
        for been_node in (frozenset(), frozenset({0, 2})):
            expected = tuple(naive.points(seat, was_node=seat in been_node) for seat in everyone)
            assert expected == points(connections, been_node)
        assert naive.starts() == connections.starts()
        assert naive.ends() == connections.ends()
        assert naive.nodes() == connections.nodes()
