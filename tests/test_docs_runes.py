"""docs/games/runes_to_ruins.md says what is so: the runes it draws and counts, the words it lists, the rulings."""

import re
from pathlib import Path

import pytest

from protocol.games.runes_to_ruins import Learned, PlayRound, RunesOptions, RunesView, Visions
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, RUNE
from referee.games.runes_to_ruins import RunesToRuins

PAGE = (Path(__file__).parents[1] / "docs/games/runes_to_ruins.md").read_text(encoding="utf-8")
STROKES = {(1, 0): "─", (0, 1): "│", (1, 1): "\u2572", (1, -1): "\u2571"}


def section(heading: str) -> str:
    """Return the text under a heading, up to the next one of any level."""
    (found,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    text: str = found
    return text


def first_words(text: str) -> list[str]:
    """Return what stands as code in the first column of a text's tables."""
    return [
        word for cell in re.findall(r"^\|([^|]*)\|", text, re.MULTILINE) for word in re.findall(r"`(\w+)`", cell)
    ]


def drawn(rune: str) -> list[str]:
    """Draw a rune as the page should: points in every second place, segments between them."""
    rows = [[*"· · ·"], [*"     "], [*"· · ·"], [*"     "], [*"· · ·"]]
    for segment in RUNE[rune].segments.split():
        one, other = sorted(int(point) for point in segment)
        (y, x), (below, right) = divmod(one, 3), divmod(other, 3)
        step = (right - x, below - y) if right >= x else (x - right, y - below)
        rows[y + below][x + right] = STROKES[step]
    return ["".join(row) for row in rows]


def test_the_page_draws_every_rune_from_its_segments() -> None:
    (block,) = re.findall(r"^```runes\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line.ljust(80) for line in block.splitlines()]
    for n, divine in enumerate(DIVINE):
        rows = lines[2 + 6 * n : 7 + 6 * n]
        assert divine == rows[2][:12].strip()
        for m, mundane in enumerate(MUNDANE):
            left = lines[0].index(mundane)
            assert 12 + 11 * m == left
            assert drawn(f"{mundane} {divine}") == [row[left : left + 5] for row in rows]


@pytest.mark.parametrize("divine", DIVINE)
def test_the_page_counts_every_runes_line_segments_and_straight_lines(divine: str) -> None:
    (row,) = re.findall(rf"^\| {divine} \|(.*)\|$", PAGE, re.MULTILINE)
    runes = [RUNE[f"{mundane} {divine}"] for mundane in MUNDANE]
    assert [f"{len(rune.segments.split())} / {rune.straight_lines}" for rune in runes] == [
        cell.strip() for cell in row.split("|")
    ]


def test_the_page_lists_every_word_of_the_game() -> None:
    windows = section("Windows and actions")
    keys = [*PlayRound.__struct_fields__, *Visions.__struct_encode_fields__, *Learned.__struct_encode_fields__]
    assert list(RunesOptions.__struct_fields__) == first_words(section("Options"))
    assert [*RunesToRuins.actions, *keys] == first_words(windows)
    assert [str(event.__struct_config__.tag) for event in RunesToRuins.events] == first_words(section("Events"))
    assert list(RunesView.__struct_fields__) == first_words(section("The view"))


def test_the_page_lists_every_field_of_every_event() -> None:
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|(.*)\|$", section("Events"), re.MULTILINE)
    fields = {str(event.__struct_config__.tag): set(event.__struct_fields__) for event in RunesToRuins.events}
    assert fields == {name: set(re.findall(r"`(\w+)`", text)) - {"mirror"} for name, text in rows}


def test_the_page_has_every_ruling_in_order() -> None:
    assert [f"R{number}" for number in range(1, 9)] == re.findall(r"^\*\*(R\d+)\. ", PAGE, re.MULTILINE)
