"""What an operator is told of whole matches and tournaments: the log, and notices by webhook."""

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trio

from arena.errors import DONE, SIGNALLED
from referee.host.one_match import play
from referee.host.players import SandboxedBot
from referee.log import Writer, opened
from referee.match.records import Header
from referee.transcript.chain import TranscriptError
from referee.transcript.reader import read_transcript
from tests.arena.tournament.test_webhook import Server, answer, answers
from tests.builders.plans import mist_plan
from tests.builders.programs import invoke, run_arena
from tests.real_wire.held import LONG, Gate
from tests.real_wire.processes import PATIENCE_SECONDS, until
from tests.real_wire.test_killed import REAL_MATCHES, cup
from tests.real_wire.test_tournament_stopped import ARENA, start
from tests.real_wire.zoo import bad_bot

PLAN = mist_plan(4, seed=2**52 + 11, policy={"main_ms": 300, "unfair": "note"}, isolation="none")
CUP = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 2
isolation = "none"
options = { max_turns = 4 }
"""


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def one_match(folder: Path, log: str) -> "subprocess.CompletedProcess[str]":
    bots = ("mist_random", "mist_cautious", "--isolation", "none")
    return run_arena("match", "mist", *bots, "--log", log, "--json", cwd=folder)


@pytest.mark.slow
async def test_a_crash_is_logged_at_once_and_the_bots_last_line_at_the_end(tmp_path: Path) -> None:
    writer = Writer(opened(str(tmp_path / "log")))
    bots = [SandboxedBot(bad_bot(tmp_path, name)) for name in ("crash_later", "silent")]
    with trio.fail_after(PATIENCE_SECONDS):
        await play(PLAN, bots, transcript=tmp_path / "m.jsonl", log=writer.log.logger)
    assert 0 == writer.close()
    lines = read(tmp_path / "log")
    events = [line["event"] for line in lines]
    assert {"match_begun": 1, "bot_started": 2, "hello": 2, "bot_left": 1, "match_ended": 1} == {
        event: count for event, count in Counter(events).items() if event not in ("bot_report", "verdict")
    }
    assert {"bare"} == {line["how"] for line in lines if line["event"] == "bot_started"}
    assert [("ended", 1)] == [(line["cause"], line["exit"]) for line in lines if line["event"] == "bot_left"]
    report = next(line for line in lines if line["event"] == "bot_report" and line["seat"] == 0)
    assert ("crashed", "RuntimeError: fell over (bot.py:9)") == (report["conduct"], report["last_words"])
    assert report["said"].startswith("it exited with code 1; ")
    before = json.dumps(lines[: events.index("match_ended")])
    assert "fell over" not in before
    header = next(read_transcript(tmp_path / "m.jsonl"))
    assert isinstance(header, Header)
    secrets = [str(header.seed), *[secret for bot in header.bots for secret in (bot.token, str(bot.seed))]]
    assert [] == [secret for secret in secrets if secret in json.dumps(lines)]


async def test_a_transcript_that_cannot_be_written_is_logged(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").touch()
    writer = Writer(opened(str(tmp_path / "log")))
    bots = [SandboxedBot(bad_bot(tmp_path, "silent"))] * 2
    with pytest.raises(TranscriptError):
        await play(PLAN, bots, transcript=tmp_path / "m.jsonl", log=writer.log.logger)
    writer.close()
    begun, failed = read(tmp_path / "log")
    assert ("match_begun", "disk_failed", "error") == (begun["event"], failed["event"], failed["level"])
    assert "there is a file already" in failed["reason"]


def test_each_event_of_a_tournament_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(CUP)
    ended = run_arena("tournament", "cup.toml", "--no-check", "--workers", "2", "--log", "log", cwd=tmp_path)
    assert 0 == ended.returncode
    lines = read(tmp_path / "log")
    assert {
        "worker_come": 2,
        "worker_gone": 2,
        "match_begun": 4,
        "bot_started": 8,
        "hello": 8,
        "match_ended": 4,
    } == {event: count for event, count in Counter(line["event"] for line in lines).items() if event != "verdict"}
    matches = {(line["match"], line["block"]) for line in lines if "match" in line}
    assert [0, 0, 1, 1] == sorted(block for _, block in matches)
    assert 4 * 4 == len({(line["match"], line["bot"], line["event"]) for line in lines if "seat" in line})


@pytest.mark.slow
def test_a_log_that_is_not_read_delays_no_match(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    ended = one_match(tmp_path, "pipe")
    assert (0, "ok") == (ended.returncode, json.loads(ended.stdout)["conduct"][0])
    full = one_match(tmp_path, "/dev/full")
    assert 0 == full.returncode
    assert "--log /dev/full: 6 lines lost: No space left on device" in full.stderr


def test_a_log_on_standard_error_is_of_json_lines_where_that_is_no_terminal(tmp_path: Path) -> None:
    ended = one_match(tmp_path, "-")
    said = [line for line in ended.stderr.splitlines() if line.startswith("{")]
    assert ["match_begun", "match_ended"] == [json.loads(line)["event"] for line in (said[0], said[-1])]
    json.loads(ended.stdout)


def test_a_log_that_cannot_be_written_is_wrong_use() -> None:
    ended = invoke("match", "mist", "mist_random", "mist_cautious", "--log", "/nowhere/log")
    assert 2 == ended.exit_code
    assert "arena: --log /nowhere/log: cannot be written: No such file or directory\n" == ended.stderr


def test_the_reason_for_a_commands_end_is_in_the_log(tmp_path: Path) -> None:
    ended = invoke("match", "mist", "mist_random", "--log", tmp_path / "log")
    assert 2 == ended.exit_code
    (line,) = read(tmp_path / "log")
    assert ("command_failed", "error") == (line["event"], line["level"])
    assert line["reason"].startswith("BOT: mist has 2 seats")


FEW_MATCHES = REAL_MATCHES.replace("blocks = 3", "blocks = 2").replace("max_turns = 30", "max_turns = 4") + LONG


@pytest.mark.slow
def test_a_stop_and_the_end_are_told_by_webhook_and_the_urls_secret_is_nowhere(tmp_path: Path) -> None:
    server = Server(answers(answer("503 Later"), answer("200 OK")))
    words = (*ARENA, "--log", tmp_path / "log", "--notify", server.url)
    gate = Gate(tmp_path / "gate")
    file = cup(tmp_path / "b", FEW_MATCHES, gate.bot)
    stopped = start(*words, file)
    until(lambda: gate.waiting)
    stopped.send_signal(signal.SIGTERM)
    _, complaints = stopped.communicate()
    gate.open()
    assert SIGNALLED + signal.SIGTERM == stopped.returncode
    again = start(*words, file)
    output, more = again.communicate()
    assert DONE == again.returncode, more.decode()
    server.close()
    events = [(body["event"], body["text"].partition(";")[0]) for _, body in server.heard]
    stop = ("stopped", "cup: stopped: by signal 15")
    assert [stop, stop, ("over", "cup: all 4 matches are played")] == events
    assert 4 == sum(row["played"] for row in json.loads(output)["standings"]) // 2
    assert f"to go on where it was: arena tournament --no-check --json --log {tmp_path}/log --notify URL" in (
        complaints.decode()
    )
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [each for each in (*files, output, complaints, more) if b"S3CRET" in each]
