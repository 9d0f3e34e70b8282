"""The face of a competition: read from its file with clear errors, and written into the results folder."""

from pathlib import Path

import pytest

from arena.config import Face, Team, read_face, read_season, read_tournament, write_face
from arena.errors import WrongUse
from arena.tournament import set_aside
from arena.tournament.results_folder import LEDGER

PNG = b"\x89PNG\r\n\x1a\n"
FILE = """\
title = "Autumn Cup"
about = "Eight *bots*."
host = "Chair of Games"
rules = "One bot a team."
link = "https://example.org/cup"
image = "cup.png"
game = "mist"
bots = ["mist_random", "mist_cautious"]
[[teams]]
name = "The Foghorns"
bots = ["mist_cautious"]
colour = "#c0392b"
members = ["Ada"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tournament's file with all fields of a face, beside its image."""
    (tmp_path / "cup.png").write_bytes(PNG + b"rest")
    path = tmp_path / "cup.toml"
    path.write_text(FILE)
    return path


def written(file: Path) -> Path:
    """Write the face of a file into a folder; return the folder."""
    results = file.parent / "results"
    results.mkdir(exist_ok=True)
    write_face(read_tournament(file).form, file, results)
    return results


def test_a_face_is_read_from_the_results_as_it_stands_in_the_file(file: Path) -> None:
    results = written(file)
    assert read_face(results) == Face(
        title="Autumn Cup",
        about="Eight *bots*.",
        host="Chair of Games",
        rules="One bot a team.",
        link="https://example.org/cup",
        image="face.png",
        teams=(Team(name="The Foghorns", bots=("mist_cautious",), colour="#c0392b", members=("Ada",)),),
    )
    assert (results / "face.png").read_bytes() == PNG + b"rest"
    assert (results / "face.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [("face.jpg", b"\xff\xd8\xffrest"), ("face.webp", b"RIFF\0\0\0\0WEBPrest"), ("face.png", PNG)],
)
def test_an_image_is_known_by_its_content_and_the_one_before_goes(file: Path, name: str, content: bytes) -> None:
    written(file)
    (file.parent / "cup.png").write_bytes(content)
    results = written(file)
    assert read_face(results).image == name
    assert {path.name for path in results.iterdir()} == {"face.json", name}


def test_a_file_without_a_face_leaves_none_behind(file: Path) -> None:
    written(file)
    file.write_text('game = "mist"\nbots = ["mist_random", "mist_cautious"]\n')
    results = written(file)
    assert read_face(results) == Face()
    assert list(results.iterdir()) == []


def test_earlier_results_are_set_aside_with_their_face(file: Path) -> None:
    results = written(file)
    (results / LEDGER).touch()
    aside = set_aside(results)
    assert aside is not None
    assert read_face(aside).title == "Autumn Cup"
    assert read_face(results) == Face()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"title": 1}', b'{"title": "a\\nb"}', b"[" * 100_000, b"\xff"])
def test_a_damaged_face_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "face.json").write_bytes(content)
    assert read_face(tmp_path) == Face()


def test_a_face_names_no_file_but_its_copy(tmp_path: Path) -> None:
    (tmp_path / "face.json").write_text('{"title": "Cup", "image": "../../secret.png"}')
    assert read_face(tmp_path) == Face(title="Cup")


TEAM = '\n[[teams]]\nname = "{}"\nbots = ["{}"]\n'


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ('"Autumn Cup"', '""', "1: title: '': "),
        ('"Autumn Cup"', '"two\\nlines"', "1: title: "),
        ('"Autumn Cup"', f'"{"a" * 101}"', "1: title: "),
        ('"Eight *bots*."', f'"{"a" * 10_001}"', "2: about: "),
        ("https://example.org/cup", "javascript:alert(1)", "5: link: is not a URL of the form https://HOST/PATH"),
        ("cup.png", "none.png", "6: image: 'none.png' cannot be read: No such file or directory"),
        ("cup.png", "cup.toml", "6: image: 'cup.toml' is neither PNG nor JPEG nor WebP"),
        ("#c0392b", "red", "12: teams[0].colour: 'red': "),
        (
            'members = ["Ada"]',
            'member = ["Ada"]',
            "13: teams[0].member: is not a known field",
        ),
        ('["Ada"]', f'["Ada"]{TEAM.format("The Foghorns", "x")}', "15: teams[1].name: "),
        (
            '["Ada"]',
            f'["Ada"]{TEAM.format("B", "mist_cautious")}',
            "16: teams[1].bots[0]: 'mist_cautious' is a bot",
        ),
    ],
)
def test_a_wrong_face_is_told_with_line_and_field(file: Path, there: str, instead: str, said: str) -> None:
    text = FILE.replace(there, instead)
    assert text != FILE
    file.write_text(text)
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    told = caught.value.format_message()
    assert told.startswith(f"{file}:{said}")
    assert "\n" not in told


def test_an_image_that_is_too_large_is_refused(file: Path) -> None:
    (file.parent / "cup.png").write_bytes(PNG + b"\0" * 1024 * 1024)
    with pytest.raises(WrongUse, match=r"cup\.toml:6: image: 'cup\.png' cannot be read: it is longer than "):
        read_tournament(file)


def test_a_season_has_one_face_and_its_stages_none_of_their_own(file: Path) -> None:
    file.write_text(f'{FILE}[[stages]]\nname = "final"\n')
    season = read_season(file)
    assert {season.form.title, season.stages[0].form.title} == {"Autumn Cup"}
    file.write_text(f'{FILE}[[stages]]\nname = "final"\ntitle = "The Final"\n')
    with pytest.raises(WrongUse, match=r"stages\[0\]\.title: is not a known field"):
        read_season(file)
