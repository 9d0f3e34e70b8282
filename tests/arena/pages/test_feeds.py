"""Feeds of results: well formed, whatever bots are called, and of the latest blocks that count."""

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from msgspec.structs import replace

from arena.pages import Competition, Website
from arena.statistics import CountedMatch
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.simulated import result

ATOM = "{http://www.w3.org/2005/Atom}"
NASTY = "x]]>&amp;<script>\x00\x1b\ufffe\ufffd\u202e\u2066\ud800'\"" + "y" * 5_000
URL = "https://example.org/cups/"


def match(block: int, seating: int) -> CountedMatch:
    played = result(block, seating, (seating, 1 - seating), ((0,), (1,)))
    return replace(played, outcome=replace(played.outcome, scores={"0": 13, "1": 9}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A results folder of 60 blocks of two matches, one every second."""
    played = [match(block, seating) for block in range(60) for seating in (0, 1)]
    return folder_of(tmp_path / "cup", ["anna", "bob"], played)


def test_the_latest_blocks_are_entries_with_their_results(folder: Path) -> None:
    feed = fromstring(body_of(Website([Competition("cup", folder)], live=False, url=URL), "cup/feed.xml"))  # noqa: S314 - our own
    entries = feed.findall(f"{ATOM}entry")
    assert 50 == len(entries)
    newest = entries[0]
    said = "60a: anna beat bob, 13 to 9; 60b: bob beat anna, 13 to 9"
    assert said == newest.findtext(f"{ATOM}title")
    assert "2026-11-01T12:02:00+00:00" == newest.findtext(f"{ATOM}updated") == feed.findtext(f"{ATOM}updated")
    link = newest.find(f"{ATOM}link")
    assert link is not None
    assert f"{URL}cup/match/60a.html" == link.get("href")
    assert f'<a href="{URL}cup/match/60b.html">' in (newest.findtext(f"{ATOM}content") or "")
    assert "11a: anna beat bob, 13 to 9; 11b: bob beat anna, 13 to 9" == entries[-1].findtext(f"{ATOM}title")
    assert len(entries) == len({each.findtext(f"{ATOM}id") for each in entries})


def test_both_feeds_have_the_same_entries_and_entries_keep_their_ids(folder: Path) -> None:
    website = Website([Competition("cup", folder)], live=False)
    feed = json.loads(body_of(website, "cup/feed.json"))
    other = fromstring(body_of(Website([Competition("other", folder)], live=True), "other/feed.xml"))  # noqa: S314 - our own
    assert "https://jsonfeed.org/version/1.1" == feed["version"]
    ids = [each.findtext(f"{ATOM}id") for each in other.findall(f"{ATOM}entry")]
    assert ids == [each["id"] for each in feed["items"]]
    assert "match/60a.html" == feed["items"][0]["url"]
    assert {"cup/feed.xml", "cup/feed.json"} <= set(website.paths("cup"))


def test_names_cannot_break_a_feed(tmp_path: Path) -> None:
    title = "cup]]>&<"
    folder = folder_of(tmp_path / title, [NASTY.replace("\ud800", ""), "bob"], [match(0, 0)])
    website = Website([Competition("cup", folder)], live=False)
    feed = fromstring(body_of(website, "cup/feed.xml"))  # noqa: S314 - our own
    entry = feed.findtext(f"{ATOM}entry/{ATOM}title") or ""
    assert "x]]>&amp;<script>\\x00\\x1b\\ufffe" in entry
    assert entry.isprintable()
    assert len(entry) < 1_000
    content = feed.findtext(f"{ATOM}entry/{ATOM}content") or ""
    assert "<script" not in content
    assert entry == json.loads(body_of(website, "cup/feed.json"))["items"][0]["title"]


def test_a_competition_without_results_has_an_empty_feed(tmp_path: Path) -> None:
    website = Website([Competition("cup", folder_of(tmp_path / "cup", ["anna", "bob"], []))], live=False)
    feed = fromstring(body_of(website, "cup/feed.xml"))  # noqa: S314 - our own
    assert [] == feed.findall(f"{ATOM}entry")
    assert feed.findtext(f"{ATOM}updated")
    assert [] == json.loads(body_of(website, "cup/feed.json"))["items"]


def test_pages_of_a_competition_name_their_feeds(folder: Path) -> None:
    website = Website([Competition("cup", folder)], live=False)
    page = body_of(website, "cup/match/60a.html")
    assert b'<link rel="alternate" type="application/atom+xml" title="Results" href="../feed.xml">' in page
    assert b'href="feed.json"' in body_of(website, "cup/index.html")
