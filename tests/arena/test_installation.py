"""`arena --version` tells the commit: git's in a clone, the written one where the arena is installed.

And how the interpreter was built is read from its own configuration.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from arena import installation
from tests.builders.command_line import arena


def version() -> str:
    return arena("--version").stdout


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, in the place of ours."""
    (tmp_path / "file").write_text("x")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "file")
    git(tmp_path, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
    monkeypatch.setattr(installation, "_GIT", tmp_path / ".git")
    monkeypatch.setattr(installation, "WRITTEN", tmp_path / "commit.txt")
    return tmp_path


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")[:12]


def git(folder: Path, *words: str) -> str:
    return subprocess.check_output(["git", "-C", folder, *words], text=True)  # noqa: S603, S607 - our own words


def test_a_clone_tells_its_commit_and_whether_files_were_changed_since(clone: Path) -> None:
    assert f", commit {head(clone)}\n" in version()
    (clone / "file").write_text("y")
    assert f", commit {head(clone)}-dirty\n" in version()


def test_the_commit_written_at_the_build_is_shown(clone: Path) -> None:
    (clone / "commit.txt").write_text("0123456789ab\n")
    assert ", commit 0123456789ab\n" in version()


def test_only_the_version_is_shown_without_git_and_commit_file(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_GIT", clone / "nowhere")
    assert version().startswith("arena, version ")
    assert "commit" not in version()


def test_only_the_version_is_shown_without_git(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(clone))
    assert "commit" not in version()


@pytest.mark.parametrize(
    ("prefix", "build", "said"),
    [
        ("/opt/python", {"CONFIG_ARGS": "'--enable-shared' '--enable-optimizations'"}, ", built with profiles"),
        ("/opt/python", {"CONFIG_ARGS": "x", "PY_CORE_CFLAGS": "-O3 -fprofile-use"}, ", built with profiles"),
        ("/opt/python", {"CONFIG_ARGS": "'--enable-shared'", "PY_CORE_CFLAGS": "-O3"}, ", built without profile"),
        # What every build has, with profiles or without:
        ("/opt/python", {"CONFIG_ARGS": "x", "PGO_PROF_USE_FLAG": "-fprofile-use"}, ", built without profile"),
        ("/usr", {"CONFIG_ARGS": "'--enable-shared' '--prefix=/usr'"}, "; whether it was built"),
        ("/usr", {"CONFIG_ARGS": "'--enable-optimizations'"}, ", built with profiles"),
        ("/opt/python", {}, "; whether it was built"),
    ],
)
def test_the_build_of_the_interpreter_is_described(
    monkeypatch: pytest.MonkeyPatch, prefix: str, build: dict[str, str], said: str
) -> None:
    monkeypatch.setattr(sys, "base_prefix", prefix)
    monkeypatch.setattr(sysconfig, "get_config_var", build.get)
    monkeypatch.setattr("platform.python_version", lambda: "3.14.1")
    assert installation.interpreter().startswith(f"CPython 3.14.1{said}")
