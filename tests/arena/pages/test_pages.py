"""All pages of some competitions: links lead somewhere, strangers' words stay words, and secrets stay secret."""

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np
import pytest

from arena.pages import Competition, Website
from arena.pages.standings import ratings_over_time
from arena.pages.words import time_left
from arena.regression import ComparedMatch, Decision, DecisionDiff
from arena.schedule.knockout import Knockout
from arena.statistics import summary
from arena.tournament import DECISIONS, held
from referee.display_text import printable, printable_name
from referee.match import SeatReport
from tests.arena.commands.test_report import OF_MANY
from tests.arena.commands.test_report import cup as tournament_cup
from tests.arena.pages.folders import SEED, body_of, folder_of
from tests.arena.schedule.paired import spec
from tests.arena.simulated import result, tournament
from tests.hostile_names import NAMES

MOST_BYTES = 300_000
VOID = {"area", "br", "hr", "img", "input", "link", "meta", "wbr", "circle", "line", "polyline", "rect", "use"}


class Reader(HTMLParser):
    """Links, scripts and words of a page."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.headings: list[str] = []
        """Headings of the columns of tables."""
        self.explained: list[str] = []
        """Words in lists of words with their meanings."""
        self._into: list[str] | None = None
        self._goes_on = False
        """A line may end here, in the midst of a name."""
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "wbr":
            self._goes_on = True
            return
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "data-search")]
        given = dict(attrs)
        self.ids |= {given["id"] or ""} if "id" in given else set()
        is_heading = tag == "th" and given.get("scope") == "col"
        if tag != "a":  # What it holds is still what the heading says.
            self._into = self.headings if is_heading else self.explained if tag == "dt" else None
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)
            self._into = None
        if self._goes_on:
            self.words[-1] += data
        else:
            self.words.append(data)
        self._goes_on = False


def one(path: Path, slug: str = "cup") -> Website:
    return Website([Competition(slug, path)], live=False)


def all_pages(website: Website, slug: str = "cup") -> Iterator[tuple[str, bytes]]:
    matches = (path for path, *_ in website.match_pages(slug))
    for path in (*website.shared_paths(), *matches, *website.paths(slug)):
        page = body_of(website, path)
        yield path, page


def words(website: Website, path: str) -> str:
    page = body_of(website, path)
    return " ".join(" ".join(Reader(page).words).split())


def cup(path: Path, bots: int, seats: int = 2, blocks: int = 1, labels: Sequence[str] = ()) -> Path:
    played = tournament(np.random.default_rng(1), np.linspace(-1, 1, bots), seats, blocks, alike=0.3, ties=0.2)
    names = labels or [f"bot_{number}" for number in range(bots)]
    return folder_of(path / "cup", names, played, blocks=blocks, rotations=seats)


@pytest.mark.parametrize(("bots", "seats", "blocks"), [(2, 2, 60), (8, 2, 1), (8, 5, 3)])
def test_every_link_leads_to_a_page_that_is_there_and_no_page_has_a_script_or_style_of_its_own_or_says_the_seed(
    tmp_path: Path, bots: int, seats: int, blocks: int
) -> None:
    website = one(cup(tmp_path, bots, seats, blocks))
    pages = dict(all_pages(website))
    for path, body in pages.items():
        assert str(SEED).encode() not in body, path
        assert len(body) <= MOST_BYTES, path
        if not path.endswith(".html"):
            continue
        found = Reader(body)
        assert [] == found.open, path
        assert not {each for each in found.attributes if each == "style" or each.startswith("on")}, path
        assert "style" not in found.tags, path
        assert [] == re.findall(rb"<script(?![^>]* src=|[^>]* type=.application/json)", body), path
        for link in found.links:
            if link.startswith(("#", "data:")):
                continue
            target = _joined(path, link.partition("#")[0])
            assert target in pages, f"{path}: {link}"


def _joined(path: str, link: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(path).parent.parts, *link.split("/")):
        if part == "..":
            parts.pop()
        elif part:
            parts.append(part)
    return "/".join(parts)


HOSTILE = [*NAMES.values(), "x" * 10_000, "</script><script>alert(1)</script>" * 300]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Website:
    """Bots with all these names; what went wrong with them is said in their words, too."""
    path = tmp_path_factory.mktemp("hostile")
    played = [result(n, s, (n, 0) if s else (0, n), [[0], [1]]) for n in range(1, len(HOSTILE)) for s in (0, 1)]
    reports = {
        (n, 0): (SeatReport(), SeatReport(loss=f"killed {HOSTILE[n][:200]}", last_line=HOSTILE[n][:200]))
        for n in range(1, len(HOSTILE))
    }
    folder = folder_of(path / "cup", HOSTILE, played, reports=reports, format="gauntlet")
    return one(folder)


@pytest.mark.slow
def test_names_and_what_bots_say_are_text_on_every_page(hostile: Website, tmp_path: Path) -> None:
    tame = {path: Reader(body) for path, body in all_pages(one(cup(tmp_path, 20))) if path.endswith(".html")}
    tags = set().union(*(each.tags for each in tame.values())) | {"li", "ul", "a", "nav", "wbr"}
    attributes = set().union(*(each.attributes for each in tame.values())) | {"href", "aria-label", "class"}
    for path, body in all_pages(hostile):
        text = body.decode()
        assert all(line == printable(line) for line in text.split("\n")), path
        if path.endswith(".html"):
            found = Reader(body)
            assert [] == found.open, path
            assert found.tags <= tags, path
            assert found.attributes <= attributes, path


def test_names_are_shown_as_they_stand_and_long_ones_lose_their_middle(hostile: Website) -> None:
    page = body_of(hostile, "cup/bots.html")
    found = Reader(page).words
    for name in HOSTILE:
        if len(name) < 50 and name.isascii():
            assert printable_name(name) in found
    assert max(map(len, found)) < 400


def test_a_match_is_not_shown_before_its_block_counts(tmp_path: Path) -> None:
    whole = tournament(np.random.default_rng(1), np.zeros(3), 2, 2, alike=0.3, ties=0.2)
    folder = folder_of(tmp_path / "cup", list("abc"), whole[:4], blocks=2, open_attempts=[(2, 0), (2, 1)])
    website = one(folder)
    assert website.page("cup/match/2b.html") is not None
    assert website.page("cup/match/3a.html") is None
    assert "3a" not in words(website, "cup/matches.html")


def test_a_match_has_one_page_whether_it_is_asked_for_or_written_with_all_others(tmp_path: Path) -> None:
    whole = tournament(np.random.default_rng(1), np.zeros(3), 2, 2, alike=0.3, ties=0.2)
    website = one(folder_of(tmp_path / "cup", list("abc"), whole[:8], blocks=2))
    written = {path: make() for path, _, make in website.match_pages("cup")}
    assert [f"cup/match/{block}{seating}.html" for block in range(1, 5) for seating in "ab"] == list(written)
    assert written == {path: website.page(path) for path in written}


def test_an_unfinished_run_says_so_on_every_page(tmp_path: Path) -> None:
    whole = tournament(np.random.default_rng(1), np.zeros(4), 2, 3, alike=0.3, ties=0.2)
    website = one(folder_of(tmp_path / "cup", list("abcd"), whole[:20], blocks=3))
    for path in website.paths("cup"):
        if path.endswith(".html"):
            assert "unfinished: 20 of 36 matches" in words(website, path)
    for path, *_ in website.match_pages("cup"):
        assert "cup, unfinished." in words(website, path)
    assert "unfinished: 20 of 36 matches" in words(website, "index.html")
    assert "cup, unfinished." in words(website, "cup/match/1a.html")


def test_a_run_that_goes_on_says_how_long_it_will_take(tmp_path: Path) -> None:
    whole = tournament(np.random.default_rng(1), np.zeros(4), 2, 30, alike=0.3, ties=0.2)
    folder = folder_of(
        tmp_path / "cup", list("abcd"), whole[:64], blocks=30, seconds=2.84, open_attempts=[(32, 0)]
    )
    website = one(folder)
    with held(folder):
        assert "64 of 360 matches, about 14 minutes left" in words(website, "cup/index.html")
        assert "33a" in words(website, "cup/schedule.html")
        assert "34a to 34b" in words(website, "cup/schedule.html")
        served = Website([Competition("cup", folder)], live=True)
        assert "Live now cup 64 of 360 matches" in words(served, "index.html")
    assert "Live now" not in words(served, "index.html")
    assert "Nothing is being played now. What comes next The next matches of the schedule." in words(
        website, "cup/schedule.html"
    )


def test_a_finished_run_says_so(tmp_path: Path) -> None:
    assert "finished: 6 matches" in words(one(cup(tmp_path, 3)), "cup/index.html")


def test_a_stop_between_results_is_no_play() -> None:
    times = [f"2026-11-01T12:{minute:02d}:00+00:00" for minute in range(10)]
    later = [f"2026-11-02T12:{minute:02d}:00+00:00" for minute in range(10)]
    assert "about 20 minutes" == time_left((*times, *later), 20)
    assert "" == time_left(times[:3], 20)
    assert "" == time_left(("nonsense",) * 9, 20)


def test_the_newest_matches_come_first_and_pages_hold_a_hundred(tmp_path: Path) -> None:
    website = one(cup(tmp_path, 2, blocks=60))
    assert re.search(r"match result moves ended by 60b .* 60a .* 51a", words(website, "cup/matches.html"))
    assert "Matches 120 to 101, newest first." in words(website, "cup/matches.html")
    assert "Matches 100 to 1, newest first." in words(website, "cup/matches-1.html")
    assert website.page("cup/matches-3.html") is None


def test_a_bots_matches_say_how_it_did_where_and_against_whom(tmp_path: Path) -> None:
    played = [
        result(0, 0, (0, 1), [[0], [1]]),
        result(0, 1, (1, 0), [[0], [1]]),
        result(1, 0, (0, 1), [[0, 1]]),
        result(1, 1, (1, 0), [[1], [0]]),
    ]
    website = one(folder_of(tmp_path / "cup", ["anna", "ben"], played, blocks=2))
    said = words(website, "cup/bot/0.html")
    assert "2b won ben 1 20 played 2a tied ben 0 20 played 1b lost ben 1 20 played 1a won ben 0 20 played" in said


def test_with_more_seats_a_bots_matches_say_its_place(tmp_path: Path) -> None:
    entrants = (0, 1, 2, 3, 4)
    played = [result(0, s, entrants[s:] + entrants[:s], [[0], [1, 2], [3], [4]]) for s in range(5)]
    website = one(folder_of(tmp_path / "cup", list("abcde"), played, blocks=1, rotations=5))
    said = words(website, "cup/bot/0.html")
    assert "1a 1st of 5 b , c , d , and 1 more 0 50" in said
    assert "1e 2nd shared of 5 e , b , c , and 1 more 1 50" in said
    assert "1b 5th of 5 b , c , d , and 1 more 4 50" in said


def test_before_a_block_counts_nothing_is_said_of_strength(tmp_path: Path) -> None:
    website = one(folder_of(tmp_path / "cup", ["anna", "ben"], [], blocks=2))
    said = words(website, "cup/index.html")
    assert "1 anna - - - 0" in said
    assert "What the bots used" not in said


def test_a_match_is_where_its_name_says_and_older_addresses_lead_there(tmp_path: Path) -> None:
    website = one(cup(tmp_path, 2, blocks=18))
    found = [website.page(f"cup/match/{name}.html") for name in ("18b", "17-1")]
    assert found[0] is not None
    assert found[0] == found[1]
    assert "Match 18b" in words(website, "cup/match/18b.html")
    assert "match/18b.html" in Reader(website.page("cup/matches.html").body).links  # type: ignore[union-attr]


def test_house_bots_do_not_fill_the_lists(tmp_path: Path) -> None:
    order = (0, 1, 2, 2, 2)
    played = [result(0, s, order[s:] + order[:s], [[1], [0], [2, 3], [4]]) for s in range(5)]
    terms: dict[str, Any] = {"blocks": 1, "rotations": 5, "game": "hive-mind", "house": True}
    website = one(folder_of(tmp_path / "cup", ["anna", "ben", "fill (house)"], played, **terms))
    said = words(website, "cup/matches.html")
    assert "1a 1. ben , 2. anna ; house bots: 3=, 3=, 5" in said
    assert "1c 3= anna , 5. ben ; house bots: 1, 2, 3=" in said
    assert "fill" not in said
    assert "ben and 3 house bots" in words(website, "cup/bot/0.html")
    assert "anna in seat 0, ben in seat 1, house bots in the others" in words(website, "cup/match/1a.html")


def test_a_page_says_in_one_way_how_many_bots_there_are(tmp_path: Path) -> None:
    played = tournament(np.random.default_rng(1), np.zeros(5), 5, 1, alike=0.2, ties=0.2)
    terms: dict[str, Any] = {"blocks": 1, "rotations": 5, "game": "hive-mind", "house": True}
    website = one(folder_of(tmp_path / "cup", ["one", "two", "three", "four", "fill (house)"], played, **terms))
    said = words(website, "cup/index.html")
    assert 2 == said.count("4 bots and a house bot")
    assert "5 bots" not in said
    assert "1 of 4" in words(website, f"cup/bot/{_first(website)}.html")


def _first(website: Website) -> int:
    """Return the entrant that stands first."""
    page = body_of(website, "cup/bots.json")
    return int(msgspec.json.decode(page)["bots"][0][0])


def test_ratings_over_time_begin_with_a_bots_first_result(tmp_path: Path) -> None:
    """The third bot comes when half is played."""
    whole = tournament(np.random.default_rng(1), np.zeros(3), 2, 12, alike=0.3, ties=0.2)
    early = [each for each in whole if 2 not in each.entrants]
    late = [each for each in whole if 2 in each.entrants]
    played = [msgspec.structs.replace(each, block=n // 2, seating=n % 2) for n, each in enumerate([*early, *late])]
    digest = one(folder_of(tmp_path / "cup", list("abc"), played, blocks=12))._competitions["cup"].results().digest
    values = ratings_over_time(digest, 2)
    known = [moment.matches > len(early) for moment in digest.moments]
    assert known == [value is not None for value in values]
    assert not known[0]
    assert known[-1]
    assert None not in ratings_over_time(digest, 0)


def test_spectators_read_of_no_blocks_and_words_lead_to_the_glossary(tmp_path: Path) -> None:
    website = one(cup(tmp_path, 4))
    glossary = website.page("glossary.html")
    assert glossary is not None
    ids = Reader(glossary.body).ids
    linked = set[str]()
    for path, body in all_pages(website):
        if path.endswith(".html") and not path.startswith("game/"):  # A game may have a word of that sound.
            found = Reader(body)
            assert "block" not in " ".join(found.words), path
            linked |= {link.partition("#")[2] for link in found.links if "glossary.html#" in link}
    assert {"deal", "rating", "mean-points", "default"} <= linked <= ids


def test_a_projector_shows_how_the_best_stand_while_nothing_is_played(tmp_path: Path) -> None:
    said = words(Website([Competition("cup", cup(tmp_path, 12))], live=True), "cup/kiosk.html")
    assert re.search(
        r"finished: 132 matches bot_\d+ 1 bot_\d+ 2 bot_\d+ 3 # bot mean points rating played 1 bot_", said
    )
    assert all(f"bot_{number} " in said for number in range(12))


@pytest.mark.parametrize(
    ("bots", "expected"),
    [
        (3, "Semi-finals bot_0 no opponent bot_1 2 bot_2 0 Final bot_0 0 bot_1 0"),
        (4, "Semi-finals bot_0 2 bot_3 0 bot_1 2 bot_2 0 Final bot_0 0 bot_1 0"),
        (8, "Quarter-finals bot_0 2 bot_7 0 bot_3 2 bot_4 0 bot_1 2 bot_6 0 bot_2 2 bot_5 0 Semi-finals bot_0 0"),
        (65, "Shown from the last 64 bots on. Round 2 bot_0 0 bot_63 0 bot_31 0 bot_32 0"),
    ],
)
def test_a_bracket_shows_who_met_whom_and_who_will(tmp_path: Path, bots: int, expected: str) -> None:
    """The first round is over; the bot that is named first won every meeting."""
    first = Knockout(spec("knockout", bots, blocks=1)).rounds(SEED).blocks
    assert first is not None
    played = [
        result(block.number, each.seating, each.entrants, [[seat] for seat in np.argsort(each.entrants).tolist()])
        for block in first()
        for each in block.matches
    ]
    labels = [f"bot_{number}" for number in range(bots)]
    website = one(folder_of(tmp_path / "cup", labels, played, format="knockout", rotations=None))
    assert expected in words(website, "cup/index.html")


def test_a_match_of_many_seats_names_the_first_ones(tmp_path: Path) -> None:
    names = [f"name{number:02d}" for number in range(13)]
    played = [result(0, 0, tuple(range(13)), [[seat] for seat in range(13)])]
    website = one(folder_of(tmp_path / "cup", names, played, blocks=1, rotations=1))
    said = words(website, "cup/match/1a.html")
    assert "1. name00 , 2. name01 , 3. name02 , and 10 more" in said
    assert "name00 , name01 , name02 , and 10 more" in said
    assert "name12" in said


def test_a_ledger_that_is_none_does_not_hide_the_others(tmp_path: Path) -> None:
    good = cup(tmp_path, 2)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/ledger.sqlite").write_bytes(b"x" * 5000)
    website = Website([Competition("bad", tmp_path / "bad"), Competition("cup", good)], live=False)
    assert "cannot be shown" in words(website, "index.html")
    assert "finished: 2 matches" in words(website, "index.html")
    assert website.page("cup/index.html") is not None


@pytest.mark.parametrize("path", ["", "cup/", "cup/index-1.html"])
def test_folders_have_an_index(tmp_path: Path, path: str) -> None:
    assert one(cup(tmp_path, 2)).page(path) is not None


@pytest.mark.parametrize(
    "path",
    ["nothing", "cup", "cup/index-2.html", "cup/bot/2.html", "cup/bots-2.json", "other/index.html",
     "cup/match/10a.html", "cup/match/0a.html", "cup/match/9-0.html", "cup/match/1aaaa.html",
     f"transcript/{'0' * 64}.jsonl", f"replay/{'0' * 64}-{'0' * 16}.html", "assets/site.js"],
)  # fmt: skip
def test_elsewhere_is_nothing(tmp_path: Path, path: str) -> None:
    assert one(cup(tmp_path, 2)).page(path) is None


def regression(path: Path) -> Path:
    rng = np.random.default_rng(4)
    played = [
        result(n, s, ((0, 1), (1, 0))[s], [[1 - s], [s]] if rng.random() < 0.7 else [[s], [1 - s]])
        for n in range(60)
        for s in (0, 1)
    ]
    terms: dict[str, Any] = {
        "test__elo0": 0.0,
        "test__elo1": 30.0,
        "test__alpha": 0.05,
        "test__beta": 0.05,
        "test__model": "logistic",
    }
    return folder_of(path / "cup", ["base", "head"], played, format=None, blocks=None, **terms)


def test_a_regression_test_is_a_page(tmp_path: Path) -> None:
    website = one(regression(tmp_path))
    said = words(website, "cup/index.html")
    assert "H0: +0 Elo, H1: +30 Elo (logistic)" in said
    assert "LLR" in said
    assert "accepted: head is better, after" in said
    for path, body in all_pages(website):
        assert str(SEED).encode() not in body, path


def test_where_base_and_head_part_is_on_its_page_once_it_was_asked(tmp_path: Path) -> None:
    folder = regression(tmp_path)
    website = one(folder)
    assert "Where base and head differ" not in words(website, "cup/index.html")
    place = ComparedMatch(block=0, seating=1, seat=0, head="", base_points=0.0, head_points=1.0)
    decision = Decision(
        window=3, name="turn", turn=2, base="<b>north", base_by_default=False, head="south", head_by_default=False
    )
    (folder / DECISIONS).write_bytes(
        msgspec.json.encode([DecisionDiff(place=place, asked=7, decisions=(decision,))])
    )
    said = words(website, "cup/index.html")
    assert "head differs from base in 1 of 7 decisions" in said
    assert "<b>north" in said
    (folder / DECISIONS).write_text("nonsense")
    assert "LLR" in words(website, "cup/index.html")


def test_a_tests_ledger_whose_blocks_are_no_blocks_is_refused_in_words(tmp_path: Path) -> None:
    """Head has three points of two."""
    terms: dict[str, Any] = {"test__elo0": 0.0, "test__elo1": 30.0}
    played = [result(0, seating, (1, 1), [[0], [1]]) for seating in range(3)]
    bad = folder_of(tmp_path / "bad", ["base", "head"], played, format=None, blocks=None, **terms)
    website = Website([Competition("bad", bad), Competition("cup", cup(tmp_path, 2))], live=False)
    assert "holds neither a tournament nor a regression test" in words(website, "index.html")
    assert "finished: 2 matches" in words(website, "index.html")


@pytest.mark.slow
def test_pages_of_500_bots_with_names_of_forty_characters_stay_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ratings of so many take a second of a processor each time that they are looked back at.
    monkeypatch.setattr(summary, "MOMENTS", 2)
    rng = np.random.default_rng(5)
    labels = [f"bot_{number:04d}_" + "n" * 31 for number in range(500)]
    played = []
    for block in range(1000):
        pair = tuple(sorted(rng.choice(500, 2, replace=False).tolist()))
        for seating, entrants in enumerate((pair, pair[::-1])):
            ranking = [[0], [1]] if rng.random() < 0.5 else [[1], [0]]
            played.append(result(block, seating, (entrants[0], entrants[1]), ranking))
    website = one(folder_of(tmp_path / "cup", labels, played, format="ladder", rounds=4))
    for path in ("index.html", *(path for path in website.paths("cup") if not path.startswith("cup/bot/"))):
        page = body_of(website, path)
        assert len(page) <= MOST_BYTES, path


# --- Every kind of page: where its links lead, and what explains its columns.

FOUR = """\
game = "mist"
bots = ["any_random", "mist_cautious", "mist_hunter", "mist_random"]
blocks = 1
seed = 4
"""
KINDS = {
    "round-robin": FOUR,
    "swiss": FOUR + 'format = "swiss"\nrounds = 2\n',
    "ladder": FOUR + 'format = "ladder"\nrounds = 2\n',
    "knock-out": FOUR + 'format = "knockout"\n',
    "gauntlet": FOUR + 'format = "gauntlet"\n',
    "of-many": OF_MANY,
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> list[Competition]:
    """A competition of each format, one that is not over, and a regression test with all that it can say."""
    path = tmp_path_factory.mktemp("kinds")
    found = []
    for slug, text in KINDS.items():
        tournament_cup(path, f'{text}results = "{slug}"\n')
        found.append(Competition(slug, path / slug))
    whole = tournament(np.random.default_rng(1), np.zeros(4), 2, 3, alike=0.3, ties=0.2)
    folder_of(path / "running", list("abcd"), whole[:20], blocks=3, open_attempts=[(10, 0)])
    both = [
        result(block, seating, ((0, 1), (1, 0))[seating], [[0], [1]]) for block in range(9) for seating in (0, 1)
    ]
    terms: dict[str, Any] = {"elo0": 0.0, "elo1": 30.0, "alpha": 0.05, "beta": 0.05, "model": "normalized"}
    tested: dict[str, Any] = {f"test__{name}": value for name, value in terms.items()}
    folder_of(path / "test", ["base", "head"], both, format=None, blocks=None, **tested)
    return [*found, Competition("running", path / "running"), Competition("test", path / "test")]


def pages_of(website: Website, slugs: Sequence[str], *, live: bool) -> dict[str, bytes]:
    """All pages and files that they need, by path."""
    paths = [*website.shared_paths()]
    for slug in slugs:
        paths += [*website.paths(slug), *(path for path, *_ in website.match_pages(slug))]
        paths += [f"{slug}/{name}.html" for name in ("live", "kiosk", "late") if live]
    found = {path: page.body for path in paths if (page := website.page(path)) is not None}
    assert len(paths) == len(found)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("live", [True, False])
def test_each_link_of_each_kind_of_page_leads_to_one(kinds: list[Competition], *, live: bool) -> None:
    """Served, and as a site: there is a page, and where a part of it is named, the page has that."""
    website = Website(kinds, live=live, delay=1 if live else None)
    with held(kinds[-2].folder):
        pages = pages_of(website, [each.slug for each in kinds], live=live)
        pages["a/b/c.html"] = website.error("a/b/c.html", "Not Found", "There is no such page.").body
        read = {path: Reader(body) for path, body in pages.items() if path.endswith(".html")}
    for path, found in read.items():
        assert path == "index.html" or any(_joined(path, link) == "index.html" for link in found.links), path
        for link in found.links:
            if link.startswith("data:"):
                continue
            place, _, part = link.partition("#")
            target = _joined(path, place) if place else path
            assert target in pages, f"{path}: {link}"
            assert not part or part in read[target].ids, f"{path}: {link}"


@pytest.mark.slow
def test_each_heading_of_a_table_is_explained_on_its_page(kinds: list[Competition]) -> None:
    website = Website(kinds, live=False)
    headings = 0
    for path, body in pages_of(website, [each.slug for each in kinds], live=False).items():
        if path.endswith(".html"):
            found = Reader(body)
            headings += len(found.headings)
            places = {each for each in found.headings if each.isdecimal()} | {"h"}  # of each against each
            assert not set(found.headings) - set(found.explained) - places, path
    assert headings > 1_000


def test_a_projector_tells_thirteen_long_names_apart(tmp_path: Path) -> None:
    labels = [f"the_university_of_the_{place}_end_of_the_long_river_team" for place in "abcdefghijklm"]
    played = tournament(np.random.default_rng(1), np.zeros(13), 13, 1, alike=0.2, ties=0.2)
    terms: dict[str, Any] = {"blocks": 1, "rotations": 13, "game": "pointing"}
    website = Website([Competition("cup", folder_of(tmp_path / "cup", labels, played, **terms))], live=True)
    page = website.page("cup/kiosk.html")
    assert page is not None
    shown = {word for word in Reader(page.body).words if "\N{HORIZONTAL ELLIPSIS}" in word and "_" in word}
    assert 13 == len(shown)
    charts = body_of(website, "cup/index.html")
    cut = [word for word in Reader(charts).words if "\N{HORIZONTAL ELLIPSIS}" in word and ":" not in word]
    assert len(cut) >= 2 * 13
    assert not len(set(cut)) % 13


def test_a_projector_names_who_competes_next_and_no_house(tmp_path: Path) -> None:
    terms: dict[str, Any] = {"blocks": 10, "rotations": 5, "game": "hive-mind", "house": True}
    played = tournament(np.random.default_rng(1), np.zeros(5), 5, 1, alike=0.2, ties=0.2)
    website = one(folder_of(tmp_path / "cup", ["one", "two", "three", "four", "fill (house)"], played, **terms))
    _, _, coming = words(website, "cup/kiosk.html").partition("Next: ")
    assert {"one", "two", "three", "four"} == set(re.findall("one|two|three|four|fill", coming))
    assert re.search(r"2a to 2e 2 .* , 1 house bot", words(website, "cup/schedule.html"))
