"""What strangers may send to practice matches, and what is refused: orders, seats, links and bodies."""

import pytest

from arena.practice import Order, OrderError, order_of_form, terms_of
from arena.practice.seat_log import MOST_MESSAGES, SeatLog, messages_after
from arena.practice.tables import MOST_OF_VISITOR, MOST_TABLES
from arena.web import play as play_module
from arena.web.guard import Rate
from arena.web.play import BODY_BYTES, NO_SEAT
from tests.arena.portal.conftest import Body, send
from tests.arena.practice.people import URL, Room, Visitor

DEEP = b"[" * 7_000 + b"]" * 7_000
JSON = {"content-type": "application/json", "origin": URL}
FRIENDS = {"game": "mist", "seats": ["me", "friend"]}


async def seated(room: Room) -> Visitor:
    """Return a visitor with a seat in a match."""
    visitor = room.visitor()
    assert (await visitor.begin(**FRIENDS)).status_code == 200
    return visitor


@pytest.mark.parametrize("path", ["new", "{match}/say", "{match}/join"])
@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b'{"do":' + DEEP + b"}",
        b'{"key":' + DEEP + b"}",
        b'{"game":"mist","seats":' + DEEP + b"}",
        b'{"do":"preview","text":"\xff"}',
        b'{"do":"ping","n":"1"}',
        b'{"do":"become-host"}',
        b'{"do":"submit","window":' + b"9" * 400 + b"}",
        b"null",
        b"",
        b"{",
    ],
)
async def test_a_body_that_is_no_request_is_refused_with_a_reason(room: Room, path: str, body: bytes) -> None:
    visitor = await seated(room)
    path = path.format(match=visitor.match)
    answer = await visitor.http.post(path, content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["ok"] is False
    assert answer.json()["text"]


async def test_json_may_have_lines(room: Room) -> None:
    visitor = await seated(room)
    answer = await visitor.http.post(f"{visitor.match}/say", content=b'{\n"do":\n"ping",\n"n": 1}\n', headers=JSON)
    assert (answer.status_code, answer.json()) == (200, {"ok": True})


async def test_a_body_that_is_too_long_or_of_another_kind_is_refused(room: Room) -> None:
    visitor = await seated(room)
    path = f"{visitor.match}/say"
    long = b'{"do":"preview","text":"' + b"a" * BODY_BYTES + b'"}'
    assert (await visitor.http.post(path, content=long, headers=JSON)).status_code == 413
    assert (await send(visitor.http, path, Body(long, 4_096), JSON)).status_code == 413
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = await visitor.http.post(path, content=b"{}", headers=JSON | {"content-type": kind})
        assert answer.status_code == 415


async def test_a_request_of_another_site_is_refused(room: Room) -> None:
    visitor = await seated(room)
    for path in ("new", f"{visitor.match}/say", f"{visitor.match}/join"):
        for origin in ("https://evil.example", "null"):
            assert (await visitor.post(path, {}, origin)).status_code == 403


async def test_a_seat_is_that_of_its_browser_alone(room: Room) -> None:
    host = await seated(room)
    elsewhere = await seated(room)
    forged = room.visitor()
    forged.http.cookies.set("arena_player", "A" * 43)
    for visitor in (room.visitor(), elsewhere, forged):
        visitor.match = host.match
        for path in ("", "replay", "transcript.jsonl"):
            assert (await visitor.get(path)).status_code == 403
        answer = await visitor.say(do="leave")
        assert (answer.status_code, answer.json()["text"]) == (403, NO_SEAT)
        line = visitor.line()
        await line.end()
        assert (line.status, line.messages) == (403, [])
        assert (await visitor.join("A" * 43)).status_code == 403


async def test_no_action_can_be_sent_for_another_seat(room: Room) -> None:
    host, friend = await seated(room), room.visitor()
    await host.invite(friend, 1)
    line, other = host.line(), friend.line()
    window = await line.message("window")
    for said in (
        {"do": "submit", "window": window["id"], "text": window["examples"][0][0], "final": True, "seat": 0},
        {"do": "done", "window": window["id"]},
        {"do": "undo", "window": window["id"]},
        {"do": "preview", "window": window["id"], "text": window["examples"][0][0]},
    ):
        assert (await friend.say(**said)).status_code == 409
    assert (await friend.say(do="invite", seat=0)).json()["ok"] is False
    assert line.all("closed") == other.all("window") == []


async def test_a_link_leads_to_its_seat_once_and_a_new_one_replaces_it(room: Room) -> None:
    host = await seated(room)
    links = [(await host.say(do="invite", seat=1)).json()["href"] for _ in range(2)]
    keys = [link.partition("#")[2] for link in links]
    early, friend, late = (room.visitor() for _ in range(3))
    early.match = friend.match = late.match = host.match
    assert (await early.join(keys[0])).status_code == 403
    assert (await friend.join(keys[1])).status_code == 200
    assert (await friend.join(keys[1])).status_code == 200
    assert (await late.join(keys[1])).status_code == 403
    assert (await host.say(do="invite", seat=1)).json()["ok"] is False
    assert (await host.say(do="invite", seat=0)).json()["ok"] is False


async def test_no_secret_is_in_a_page_or_in_what_a_seat_is_sent(room: Room) -> None:
    host = await seated(room)
    key = (await host.say(do="invite", seat=1)).json()["href"].partition("#")[2]
    line = host.line()
    await line.message("table")
    cookies = [each.value or "" for each in host.http.cookies.jar]
    assert [43] == [len(each) for each in cookies]
    texts = [str(line.messages), (await host.get()).text, (await host.get("join")).text]
    texts += [path.read_text() for path in (room.folder / host.match).iterdir() if path.is_file()]
    for secret in (key, *cookies):
        assert not [text for text in texts if secret in text]


async def test_a_visitor_and_the_site_have_so_many_matches_at_once(room: Room) -> None:
    visitor = await seated(room)
    for _ in range(MOST_OF_VISITOR - 1):
        assert (await visitor.begin(**FRIENDS)).status_code == 200
    refused = await visitor.begin(**FRIENDS)
    assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)
    for _ in range(MOST_TABLES - MOST_OF_VISITOR):
        await seated(room)
    refused = await room.visitor().begin(**FRIENDS)
    assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (503, True)


async def test_visitors_behind_a_proxy_are_counted_one_by_one(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_module, "BEGIN", Rate(2, 60))
    await room.serve(behind_proxy=True)
    statuses = []
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"):
        visitor = room.visitor()
        visitor.http.headers["x-forwarded-for"] = f"203.0.113.5, {address}"
        statuses.append((await visitor.begin(**FRIENDS)).status_code)
    assert statuses == [200, 200, 429, 200]


async def test_a_form_begins_a_match_and_leads_to_it(room: Room) -> None:
    visitor = room.visitor()
    fields = {"game": "mist", "seat-0": "me", "seat-1": "friend", "pace": "slow", "variant": "heaven-and-hell"}
    answer = await visitor.http.post("new", data=fields, headers={"origin": URL})
    assert answer.status_code == 303
    page = await visitor.http.get(answer.headers["location"])
    assert page.status_code == 200
    assert "Mist" in page.text


@pytest.mark.parametrize(
    "fields",
    [
        {"game": ""},
        {"game": "chess"},
        {"game": "mist", "variant": "none"},
        {"game": "mist", "pace": "blitz"},
        {"game": "mist", "seat": "2"},
        {"game": "mist", "seat": "-1"},
        {"game": "mist", "seat": "٣"},
        {"game": "mist", "opponent": "chat"},
        {"game": "mist", "opponent": "../../etc"},
        {"game": "mist", "seat-0": "me", "seat-1": "me"},
    ],
)
async def test_a_wrong_order_is_refused_with_a_reason(room: Room, fields: dict[str, str]) -> None:
    with pytest.raises(OrderError):
        terms_of(order_of_form(fields))
    answer = await room.visitor().http.post("new", data=fields, headers={"origin": URL})
    assert answer.status_code == 400


def test_names_of_people_are_made_printable_and_no_two_are_alike() -> None:
    terms = terms_of(Order(game="mist", seats=("me", "friend"), name="guest 1\x1b[31m\u202e"))
    assert len(set(terms.names)) == 2
    assert all(name.isprintable() for name in terms.names)


def test_what_a_seat_is_told_is_bounded_and_the_latest_view_stays() -> None:
    log = SeatLog(most_bytes=2_000)
    log.add({"type": "table"})
    for number in range(100):
        log.add({"type": "view", "view": "a" * 200, "number": number})
        log.add({"type": "event", "text": "b"})
    whole = log.whole()
    assert len(whole) <= 2_000
    assert whole.startswith(b"id: 0\n")
    assert b'"number":99' in whole
    assert log.since(0, 100_000)[0] == whole
    assert messages_after(whole, 198) == whole[whole.index(b"id: 199\n") :]
    assert messages_after(whole, 200) == b""
    assert messages_after(whole, -1) == whole
    for _ in range(MOST_MESSAGES):
        log.add({"type": "event", "text": "c"})
    assert len(log) == MOST_MESSAGES
