"""A tournament in which a language model has a remote seat, at an endpoint that says the key again and again."""

import json
import socket
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from referee.match.records import In
from referee.transcript import verify_transcript
from referee.transcript.reader import read_transcript
from referee.wire.keys import new_pair, write_pair
from tests.bots.chat_server import ChatServer, Part, Request, Script, answer, completion
from tests.builders.programs import ROOT, start_program
from tests.real_wire.processes import PATIENCE_SECONDS

KEY = "sk-Secret0123456789abcdef"
CUP = """\
game = "mist"
bots = ["mist_random", "remote:model.pub"]
seed = 5
blocks = 1
isolation = "none"
[options]
max_turns = 6
first = 0
[policy]
main_ms = 120000
startup_ms = 120000
[remote]
wait = 300
"""
WINDOWS = 6
"""Of the model, in both matches."""


def hostile() -> Script:
    """Fails once, and echoes the header; then says in each window first the key, and then an action."""
    numbers = count()

    def script(request: Request) -> Iterator[Part]:
        number, echo = next(numbers), f"Bearer {KEY}"
        if number == 0:
            yield answer({"error": {"message": echo}}, status="500 Oops", more=f"retry-after: 0\r\nx: {echo}\r\n")
        elif len(request.body["messages"]) == 2:
            yield completion(f"ACTION: {KEY}")
        else:
            yield completion(f"{echo}\nACTION: {'ABCDEFGHI'[number % 9]}1")

    return script


def started(folder: Path, *module: str, **more: str) -> "subprocess.Popen[bytes]":
    environment = {"HTTP_PROXY": "http://127.0.0.1:9"} | more
    output = subprocess.STDOUT if more else subprocess.PIPE
    return start_program(*module, cwd=folder, env=environment, stderr=output, text=False)  # type: ignore[return-value]


def notes(file: Path) -> list[dict[str, Any]]:
    """Return what the seat told the transcript of its costs."""
    frames = [json.loads(str(each.frame)) for each in read_transcript(file) if isinstance(each, In)]
    return [json.loads(each["text"])["chat"] for each in frames if each["type"] == "note"]


@pytest.mark.slow
def test_a_language_model_plays_from_a_remote_seat_and_its_key_is_nowhere(tmp_path: Path) -> None:
    for name in ("host", "model"):
        write_pair(tmp_path / name, new_pair())
    (tmp_path / "model.key").rename(tmp_path / "model.pub")
    (tmp_path / "cup.toml").write_text(CUP)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cup = f"arena tournament cup.toml --listen 127.0.0.1:{port} --key host.key_secret --json".split()
    remote = ("bots.remote", f"tcp://127.0.0.1:{port}", str(ROOT / "bots" / "chat"))
    keys = ("--host-key", "host.key", "--key", "model.key_secret")
    with ChatServer(hostile()) as server:
        chat = {
            "CHAT_URL": server.url,
            "CHAT_MODEL": "m",
            "CHAT_KEY_VARIABLE": "K",
            "K": KEY,
            "CHAT_PRICE_IN": "3",
        }
        with started(tmp_path, *cup) as host, started(tmp_path, *remote, *keys, **chat) as seat:
            try:
                out, errors = host.communicate(timeout=PATIENCE_SECONDS)
                log, _ = seat.communicate(timeout=PATIENCE_SECONDS)
            finally:
                host.kill()
                seat.kill()
    assert (0, 0) == (host.returncode, seat.returncode), errors + log
    rows = {row["bot"]: row for row in json.loads(out)["standings"]}
    assert (2, 0, 0) == tuple(rows["model"][key] for key in ("played", "faults", "defaults"))
    assert 2 == log.count(b"0 times no answer")
    transcripts = list((tmp_path / "runs/cup/transcripts").glob("*.jsonl"))
    for file in transcripts:
        verify_transcript(file)
    told = [notes(file) for file in transcripts]
    assert WINDOWS == sum(map(len, told))
    assert 2 * WINDOWS + 1 == sum(each[-1]["match"]["asked"] for each in told) == len(server.requests)
    # A hundred tokens a request that was answered, at 3 for a million.
    assert [300 * 2 * len(each) for each in told] == [round(each[-1]["match"]["cost"] * 1e6) for each in told]
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [each for each in (*written, out, errors, log) if KEY[:10].lower().encode() in each.lower()]
