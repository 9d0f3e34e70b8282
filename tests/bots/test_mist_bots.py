"""The sample bots of Mist: always legal, right in what they hold for certain, and clearly apart in strength."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

import bots
from bots.kit import Bot, Window
from bots.mist.knowledge import Belief, SeatMemory
from bots.mist.search import Tally, wins, worth
from bots.mist_random.bot import decide as decide_at_random
from protocol.games.mist import FirstMove, MistEvent, MistView, OpponentPlaced, Placed, Reveal, Swapped, Turn
from protocol.games.mist.board import BOARD, PLAYABLE
from referee.bot_folder.manifest import read_bot
from tests.bots.in_process import MIST_BOTS, MIST_VARIANTS, Maker, play
from tests.long import cases

BOTS = Path(bots.__file__).parent
HURRIED_MS = 200
"""Main time in which the tracker thinks a tenth as long as it would: quick tests."""
each_variant = pytest.mark.parametrize("variant", MIST_VARIANTS)


def beats(one: str, other: str, variant: str, blocks: int) -> int:
    """How many of 2 * blocks matches the first wins, from either seat."""
    makers = MIST_BOTS[one], MIST_BOTS[other]
    won = 0
    for seed in range(blocks):
        won += play(makers, variant=variant, seed=seed, main_ms=HURRIED_MS).outcome.winners == (0,)
        won += play(makers[::-1], variant=variant, seed=seed, main_ms=HURRIED_MS).outcome.winners == (1,)
    return won


class TestMemory:
    def test_the_first_turn_is_known_to_its_watcher(self) -> None:
        """mist.md R3."""
        memory = SeatMemory(1)
        memory.hear(FirstMove(seat=0, cells=("A1", "C3")))
        memory.hear(OpponentPlaced(spotted=(), destroyed=(), visible={}))
        assert BOARD.mask(("A1", "C3")) == memory.opponent
        assert [2] == [turn.seen for turn in memory.turns]

    def test_a_swap_changes_owners_and_whose_vision_it_is(self) -> None:
        """mist.md R5."""
        memory = SeatMemory(1)
        memory.hear(FirstMove(seat=0, cells=("A1", "C3")))
        memory.hear(OpponentPlaced(spotted=(), destroyed=(), visible={}))
        memory.hear(Swapped(seat=1))
        assert (BOARD.mask(("A1", "C3")), 0) == (memory.own, memory.opponent)
        assert BOARD.mask(("A1", "C3")) == memory.last_cells
        assert [] == memory.turns

    def test_a_piece_lost_on_an_empty_cell_was_spotted(self) -> None:
        memory = SeatMemory(0)
        memory.hear(OpponentPlaced(spotted=(), destroyed=(), visible={}))
        visible: Any = {"A1": "own", "C3": "empty", "E1": "opponent"}
        memory.hear(Placed(cells=("A1", "C3", "E1"), destroyed=("C3", "E1"), visible=visible))
        last = memory.turns[-1]
        assert (("C3",), ("A1",)) == (BOARD.cells(last.hit), BOARD.cells(last.missed))
        assert BOARD.mask(("E1",)) == memory.opponent


class Checked(Bot[MistView, MistEvent]):
    """Plays as another bot does, and holds a memory and worlds to the truth that the end reveals."""

    view_type = MistView
    event_type = MistEvent

    def __init__(self, other: Maker) -> None:
        self.other = other()
        self.moments: list[tuple[int, int]] = []
        self.truth: Reveal | None = None

    def welcome(self) -> None:
        self.other.match, self.other.rng = self.match, self.rng
        self.other.welcome()
        self.memory = SeatMemory(self.match.seat)
        self.dreams = Random(1)

    def event(self, event: MistEvent) -> None:
        self.other.event(event)
        self.memory.hear(event)
        if isinstance(event, Reveal):
            self.truth = event

    def decide(self, window: Window[MistView]) -> Any:
        self.moments.append((self.memory.own, self.memory.opponent))
        for _ in range(5):
            world = Belief(self.memory, self.dreams).draw()
            assert world.opponent & self.memory.own == 0
            assert world.opponent & self.memory.opponent == self.memory.opponent
            assert world.opponent & ~PLAYABLE == 0
        return self.other.decide(window)


@each_variant
@pytest.mark.parametrize("names", [("random", "hunter"), ("hunter", "random"), ("cautious", "random")])
def test_certain_knowledge_is_true_and_worlds_agree_with_it(variant: str, names: tuple[str, str]) -> None:
    for seed in range(cases(2, 4)):
        checked = [Checked(MIST_BOTS[name]) for name in names]
        play((lambda: checked[0], lambda: checked[1]), variant=variant, seed=seed)  # noqa: B023 - called at once
        for seat, bot in enumerate(checked):
            assert bot.truth is not None
            final = [BOARD.mask(n for n, holds in bot.truth.board.items() if holds == s) for s in (0, 1)]
            assert final[seat] == bot.memory.own
            # A swap can come only before either seat's third window.
            for own, opponent in bot.moments[2:]:
                assert own & ~final[seat] == 0
                assert opponent & ~final[1 - seat] == 0


class TestWorth:
    def test_a_tally_counts_every_cell(self) -> None:
        rng = Random(3)
        masks = [rng.getrandbits(12) for _ in range(300)]
        tally = Tally()
        for one in masks:
            tally.add(one)
        for bit in range(12):
            assert sum(one >> bit & 1 for one in masks) == tally.count(1 << bit)

    def test_the_better_list_of_groups_wins(self) -> None:
        """mist.md R8: all remaining cells go to the other here."""
        whole, a1 = PLAYABLE, BOARD.bit["A1"]
        assert wins(whole & ~a1, a1, 0)
        assert not wins(a1, 0, 0)

    def test_the_cell_that_joins_two_halves_is_worth_most(self) -> None:
        """Own rows A, B and D, E, with all of C but one cell taken: C1 joins them, I1 matters to nobody."""
        rows = {row: BOARD.mask(n for n in BOARD.names if n[0] == row) for row in "ABCDEFGHI"}
        own = rows["A"] | rows["B"] | rows["D"] | rows["E"] & PLAYABLE
        gate, corner = BOARD.bit["C1"], BOARD.bit["I1"]
        value = worth(own, [PLAYABLE & ~own & ~gate & ~corner], 200, Random(1))
        assert (1.0, 0.0) == (value[gate], value[corner])


class TestStrength:
    @pytest.mark.slow
    @each_variant
    def test_random_loses_to_cautious_and_cautious_to_hunter(self, variant: str) -> None:
        assert beats("cautious", "random", variant, 5) >= 9
        assert beats("hunter", "cautious", variant, 5) >= 9

    @pytest.mark.slow
    @each_variant
    def test_the_tracker_beats_random_and_hunter_even_in_a_hurry(self, variant: str) -> None:
        assert beats("tracker", "random", variant, 2) == 4
        assert beats("tracker", "hunter", variant, 3) >= 5

    @pytest.mark.slow
    @each_variant
    def test_the_tracker_plays_the_same_match_from_the_same_seed(self, variant: str) -> None:
        makers = MIST_BOTS["tracker"], MIST_BOTS["tracker"]
        one, two = (play(makers, variant=variant, seed=8, main_ms=HURRIED_MS) for _ in range(2))
        assert one.outcome == two.outcome


class TestLegality:
    @pytest.mark.slow
    @each_variant
    @pytest.mark.parametrize("name", MIST_BOTS)
    @pytest.mark.parametrize("other", ["random", "hunter"])
    def test_every_bot_is_legal_from_either_seat(self, variant: str, name: str, other: str) -> None:
        """`play` raises `Illegal` for the first turn that is not."""
        for seed in range(1 if name in ("tracker", "search", "planner") else 2):
            for makers in ((MIST_BOTS[name], MIST_BOTS[other]), (MIST_BOTS[other], MIST_BOTS[name])):
                assert play(makers, variant=variant, seed=seed, main_ms=50).outcome.reason != "turn_limit"

    def test_random_tries_every_kind_of_turn(self) -> None:
        """Swaps, singles, pairs and triples: what an opponent must be ready for."""
        kinds: set[str | int] = set()

        class Listener(Bot[MistView, MistEvent]):
            view_type = MistView

            def decide(self, window: Window[MistView]) -> Any:
                action = decide_at_random(window)
                if isinstance(action, Turn):
                    kinds.add(len(action.cells) if action.cells else "swap")
                return action

        for seed in range(5):
            play((Listener, Listener), variant="heaven-and-hell", seed=seed)
        assert kinds == {"swap", 1, 2, 3}


@pytest.mark.parametrize("name", MIST_BOTS)
def test_every_bots_folder_is_complete(name: str) -> None:
    folder = read_bot(BOTS / f"mist_{name}", given=f"mist_{name}")
    assert (f"mist_{name}", True) == (folder.name, folder.plays("mist"))
