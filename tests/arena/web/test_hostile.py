"""What strangers send and leave in folders: each is bounded, and keeps nobody else from being served."""

from contextlib import closing
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.errors import WrongUse
from arena.pages import Competition, Website
from arena.tournament import Ledger
from arena.web import competitions_in
from arena.web.cache import Cache, ServedCompetition
from arena.web.connection import LINGER_SECONDS, PIECE_BYTES, STUCK_SECONDS, Connection
from arena.web.events import MOST_WAITING_BYTES, Client, Receive, Send, Stream, Streams
from arena.web.live import MOST_HELD, LiveFeed
from arena.web.server import Application, Site
from protocol.codec import encode
from protocol.feed import MOST_SEATS, FeedEvent
from referee.log import SILENT
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.simulated import result
from tests.arena.web.test_live import BEGUN, FIRST, window

WEBSOCKET = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"


def never(error: Exception) -> None:
    raise error


async def answer_of(application: object, request: bytes) -> bytes:
    """All that comes until the connection ends."""
    client, server = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Connection(application, server, ("192.0.2.1", 4), never).run)  # type: ignore[arg-type]
        await client.send_all(request)
        return b"".join([bytes(part) async for part in client])


def application() -> Application:
    return Application(Site({}), Streams(), lambda _: None, SILENT)


def cup(folder: Path, change: str = "", *values: object) -> Path:
    """A results folder of one block, whose ledger a stranger has changed."""
    path = folder_of(
        folder / "cup", ("a", "b"), [result(0, 0, (0, 1), [[0], [1]]), result(0, 1, (1, 0), [[0], [1]])]
    )
    if change:
        with closing(Ledger(path / "ledger.sqlite")) as ledger:
            ledger._db.execute(change, values)
    return path


async def test_a_websocket_is_answered_as_any_request_and_does_not_stay(autojump_clock: object) -> None:
    answer = await answer_of(application(), WEBSOCKET)
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        b"CONTENT-LENGTH: 44\r\ntransfer-encoding: Chunked\r\n",
    ],
)
async def test_a_request_of_two_lengths_is_refused_and_its_connection_closed(
    autojump_clock: object, lengths: bytes
) -> None:
    """A server in front may have taken the other length: what follows may be somebody else's request."""
    smuggled = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    answer = await answer_of(application(), b"GET / HTTP/1.1\r\nHost: a\r\n%b\r\n%b" % (lengths, smuggled))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in answer.lower()
    assert 1 == answer.count(b"HTTP/1.1 ")
    assert LINGER_SECONDS == trio.current_time()  # This client goes on waiting; what it sends is discarded.


async def test_no_answer_leads_to_the_host_that_the_client_names(autojump_clock: object) -> None:
    answer = await answer_of(application(), b"GET ?x HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"evil.example" not in answer


async def test_a_path_of_slashes_makes_no_long_page(autojump_clock: object) -> None:
    answer = await answer_of(application(), b"GET /%b HTTP/1.1\r\nHost: a\r\n\r\n" % (b"/" * 10_000))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert len(answer) < 5_000


async def test_a_slow_reader_has_time_for_each_piece(autojump_clock: object) -> None:
    body = b"x" * (4 * PIECE_BYTES)

    async def large(scope: object, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    client, server = trio.testing.memory_stream_pair()
    send_all = server.send_all

    async def slowly(data: memoryview) -> None:
        await trio.sleep(len(data) / PIECE_BYTES * STUCK_SECONDS * 2 / 3)
        await send_all(data)

    server.send_all = slowly  # type: ignore[method-assign, assignment]
    got = b""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Connection(large, server, None, never).run)
        await client.send_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        got = b"".join([bytes(part) async for part in client])
    assert got.endswith(body)


async def test_a_competition_that_is_being_read_keeps_no_other_waiting(tmp_path: Path) -> None:
    slow = ServedCompetition("slow", cup(tmp_path / "slow"))
    all_ = {"slow": slow, "quick": ServedCompetition("quick", cup(tmp_path / "quick"))}
    with slow._lock:  # As while its ledger is read.
        with trio.fail_after(10):
            found = await Cache().page(Website(tuple(all_.values()), live=True), "quick/index.html", all_)
    assert found is not None


async def test_what_is_published_at_once_has_a_bound(nursery: trio.Nursery) -> None:
    stream = Stream(nursery, lambda: "all")
    client = Client()
    client.behind = False
    stream._clients.add(client)
    for _ in range(20):
        stream.publish("x" * (MOST_WAITING_BYTES // 10))
        assert sum(map(len, stream._news)) <= MOST_WAITING_BYTES
    await trio.sleep(0.3)
    assert client.behind
    assert not client.waiting


def feed() -> LiveFeed:
    return LiveFeed(lambda _: None, lambda *_: None, lambda: 0.0)


def test_events_that_wait_for_a_window_are_kept_as_words_of_bounded_length() -> None:
    followed = feed()
    followed.hear(b"match/m1", encode(BEGUN))
    for n in range(1, 20):
        followed.hear(b"match/m1", encode(FeedEvent(n=n, at_ms=n, event=FIRST | {"more": "x" * 100_000})))
        followed.hear(b"match/m1", encode(FeedEvent(n=n, at_ms=n, event={"type": "?", "more": "x" * 100_000})))
    (match,) = followed._matches.values()
    assert 0 < len(match._held) <= MOST_HELD
    assert len(encode(list(match._held))) < 10_000


def test_a_seat_that_is_named_again_and_again_is_told_once() -> None:
    followed = feed()
    followed.hear(b"match/m1", encode(BEGUN))
    followed.hear(b"match/m1", encode(window(1, seats=(0,) * MOST_SEATS)))
    (match,) = followed._matches.values()
    assert [0] == match.everything()["window"]["seats"]


def test_no_name_of_a_match_is_the_id_of_another() -> None:
    followed = feed()
    followed.hear(b"match/no plain name", encode(BEGUN))
    (first,) = (each.id for each in followed._matches.values())
    followed.hear(b"match/" + first.encode(), encode(BEGUN))
    assert 2 == len({each.id for each in followed._matches.values()})


def test_a_transcripts_name_that_is_too_long_is_of_no_transcript(tmp_path: Path) -> None:
    folder = cup(tmp_path, "UPDATE attempts SET transcript = ?", "x" * 5_000)
    page = body_of(Website([Competition("cup", folder)], live=False), "cup/match/1a.html")
    assert b"<h1" in page


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE attempts SET transcript = x'ff80'",
        "UPDATE attempts SET transcript = cast(x'ff80' AS TEXT)",
        "INSERT INTO terms VALUES ('x', '[')",
    ],
)
def test_a_ledger_that_cannot_be_read_is_refused_in_words_that_name_no_place(tmp_path: Path, change: str) -> None:
    folder = cup(tmp_path, change)
    website = Website([Competition("cup", folder)], live=False)
    with pytest.raises(WrongUse):
        website.page("cup/index.html")
    page = body_of(website, "index.html")
    assert b"cannot be shown" in page
    assert str(tmp_path).encode() not in page


def test_times_beyond_the_calendar_are_left_out(tmp_path: Path) -> None:
    folder = cup(tmp_path, "UPDATE attempts SET ended = '0001-01-01T00:00:00+23:59'")
    page = body_of(Website([Competition("cup", folder)], live=False), "index.html")
    assert b"cannot be shown" not in page


def test_more_bots_than_can_be_ranked_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "cup", [str(each) for each in range(100_000)], [])
    with pytest.raises(WrongUse, match="100,000 bots"):
        Competition("cup", folder).overview()


def test_a_page_says_a_bounded_number_of_terms(tmp_path: Path) -> None:
    folder = cup(
        tmp_path,
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000)"
        " INSERT INTO terms SELECT 'options.' || n, '1' FROM c",
    )
    page = body_of(Website([Competition("cup", folder)], live=False), "cup/index.html")
    assert len(page) < 300_000


@pytest.mark.parametrize("name", ["assets", "replay", "transcript", "live", "events"])
def test_no_competition_has_a_folder_of_the_sites_own(tmp_path: Path, name: str) -> None:
    (cup(tmp_path)).rename(tmp_path / name)
    assert [f"{name}-2"] == [each.slug for each in competitions_in([tmp_path])]
