"""A bot's content: strangers' folders are read within bounds, and what runs is what was hashed."""

import os
import re
import resource
import shutil
import socket
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from arena.commands import main
from arena.errors import WRONG_USE
from referee.bot_folder import content as bot_content
from referee.bot_folder.content import ContentError, Item, content_hash, copied, copy_of, copy_place, is_whole
from referee.bot_folder.manifest import BotFolderError, find_bot
from referee.linux.shortage import SHORTAGES
from tests.long import cases

TOML = 'name = "a"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An ordinary bot's."""
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "bot.toml").write_text(TOML)
    (folder / "bot.py").write_text("print('hello')\n")
    return folder


def _toml_link(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").symlink_to("/dev/zero")


def _toml_pipe(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    os.mkfifo(folder / "bot.toml")


def _toml_loop(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").symlink_to("bot.toml")


def _toml_folder(folder: Path) -> None:
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").mkdir()


def _toml_huge(folder: Path) -> None:
    os.truncate(folder / "bot.toml", 4 << 40)


def _sparse(folder: Path) -> None:
    (folder / "net").touch()
    os.truncate(folder / "net", 4 << 40)


def _many(folder: Path) -> None:
    (folder / "many").mkdir()
    for number in range(bot_content.MOST_FILES):
        os.link(folder / "bot.py", folder / "many" / str(number))


def _deep(folder: Path) -> None:
    for _ in range(40):
        folder = folder / "d"
        folder.mkdir()


def _socket(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
    finally:
        os.chdir(here)


def _device(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    os.mknod(folder / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))


def _hard_link(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has files of two users")
    os.chown(folder, 12_345, 12_345)
    (folder.parent / "secret").write_text("secret")
    os.link(folder.parent / "secret", folder / "mine")


def _circle(folder: Path) -> None:
    (folder / "one").symlink_to("two/three")
    (folder / "two").symlink_to("one")


def _unreadable(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads all")
    (folder / "bot.py").chmod(0)


HOSTILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "toml_link": ("bot.toml: cannot be read: it is a symbolic link, not a regular file", _toml_link),
    "toml_pipe": ("bot.toml: cannot be read: it is a fifo, not a regular file", _toml_pipe),
    "toml_loop": ("bot.toml: cannot be read: it is a symbolic link, not a regular file", _toml_loop),
    "toml_folder": ("bot.toml: cannot be read: it is a folder, not a regular file", _toml_folder),
    "toml_huge": ("bot.toml: is longer than 65536 bytes", _toml_huge),
    "sparse": ("net: is too much: a bot's files have at most 2048 MB", _sparse),
    "many": ("is one too many: a bot has at most 50000 files", _many),
    "deep": (f"x/{'d/' * 32}d/d: lies more than 32 folders deep", _deep),
    "pipe": ("pipe: is neither a file nor a folder", lambda folder: os.mkfifo(folder / "pipe")),
    "socket": ("socket: is neither a file nor a folder", _socket),
    "device": ("zero: is neither a file nor a folder", _device),
    "link_to_device": (
        "z: is a link to /dev/zero, outside",
        lambda folder: (folder / "z").symlink_to("/dev/zero"),
    ),
    "link_up": ("z: is a link to a/../../y, outside", lambda folder: (folder / "z").symlink_to("a/../../y")),
    "link_long": ("z: is a link that leads nowhere", lambda folder: (folder / "z").symlink_to("y/" * 900)),
    "link_to_itself": (
        "z: is a link that leads in a circle",
        lambda folder: (folder / "z").symlink_to("z"),
    ),
    "links_in_a_circle": ("one: is a link that leads in a circle", _circle),
    "link_to_a_long_name": (
        "z: is a link that leads nowhere",
        lambda folder: (folder / "z").symlink_to("y" * 300),
    ),
    "hard_link": ("mine: is another user's file, under a second name", _hard_link),
    "unreadable": ("bot.py: cannot be read: Permission denied", _unreadable),
    "not_text": (r"\xff: has a name that is not UTF-8", lambda folder: (folder / os.fsdecode(b"\xff")).touch()),
    "newline": (r"a\x0ab: has a name with characters that cannot", lambda folder: (folder / "a\nb").touch()),
    "escape": (r"\x1b[2J: has a name with characters that cannot", lambda folder: (folder / "\x1b[2J").touch()),
    "hidden": (r"\u202e: has a name with characters that cannot", lambda folder: (folder / "\u202e").mkdir()),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_strangers_folder_is_refused_in_one_line_that_names_the_file(
    name: str, folder: Path, cache: Path
) -> None:
    wanted, make = HOSTILE[name]
    make(folder)
    ended = CliRunner().invoke(main.main, ["match", "mist", str(folder), "mist_random"])
    assert (WRONG_USE, "", 1) == (ended.exit_code, ended.stdout, ended.stderr.count("\n")), ended.stderr
    assert wanted in ended.stderr
    assert f"{folder}/" in ended.stderr
    assert not any(path.name.startswith("making-") for path in cache.rglob("*"))


def test_commands_that_no_process_could_be_given_are_refused(folder: Path) -> None:
    """One of that length ended the process that bots are forked from, and the matches of others with it."""
    for word, wanted in (
        ("x" * 20_000, "command: is longer than 16384 bytes"),
        (r"\u0000", "has a NUL character"),
    ):
        (folder / "bot.toml").write_text(TOML.replace('"bot.py"', f'"bot.py", "{word}"'))
        with pytest.raises(BotFolderError, match=wanted):
            find_bot(str(folder))


def test_an_error_that_quotes_a_long_command_is_short(folder: Path) -> None:
    (folder / "bot.toml").write_text(TOML.replace('"bot.py"', f'"{"x" * 9_000}"'))
    with pytest.raises(BotFolderError, match=r"bot\.toml:3: command: 'x{300,400}\.\.\.$"):
        find_bot(str(folder))


class TestCopy:
    def test_only_what_is_hashed_is_there(self, folder: Path) -> None:
        before = find_bot(str(folder))
        for place in (folder, folder / "package"):
            (place / "__pycache__").mkdir(parents=True)
            (place / "__pycache__" / "bot.cpython-311.pyc").write_bytes(b"other program")
        (folder / ".git").write_text("gitdir: /elsewhere\n")
        (folder / "package" / ".git").symlink_to("/elsewhere")
        after = find_bot(str(folder))
        assert before == after
        assert {"bot.py", "bot.toml"} == {path.name for path in after.folder.rglob("*")}

    def test_it_stays_as_it_was_when_the_folder_changes(self, folder: Path) -> None:
        bot = find_bot(str(folder))
        (folder / "bot.py").write_text("other program")
        assert "print('hello')\n" == (bot.folder / "bot.py").read_text()
        assert bot.folder != find_bot(str(folder)).folder

    def test_a_folder_that_changes_while_it_is_read_is_known_by_what_was_copied(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = bot_content._blocks
        seen = []

        def changing(file: int, name: bytes) -> object:
            yield from read(file, name)
            seen.append(name)
            if seen == [b"bot.py", b"bot.toml"]:  # hashed, and not yet copied
                (folder / "bot.py").write_text("other program")

        monkeypatch.setattr(bot_content, "_blocks", changing)
        content, place = copy_of(folder)
        monkeypatch.undo()
        monkeypatch.setenv("XDG_CACHE_HOME", str(place.parents[2]))
        assert "other program" == (place / "bot.py").read_text()
        assert content == content_hash(place)

    def test_a_file_that_becomes_a_link_while_it_is_read_is_refused(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "secret").write_text("secret")
        listed = bot_content._Walk._listed

        def swapping(self: bot_content._Walk, directory: int, prefix: bytes) -> object:
            found = listed(self, directory, prefix)
            (folder / "bot.py").unlink()
            (folder / "bot.py").symlink_to(tmp_path / "secret")
            return found

        monkeypatch.setattr(bot_content._Walk, "_listed", swapping)
        with pytest.raises(ContentError, match=r"bot\.py: was changed while it was read"):
            content_hash(folder)

    def test_anothers_file_whose_second_name_is_removed_once_it_is_open_is_refused(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _hard_link(folder)
        opened = os.open

        def unlinking(path: Any, flags: int, *rest: Any, **where: Any) -> int:
            found = opened(path, flags, *rest, **where)
            if path == b"mine":
                (folder / "mine").unlink()
            return found

        monkeypatch.setattr(os, "open", unlinking)
        with pytest.raises(ContentError, match="mine: was changed while it was read"):
            content_hash(folder)

    def test_anothers_file_of_one_name_is_content(self, folder: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root has files of two users")
        before = content_hash(folder)
        os.chown(folder / "bot.py", 12_345, 12_345)
        assert before == content_hash(folder)

    def test_all_users_may_read_its_files_and_none_may_write_them(self, folder: Path) -> None:
        (folder / "bot.py").chmod(0o4711)
        (folder / "bot.toml").chmod(0o600)
        bot = find_bot(str(folder))
        modes = [stat.S_IMODE((bot.folder / name).stat().st_mode) for name in ("", "bot.py", "bot.toml")]
        assert [0o755, 0o555, 0o444] == modes
        assert 0o700 == stat.S_IMODE(bot.folder.parent.stat().st_mode)

    def test_it_is_made_once(self, folder: Path) -> None:
        made = find_bot(str(folder)).folder.stat()
        assert (made.st_ino, made.st_ctime_ns) != (0, 0)
        assert made.st_ino == find_bot(str(folder)).folder.stat().st_ino

    @pytest.mark.parametrize("harm", ["change", "add", "remove", "hide", "executable"])
    def test_a_damaged_copy_is_made_again(self, folder: Path, harm: str) -> None:
        bot = find_bot(str(folder))
        program = bot.folder / "bot.py"
        match harm:
            case "change":
                program.chmod(0o644)
                program.write_text("other program")
            case "add":
                (bot.folder / "random.py").write_text("other program")
            case "hide":
                (bot.folder / "__pycache__").mkdir()
                (bot.folder / "__pycache__" / "bot.pyc").write_text("other program")
            case "executable":
                program.chmod(0o755)
            case _:
                program.unlink()
        assert not is_whole(bot.content)
        again = find_bot(str(folder))
        assert bot == again
        assert is_whole(bot.content)
        assert ["bot.py", "bot.toml"] == sorted(path.name for path in again.folder.iterdir())

    def test_a_whole_one_that_another_program_placed_first_is_not_touched(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = find_bot(str(folder)).folder
        placed = first.stat().st_ino
        looks: list[str] = []

        def absent_at_first(content: str) -> bool:
            looks.append(content)
            return len(looks) > 1 and is_whole(content)

        monkeypatch.setattr(bot_content, "is_whole", absent_at_first)
        second = find_bot(str(folder)).folder
        assert (first, placed) == (second, second.stat().st_ino)
        assert [first.name] == [path.name for path in first.parent.iterdir() if path.is_dir()]

    @pytest.mark.parametrize("exchanges", [True, False], ids=["renameat2", "no renameat2"])
    def test_a_bot_that_runs_from_a_damaged_copy_keeps_its_files(
        self, folder: Path, exchanges: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bot = find_bot(str(folder))
        (bot.folder / "random.py").write_text("other program")
        if not exchanges:
            monkeypatch.setattr(bot_content, "_EXCHANGE", 1 << 20)  # EINVAL, as of a file system that cannot
        running = os.open(bot.folder, os.O_RDONLY)
        try:
            find_bot(str(folder))
            assert ["bot.py", "bot.toml", "random.py"] == sorted(os.listdir(running))  # noqa: PTH208 - by descriptor
        finally:
            os.close(running)
        assert is_whole(bot.content)
        bot_content._hold.__wrapped__(bot.folder.parent)  # another arena begins while this one runs
        kept = sum(1 for _ in bot.folder.parent.rglob("random.py"))
        assert kept == 1

    @pytest.mark.parametrize("shortage", sorted(SHORTAGES))
    def test_a_machine_that_is_short_of_something_says_nothing_about_a_copy(
        self, folder: Path, shortage: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bot = find_bot(str(folder))
        placed = bot.folder.stat().st_ino
        opened = os.open

        def short(path: Any, flags: int, *rest: Any, **where: Any) -> int:
            if path == b"bot.py":
                raise OSError(shortage, os.strerror(shortage))
            return opened(path, flags, *rest, **where)

        with monkeypatch.context() as failing:
            failing.setattr(os, "open", short)
            for question in (lambda: is_whole(bot.content), lambda: find_bot(str(folder))):
                with pytest.raises(OSError, match=re.escape(os.strerror(shortage))):
                    question()
        assert placed == bot.folder.stat().st_ino
        assert is_whole(bot.content)

    def test_a_read_only_folder_will_do(self, folder: Path) -> None:
        folder.chmod(0o555)
        assert "a" == find_bot(str(folder)).name
        folder.chmod(0o755)

    def test_copies_unused_for_long_are_removed_unless_an_arena_runs(self, folder: Path, cache: Path) -> None:
        bot = find_bot(str(folder))
        old = bot.folder.stat().st_mtime - 8 * 86_400
        os.utime(bot.folder, (old, old))
        bot_content._hold.__wrapped__(bot.folder.parent)  # another arena begins: this one holds its copies
        assert bot.folder.is_dir()
        for name, looked, left in (
            ("today", time.time(), {"lock", "new", bot.folder.name}),
            ("long ago", old, {"lock", "new"}),
        ):
            shutil.copytree(cache, cache.with_name(name))
            copies = cache.with_name(name) / "mist-arena" / "contents"
            (copies / "making-x").mkdir()
            os.utime(copies / bot.folder.name, (old, old))
            (copies / "new").mkdir()
            os.utime(copies / "lock", (looked, looked))
            bot_content._hold.__wrapped__(copies)
            assert left == {path.name for path in copies.iterdir()}

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
    def test_a_cache_of_another_user_is_not_trusted(self, folder: Path, cache: Path) -> None:
        (cache / "mist-arena" / "contents").mkdir(parents=True)
        os.chown(cache / "mist-arena" / "contents", 12_345, 12_345)
        with pytest.raises(BotFolderError, match="belongs to user 12345"):
            find_bot(str(folder))

    @pytest.mark.parametrize(
        ("wanted", "names"),
        [
            ("a: is there twice", ["a", "a"]),
            ("is there twice", ["b", "a"]),
            ("a: is there twice", ["a", "a/b"]),
            ("is no name for a file inside", ["../a"]),
            ("is no name for a file inside", ["/a"]),
            ("has a name of more than 255 bytes in its folder", ["a/" + "x" * 256]),
            ("is no name for a file inside", ["a//b"]),
        ],
    )
    def test_items_that_no_folder_could_have_are_refused(self, wanted: str, names: list[str], cache: Path) -> None:
        with pytest.raises(ContentError, match=wanted):
            copied(Item(name.encode(), b"f", 0, []) for name in names)
        assert ["lock"] == [path.name for path in (cache / "mist-arena" / "contents").iterdir()]

    def test_nothing_is_written_through_a_link(self, tmp_path: Path) -> None:
        items = [Item(b"a", b"l", 1, [b"b"]), Item(b"a/c", b"f", 0, [])]
        with pytest.raises(ContentError, match="a: is there twice"):
            copied(items)

    def test_a_file_that_grows_is_bounded_as_it_is_read(self) -> None:
        endless = (bytes(bot_content.MEGABYTE) for _ in range(10**9))
        with pytest.raises(ContentError, match="a: is too much"):
            bot_content._hashed([Item(b"a", b"f", 0, endless)], None)


def test_whatever_a_folder_holds_it_is_a_bot_or_refused(tmp_path: Path) -> None:
    """Seeded: names, kinds, links and modes of all sorts. What is taken has one hash, here and as a copy."""
    rng = Random("folders")
    taken, before = 0, 0
    count = cases(100, 300)
    for number in range(count):
        folder = tmp_path / "fuzz"
        folder.mkdir()
        (folder / "bot.toml").write_text(TOML)
        (folder / "bot.py").touch()
        _fill(rng, folder)
        try:
            bot = find_bot(str(folder))
        except BotFolderError as error:
            assert "\n" not in str(error)
        else:
            taken += 1
            assert bot.content == content_hash(folder) == content_hash(bot.folder)
            assert copy_place(bot.content) == bot.folder
            shutil.rmtree(bot.folder)
        shutil.rmtree(folder)
        if number == count // 2:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert count / 10 < taken < count
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 64 * 1024
    assert len(os.listdir("/proc/self/fd")) < 200  # noqa: PTH208


def _fill(rng: Random, folder: Path) -> None:
    names = ["a", "b", "a.b", "ab", "__pycache__", ".git", os.fsdecode(b"\xff"), "\n", "x" * 255, "ß", " "]
    places = [folder]
    for _ in range(rng.randint(0, 6)):
        name = rng.choice(names[: rng.choice((6, 6, 11))])
        path = rng.choice(places) / name
        # Taken already, or below what is no folder.
        with suppress(OSError):
            match rng.randint(0, 11):
                case 0:
                    os.mkfifo(path)
                case 1 | 2:
                    path.symlink_to(rng.choice(["a", "a/b", "..", "../a", "/etc", "a/../..", ".", name]))
                case 3 | 4 | 5 | 6:
                    path.mkdir()
                    places.append(path)
                case _:
                    with path.open("xb") as file:
                        file.write(rng.randbytes(rng.randint(0, 99)))
                    path.chmod(rng.choice((0o644, 0o755, 0o4755, 0o400)))


def test_a_link_that_no_kernel_takes_is_refused(cache: Path) -> None:
    """A git tree may hold what no folder can."""
    with pytest.raises(ContentError, match="z: is a link that leads nowhere"):
        copied([Item(b"z", b"l", 3, [b"b\0c"])])
