"""A table of archives that a stranger might upload, each with the reason of its refusal or why it is accepted."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import subprocess
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from referee.bot_folder.unpacking import MOST_ENTRIES, NO_ARCHIVE, TOO_SHORT

UNPACKED_MB, FILES, UPLOAD_MB = 5, 50, 20
"""Bounds of the competition: a bomb needs to be no larger than these demand."""
MEGABYTE = 1024 * 1024
MANIFEST = b'name = "a"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
GOOD: list[tuple[str, bytes]] = [("bot.toml", MANIFEST), ("bot.py", b"1")]
NO_BOT = "the archive has no bot.toml, neither at its top nor in its only folder"
TOO_LARGE = f"the archive has files of more than {UNPACKED_MB} MB together, the most here"
TOO_MANY = f"the archive has more than {FILES} files"
TOO_COSTLY = "the archive takes more than 60 s of processor time or 1024 MB of memory to unpack"
DAMAGED = "the archive is damaged"
BEHIND = "the archive goes on behind its end"
UNPRINTABLE = "has a name with characters that cannot be printed"
NOT_INSIDE = "is no name for a file inside"
TWICE = "is there twice"
LINK, DEVICE, PIPE = (f"is a {kind}, and neither a file nor a folder" for kind in ("link", "device", "pipe"))
BOMB = bytes((UNPACKED_MB + 1) * MEGABYTE)


class Hostile(NamedTuple):
    """An archive, and what becomes of it."""

    name: str
    make: Callable[[], bytes]
    refused: str = ""
    """Part of the reason of its refusal; empty: it is accepted."""
    accepted: str = ""
    """Why it is accepted."""
    is_slow: bool = False


def zipped(
    *more: tuple[str, bytes],
    files: Iterable[tuple[str, bytes]] = GOOD,
    kind: int = zipfile.ZIP_DEFLATED,
    mode: int = 0,
) -> bytes:
    """Return a ZIP file; `mode` is that of the last file."""
    made = io.BytesIO()
    names = [*files, *more]
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w") as opened:
        warnings.simplefilter("ignore")  # A name that is there twice.
        for number, (name, content) in enumerate(names, start=1):
            info = zipfile.ZipInfo(name)
            info.compress_type = kind
            info.external_attr = (mode if mode and number == len(names) else stat.S_IFREG | 0o644) << 16
            opened.writestr(info, content)
    return made.getvalue()


def tarred(
    *more: tuple[str, bytes],
    files: Iterable[tuple[str, bytes]] = GOOD,
    kinds: Iterable[tuple[str, bytes, str]] = (),
    mode: int = 0o644,
) -> bytes:
    """Return a tar file; `kinds`: name, type and target of what is no file."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as opened:
        for name, content in [*files, *more]:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            opened.addfile(info, io.BytesIO(content))
        for name, kind, target in kinds:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            opened.addfile(info)
    return made.getvalue()


def patched(archive: bytes, at: bytes, offset: int, new: bytes, *, last: bool = False) -> bytes:
    """Return an archive with bytes replaced at an offset from the first or last occurrence of others."""
    place = (archive.rindex(at) if last else archive.index(at)) + offset
    return archive[:place] + new + archive[place + len(new) :]


def both_headers(archive: bytes, local: int, central: int, new: bytes) -> bytes:
    """Return a ZIP file with a field replaced in the last local header and in the last of the directory."""
    archive = patched(archive, b"PK\x03\x04", local, new, last=True)
    return patched(archive, b"PK\x01\x02", central, new, last=True)


def header(name: str, *, size: int = 0, kind: bytes = tarfile.REGTYPE, raw_size: bytes = b"") -> bytes:
    """Return a tar header with a right checksum, whatever its field of the size has."""
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    if raw_size:
        block[124:136] = raw_size.ljust(12, b"\0")
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def without_end() -> bytes:
    """Return the good bot as tar, without the mark of the end."""
    return b"".join(header(name, size=len(content)) + content.ljust(512, b"\0") for name, content in GOOD)


END = bytes(1024)


def sparse(*options: str) -> bytes:
    """Return the good bot with a file of a gigabyte that takes no room, as GNU tar packs it."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in GOOD:
            Path(folder, name).write_bytes(content)
        with Path(folder, "hole").open("wb") as file:
            file.truncate(1 << 30)
        words = ["tar", "-c", "--sparse", *options, "-C", folder, "bot.toml", "bot.py", "hole"]
        return subprocess.run(words, check=True, capture_output=True).stdout  # noqa: S603 - our own words


def gzipped_zeros(start: bytes, size: int, end: bytes = END) -> bytes:
    """Return gzip of some bytes, many zeros, and an end."""
    made = io.BytesIO()
    with gzip.open(made, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(size // MEGABYTE):
            file.write(bytes(MEGABYTE))
        file.write(end)
    return made.getvalue()


def streamed() -> bytes:
    """Return a ZIP file whose sizes are behind the files, as it is written to a pipe."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise io.UnsupportedOperation

        def seek(self, *_: object) -> int:
            raise io.UnsupportedOperation

    made = Pipe()
    with zipfile.ZipFile(made, "w") as opened:
        for name, content in GOOD:
            opened.writestr(name, content)
    return made.getvalue()


def of_64_bits() -> bytes:
    """Return a ZIP file with the fields of large files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, content in GOOD:
            with opened.open(name, "w", force_zip64=True) as file:
                file.write(content)
    return made.getvalue()


def commented(comment: bytes) -> bytes:
    made = io.BytesIO(zipped())
    with zipfile.ZipFile(made, "a") as opened:
        opened.comment = comment
    return made.getvalue()


def lzma_zip() -> bytes:
    """Return a ZIP file with a block of LZMA that Python's reader unpacks at once."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_LZMA) as opened:
        for name, content in GOOD:
            opened.writestr(name, content)
        with opened.open("zeros", "w", force_zip64=True) as inside:
            for _ in range(1_100):
                inside.write(bytes(MEGABYTE))
    return made.getvalue()


def one_place_many_names() -> bytes:
    """Return a ZIP file whose directory has 300,000 names of one file."""
    archive = zipped()
    start = archive.index(b"PK\x01\x02")
    entry = archive[start : archive.index(b"PK\x01\x02", start + 4)]
    size = len(entry) * 300_000
    return (
        archive[:start] + entry * 300_000 + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFF, 0xFFF, size, start, 0)
    )


def overlapping() -> bytes:
    """Return a ZIP file in which two names have the same bytes."""
    archive = zipped(("bot.pz", b"1"))
    return patched(archive, b"bot.pz", 0, b"bot.py", last=True)


def nested(layers: int) -> bytes:
    made = zipped()
    for _ in range(layers):
        made = zipped(files=[("inner.zip", made)])
    return made


def manifest(text: bytes) -> bytes:
    return zipped(files=[("bot.toml", text), ("bot.py", b"1")])


def refused_names() -> Iterable[Hostile]:
    """Yield archives of both kinds with a file of each name that no bot may have."""
    for what, name, reason in (
        ("an absolute name", "/etc/x", NOT_INSIDE),
        ("a name that leads out", "../x", NOT_INSIDE),
        ("a name that leads out later", "a/../../x", NOT_INSIDE),
        ("a name with a dot as a part", "a/./x", NOT_INSIDE),
        ("a name with two slashes", "a//x", NOT_INSIDE),
        ("a newline", "a\nb", UNPRINTABLE),
        ("an escape", "a\x1b[2J", UNPRINTABLE),
        ("a right-to-left override", "a\u202ecod.py", UNPRINTABLE),
        ("a byte order mark", "\ufeffbot.py", UNPRINTABLE),
        ("a long name", "x" * 300, "has a name of more than 255 bytes in its folder"),
        ("a long path", "/".join(["x" * 100] * 11), "has a name of more than 1000 bytes"),
        ("a deep folder", "a/" * 40 + "x", "lies more than 32 folders deep"),
        ("a name that is there", "bot.py", TWICE),
        ("a file as a folder", "bot.py/x", TWICE),
    ):
        yield Hostile(f"zip: {what}", lambda name=name: zipped((name, b"")), reason)  # type: ignore[misc]
        yield Hostile(f"tar: {what}", lambda name=name: tarred((name, b"")), reason)  # type: ignore[misc]


def of_kind(kind: bytes, target: str = "") -> Callable[[], bytes]:
    return lambda: tarred(kinds=[("odd", kind, target)])


ARCHIVES: tuple[Hostile, ...] = (
    # No archive at all.
    Hostile("one byte", lambda: b"P", NO_ARCHIVE),
    Hostile("text", lambda: b"hello\n" * 100, NO_ARCHIVE),
    Hostile("a page", lambda: b"<!doctype html><title>404</title>" * 50, NO_ARCHIVE),
    Hostile("a git bundle", lambda: b"# v2 git bundle\n" + bytes(600), NO_ARCHIVE),
    Hostile("7-Zip", lambda: b"7z\xbc\xaf\x27\x1c" + bytes(600), NO_ARCHIVE),
    Hostile("RAR", lambda: b"Rar!\x1a\x07\x01\0" + bytes(600), NO_ARCHIVE),
    Hostile("zstd", lambda: b"\x28\xb5\x2f\xfd" + bytes(600), NO_ARCHIVE),
    Hostile("gzip of text", lambda: gzip.compress(b"hello\n" * 200), NO_ARCHIVE),
    Hostile("gzip of gzip", lambda: gzip.compress(gzip.compress(tarred())), NO_ARCHIVE),
    Hostile("zeros", lambda: bytes(MEGABYTE), NO_BOT),
    Hostile("an empty zip", lambda: b"PK\5\6" + bytes(18), NO_BOT),
    Hostile("an empty tar", lambda: gzip.compress(END), NO_BOT),
    # Damaged ones.
    Hostile("a gzip that was cut", lambda: gzip.compress(tarred())[:-9], TOO_SHORT),
    Hostile("an xz that was cut", lambda: lzma.compress(tarred())[:-20], TOO_SHORT),
    Hostile("a wrong checksum of gzip", lambda: gzip.compress(tarred())[:-8] + bytes(8), DAMAGED),
    Hostile("a tar that was cut in a file", lambda: tarred(("x", b"1" * 5_000))[:4_000], DAMAGED),
    Hostile("a tar that was cut between files", without_end, TOO_SHORT),
    Hostile("a tar that was cut in a header", lambda: without_end() + header("x")[:200], TOO_SHORT),
    Hostile("a broken header in the middle", lambda: without_end() + b"x" * 512 + END, DAMAGED),
    Hostile("bytes behind a tar", lambda: tarred() + b"more", BEHIND),
    Hostile("a tar behind a tar", lambda: tarred() + tarred(), BEHIND),
    Hostile("a gzip behind a gzip", lambda: gzip.compress(tarred()) + gzip.compress(tarred()), BEHIND),
    Hostile("zeros without an end behind a tar", lambda: gzipped_zeros(tarred(), 9 * MEGABYTE), BEHIND),
    Hostile("a zip that was cut", lambda: zipped()[:-30], DAMAGED),
    Hostile("a zip with a wrong checksum", lambda: patched(zipped(kind=0), MANIFEST, 3, b"X"), DAMAGED),
    Hostile("a size of a number that is none", lambda: without_end() + header("x", raw_size=b"z9") + END, DAMAGED),
    Hostile("a negative size", lambda: without_end() + header("x", raw_size=b"\xff" * 12) + END, DAMAGED),
    Hostile("a size without its bytes", lambda: without_end() + header("x", size=10**9) + END, DAMAGED),
    Hostile("a zip with a smaller size than it has", lambda: both_headers(zipped(), 22, 24, bytes(4)), DAMAGED),
    Hostile("a zip whose comment looks like its end", lambda: commented(b"PK\5\6" * 16_000), DAMAGED),
    Hostile(
        "a zip with another name in its directory", lambda: patched(zipped(), b"bot.py", 0, b"bot.pz"), DAMAGED
    ),
    Hostile(
        "a zip with a name that is not UTF-8",
        lambda: zipped(("\u00e9", b"")).replace(b"\xc3\xa9", b"\xff\xfe"),
        DAMAGED,
    ),
    Hostile("a long chain of long names", lambda: header("x", size=1, kind=b"L") * 2_000 + END, DAMAGED),
    # What is not supported.
    Hostile("an encrypted zip", lambda: both_headers(zipped(), 6, 8, b"\1\0"), "bot.py: is encrypted"),
    Hostile("strong encryption", lambda: both_headers(zipped(), 6, 8, b"\x40\0"), "what is not supported here"),
    Hostile(
        "a method of compression that is unknown",
        lambda: both_headers(zipped(), 8, 10, b"\x63\0"),
        "what is not supported here",
    ),
    Hostile("Deflate64", lambda: both_headers(zipped(), 8, 10, b"\x09\0"), "what is not supported here"),
    # Bombs.
    Hostile("a zip bomb", lambda: zipped(("zeros", BOMB)), TOO_LARGE),
    Hostile("a zip bomb of bzip2", lambda: zipped(("zeros", BOMB), kind=zipfile.ZIP_BZIP2), TOO_LARGE),
    Hostile("a zip bomb of many files", lambda: zipped(*((str(n), BOMB[:MEGABYTE]) for n in range(6))), TOO_LARGE),
    Hostile("a gzip bomb", lambda: gzip.compress(tarred(("zeros", BOMB))), TOO_LARGE),
    Hostile("a bzip2 bomb", lambda: bz2.compress(tarred(("zeros", BOMB))), TOO_LARGE),
    Hostile("an xz bomb", lambda: lzma.compress(tarred(("zeros", BOMB))), TOO_LARGE),
    Hostile(
        "a gzip bomb of 20 GB",
        lambda: gzipped_zeros(without_end() + header("x", size=20 << 30), 4 << 30),
        TOO_LARGE,
        is_slow=True,
    ),
    Hostile("a zip that needs much memory", lzma_zip, "the archive", is_slow=True),
    Hostile(
        "a header of a gigabyte",
        lambda: gzipped_zeros(header("x", size=1 << 30, kind=b"x"), 1 << 30),
        TOO_COSTLY,
        is_slow=True,
    ),
    Hostile(
        "a name of a gigabyte",
        lambda: gzipped_zeros(header("x", size=1 << 30, kind=b"L"), 1 << 30),
        TOO_COSTLY,
        is_slow=True,
    ),
    Hostile("sparse, old GNU", lambda: sparse("--format=gnu"), TOO_LARGE),
    Hostile("sparse, pax 0.0", lambda: sparse("--format=posix", "--sparse-version=0.0"), TOO_LARGE),
    Hostile("sparse, pax 0.1", lambda: sparse("--format=posix", "--sparse-version=0.1"), TOO_LARGE),
    Hostile("sparse, pax 1.0", lambda: sparse("--format=posix", "--sparse-version=1.0"), TOO_LARGE),
    Hostile("many files in a zip", lambda: zipped(*((str(n), b"") for n in range(FILES))), TOO_MANY),
    Hostile("many files in a tar", lambda: tarred(*((str(n), b"") for n in range(FILES))), TOO_MANY),
    Hostile(
        "many folders",
        lambda: gzip.compress(header("a", kind=tarfile.DIRTYPE) * (MOST_ENTRIES + 1) + END, 1),
        f"the archive has more than {MOST_ENTRIES} entries",
        is_slow=True,
    ),
    Hostile("many names of one file", one_place_many_names, TWICE, is_slow=True),
    Hostile("two names for the same bytes", overlapping, DAMAGED),
    # What is no file.
    Hostile("a link to outside", of_kind(tarfile.SYMTYPE, "/etc/passwd"), LINK),
    Hostile("a link to inside", of_kind(tarfile.SYMTYPE, "bot.py"), LINK),
    Hostile("a link to itself", of_kind(tarfile.SYMTYPE, "odd"), LINK),
    Hostile("a hard link to outside", of_kind(tarfile.LNKTYPE, "/etc/passwd"), LINK),
    Hostile("a hard link to inside", of_kind(tarfile.LNKTYPE, "bot.py"), LINK),
    Hostile(
        "a link, and a file through it",
        lambda: tarred(files=[], kinds=[("a", tarfile.SYMTYPE, "/var"), ("a/x", b"0", "")]),
        LINK,
    ),
    Hostile("a character device", of_kind(tarfile.CHRTYPE), DEVICE),
    Hostile("a block device", of_kind(tarfile.BLKTYPE), DEVICE),
    Hostile("a pipe", of_kind(tarfile.FIFOTYPE), PIPE),
    Hostile("a kind that is unknown", of_kind(b"V"), "odd: is neither a file nor a folder"),
    Hostile("a link in a zip", lambda: zipped(("odd", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), LINK),
    Hostile("a pipe in a zip", lambda: zipped(("odd", b""), mode=stat.S_IFIFO), PIPE),
    Hostile("a device in a zip", lambda: zipped(("odd", b""), mode=stat.S_IFBLK), DEVICE),
    # Names.
    *refused_names(),
    Hostile("a folder as a file", lambda: zipped(("a/b", b""), ("a", b"")), TWICE),
    Hostile(
        "a name with a zero byte", lambda: zipped(("bot.py_x", b"2")).replace(b"bot.py_x", b"bot.py\0x"), TWICE
    ),
    Hostile("a name in a tar that is not UTF-8", lambda: tarred(("a\udcff", b"")), "has a name that is not UTF-8"),
    # What has no bot in it, or a manifest that is none.
    Hostile("an archive in an archive", lambda: zipped(files=[("bot.tar.gz", gzip.compress(tarred()))]), NO_BOT),
    Hostile("many archives in one another", lambda: nested(10), NO_BOT),
    Hostile(
        "two bots", lambda: zipped(files=[(f"{bot}/{name}", text) for bot in "ab" for name, text in GOOD]), NO_BOT
    ),
    Hostile(
        "a bot two folders deep", lambda: zipped(files=[(f"a/b/{name}", text) for name, text in GOOD]), NO_BOT
    ),
    Hostile("a manifest that is a folder", lambda: zipped(files=[("bot.toml/x", b"")]), NO_BOT),
    Hostile(
        "a manifest that is a link",
        lambda: tarred(files=[], kinds=[("bot.toml", tarfile.SYMTYPE, "/etc/passwd")]),
        LINK,
    ),
    Hostile("a manifest of 2 MB", lambda: manifest(MANIFEST + b"#" * 2 * MEGABYTE), "bot.toml"),
    Hostile(
        "a manifest of deep lists", lambda: manifest(MANIFEST + b"x = " + b"[" * 9_000 + b"]" * 9_000), "bot.toml"
    ),
    Hostile("a manifest of bytes", lambda: manifest(bytes(range(256))), "bot.toml"),
    Hostile("an empty manifest", lambda: manifest(b""), "bot.toml"),
    Hostile(
        "a manifest of another game", lambda: manifest(MANIFEST.replace(b"mist", b"chess")), "does not play mist"
    ),
    Hostile("polyglot of a script and a zip", lambda: b"#!/bin/sh\n" + zipped(), NO_ARCHIVE),
    Hostile("polyglot of a picture and a zip", lambda: b"GIF89a" + bytes(9) + zipped(), NO_ARCHIVE),
    # What is accepted.
    Hostile(
        "a tar that ends with a zip",
        lambda: tarred(("x.zip", zipped(files=[("y", b"")]))),
        accepted="the first bytes decide; the zip is a file of the bot",
    ),
    Hostile(
        "bytes behind a zip",
        lambda: zipped() + b"more",
        accepted="readers of zip look for its directory from the end",
    ),
    Hostile("a zip with a long comment", lambda: commented(b"x" * 65_535), accepted="a comment is no file"),
    Hostile(
        "a zip with a larger size than it has",
        lambda: both_headers(zipped(), 18, 20, b"\xff\xff\xff\x7f"),
        accepted="the file ends by itself, and its checksum is right",
    ),
    Hostile("a zip with sizes behind its files", streamed, accepted="so are zips that are written to a pipe"),
    Hostile("a zip with fields of 64 bits", of_64_bits, accepted="some programs always write them"),
    Hostile(
        "a bomb in an archive in the archive",
        lambda: zipped(("x.zip", zipped(("zeros", BOMB)))),
        accepted="archives within are never unpacked",
    ),
    Hostile("names that differ in case", lambda: zipped(("BOT.py", b"2")), accepted="Linux tells them apart"),
    Hostile(
        "names that differ in their form of Unicode",
        lambda: zipped(("\u00e9", b"1"), ("e\u0301", b"2")),
        accepted="Linux tells them apart",
    ),
    Hostile("a name that ends with dots", lambda: zipped(("x..", b"")), accepted="a name like others on Linux"),
    Hostile("a name of Windows", lambda: zipped(("C:\\x\\..\\y", b"")), accepted="a name like others on Linux"),
    Hostile(
        "bits that change the user", lambda: tarred(mode=0o6755), accepted="only the right to execute is kept"
    ),
    Hostile(
        "caches and history",
        lambda: zipped(("__pycache__/x.pyc", b"x"), (".git/config", b"[core]")),
        accepted="they are left out",
    ),
    Hostile(
        "what macOS adds",
        lambda: zipped(("__MACOSX/._bot.py", b"x"), (".DS_Store", b"x")),
        accepted="it is left out",
    ),
    Hostile(
        "a folder within the archive",
        lambda: tarred(files=[(f"./a/{name}", text) for name, text in GOOD]),
        accepted="it is the only one",
    ),
)
