"""Folders that strangers filled: what is honest comes out whole, the rest is refused, nothing is put elsewhere."""

import os
import random
import shutil
import socket
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from referee.bot_folder import archive
from referee.bot_folder.archive import LONGEST_NAME, MOST_DEPTH, ArchiveError, copy, fingerprint, pack, unpack
from referee.bot_folder.cache import remove
from tests.long import cases

MOST = 1000
"""Bytes of a file, in these tests."""


def header(name: str, kind: str = "file", size: int = 0, target: str = "", **more: object) -> bytes:
    """A member's header as it is packed."""
    text = msgspec.json.encode({"name": name, "kind": kind, "size": size, "target": target, **more})
    return len(text).to_bytes(4) + text


def packed(*pieces: bytes) -> bytes:
    """These, with an end, in the packed form."""
    return zlib.compress(b"".join(pieces) + bytes(4))


def copied(folder: Path, into: Path, *, most: int = MOST) -> None:
    into.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        copy(descriptor, into, most=most)
    finally:
        os.close(descriptor)


def sent(folder: Path, into: Path, *, most: int = MOST) -> None:
    into.mkdir()
    unpack(pack(folder, most=most), into, most=most)


both = pytest.mark.parametrize("moved", [copied, sent])
Moved = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


@both
def test_files_folders_and_links_inside_come_out_and_no_rights_but_to_execute(
    folder: Path, tmp_path: Path, moved: Moved
) -> None:
    (folder / "lib/empty").mkdir(parents=True)
    (folder / "lib/run").write_bytes(b"xxx")
    (folder / "lib/run").chmod(0o6755)
    (folder / "lib/dätä").write_bytes(b"xxxxx")
    (folder / "lib/dätä").chmod(0o666)
    (folder / "again").hardlink_to(folder / "lib/run")
    (folder / "lib/here").symlink_to(".")
    (folder / "lib/up").symlink_to("../lib/dätä")
    (folder / "lib/nowhere").symlink_to("not/there")
    moved(folder, tmp_path / "out")
    out = tmp_path / "out"
    assert {"lib", "again"} == {each.name for each in out.iterdir()}
    assert {"empty", "run", "dätä", "here", "up", "nowhere"} == {each.name for each in (out / "lib").iterdir()}
    assert (b"xxx", b"xxx", b"xxxxx") == tuple(
        (out / name).read_bytes() for name in ("lib/run", "again", "lib/up")
    )
    umask = os.umask(0)
    os.umask(umask)
    modes = [(out / name).stat().st_mode & 0o7777 for name in ("lib/run", "lib/dätä")]
    assert [0o755 & ~umask, 0o644 & ~umask] == modes
    assert fingerprint(folder, most=MOST) == fingerprint(out, most=MOST)


@both
@pytest.mark.parametrize("name", ["__pycache__", ".git"])
@pytest.mark.parametrize("below", ["", "lib"])
def test_what_no_hash_covers_does_not_come_out(
    folder: Path, tmp_path: Path, moved: Moved, name: str, below: str
) -> None:
    (folder / below / name).mkdir(parents=True)
    (folder / below / name / "config").write_text("x")
    (folder / "as_a_link").mkdir()
    (folder / "as_a_link" / name).symlink_to("..")
    moved(folder, tmp_path / "out")
    assert [] == [path for path in (tmp_path / "out").rglob("*") if path.name in {name, "config"}]


CHANGES: dict[str, Callable[[Path], object]] = {
    "a byte": lambda folder: (folder / "a").write_bytes(b"2"),
    "a right": lambda folder: (folder / "a").chmod(0o755),
    "a name": lambda folder: (folder / "a").rename(folder / "b"),
    "a folder more": lambda folder: (folder / "b").mkdir(),
    "where a link leads": lambda folder: (folder / "__pycache__/m").rename(folder / "l"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_fingerprint_tells(folder: Path, change: Callable[[Path], object]) -> None:
    (folder / "a").write_bytes(b"1")
    (folder / "l").symlink_to("a")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/m").symlink_to("b")
    before = fingerprint(folder, most=MOST)
    change(folder)
    assert before != fingerprint(folder, most=MOST)


def deep(folder: Path) -> None:
    """Deeper than Python may call itself, and than a path may be long."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(2 * LONGEST_NAME):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def holes(folder: Path) -> None:
    with (folder / "a").open("wb") as file:
        file.truncate(2**40)


def in_all(folder: Path) -> None:
    for name in "ab":
        (folder / name).write_bytes(b"x" * 600)


def many(folder: Path) -> None:
    for number in range(30):
        (folder / f"f{number}").touch()


TREES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (lambda folder: os.mkfifo(folder / "a"), "'a': neither a file, a folder nor a link"),
    "a socket": (lambda folder: socket.socket(socket.AF_UNIX).bind(str(folder / "a")), "'a': neither a file"),
    "a link to an absolute place": (lambda folder: (folder / "a").symlink_to("/etc/passwd"), "may lead elsewhere"),
    "a link out": (lambda folder: (folder / "a").symlink_to("../in"), "may lead elsewhere"),
    "folders without end": (deep, f"more than {MOST_DEPTH} folders in each other"),
    "a name that is no text": (
        lambda folder: (folder / os.fsdecode(b"a\xff")).touch(),
        "no name for a file inside",
    ),
    "a link to what is no text": (lambda folder: (folder / "a").symlink_to(b"\xff"), "may lead elsewhere"),
    "a file of holes": (holes, f"'a': more than {MOST} bytes in all"),
    "too much in all": (in_all, f"more than {MOST} bytes in all"),
    "too many": (many, "more than 20 files and folders"),
}


@both
@pytest.mark.filterwarnings("ignore:unclosed <socket")
@pytest.mark.parametrize("what", TREES)
def test_of_folders_refused_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: Moved, what: str
) -> None:
    fill, complaint = TREES[what]
    if fill is not deep:
        monkeypatch.setattr(archive, "MOST_MEMBERS", 20)
    fill(folder)
    with pytest.raises(ArchiveError, match=complaint):
        moved(folder, tmp_path / "out")
    assert {"in", "out"} >= {each.name for each in tmp_path.iterdir()}
    remove(folder)  # pytest's own removal calls itself for each folder


REFUSED = {
    "an absolute name": [header("/etc/passwd")],
    "a name that leads up": [header("a", "folder"), header("a/../../b")],
    "no name": [header("")],
    "the folder itself": [header(".", "folder")],
    "a name with a zero": [header("a\0b")],
    "a name of half a character": [b'\0\0\0\x1f{"name":"\\ud800","kind":"file"}'],
    "a name as no file has": [header("d" * 256)],
    "a name as long as no path": [*(header("/".join(["d" * 100] * n), "folder") for n in range(1, 12))],
    "folders without end": [*(header("/".join("d" * n), "folder") for n in range(1, MOST_DEPTH + 2))],
    "what no hash covers": [header("__pycache__", "folder"), header("__pycache__/bot.cpython-311.pyc")],
    "what no hash covers, below": [header("a", "folder"), header("a/.git", "folder")],
    "a file there twice": [header("a"), header("a")],
    "a folder there twice": [header("a", "folder"), header("a", "folder")],
    "a link in a file's place": [header("a"), header("a", "link", target="b")],
    "a file in a link's place": [header("a", "link", target="b"), header("a")],
    "a file below a link": [header("a", "link", target="."), header("a/b")],
    "a folder in a link's place": [header("a", "link", target="b"), header("a", "folder")],
    "a file below a file": [header("a"), header("a/b")],
    "a file below what is not there": [header("a/b")],
    "a link to an absolute place": [header("a", "link", target="/etc/passwd")],
    "a link to nothing": [header("a", "link")],
    "a link out": [header("d", "folder"), header("d/a", "link", target="../../b")],
    "a link up through another link": [header("s", "link", target="."), header("t", "link", target="s/..")],
    "a link with a zero": [header("a", "link", target="b\0c")],
    "a link as long as no path": [header("a", "link", target="b/" * LONGEST_NAME)],
    "a file that leads somewhere": [header("a", target="b")],
    "a folder with a content": [header("a", "folder", 1), b"x"],
    "a device": [header("a", "device")],
    "a hard link": [header("a"), header("b", "hard link", target="a")],
    "a size below zero": [header("a", size=-1)],
    "a size that is no number": [header("a", size="many")],  # type: ignore[arg-type]
    "a size of many digits": [b'\0\0\x20\0{"name":"a","kind":"file","size":' + b"9" * (0x2000 - 35) + b"}"],
    "what nobody knows": [header("a", mode=0o4755)],
    "a header that is none": [b"\0\0\0\3abc"],
    "a header that nests": [b"\0\0\x20\0" + b"[" * 0x2000],
    "a header that is no text": [b'\0\0\0\x0c{"name":"\xff"}'],
    "a header without end": [b"\xff\xff\xff\xff" + b" " * 100_000],
    "a header that is not all there": [b"\0\0\0\x7f{}"],
    "a file that is not all there": [header("a", size=10), b"xxx"],
    "too much in one file": [header("a", size=MOST + 1), b"x" * (MOST + 1)],
    "too much in all": [header("a", size=600), b"x" * 600, header("b", size=600), b"x" * 600],
    "a size as no disk has": [header("a", size=2**62)],
    "a size as no machine has": [header("a", size=2**70)],
    "too many": [header(f"f{number}") for number in range(100)],
    "too long names": [header(f"{number}{'n' * 200}") for number in range(60)],
    "more after the end": [bytes(4), header("a")],
}


@pytest.mark.parametrize("pieces", REFUSED.values(), ids=REFUSED)
def test_of_archives_refused_is(pieces: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_MEMBERS", 90)
    monkeypatch.setattr(archive, "MOST_NAME_BYTES", 10_000)
    (tmp_path / "deep/out").mkdir(parents=True)
    with pytest.raises(ArchiveError) as refused:
        unpack(packed(*pieces), tmp_path / "deep/out", most=MOST)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 3 * LONGEST_NAME
    assert ["out"] == [each.name for each in (tmp_path / "deep").iterdir()]


GOOD = packed(header("a", size=900), os.urandom(900))


@pytest.mark.parametrize(
    "text", [b"", b"no archive" * 100, GOOD[:500], GOOD[:-1], GOOD + b"x", GOOD * 2, b"\x1f\x8b" + GOOD]
)
def test_what_is_no_whole_archive_is_refused(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError):
        unpack(text, tmp_path, most=MOST)


def test_what_inflates_without_end_costs_no_memory(tmp_path: Path) -> None:
    """A hundred megabytes of zeros are a hundred kilobytes when they are packed."""
    deflater = zlib.compressobj(1)
    bomb = deflater.compress(header("a", size=2**27))
    bomb += b"".join(deflater.compress(bytes(2**20)) for _ in range(2**7)) + deflater.flush()
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError, match="more than 1000 bytes in all"):
            unpack(bomb, tmp_path, most=MOST)
        with pytest.raises(ArchiveError, match=r"goes on after its end|ends too early"):
            unpack(bomb, tmp_path, most=2**27)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()
        (tmp_path / "a").unlink()


NAMES = [
    "a",
    "b",
    "a/b",
    "a/b/c",
    "a/c",
    "..",
    "../a",
    "/a",
    "a//b",
    "a/.",
    "é",
    "\0",
    "\ud800",
    "__pycache__",
    ".git",
]
TARGETS = ["a", "b", "..", ".", "../a", "../../a", "a/..", "/", "", "c" * 2000]


def random_header(luck: random.Random) -> bytes:
    kind = luck.choice(["file", "program", "folder", "folder", "link", "device"])
    size = luck.choice([0, 0, 3, 900, -1, 2**40])
    made = header(
        luck.choice(NAMES).replace("\ud800", "?"),
        kind,
        size if kind in ("file", "program") or luck.random() < 0.05 else 0,
        luck.choice(TARGETS) if kind == "link" or luck.random() < 0.05 else "",
    )
    return made + luck.randbytes(max(0, min(size, 1000)))


def mutated(text: bytes, luck: random.Random) -> bytes:
    """With some bytes changed, left out, or put twice."""
    found = bytearray(text)
    for _ in range(luck.choice([0, 1, 1, 2, 8])):
        at = luck.randrange(len(found) + 1)
        match luck.randrange(3):
            case 0:
                found[at : at + 1] = luck.randbytes(1)
            case 1:
                del found[at : at + luck.randrange(20)]
            case _:
                found[at:at] = found[at : at + luck.randrange(20)]
    return bytes(found)


def test_generated_archives_are_taken_or_refused_and_nothing_else(tmp_path: Path) -> None:
    luck = random.Random(13)
    taken = 0
    tracemalloc.start()
    try:
        for number in range(cases(500, 2_500)):
            members = [random_header(luck) for _ in range(luck.randrange(6))]
            inner = b"".join(members) + bytes(4)
            whole = luck.random() < 0.7
            text = zlib.compress(mutated(inner, luck)) if whole else mutated(zlib.compress(inner), luck)
            out = tmp_path / f"{number}"
            out.mkdir()
            try:
                unpack(text, out, most=2 * MOST)
                taken += 1
            except ArchiveError:
                pass
            check_inside(out)
            assert [out.name] == [each.name for each in tmp_path.iterdir()]
            shutil.rmtree(out)
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()
    assert taken > cases(500, 2_500) // 40


def random_tree(folder: Path, luck: random.Random) -> None:
    """Files, folders, links and what else there is, with odd names."""
    folders = [folder]
    for _ in range(luck.randrange(12)):
        above = luck.choice(folders)
        name = luck.choice(
            ["a", "b", "c", "é", os.fsdecode(b"\xff"), "n" * 255, "__pycache__", ".git", "a\nb", " "]
        )
        place = above / name
        if os.path.lexists(place):
            continue
        match luck.randrange(8):
            case 0 | 1 | 2:
                place.mkdir()
                folders.append(place)
            case 3:
                place.symlink_to(luck.choice([target for target in TARGETS if target]))
            case 4 if luck.random() < 0.2:
                os.mkfifo(place)
            case 5 if luck.random() < 0.2:
                place.touch()
                os.truncate(place, 2**40)
            case _:
                place.write_bytes(luck.randbytes(luck.randrange(300)))
                place.chmod(luck.choice([0o644, 0o755, 0o4755, 0o400]))


def test_generated_folders_come_out_the_same_or_are_refused_by_both_ways(tmp_path: Path) -> None:
    luck = random.Random(14)
    taken = 0
    for number in range(cases(300, 1_500)):
        place = tmp_path / f"{number}"
        (place / "in").mkdir(parents=True)
        random_tree(place / "in", luck)
        came = []
        for name, moved in (("copied", copied), ("sent", sent)):
            try:
                moved(place / "in", place / name, most=2 * MOST)
                came.append(fingerprint(place / name, most=2 * MOST))
                check_inside(place / name)
            except ArchiveError:
                came.append("refused")
        assert came[0] == came[1]
        if came[0] != "refused":
            taken += 1
            assert came[0] == fingerprint(place / "in", most=2 * MOST)
        shutil.rmtree(place)
    assert taken > cases(300, 1_500) // 40


def check_inside(folder: Path) -> None:
    """Files, folders and links only, of no foreign rights, and no link leads out."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            assert Path(os.path.realpath(path)).is_relative_to(folder)
        else:
            assert path.is_dir() or path.is_file()
            assert path.stat().st_mode & 0o7000 == 0
