"""TOML files of people: what is wrong in them is named with file, line and field."""

from pathlib import Path
from typing import Annotated

import pytest
from msgspec import Meta, Struct

from referee.bot_folder.strict_toml import TomlError, line_of, read_toml

TEXT = """\
name = "first"

[limits]
files = 64
"memory mb" = [
    1,
    2,
]
deep.er = 1

[[bots]]
name = "a"

[[bots]]
name = "b"
  [bots.options]
  seats = 2
"""


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (1, "$.name"),
        (1, "name"),
        (3, "$.limits"),
        (4, "$.limits.files"),
        (5, "$.limits.memory mb[1]"),
        (9, "$.limits.deep.er"),
        (12, "$.bots[0].name"),
        (14, "$.bots[1]"),
        (15, "$.bots[1].name"),
        (17, "$.bots[1].options.seats"),
        (16, "$.bots[1].options.absent"),
        (1, "$.absent"),
        (1, "$"),
    ],
)
def test_a_path_has_a_line(line: int, path: str) -> None:
    assert line == line_of(TEXT, path)


class Inner(Struct, forbid_unknown_fields=True):
    files: Annotated[int, Meta(ge=1, le=100)] = 10


class Outer(Struct, forbid_unknown_fields=True):
    name: str
    limits: Inner
    bots: tuple[Inner, ...] = ()


def complaint(folder: Path, text: str) -> str:
    """Return the error for a file, without its folder."""
    file = folder / "x.toml"
    file.write_text(text)
    with pytest.raises(TomlError) as caught:
        read_toml(file, Outer)
    return str(caught.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("x.toml:1: name: is missing", "[limits]\n"),
        ("x.toml:2: Invalid value", "name = 'x'\nlimits = \n"),
        ("x.toml:1: limits: 3: Expected `object`, got `int`", "limits = 3\nname = 'x'\n"),
        ("x.toml:3: limits.files: 200: Expected `int` <= 100", "name = 'x'\n[limits]\nfiles = 200\n"),
        ("x.toml:3: limits.files: 'many': Expected `int`, got `str`", "name = 'x'\n[limits]\nfiles = 'many'\n"),
        ("x.toml:3: limits.fils: is not a known field; did you mean files?", "name = 'x'\n[limits]\nfils = 2\n"),
        ("x.toml:2: nam: is not a known field; did you mean name?", "limits = {}\nnam = 'x'\n"),
        (
            "x.toml:5: bots[1].fils: is not a known field; did you mean files?",
            "name = 'x'\nlimits = {}\n[[bots]]\n[[bots]]\nfils = 2\n",
        ),
    ],
)
def test_a_misfit_is_named_with_its_line_and_field(tmp_path: Path, wanted: str, text: str) -> None:
    assert wanted in complaint(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TomlError, match=r"x\.toml: cannot be read: No such file or directory"):
        read_toml(tmp_path / "x.toml", Outer)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(TomlError, match="not UTF-8 text, from byte 8 on"):
        read_toml(tmp_path / "x.toml", Outer)


def test_every_error_is_one_line(tmp_path: Path) -> None:
    assert "\n" not in complaint(tmp_path, 'limits = {}\nname = ["a\\nb"]\n')


def test_a_fitting_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("name = 'x'\nlimits = {files = 3}\n")
    assert Outer(name="x", limits=Inner(files=3)) == read_toml(tmp_path / "x.toml", Outer)
