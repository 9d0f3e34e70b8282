"""Asking an endpoint: what is sent, what is tried again, and what a slow, broken or hostile one can do."""

import gzip
import os
from collections.abc import Iterable, Iterator
from itertools import repeat
from random import Random
from time import monotonic
from typing import Any

import pytest

from bots.language_model.endpoint import (
    MOST_BYTES,
    TRIES,
    Answer,
    Failure,
    _trusted,
    ask,
    request_of,
    seconds_asked,
)
from bots.language_model.settings import Secret, Settings
from protocol.codec import encode
from tests.bots.chat_server import ChatServer, Part, Request, Script, answer, completion
from tests.docs_pages import page, section, tables, words

KEY = "sk-Secret0123456789abcdef"
HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a proxy that is not there: an endpoint on this machine must be asked without one."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


def settings(url: str, **more: str) -> Settings:
    told = {"CHAT_URL": url, "CHAT_MODEL": "m", "CHAT_KEY_VARIABLE": "THE_KEY", "THE_KEY": KEY}
    return Settings.read(told | {f"CHAT_{name.upper()}": value for name, value in more.items()})


class Longest(Random):
    """Each wait is as long as it may be."""

    def random(self) -> float:
        return 1.0


ONE_TRY = 0.7
"""Seconds: less than the longest wait before a second try."""


def asked(script: Script, seconds: float = 20.0) -> tuple[Answer, int]:
    with ChatServer(script) as server:
        _trusted()  # What is made once is not to take from the time.
        return ask(settings(server.url), HELLO, monotonic() + seconds, Longest())


def failure(script: Script, seconds: float = ONE_TRY) -> Failure:
    with pytest.raises(Failure) as caught:
        asked(script, seconds)
    return caught.value


def test_a_request_holds_what_was_set_and_the_answer_its_tokens() -> None:
    more = {"temperature": "0.5", "max_tokens": "0", "extra": '{"max_completion_tokens": 9}'}
    with ChatServer(lambda _: [completion("ACTION: C3", 7, 3)]) as server:
        got = ask(settings(server.url, **more), HELLO, monotonic() + 5, Random(1))
    assert (Answer("ACTION: C3", False, 7, 3, False), 1) == got
    (request,) = server.requests
    assert request.head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert f"uthorization: Bearer {KEY}\r\n" in request.head
    assert {"model": "m", "messages": HELLO, "temperature": 0.5, "max_completion_tokens": 9} == request.body


def test_temporary_errors_are_retried_after_the_requested_time() -> None:
    answers = iter(
        [
            answer({}, status="429 Too Many Requests", more="retry-after: 0\r\n"),
            answer({}, status="503 Service Unavailable", more="retry-after: Thu, 01 Jan 2015 00:00:00 GMT\r\n"),
            b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{",  # and hangs up
            completion("C3"),
        ]
    )
    assert 4 == asked(lambda _: [next(answers)])[1]


def test_no_longer_is_waited_than_there_is_time() -> None:
    started = monotonic()
    told = failure(lambda _: [answer({}, status="429 Too Many Requests", more="retry-after: 3600\r\n")], 60)
    assert (1, "answers 429") == (told.tries, str(told))
    assert monotonic() - started < 30
    told = failure(lambda _: [answer({}, status="500 No", more="retry-after: 0\r\n")], 60)
    assert (TRIES, "answers 500") == (told.tries, str(told))


@pytest.mark.parametrize("text", ["", "-1", "1" * 10, "soon", "Thu, 99 Jan 2015", "\u0663"])
def test_a_wait_that_is_not_understood_is_none(text: str) -> None:
    assert seconds_asked(text) is None


def endless(start: bytes, part: bytes, pause: float = 0.0) -> Script:
    def script(_: Request) -> Iterator[Part]:
        yield start
        for each in repeat(part):
            yield each
            yield pause

    return script


def once(said: bytes) -> Script:
    return lambda _: [said]


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
DEEP = b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
ECHO = f"Incorrect API key: {KEY}, and also {KEY[3:15].upper()}"
HOSTILE: list[tuple[str, Script, str]] = [
    ("slow to answer", lambda _: [1.0], "gives no answer in "),
    ("slow headers", endless(HEAD, b"x: y\r\n", 0.02), "gives no answer in "),
    ("slow body", endless(HEAD + b"content-length: 9999\r\n\r\n", b" ", 0.02), "gives no answer in "),
    ("endless headers", endless(HEAD, b"x: " + b"y" * 8_000 + b"\r\n"), "cannot be reached (RemoteProtocolError)"),
    ("endless hints", endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100), "gives no answer in "),
    ("endless body", endless(HEAD + b"\r\n", b" " * 65_536), f"answers with more than {MOST_BYTES} bytes"),
    ("hangs up", lambda _: [], "cannot be reached (RemoteProtocolError)"),
    ("binary", once(bytes(range(256)) * 20), "cannot be reached (RemoteProtocolError)"),
    ("binary body", once(answer(bytes(range(256)))), "answers with something else than a chat completion"),
    ("deep", once(answer(DEEP)), "answers with JSON that is nested too deeply"),
    ("deep error", once(answer(DEEP, status="400 No")), "answers 400"),
    ("a list", once(answer([1])), "answers with something else than a chat completion"),
    (
        "a page",
        once(answer(b"<html>", kind="text/html; charset=x")),
        "answers with text/html, not application/json",
    ),
    ("packed", once(answer(gzip.compress(b"{}"), more="content-encoding: gzip\r\n")), "answers in a packed form"),
    (
        "refuses",
        once(answer({"error": {"message": ECHO}}, status="401 Unauthorized")),
        "answers 401: Incorrect API",
    ),
    ("terminal", once(answer({"error": "\x1b[31m\u202ered"}, status="403 No")), "answers 403:  [31m red"),
    ("echoes the key as its type", once(answer({}, kind=KEY)), "answers with [key], not application/json"),
]


@pytest.mark.parametrize(("script", "says"), [pytest.param(*each[1:], id=each[0]) for each in HOSTILE])
def test_a_broken_or_hostile_answer_is_a_failure_in_time_that_holds_no_key(script: Script, says: str) -> None:
    started = monotonic()
    told = failure(script)
    assert monotonic() - started < 10
    assert str(told).startswith(says)
    assert not Secret(KEY).is_in(str(told))
    assert len(str(told)) < 300


def test_a_redirect_is_not_followed() -> None:
    with ChatServer(once(completion("C3"))) as other:
        moved = answer({}, status="307 Temporary Redirect", more=f"location: {other.url}\r\n")
        assert "answers 307, a redirect, which is not followed" == str(failure(once(moved), 5))
    assert [] == other.requests


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": [1]}}], "usage": {"prompt_tokens": -1, "completion_tokens": 10**30}},
        {"choices": [{"message": {"content": ""}}], "usage": {"prompt_tokens": True, "completion_tokens": "9"}},
    ],
)
def test_an_answer_without_text_or_tokens_is_empty_and_its_tokens_are_reckoned(body: Any) -> None:
    assert Answer("", False, 2, 0, True) == asked(once(answer(body)))[0]


def test_a_key_is_hidden_wherever_it_stands() -> None:
    secret = Secret(KEY)
    assert "a [key] b [key] [key] c" == secret.hide(f"a {KEY} b {KEY[:12]} {KEY[5:].upper()} c")
    assert "\u0130 is [key]" == secret.hide(f"\u0130 is {KEY}")  # in lower case it grows
    assert KEY not in repr(secret) + repr(settings("http://127.0.0.1/v1"))
    assert KEY[:7] == secret.hide(KEY[:7])
    quoted = 'ab"cd\\ef"'
    assert Secret(quoted).is_in(encode({"name": quoted}).decode())  # as it stands in an action


WRONG: Iterable[tuple[dict[str, str], str]] = [
    ({"CHAT_URL": ""}, "CHAT_URL is not set"),
    ({"CHAT_URL": f"https://me:{KEY}@example.com/v1"}, "CHAT_URL: give http"),
    ({"CHAT_URL": f"https://example.com/v1?key={KEY}"}, "CHAT_URL: give http"),
    ({"CHAT_URL": "http://example.com/v1"}, "CHAT_URL: a key is sent over https:// only"),
    ({"CHAT_URL": "https://[::1"}, "CHAT_URL: give http"),
    ({"CHAT_MODEL": "m\x1b[2J"}, "CHAT_MODEL"),
    ({"THE_KEY": f"{KEY}\r\nx: y"}, "CHAT_KEY_VARIABLE"),
    ({"THE_KEY": KEY[:7]}, "CHAT_KEY_VARIABLE"),
    ({"CHAT_TEMPERATURE": "warm"}, "CHAT_TEMPERATURE: give a number from 0 to 2"),
    ({"CHAT_PRICE_IN": "nan"}, "CHAT_PRICE_IN: give a number"),
    ({"CHAT_EXTRA": '{"stream": true}'}, "CHAT_EXTRA"),
    ({"CHAT_EXTRA": "[" * 3_000}, "CHAT_EXTRA"),
    ({"CHAT_EXTRA": os.fsdecode(b'{"a": "\xff"}')}, "CHAT_EXTRA"),
]


@pytest.mark.parametrize(("change", "says"), WRONG)
def test_a_wrong_setting_is_refused_in_one_line_without_the_key(change: dict[str, str], says: str) -> None:
    told = {"CHAT_URL": "https://a.example/v1", "CHAT_MODEL": "m", "CHAT_KEY_VARIABLE": "THE_KEY", "THE_KEY": KEY}
    with pytest.raises(SystemExit) as caught:
        Settings.read(told | change)
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)
    assert KEY[:7] not in str(caught.value)


def test_a_setting_that_is_empty_is_left_out() -> None:
    told = {"CHAT_URL": "https://a.example/v1", "CHAT_MODEL": "m"}
    empty = dict.fromkeys(("CHAT_TEMPERATURE", "CHAT_MAX_TOKENS", "CHAT_KEY_VARIABLE", "CHAT_EXTRA"), "")
    assert request_of(Settings.read(told), []) == request_of(Settings.read(told | empty), [])


class Read(dict[str, str]):
    """An environment that notes what is asked for."""

    def __init__(self, told: dict[str, str]) -> None:
        super().__init__(told)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def test_the_page_names_each_variable_and_what_it_is_left_out() -> None:
    read = Read({"CHAT_URL": "https://a.example/v1", "CHAT_MODEL": "m", "CHAT_TEMPERATURE": "1"})
    told = Settings.read(read)
    rows = tables(section(page("docs/language-models.md"), "Settings"))[0]
    defaults = {name: row[1] for row in rows for name in words(row[0])}
    assert read.names == set(defaults)
    assert [told.max_tokens, told.history, told.repairs, told.try_seconds, told.margin] == [
        float(defaults[f"CHAT_{name}"]) for name in ("MAX_TOKENS", "HISTORY", "REPAIRS", "TRY_SECONDS", "MARGIN")
    ]
