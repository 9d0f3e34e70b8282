"""Conformance really looks at The Fight For a Name: its secrets are varied, and each planted leak is caught."""

from typing import Any

import pytest

from protocol.codec import encode
from referee.games.fight_for_a_name.game import FightForAName
from referee.proofs.conformance.playing import GameExamination
from referee.rules import AnyGame
from tests.referee.proofs.planted_fight_leaks import LEAKS, OrderOfSet
from tests.referee.proofs.planting import assert_caught

SEEDS = range(24)
FEW = range(8)


@pytest.mark.parametrize(
    ("planted", "promise"),
    [
        # A process for each of two hash seeds plays all again; of Mist, the quick suite has the same fault.
        pytest.param(*leak, id=name, marks=[pytest.mark.slow] if leak[0] is OrderOfSet else [])
        for name, leak in LEAKS.items()
    ],
)
def test_planted_faults_are_caught_and_named(planted: type[AnyGame], promise: str) -> None:
    assert_caught(planted, promise, FEW if planted is OrderOfSet else SEEDS)


class Watched(FightForAName):
    """Keeps what its disguises changed, by the part of the host's view that differs."""

    def __init__(self) -> None:
        self.changed: set[str] = set()

    def disguise(self, state: Any, observer: int | None, rng: Any) -> Any:
        other = super().disguise(state, observer, rng)
        one, two = (each.host_view(seen) for each, seen in ((self, state), (self, other)))
        self.changed |= {key for key in one.__struct_fields__ if getattr(one, key) != getattr(two, key)}
        setups = state.setup, other.setup
        self.changed |= {
            f"setup.{key}" for key in setups[0].__struct_fields__ if len({*map(key_of(key), setups)}) > 1
        }
        for seat, (before, after) in enumerate(zip(one.players, two.players, strict=True)):
            if seat != observer:
                fields = before.__struct_fields__
                self.changed |= {f"other's {key}" for key in fields if getattr(before, key) != getattr(after, key)}
        return other


def key_of(key: str) -> Any:
    return lambda setup: encode(getattr(setup, key))


@pytest.mark.slow
def test_secret_swap_varies_all_that_is_secret_and_random_play_opens_every_window() -> None:
    game = Watched()
    examination = GameExamination(game, "guardians", forge=None)
    for seed in SEEDS:
        examination.play(seed)
    secrets = {"setup.titles", "setup.pillars", "challenge", "phase", "candidates", "voted_token"}
    own = ("position", "mp", "income", "crests", "strengths", "spent", "reached", "visits", "barred")
    assert secrets | {f"other's {key}" for key in own} <= game.changed
    assert not game.changed & {"setup.colours", "setup.challenge", "history", "claims", "round"}
    assert 20 * examination.report.matches < examination.report.disguised
    assert set(game.actions) == examination.opened == examination.acted
