"""Sample bots of Mist that search: the searcher and the planner."""

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

from arena import simulation
from bots.kit import Window
from bots.mist.deals import BITS, Deals, boards, largest
from bots.mist.knowledge import Belief
from bots.mist.playouts import Playouts, Worlds, appeal, cells, name, outcome
from bots.mist.search import TurnPosition
from bots.mist.search import play as play_on_masks
from bots.mist_hunter.bot import Hunter
from bots.mist_planner.bot import Planner, best
from bots.mist_search.bot import Phase, Searcher
from protocol.games.mist import MistView, Turn
from protocol.games.mist.board import BOARD, PLAYABLE
from referee.games import GAMES
from referee.rules import Deal, ResolvedAction, Table
from tests.bots.in_process import MIST_BOTS, MIST_VARIANTS, play

each_variant = pytest.mark.parametrize("variant", MIST_VARIANTS)
SIMULATIONS = 20


def masks_of_random_boards(count: int) -> Iterator[tuple[int, int]]:
    rng = Random(4)
    for _ in range(count):
        mine = rng.getrandbits(BOARD.all.bit_length()) & PLAYABLE
        other = rng.getrandbits(BOARD.all.bit_length()) & PLAYABLE & ~mine
        yield mine, other


def test_the_tree_moves_pieces_as_the_rules_do() -> None:
    mist = GAMES["mist"]
    compared = 0
    for seed in range(30):
        rng = Random(seed)
        table = Table(mist, Deal(MIST_VARIANTS[seed % 2], seed=seed))
        states: list[Any] = []
        turns: list[int] = []
        while table.window is not None and len(turns) < 12:
            (owed,) = table.owed
            view = mist.view(table.state, owed.seat)
            action = mist.legal_actions(view, owed.seat).sample(rng)
            if isinstance(action, Turn) and action.swap:
                continue
            if isinstance(action, Turn):
                states.append(table.state)
                turns.append(BOARD.mask(action.cells or ()))
            table.close(tuple(ResolvedAction(action) if seat == owed.seat else None for seat in range(2)))
        states.append(table.state)
        for before, turn, answer, after in zip(states, turns, turns[1:], states[2:], strict=False):
            if not turn or not answer:
                continue
            seat = (before.first + before.turns) % 2
            position = TurnPosition(before.pieces[seat], before.pieces[1 - seat], before.sight[1 - seat].spotting)
            reached, (stayed, _) = play_on_masks(position, turn, answer)
            spotting = after.sight[1 - seat].spotting
            assert (after.pieces[seat], after.pieces[1 - seat], spotting) == tuple(reached)
            assert stayed == after.pieces[seat] & ~before.pieces[seat]
            compared += 1
    assert compared > 100


def test_the_largest_groups_of_many_boards_are_those_of_each() -> None:
    masks = list(masks_of_random_boards(200))
    owners = boards([mine for mine, _ in masks]) + 2 * boards([other for _, other in masks])
    one, other = largest(owners.astype(np.uint8))
    assert [(BOARD.largest(mine), BOARD.largest(theirs)) for mine, theirs in masks] == list(
        zip(one.tolist(), other.tolist(), strict=True)
    )


def test_the_cell_that_decides_is_in_every_good_turn() -> None:
    """Own rows A, B and D, E, with all of C but one cell taken: C1 joins them, I1 matters to nobody."""
    rows = {row: BOARD.mask(n for n in BOARD.names if n[0] == row) for row in "ABCDEFGHI"}
    own = rows["A"] | rows["B"] | rows["D"] | rows["E"] & PLAYABLE
    gate, corner = BOARD.bit["C1"], BOARD.bit["I1"]
    deals = Deals(own, boards([PLAYABLE & ~own & ~gate & ~corner]), boards([0]), 1)
    deals.deal(200)
    value = {turn: share for share, turn in deals.turns(gate | corner, 3, 10)}
    assert (1.0, 1.0) == (value[gate], value[gate | corner])
    assert 0.3 < value[corner] < 0.7


def test_a_cell_in_the_opponents_sight_is_worth_less_to_a_pair() -> None:
    spotted, dark = BOARD.bit["C3"], BOARD.bit["G5"]
    deals = Deals(0, boards([0]), boards([spotted]), 1)
    deals.deal(2_000)
    value = {turn: share for share, turn in deals.turns(PLAYABLE, 2, 10_000)}
    assert value[spotted] > value[spotted | BOARD.bit["I1"]]
    assert value[dark | BOARD.bit["I1"]] > value[spotted | BOARD.bit["I1"]]


def test_a_phase_ends_by_simulations_or_by_time_and_never_empty() -> None:
    phase = Phase(0.5, 1, 7)
    assert [len(list(phase.steps(0, 1e12, count))) for count in (20, 1)] == [10, 1]
    assert len(list(Phase(1, 1, 7, clock=1).steps(0, 0, None))) == 1
    assert len(list(phase.steps(1e12, 1e12, None))) == 7


class TestMatches:
    @pytest.mark.slow
    @each_variant
    def test_the_same_seed_plays_the_same_match(self, variant: str) -> None:
        makers = partial(Searcher, simulations=SIMULATIONS), MIST_BOTS["hunter"]
        one, two = (play(makers, variant=variant, seed=3) for _ in range(2))
        assert (one.outcome, one.windows) == (two.outcome, two.windows)

    @pytest.mark.slow
    @each_variant
    def test_it_is_legal_from_either_seat(self, variant: str) -> None:
        """`play` raises for a turn that is not."""
        for seed, other in enumerate(("random", "tracker")):
            makers = (partial(Searcher, simulations=SIMULATIONS), MIST_BOTS[other])
            pair = makers[::-1] if seed else makers
            assert play(pair, variant=variant, seed=seed, main_ms=100).outcome.reason != "turn_limit"

    def test_it_plays_on_where_the_rules_draw_no_world(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def none(*_: object, **__: object) -> Iterator[object]:
            raise ValueError("no history was found that fits these events")

        monkeypatch.setattr(type(GAMES["mist"]), "worlds", none)
        makers = partial(Searcher, simulations=SIMULATIONS), MIST_BOTS["random"]
        assert play(makers, variant="heaven-and-hell", seed=1).outcome.reason != "turn_limit"

    def test_in_a_hurry_a_turn_stands_before_the_search(self, monkeypatch: pytest.MonkeyPatch) -> None:
        submitted: list[object] = []
        monkeypatch.setattr(Window, "submit", lambda _, action: submitted.append(action))

        class Patient(Searcher):
            def decide(self, window: Window[MistView]) -> object:
                said = len(submitted)
                action = super().decide(window)
                if isinstance(action, Turn):
                    assert len(submitted) == said + (window.main_ms < 2_000)
                return action

        for main_ms in (100, 60_000):
            simulation.play("mist", [Patient(simulations=1), "mist_random"], seed=1, clock={"main_ms": main_ms})
        assert submitted

    @pytest.mark.slow
    @each_variant
    def test_it_beats_the_hunter(self, variant: str) -> None:
        won = 0
        for seed in range(2):
            makers = partial(Searcher, simulations=200), MIST_BOTS["hunter"]
            won += play(makers, variant=variant, seed=seed).outcome.winners == (0,)
            won += play(makers[::-1], variant=variant, seed=seed).outcome.winners == (1,)
        assert won >= 3


WORLDS = 40


def test_pieces_of_playouts_stay_see_and_spot_as_by_the_rules() -> None:
    mist = GAMES["mist"]
    compared = 0
    for seed in range(30):
        rng = Random(seed)
        table = Table(mist, Deal(MIST_VARIANTS[seed % 2], seed=seed))
        while table.window is not None and compared < 30 * (seed + 1):
            (owed,) = table.owed
            seat, before = owed.seat, table.state
            action = mist.legal_actions(mist.view(before, seat), seat).sample(rng)
            if isinstance(action, Turn) and action.swap:
                break
            table.close(tuple(ResolvedAction(action) if each == seat else None for each in range(2)))
            if not isinstance(action, Turn) or not action.cells:
                continue
            named, after = BOARD.mask(action.cells), table.state
            found = outcome(
                cells(named),
                np.array([named.bit_count()]),
                cells(before.pieces[seat] | before.pieces[1 - seat]),
                cells(before.sight[1 - seat].spotting),
            )
            stayed, sight = after.pieces[seat] & ~before.pieces[seat], after.sight[seat]
            for mask, array in zip((stayed, sight.vision, sight.spotting), found, strict=True):
                assert cells(mask).tolist() == array.tolist()
            compared += 1
    assert compared > 200


def test_a_turn_names_free_cells_that_are_no_neighbours() -> None:
    own, seen = BOARD.mask(("A1", "C3")), BOARD.mask(("D4",))
    counts = np.array([1, 2, 3] * 20)
    appeals = np.repeat(appeal(cells(own), cells(seen)), len(counts), axis=1)
    noise = np.random.default_rng(1).gumbel(size=appeals.shape).astype(np.float32)
    turns = [
        [bit for bit, here in zip(BITS, board, strict=True) if here] for board in name(appeals + noise, counts).T
    ]
    assert counts.tolist() == [len(turn) for turn in turns]
    assert all(BOARD.apart(turn) and not sum(turn) & ~(PLAYABLE & ~own & ~seen) for turn in turns)


def test_the_cell_that_decides_wins_more_playouts() -> None:
    """Own rows A, B and D, E, with all of C but one cell taken: C1 joins them, I1 matters to nobody."""
    rows = {row: BOARD.mask(n for n in BOARD.names if n[0] == row) for row in "ABCDEFGHI"}
    own = rows["A"] | rows["B"] | rows["D"] | rows["E"] & PLAYABLE
    gate, corner = BOARD.bit["C1"], BOARD.bit["I1"]
    other = cells(PLAYABLE & ~own & ~gate & ~corner)
    worlds = Worlds(*(np.repeat(each, WORLDS, axis=1) for each in (other, cells(own), cells(0), cells(0))))
    playouts = Playouts(own, PLAYABLE & ~own & ~gate & ~corner, worlds, (1, 1, 1), 1)
    rng = playouts.rng(WORLDS)
    for _ in range(2):  # What one turn lets the other seat know, it does not know of the next.
        assert playouts.won(gate, slice(WORLDS), rng) == WORLDS
        assert playouts.won(corner, slice(WORLDS), rng) < WORLDS
    assert gate == best(playouts, [corner, gate], WORLDS, float("inf"))
    assert corner == best(playouts, [corner, gate], WORLDS, 0), "with no time left, the first is taken"


@pytest.mark.slow
@each_variant
def test_worlds_hold_what_is_known_and_guess_the_rest(variant: str) -> None:
    """All known pieces, none that cannot be; hidden pieces more often where they are than elsewhere."""
    hunter = Hunter()
    there: list[float] = []
    elsewhere: list[float] = []

    class Checked(Planner):
        def _worlds(self, view: MistView, belief: Belief, count: int) -> Worlds:
            worlds = super()._worlds(view, belief, count)
            memory = self.memory
            share = dict(zip(BITS, worlds.opponent.mean(axis=1).tolist(), strict=True))
            assert all(share[cell] == 1 for cell in BOARD.each(memory.opponent))
            assert all(share[cell] == 0 for cell in BOARD.each(BOARD.all & ~memory.unknown & ~memory.opponent))
            for cell in BOARD.each(memory.unknown):
                (there if cell & hunter.memory.own else elsewhere).append(share[cell])
            return worlds

    # With time enough, so that the same match is played each time.
    simulation.play("mist", [Checked(100), hunter], variant=variant, seed=2, clock={"main_ms": 60_000})
    assert there
    assert np.mean(there) > 1.4 * np.mean(elsewhere)


class TestMatchesOfThePlanner:
    @pytest.mark.slow
    def test_the_same_seed_plays_the_same_match(self) -> None:
        makers = partial(Planner, WORLDS // 2), MIST_BOTS["hunter"]
        one, two = (play(makers, variant="heaven-and-hell", seed=3) for _ in range(2))
        assert (one.outcome, one.windows) == (two.outcome, two.windows)

    @pytest.mark.slow
    def test_it_beats_the_tracker(self) -> None:
        """With more worlds: in the regression it won 20 of 22."""
        makers = partial(Planner, 300), MIST_BOTS["tracker"]
        assert (0,) == play(makers, variant="contractual-obligation", seed=0).outcome.winners
