"""Commands whose home, current folder or folder for temporary files is not as usual: docs/limits.md."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import CANNOT, DONE, WRONG_USE

ROOT = Path(__file__).parents[2]
NO_MOUNT = 77
MATCH = '"$PYTHON" -m arena match mist mist_random mist_random --isolation standard'
ODD = {
    "a read-only home": 'mount -t tmpfs -o ro none "$HOME"',
    "a home that is no folder": "export HOME=/dev/null",
    "no execution from TMPDIR": 'mount -t tmpfs -o noexec none "$TMPDIR"',
    "no execution from both": 'for at in "$TMPDIR" "$HOME"; do mount -t tmpfs -o noexec none "$at"; done',
    "no folder at TMPDIR": 'rmdir "$TMPDIR"',
    "no rights for others": "umask 077",
}
for_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can mount")


def typed(script: str, tmp_path: Path, *unshared: str) -> subprocess.CompletedProcess[str]:
    """Run a script in namespaces of its own, with an empty home and an empty folder for temporary files."""
    for name in ("home", "t", "current"):
        (tmp_path / name).mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "t"),
    }
    return subprocess.run(  # noqa: S603 - our own words
        [shutil.which("unshare") or "", *unshared, "sh", "-c", script],
        env=environment,
        cwd=tmp_path / "current",
        capture_output=True,
        text=True,
        check=False,
    )


@for_root
@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_plays_without_network_and_in(tmp_path: Path, odd: str, sandboxed: None) -> None:
    done = typed(f"{odd} || exit {NO_MOUNT}\nexec {MATCH}", tmp_path, "--mount", "--net")
    if done.returncode == NO_MOUNT:
        pytest.skip(done.stderr)
    assert DONE == done.returncode, done.stderr
    assert 1 == len(list((tmp_path / "current/transcripts").glob("*.jsonl")))


RUNS = 'name = "b"\nversion = "1"\ncommand = ["./made"]\ngames = "*"\n'
BOTS = {
    "a program": {"bot.toml": RUNS, "made": "#!/bin/sh\n"},
    "a build": {
        "bot.toml": RUNS + 'build = [["sh", "build.sh"]]\n',
        "build.sh": "echo '#!/bin/sh' >made\nchmod +x made\n",
    },
}


@for_root
@pytest.mark.parametrize("isolation", ["standard", "none"])
@pytest.mark.parametrize("files", BOTS.values(), ids=BOTS)
def test_a_cache_from_which_nothing_can_be_executed_is_named(
    tmp_path: Path, files: dict[str, str], isolation: str, sandboxed: None
) -> None:
    (tmp_path / "bot").mkdir()
    for name, text in files.items():
        (tmp_path / "bot" / name).write_text(text)
        (tmp_path / "bot" / name).chmod(0o755)
    script = f"""
    mount -t tmpfs -o noexec none "$HOME" || exit {NO_MOUNT}
    export TMPDIR="$HOME"
    exec "$PYTHON" -m arena match mist ../bot mist_random --isolation {isolation}
    """
    done = typed(script, tmp_path, "--mount", "--net")
    if done.returncode == NO_MOUNT:
        pytest.skip(done.stderr)
    assert WRONG_USE == done.returncode
    cache = tmp_path / "home/.cache/mist-arena"
    helps = "set XDG_CACHE_HOME to a folder on another mount"
    last = done.stderr.splitlines()[-1]
    assert last.startswith("arena: ../bot")
    assert last.endswith(f"cannot be executed: {cache} is mounted noexec; {helps}")


@for_root
def test_root_without_other_users_is_told_so_and_how_to_be_an_ordinary_user(tmp_path: Path) -> None:
    done = typed(MATCH, tmp_path, "--user", "--map-root-user")
    if done.stderr.startswith("unshare: "):
        pytest.skip(done.stderr)
    assert CANNOT == done.returncode
    assert "lacks the users that root's bots run as" in done.stderr.splitlines()[-1]
    assert "unshare --user --map-user=1000 --map-group=1000 arena" in done.stderr.splitlines()[-1]


@for_root
def test_the_doctor_of_root_without_other_users_says_that_bots_have_no_users(tmp_path: Path) -> None:
    done = typed('"$PYTHON" -m arena doctor', tmp_path, "--user", "--map-root-user")
    if done.stderr.startswith("unshare: "):
        pytest.skip(done.stderr)
    assert CANNOT == done.returncode
    assert re.search(r"^user of a bot +missing", done.stdout, re.MULTILINE), done.stdout
    (lack,) = [line for line in done.stdout.splitlines() if line.startswith("user of a bot: ")]
    assert "unshare --user --map-user=1000 --map-group=1000 arena" in lack


@pytest.mark.parametrize("command", ["", "--version", "games", "new-bot mist"])
def test_a_current_folder_that_was_deleted_is_named_by_every_command(tmp_path: Path, command: str) -> None:
    done = typed(f'rmdir ../current && exec "$PYTHON" -m arena {command}', tmp_path)
    assert (WRONG_USE, "") == (done.returncode, done.stdout)
    assert "arena: the current folder was deleted: change into one that is there\n" == done.stderr
