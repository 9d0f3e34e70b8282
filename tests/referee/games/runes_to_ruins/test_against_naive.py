"""The rules of Runes to Ruins against a second, naive implementation of the same page, over random matches."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.runes_to_ruins.runes import NAMES
from referee.games.runes_to_ruins import RunesToRuins
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.long import cases
from tests.referee.games.playing import plain
from tests.referee.games.runes_to_ruins.naive import NaiveRunes, may_be
from tests.referee.games.runes_to_ruins.naive_actions import DIVINE, FIVE, MUNDANE, VISIONS, legal

Json = dict[str, Any]
GAME = RunesToRuins()
ODD: list[Any] = [None, True, False, 0, 1, -1, 2.0, 7, "", "0", "Box", "Cross Box", [], {}, [0], [0, 0], {"a": 1}]
KEYS = ["votes", "more_votes", "told", "abstain", "visions", "learned", "guesses", "light", "dark", "pass"]


def random_options(rng: Random) -> Json:
    options: Json = {}
    if rng.random() < 0.7:
        options["rounds"] = rng.choice((2, 3, 5, 8, 16, 20))
    if rng.random() < 0.7:
        seats = rng.sample(FIVE, rng.randint(1, 5))
        options["artefacts"] = {
            str(seat): rng.sample(("light", "dark"), rng.randint(0, 2)) for seat in sorted(seats)
        }
    return options


def spoiled(rng: Random, action: Json) -> Any:
    """Change something in the action at a random depth; it may or may not be legal still."""
    copy = json.loads(json.dumps(action))
    where, key = copy, rng.choice([*copy, *KEYS])
    while rng.random() < 0.7 and isinstance(where, dict | list) and key in keys(where) and keys(where[key]):
        where = where[key]
        key = rng.choice(keys(where))
    values: list[Any] = [*ODD, rng.randrange(8), rng.choice(NAMES), rng.choice(DIVINE + MUNDANE), where]
    change = rng.randrange(4)
    if isinstance(where, list):
        if change == 0:
            where.append(where[0])
        elif change == 1:
            where.pop()
        else:
            where[key] = json.loads(json.dumps(rng.choice(values)))
    elif change == 0 and key in where:
        del where[key]
    elif change == 1:
        more = rng.choice([*VISIONS, *KEYS, "seat", "rune", "row", "16"])
        where[more] = json.loads(json.dumps(rng.choice(values)))
    else:
        where[key] = json.loads(json.dumps(rng.choice(values)))
    return copy


def keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def submission(rng: Random, table: Table, seat: int, untidy: float) -> Any:
    action = plain(GAME.plausible(table.state, seat, rng))
    for key in ("learned", "guesses"):
        if action.get(key) and rng.random() < untidy / 2:
            action[key] = rng.choices(action[key], k=rng.randint(2, 14))
    return spoiled(rng, action) if rng.random() < untidy else action


def read(table: Table, seat: int, submitted: Any, expected: Json | None) -> ResolvedAction | None:
    """Read a seat's action; both must agree whether it is legal, and how it is spelled."""
    try:
        action = table.read(seat, json.dumps(submitted).encode())
    except Illegal:
        assert expected is None, (seat, submitted)
        return None
    assert expected is not None, (seat, submitted)
    got = plain(action)
    assert expected == got, submitted
    return ResolvedAction(action)


def compare(seed: int) -> Counter[str]:
    """Play one random match in both; compare every event, rejection, view and outcome."""
    rng = Random(f"runes/{seed}")
    options = random_options(rng)
    untidy = rng.choice((0, 0.1, 0.5))
    table = Table(GAME, Deal("guardians", seed, Raw(encode(options))))
    naive = NaiveRunes(options)
    past = Past(options)
    counts: Counter[str] = Counter()
    while table.window is not None:
        assert naive.reason is None
        assert ("symbol" if naive.round == 1 else "round") == table.window.name
        taken: list[ResolvedAction | None] = [None] * 5
        actions: dict[int, Json] = {}
        for seat in FIVE:
            submitted = submission(rng, table, seat, untidy) if rng.random() < 0.95 else None
            expected = legal(naive, seat, submitted) if submitted is not None else None
            part = read(table, seat, submitted, expected) if submitted is not None else None
            counts["rejected"] += part is None and submitted is not None
            taken[seat] = part or ResolvedAction(table.default(seat), by_default=True)
            actions[seat] = plain(taken[seat].action)  # type: ignore[union-attr]
            assert actions[seat] == legal(naive, seat, actions[seat])
        round_ = naive.round
        public, told = naive.play(actions)
        heard = table.close(tuple(taken))
        for observer in (*FIVE, None):
            expected_events = public if observer is None else told[observer]
            got = [plain(one.event) for one in heard if one.seat == observer]
            assert may_be(expected_events, got), (observer, expected_events, got)
            counts.update(event["type"] for event in got)
        past.add(round_, actions, [(one.seat, plain(one.event)) for one in heard])
        for observer in (*FIVE, None):
            assert past.view(naive, observer) == plain(GAME.view(table.state, observer))
    got = plain(table.outcome)
    assert naive.outcome(got["ranking"]) == got
    counts[f"ends by {got['reason']}"] += 1
    return counts


class Past:
    """What each observer did and was told; its view is made of that, and of nothing else of the match."""

    def __init__(self, options: Json) -> None:
        self.rounds = options.get("rounds", 30)
        self.artefacts = options.get("artefacts", {})
        self.submitted: dict[int | None, list[Any]] = {seat: [] for seat in (*FIVE, None)}
        self.played: dict[int | None, list[Json]] = {seat: [] for seat in (*FIVE, None)}
        self.heard: dict[int | None, list[Json]] = {seat: [] for seat in (*FIVE, None)}

    def add(self, round_: int, actions: dict[int, Json], heard: list[tuple[int | None, Json]]) -> None:
        for observer in (*FIVE, None):
            told = [event for seat, event in heard if seat in (None, observer)]
            self.heard[observer] += told
            action = None if observer is None else actions[observer]
            if round_ > 1:
                self.played[observer].append({"round": round_, "action": action, "told": told})
            elif action is not None:
                self.submitted[observer].append(action["symbol"])

    def view(self, naive: NaiveRunes, observer: int | None) -> Json:
        heard, played = self.heard[observer], self.played[observer]
        rounds = [event["round"] for event in heard if event["type"] == "insight"]
        found = {
            str(seat): each["round"]
            for each in played
            for event in each["told"]
            if event["type"] == "discovered"
            for seat in event["seats"]
        }
        over = any(event["type"] == "reveal" for event in heard)
        view: Json = {
            "seat": observer,
            # A spectator is told of round 2 by the window alone.
            "round": rounds[-1] if rounds else 1 if naive.round == 1 else 2,
            "rounds": self.rounds,
            "attempt": 1 + len([event for event in heard if event["type"] == "resubmit"]),
            "submitted": self.submitted[observer],
            "symbol": None,
            "insight": None,
            "mantra": None,
            "artefacts": [],
            "may_abstain": False,
            "may_light": False,
            "may_window": False,
            "veil_cost": None,
            "guess_cost": None,
            "discovered": dict(sorted(found.items())),
            "history": played,
        }
        if observer is None:
            return view
        actions = [each["action"] for each in played]
        last = actions[-1] if actions else {}
        purses = [event for event in heard if event["type"] == "purse"]
        # What a seat earns when it abstains it is told by its purse only, so that is taken from the other match.
        has = self.artefacts.get(str(observer), [])
        used = [action.get("visions", {}) for action in actions]
        return view | {
            "symbol": next((event["symbol"] for event in heard if event["type"] == "symbol_set"), None),
            "insight": purses[-1]["insight"] if over else naive.insight[observer],
            "mantra": purses[-1]["mantra"] if purses else 0,
            "artefacts": has,
            "may_abstain": not last.get("abstain", False),
            "may_light": "light" in has and not last.get("light", False),
            "may_window": str(observer) not in found and not any("window" in visions for visions in used),
            "veil_cost": 1 + len([visions for visions in used if "veil" in visions]),
            "guess_cost": 1 + sum(max(0, len(action.get("guesses", [])) - 1) for action in actions),
        }


@pytest.mark.parametrize("seed", range(cases(4, 10)))
def test_a_second_implementation_of_the_page_tells_and_shows_the_same(seed: int) -> None:
    compare(seed)


@pytest.mark.slow
def test_the_matches_compared_hold_all_that_can_be_told_and_both_ways_to_end() -> None:
    counts = sum((compare(seed) for seed in range(1000, 1030)), Counter[str]())
    events = {str(event.__struct_config__.tag) for event in GAME.events}
    assert events | {"ends by rounds", "ends by discovered", "rejected"} <= set(counts)
