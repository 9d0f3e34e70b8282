"""Many transcripts at once: each is verified, whatever the others are."""

import os
import signal
from pathlib import Path

import pytest

from arena.errors import WrongUse
from arena.replay import verification
from arena.replay.verification import check_files, transcripts_in

GOOD = Path("docs/examples/three-turns.jsonl")


@pytest.mark.slow
def test_results_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    files = []
    for number in range(20):
        path = tmp_path / f"{number:02}.jsonl"
        path.write_bytes(b"{" if number % 7 == 3 else GOOD.read_bytes())
        files.append(path)
    for jobs in (1, 2):
        found = list(check_files(files, jobs))
        assert list(map(str, files)) == [each["transcript"] for each in found]
        assert [number % 7 != 3 for number in range(20)] == [each["holds"] for each in found]


def kill_itself(file: Path) -> tuple[object, object]:
    """Stands for `proved` in processes of the pool: one file ends its process."""
    if file.name == "deadly.jsonl":
        os.kill(os.getpid(), signal.SIGKILL)
    if file.name == "strange.jsonl":
        raise ZeroDivisionError("of a kind nobody foresaw")
    return ORIGINAL(file)


ORIGINAL = verification.proved


def checked(files: list[Path]) -> list[dict[str, object]]:
    """In a process of the pool."""
    verification.proved = kill_itself  # type: ignore[assignment]
    return [verification.checked(file) for file in files]


def checked_one(file: Path) -> dict[str, object]:
    """Check one file."""
    return checked([file])[0]


@pytest.mark.slow
def test_a_file_that_kills_its_process_ends_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [*(f"{number:02}" for number in range(4)), "deadly", "strange", "z1", "z2"]
    files = [tmp_path / f"{name}.jsonl" for name in names]
    for file in files:
        file.write_bytes(GOOD.read_bytes())
    monkeypatch.setattr(verification, "_checked_batch", checked)
    monkeypatch.setattr(verification, "checked", checked_one)
    found = list(check_files(files, 2))
    errors = {Path(each["transcript"]).stem: each.get("error") for each in found if not each["holds"]}
    assert sorted(map(str, files)) == sorted(each["transcript"] for each in found)
    assert {
        "deadly": "the process that verified it was killed",
        "strange": "cannot be verified: ZeroDivisionError: of a kind nobody foresaw",
    } == errors


def test_folders_are_searched_and_each_file_is_taken_once(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "b/a/1.jsonl", "a.jsonl", "c.jsonl.part", "d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    names = [
        str(file.relative_to(tmp_path)) for file in transcripts_in([tmp_path, tmp_path / "b", tmp_path / "d.txt"])
    ]
    assert ["a.jsonl", "b/2.jsonl", "b/a/1.jsonl", "d.txt"] == names


def test_there_is_a_most_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "MOST_FILES", 2)
    for name in ("1", "2", "3"):
        (tmp_path / f"{name}.jsonl").touch()
    with pytest.raises(WrongUse, match="with it there are more than 2 transcripts"):
        transcripts_in([tmp_path])


def test_a_name_that_is_not_utf_8_is_spelled(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    path.write_bytes(GOOD.read_bytes())
    (found,) = check_files([path], 1)
    assert found["holds"]
    assert str(found["transcript"]).endswith(r"/\xff.jsonl")
