"""The page: whole in itself, well-formed, and nothing that a bot is called can break it."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from arena.quantities import duration
from arena.reports.html_page import POLICY, About, page
from arena.reports.svg import Bar, bars, heat, lines, spans
from arena.statistics.summary import Digest, digest_of
from tests.arena.simulated import result, tournament

NASTY = '<script>alert(1)</script>&"quoted"'
TWO = digest_of(
    ("one", NASTY), [result(n // 2, n % 2, (n % 2, 1 - n % 2), [[n % 3 % 2], [1 - n % 3 % 2]]) for n in range(12)]
)
FIVE = digest_of(
    tuple("abcdefg"), tournament(np.random.default_rng(3), np.linspace(-1, 1, 7), 5, 14, alike=0.2, ties=0.2)
)
MANY = digest_of(
    tuple(map(str, range(40))), tournament(np.random.default_rng(3), np.zeros(40), 5, 3, alike=0.2, ties=0.2)
)
NONE = digest_of(("a", "b"), [])
ABOUT = About("cup & saucer", (("game", "mist"),))


class Reader(HTMLParser):
    """Notes what a page would fetch or run, and its words."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outward: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.outward += [
            f"{name}={value}" for name, value in attrs if name in ("src", "href", "onload", "onclick")
        ]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


@pytest.mark.parametrize("digest", [TWO, FIVE, NONE], ids=["two seats", "five seats", "no results"])
def test_the_page_fetches_nothing_and_runs_nothing(digest: Digest) -> None:
    text = page(ABOUT, digest)
    found = read(text)
    assert [] == found.outward
    assert not {"script", "link", "img", "iframe", "object"} & set(found.tags)
    assert "url(" not in text
    assert "@import" not in text
    assert POLICY in text


def test_it_has_a_plot_for_each_thing_that_is_to_be_seen() -> None:
    titles = re.findall(r'<svg [^>]*aria-label="([^"]*)"', page(ABOUT, FIVE))
    assert [
        "Ratings with 95 % intervals",
        "Mean points against each other",
        "Likelihood of superiority",
        "Ratings over time",
        "Mean points by seat",
        "Charged time a window",
    ] == titles


@pytest.mark.parametrize("digest", [TWO, FIVE, MANY], ids=["two seats", "five seats", "many bots"])
def test_every_plot_is_well_formed_and_within_its_frame(digest: Digest) -> None:
    for drawn in re.findall(r"<svg.*?</svg>", page(ABOUT, digest), re.DOTALL):
        picture = ET.fromstring(drawn)  # noqa: S314 - our own
        _, _, width, height = map(float, picture.attrib["viewBox"].split())
        for each in picture.iter():
            for key, most in (
                ("x", width),
                ("cx", width),
                ("x1", width),
                ("x2", width),
                ("y", height),
                ("cy", height),
            ):
                assert 0 <= float(each.get(key, 0)) <= most


def test_a_page_without_results_says_who_is_to_play() -> None:
    assert {"a", "b"} <= set(read(page(ABOUT, NONE)).words)


def test_an_interval_without_an_end_has_an_arrow_there() -> None:
    assert 1 == bars("r", [Bar("a", 10, 0, None, ""), Bar("b", -10, -20, 5, "")], "Elo").count("<path")


def test_times_lie_on_powers_of_ten() -> None:
    drawn = spans("t", [Bar("a", 500, 200, 3000, "")], duration)
    assert ["100 µs", "1.0 ms", "10 ms", "a"] == [
        text.text
        for text in ET.fromstring(drawn).iter("text")  # noqa: S314 - our own
    ]


def test_a_bot_that_took_no_time_has_its_row_all_the_same() -> None:
    assert ">a<" in spans("t", [Bar("a", 0, 0, 0, "")], duration)


def test_a_cell_says_its_share_and_the_middle_has_no_colour() -> None:
    drawn = heat("h", ["a"], ["1", "2", "3"], [[None, 0.5, 0.25]])
    assert ["0.00", "0.40"] == re.findall(r'fill-opacity="([^"]*)"', drawn)
    assert "a, 3: 25.0%" in drawn


def test_names_at_the_ends_of_lines_do_not_lie_on_each_other() -> None:
    drawn = lines("c", ["a", "b", "c"], [(1, [0, 0, 0]), (2, [5, 5.1, 5.2])], "blocks", "Elo")
    heights = sorted(float(y) for y in re.findall(r'<text class="c\d" x="[^"]*" y="([^"]*)"', drawn))
    assert [13, 13] == pytest.approx(list(np.diff(heights)), abs=0.2)
