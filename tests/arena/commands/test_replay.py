"""`arena replay`: a transcript that holds, one that does not, and one seat's part of it."""

import json
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result
from msgspec import Raw

from arena.commands import main
from arena.errors import DONE, NO, WRONG_USE
from referee.host.one_match import play
from referee.host.plan import Plan
from tests.arena.live.local_bots import draws


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


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main.main, ["replay", *map(str, arguments)])


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


def test_what_does_not_hold_is_said_in_json_as_well(transcript: Path, tmp_path: Path) -> None:
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
    host, seat = replay(transcript, "--boards").stdout, replay(transcript, "--boards", "1").stdout
    assert 5 == host.count("(as the host)")
    assert 5 == seat.count("(as seat 1, X)")
    assert "the end, after 5 turns" in host
    assert "to seat 0 (ann)" in host
    assert "to seat 0 (ann)" not in seat


def test_the_transcript_may_follow_boards(transcript: Path) -> None:
    assert replay(transcript, "--boards").stdout == replay("--boards", transcript).stdout
    assert (WRONG_USE, "arena: Missing argument 'TRANSCRIPT'.\n") == (replay().exit_code, replay().stderr)


def test_one_seats_file_has_no_boards(transcript: Path, tmp_path: Path) -> None:
    own = tmp_path / "seat.jsonl"
    own.write_bytes(replay(transcript, "--seat", "1").stdout_bytes)
    result = replay(own, "--boards")
    assert WRONG_USE == result.exit_code
    assert f"arena: {own}: one seat's own file has no boards to show\n" == result.stderr


def test_a_foreign_transcripts_names_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    plan = Plan(match="m", game="mist", variant="contractual-obligation", seed=1, options=Raw(b'{"max_turns":5}'))

    async def playing() -> None:
        await play(plan, (draws("ann\x1b[2J"), draws("bob\nhead 0")), transcript=path)

    trio.run(playing)
    for result in (replay(path), replay("--boards", path)):
        assert DONE == result.exit_code
        assert "\x1b" not in result.stdout
        assert r"ann\x1b[2J, bob\x0ahead 0, seed 1" in result.stdout
