"""Contents of a page: the boards of each viewpoint, and of a single viewpoint nothing else."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.commands import main
from arena.replay import recording_of, recording_of_seat
from arena.viewer import page as viewer_page
from arena.viewer import page_data, page_of
from protocol.codec import decode_server_message
from protocol.messages import Opened
from referee.match import Ended, Out
from referee.transcript import read_transcript, seat_lines
from tests.arena.viewer.matches import HOSTILE, LONG_NOTE, SEATS, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matches")


@pytest.fixture(scope="module", params=SEATS)
def transcript(request: pytest.FixtureRequest, folder: Path) -> Path:
    return written(request.param, folder / f"{request.param}.jsonl")


@pytest.fixture(scope="module")
def mist(folder: Path) -> Path:
    return written("mist", folder / "m.jsonl", name=HOSTILE, note=LONG_NOTE)


def changed(old: Any, change: Any) -> Any:
    """The page's own rule, said again."""
    if isinstance(change, list):
        return change[0]
    if isinstance(old, list):
        made = [*old, *change.get("a", ())]
        for index, each in change.get("l", {}).items():
            made[int(index)] = changed(made[int(index)], each)
        return made
    left = {key: each for key, each in old.items() if key not in change.get("x", ())}
    return left | {key: changed(left.get(key), each) for key, each in change["d"].items()}


def views(page: dict[str, Any], eyes: str) -> list[dict[str, Any]]:
    view: dict[str, Any] = {}
    grown = []
    for board in page["boards"][eyes]:
        view = view | {key: changed(view.get(key), page["pool"][number]) for key, number in board.items()}
        grown.append(view)
    return grown


def told(transcript: Path, seat: int) -> list[Any]:
    """The views that a seat's bot was sent."""
    outs = [each for each in read_transcript(transcript) if isinstance(each, Out) and each.seat == seat]
    messages = [decode_server_message(bytes(out.frame)) for out in outs]
    return [each.view for each in messages if isinstance(each, Opened)]


def seat_file(transcript: Path, seat: int) -> Path:
    path = transcript.with_name(f"{transcript.stem}-seat-{seat}.jsonl")
    path.write_bytes(b"".join(seat_lines(read_transcript(transcript), seat)))
    return path


def test_each_seats_eyes_see_the_views_that_its_bot_was_sent(transcript: Path) -> None:
    page = json.loads(json.dumps(page_data(recording_of(transcript))))
    seats = page["seats"]
    assert ["host", "spectator", *map(str, range(seats))] == page["eyes"]
    for seat in range(seats):
        seen = views(page, str(seat))
        sent = told(transcript, seat)
        assert sent
        assert all(view in seen for view in sent)


def test_a_seats_own_file_shows_that_seat_and_no_more(transcript: Path) -> None:
    page = json.loads(json.dumps(page_data(recording_of_seat(seat_file(transcript, 1)))))
    assert ["1"] == page["eyes"]
    assert list(page["boards"]) == ["1"]
    assert told(transcript, 1) == [view for view in views(page, "1") if view][: len(told(transcript, 1))]
    assert ["bot-1"] == [name for name in page["names"] if name]


def test_the_places_are_those_of_the_outcome(transcript: Path) -> None:
    ended = next(each for each in read_transcript(transcript) if isinstance(each, Ended))
    assert ended.outcome is not None
    places = page_data(recording_of(transcript))["places"]
    assert [0] * len(places) < places
    for at, group in enumerate(ended.outcome.ranking):
        assert {1 + sum(map(len, ended.outcome.ranking[:at]))} == {places[seat] for seat in group}


def test_a_seats_own_file_may_rank_seats_that_there_are_not(mist: Path) -> None:
    recording = recording_of(mist)
    recording.ranking = ((7, -1), (1,))
    assert [None, 3] == page_data(recording)["places"]


@pytest.mark.parametrize("eyes", ["spectator", 1])
def test_a_page_for_some_eyes_has_no_secret_of_others(mist: Path, eyes: Any) -> None:
    recording = recording_of(mist)
    whole, page = page_data(recording), page_of(recording, eyes)
    assert "long long" in page_of(recording)
    assert "long long" not in page
    part = page_data(recording, eyes)
    assert [str(eyes)] == part["eyes"]
    assert all(clock[0] == eyes for step in part["steps"] for clock in step.get("clocks", ()))
    assert any(step.get("clocks") for step in whole["steps"])
    assert not any("over at" in step["title"] for step in part["steps"])
    facts = [seat for step in part["steps"] for _, seat, _ in step.get("facts", ())]
    assert {None, eyes} >= set(facts)


def test_a_page_loads_nothing_and_has_no_markup_of_others(mist: Path) -> None:
    page = page_of(recording_of(mist))
    assert 2 == page.count("</script>")
    assert 1 == page.count('<script type="module">')
    assert "<img" not in page
    assert "\u202e" not in page
    # Title and heading name players, as text.
    head = re.sub("<title>[^<>]*</title>", "", page.split('<script id="data"')[0])
    markup = re.sub("(</span>: )[^<>]*</h1>", r"\1", head)
    assert not re.search(r"(src|href)=|@import|url\((?!#)", markup)
    assert "default-src 'none'; script-src 'sha256-" in page


def test_a_page_takes_less_than_400_kb_beside_its_data(transcript: Path) -> None:
    page = page_of(recording_of(transcript))
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert len(page.encode()) - len(found[1].encode()) < 400_000


def test_what_a_page_has_no_room_for_is_left_out_and_said(mist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer_page, "MOST_BYTES", 6_000)
    page = page_data(recording_of(mist))
    assert page["left_out"]
    assert "left out to keep the page small" in page["boards"]["1"]


def test_notes_are_in_the_step_in_which_they_came(mist: Path) -> None:
    notes = [
        (text, seat)
        for step in page_data(recording_of(mist))["steps"]
        for text, seat, kind in step.get("facts", ())
        if kind == "note"
    ]
    assert [0] == [seat for _, seat in notes]
    assert "notes: </script><script>" in notes[0][0]
    own = page_data(recording_of_seat(seat_file(mist, 0)))
    kinds = [kind for step in own["steps"] for _, _, kind in step.get("facts", ())]
    assert 1 == kinds.count("note")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": 1, "b": [1]}, {"a": 2, "b": [1, 2]}),
        ({"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"y": 2}, "b": 1}),
        ([1], [2, 3]),
        ([[1], [2]], [[1, 3], [2], [4]]),
        ([{"a": 1, "b": [1]}, {"a": 1}], [{"a": 2, "b": [1]}, {"a": 1}]),
        ([[1], 2], [[2], 3]),
        ([[1], [2]], [[1]]),
        ({}, {"a": 1}),
        (None, {"d": {}}),
        ([], [1]),
        ({"a": 1}, []),
    ],
)
def test_a_change_makes_the_new_of_the_old(old: Any, new: Any) -> None:
    assert new == changed(old, viewer_page.change(old, new))


def test_the_command_writes_a_page_that_only_its_owner_can_read(mist: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(main.main, ["replay", "--html", str(page), str(mist)])
    assert 0 == result.exit_code, result.output
    assert 0o600 == page.stat().st_mode & 0o777
    nowhere = CliRunner().invoke(main.main, ["replay", "--html", str(tmp_path / "none" / "p.html"), str(mist)])
    assert 2 == nowhere.exit_code
    both = CliRunner().invoke(main.main, ["replay", "--html", str(page), "--seat", "0", str(mist)])
    assert 2 == both.exit_code


def test_the_title_names_the_players_as_text(folder: Path, mist: Path) -> None:
    """The title names the first four of many players."""
    for path, of_names in ((mist, 2), (written("pointing", folder / "many.jsonl"), 13)):
        recording = recording_of(path)
        (title,) = re.findall(r"<title>(.*)</title>", page_of(recording))
        said = unescape(title)
        assert "<" not in title
        assert all(name in said for name in page_data(recording)["names"][:4])
        assert (f"and {of_names - 4} more" in said) == (of_names > 4)
