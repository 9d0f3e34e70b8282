"""Origins, hosts, cookies, bodies and rates: what a route that changes something refuses."""

from collections.abc import Sequence
from http import HTTPStatus

import pytest
import trio
from starlette.requests import Request

from arena.web.guard import MOST_BUCKETS, Guard, Rate, RateLimits, Refusal, read_body, read_form


def request(
    headers: dict[str, str] | None = None, pieces: Sequence[bytes] = (), wait: float = 0, client: str = "192.0.2.7"
) -> Request:
    left = list(pieces)

    async def receive() -> dict[str, object]:
        await trio.sleep(wait)
        if left:
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}
        return {"type": "http.disconnect"}

    encoded = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": encoded, "client": (client, 5)}
    return Request(scope, receive)


OWN = {"host": "arena.example", "origin": "https://arena.example"}


def test_a_form_of_our_own_page_is_accepted() -> None:
    guard = Guard("https://arena.example/")
    guard.check_origin(request(OWN))
    guard.check_origin(request(OWN | {"sec-fetch-site": "same-origin"}))
    Guard().check_origin(request({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}))
    Guard().check_origin(request({"host": "[::1]:8000", "origin": "http://[::1]:8000"}))
    Guard().check_origin(request({"host": "localhost:8000", "origin": "http://localhost:8000"}))


@pytest.mark.parametrize(
    ("url", "headers", "status"),
    [
        ("https://arena.example/", {}, 421),
        ("https://arena.example/", {"host": "arena.example"}, 403),
        ("https://arena.example/", OWN | {"origin": "https://evil.example"}, 403),
        ("https://arena.example/", OWN | {"origin": "http://arena.example"}, 403),
        ("https://arena.example/", OWN | {"origin": "null"}, 403),
        ("https://arena.example/", OWN | {"sec-fetch-site": "cross-site"}, 403),
        ("https://arena.example/", OWN | {"sec-fetch-site": "same-site"}, 403),
        ("https://arena.example/", OWN | {"host": "evil.example"}, 421),
        ("", {"host": "evil.example", "origin": "http://evil.example"}, 421),
        ("", {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:9000"}, 403),
        ("", {"host": "127.0.0.1.evil.example", "origin": "http://127.0.0.1.evil.example"}, 421),
        ("", {"host": "[::1", "origin": "http://[::1"}, 421),
    ],
)
def test_forms_of_other_pages_and_other_hosts_are_refused(url: str, headers: dict[str, str], status: int) -> None:
    with pytest.raises(Refusal) as refused:
        Guard(url).check_origin(request(headers))
    assert refused.value.status_code == status


def test_the_cookie_is_bound_to_this_host_where_tls_is_spoken() -> None:
    secure = Guard("https://arena.example/").set_cookie("arena", "abc", 60)
    assert secure == "__Host-arena=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
    assert Guard().set_cookie("arena", "abc", 60) == "arena=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"
    guard = Guard("https://arena.example/")
    assert guard.cookie(request({"cookie": "arena=planted; __Host-arena=own"}), "arena") == "own"


def test_clients_are_told_apart_by_the_proxys_word_alone_if_there_is_one() -> None:
    forged = {"x-forwarded-for": "203.0.113.9, 198.51.100.4"}
    assert Guard().client(request(forged)) == "192.0.2.7"
    assert Guard(behind_proxy=True).client(request(forged)) == "198.51.100.4"


async def test_a_body_is_read_up_to_its_bound(autojump_clock: trio.abc.Clock) -> None:
    assert await read_body(request(pieces=[b"ab", b"cd"]), 4, 1) == b"abcd"
    for headers, pieces in (
        ({"content-length": "5"}, []),
        ({}, [b"abc", b"de"]),
        ({"content-length": "9" * 400}, []),
    ):
        with pytest.raises(Refusal) as refused:
            await read_body(request(headers, pieces), 4, 1)
        assert refused.value.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    with pytest.raises(Refusal) as refused:
        await read_body(request(pieces=[b"a"] * 4, wait=0.5), 4, 1)
    assert refused.value.status_code == HTTPStatus.REQUEST_TIMEOUT
    with pytest.raises(Refusal) as refused:
        await read_body(request(), 4, 1)
    assert refused.value.status_code == HTTPStatus.BAD_REQUEST


FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}


async def test_a_form_is_read_and_another_kind_of_body_is_not(autojump_clock: trio.abc.Clock) -> None:
    assert await read_form(request(FORM, [b"a=1&b=%C3%A4&a=2&c="])) == {"a": "2", "b": "ä", "c": ""}
    for headers, body, status in (
        ({}, b"a=1", 415),
        ({"content-type": "text/plain"}, b"a=1", 415),
        (FORM, b"a=%FF", 400),
        (FORM, "ä=1".encode(), 400),
        (FORM, b"a=1&" * 201, 400),
    ):
        with pytest.raises(Refusal) as refused:
            await read_form(request(headers, [body]))
        assert refused.value.status_code == status


def test_a_rate_lets_a_burst_pass_then_one_at_a_time_and_each_subject_by_itself() -> None:
    time = [0.0]
    limits = RateLimits(lambda: time[0])
    rate = Rate(3, 10)
    for _ in range(3):
        limits.spend("sign-in", "192.0.2.7", rate)
    with pytest.raises(Refusal) as refused:
        limits.spend("sign-in", "192.0.2.7", rate)
    assert refused.value.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert refused.value.headers == {"retry-after": "10"}
    limits.spend("sign-in", "192.0.2.8", rate)
    limits.spend("form", "192.0.2.7", rate)
    time[0] = 10.0
    limits.spend("sign-in", "192.0.2.7", rate)
    with pytest.raises(Refusal):
        limits.spend("sign-in", "192.0.2.7", rate)


def test_many_subjects_take_bounded_memory() -> None:
    limits = RateLimits(lambda: 0.0)
    for number in range(MOST_BUCKETS + 500):
        limits.spend("form", str(number), Rate(1, 1))
    assert len(limits._empty) == MOST_BUCKETS
