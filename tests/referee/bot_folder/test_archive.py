"""A bot's content on its way to another machine: what is honest arrives whole, the rest is refused in one line."""

import os
import random
import tracemalloc
import zlib
from pathlib import Path

import msgspec
import pytest

from referee.bot_folder import content
from referee.bot_folder.archive import pack, unpacked
from referee.bot_folder.content import (
    DEEPEST,
    LONGEST_NAME,
    ContentError,
    bounded,
    content_hash,
    copied,
    copy_into,
    folder_items,
)
from tests.long import cases


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/mist-arena/contents"


def header(name: str, kind: str = "f", size: int = 0, **more: object) -> bytes:
    """Return a member's header as it is packed."""
    text = msgspec.json.encode({"name": name, "kind": kind, "size": size, **more})
    return len(text).to_bytes(4) + text


def link(name: str, target: bytes) -> bytes:
    return header(name, "l", len(target)) + target


def packed(*pieces: bytes) -> bytes:
    """Return these pieces with an end, in the packed form."""
    return zlib.compress(b"".join(pieces) + bytes(4))


def test_files_and_links_arrive_with_no_rights_but_to_execute(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib/run").write_bytes(b"xxx")
    (folder / "lib/run").chmod(0o6755)
    (folder / "lib/dätä").write_bytes(b"xxxxx")
    (folder / "again").hardlink_to(folder / "lib/run")
    (folder / "lib/up").symlink_to("../lib/dätä")
    found, place = copied(unpacked(pack(folder_items(folder))))
    assert content_hash(folder) == found == content_hash(place)
    assert [0o555, 0o444] == [(place / name).stat().st_mode & 0o7777 for name in ("lib/run", "lib/dätä")]
    assert b"xxxxx" == (place / "lib/up").read_bytes()


def test_a_file_that_is_not_as_long_as_was_said_is_not_packed() -> None:
    with pytest.raises(ContentError, match="a: was changed while it was read"):
        pack([content.Item(b"a", b"f", 3, [b"xx"])])


def test_a_copy_holds_as_many_bytes_as_are_allowed(tmp_path: Path) -> None:
    for place in ("in", "out", "small"):
        (tmp_path / place).mkdir()
    (tmp_path / "in/a").write_bytes(bytes(2**20))
    directory = os.open(tmp_path / "in", os.O_RDONLY)
    assert content_hash(tmp_path / "in") == copy_into(directory, tmp_path / "out", most=2**20)
    with pytest.raises(ContentError, match="a: is too much: a bot's files have at most 0 MB"):
        copy_into(directory, tmp_path / "small", most=2**20 - 1)
    os.close(directory)


REFUSED = {
    "an absolute name": [header("/etc/passwd")],
    "a name that leads up": [header("a/../../b")],
    "no name": [header("")],
    "the folder itself": [header(".")],
    "a name with a zero": [header("a\0b")],
    "a name of half a character": [b'\0\0\0\x24{"name":"\\ud800","kind":"f","size":0}'],
    "a name as no file has": [header("d" * 256)],
    "a name as long as no path": [header("/".join(["d" * 100] * 11))],
    "folders without end": [header("/".join("d" * (DEEPEST + 2)))],
    "what no hash covers": [header("__pycache__/bot.cpython-311.pyc")],
    "what no hash covers, below": [header("a/.git")],
    "a file there twice": [header("a"), header("a")],
    "names in disorder": [header("b"), header("a")],
    "a link in a file's place": [header("a"), link("a", b"b")],
    "a file below a link": [link("a", b"."), header("a/b")],
    "a file below a file": [header("a"), header("a/b")],
    "a link to an absolute place": [link("a", b"/etc/passwd")],
    "a link to nothing": [link("a", b"")],
    "a link out": [link("d/a", b"../../b")],
    "a link up through another link": [link("s", b"."), link("t", b"s/..")],
    "a link to itself": [link("a", b"a")],
    "a link with a zero": [link("a", b"b\0c")],
    "a link as long as no path": [link("a", b"b/" * LONGEST_NAME)],
    "a link as long as no memory": [header("a", "l", 2**40)],
    "a device": [header("a", "device")],
    "a size below zero": [header("a", size=-1)],
    "a size that is no number": [header("a", size="many")],  # type: ignore[arg-type]
    "a size of many digits": [b'\0\0\x20\0{"name":"a","kind":"f","size":' + b"9" * (0x2000 - 32) + b"}"],
    "what nobody knows": [header("a", mode=0o4755)],
    "a header that is none": [b"\0\0\0\3abc"],
    "a header that nests": [b"\0\0\x20\0" + b"[" * 0x2000],
    "a header that is no text": [b'\0\0\0\x0c{"name":"\xff"}'],
    "a header without end": [b"\xff\xff\xff\xff" + b" " * 100_000],
    "a header that is not all there": [b"\0\0\0\x7f{}"],
    "a file that is not all there": [header("a", size=10), b"xxx"],
    "a size as no disk has": [header("a", size=2**62)],
    "a size as no machine has": [header("a", size=2**70)],
    "too many": [header(f"f{number:03}") for number in range(100)],
    "more after the end": [bytes(4), header("a")],
}


@pytest.mark.parametrize("pieces", REFUSED.values(), ids=REFUSED)
def test_refused_archives_give_one_short_line(
    pieces: list[bytes], copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "MOST_FILES", 90)
    with pytest.raises(ContentError) as refused:
        copied(unpacked(packed(*pieces)))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 3 * LONGEST_NAME
    assert ["lock"] == [each.name for each in copies.iterdir()]


GOOD = packed(header("a", size=900), os.urandom(900))


@pytest.mark.parametrize(
    "text", [b"", b"no archive" * 100, GOOD[:500], GOOD[:-1], GOOD + b"x", GOOD * 2, b"\x1f\x8b" + GOOD]
)
def test_an_incomplete_archive_is_refused(text: bytes) -> None:
    with pytest.raises(ContentError):
        copied(unpacked(text))


def test_an_archive_that_inflates_without_end_takes_no_memory() -> None:
    """A hundred megabytes of zeros are a hundred kilobytes when they are packed."""
    deflater = zlib.compressobj(1)
    bomb = deflater.compress(header("a", size=2**27))
    bomb += b"".join(deflater.compress(bytes(2**20)) for _ in range(2**7)) + deflater.flush()
    tracemalloc.start()
    try:
        with pytest.raises(ContentError, match="a: is too much"):
            list(bounded(unpacked(bomb), 1000))
        with pytest.raises(ContentError, match=r"goes on after its end|ends too early"):
            copied(unpacked(bomb))
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


NAMES = ["a", "b", "a/b", "a/b/c", "a/c", "..", "/a", "a//b", "a/.", "é", "\0", "__pycache__", ".git"]
TARGETS = [b"a", b"b", b"..", b".", b"../a", b"../../a", b"a/..", b"/", b"", b"c" * 2000]


def random_member(rng: random.Random) -> bytes:
    name = rng.choice(NAMES)
    if rng.random() < 0.3:
        return link(name, rng.choice(TARGETS))
    size = rng.choice([0, 0, 3, 900, -1, 2**40])
    return header(name, rng.choice(["f", "x", "d"]), size) + rng.randbytes(max(0, min(size, 1000)))


def mutated(text: bytes, rng: random.Random) -> bytes:
    """With some bytes changed, left out, or put twice."""
    found = bytearray(text)
    for _ in range(rng.choice([0, 1, 1, 2, 8])):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(3):
            case 0:
                found[at : at + 1] = rng.randbytes(1)
            case 1:
                del found[at : at + rng.randrange(20)]
            case _:
                found[at:at] = found[at : at + rng.randrange(20)]
    return bytes(found)


def test_generated_archives_are_taken_or_refused_and_nothing_else(tmp_path: Path) -> None:
    rng = random.Random(13)
    taken = 0
    tracemalloc.start()
    try:
        for _ in range(cases(300, 700)):
            inner = b"".join(random_member(rng) for _ in range(rng.randrange(6))) + bytes(4)
            whole = rng.random() < 0.7
            text = zlib.compress(mutated(inner, rng)) if whole else mutated(zlib.compress(inner), rng)
            try:
                found, place = copied(unpacked(text))
            except ContentError:
                continue
            taken += 1
            assert found == content_hash(place)
            check_inside(place)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()
    assert ["cache"] == [each.name for each in tmp_path.iterdir()]
    assert taken > cases(300, 700) // 40


def check_inside(folder: Path) -> None:
    """Files, folders and links only, of no foreign rights, and no link leads out."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            assert Path(os.path.realpath(path)).is_relative_to(folder)
        else:
            assert path.is_dir() or path.is_file()
            assert path.stat().st_mode & 0o7000 == 0
