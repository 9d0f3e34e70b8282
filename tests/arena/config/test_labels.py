"""Which labels look alike, and what bots are called."""

from itertools import combinations
from pathlib import Path

import pytest

from arena.config import difference, label_of, labels_of, look_alike
from arena.config.entries import _SAME_SHAPE, first_alike
from referee.display_text import printable_name

ALIKE = (
    ("anna", "Anna", "only upper and lower case differ"),
    ("anna", "\u0430nna", "\u0430nna has CYRILLIC SMALL LETTER A"),
    ("\u0410\u041d\u041d\u0410", "AHHA", "\u0410\u041d\u041d\u0410 has CYRILLIC CAPITAL LETTER A"),
    ("anna", "\u0391nna", "\u0391nna has GREEK CAPITAL LETTER ALPHA"),
    ("anna", "\uff41nna", "\uff41nna has FULLWIDTH LATIN SMALL LETTER A"),
    ("anna", "an\u200bna", "an\u200bna has ZERO WIDTH SPACE"),
    ("anna", "anna\u202e", "anna\u202e has RIGHT-TO-LEFT OVERRIDE"),
    ("anna", r"anna\u200f", r"anna\u200f has RIGHT-TO-LEFT MARK"),
    ("anna", "anna ", "only spaces differ"),
    ("the bot", "the  bot", "only spaces differ"),
    ("chiara", "chi ara", "only spaces differ"),
    ("modern", "moder n", "only spaces differ"),
    ("the bot", "the\xa0bot", "the\xa0bot has NO-BREAK SPACE"),
    ("the-bot", "the\u2011bot", "the\u2011bot has NON-BREAKING HYPHEN"),
    ("bot1", "botl", "they differ in letters of the same shape"),
    ("botI", "botl", "they differ in letters of the same shape"),
    ("b0t", "bOt", "they differ in letters of the same shape"),
    ("modern", "modem", "they differ in letters of the same shape"),
    ("anna", "anna", "they are the same"),
)


@pytest.mark.parametrize(("label", "other", "how"), ALIKE)
def test_labels_that_a_reader_may_mix_up_look_alike(label: str, other: str, how: str) -> None:
    assert look_alike(label, other)
    assert look_alike(other, label)
    assert how == difference(label, other)


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("anna", "anne"),
        ("tail", "tall"),
        ("anna v2", "anna v3"),
        ("mist-random", "mist_random"),
        ("Müller", "Muller"),
        ("алиса", "алина"),
        ("将棋", "象棋"),
        ("mist_random", "mist_random (house)"),
    ],
)
def test_labels_that_can_be_told_apart_do_not_look_alike(label: str, other: str) -> None:
    assert not look_alike(label, other)
    assert not look_alike(other, label)


def test_a_name_and_what_it_is_printed_as_look_alike() -> None:
    for name in ("an\u200bna", "a\u202etxt", " a", "a  b", "e\u0301", "\U000e0041"):
        assert printable_name(name) != name
        assert look_alike(printable_name(name), name)


def test_each_letter_is_listed_once_and_looks_like_the_ascii_one_before_it() -> None:
    letters = "".join(_SAME_SHAPE.values())
    assert len(letters) == len(set(letters))
    assert not letters.isascii()
    for latin, others in _SAME_SHAPE.items():
        assert all(look_alike(f"x{latin}y", f"x{other}y") for other in others)


def test_the_first_two_labels_that_look_alike_are_found() -> None:
    labels = [f"bot_{number}" for number in range(2, 5_000)]
    assert first_alike(labels) is None
    assert (4, 4_998) == first_alike([*labels, "BOT_6"])


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("mine", "old/mine", "new/Mine"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "mine")


def test_a_bot_is_called_by_the_last_part_of_its_path(tmp_path: Path) -> None:
    assert "mine" == label_of("../old/mine")
    assert "mine" == label_of(f"{tmp_path}/mine/")
    assert "alice" == label_of("remote:keys/alice.key")
    assert "mist_hunter" == label_of("mist_hunter")
    assert "mine@v1" == label_of("../mine@v1")


def test_a_dot_is_called_by_the_folder_that_it_stands_for(tmp_path: Path) -> None:
    assert ("mine", "mine", "mine@HEAD~1") == (label_of("."), label_of("./"), label_of(".@HEAD~1"))
    assert printable_name(tmp_path.name) == label_of("..")
    assert "old" == label_of(".", tmp_path / "old")


def test_short_names_that_look_alike_become_whole_ones() -> None:
    assert ["mine", "mist_hunter", "mine"] == labels_of(["../old/mine", "mist_hunter", "../old/mine"])
    names = ["../old/mine", "../new/Mine"]
    assert names == labels_of(names)
    assert not any(look_alike(*pair) for pair in combinations(labels_of(names), 2))
