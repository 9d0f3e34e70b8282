"""A person who plays in a tournament on another machine, at a page of this one."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import httpx
import pytest

from referee.wire.keys import new_pair, write_pair

CUP = """\
game = "mist"
bots = ["mist_random", "remote:alice.key"]
blocks = 1
seed = 3
[options]
max_turns = 6
[remote]
wait = 120
"""
PATIENCE = 240.0


def free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


def messages(browser: httpx.Client, path: str, found: "Queue[dict[str, Any]]") -> None:
    """Receive what the page is told, and begin anew where the page would load itself again."""
    with browser.stream("GET", f"{path}events", timeout=PATIENCE) as lines:
        for line in lines.iter_lines():
            if line.startswith("data: "):
                found.put(json.loads(line.removeprefix("data: ")))


def follow(browser: httpx.Client, path: str, found: "Queue[dict[str, Any]]") -> None:
    try:
        while True:
            messages(browser, path, found)
    except httpx.HTTPError:
        pass  # The tournament is over, and so is the seat's page.


@pytest.mark.slow
def test_a_person_plays_all_matches_of_a_tournament_at_one_page(tmp_path: Path) -> None:
    for name in ("host", "alice"):
        write_pair(tmp_path / name, new_pair())
    (tmp_path / "cup.toml").write_text(CUP)
    arena = [sys.executable, "-P", "-m", "arena"]
    port, page = free_port(), free_port()
    listen = ["--listen", f"127.0.0.1:{port}", "--key", "host.key_secret"]
    tournament = subprocess.Popen(  # noqa: S603 - our own command
        [*arena, "tournament", "cup.toml", *listen], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    keys = ["--host-key", "host.key", "--key", "alice.key_secret", "--port", str(page)]
    join = [*arena, "remote", "join", f"tcp://127.0.0.1:{port}", "browser", *keys]
    with subprocess.Popen(join, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as seat:  # noqa: S603 - as above
        assert seat.stderr is not None
        link = next(found for line in seat.stderr if (found := re.search(r"http://\S+#\S+", line)))[0]
        while "serving at" not in seat.stderr.readline():
            pass
        path, _, key = link.partition("join#")
        origin = f"http://127.0.0.1:{page}"
        with httpx.Client(headers={"origin": origin}, timeout=30) as browser:
            assert browser.post(f"{path}join", json={"key": key}).json() == {"ok": True}
            told: Queue[dict[str, Any]] = Queue()
            Thread(target=follow, args=(browser, path, told), daemon=True).start()
            acted, ended = 0, set[str]()
            match = ""
            while len(ended) < 2:
                try:
                    message = told.get(timeout=PATIENCE)
                except Empty:
                    pytest.fail("nothing more was told")
                match message["type"]:
                    case "table":
                        match = message["match"]
                    case "window":
                        answer = browser.post(f"{path}say", json={"do": "done", "window": message["id"]})
                        acted += answer.status_code == httpx.codes.OK
                    case "over":
                        ended.add(match)
            assert 0 == seat.wait(PATIENCE)
            assert "the tournament is over" in seat.stderr.read()
    tournament.communicate(timeout=PATIENCE)
    assert 0 == tournament.returncode
    report = [*arena, "report", "runs/cup", "--json"]
    results = json.loads(subprocess.run(report, cwd=tmp_path, check=True, capture_output=True).stdout)  # noqa: S603 - as above
    assert acted >= 4
    assert (2, {2}) == (results["matches"], {bot["played"] for bot in results["bots"]})
    assert {0} == {bot["faults"] for bot in results["bots"]}
