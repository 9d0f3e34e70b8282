"""The rules of The Fight For a Name against a second, naive implementation of the page, over random matches."""

import json
from random import Random
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.games.fight_for_a_name.game import FightForAName
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.fight_for_a_name.naive import SEATS, WAYS, NaiveFight
from tests.referee.games.fight_for_a_name.naive_view import view
from tests.referee.games.playing import plain, same

ODD_ACTIONS: list[Any] = [
    {},
    [],
    "N",
    7,
    True,
    {"path": None},
    {"path": "N"},
    {"path": ["n"]},
    {"path": ["N", None]},
    {"path": [], "give": {}},
    {"path": ["N"], "reinforce": {}, "give": {}},
    {"reinforce": None},
    {"reinforce": []},
    {"reinforce": {"7": 0}},
    {"reinforce": {"07": 1}},
    {"reinforce": {"7": True}},
    {"reinforce": {"7": 1.0}},
    {"reinforce": {"37": 1}},
    {"reinforce": {"Start": 1}},
    {"give": {"3": 0}},
    {"give": {"3": 1, "4": 1, "5": 1}},
    {"give": {"3": 2, "4": 1}},
    {"give": {"3": 3}},
    {"give": {"13": 1}},
    {"give": {"-1": 1}},
    {"give": {"3": "1"}},
    {"give": {"3": 2}},
    {"give": {"3": 1, "4": 1}},
    {"give": {"3": 1}},
    {"stay": True},
    {"pick": [0]},
    {"pick": [0, 0]},
    {"pick": [8]},
    {"pick": [-1]},
    {"pick": [True]},
    {"pick": None},
    {"pick": [0], "seat": 1},
    {"seat": 1},
    {"seat": None},
    {"seat": 13},
    {"seat": "1"},
    {"seat": 1.0},
    {"seat": False},
    {"seat": 0, "why": ""},
]


class Compared:
    """One random match, played in both."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(f"fight/{seed}")
        self.rounds = self.rng.choice((1, 3, 6, 9, 12, 12, 18, 30))
        self.table = Table(FightForAName(), Deal("guardians", seed, Raw(encode({"rounds": self.rounds}))))
        setup = plain(self.table.setup)
        self.naive = NaiveFight(setup, self.rounds)
        self.logs: dict[int | None, list[Any]] = {seat: [] for seat in (*range(13), None)}
        self.odd = self.rng.choice((0, 0, 0.05, 0.3))
        self.idle = self.rng.choice((0, 0.1, 0.4))
        self.wild = self.rng.choice((0, 0, 0.1, 0.4))
        board = {"type": "board", "colours": setup["colours"]}
        self.tell([(None, board), (None, {"type": "challenge"} | setup["challenge"])], self.table.start)

    def tell(self, said: Any, told: Any) -> None:
        """Both have said the same; it goes into the logs of those who hear it."""
        same([list(one) for one in said], [[one.seat, plain(one.event)] for one in told])
        for audience, event in said:
            for hearer in self.logs if audience is None else (audience,):
                self.logs[hearer].append(("event", event))

    def play(self) -> NaiveFight:
        while (due := self.naive.window()) is not None:
            name, seats = due
            assert self.table.window is not None
            assert (name, seats) == (self.table.window.name, [owed.seat for owed in self.table.window.owed])
            self.compare_views()
            self.play_window(name, seats)
            same(self.naive.outcome(), plain(self.table.outcome))
        self.compare_views()
        assert self.table.window is None
        return self.naive

    def compare_views(self) -> None:
        for seat in self.rng.sample(list(self.logs), 4):
            log = self.logs[seat]
            in_vote = self.naive.phase in ("token_vote", "elimination_vote", "justice")
            voting = in_vote and seat in (self.naive.window() or ("", []))[1]
            extra = [("window", self.naive.candidates)] if voting else []
            # Views share what does not change; the copy keeps the log as it was told.
            expected = view(seat, self.rounds, json.loads(json.dumps([*log, *extra])))
            same(expected, plain(self.table.game.view(self.table.state, seat)))

    def play_window(self, name: str, seats: list[int]) -> None:
        naive, table = self.naive, self.table
        taken: list[ResolvedAction | None] = [None] * 13
        actions = {str(seat): self.submit(seat, taken) for seat in seats}
        for seat in self.rng.sample(seats, len(seats)) if name == "pillar" else ():
            self.answer(seat, taken[seat])
        told = table.close(tuple(taken))
        if name == "challenge":
            naive.rank = self.judged_rank(taken)
        for seat in seats:
            self.logs[seat].append(("taken", [name, actions[str(seat)]]))
        self.logs[None].append(("closed", name))
        drawn = table.outcome.eliminated if table.outcome else None
        self.tell(naive.close(actions, drawn), told)

    def answer(self, seat: int, part: ResolvedAction | None) -> None:
        if part is None or part.action is None:
            return
        (told,) = self.table.answer(seat, part.action)
        answer = plain(told.event)
        self.naive.answer(str(seat), plain(part.action), answer)
        self.tell([(seat, answer)], [told])

    def submit(self, seat: int, taken: list[ResolvedAction | None]) -> Any:
        """One seat's submission, judged by both. Returns what is taken."""
        naive, table = self.naive, self.table
        elapsed = self.rng.choice((0, 1200, 3400, self.rng.randrange(60_000)))
        same(naive.default(), plain(table.default(seat)))
        action = None if self.rng.random() < self.idle else self.random_action(seat)
        canonical = None if action is None else naive.legal(str(seat), action)
        if action is not None:
            try:
                got = table.read(seat, json.dumps(action).encode())
            except Illegal:
                assert canonical is None, action
            else:
                assert canonical == plain(got), action
                canonical = plain(got)  # the order of keys does not matter in what is submitted
                taken[seat] = ResolvedAction(got, elapsed_ms=elapsed)
        if canonical is None:
            taken[seat] = ResolvedAction(table.default(seat), by_default=True, elapsed_ms=elapsed)
        return naive.default() if canonical is None else canonical

    def random_action(self, seat: int) -> Any:
        if self.rng.random() < self.odd:
            return self.rng.choice(ODD_ACTIONS)
        if self.naive.phase == "move" and self.rng.random() < self.wild:
            return self.random_move(seat)
        suggested = self.table.game.plausible(self.table.state, seat, self.rng)
        return {"pick": self.rng.sample(range(8), 3)} if suggested is None else plain(suggested)

    def random_move(self, seat: int) -> Any:
        """Draw a move that is often just not legal."""
        rng = self.rng
        move: dict[str, Any] = {}
        if rng.random() < 0.8:
            ways = list(WAYS) if rng.random() < 0.5 else [rng.choice(list(WAYS))]
            move["path"] = [rng.choice(ways) for _ in range(rng.randint(0, 6))]
        if rng.random() < 0.3:
            hexes = [str(n) for n in self.naive.ended_on[str(seat)]] or ["7"]
            move["reinforce"] = {rng.choice(hexes): rng.randint(0, 4) for _ in range(2)}
        if rng.random() < (0.1 if str(seat) in self.naive.place else 0.9):
            move = {} if rng.random() < 0.9 else move
            move["give"] = {rng.choice(SEATS): rng.choice((1, 1, 2)) for _ in range(rng.randint(1, 2))}
        return move

    def judged_rank(self, taken: list[ResolvedAction | None]) -> list[int]:
        """Return the order in the timed game, as the rules drew it, if it is one that may be drawn (R7)."""
        puzzle = self.naive.setup["challenge"]

        def key(seat: int) -> tuple[bool, int]:
            part = taken[seat]
            assert part is not None
            pick = plain(part.action)["pick"]
            right = pick != [] and sum(puzzle["numbers"][n] for n in pick) == puzzle["target"]
            return not right, part.elapsed_ms if right else 0

        rank = list(self.table.state.challenge)
        assert sorted(rank) == list(range(13))
        assert [key(seat) for seat in rank] == sorted(key(seat) for seat in rank)
        return rank


def test_a_second_implementation_of_the_page_tells_and_shows_the_same() -> None:
    for seed in range(3):
        Compared(seed).play()


@pytest.mark.slow
def test_between_them_the_matches_see_every_window_and_both_ends() -> None:
    windows, reasons, winners = set(), set(), set()
    for seed in range(48, 64):
        match = Compared(seed)
        ended = match.play()
        windows |= {entry[1] for entry in match.logs[None] if entry[0] == "closed"}
        reasons.add(ended.reason)
        winners.add(len(ended.winners))
    assert {"challenge", "move", "pillar", "token_vote", "elimination_vote", "justice"} == windows
    assert {"titles", "rounds"} <= reasons
    assert {0, 1, 2} <= winners
