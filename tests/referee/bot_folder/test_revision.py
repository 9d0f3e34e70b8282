"""Bots at a revision: ordinary repositories of all kinds are read, strangers' have nothing of theirs run."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.commands import main
from arena.errors import WRONG_USE
from referee.bot_folder.manifest import BotFolderError, find_bot
from tests.referee.bot_folder.hostile_repositories import HOSTILE, git

TOML = 'name = "a"\nversion = "{}"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'


def committed(repository: Path, kind: str = "sha1") -> Path:
    """A repository whose bot has version 1 at the tag `one`, and version 2 since; the tag `two` is annotated."""
    (repository / "x").mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main", f"--object-format={kind}")
    (repository / "x" / "bot.py").write_text("print('hello')\n")
    for version in ("one", "two"):
        (repository / "x" / "bot.toml").write_text(TOML.format(version))
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", version)
        git(repository, "tag", *(() if version == "one" else ("-am", "x")), version)
    return repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return committed(tmp_path / "repository")


def version(place: Path, revision: str) -> str:
    return find_bot(f"{place}/x@{revision}").version


class TestOrdinary:
    @pytest.mark.parametrize(
        ("wanted", "revision"),
        [
            *(("two", name) for name in ("HEAD", "@", "main", "two", "two^{}", "heads/main", "refs/tags/two")),
            *(("one", name) for name in ("HEAD~1", "main^", "one")),
        ],
    )
    @pytest.mark.parametrize("kind", ["loose", "packed"])
    def test_every_way_to_name_a_revision(self, repository: Path, wanted: str, revision: str, kind: str) -> None:
        if kind == "packed":
            git(repository, "gc", "-q", "--aggressive")
        assert wanted == version(repository, revision)

    def test_a_hash_and_its_beginning(self, repository: Path) -> None:
        commit = git(repository, "rev-parse", "one")
        assert ["one", "one"] == [version(repository, commit), version(repository, commit[:10])]

    def test_a_repository_of_sha256(self, tmp_path: Path, repository: Path) -> None:
        assert "one" == version(committed(tmp_path / "other", "sha256"), "HEAD~1")

    def test_a_head_that_is_no_branch(self, repository: Path) -> None:
        git(repository, "checkout", "-q", "one")
        assert ["one", "two"] == [version(repository, "HEAD"), version(repository, "main")]

    def test_a_clone_with_its_remotes(self, tmp_path: Path, repository: Path) -> None:
        git(tmp_path, "clone", "-q", str(repository), "clone")
        names = ("origin/main", "origin", "origin/HEAD", "one")
        assert ["two", "two", "two", "one"] == [version(tmp_path / "clone", name) for name in names]

    def test_a_shallow_clone_as_far_as_it_goes(self, tmp_path: Path, repository: Path) -> None:
        git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "clone")
        assert "two" == version(tmp_path / "clone", "HEAD")
        with pytest.raises(BotFolderError, match="git knows no revision 'HEAD~1'"):
            version(tmp_path / "clone", "HEAD~1")

    def test_a_further_work_tree(self, tmp_path: Path, repository: Path) -> None:
        git(repository, "worktree", "add", "-q", str(tmp_path / "tree"), "one")
        assert ["one", "two"] == [version(tmp_path / "tree", "HEAD"), version(tmp_path / "tree", "main")]

    def test_a_repository_that_borrows_objects_is_refused_with_a_remedy(
        self, tmp_path: Path, repository: Path
    ) -> None:
        git(tmp_path, "clone", "-q", "--shared", str(repository), "clone")
        with pytest.raises(
            BotFolderError, match="borrows objects from elsewhere; make it whole: git repack -a -d"
        ):
            version(tmp_path / "clone", "HEAD")

    def test_replaced_objects_and_attributes_change_nothing(self, repository: Path) -> None:
        git(repository, "replace", git(repository, "rev-parse", "HEAD"), git(repository, "rev-parse", "one"))
        info = repository / ".git" / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text("* text eol=crlf ident\n")
        bot = find_bot(f"{repository}/x@HEAD")
        assert ("two", b"print('hello')\n") == (bot.version, (bot.folder / "bot.py").read_bytes())

    def test_a_forged_object_is_no_other_bots_content(self, tmp_path: Path, repository: Path) -> None:
        """A tree's name is what its author says; what is run is known by a hash that is taken here."""
        honest = find_bot(f"{repository}/x@HEAD")
        forged = committed(tmp_path / "forged")
        file, other = (
            forged / ".git" / "objects" / name[:2] / name[2:]
            for name in (git(forged, "rev-parse", f"HEAD:x/{which}") for which in ("bot.py", "bot.toml"))
        )
        file.chmod(0o644)
        file.write_bytes(other.read_bytes())
        with_it = find_bot(f"{forged}/x@HEAD")
        assert honest.content != with_it.content
        assert "print('hello')\n" == (find_bot(f"{repository}/x@HEAD").folder / "bot.py").read_text()

    def test_the_environment_of_a_hook_changes_nothing(
        self, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "no"))
        monkeypatch.setenv("GIT_CONFIG_COUNT", "x")
        assert "two" == version(repository, "HEAD")

    def test_nothing_is_written_into_the_repository(self, repository: Path) -> None:
        before = sorted((path, path.stat().st_mtime_ns) for path in repository.rglob("*"))
        version(repository, "one")
        assert before == sorted((path, path.stat().st_mtime_ns) for path in repository.rglob("*"))


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: each.__name__)
def test_a_strangers_repository_is_refused_in_one_line_and_runs_nothing(
    hostile: Callable[[Path, str], None], repository: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    hostile(repository, f"touch {ran}")
    before = {path.name for path in tmp_path.iterdir()}
    ended = CliRunner().invoke(main.main, ["match", "mist", f"{repository}/x@HEAD", "mist_random"])
    assert (WRONG_USE, "", 1) == (ended.exit_code, ended.stdout, ended.stderr.count("\n")), ended.stderr
    assert not ran.exists()
    assert before | {"cache"} == {path.name for path in tmp_path.iterdir()} | {"cache"}


def test_a_partial_clone_as_its_author_has_it_would_run_the_command(repository: Path, tmp_path: Path) -> None:
    """Else the table above would prove nothing."""
    ran = tmp_path / "ran"
    HOSTILE[0](repository, f"touch {ran}")
    words = ["git", "-C", str(repository), "cat-file", "-t", "HEAD:x"]
    subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60)  # noqa: S603
    assert ran.exists()


def test_a_program_in_the_settings_of_an_ordinary_repository_is_not_run(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (repository / "x" / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "three")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for name in (
        *(
            "filter.evil.smudge",
            "filter.evil.process",
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.askPass",
        ),
        *(
            "diff.evil.textconv",
            "diff.evil.command",
            "diff.external",
            "gpg.program",
            "core.sshCommand",
            "core.gitProxy",
        ),
        *("alias.rev-parse", "alias.cat-file", "core.alternateRefsCommand", "uploadpack.packObjectsHook"),
    ):
        git(repository, "config", name, f"!{program}" if name.startswith("alias") else str(program))
    hooks = repository / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        os.link(program, hooks / name)
    git(repository, "config", "core.hooksPath", str(hooks))
    ran.unlink(missing_ok=True)
    assert "two" == version(repository, "HEAD")
    assert not ran.exists()
