"""Trains a policy of Mist by self-play, from nothing: the weights of `bots/mist_learned`. Plain NumPy.

An iteration plays matches of the network against itself and against earlier versions of itself, and changes its
weights by proximal policy optimisation (Schulman et al., 2017): choices that did better than the network had
expected become likelier, a little. It sees no other bot. One network learns both variants, in turn.

The same seed and numbers give the same weights on the same machine, however many processes play.
"""

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import astuple

from arena.learning import Encoder, SelfPlay, Shard, read_shards
from arena.terminal import say
from bots.mist_learned.bot import BY_CELL, CELLS, RINGS, Features, Floats, Network
from referee.games import GAMES

VARIANTS = tuple(variant.name for variant in GAMES["mist"].variants)
TURNS = 60
"""Number of turns after which a match is truncated. Matches of skilled players are shorter."""
AT_ONCE = 32
EARLIER = 1 / 4
"""Share of matches against an earlier version."""
KEPT_EVERY = 5
"""Number of iterations after which the network joins the earlier versions."""
LAMBDA = 0.95
"""Weight of later rewards for a choice; with 1 they count fully to the end of the match."""
CLIP = 0.2
ENTROPY = 0.01
"""Weight of the policy's entropy, which keeps it from settling early."""
EPOCHS, BATCH, CHUNK = 2, 1024, 64
RATE = 2e-3
DECAY = (0.9, 0.999)
TINY = 1e-8


class Plan(Struct, frozen=True, kw_only=True):
    """Size of the training."""

    iterations: int = 80
    matches: int = 128
    """Matches per iteration."""
    seed: int = 1
    workers: int | None = None
    """Number of processes and threads; None for one per core."""


class Sampled:
    """A policy that draws choices with the network's probabilities."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(
        self, observations: npt.NDArray[Any], masks: npt.NDArray[np.int8], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Return the number of a choice for each row."""
        scores = self.network.scores(observations, masks)
        choices: npt.NDArray[np.int64] = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
        return choices


class Seen(Features, Encoder):
    """The bot's observations as an encoder."""


class Batch(Struct, frozen=True):
    """Choices and their results, one per row."""

    observations: npt.NDArray[np.uint8]
    masks: npt.NDArray[np.int8]
    choices: npt.NDArray[np.int16]
    advantages: Floats
    """Difference between the actual and the expected return."""
    returns: Floats
    """Actual return, the target of the value."""
    chances: Floats
    """Logarithm of the choice's probability when it was made."""

    def __getitem__(self, rows: Any) -> "Batch":
        return Batch(*[getattr(self, name)[rows] for name in self.__struct_fields__])

    def __len__(self) -> int:
        return len(self.choices)


class Trainer:
    """A network that learns from matches."""

    def __init__(self, network: Network, threads: ThreadPoolExecutor) -> None:
        self.network = network
        self._threads = threads
        self._steps = 0
        self._first = {name: np.zeros_like(value) for name, value in network.weights.items()}
        self._second = {name: np.zeros_like(value) for name, value in network.weights.items()}

    def batch(self, shard: Shard, policies: tuple[int, ...]) -> Batch:
        """Return the choices of these policies in a shard."""
        rows = np.isin(shard.policies, policies)
        kept = np.flatnonzero(rows)
        observations, masks, choices = shard.observations[kept], shard.masks[kept], shard.choices[kept]
        parts = [slice(at, at + CHUNK) for at in range(0, len(kept), CHUNK)]
        seen = list(
            self._threads.map(lambda part: self._judged(observations[part], masks[part], choices[part]), parts)
        )
        values = np.concatenate([each[0] for each in seen])
        chances = np.concatenate([each[1] for each in seen])
        starts = np.flatnonzero(np.diff(shard.matches[kept], prepend=-1) | np.diff(shard.seats[kept], prepend=-1))
        advantages = estimate(values, shard.rewards[kept], starts)
        return Batch(observations, masks, choices, advantages, advantages + values, chances)

    def learn(self, batch: Batch, rng: np.random.Generator, rate: float) -> float:
        """Learn from all rows `EPOCHS` times, in random order. Return the mean entropy."""
        spread = batch.advantages.std() + TINY
        entropies = []
        for _ in range(EPOCHS):
            order = rng.permutation(len(batch))
            for at in range(0, len(order), BATCH):
                part = batch[order[at : at + BATCH]]
                chunks = [part[i : i + CHUNK] for i in range(0, len(part), CHUNK)]
                found = list(self._threads.map(lambda chunk: gradients(self.network, chunk, spread), chunks))
                self._step({name: _mean(found, name, len(part)) for name in self._first}, rate)
                entropies.append(sum(entropy for _, entropy in found) / len(part))
        return float(np.mean(entropies))

    def _judged(
        self, observations: npt.NDArray[Any], masks: npt.NDArray[np.int8], choices: npt.NDArray[Any]
    ) -> tuple[Floats, Floats]:
        layers = self.network.layers(observations)
        logs = log_softmax(layers.scores, masks)
        return layers.values, logs[np.arange(len(choices)), choices]

    def _step(self, slopes: Mapping[str, Floats], rate: float) -> None:
        """Change the weights by Adam (Kingma and Ba, 2015)."""
        self._steps += 1
        first, second = DECAY
        rate *= (1 - second**self._steps) ** 0.5 / (1 - first**self._steps)
        weights = dict(self.network.weights)
        for name, slope in slopes.items():
            self._first[name] = first * self._first[name] + (1 - first) * slope
            self._second[name] = second * self._second[name] + (1 - second) * slope * slope
            change = rate * self._first[name] / (np.sqrt(self._second[name]) + TINY)
            weights[name] = (weights[name] - change).astype(np.float32)
        self.network = Network(weights)


def estimate(values: Floats, rewards: Floats, starts: npt.NDArray[np.int64]) -> Floats:
    """Return generalised advantages (Schulman et al., 2016), by row. Trajectories start at `starts`."""
    advantages = np.zeros_like(values)
    begins = set(starts.tolist()) | {len(values)}
    later = 0.0
    for row in reversed(range(len(values))):
        if row + 1 in begins:
            later = float(rewards[row] - values[row])
        else:
            later = float(values[row + 1] - values[row]) + LAMBDA * later
        advantages[row] = later
    return advantages


def log_softmax(scores: Floats, masks: npt.NDArray[np.int8]) -> Floats:
    """Return logarithms of probabilities, by row and choice; very small for choices outside the mask."""
    legal = np.where(masks[:, : scores.shape[1]], scores, np.float32(-1e9))
    legal -= legal.max(axis=1, keepdims=True)
    logs: Floats = legal - np.log(np.exp(legal).sum(axis=1, keepdims=True))
    return logs


def _mean(found: Sequence[tuple[Mapping[str, Floats], float]], name: str, rows: int) -> Floats:
    mean: Floats = np.sum([gradient[name] for gradient, _ in found], axis=0) / rows
    return mean


def gradients(network: Network, batch: Batch, spread: float) -> tuple[dict[str, Floats], float]:
    """Return the gradient of the loss, summed over the rows, and the sum of entropies."""
    w, layers = network.weights, network.layers(batch.observations)
    logs = log_softmax(layers.scores, batch.masks)
    chances = np.exp(logs)
    rows = np.arange(len(batch))
    ratio = np.exp(logs[rows, batch.choices] - batch.chances)
    worth = batch.advantages / spread
    free = np.where(worth > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
    pull = worth * ratio * free
    entropy = -(chances * logs).sum(axis=1)
    scores = chances * (pull[:, None] + ENTROPY * (logs + entropy[:, None]))
    scores[rows, batch.choices] -= pull
    value = (layers.values - batch.returns) * (1 - layers.values**2)

    cells, others = scores[:, :CELLS], scores[:, CELLS:]
    units = len(w["one"])
    last = others @ w["other"].T + value[:, None] * w["value"]
    two = cells[:, :, None] * w["cell"] + last[:, None, :units] / CELLS
    two *= layers.two > 0
    two_sum = two.sum(axis=1)
    one = two @ w["own"].T + (two_sum @ w["all"].T)[:, None] / CELLS
    one *= layers.one > 0
    one_sum = one.sum(axis=1)
    slopes = {
        "around": layers.around.reshape(-1, RINGS * BY_CELL).T @ one.reshape(-1, units),
        "facts": layers.facts.T @ one_sum,
        "one": one_sum.sum(axis=0),
        "own": layers.one.reshape(-1, units).T @ two.reshape(-1, units),
        "all": layers.one_mean.T @ two_sum,
        "two": two_sum.sum(axis=0),
        "cell": cells.reshape(-1) @ layers.two.reshape(-1, units),
        "other": layers.last.T @ others,
        "value": layers.last.T @ value,
    }
    return slopes, float(entropy.sum())


def train(plan: Plan, folder: Path) -> Iterator[Network]:
    """Yield the network: untrained, then after each iteration. Trajectories are stored in the folder."""
    rng = np.random.default_rng(plan.seed)
    earlier: list[Network] = []
    with ExitStack() as stack:
        players = [
            stack.enter_context(
                SelfPlay(
                    "mist",
                    variant=variant,
                    options={"max_turns": TURNS},
                    encoder=Seen(),
                    workers=plan.workers,
                    at_once=AT_ONCE,
                )
            )
            for variant in VARIANTS
        ]
        threads = stack.enter_context(ThreadPoolExecutor(plan.workers or len(os.sched_getaffinity(0))))
        trainer = Trainer(Network.untrained(rng), threads)
        yield trainer.network
        for number in range(plan.iterations):
            if number % KEPT_EVERY == 0:
                earlier.append(trainer.network)
            now, before = Sampled(trainer.network), Sampled(earlier[rng.integers(len(earlier))])
            few = max(1, int(plan.matches * EARLIER))
            batches = []
            for policies, matches, learning in (
                ((now, now), plan.matches - few, (0, 1)),
                ((now, before), few, (0,)),
            ):
                with tempfile.TemporaryDirectory(dir=folder) as part:
                    seed = int(rng.integers(1 << 31))
                    players[number % len(players)].play(policies, matches, part, seed=seed, progress=False)
                    batches += [trainer.batch(shard, learning) for shard in read_shards(part)]
            batch = Batch(*map(np.concatenate, zip(*map(astuple, batches), strict=True)))
            rate = RATE * (1 - number / plan.iterations)
            entropy = trainer.learn(batch, rng, rate)
            say(f"{number + 1} of {plan.iterations}: {len(batch):,} choices, entropy {entropy:.2f}")
            yield trainer.network


def cpu_seconds() -> float:
    """Return the processor time of this process and of its children that have exited, in seconds."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    """Train, and write the weights."""
    parser = argparse.ArgumentParser(
        prog="scripts/train_mist", description="Trains bots/mist_learned by self-play."
    )
    parser.add_argument("file", nargs="?", type=Path, default=Path("bots/mist_learned/weights.npz"))
    parser.add_argument("--iterations", type=int, default=Plan().iterations)
    parser.add_argument("--matches", type=int, default=Plan().matches, help="of each iteration")
    parser.add_argument("--seed", type=int, default=Plan().seed)
    parser.add_argument("--workers", type=int, help="processes; default: one for each core")
    given = parser.parse_args()
    plan = Plan(iterations=given.iterations, matches=given.matches, seed=given.seed, workers=given.workers)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for network in train(plan, Path(folder)):
            network.write(given.file)
    say(f"{given.file}: {time.monotonic() - began:,.0f} s, {cpu_seconds():,.0f} s of processor time")


if __name__ == "__main__":
    main()
