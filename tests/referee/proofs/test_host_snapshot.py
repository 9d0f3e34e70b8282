"""Which processes of a machine are a bot's, as the attempts to escape look for them."""

from pathlib import Path

import pytest

from referee.proofs.escapes import host_snapshot
from referee.proofs.escapes.host_snapshot import processes_of_start


@pytest.mark.parametrize(
    ("is_its", "within"),
    [
        (True, "/home/anna/cache/copy 1"),
        (True, "/anna/cache/copy 1"),  # /home is a file system of its own.
        (False, "/anna/cache/copy 2"),
        (False, "/"),
    ],
)
def test_a_process_that_sees_a_folder_as_its_bots_own_is_found_wherever_the_folder_lies(
    is_its: bool, within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_snapshot, "PROC", tmp_path)
    (tmp_path / "41").mkdir()
    mounted = within.replace(" ", "\\040")
    lines = ["300 299 0:3 / /proc rw - proc proc rw", f"301 299 8:1 {mounted} /bot ro - ext4 d ro"]
    (tmp_path / "41" / "mountinfo").write_text("\n".join(lines))
    assert ({41} if is_its else set()) == processes_of_start("no token", Path("/home/anna/cache/copy 1"))
