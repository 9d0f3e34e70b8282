"""`arena ask`: which decision it chooses, and what it refuses before a bot is started."""

import os
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.commands.ask import MOST_MEGABYTES, _chosen, _cut
from arena.errors import NO, WRONG_USE, WrongUse
from arena.live.single_match import under_pdb
from protocol.codec import encode
from protocol.messages import Closed, Opened, Rejected, Welcome
from protocol.refusals import Refusal
from referee.bot_folder.manifest import find_bot
from referee.host.interview import AskedWindow, Questionnaire, questions_of
from referee.rules import Quoted
from referee.transcript.chain import seat_lines
from referee.transcript.reader import read_transcript
from tests.builders.command_line import arena
from tests.golden import transcripts
from tests.referee.transcript.forged import chained, taken_apart

ask = partial(arena, "ask")

PATH = transcripts.path("default")


def refused(*arguments: str | Path) -> str:
    """Return the one-line reason why no question is put."""
    result = ask(*arguments)
    assert (WRONG_USE, "") == (result.exit_code, result.stdout)
    return result.stderr.splitlines()[-1].removeprefix("arena: ")


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    file = tmp_path / "own.jsonl"
    file.write_bytes(b"".join(seat_lines(read_transcript(PATH), 1)))
    return file


@pytest.mark.parametrize("levels", [200, 900, 980, 5_000])
@pytest.mark.parametrize("command", [("ask", "mist_random"), ("replay",), ("replay", "--boards")])
def test_a_view_that_is_nested_deeply_is_refused_with_its_line(
    own_file: Path, command: tuple[str, ...], levels: int
) -> None:
    """Else what was read could not be sent to the bot: the referee would be at fault."""
    deep = b'"view":{"x":' + b"[" * levels + b"]" * levels + b","
    bodies = [encode(line) for line in taken_apart(own_file.read_bytes())]
    line = next(number for number, body in enumerate(bodies, 1) if b'"view":{' in body)
    bodies[line - 1] = bodies[line - 1].replace(b'"view":{', deep)
    own_file.write_bytes(chained(bodies))
    result = arena(*command, own_file)
    assert result.exit_code in (NO, WRONG_USE)
    assert f"{own_file}: line {line} is nested too deeply" in result.stderr.splitlines()[-1]


def question(number: int, *, taken: bool = True, by_default: bool = False, refused: int = 0) -> AskedWindow:
    opened = Opened(id=number, window="turn", view={}, default={}, main_ms=1, reserve_ms=0)
    closed = Closed(window=number, taken={}, by_default=by_default, charged_ms=0, reserve_ms=0)
    complaint = Rejected(window=number, reason=Refusal.ILLEGAL, text="")
    return AskedWindow(
        opened=opened, state=None, closed=closed if taken else None, refused=[complaint] * refused, told=[]
    )


def asked(*questions: AskedWindow) -> Questionnaire:
    found = questions_of(read_transcript(PATH), 0)
    assert found is not None
    assert isinstance(found.welcome, Welcome)
    return replace(found, questions=list(questions))


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        ({"taken": False}, 1),
        ({"by_default": True}, 1),
        ({"refused": 1}, 1),
        ({}, 3),
    ],
)
def test_the_first_lost_window_is_asked_about_else_the_last(lost: dict[str, int], expected: int) -> None:
    questions = [question(0), question(1, **lost), question(2, **lost), question(3)]  # type: ignore[arg-type]
    assert expected == _chosen(asked(*questions), None)


def test_a_window_is_called_by_the_seats_own_count() -> None:
    assert 2 == _chosen(asked(question(0), question(2)), 2)
    with pytest.raises(WrongUse, match="no window 1; its windows are 0 to 2"):
        _chosen(asked(question(0), question(2)), 1)


def test_events_after_the_window_are_not_sent() -> None:
    whole = questions_of(read_transcript(PATH), 1)
    assert whole is not None
    cut = _cut(whole, 1)
    first, second = whole.questions[:2]
    assert second.told
    assert [first.told, list[Quoted]()] == [each.told for each in cut.questions]
    assert [first.opened, second.opened] == [each.opened for each in cut.questions]


def test_a_seat_must_be_named_if_no_bot_or_more_than_one_has_the_name() -> None:
    names = [bot.name for bot in next(read_transcript(PATH)).bots]  # type: ignore[union-attr]
    there = ", ".join(f"{seat} {name}" for seat, name in enumerate(names))
    assert f"--seat: which one? no seat has a bot called mist_hunter; the seats are {there}" == refused(
        "mist_hunter", PATH
    )


def test_a_seats_own_file_has_one_seat(own_file: Path) -> None:
    assert f"{own_file}: line 1: this is the transcript of seat 1 alone" == refused(
        "mist_hunter", own_file, "--seat", "0"
    )


def test_a_changed_line_is_named_with_its_file(tmp_path: Path) -> None:
    lines = PATH.read_bytes().splitlines(keepends=True)
    forged = tmp_path / "forged.jsonl"
    forged.write_bytes(b"".join([*lines[:8], lines[8].replace(b'"at":', b'"at":1', 1), *lines[9:]]))
    assert refused("mist_hunter", forged, "--seat", "0").startswith(f"{forged}: line 9: ")


def test_a_file_that_would_fill_memory_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.jsonl"
    huge.touch()
    os.truncate(huge, (MOST_MEGABYTES << 20) + 1)
    assert refused("mist_hunter", huge).startswith(f"{huge}: is larger than {MOST_MEGABYTES} MB")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("mist_hunter", "nowhere.jsonl"), "nowhere.jsonl: cannot be read: No such file or directory"),
        (("mist_hunter", PATH, "--all", "--window", "1"), "--all: cannot be combined with --window"),
        (
            ("pointing_random", PATH),
            "pointing_random does not play mist: its bot.toml has games = ['pointing']",
        ),
        (
            ("mist_hunter", PATH, "--seat", "1", "--window", "99"),
            "--window: this seat has no window 99; its windows are 0 to 2",
        ),
        (("mist_hunter", PATH, "--seat", "2"), f"{PATH}: line 1: which seat? The seats are 0 to 1"),
    ],
)
def test_an_impossible_question_is_refused_in_one_line(arguments: tuple[str | Path, ...], why: str) -> None:
    assert why == refused(*arguments)


def test_pdb_runs_the_bots_own_command() -> None:
    bot = find_bot("mist_hunter")
    assert ("python", "-P", "-m", "bots.kit.debugger", "1,2", *bot.command[1:]) == under_pdb(bot, [1, 2]).command


@pytest.mark.parametrize("command", [("./program",), ("python",), ("python", "-c", "pass"), ("python3", "bot.py")])
def test_pdb_is_for_python_files_and_modules(command: tuple[str, ...]) -> None:
    with pytest.raises(WrongUse, match=r"--pdb: mist_hunter is not started by"):
        under_pdb(replace(find_bot("mist_hunter"), command=command), [0])
