"""`arena replay`: a transcript that holds, one that does not, and one seat's part of it."""

import json
import os
from functools import partial
from pathlib import Path

import pytest
import trio
from msgspec import Raw

from arena.errors import DONE, NO, WRONG_USE
from referee.host.one_match import play
from referee.host.plan import Plan
from tests.arena.live.local_bots import draws
from tests.builders.command_line import arena

replay = partial(arena, "replay")


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of five turns between two bots."""
    path = tmp_path_factory.mktemp("transcripts") / "m.jsonl"
    plan = Plan(
        match="m",
        game="mist",
        variant="contractual-obligation",
        seed=1,
        options=Raw(b'{"first":0,"max_turns":5}'),
    )

    async def playing() -> None:
        await play(plan, (draws("ann"), draws("bob")), transcript=path)

    trio.run(playing)
    return path


def test_a_transcript_that_holds_is_said_to_with_its_hash_and_outcome(transcript: Path) -> None:
    found = json.loads(replay(transcript, "--json").stdout)
    text = replay(transcript).stdout
    assert (True, len(transcript.read_bytes().splitlines())) == (found["holds"], found["lines"])
    assert (["ann", "bob"], "turn_limit") == (found["bots"], found["outcome"]["reason"])
    assert f"head {found['head']}" in text.splitlines()


def test_a_flipped_byte_anywhere_is_found_and_its_line_named(transcript: Path, tmp_path: Path) -> None:
    content = transcript.read_bytes()
    broken = tmp_path / "broken.jsonl"
    for position in range(7, len(content), len(content) // 40):
        broken.write_bytes(
            content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :],
        )
        result = replay(broken)
        assert (NO, "") == (result.exit_code, result.stdout)
        assert result.stderr.startswith(f"arena: {broken}: line ")
        assert 1 == result.stderr.count("\n")


def test_a_failed_verification_is_reported_in_json_as_well(transcript: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_bytes(b"".join(transcript.read_bytes().splitlines(keepends=True)[:9]))
    result = replay(short, "--json")
    assert NO == result.exit_code
    assert {
        "transcript": str(short),
        "holds": False,
        "line": 9,
        "error": "line 9 is the last, and no footer: the file is unfinished or cut short",
    } == json.loads(result.stdout)


def test_one_seats_file_holds_by_itself_and_has_nothing_of_the_other(transcript: Path, tmp_path: Path) -> None:
    own = tmp_path / "seat.jsonl"
    own.write_bytes(replay(transcript, "--seat", "1").stdout_bytes)
    assert b"ann" not in own.read_bytes()
    result = replay(own)
    assert DONE == result.exit_code
    assert "the file of seat 1 alone (bob): its hashes hold" in result.stdout


def test_a_seat_there_is_not_is_named(transcript: Path) -> None:
    result = replay(transcript, "--seat", "2")
    assert (WRONG_USE, "") == (result.exit_code, result.stdout)
    assert f"arena: {transcript}: there is no seat 2: the seats are 0 to 1\n" == result.stderr


def test_boards_are_shown_step_by_step_with_the_eyes_asked_for(transcript: Path) -> None:
    host, seat = (
        replay(transcript, "--boards").stdout,
        replay(transcript, "--boards", "1").stdout,
    )
    assert 5 == host.count("(as the host)")
    assert 5 == seat.count("(as seat 1, X)")
    assert "the end, after 5 turns" in host
    assert "to seat 0 (ann)" in host
    assert "to seat 0 (ann)" not in seat


def test_the_transcript_may_follow_boards(transcript: Path) -> None:
    assert replay(transcript, "--boards").stdout == replay("--boards", transcript).stdout
    assert (WRONG_USE, "arena: Missing argument 'TRANSCRIPT'.\n") == (
        replay().exit_code,
        replay().stderr,
    )


def test_one_seats_file_is_drawn_from_its_own_views(transcript: Path, tmp_path: Path) -> None:
    own = tmp_path / "seat.jsonl"
    own.write_bytes(replay(transcript, "--seat", "1").stdout_bytes)
    whole, shown = replay(transcript, "--boards", "1").stdout, replay(own, "--boards")
    assert DONE == shown.exit_code
    boards = [part for part in whole.split("\n\n") if "to move (as seat 1, X)" in part and "turn 2," in part]
    assert boards[0].split("(as seat 1, X)")[1] in shown.stdout
    assert "the end, after 5 turns" in shown.stdout
    assert "ann" not in shown.stdout
    assert shown.stdout == replay(own, "--boards", "1").stdout
    for eyes in ("0", "spectator"):
        other = replay(own, "--boards", eyes)
        assert (WRONG_USE, f"arena: --boards: {own} has only what seat 1 saw\n") == (other.exit_code, other.stderr)


def test_a_foreign_transcripts_names_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    plan = Plan(match="m", game="mist", variant="contractual-obligation", seed=1, options=Raw(b'{"max_turns":5}'))

    async def playing() -> None:
        await play(plan, (draws("ann\x1b[2J"), draws("bob\nhead 0")), transcript=path)

    trio.run(playing)
    for result in (replay(path), replay("--boards", path)):
        assert DONE == result.exit_code
        assert "\x1b" not in result.stdout
        assert r"ann\x1b[2J, bob\x0ahead 0; seed 1" in result.stdout


@pytest.mark.slow
def test_files_that_fail_are_listed_if_there_are_many(transcript: Path, tmp_path: Path) -> None:
    (tmp_path / "cup" / "round").mkdir(parents=True)
    content = transcript.read_bytes()
    for name in ("a.jsonl", "round/b.jsonl", "round/c.jsonl"):
        (tmp_path / "cup" / name).write_bytes(content)
    (tmp_path / "cup" / "notes.txt").write_text("none")
    good = replay(tmp_path / "cup", transcript)
    assert (DONE, "4 transcripts: all hold\n") == (good.exit_code, good.stdout)
    (tmp_path / "cup" / "b.jsonl").write_bytes(content.replace(b'"cells"', b'"cellz"', 1))
    (tmp_path / "cup" / "round" / "d.jsonl").write_bytes(b"".join(content.splitlines(keepends=True)[:9]))
    os.mkfifo(tmp_path / "cup" / "e.jsonl")
    for jobs in ("1", "2"):
        result = replay(tmp_path / "cup", "--jobs", jobs)
        assert (NO, "arena: 3 of 6 transcripts do not hold\n") == (result.exit_code, result.stderr)
        rows = [line.split(maxsplit=2) for line in result.stdout.splitlines()[2:]]
        assert ["b.jsonl", "e.jsonl", "d.jsonl"] == [Path(row[0]).name for row in rows]
        assert ("9", "line 9 is the last, and no footer: the file is unfinished or cut short") == tuple(
            rows[2][1:]
        )
        assert "cannot be read: it is a fifo" in " ".join(rows[1])


def test_json_has_one_line_per_file(transcript: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes(b"")
    result = replay(transcript, tmp_path, "--json")
    good, broken = map(json.loads, result.stdout.splitlines())
    assert NO == result.exit_code
    assert json.loads(replay(transcript, "--json").stdout) == good
    assert (False, 1) == (broken["holds"], broken["line"])


def test_several_files_cannot_be_stepped_through(transcript: Path, tmp_path: Path) -> None:
    for words in (("--boards", "host"), ("--seat", "0")):
        result = replay(transcript, transcript, *words)
        assert (WRONG_USE, f"arena: {words[0]}: is for one transcript, and not for 2\n") == (
            result.exit_code,
            result.stderr,
        )
    empty = replay(tmp_path)
    assert (WRONG_USE, f"arena: {tmp_path}: no transcript (*.jsonl) is in it\n") == (empty.exit_code, empty.stderr)
    missing = replay(transcript, tmp_path / "none.jsonl")
    assert (WRONG_USE, f"arena: {tmp_path}/none.jsonl: there is no such file\n") == (
        missing.exit_code,
        missing.stderr,
    )
