"""Any bytes as a TOML file: read, or refused in one line; nothing else, and nothing grows."""

import resource
from pathlib import Path
from random import Random

import pytest

from referee.bot_folder.manifest import BotFile
from referee.bot_folder.strict_toml import MOST_BYTES, TomlError, line_of, parse, read_toml
from tests.long import cases

GOOD = 'name = "a"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n[limits]\nmemory_mb = 64\n'
PIECES = (
    *(
        [
            "[",
            "]",
            "[[",
            "]]",
            "{",
            "}",
            "=",
            ".",
            ",",
            '"',
            "'",
            '"""',
            "'''",
            "#",
            "\\",
            "\\u",
            "_",
            "name",
            "limits",
            "a",
            "-",
            "+",
            "1",
            "0x",
            "1e",
            "nan",
            "inf",
            "true",
            "9999-12-31",
        ]
    ),
    *("\n", "\r\n", " ", "\t", "\0", "\x85", "\x0b", "\ufeff", "\u2028", "\u202e", "\ud800", "\U0010ffff", "ß"),
    *("\\ud800", "\\u0000", "1979-05-27T07:32:00Z", "` - at `$.a`", "1e999999", "[a.b]\n", "x" * 20_000),
    *("9" * 5_000, "0x" + "f" * 5_000, "[" * 3_000, "{a=" * 1_000, "a." * 5_000),
)


def drawn(rng: Random) -> bytes:
    """A file: one that is good, or none, with pieces put in or cut out."""
    text = GOOD if rng.random() < 0.7 else ""
    for _ in range(rng.randint(1, 12)):
        at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        piece = rng.choice(PIECES) * rng.choice((1, 1, 1, 2, 40))
        text = text[:at] + piece + text[at if rng.random() < 0.7 else to :]
    content = text.encode(errors="surrogatepass")
    return content + (b"\xff" if rng.random() < 0.02 else b"")


def test_whatever_a_file_says_it_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    rng = Random("toml")
    file = tmp_path / "bot.toml"
    refused, before = 0, 0
    count = cases(400, 800)
    for number in range(count):
        file.write_bytes(drawn(rng))
        try:
            read_toml(file, BotFile)
        except TomlError as error:
            refused += 1
            assert "\n" not in str(error), number
            assert str(error).startswith(f"{file}:"), number
        if number == count // 2:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert count / 2 < refused < count
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 64 * 1024


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("2: a number is too long", "a = 1\nb = " + "9" * 5_000),
        ("2: a number is too long", "a = 1\nb = [-" + "9_9" * 5_000 + "]"),
        ("2: b: an integer of more than 64 bits", "a = 1\nb = 0x" + "f" * 5_000),
        ("2: b.c[1]: an integer of more than 64 bits", "a = 1\nb = {c = [1, 9223372036854775808]}"),
        ("3: is nested too deeply", "a = 1\n\nb = " + "[" * 3_000 + "]" * 3_000),
        ("1: is nested too deeply", "b = " + "{a=" * 3_000),
        ("2: a key has more than 32 parts", "a = 1\n" + "a." * 20_000 + "a = 1"),
        ("1: a key has more than 32 parts", "[" + '"a" . ' * 40 + "a]"),
        ("2: b: inf is not a number", "a = 1\nb = 1e999"),
        ("1: a[0]: nan is not a number", "a = [nan]"),
        ("1: a: text has a NUL character", r'a = "\u0000"'),
        ("1: ", "\ufeffa = 1"),
        ("1: ", "a\0 = 1"),
        ("1: ", 'a = "\\ud800"'),
    ],
)
def test_values_that_a_field_does_not_accept_are_named_with_their_line(wanted: str, text: str) -> None:
    with pytest.raises(TomlError) as caught:
        parse(text)
    assert str(caught.value).startswith(wanted)


def test_a_deep_file_that_fits_nothing_is_a_misfit(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("name = " + "[" * 100 + "]" * 100)
    with pytest.raises(TomlError, match=r"x\.toml:1: "):
        read_toml(tmp_path / "x.toml", BotFile)


def test_a_long_file_and_one_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text("#" * (MOST_BYTES + 1))
    for file, what in (
        (tmp_path / "long.toml", f"is longer than {MOST_BYTES} bytes"),
        (Path("/dev/zero"), "cannot be read: it is a device, not a regular file"),
    ):
        with pytest.raises(TomlError, match=f"{file}: {what}"):
            read_toml(file, BotFile)


def test_a_complaint_is_short_whatever_it_quotes(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'"{"k" * 50_000}" = "{"v" * 50_000}"')
    with pytest.raises(TomlError) as caught:
        read_toml(tmp_path / "x.toml", BotFile)
    assert len(str(caught.value)) < 1_000


def test_lines_are_counted_as_toml_has_them() -> None:
    assert 2 == line_of("# \u2028 \x85 \x0b\nname = 3\n", "name")


@pytest.mark.parametrize("text", ["[" + " " * 100_000, "a" + " " * 100_000, "[" + "a " * 50_000, '"' * 100_000])
def test_a_line_that_is_no_statement_is_passed_over_at_once(text: str) -> None:
    """It took a time that grows with the square of its length: minutes."""
    assert 1 == line_of(text, "name")
