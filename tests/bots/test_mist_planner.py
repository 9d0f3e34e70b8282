"""The planning sample of Mist: its playouts keep the rules, its worlds what is known; it is repeatable."""

from functools import partial
from random import Random

import numpy as np
import pytest

from arena import simulation
from bots.mist.deals import BITS
from bots.mist.knowledge import Belief
from bots.mist.playouts import Playouts, Worlds, appeal, cells, name, outcome
from bots.mist_hunter.bot import Hunter
from bots.mist_planner.bot import Planner, best
from protocol.games.mist import MistView, Turn
from protocol.games.mist.board import BOARD, PLAYABLE
from referee.games import GAMES
from referee.rules import Deal, ResolvedAction, Table
from tests.bots.in_process import MIST_BOTS, MIST_VARIANTS, play

each_variant = pytest.mark.parametrize("variant", MIST_VARIANTS)
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


class TestMatches:
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
