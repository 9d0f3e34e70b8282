"""`arena ask` and `arena match --debug` at a real terminal: prompts, Ctrl-C, and nothing left running."""

import json
from pathlib import Path

import pytest

from arena.errors import DONE, NO, SIGNALLED, WRONG_USE
from referee.match.records import Header
from referee.transcript.reader import read_transcript
from tests.builders.bots import write_bot
from tests.builders.programs import run_arena
from tests.real_wire.at_terminal import CTRL_C, typed

OPTIONS = '{"first":0,"max_turns":6}'
BOT = """\
import subprocess, sys, time
from bots.kit import run

CELLS = ["C3", "G5", "D7"]

def decide(window):
    number = window.id
    {extra}
    return {{"cells": [CELLS[number]]}}

if __name__ == "__main__":
    run(decide)
"""
LOOPS = """\
if number == 1:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stderr=subprocess.DEVNULL)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        print("looping", flush=True)
        while number == 1:
            time.sleep(0.01)"""


def bot(folder: Path, extra: str = "pass", transport: str = "zmq", text: str = BOT) -> Path:
    return write_bot(folder, text.format(extra=extra), f'transport = "{transport}"')


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a match of six turns; the bot `mine` sits in seat 0."""
    folder = tmp_path_factory.mktemp("played")
    mine = bot(folder / "mine")
    run_arena(
        "match", "mist", mine, "mist_random", "--seed", "3", "--options", OPTIONS,
        "--isolation", "none", "--transcripts", folder,
    )  # fmt: skip
    (found,) = folder.glob("*.jsonl")
    return found


@pytest.mark.slow
def test_breakpoint_works_in_a_bot_that_is_asked_again(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine", "if number == 1: breakpoint()")
    shown, code = typed(
        [("(Pdb)", "p 'the number is', number\n"), ("(Pdb)", "number = 2\n"), ("(Pdb)", "c\n")],
        "ask", mine, transcript, "--window", "1",
    )  # fmt: skip
    assert "('the number is', 1)" in shown
    assert ['  recorded  {"cells":["G5"]}', '  now       {"cells":["D7"]}', "  different"] == shown.splitlines()[
        -3:
    ]
    assert NO == code


def test_pdb_stops_in_the_decision_in_the_authors_own_file(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine")
    shown, code = typed(
        [("(Pdb)", "p window.id\n"), ("(Pdb)", "c\n")], "ask", mine, transcript, "--window", "2", "--pdb"
    )
    assert f"> {mine}/bot.py(7)decide()" in shown
    assert "(Pdb) p window.id\n2\n" in shown
    assert (DONE, "  the same") == (code, shown.splitlines()[-1])


@pytest.mark.slow
def test_pdb_shows_where_a_bot_fails_after_its_death(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine", "if number == 1: print([][number])")
    shown, code = typed(
        [("(Pdb)", "p 'died at', number\n"), ("(Pdb)", "q\n")], "ask", mine, transcript, "--window", "2", "--pdb"
    )
    assert "IndexError" in shown
    assert "('died at', 1)" in shown
    assert "  now       no answer: ended with exit code 1" in shown.splitlines()
    assert NO == code


@pytest.mark.slow
def test_one_ctrl_c_stops_the_bot_in_pdb_and_it_goes_on(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine", LOOPS)
    shown, code = typed(
        [("(Pdb)", "c\n"), ("looping", CTRL_C), ("(Pdb)", "number = 2\n"), ("(Pdb)", "c\n")],
        "ask", mine, transcript, "--window", "1", "--pdb",
    )  # fmt: skip
    assert "Program interrupted" in shown
    assert '  now       {"cells":["D7"]}' in shown.splitlines()
    assert NO == code


@pytest.mark.slow
def test_two_ctrl_c_end_all_and_leave_nothing(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine", LOOPS)
    shown, code = typed(
        [("(Pdb)", "c\n"), ("looping", CTRL_C), ("interrupted", CTRL_C)],
        "ask", mine, transcript, "--window", "1", "--pdb", again=CTRL_C,
    )  # fmt: skip
    assert SIGNALLED + 2 == code
    assert shown.rstrip().endswith("arena: stopped")


@pytest.mark.slow
def test_in_a_match_the_debugged_bot_may_take_any_time_and_its_transcript_says_so(tmp_path: Path) -> None:
    mine = bot(tmp_path / "mine", "if number == 1: breakpoint()")
    shown, code = typed(
        [("(Pdb)", "import time; time.sleep(0.3)\n"), ("(Pdb)", "c\n")],
        "match", "mist", mine, "mist_random", "--debug", "0", "--options", OPTIONS, "--main-ms", "100",
        "--startup-ms", "5000", "--isolation", "none", "--transcripts", tmp_path,
    )  # fmt: skip
    assert DONE == code
    assert "seat 0 is debugged: its clock is stopped, and the result must not be rated" in shown.splitlines()
    (transcript,) = tmp_path.glob("*.jsonl")
    header = next(read_transcript(transcript))
    assert isinstance(header, Header)
    assert [True, False] == [each.debugged is True for each in header.bots]
    found = run_arena("replay", transcript, "--json")
    assert (DONE, [0]) == (found.returncode, json.loads(found.stdout)["debugged"])


@pytest.mark.slow
def test_with_json_standard_output_is_json_alone(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine", 'print("noise")')
    found = run_arena("ask", mine, transcript, "--all", "--json")
    windows = json.loads(found.stdout)["windows"]
    assert (DONE, [True] * 3) == (found.returncode, [each["same"] for each in windows])
    assert "noise" in found.stderr
    options = ("--options", OPTIONS, "--isolation", "none", "--transcripts", tmp_path)
    played = run_arena("match", "mist", mine, "mist_random", "--debug", "0", "--json", *options)
    assert [0] == json.loads(played.stdout)["debugged"]


STDIO = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "window":
        print("asked", message["id"], file=sys.stderr)
        answer = {{"type": "submit", "window": message["id"], "action": message["default"]}}
        print(json.dumps(answer), flush=True)
"""


@pytest.mark.slow
def test_a_bot_of_lines_has_no_prompt_and_standard_error_is_shown(tmp_path: Path, transcript: Path) -> None:
    mine = bot(tmp_path / "mine", transport="stdio", text=STDIO)
    found = run_arena("ask", mine, transcript, "--window", "1")
    assert ["asked 0", "asked 1"] == [line for line in found.stderr.splitlines() if line.startswith("asked")]
    assert "it has no prompt; print to standard error" in found.stderr
    assert WRONG_USE == run_arena("ask", mine, transcript, "--pdb").returncode


@pytest.mark.slow
def test_a_bot_stays_as_long_as_its_author_looks_at_it(tmp_path: Path, transcript: Path) -> None:
    """`breakpoint()` after the match is over: it is not killed after a second."""
    text = BOT.replace("    run(decide)", "    run(decide)\n    breakpoint()")
    mine = bot(tmp_path / "mine", text=text)
    shown, code = typed([("still runs", "p 6 * 7\n"), ("42", "c\n")], "ask", mine, transcript)
    assert (DONE, "  the same") == (code, shown.splitlines()[-1])


@pytest.mark.slow
def test_processes_that_a_bot_leaves_behind_end_with_it(tmp_path: Path, transcript: Path) -> None:
    """In the arena's own session, too. It holds standard output: what came late would not be waited for."""
    left = """\
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])"""
    mine = bot(tmp_path / "mine", left)
    found = run_arena("ask", mine, transcript, "--window", "0")
    assert (DONE, "  the same") == (found.returncode, found.stdout.splitlines()[-1])


@pytest.mark.slow
def test_no_temporary_files_are_left(tmp_path: Path, transcript: Path) -> None:
    scratch = tmp_path / "t"
    scratch.mkdir()
    mine = bot(tmp_path / "mine")
    run_arena("ask", mine, transcript, env={"TMPDIR": str(scratch)}).check_returncode()
    assert [] == list(scratch.iterdir())
