"""Trajectories of self-play as NumPy files: a folder of shards, each a `.npz` file of bounded size."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
from msgspec import Struct

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
        first = columns["played" if name in _BY_MATCH else "choices"]
        wanted = _DIMENSIONS.get(name, 1)
        fits = column.ndim >= wanted if name == "observations" else column.ndim == wanted
        if not fits or column.shape[:1] != first.shape[:1]:
            raise ShardError(f"{path}: {name} has shape {column.shape}, which does not fit the others")
    return columns


def read_shards(folder: Path | str) -> Iterator[Shard]:
    """Yield a folder's shards, in order. Raises the errors of `read_shard`."""
    for path in sorted(Path(folder).glob(PATTERN)):
        yield read_shard(path)
