"""Self-play over processes: many matches at once, in which policies choose for whole batches of seats.

A process plays the matches of one shard in step, asks the policy for all that is to be chosen at once, and writes
the shard. What is in a shard depends on the seed, the policies and its number alone, and not on the processes.
"""

import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Self

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct
from rich.progress import TimeElapsedColumn

from arena.learning.encoders import Encoder
from arena.learning.episode import SEED_BITS, Episode, Given, Reward
from arena.learning.shards import MOST_BYTES, PATTERN, Shard, write_shard
from arena.processes import process_pool
from arena.quantities import whole
from arena.terminal import Words, progress_bar, progress_console
from bots.kit import error_text
from referee.linux.regular_file import open_regular

Policy = Callable[[npt.NDArray[Any], npt.NDArray[np.int8], np.random.Generator], npt.NDArray[Any]]
"""From observations and masks, a row for each choice that is due, to the number of a choice for each row.

All its chance comes from the generator. Other processes must be able to import it.
"""
MANIFEST = "self-play.json"
MOST_MANIFEST = 1 << 20
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Libraries of linear algebra heed these: the processes share the cores, so each needs one thread."""


def uniform(
    _observations: npt.NDArray[Any], masks: npt.NDArray[np.int8], luck: np.random.Generator
) -> npt.NDArray[np.int64]:
    """A policy: each legal choice is as likely."""
    choices: npt.NDArray[np.int64] = np.argmax(np.where(masks, luck.random(masks.shape), -1.0), axis=1)
    return choices


class PolicyError(RuntimeError):
    """A policy raised. Its own exception is the cause."""


class SelfPlayReport(Struct, frozen=True, kw_only=True):
    """What a run came to."""

    matches: int
    """Those that were played now."""
    steps: int
    """Choices in them."""
    kept: int
    """Matches of an earlier run that were in the folder already."""
    seconds: float
    cpu_seconds: float
    """Processor time of the processes that played."""

    def __str__(self) -> str:
        """In one line."""
        rate = self.steps / self.seconds if self.seconds else 0.0
        kept = f", {self.kept:,} matches kept" if self.kept else ""
        return f"{self.matches:,} matches, {self.steps:,} steps in {self.seconds:.1f} s: {rate:,.0f} steps/s{kept}"


class Played(Struct, frozen=True):
    """What a process says of a shard that it has written."""

    matches: int
    steps: int
    cpu_seconds: float


class Terms(Struct, frozen=True):
    """What all matches have in common."""

    game: str
    variant: str | None
    options: Given
    setup: Given
    reward: Reward
    max_windows: int | None
    encoder: Encoder | None

    def episode(self) -> Episode:
        """A match to be. Raises ValueError."""
        return Episode(
            self.game,
            variant=self.variant,
            options=self.options,
            setup=self.setup,
            reward=self.reward,
            max_windows=self.max_windows,
            encoder=self.encoder,
        )


class SelfPlay:
    """Processes that play matches of one game. A context manager: they live as long as its block."""

    def __init__(
        self,
        game: str,
        *,
        variant: str | None = None,
        options: Given = None,
        setup: Given = None,
        reward: Reward = "rank",
        max_windows: int | None = None,
        encoder: Encoder | None = None,
        workers: int | None = None,
        at_once: int = 64,
    ) -> None:
        """Nothing starts before the block.

        Args:
            game: as on the command line.
            variant: None: the default.
            options: as Struct or plain values.
            setup: the secrets of every deal; None: each deal's own.
            reward: what seats get at the end, as for the environments.
            max_windows: after so many windows a match ends without rewards.
            encoder: what makes observations; None: the game's own.
            workers: processes; None: one for each core. 1: this process.
            at_once: how many matches a process plays in step. They are one shard.

        Raises:
            ValueError: one of these is wrong; the text names it.
        """
        self._terms = Terms(game, variant, options, setup, reward, max_windows, encoder)
        self.seats = self._terms.episode().seats
        self._workers = len(os.sched_getaffinity(0)) if workers is None else whole("workers", workers, 1)
        self._at_once = whole("at_once", at_once, 1)
        self._block = ExitStack()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        with ExitStack() as block:
            if self._workers > 1:
                block.enter_context(_one_thread())
                self._pool = block.enter_context(process_pool(self._workers))
            self._block = block.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._pool = None
        self._block.__exit__(*error)  # type: ignore[arg-type]  # as they came

    def play(
        self,
        policy: Policy | Sequence[Policy],
        matches: int,
        folder: Path | str,
        *,
        seed: int,
        progress: bool = True,
    ) -> SelfPlayReport:
        """Plays matches and writes their trajectories as shards into the folder; `read_shards` reads them.

        Run again with the same arguments, it plays what is missing.

        Args:
            policy: for all seats, or one for each: then seat `s` of match `m` is played by number
                `(s + m) % seats`.
            matches: how many in all.
            folder: made if it is not there.
            seed: of all chance.
            progress: whether a terminal shows a bar.

        Raises:
            ValueError: an argument is wrong, the folder holds another run, or a policy gave no legal choices.
            PolicyError: a policy raised.
        """
        if self._pool is None and self._workers > 1:
            raise ValueError("the processes run within a `with` block only")
        matches, seed = whole("matches", matches, 1), whole("seed", seed, 0)
        policies = (policy,) * self.seats if callable(policy) else tuple(policy)
        if len(policies) != self.seats:
            raise ValueError(f"policy: {len(policies)} for the {self.seats} seats of {self._terms.game}")
        sent = _pickled(policies, self._terms)
        folder = Path(folder)
        self._claim(folder, matches, seed, sent)
        shards = range(-(-matches // self._at_once))
        due = [shard for shard in shards if not (folder / _name(shard)).exists()]
        began = time.monotonic()
        done: list[Played] = []
        with progress_bar(progress_console(), Words(), TimeElapsedColumn(), transient=True) as bar:
            task = bar.add_task("matches", total=matches, visible=progress)
            kept = matches - sum(len(self._numbers(shard, matches)) for shard in due)
            bar.advance(task, kept)
            parts = [(shard, self._numbers(shard, matches)) for shard in due]
            for played in self._played(sent, parts, folder, seed):
                done.append(played)
                rate = sum(each.steps for each in done) / (time.monotonic() - began)
                bar.update(task, description=f"matches, {rate:,.0f} steps/s")
                bar.advance(task, played.matches)
        return SelfPlayReport(
            matches=sum(each.matches for each in done),
            steps=sum(each.steps for each in done),
            kept=kept,
            seconds=time.monotonic() - began,
            cpu_seconds=sum(each.cpu_seconds for each in done),
        )

    def _numbers(self, shard: int, matches: int) -> range:
        """The matches of a shard."""
        return range(shard * self._at_once, min(matches, (shard + 1) * self._at_once))

    def _played(self, sent: bytes, due: Sequence[tuple[int, range]], folder: Path, seed: int) -> Iterator[Played]:
        given = [(sent, numbers, seed, shard, folder / _name(shard)) for shard, numbers in due]
        if self._pool is None:
            yield from (_play_shard(*each) for each in given)
            return
        futures = [self._pool.submit(_play_shard, *each) for each in given]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise ValueError(
                "a process ended: memory may be short, or other processes cannot import the policy; a script "
                'plays below `if __name__ == "__main__":`'
            ) from None
        finally:
            for future in futures:
                future.cancel()

    def _claim(self, folder: Path, matches: int, seed: int, sent: bytes) -> None:
        """Says in the folder what is played there. Raises ValueError if it is something else."""
        terms = self._terms
        manifest = msgspec.json.format(
            msgspec.json.encode(
                {
                    "game": terms.game,
                    "variant": terms.variant,
                    "matches": matches,
                    "at_once": self._at_once,
                    "seed": seed,
                    "content": sha256(sent).hexdigest(),
                }
            )
        )
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / MANIFEST
        if not path.exists() and any(folder.glob(PATTERN)):
            raise ValueError(f"{folder}: it holds shards of an unknown run, without {MANIFEST}; take a new one")
        if path.exists():
            with open_regular(path) as file:
                if file.read(MOST_MANIFEST) != manifest:
                    raise ValueError(f"{path}: another run is in this folder; take a new one")
            return
        part = path.with_name(f"{MANIFEST}.{os.getpid()}.part")
        part.write_bytes(manifest)
        part.replace(path)


def _pickled(policies: tuple[Policy, ...], terms: Terms) -> bytes:
    try:
        return pickle.dumps((policies, terms))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_importable(error) from None


def _not_importable(error: Exception) -> ValueError:
    what = "other processes must be able to import policies, encoder and reward"
    return ValueError(f"{what}: put them into a module, at its top level ({error})")


def _name(shard: int) -> str:
    return f"shard-{shard:06d}.npz"


@contextmanager
def _one_thread() -> Iterator[None]:
    """Processes that start in this block compute with one thread, unless their user has said otherwise."""
    added = [name for name in ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _play_shard(sent: bytes, numbers: range, seed: int, shard: int, path: Path) -> Played:
    """In a process of the pool: plays the matches of a shard in step, and writes them."""
    began = time.process_time()
    policies: tuple[Policy, ...]
    terms: Terms
    try:
        policies, terms = pickle.loads(sent)  # noqa: S301 - the process that started this one has sent it
    except (AttributeError, ImportError) as error:
        raise _not_importable(error) from None
    rows = _Rows()
    luck = np.random.default_rng([seed, shard])
    episodes: dict[int, Episode] = {}
    for number in numbers:
        episodes[number] = terms.episode()
        episodes[number].reset(Random(f"{seed}/match/{number}").getrandbits(SEED_BITS))
    under_way = dict(episodes)
    while under_way:
        _step(under_way, policies, luck, rows)
        for number, episode in list(under_way.items()):
            while episode.close() and not (episode.over or episode.truncated) and not episode.choosing:
                pass
            if episode.over or episode.truncated:
                del under_way[number]
    write_shard(path, rows.shard(episodes))
    return Played(len(numbers), len(rows.choices), time.process_time() - began)


def _step(
    episodes: dict[int, Episode], policies: tuple[Policy, ...], luck: np.random.Generator, rows: "_Rows"
) -> None:
    """One choice of each seat that owes one."""
    due: list[list[tuple[int, int]]] = [[] for _ in policies]
    for number, episode in episodes.items():
        for seat in episode.choosing:
            due[(seat + number) % len(policies)].append((number, seat))
    if all(policy is policies[0] for policy in policies):
        due = [[asked for part in due for asked in part]]
    for index, asked in enumerate(due):
        if not asked:
            continue
        observations = [episodes[number].observation(seat) for number, seat in asked]
        masks = np.stack([episodes[number].mask(seat) for number, seat in asked])
        # What the policy is given is its own: it may compute in place, and the rows stay what the seats saw.
        choices = _legal(_asked(policies[index], np.stack(observations), masks.copy(), luck), masks)
        for (number, seat), observation, mask, choice in zip(asked, observations, masks, choices, strict=True):
            episode = episodes[number]
            key = (number, seat, (seat + number) % len(policies), episode.table.number)
            rows.add(key, observation, mask, choice)
            episode.choose(seat, choice)


def _asked(
    policy: Policy, observations: npt.NDArray[Any], masks: npt.NDArray[np.int8], luck: np.random.Generator
) -> npt.NDArray[Any]:
    """What a policy gives. Raises PolicyError, which finds its way back from another process as it is."""
    try:
        return np.asarray(policy(observations, masks, luck))
    except (Exception, SystemExit) as error:
        raise PolicyError(f"the policy raised {error_text(error)}") from error


def _legal(choices: Any, masks: npt.NDArray[np.int8]) -> list[int]:
    """What a policy chose. Raises ValueError."""
    chosen = np.asarray(choices)
    if chosen.shape != (len(masks),) or chosen.dtype.kind not in "iu":
        given = f"{chosen.dtype} of shape {chosen.shape}"
        raise ValueError(f"policy: it gave {given}; expected one whole number for each of {len(masks)} rows")
    if chosen.min() < 0 or chosen.max() >= masks.shape[1] or not masks[np.arange(len(masks)), chosen].all():
        raise ValueError("policy: it chose an action that its mask does not allow")
    return [int(choice) for choice in chosen]


class _Rows:
    """The rows of a shard under way."""

    def __init__(self) -> None:
        self.observations: list[npt.NDArray[Any]] = []
        self.masks: list[npt.NDArray[np.int8]] = []
        self.choices: list[int] = []
        self._keys: list[tuple[int, int, int, int]] = []
        self._bytes = 0

    def add(
        self,
        key: tuple[int, int, int, int],
        observation: npt.NDArray[Any],
        mask: npt.NDArray[np.int8],
        choice: int,
    ) -> None:
        """A choice; the key is its match, seat, policy and window. Raises ValueError: the shard is too large."""
        self.observations.append(observation)
        self.masks.append(mask)
        self.choices.append(choice)
        self._keys.append(key)
        self._bytes += observation.nbytes + mask.nbytes + 100
        if self._bytes > MOST_BYTES:
            raise ValueError(
                f"at_once: matches this long make a shard of more than {MOST_BYTES:,} bytes; take fewer"
            )

    def shard(self, episodes: dict[int, Episode]) -> Shard:
        """All rows, in order of match, seat and time."""
        keys = np.array(self._keys, np.int64).reshape(-1, 4)
        order = np.lexsort((np.arange(len(keys)), keys[:, 1], keys[:, 0]))
        matches, seats, policies, windows = keys[order].T
        returns = {number: episode.rewards() for number, episode in episodes.items()}
        rewards = np.zeros(len(order), np.float32)
        last = np.ones(len(order), bool)
        last[:-1] = (np.diff(matches) != 0) | (np.diff(seats) != 0)
        for row in np.flatnonzero(last):
            rewards[row] = returns[int(matches[row])][int(seats[row])]
        return Shard(
            observations=np.stack(self.observations)[order],
            masks=np.stack(self.masks)[order],
            choices=np.array(self.choices, np.int16)[order],
            seats=seats.astype(np.int16),
            policies=policies.astype(np.int16),
            matches=matches,
            windows=windows.astype(np.int32),
            rewards=rewards,
            played=np.array(list(episodes), np.int64),
            lengths=np.array([episode.table.number for episode in episodes.values()], np.int32),
            returns=np.array(list(returns.values()), np.float32),
            scores=np.array([_scores(episode) for episode in episodes.values()], np.float32),
        )


def _scores(episode: Episode) -> list[float]:
    outcome = episode.table.outcome
    scores = (outcome.scores if outcome else None) or {}
    return [float(scores.get(str(seat), np.nan)) for seat in range(episode.seats)]
