"""Replays and transcripts by their hash: a match that holds, and is the one that the ledger names, or nothing."""

import os
import re
from pathlib import Path

import pytest

from arena.errors import WrongUse
from arena.pages import (
    Competition,
    NoReplayError,
    Website,
    card_path,
    contents,
    picture_path,
    replay_page,
    replay_path,
    transcript_path,
)
from arena.pages.contents import transcript_bytes
from arena.tournament import TRANSCRIPTS
from referee.transcript import Verified, read_transcript, seat_lines, verify_transcript
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.simulated import result
from tests.arena.viewer.matches import written


@pytest.fixture(scope="module")
def mist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written("mist", tmp_path_factory.mktemp("matches") / "m.jsonl")


def head_of(transcript: Path) -> str:
    return verify_transcript(transcript).head


def complaint(transcript: Path, head: str) -> set[str]:
    """Return the complaints about a transcript, from both functions that read it."""
    said = set()
    for make in (replay_page, transcript_bytes):
        with pytest.raises(NoReplayError) as caught:
            make(transcript, head)
        said.add(str(caught.value))
    return said


def test_paths_name_what_is_in_them_and_what_draws_it(mist: Path) -> None:
    head = head_of(mist)
    assert f"transcript/{head}.jsonl" == transcript_path(head)
    assert re.fullmatch(rf"replay/{head}-[0-9a-f]{{16}}\.html", replay_path(head) or "")
    assert re.fullmatch(rf"picture/{head}-[0-9a-f]{{16}}\.svg", picture_path(head) or "")
    assert re.fullmatch(rf"card/{head}-[0-9a-f]{{16}}\.png", card_path(head) or "")


@pytest.mark.parametrize("head", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_a_head_that_is_no_hash_has_no_path(head: str) -> None:
    assert {None} == {path(head) for path in (replay_path, transcript_path, picture_path, card_path)}


def test_without_its_packages_there_are_no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.viewer.pictures_installed", lambda: False)
    assert {None} == {path("a" * 64) for path in (picture_path, card_path)}


def test_a_match_that_holds_is_given_whole(mist: Path) -> None:
    head = head_of(mist)
    assert mist.read_bytes() == transcript_bytes(mist, head)
    page = replay_page(mist, head)
    assert page.startswith(b"<!doctype html>")
    assert page == replay_page(mist, head)


def test_another_match_than_the_ledger_names_is_not_given(mist: Path) -> None:
    assert {f"has the head {head_of(mist)}, and the ledger says {'a' * 64}"} == complaint(mist, "a" * 64)


def test_a_transcript_that_was_changed_is_not_given(mist: Path, tmp_path: Path) -> None:
    changed = tmp_path / "m.jsonl"
    changed.write_bytes(mist.read_bytes().replace(b'"seed":1', b'"seed":2', 1))
    assert {"line 1: its hash is not the one that line 2 carries"} == complaint(changed, head_of(mist))


def test_the_file_of_one_seat_is_not_given(mist: Path, tmp_path: Path) -> None:
    seat = tmp_path / "seat.jsonl"
    seat.write_bytes(b"".join(seat_lines(read_transcript(mist), 0)))
    with pytest.raises(NoReplayError, match="is the file of one seat"):
        transcript_bytes(seat, head_of(seat))
    with pytest.raises(NoReplayError):
        replay_page(seat, head_of(seat))


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "m.jsonl"
    os.mkfifo(fifo)
    assert {"cannot be read: it is a fifo, not a regular file"} == complaint(fifo, "a" * 64)


def test_a_huge_file_is_not_read(mist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_BYTES", 100)
    assert {"is longer than 100 bytes"} == complaint(mist, head_of(mist))


def test_a_transcript_that_was_refused_is_read_again_only_when_its_file_is_another(
    mist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, read = head_of(mist), []

    def verify(path: Path) -> Verified:
        read.append(path)
        return verify_transcript(path)

    monkeypatch.setattr(contents, "verify_transcript", verify)
    played = [result(0, seating, (seating, 1 - seating), [[0], [1]], head=head) for seating in (0, 1)]
    folder = folder_of(tmp_path / "cup", ("a", "b"), played)
    (folder / TRANSCRIPTS).mkdir()
    file = folder / TRANSCRIPTS / "00001a.jsonl"
    file.write_bytes(mist.read_bytes().replace(b'"seed":1', b'"seed":2', 1))
    website = Website([Competition("cup", folder)], live=True)
    for _ in range(3):
        with pytest.raises(WrongUse, match="line 1: its hash is not the one that line 2 carries"):
            website.page(f"transcript/{head}.jsonl")
    assert 1 == len(read)
    file.write_bytes(mist.read_bytes())
    found = body_of(website, f"transcript/{head}.jsonl")
    assert mist.read_bytes() == found
