"""Self-play over processes, and its trajectories."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_LZMA, ZipFile

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import asdict

from arena.learning import (
    Episode,
    Policy,
    PolicyError,
    SelfPlay,
    Shard,
    ShardError,
    read_shard,
    read_shards,
    uniform,
)
from arena.learning.episode import SEED_BITS
from arena.learning.self_play import MANIFEST, _legal, write_shard

Array = npt.NDArray[Any]
SHORT = {"max_turns": 6}


def first_legal(_seen: Array, masks: Array, _rng: np.random.Generator) -> Array:
    return np.asarray(masks.argmax(axis=1))


def played(folder: Path, matches: int = 5, workers: int = 1) -> list[Shard]:
    with SelfPlay("mist", options=SHORT, workers=workers, at_once=2) as players:
        players.play([uniform, first_legal], matches, folder, seed=7, progress=False)
    return list(read_shards(folder))


def test_a_trajectory_is_what_an_episode_shows_that_is_played_by_its_choices(tmp_path: Path) -> None:
    for shard in played(tmp_path):
        for index, number in enumerate(shard.played.tolist()):
            episode = Episode("mist", options=SHORT)
            episode.reset(Random(f"7/match/{number}").getrandbits(SEED_BITS))
            rows = {seat: np.flatnonzero((shard.matches == number) & (shard.seats == seat)) for seat in (0, 1)}
            at = {0: 0, 1: 0}
            while not episode.over:
                (seat,) = episode.choosing
                row = rows[seat][at[seat]]
                at[seat] += 1
                assert (episode.observation(seat) == shard.observations[row]).all()
                assert (episode.mask(seat) == shard.masks[row]).all()
                assert ((seat + number) % 2, episode.table.number) == (shard.policies[row], shard.windows[row])
                if shard.policies[row]:
                    assert shard.choices[row] == shard.masks[row].argmax()
                episode.choose(seat, int(shard.choices[row]))
                episode.close()
            assert at == {seat: len(found) for seat, found in rows.items()}
            assert episode.rewards() == shard.returns[index].tolist()
            assert episode.rewards() == [shard.rewards[rows[seat]].sum() for seat in (0, 1)]
            assert episode.rewards() == [shard.rewards[rows[seat][-1]] for seat in (0, 1)]
            outcome = episode.table.outcome
            assert outcome is not None
            assert outcome.scores == dict(zip("01", shard.scores[index].tolist(), strict=True))
            assert episode.table.number == shard.lengths[index]


def test_trajectories_are_the_same_over_processes_and_when_a_run_goes_on(tmp_path: Path) -> None:
    once = played(tmp_path / "once")
    assert [[0, 1], [2, 3], [4]] == [shard.played.tolist() for shard in once]
    again = tmp_path / "again"
    played(again)
    (again / "shard-000001.npz").unlink()
    with SelfPlay("mist", options=SHORT, workers=2, at_once=2) as players:
        report = players.play([uniform, first_legal], 5, again, seed=7, progress=False)
        assert (2, 3) == (report.matches, report.kept)
        with pytest.raises(ValueError, match="another run is in this folder"):
            players.play([uniform, first_legal], 5, again, seed=8, progress=False)
    for one, other in zip(once, read_shards(again), strict=True):
        for name, column in asdict(one).items():
            np.testing.assert_array_equal(column, getattr(other, name))


def test_seats_choose_at_once_in_games_of_many_seats(tmp_path: Path) -> None:
    with SelfPlay("pointing", options={"seats": 5}, workers=1, reward="win") as players:
        players.play(uniform, 2, tmp_path, seed=1, progress=False)
    (shard,) = read_shards(tmp_path)
    assert (2, 5) == shard.returns.shape
    assert {1.0, -1.0} == set(shard.returns.ravel().tolist())
    assert {0, 1, 2, 3, 4} == set(shard.seats[shard.windows == 0].tolist())


def test_a_policy_gives_a_legal_choice_for_each_row() -> None:
    masks = np.array([[1, 0], [0, 1]], np.int8)
    assert [0, 1] == _legal(np.array([0, 1]), masks)
    for choices in ([0, 0], [0, 2], [0, -1]):
        with pytest.raises(ValueError, match="an action that its mask does not allow"):
            _legal(np.array(choices), masks)
    for wrong in (np.array([0]), np.array([0.0, 1.0])):
        with pytest.raises(ValueError, match="expected one whole number for each of 2 rows"):
            _legal(wrong, masks)


def in_place(seen: Array, masks: Array, _rng: np.random.Generator) -> Array:
    """Compute in the given array."""
    chosen = np.asarray(masks.argmax(axis=1))
    seen[...] = 7
    masks[...] = 1
    return chosen


def cheat(_seen: Array, masks: Array, _rng: np.random.Generator) -> Array:
    """Says that it may do all, then what it may not."""
    masks[...] = 1
    return np.full(len(masks), masks.shape[1] - 1)


def test_a_policy_may_compute_in_place_and_the_trajectory_stays_what_the_seat_saw(tmp_path: Path) -> None:
    players = SelfPlay("mist", options=SHORT, workers=1)
    for name, policy in (("kept", first_legal), ("spoiled", in_place)):
        players.play(policy, 2, tmp_path / name, seed=7, progress=False)
    kept, spoiled = (next(read_shards(tmp_path / name)) for name in ("kept", "spoiled"))
    np.testing.assert_array_equal(kept.observations, spoiled.observations)
    np.testing.assert_array_equal(kept.masks, spoiled.masks)
    with pytest.raises(ValueError, match="policy: it chose an action that its mask does not allow"):
        players.play(cheat, 2, tmp_path / "cheat", seed=7, progress=False)


class OddError(Exception):
    """It cannot be built anew of its text, as another process would."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def fails(_seen: Array, _masks: Array, _rng: np.random.Generator) -> Array:
    raise OddError(1, 2)


def leaves(_seen: Array, _masks: Array, _rng: np.random.Generator) -> Array:
    raise SystemExit(3)


def ragged(_seen: Array, _masks: Array, _rng: np.random.Generator) -> Any:
    return [[1], [1, 2]]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("policy", "says"), [(fails, "OddError: 1 and 2"), (leaves, "SystemExit: 3"), (ragged, "ValueError: ")]
)
def test_an_error_of_a_policy_is_reported_from_other_processes_too(
    tmp_path: Path, policy: Policy, says: str, workers: int
) -> None:
    players = SelfPlay("mist", options=SHORT, workers=workers, at_once=2)
    with players, pytest.raises(PolicyError, match=f"the policy raised {says}"):
        players.play(policy, 4, tmp_path, seed=7, progress=False)


def test_shards_of_an_unknown_run_are_not_taken_for_this_one(tmp_path: Path) -> None:
    played(tmp_path)
    (tmp_path / "self-play.json").unlink()
    with pytest.raises(ValueError, match=r"shards of an unknown run, without self-play\.json"):
        played(tmp_path)


def test_impossible_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers: 0; at least 1"):
        SelfPlay("mist", workers=0)
    with pytest.raises(ValueError, match="chess"):
        SelfPlay("chess")
    players = SelfPlay("mist", workers=1)
    with pytest.raises(ValueError, match="policy: 3 for the 2 seats of mist"):
        players.play([uniform] * 3, 1, tmp_path, seed=1)
    with pytest.raises(ValueError, match="matches: 0; at least 1"):
        players.play(uniform, 0, tmp_path, seed=1)
    for wrong in (-1, 0.5, None):
        with pytest.raises(ValueError, match="seed: "):
            players.play(uniform, 1, tmp_path, seed=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="put them into a module"):
        players.play(lambda _seen, masks, _rng: masks.argmax(axis=1), 1, tmp_path, seed=1)
    assert [] == list(tmp_path.iterdir())


def test_a_file_that_is_no_shard_is_refused_by_file_and_field(tmp_path: Path) -> None:
    shard = played(tmp_path / "run", 1)[0]
    path = tmp_path / "shard-000000.npz"
    write_shard(path, shard)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ShardError, match=r"shard-000000\.npz: not a whole"):
        read_shard(path)
    columns = asdict(shard)
    np.savez_compressed(path, **columns)
    packed = bytearray(path.read_bytes())
    packed[200:220] = bytes(20)
    path.write_bytes(packed)
    with pytest.raises(ShardError, match="observations: Error -3"):
        read_shard(path)
    for name, column, reason in (
        ("seats", None, "seats is missing"),
        ("masks", shard.masks[:, 0], "masks has shape"),
        ("windows", shard.windows[1:], "windows has shape"),
        ("rewards", shard.seats, "rewards is no array of such numbers"),
        ("choices", np.array([print] * len(shard.choices)), "choices: .*pickle"),
    ):
        changed = (
            columns | {name: column} if column is not None else {n: c for n, c in columns.items() if n != name}
        )
        np.savez(path, **changed)
        with pytest.raises(ShardError, match=reason):
            read_shard(path)


NPY = "{'descr': '<i2', 'fortran_order': False, 'shape': (%s,), }"


@pytest.mark.parametrize(
    "header",
    [
        NPY % 10**30,
        NPY % -1,
        "{[]: 1}",
        "(",
        "{1: 2, 'a': 3}",
        NPY.replace("'<i2'", "[('a', ('b',))]") % 1,
        "(" * 5_000,
    ],
)
def test_a_header_that_numpy_cannot_read_is_refused_by_its_field(tmp_path: Path, header: str) -> None:
    path = tmp_path / "shard-000000.npz"
    write_shard(path, played(tmp_path / "run", 1)[0])
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["choices.npy"] = b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header.encode()
    with ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ShardError, match=r"shard-000000\.npz: choices"):
        read_shard(path)


@pytest.mark.parametrize("packing", [ZIP_BZIP2, ZIP_LZMA])
def test_a_damaged_member_is_refused_however_it_is_packed(tmp_path: Path, packing: int) -> None:
    path = tmp_path / "shard-000000.npz"
    columns = asdict(played(tmp_path / "run", 1)[0])
    with ZipFile(path, "w", packing) as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.save(file, column)
    packed = bytearray(path.read_bytes())
    packed[70:110] = b"\xff" * 40
    path.write_bytes(packed)
    with pytest.raises(ShardError, match="observations"):
        read_shard(path)


def test_a_damaged_directory_and_a_column_without_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "shard-000000.npz"
    shard = played(tmp_path / "run", 1)[0]
    write_shard(path, shard)
    whole = bytearray(path.read_bytes())
    whole[whole.rindex(b"PK\x01\x02") + 6] = 255  # The version that is needed to read a member.
    path.write_bytes(whole)
    with pytest.raises(ShardError, match="not a whole"):
        read_shard(path)
    np.savez(path, **(asdict(shard) | {"choices": np.int16(3)}))
    with pytest.raises(ShardError, match="has shape"):
        read_shard(path)
    with pytest.raises(FileNotFoundError):
        read_shard(tmp_path / "nothing.npz")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "it is a fifo, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a regular file"),
        (Path.mkdir, "it is a folder, not a regular file"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("nothing"), "No such file or directory"),
    ],
    ids=["a fifo", "a device", "a folder", "a loop", "nothing"],
)
def test_a_shard_is_a_regular_file(tmp_path: Path, make: Callable[[Path], None], reason: str) -> None:
    """A fifo would be waited for, and a device has no end."""
    path = tmp_path / "shard-000000.npz"
    make(path)
    with pytest.raises(OSError, match=reason):
        read_shard(path)
    with pytest.raises(OSError, match=reason):
        list(read_shards(tmp_path))


def test_a_shard_is_no_larger_than_one_can_be(tmp_path: Path) -> None:
    """Of the list of a large archive's members alone, memory would run out."""
    path = tmp_path / "shard-000000.npz"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(ShardError, match=r"shard-000000\.npz: 1,099,511,627,776 bytes; at most 2,147,483,648"):
        read_shard(path)


def test_a_run_does_not_wait_for_a_manifest_that_is_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / MANIFEST)
    with (
        SelfPlay("mist", options=SHORT, workers=1) as players,
        pytest.raises(OSError, match="it is a fifo, not a regular file"),
    ):
        players.play(uniform, 1, tmp_path, seed=1, progress=False)
