"""The bot that learned Mist by self-play: it plays as it was trained, and the training learns."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest

from arena.learning import Episode, SelfPlay, read_shards
from arena.simulation import play_many
from bots.kit import Window
from bots.mist_learned.bot import MistLearned, Network
from protocol.games.mist import MistView
from tests.docs_pages import HOUSE

WEIGHTS = HOUSE / "bots/mist_learned/weights.npz"
VARIANTS = ("contractual-obligation", "heaven-and-hell")


@pytest.fixture(scope="module")
def trainer() -> Iterator[ModuleType]:
    """`scripts/train_mist.py` as a module, which other processes can import, too."""
    sys.path.append(str(HOUSE / "scripts"))
    yield import_module("train_mist")
    sys.path.remove(str(HOUSE / "scripts"))


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_beats_the_cautious_bot_and_its_untrained_self(variant: str) -> None:
    learned = "mist_learned"
    untrained = MistLearned(Network.untrained(np.random.default_rng(1)))
    for opponent in ("mist_cautious", untrained):
        found = play_many(
            "mist", [learned, opponent], matches=20, seed=1, variant=variant, workers=1, progress=False
        )
        assert found.summary[0].wins >= 16


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_plays_what_its_network_scores_best_in_training(trainer: ModuleType, variant: str) -> None:
    network = Network.read(WEIGHTS)
    episode = Episode("mist", variant=variant, encoder=trainer.Seen())
    episode.reset(seed=3)
    bots = [MistLearned(network), MistLearned(network)]
    for bot in bots:
        bot.welcome()
    while not episode.over:
        (seat,) = episode.choosing
        window = seen_by(episode, seat)
        while episode.owed(seat):
            scores = network.scores(episode.observation(seat)[None], episode.mask(seat)[None])
            episode.choose(seat, int(scores.argmax()))
        taken = bots[seat].decide(window)
        episode.close()
        assert [taken] == [each.action for each in episode.taken if each]


def seen_by(episode: Episode, seat: int) -> Window[MistView]:
    """Make a window with the seat's view alone."""
    window: Window[MistView] = object.__new__(Window)
    window.view = cast("MistView", episode.view(seat))
    return window


@pytest.mark.slow
def test_the_same_seed_learns_the_same(
    trainer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "TURNS", 10)

    def trained(seed: int) -> Network:
        plan = trainer.Plan(iterations=2, matches=3, seed=seed, workers=1)
        networks: list[Network] = list(trainer.train(plan, tmp_path))
        return networks[-1]

    one, again, other = trained(1), trained(1), trained(2)
    for name, value in one.weights.items():
        np.testing.assert_array_equal(value, again.weights[name])
        assert (value != other.weights[name]).any()


def test_slopes_are_those_of_the_loss(trainer: ModuleType, tmp_path: Path) -> None:
    network = Network.untrained(np.random.default_rng(1), units=4)
    rng = np.random.default_rng(2)
    changed: dict[str, Any] = {name: w + rng.normal(0, 0.3, w.shape) for name, w in network.weights.items()}
    network = Network(changed)
    with SelfPlay("mist", options={"max_turns": 4}, encoder=trainer.Seen(), workers=1) as players:
        players.play(trainer.Sampled(network), 2, tmp_path, seed=1, progress=False)
    (shard,) = read_shards(tmp_path)
    with ThreadPoolExecutor(1) as threads:
        batch = trainer.Trainer(network, threads).batch(shard, (0, 1))
    batch.chances[:] += rng.normal(0, 0.3, len(batch))  # some ratios are beyond the clip

    def loss(weights: dict[str, Any]) -> float:
        layers = Network(weights).layers(batch.observations)
        logs = trainer.log_softmax(layers.scores, batch.masks)
        ratio = np.exp(logs[np.arange(len(batch)), batch.choices] - batch.chances)
        clipped = ratio.clip(1 - trainer.CLIP, 1 + trainer.CLIP)
        gain = np.minimum(ratio * batch.advantages, clipped * batch.advantages)
        entropy = -(np.exp(logs) * logs).sum()
        return float(((layers.values - batch.returns) ** 2).sum() / 2 - gain.sum() - trainer.ENTROPY * entropy)

    slopes, _ = trainer.gradients(network, batch, 1.0)
    for name, slope in slopes.items():
        direction = rng.normal(0, 1, slope.shape)
        ahead, behind = (
            loss({**network.weights, name: network.weights[name] + step * direction}) for step in (1e-6, -1e-6)
        )
        assert (slope * direction).sum() == pytest.approx((ahead - behind) / 2e-6, rel=1e-3, abs=1e-3), name


@pytest.mark.slow
def test_it_learns_from_nothing_by_playing_itself(tmp_path: Path) -> None:
    file = tmp_path / "weights.npz"
    few = ["--iterations", "4", "--matches", "48", "--workers", "2"]
    one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    script = [sys.executable, str(HOUSE / "scripts/train_mist.py"), str(file), *few]
    subprocess.run(script, env=one_thread, check=True, timeout=280)  # noqa: S603 - our own script
    learned, untrained = (
        MistLearned(each) for each in (Network.read(file), Network.untrained(np.random.default_rng(1)))
    )
    for opponent in ("mist_cautious", untrained):
        found = play_many("mist", [learned, opponent], matches=20, seed=1, workers=1, progress=False)
        assert found.summary[0].wins >= 15
