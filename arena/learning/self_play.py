"""Self-play over processes: many matches at once, with policies that choose for whole batches of seats.

A process plays the matches of one shard in step, queries the policy for all pending choices at once, and writes
the shard: trajectories as one `.npz` file of bounded size. Its content depends only on the seed, the policies and
the shard's number, not on the processes.
"""

import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from itertools import chain, starmap
from pathlib import Path
from random import Random
from typing import IO, Any, Self, Unpack
from zipfile import ZipFile

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct
from rich.progress import TimeElapsedColumn

from arena.learning.episode import SEED_BITS, EnvironmentSpec, Episode, EpisodeArguments
from arena.processes import process_pool
from arena.quantities import require_int
from arena.terminal import Words, progress_bar, progress_console
from bots.kit import error_text
from referee.linux.files import open_regular

MOST_BYTES = 1 << 30
"""Maximum size of a shard in bytes, so that it fits into memory. Larger ones are neither written nor read."""
PATTERN = "shard-*.npz"


class ShardError(ValueError):
    """A file is not a shard. The text names the file and the field."""


class Shard(Struct, frozen=True, kw_only=True):
    """Trajectories of some matches. A row is one choice; rows are in order of match, seat and time.

    The rows of one match and one seat form a trajectory.
    """

    observations: npt.NDArray[Any]
    """The encoded view of the seat, with its choices so far in this action; indexed by row."""
    masks: npt.NDArray[np.int8]
    """A 1 for each choice that was allowed; indexed by row and choice."""
    choices: npt.NDArray[np.int16]
    """The choice that was made; indexed by row."""
    seats: npt.NDArray[np.int16]
    """The seat that chose; indexed by row."""
    policies: npt.NDArray[np.int16]
    """The index of the policy that chose; indexed by row."""
    matches: npt.NDArray[np.int64]
    """The number of the match, as in `played`; indexed by row."""
    windows: npt.NDArray[np.int32]
    """The number of the window in its match, from 0; indexed by row."""
    rewards: npt.NDArray[np.float32]
    """The seat's reward in the last row of its trajectory, 0 in all others; indexed by row."""
    played: npt.NDArray[np.int64]
    """The number of the match; indexed by match of this shard."""
    lengths: npt.NDArray[np.int32]
    """The number of windows; indexed by match of this shard."""
    returns: npt.NDArray[np.float32]
    """The reward; indexed by match of this shard and seat."""
    scores: npt.NDArray[np.float32]
    """The game's score, NaN if it has none; indexed by match of this shard and seat."""


_DIMENSIONS = {"masks": 2, "returns": 2, "scores": 2}
_BY_MATCH = ("played", "lengths", "returns", "scores")
_KINDS = {"returns": "f", "scores": "f", "rewards": "f", "observations": "biuf"}
"""Letters of NumPy's kinds of numbers per array; the default is whole numbers."""


def write_shard(path: Path, shard: Shard) -> None:
    """Write a shard atomically, under a temporary name first.

    Raises:
        ValueError: the shard has more than `MOST_BYTES`.
        OSError: the file cannot be written.
    """
    columns = {name: getattr(shard, name) for name in Shard.__struct_fields__}
    size = sum(column.nbytes for column in columns.values())
    if size > MOST_BYTES:
        raise ValueError(f"{path}: {size:,} bytes; at most {MOST_BYTES:,}: let it have fewer matches")
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, **columns)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_shard(path: Path) -> Shard:
    """Read a shard.

    Raises:
        ShardError: the file is not a shard.
        OSError: the file cannot be read, or is not a regular file.
    """
    with open_regular(Path(path)) as opened:
        size = os.fstat(opened.fileno()).st_size
        if size > 2 * MOST_BYTES:
            raise ShardError(f"{path}: {size:,} bytes; at most {2 * MOST_BYTES:,}")
        try:
            columns = _columns(path, opened)
        except ShardError:
            raise
        except Exception as error:  # noqa: BLE001 - of a damaged file, zipfile may raise anything
            raise ShardError(f"{path}: not a whole .npz file: {error}") from None
    return Shard(**_checked(path, columns))


def _columns(path: Path, opened: IO[bytes]) -> dict[str, npt.NDArray[Any]]:
    with ZipFile(opened) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > 2 * MOST_BYTES:
        raise ShardError(f"{path}: {size:,} bytes; at most {2 * MOST_BYTES:,}")
    opened.seek(0)
    with np.load(opened, allow_pickle=False) as file:
        return {name: _column(path, file, name) for name in Shard.__struct_fields__}


def _column(path: Path, file: Any, name: str) -> npt.NDArray[Any]:
    if name not in file.files:
        raise ShardError(f"{path}: {name} is missing")
    try:
        column = file[name]
    except Exception as error:  # noqa: BLE001 - NumPy evaluates a header's text, which may raise anything
        raise ShardError(f"{path}: {name}: {error}") from None
    if not isinstance(column, np.ndarray) or column.dtype.kind not in _KINDS.get(name, "iu"):
        raise ShardError(f"{path}: {name} is no array of such numbers")
    return column


def _checked(path: Path, columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    for name, column in columns.items():
        rows = columns["choices"]
        if name in _BY_MATCH:
            rows = columns["played"]
        wanted = _DIMENSIONS.get(name, 1)
        if name == "observations":
            wanted = max(wanted, column.ndim)
        if column.ndim != wanted or column.shape[:1] != rows.shape[:1]:
            raise ShardError(f"{path}: {name} has shape {column.shape}, which does not fit the others")
    return columns


def read_shards(folder: Path | str) -> Iterator[Shard]:
    """Yield a folder's shards, in order. Raises the errors of `read_shard`."""
    for path in sorted(Path(folder).glob(PATTERN)):
        yield read_shard(path)


Policy = Callable[[npt.NDArray[Any], npt.NDArray[np.int8], np.random.Generator], npt.NDArray[Any]]
"""A function from observations, masks (one row per pending choice) and a generator to a choice per row.

All its randomness must come from the generator. Other processes must be able to import it.
"""
MANIFEST = "self-play.json"
MOST_MANIFEST = 1 << 20
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that linear-algebra libraries respect: the processes share the cores, so each needs one thread."""


def uniform(
    _observations: npt.NDArray[Any], masks: npt.NDArray[np.int8], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Choose uniformly among the legal choices; a policy."""
    choices: npt.NDArray[np.int64] = np.argmax(np.where(masks, rng.random(masks.shape), -1.0), axis=1)
    return choices


class PolicyError(RuntimeError):
    """A policy raised an exception, which is the cause of this one."""


class SelfPlayReport(Struct, frozen=True, kw_only=True):
    """The result of a run."""

    matches: int
    """Number of matches played in this run."""
    steps: int
    """Number of choices in these matches."""
    kept: int
    """Number of matches of an earlier run that were already in the folder."""
    seconds: float
    cpu_seconds: float
    """Processor time of the playing processes, in seconds."""

    def __str__(self) -> str:
        """Return the report in one line."""
        rate = self.steps / self.seconds if self.seconds else 0.0
        text = f"{self.matches:,} matches, {self.steps:,} steps in {self.seconds:.1f} s: {rate:,.0f} steps/s"
        if self.kept:
            text += f", {self.kept:,} matches kept"
        return text


class ShardReport(Struct, frozen=True):
    """A process's report of a shard that it has written."""

    matches: int
    steps: int
    cpu_seconds: float


class SelfPlay:
    """Processes that play matches of one game. A context manager: they exit at the end of its block."""

    def __init__(
        self,
        game: str,
        *,
        workers: int | None = None,
        at_once: int = 64,
        **arguments: Unpack[EpisodeArguments],
    ) -> None:
        """Check the arguments; processes start with the block.

        Args:
            game: the game's name, as on the command line.
            workers: the number of processes; None for one per core, 1 for this process alone.
            at_once: the number of matches that a process plays in step. They form one shard.
            arguments: `variant`, `options`, `setup`, `reward`, `max_windows` and `encoder`: see `EnvironmentSpec`.

        Raises:
            ValueError: an argument is wrong; the text names it.
        """
        self._spec = EnvironmentSpec(game=game, **arguments)
        self.seats = self._spec.episode().seats
        self._workers = len(os.sched_getaffinity(0)) if workers is None else require_int("workers", workers, 1)
        self._at_once = require_int("at_once", at_once, 1)
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
        """Play matches and write their trajectories to the folder as shards, for `read_shards`.

        A second run with the same arguments plays only the missing shards.

        Args:
            policy: one for all seats, or one per seat: then seat `s` of match `m` is played by number `(s + m) %
                seats`.
            matches: the total number of matches.
            folder: the folder, created if missing.
            seed: the seed of all randomness.
            progress: True to show a progress bar on a terminal.

        Raises:
            ValueError: an argument is wrong, the folder holds another run, or a policy's choices are not legal.
            PolicyError: a policy raised an exception.
        """
        if self._pool is None and self._workers > 1:
            raise ValueError("the processes run within a `with` block only")
        matches, seed = require_int("matches", matches, 1), require_int("seed", seed, 0)
        policies = (policy,) * self.seats if callable(policy) else tuple(policy)
        if len(policies) != self.seats:
            raise ValueError(f"policy: {len(policies)} for the {self.seats} seats of {self._spec.game}")
        sent = _pickled(policies, self._spec)
        folder = Path(folder)
        self._claim(folder, matches, seed, sent)
        due = []
        kept = 0
        for shard, first in enumerate(range(0, matches, self._at_once)):
            numbers, path = range(first, min(matches, first + self._at_once)), folder / f"shard-{shard:06d}.npz"
            if path.exists():
                kept += len(numbers)
            else:
                due.append((sent, numbers, seed, shard, path))
        began = time.monotonic()
        played, steps, cpu_seconds = 0, 0, 0.0
        with progress_bar(progress_console(), Words(), TimeElapsedColumn(), transient=True) as bar:
            task = bar.add_task("matches", total=matches, visible=progress)
            bar.advance(task, kept)
            for each in self._played(due):
                played += each.matches
                steps += each.steps
                cpu_seconds += each.cpu_seconds
                rate = steps / (time.monotonic() - began)
                bar.update(task, description=f"matches, {rate:,.0f} steps/s")
                bar.advance(task, each.matches)
        seconds = time.monotonic() - began
        return SelfPlayReport(matches=played, steps=steps, kept=kept, seconds=seconds, cpu_seconds=cpu_seconds)

    def _played(self, due: Sequence[tuple[bytes, range, int, int, Path]]) -> Iterator[ShardReport]:
        """Play shards, here or in the pool, with these arguments of `_play_shard`."""
        if self._pool is None:
            yield from starmap(_play_shard, due)
            return
        futures = [self._pool.submit(_play_shard, *each) for each in due]
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
        """Write the manifest of this run to the folder. Raises ValueError if the folder holds another run."""
        spec = self._spec
        manifest = msgspec.json.format(
            msgspec.json.encode(
                {
                    "game": spec.game,
                    "variant": spec.variant,
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


def _pickled(policies: tuple[Policy, ...], spec: EnvironmentSpec) -> bytes:
    try:
        return pickle.dumps((policies, spec))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _not_importable(error) from None


def _not_importable(error: Exception) -> ValueError:
    what = "other processes must be able to import policies, encoder and reward"
    return ValueError(f"{what}: put them into a module, at its top level ({error})")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit processes that start in this block to one thread, unless the user has set another number."""
    added = [name for name in ONE_THREAD if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _play_shard(sent: bytes, numbers: range, seed: int, shard: int, path: Path) -> ShardReport:
    """Play the matches of a shard in step and write them; runs in a process of the pool."""
    began = time.process_time()
    policies: tuple[Policy, ...]
    spec: EnvironmentSpec
    try:
        policies, spec = pickle.loads(sent)  # noqa: S301 - the process that started this one has sent it
    except (AttributeError, ImportError) as error:
        raise _not_importable(error) from None
    rows = _Rows()
    rng = np.random.default_rng([seed, shard])
    episodes: dict[int, Episode] = {}
    for number in numbers:
        episodes[number] = spec.episode()
        episodes[number].reset(Random(f"{seed}/match/{number}").getrandbits(SEED_BITS))
    under_way = dict(episodes)
    while under_way:
        _step(under_way, policies, rng, rows)
        for number, episode in list(under_way.items()):
            while episode.close() and not (episode.over or episode.truncated) and not episode.choosing:
                pass
            if episode.over or episode.truncated:
                del under_way[number]
    write_shard(path, rows.shard(episodes))
    return ShardReport(len(numbers), len(rows.choices), time.process_time() - began)


def _step(
    episodes: dict[int, Episode], policies: tuple[Policy, ...], rng: np.random.Generator, rows: "_Rows"
) -> None:
    """Make one choice for each seat that owes one."""
    due: list[list[tuple[int, int]]] = [[] for _ in policies]
    for number, episode in episodes.items():
        for seat in episode.choosing:
            due[(seat + number) % len(policies)].append((number, seat))
    if all(policy is policies[0] for policy in policies):
        due = [list(chain.from_iterable(due))]
    for index, asked in enumerate(due):
        if not asked:
            continue
        observations = [episodes[number].observation(seat) for number, seat in asked]
        masks = np.stack([episodes[number].mask(seat) for number, seat in asked])
        # The policy gets a copy, as it may compute in place, and the rows must stay as the seats saw them.
        choices = _legal(_asked(policies[index], np.stack(observations), masks.copy(), rng), masks)
        for (number, seat), observation, mask, choice in zip(asked, observations, masks, choices, strict=True):
            episode = episodes[number]
            key = (number, seat, (seat + number) % len(policies), episode.table.number)
            rows.add(key, observation, mask, choice)
            episode.choose(seat, choice)


def _asked(
    policy: Policy, observations: npt.NDArray[Any], masks: npt.NDArray[np.int8], rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Query a policy. Raises PolicyError, which can be pickled for the parent process."""
    try:
        return np.asarray(policy(observations, masks, rng))
    except (Exception, SystemExit) as error:
        raise PolicyError(f"the policy raised {error_text(error)}") from error


def _legal(choices: Any, masks: npt.NDArray[np.int8]) -> list[int]:
    """Return a policy's choices as integers. Raises ValueError if they are not legal."""
    chosen = np.asarray(choices)
    if chosen.shape != (len(masks),) or chosen.dtype.kind not in "iu":
        given = f"{chosen.dtype} of shape {chosen.shape}"
        raise ValueError(f"policy: it gave {given}; expected one whole number for each of {len(masks)} rows")
    if chosen.min() < 0 or chosen.max() >= masks.shape[1] or not masks[np.arange(len(masks)), chosen].all():
        raise ValueError("policy: it chose an action that its mask does not allow")
    return list(map(int, chosen))


class _Rows:
    """The rows of an unfinished shard."""

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
        """Add a choice; the key is its match, seat, policy and window.

        Raises ValueError if the shard is too large.
        """
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
        """Return all rows as a shard, in order of match, seat and time."""
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
    if outcome is None or outcome.scores is None:
        return [np.nan] * episode.seats
    return [float(outcome.scores.get(str(seat), np.nan)) for seat in range(episode.seats)]
