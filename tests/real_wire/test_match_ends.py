"""`arena match` ends with 1 where a bot took no part, and lets a language model play in its own process."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from arena.errors import DONE, NO, WRONG_USE
from tests.bots.chat_server import ChatServer, Request, completion
from tests.builders.bots import write_bot
from tests.builders.programs import invoke

SHORT = ["--isolation", "none", "--startup-ms", "20000", "--unfair", "note"]
OPTIONS = ("--options", '{"first": 0, "max_turns": 4}')


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CHAT_URL", "CHAT_MODEL", "CHAT_KEY_VARIABLE"):
        monkeypatch.delenv(name, raising=False)


def match(*words: str) -> Result:
    return invoke("match", "mist", *words, *SHORT, *OPTIONS)


def mine(program: str) -> str:
    return str(write_bot(Path("mine"), program))


def test_a_bot_that_never_starts_is_no_match() -> None:
    ended = match(mine("raise SystemExit('no weights')"), "mist_random")
    assert NO == ended.exit_code
    assert "never_started" in ended.stdout
    assert "arena: mine (seat 0) never started\n" in ended.stderr


def test_a_bot_that_takes_all_defaults_is_no_match() -> None:
    program = "import time\nfrom bots.kit import run\nrun(lambda window: time.sleep(600))\n"
    ended = match(mine(program), "mist_random", "--main-ms", "100", "--reserve-ms", "0", "--json")
    assert NO == ended.exit_code
    assert "arena: mine (seat 0) took the default in all of its 2 windows\n" in ended.stderr
    assert "at bot.py:3" in json.loads(ended.stdout)["said"][0][0]


def test_a_bot_that_never_returns_an_action_is_no_match() -> None:
    ended = match(mine("from bots.kit import run\nrun(lambda window: None)\n"), "mist_random")
    assert NO == ended.exit_code
    assert "arena: mine (seat 0): decide returned nothing in all of its 2 windows\n" in ended.stderr


def test_two_bots_that_play_are_a_match() -> None:
    assert DONE == match("mist_random", "mist_random").exit_code


def plays_c3(_request: Request) -> list[bytes | float]:
    return [completion("ACTION: C3")]


def test_a_language_model_plays_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(plays_c3) as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        monkeypatch.setenv("CHAT_MODEL", "some-model")
        ended = match("chat", "mist_random", "--json")
        assert DONE == ended.exit_code, ended.stderr
        assert server.requests
    result = json.loads(ended.stdout)
    assert ["ok", "ok"] == result["conduct"]
    assert 0 == result["defaults"][0]


def test_a_language_model_that_never_answers_is_no_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CHAT_MODEL", "some-model")
    ended = match("chat", "mist_random", "--main-ms", "1000")
    assert NO == ended.exit_code
    assert "arena: chat (seat 0) got no action from its model in all of its 2 windows\n" in ended.stderr


def test_without_an_endpoint_it_is_said_before_the_match_how_it_can_play() -> None:
    ended = match("chat", "mist_random")
    assert WRONG_USE == ended.exit_code
    assert "arena: chat: bots in the sandbox get no variables and no network; set CHAT_URL and CHAT_MODEL" in (
        ended.stderr
    )
    assert not Path("transcripts").exists()


def test_a_wrong_setting_is_named_before_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_URL", "http://127.0.0.1:9/v1")
    ended = match("mist_random", "chat")
    assert (WRONG_USE, True) == (ended.exit_code, "arena: chat: CHAT_MODEL: give the model's name" in ended.stderr)
