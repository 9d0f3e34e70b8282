"""Bot folders: what bot.toml may say, and how a bot is found. Real files, and git as a real program."""

import os
import subprocess
from pathlib import Path

import pytest

from referee.bot_folder.content import content_hash, copy_place
from referee.bot_folder.manifest import (
    PATH,
    BotFolder,
    BotFolderError,
    Limits,
    built_in,
    find_bot,
    read_bot,
    read_bot_name,
)

GOOD = {"name": '"a"', "version": '"1"', "command": '["python", "bot.py"]', "games": '["mist"]'}


def make(folder: Path, **changes: str) -> Path:
    """A bot's folder; a change replaces one line's value, an empty one drops the line."""
    folder.mkdir(exist_ok=True)
    told = GOOD | changes
    limits = told.pop("limits", "")
    lines = [f"{key} = {value}" for key, value in told.items() if value]
    (folder / "bot.toml").write_text("\n".join([*lines, "[limits]", limits]))
    (folder / "bot.py").write_text("print('hello')\n")
    return folder


def complaint(folder: Path) -> str:
    """Return the error for a folder, without the path of its parent."""
    with pytest.raises(BotFolderError) as caught:
        read_bot(folder, given="a")
    text = str(caught.value)
    assert "\n" not in text
    return text.replace(f"{folder.parent}/", "")


def test_a_good_folder_is_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "x", limits="processes = 8")
    bot = read_bot(folder, given="mine")
    assert (
        BotFolder(
            given="mine",
            folder=copy_place(content_hash(folder)),
            name="a",
            version="1",
            command=("python", "bot.py"),
            games=("mist",),
            limits=Limits(processes=8),
            content=content_hash(folder),
        )
        == bot
    )


def test_a_bot_says_which_games_it_plays(tmp_path: Path) -> None:
    bot = read_bot(make(tmp_path / "x"), given="a")
    assert [True, False] == [bot.plays("mist"), bot.plays("pointing")]


def test_a_star_is_any_game(tmp_path: Path) -> None:
    for every in ('"*"', '["*"]'):
        assert read_bot(make(tmp_path / every, games=every), given="a").plays("pointing")
    with pytest.raises(BotFolderError, match=r'games: "\*" is every game: it stands alone'):
        read_bot(make(tmp_path / "y", games='["mist", "*"]'), given="a")


@pytest.mark.parametrize(
    ("wanted", "changes"),
    [
        ("x/bot.toml:1: name: is missing", {"name": ""}),
        ("x/bot.toml:1: name: 3: Expected `str`, got `int`", {"name": "3"}),
        ("x/bot.toml:1: name: '': Expected `str` of length >= 1", {"name": '""'}),
        ("x/bot.toml:3: command: []: Expected `array` of length >= 1", {"command": "[]"}),
        ("x/bot.toml:3: command[1]: 3: Expected `str`, got `int`", {"command": '["python", 3]'}),
        ("x/bot.toml:3: command: 'gone.py' is not a file in x", {"command": '["python", "gone.py"]'}),
        (
            f"x/bot.toml:3: command: 'no-such-program' is neither a file in x nor a program in {PATH}",
            {"command": '["no-such-program"]'},
        ),
        ("x/bot.toml:3: command: '../y' is neither a file in x nor", {"command": '["../y"]'}),
        ("x/bot.toml:3: command: 'bot.py' is not executable; try chmod +x x/bot.py", {"command": '["bot.py"]'}),
        ("x/bot.toml:4: games: 'mist'", {"games": '"mist"'}),
        ("x/bot.toml:5: transport: 'tcp' is not known; 'zmq' and 'stdio' are", {"transport": '"tcp"'}),
        (
            "x/bot.toml:5: color: is not a known field; the fields are name, version, command,",
            {"color": "1"},
        ),
        (
            "x/bot.toml:6: limits.memory_mb: 99999: Expected `int` <= 16384",
            {"limits": "memory_mb = 99999"},
        ),
        (
            "x/bot.toml:6: limits.memory: is not a known field; did you mean memory_mb?",
            {"limits": "memory = 9"},
        ),
        ("x/bot.toml:6: Invalid value", {"limits": "memory = "}),
    ],
)
def test_errors_in_bot_toml_are_named(tmp_path: Path, wanted: str, changes: dict[str, str]) -> None:
    (tmp_path / "y").write_text("")
    (tmp_path / "y").chmod(0o755)
    told = complaint(make(tmp_path / "x", **changes))
    assert told.startswith(wanted), told


def test_a_folder_without_bot_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    assert "x/bot.toml: cannot be read: No such file or directory" == complaint(tmp_path / "x")


def test_a_program_of_its_own_is_spelled_from_its_folder(tmp_path: Path) -> None:
    folder = make(tmp_path / "x", command='["engine", "fast"]')
    (folder / "engine").write_text("#!/bin/sh\n")
    (folder / "engine").chmod(0o755)
    assert ("./engine", "fast") == read_bot(folder, given="a").command


def test_a_program_of_the_system_stays_as_it_is(tmp_path: Path) -> None:
    assert ("sh", "bot.sh") == read_bot(make(tmp_path / "x", command='["sh", "bot.sh"]'), given="a").command


class TestContentHash:
    def test_it_is_the_same_wherever_the_folder_lies(self, tmp_path: Path) -> None:
        assert content_hash(make(tmp_path / "x")) == content_hash(make(tmp_path / "y"))

    def test_files_left_by_python_and_git_are_not_part_of_it(self, tmp_path: Path) -> None:
        folder = make(tmp_path / "x")
        before = content_hash(folder)
        for name in ("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache"):
            (folder / name).mkdir()
            (folder / name / "file").write_text("x")
        assert before == content_hash(folder)

    def test_a_byte_a_name_and_an_executable_bit_change_it(self, tmp_path: Path) -> None:
        folder = make(tmp_path / "x")
        seen = {content_hash(folder)}
        (folder / "bot.py").write_text("print('hellO')\n")
        seen.add(content_hash(folder))
        (folder / "bot.py").chmod(0o755)
        seen.add(content_hash(folder))
        (folder / "bot.py").rename(folder / "bat.py")
        seen.add(content_hash(folder))
        assert 4 == len(seen)

    def test_a_link_inside_the_folder_is_hashed_by_where_it_points(self, tmp_path: Path) -> None:
        folder = make(tmp_path / "x")
        (folder / "link").symlink_to("bot.py")
        before = content_hash(folder)
        (folder / "link").unlink()
        (folder / "link").symlink_to("bot.toml")
        assert before != content_hash(folder)

    @pytest.mark.parametrize("target", ["/etc/passwd", "../y", ".."])
    def test_a_link_out_of_the_folder_is_refused(self, tmp_path: Path, target: str) -> None:
        folder = make(tmp_path / "x")
        make(tmp_path / "y")
        (folder / "link").symlink_to(target)
        assert f"x/link: is a link to {target}, outside the bot's folder" == complaint(folder)

    def test_a_pipe_is_refused(self, tmp_path: Path) -> None:
        folder = make(tmp_path / "x")
        os.mkfifo(folder / "pipe")
        assert "x/pipe: is neither a file nor a folder" == complaint(folder)


def git(repository: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(repository), *identity, *arguments], check=True, capture_output=True)  # noqa: S603, S607


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose bot has version 1 at the tag `one` and version 2 since."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    for version in ("one", "two"):
        make(repository / "x", version=f'"{version}"')
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", version)
        git(repository, "tag", version)
    return repository


class TestFinding:
    def test_a_built_in_bot_is_found_by_its_name(self) -> None:
        assert "mist_random" in built_in()
        assert ("mist_random", "mist_random") == (find_bot("mist_random").given, find_bot("mist_random").name)

    def test_every_built_in_bot_is_a_good_folder(self) -> None:
        assert built_in() == [find_bot(name).given for name in built_in()]
        assert built_in() == [find_bot(name).name for name in built_in()]

    def test_an_unknown_name_is_told_the_known_ones(self) -> None:
        with pytest.raises(BotFolderError, match=r"^nobody: no folder .* the bots are .*mist_random"):
            find_bot("nobody")

    def test_a_misspelt_name_is_told_the_nearest_samples_and_folders(self, tmp_path: Path) -> None:
        make(tmp_path / "anna")
        (tmp_path / "hanna").mkdir()  # holds no bot
        with pytest.raises(BotFolderError, match=r": no .* is called that; did you mean mist_hunter\?$"):
            find_bot("mist_hnuter")
        with pytest.raises(BotFolderError, match=r": there is no such folder; did you mean anna\?$"):
            find_bot(f"{tmp_path}/ana")
        with pytest.raises(BotFolderError, match=r": no .* is called that; did you mean anna\?$"):
            find_bot(read_bot_name("ana", tmp_path))

    def test_a_bot_that_measures_the_referee_is_found_by_its_name_and_not_offered(self) -> None:
        assert "stress_edge" == find_bot("stress_edge").name
        assert "stress_edge" not in built_in()
        with pytest.raises(BotFolderError, match=r"^(?!.*stress_edge)"):
            find_bot("nobody")

    def test_a_folder_is_found_by_its_path(self, tmp_path: Path) -> None:
        assert content_hash(make(tmp_path / "x")) == find_bot(str(tmp_path / "x")).content

    def test_a_revision_is_what_was_there_then(self, repository: Path) -> None:
        then, now = find_bot(f"{repository}/x@one"), find_bot(f"{repository}/x")
        assert ["one", "two"] == [then.version, now.version]

    def test_a_revision_has_the_content_that_the_work_tree_has_at_it(self, repository: Path) -> None:
        assert find_bot(f"{repository}/x").content == find_bot(f"{repository}/x@two").content

    def test_the_same_content_is_exported_once(self, repository: Path) -> None:
        assert find_bot(f"{repository}/x@two").folder == find_bot(f"{repository}/x@HEAD").folder

    def test_a_revision_may_have_a_folder_that_is_gone_now(self, repository: Path) -> None:
        git(repository, "rm", "-rq", "x")
        assert "two" == find_bot(f"{repository}/x@two").version

    def test_the_repository_itself_may_be_the_bot(self, repository: Path) -> None:
        make(repository)
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "top")
        assert "a" == find_bot(f"{repository}@HEAD").name

    def test_unfinished_work_is_no_part_of_a_revision_and_stays(self, repository: Path) -> None:
        (repository / "x" / "bot.py").write_text("unfinished")
        assert "unfinished" != (find_bot(f"{repository}/x@HEAD").folder / "bot.py").read_text()
        assert "unfinished" == (repository / "x" / "bot.py").read_text()

    def test_a_strangers_repository_runs_no_program_of_its_own(self, repository: Path, tmp_path: Path) -> None:
        ran = tmp_path / "ran"
        (repository / "x" / ".gitattributes").write_text("* filter=evil\n")
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "three")
        for name in ("filter.evil.smudge", "core.fsmonitor"):
            git(repository, "config", name, f"touch {ran}; cat")
        for name in ("post-index-change", "post-checkout", "reference-transaction"):
            hook = repository / ".git" / "hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
            hook.chmod(0o755)
        assert "two" == find_bot(f"{repository}/x@HEAD").version
        assert not ran.exists()

    @pytest.mark.parametrize(
        ("wanted", "name"),
        [
            ("git knows no revision 'nope'", "x@nope"),
            ("git knows no revision '--all'", "x@--all"),
            ("revision two has no folder y", "y@two"),
            ("revision two has no folder x/bot.py", "x/bot.py@two"),
        ],
    )
    def test_a_revision_that_is_not_there_is_named(self, repository: Path, wanted: str, name: str) -> None:
        with pytest.raises(BotFolderError, match=wanted):
            find_bot(f"{repository}/{name}")

    def test_a_revision_outside_any_repository_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(BotFolderError, match="is in no git repository"):
            find_bot(f"{tmp_path}/x@HEAD")


@pytest.mark.parametrize(
    ("field", "line", "value"),
    [("name", 1, r'"\u001b[2J"'), ("version", 2, r'"\u202e1"'), ("games", 4, r'["\u009b"]')],
)
def test_text_that_would_control_a_terminal_is_refused(tmp_path: Path, field: str, line: int, value: str) -> None:
    said = complaint(make(tmp_path / "x", **{field: value}))
    assert said.startswith(f"x/bot.toml:{line}: {field}: ")
    assert said.endswith("has characters that cannot be printed")
    assert said.isprintable()


@pytest.mark.parametrize(
    "given", ["./" + "x" * 300, "./" + "x" * 300 + "@HEAD", "x@" + "y" * 100_000, "x/" * 3_000]
)
def test_a_name_longer_than_any_folders_is_no_bot(given: str) -> None:
    with pytest.raises(BotFolderError, match="is longer than the name of any folder"):
        find_bot(given)


def test_a_build_command_has_a_program(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(
        'name = "b"\nversion = "1"\ncommand = ["./x"]\ngames = "*"\nbuild = [["make"], []]\n'
    )
    with pytest.raises(BotFolderError, match=r"bot\.toml:5: build\[1\]: \[\]: "):
        find_bot(str(tmp_path))
