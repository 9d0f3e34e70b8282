"""A match's page: who won with which score, key moments and the curve; times in a fold."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.pages import Competition, Website, replay_path, story_path
from arena.tournament import TRANSCRIPTS
from protocol.refusals import Conduct
from referee.transcript import verify_transcript
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.simulated import result

MATCH = Path("docs/examples/three-turns.jsonl")
FAULT = Path("tests/golden/fault.default.jsonl")


def cup(folder: Path, transcript: Path = MATCH, scores: tuple[int, ...] = (24, 5), **other: Any) -> Competition:
    """A competition with one match, and another transcript's content as its own."""
    head = verify_transcript(transcript).head
    played = result(0, 0, tuple(range(len(scores))), [[seat] for seat in range(len(scores))], head=head, **other)
    by_seat = {str(seat): score for seat, score in enumerate(scores)}
    played = replace(played, outcome=replace(played.outcome, scores=by_seat))
    names = ["anna", "<b>bob", "carl", "dora"][: len(scores)]
    folder_of(folder, names, [played], blocks=1, rotations=1)
    (folder / TRANSCRIPTS).mkdir()
    shutil.copy(transcript, folder / TRANSCRIPTS / "00001a.jsonl")
    return Competition("cup", folder)


def page(competition: Competition, path: str = "cup/match/1a.html", **other: Any) -> str:
    return body_of(Website([competition], live=False, **other), path).decode()


def test_result_score_length_curve_and_moments_are_on_it(tmp_path: Path) -> None:
    text = page(cup(tmp_path / "cup"))
    head = verify_transcript(MATCH).head
    assert re.search(r"anna</span> beat .*&lt;b&gt;bob</span>, 24 to 5", text)
    assert re.search("20 <a [^>]*>moves</a> in 5 <a [^>]*>steps</a> of the replay, 2.0 ms of thinking", text)
    assert "The numbers are the scores: largest group." in text
    assert "<h2>Largest group</h2>" in text
    assert 2 == text.count("<polyline")
    assert f'<a href="../../{replay_path(head)}#step=5&amp;match=cup/1a">the match is over' in text
    assert text.index("Key moments") < text.index("<summary>Times and resources") < text.index(">seat 0</span>")


def test_a_crash_is_a_moment_and_what_went_wrong_is_not_in_the_fold(tmp_path: Path) -> None:
    text = page(cup(tmp_path / "cup", FAULT, conduct=(Conduct.CRASHED, Conduct.OK)))
    assert "crashes: exit code -9" in text
    assert re.search(r'place 1.*anna.*<span class="bad">crashed</span>', text)


def test_a_transcript_that_is_refused_costs_the_story_and_the_page_says_why(tmp_path: Path) -> None:
    competition = cup(tmp_path / "cup")
    transcript = competition.folder / TRANSCRIPTS / "00001a.jsonl"
    transcript.write_bytes(transcript.read_bytes().replace(b'"kind":"header"', b'"kind" :"header"', 1))
    text = page(competition)
    assert re.search(r"The transcript cannot be shown: line 1: .*\.</p>", text)
    assert "Key moments" not in text
    assert "Watch the replay" not in text
    assert ", 24 to 5" in text
    assert str(tmp_path) not in text


def test_commentary_that_fails_costs_the_story_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("in /home/host/secret")

    monkeypatch.setattr("arena.replay.story_of", fails)
    text = page(cup(tmp_path / "cup"))
    assert "The transcript cannot be shown: brings about ZeroDivisionError." in text
    assert "/home/host" not in text
    assert ", 24 to 5" in text


@pytest.mark.parametrize("replays", [True, False])
def test_without_replays_or_transcript_there_is_no_story(tmp_path: Path, replays: bool) -> None:
    competition = cup(tmp_path / "cup")
    if replays:
        (competition.folder / TRANSCRIPTS / "00001a.jsonl").unlink()
    text = page(competition, replays=replays)
    assert "Key moments" not in text
    assert ", 24 to 5" in text


def test_a_story_is_also_a_file_that_never_changes(tmp_path: Path) -> None:
    competition = cup(tmp_path / "cup")
    path = story_path(verify_transcript(MATCH).head)
    website = Website([competition], live=False)
    found = website.page(path or "")
    assert found is not None
    assert found.for_ever
    assert b'"unit":"Largest group"' in found.body
    assert website.page((path or "").replace("-", "-0")) is None


def test_with_many_seats_the_headline_names_the_first_place_and_seats_have_small_charts(tmp_path: Path) -> None:
    text = page(cup(tmp_path / "cup", scores=(9, 7, 3, -1)))
    assert re.search(r'class="result"><span class="name">anna</span> wins with 9<', text)
    assert [9, 7, 3, -1] == [
        int(score) for score in re.findall(r'<span class="value">(-?\d+)</span></li>\n', text)
    ][-4:]


def test_lists_say_score_and_length_and_link_to_the_replay(tmp_path: Path) -> None:
    competition = cup(tmp_path / "cup")
    head = verify_transcript(MATCH).head
    text = page(competition, "cup/matches.html")
    assert ", 24 to 5</td>" in text
    assert "<td>20</td>" in text
    assert f'href="../{replay_path(head)}#match=cup/1a"' in text
    assert "24 to 5" in page(competition, "cup/bot/0.html")
    assert "5 to 24" in page(competition, "cup/bot/1.html")
    assert "replay/" not in page(competition, "cup/matches.html", replays=False)


def test_honours_are_explained_and_seats_of_one_bot_are_told_apart(tmp_path: Path) -> None:
    played = result(0, 0, (0, 1, 1), [[0], [1], [2]])
    outcome = replace(played.outcome, tokens={"0": 1}, garnets={"1": -2}, eliminated=2, winners=(0,))
    played = replace(played, outcome=outcome)
    folder = folder_of(tmp_path / "cup", ["anna", "bob"], [played], blocks=1, rotations=1)
    text = page(Competition("cup", folder))
    for words in ("1 token", "loses 2 garnets", "named winner", "elimination candidate"):
        assert f">{words}</a></span>" in text
    assert "<dt>garnet</dt><dd>Money of the game." in text
    assert "bob, seat 1" in text.replace("<wbr>", "")
    assert "bob, seat 2" in text.replace("<wbr>", "")
    assert "anna, seat" not in text


def test_a_board_in_a_list_leads_to_the_replay_for_those_who_see_it(tmp_path: Path) -> None:
    competition = cup(tmp_path / "cup")
    replay = re.escape(f"../{replay_path(verify_transcript(MATCH).head)}#match=cup/1a")
    board = rf'<a href="{replay}" tabindex="-1" aria-hidden="true"><img class="board"[^>]* src="../picture/'
    assert re.search(board, page(competition, "cup/matches.html"))
