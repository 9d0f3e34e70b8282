"""Matches with all eyes while they are played: late, and only the last of a block that is not over."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena.config.face import FACE
from arena.errors import MachineCannot
from arena.pages import Competition, Website
from arena.pages.live import late_page, shown_late
from arena.pages.matches import match_file
from arena.schedule import match_name
from arena.schedule.fields import KEY_CONTENT
from arena.tournament import LEDGER, TRANSCRIPTS, held
from arena.tournament.provenance import CONTENT
from tests.arena.commands.test_report import cup
from tests.arena.pages.folders import body_of
from tests.arena.stand_in import AtOnce
from tests.arena.viewer.matches import written

LAST, OTHER = (2, 1), (3, 0)
"""The match whose block has no other left, and one whose block has."""
STOPS_AFTER = 5


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written("mist", tmp_path_factory.mktemp("matches") / "m.jsonl")


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament of which the third block has one match that is over."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.raises(MachineCannot):
        cup(folder, play=AtOnce(fails_after=STOPS_AFTER, failure=MachineCannot("enough")))
    return folder / "runs" / "cup"


@pytest.fixture
def playing(stopped: Path, tmp_path: Path) -> Iterator[Competition]:
    """It is played on: the other match of that block, and one of the next."""
    folder = tmp_path / "cup"
    shutil.copytree(stopped, folder)
    with closing(sqlite3.connect(folder / LEDGER)) as ledger, ledger:
        for number, (block, seating) in enumerate((LAST, OTHER)):
            ledger.execute(
                "INSERT INTO attempts (block, seating, number, transcript, started) VALUES (?, ?, 9, ?, 'now')",
                [block, seating, f"{number}.jsonl"],
            )
        ledger.execute("UPDATE terms SET value = '\"strict\"' WHERE key = 'isolation'")
    with held(folder):
        yield Competition("cup", folder)


@contextmanager
def written_so_far(competition: Competition, transcript: Path, share: float) -> Iterator[float]:
    """Both matches have so much of this transcript; gives the seconds of it."""
    lines = transcript.read_bytes().splitlines(keepends=True)
    lines = lines[: int(share * len(lines))]
    for number in range(2):
        (competition.folder / TRANSCRIPTS / f"{number}.jsonl.part").write_bytes(b"".join(lines))
    # A line counts once the next one has vouched for it.
    yield max(json.loads(line).get("at", 0) for line in lines[:-1]) / 1_000_000


def test_only_the_last_match_of_a_block_is_shown(playing: Competition) -> None:
    assert [LAST] == shown_late(playing)


def test_a_match_is_shown_as_it_was_before(playing: Competition, transcript: Path) -> None:
    with written_so_far(playing, transcript, 0.9) as seconds:
        early, late = (late_page(playing, *LAST, seconds * share) for share in (0.9, 0.1))
        assert early is not None
        assert late is not None
        assert early.startswith(b"<!doctype html>")
        assert len(early) < len(late)
        assert late_page(playing, *LAST, seconds + 1) is None
        assert late_page(playing, *OTHER, 0.0) is None


@pytest.mark.parametrize("linked", [f"{TRANSCRIPTS}/0.jsonl.part", TRANSCRIPTS])
def test_a_link_to_a_match_of_another_competition_is_not_shown(
    playing: Competition, transcript: Path, tmp_path: Path, linked: str
) -> None:
    with written_so_far(playing, transcript, 0.9):
        assert late_page(playing, *LAST, 0.0) is not None
        moved = tmp_path / "elsewhere"
        (playing.folder / linked).rename(moved)
        (playing.folder / linked).symlink_to(moved)
        assert late_page(playing, *LAST, 0.0) is None


def test_what_is_written_later_than_that_changes_nothing(playing: Competition, transcript: Path) -> None:
    with written_so_far(playing, transcript, 0.5) as seconds:
        then = seconds / 2 + 0.001
        before = late_page(playing, *LAST, seconds - then)
    with written_so_far(playing, transcript, 0.9) as more:
        assert before == late_page(playing, *LAST, more - then)
        assert before is not None


def test_when_nobody_plays_nothing_is_shown(stopped: Path, playing: Competition) -> None:
    assert [] == shown_late(Competition("cup", stopped))


def test_without_a_delay_there_are_no_such_pages(playing: Competition, transcript: Path) -> None:
    path = f"cup/late/{match_file(*LAST)}"
    with written_so_far(playing, transcript, 0.9):
        without, within = Website([playing], live=True), Website([playing], live=True, delay=0.0)
        assert [None, None] == [without.page(path), without.page("cup/late.html")]
        page = within.page("cup/late.html")
        assert page is not None
        assert f'href="late/{match_file(*LAST)}"'.encode() in page.body
        assert match_file(*OTHER).encode() not in page.body
        assert within.page(path) is not None


def test_live_pages_are_told_the_last_position_with_its_remarks(playing: Competition, transcript: Path) -> None:
    with written_so_far(playing, transcript, 0.9) as seconds:
        site = Website([playing], live=True, delay=seconds / 2)
        told = json.loads(body_of(site, "cup/late.json"))
        (match,) = told["matches"]
        assert told["seconds"] == seconds / 2
        assert match["match"] == match_name(*LAST)
        assert match["step"] > 1
        assert [len(view["board"]) for view in match["views"]] == [61, 61]
        assert len(match["scores"]) == 2
        assert all(isinstance(text, str) and weight in range(4) for text, weight in match["remarks"])
        page = body_of(site, "cup/kiosk.html")
        assert b'data-late="late.json"' in page
    assert Website([playing], live=True).page("cup/late.json") is None


@pytest.mark.parametrize(
    ("show", "remote", "isolation", "shown"),
    [
        (None, False, "strict", True),
        ("fog", False, "strict", False),
        (None, True, "strict", False),
        ("late", True, "strict", True),
        (None, False, "none", False),
        ("late", False, "none", True),
    ],
)
def test_the_file_decides_what_is_shown_late_to_bots_that_could_learn_of_it(
    playing: Competition, *, show: str | None, remote: bool, isolation: str, shown: bool
) -> None:
    if show is not None:
        (playing.folder / FACE).write_text(json.dumps({"show": show}))
    changed = {"isolation": isolation}
    with closing(sqlite3.connect(playing.ledger)) as ledger, ledger:
        if remote:
            (bots,) = ledger.execute("SELECT value FROM terms WHERE key = 'bots'").fetchone()
            changed[f"{CONTENT}{json.loads(bots)[0]}"] = f"{KEY_CONTENT}{'0' * 64}"
        for key, value in changed.items():
            done = ledger.execute("UPDATE terms SET value = ? WHERE key = ?", [json.dumps(value), key])
            assert done.rowcount == 1
    assert bool(shown_late(playing)) is shown


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff" * 100, b'{"line":1'])
def test_what_is_no_transcript_is_not_shown(playing: Competition, content: bytes) -> None:
    (playing.folder / TRANSCRIPTS / "0.jsonl.part").write_bytes(content)
    assert late_page(playing, *LAST, 0.0) is None
