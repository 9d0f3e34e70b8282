"""`arena submit`: what it sends, what it waits for, and its exit codes."""

import io
import json
import tarfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from arena.commands.main import main
from arena.errors import CANNOT, DONE, NO, WRONG_USE

CLIENT = httpx.Client
TO = "https://arena.example/cup/"
Server = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "pandas"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "pandas"\n')
    (folder / "bot.py").write_text("print()\n")
    (folder / "bot.py").chmod(0o755)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "bot.pyc").write_bytes(b"x")
    return folder


class Fake:
    """A server of these answers, and the requests that it got."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[httpx.Request, bytes]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append((request, request.read()))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def answer(status: int = 200, **fields: Any) -> httpx.Response:
    return httpx.Response(status, json={"id": "a1", "place": None} | fields)


@pytest.fixture
def run(bot: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("ARENA_TOKEN", "arena_secret")
    monkeypatch.setattr(time, "sleep", lambda _: None)

    def run(server: Server, *words: str, folder: Path = bot) -> Result:
        client = partial(CLIENT, transport=httpx.MockTransport(server))
        monkeypatch.setattr(httpx, "Client", client)
        return CliRunner().invoke(main, ["submit", str(folder), "--to", TO, *words])

    return run


def test_the_folder_is_sent_as_an_archive_without_what_is_not_the_bots(run: Callable[..., Result]) -> None:
    server = Fake(
        answer(201, state="received"),
        answer(state="built", place="2nd of 3"),
        answer(state="entered", entered="p v2"),
    )
    done = run(server, "--note", "faster & better")
    assert done.exit_code == DONE, done.output
    assert "it plays as p v2" in done.output
    assert "https://arena.example/cup/team/submission/a1" in done.output
    first, content = server.requests[0]
    assert first.url.path == "/cup/api/v1/submissions"
    assert dict(first.url.params) == {"filename": "pandas.tar.gz", "note": "faster & better"}
    assert first.headers["authorization"] == "Bearer arena_secret"
    assert int(first.headers["content-length"]) == len(content)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        modes = {member.name: member.mode & 0o777 for member in archive}
    assert modes == {"bot.toml": 0o644, "bot.py": 0o755}


def test_a_refusal_is_no_and_says_why(run: Callable[..., Result]) -> None:
    verdict = {"reason": "bot.toml:1: version: is missing", "warnings": [], "margins": []}
    done = run(Fake(answer(201, state="received"), answer(state="refused", verdict=verdict)))
    assert done.exit_code == NO
    assert "refused: bot.toml:1: version: is missing" in done.output


def test_json_has_the_submission_alone(run: Callable[..., Result]) -> None:
    done = run(Fake(answer(201, state="received"), answer(state="entered", entered="p")), "--json")
    assert json.loads(done.stdout)["entered"] == "p"
    assert (
        json.loads(run(Fake(answer(201, state="received")), "--json", "--no-wait").stdout)["state"] == "received"
    )


def test_a_broken_line_is_tried_again_with_the_same_key(run: Callable[..., Result]) -> None:
    server = Fake(httpx.ReadError("broken"), httpx.Response(502), answer(201, state="received"))
    assert run(server, "--no-wait").exit_code == DONE
    assert len({request.headers["idempotency-key"] for request, _ in server.requests}) == 1
    assert len({content for _, content in server.requests}) == 1


def test_a_server_that_is_away_or_refuses_is_said_in_a_line(run: Callable[..., Result]) -> None:
    away = run(Fake(*[httpx.ConnectError("refused")] * 5))
    assert (away.exit_code, "arena.example: cannot be reached: refused" in away.output) == (CANNOT, True)
    full = run(Fake(httpx.Response(429, json={"error": "all of today's are used"})))
    assert (full.exit_code, "all of today's are used" in full.output) == (WRONG_USE, True)
    other = run(Fake(httpx.Response(404, text="<html>")))
    assert (other.exit_code, "arena.example: answers 404" in other.output) == (WRONG_USE, True)


def test_no_verdict_in_time_is_no(run: Callable[..., Result]) -> None:
    done = run(Fake(answer(201, state="received"), answer(state="received")), "--timeout", "0")
    assert done.exit_code == NO
    assert "it is not judged yet: received" in done.output


def test_what_is_no_bot_is_not_sent(run: Callable[..., Result], bot: Path, tmp_path: Path) -> None:
    (bot / "link").symlink_to("bot.py")
    linked = run(Fake())
    assert (linked.exit_code, "is a symbolic link" in linked.output) == (WRONG_USE, True)
    empty = run(Fake(), folder=tmp_path)
    assert (empty.exit_code, "has no bot.toml" in empty.output) == (WRONG_USE, True)


def test_without_a_token_it_says_where_one_is_made(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_TOKEN")
    done = run(Fake())
    assert done.exit_code == WRONG_USE
    assert "set ARENA_TOKEN to a token of yours for arena.example" in done.output
