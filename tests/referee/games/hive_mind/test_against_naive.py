"""The rules of Hive Mind against a second, naive implementation of the same page, over random matches."""

import json
from random import Random
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.hive_mind.board import SHAPES
from referee.games.hive_mind import HiveMind
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.long import cases
from tests.referee.games.hive_mind.naive import SHAPES as NAIVE_SHAPES
from tests.referee.games.hive_mind.naive import NaiveHiveMind, view
from tests.referee.games.hive_mind.random_actions import VARIANTS, Crowd, garnets, setup
from tests.referee.games.playing import plain, same

GAME = HiveMind()
SEEDS = range(cases(20, 40))
ODD_ACTIONS: list[Any] = [
    {},
    [],
    7,
    True,
    "ADE",
    {"place": None},
    {"place": []},
    {"place": {}},
    {"place": {"1": None}},
    {"place": {"1": ""}},
    {"place": {"1": "ADEH"}},
    {"place": {"1": "AAD"}},
    {"place": {"1": "ACE"}},
    {"place": {"1": "AD\u0131"}},
    {"place": {"1": ["A", "D", "E"]}},
    {"place": {"charge": "ADE"}},
    {"double": "1"},
    {"double": {}},
    {"double": ["1", "1"]},
    {"double": ["Zero", "Zero"]},
    {"block": [1]},
    {"double": ["Zero", "Charge"]},
    {"block": ["3", "2", "1"]},
    {"double": ["1", "2", "3"]},
    {"guess": {"1": "11233211221"}},
    {"guess": {"1": "1123321122133"}},
    {"guess": {"1": "11233211221\u0663"}},
    {"guess": {"1": "112332112214"}},
    {"guess": {"1": 112332112213}},
    {"guess": {"Zero": "111111111111"}},
    {"place": {}, "double": [], "block": [], "guess": {}},
    {"place": {}, "pass": False},
    {"scores": {}},
    {"scores": None},
    {"scores": {"0": 3, "1": 4, "2": 5, "3": 6, "4": 7}},
    {"scores": {"5": 3}},
    {"scores": {"00": 3}},
    {"scores": {"4": True}},
    {"scores": {"4": 1.0}},
    {"scores": {"4": "1"}},
    {"scores": {"4": None}},
    {"scores": {"4": -(10**30), "3": 10**30}},
    {"scores": {}, "seat": 1},
    {"seat": None},
    {"seat": 5},
    {"seat": -1},
    {"seat": True},
    {"seat": 1.0},
    {"seat": "1"},
]


def test_the_55_shapes_are_the_same_in_both() -> None:
    assert {cells: (shape.kind, shape.looks) for cells, shape in SHAPES.items()} == NAIVE_SHAPES


class Comparison:
    """One match in both implementations; every event, view, window, rejection and outcome must be the same."""

    def __init__(self, variant: str, seed: int) -> None:
        self.rng = Random(f"{variant}/{seed}")
        self.crowd = Crowd(self.rng)
        given, hives = garnets(self.rng), setup(variant, self.rng)
        options = {} if given is None else {"garnets": given}
        deal = Deal(variant, seed, Raw(encode(options)), Raw(encode({"hives": hives})))
        self.table = Table(GAME, deal)
        self.naive = NaiveHiveMind(variant, given, hives)
        self.told: dict[int | None, list[Any]] = {seat: [] for seat in (0, 1, 2, 3, 4, None)}
        self.submitted: dict[int | None, list[Any]] = {seat: [] for seat in (0, 1, 2, 3, 4, None)}

    def play(self) -> NaiveHiveMind:
        while self.naive.window() is not None:
            self.compare_views()
            self.close()
        self.compare_views()
        assert self.table.window is None
        same(self.naive.outcome(), plain(self.table.outcome))
        return self.naive

    def compare_views(self) -> None:
        for seat in (0, 1, 2, 3, 4, None):
            expected = view(self.naive, seat, self.told[seat], self.submitted[seat])
            same(expected, plain(GAME.view(self.table.state, seat)))

    def close(self) -> None:
        window = self.naive.window()
        assert window
        assert self.table.window
        assert window == (self.table.window.name, [owed.seat for owed in self.table.window.owed])
        taken: list[ResolvedAction | None] = [None] * 5
        for seat in window[1]:
            taken[seat] = self.submit(seat)
        actions = {seat: plain(part.action) for seat, part in enumerate(taken) if part}
        told = self.table.close(tuple(taken))
        end = self.table.outcome
        drawn = -1 if end is None or end.eliminated is None else end.eliminated
        said = self.naive.play(actions, drawn)
        same(said, [[one.seat, plain(one.event)] for one in told])
        for seat, action in actions.items():
            self.submitted[seat].append(action)
        for to, event in said:
            for hearer in self.told if to is None else (to,):
                self.told[hearer].append(event)

    def submit(self, seat: int) -> ResolvedAction:
        """Both read what the seat submits, and agree whether it is legal, and how it is spelled."""
        odd = self.rng.random() < 0.05
        submitted = self.rng.choice(ODD_ACTIONS) if odd else self.crowd.submission(self.naive, seat)
        if submitted is not None:
            expected = self.naive.legal(seat, submitted)
            try:
                action = self.table.read(seat, json.dumps(submitted).encode())
            except Illegal:
                assert expected is None, submitted
            else:
                same(expected, plain(action))
                return ResolvedAction(action)
        default = self.table.default(seat)
        if self.table.window and self.table.window.name == "break_tie":
            assert plain(default)["seat"] in self.naive.candidates()
        else:
            same(self.naive.default(), plain(default))
        return ResolvedAction(default, by_default=True)


def met(match: NaiveHiveMind) -> set[str]:
    """Name what a finished match has put to the test."""
    points = [match.points(seat) for seat in range(5)]
    facts = {kind: any(each[kind] for each in points) for kind in points[0]}
    candidates, winners = match.candidates(), match.ranking()[0]
    return {
        *(kind for kind, found in facts.items() if found),
        f"{sum(match.tokens().values())} tokens",
        "several winners" if len(winners) > 1 else "one winner",
        "somebody goes" if len(candidates) == 1 else "drawn" if len(winners) > 1 else "winner decides",
        "token given" if match.token_to is not None else "no token given",
        "some can pay" if any(match.left(seat) < match.garnets[seat] for seat in range(5)) else "nobody pays",
    }


MET = {
    "recharged": {"0 tokens", "2 tokens"},
    "tempo-up": {"0 tokens", "1 tokens", "2 tokens", "token given", "some can pay"},
    "gauntlet": {"0 tokens", "1 tokens", "2 tokens", "score_guesses", "some can pay"},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_second_implementation_of_the_page_tells_and_shows_the_same(variant: str) -> None:
    found = set().union(*(met(Comparison(variant, seed).play()) for seed in SEEDS))
    everywhere = {"hexes", "threes", "twos", "guesses", "blocks", "one winner", "several winners"}
    assert found >= everywhere | {"somebody goes", "drawn", "winner decides"} | MET[variant]
