"""Whatever a feed says, from its bytes to browsers' events: the server goes on, and the next feed is shown.

A conversation is a piece of a real match's feed in which values, bytes, frames and order are changed. It takes the
whole way: a listener passes it on over a socket, the server reads and decodes it, and two browsers are told.
"""

import json
import os
import socket
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, get_args

import msgspec
import pytest
import trio
import zmq

from arena.feed import Heard
from arena.feed.lines import read
from arena.feed.process import pass_on
from arena.web.competition_watcher import CompetitionWatcher
from arena.web.events import MOST_WAITING_BYTES, Stream
from arena.web.live import VIEW_BYTES, LiveFeed
from protocol.codec import encode
from protocol.feed import FeedMessage
from protocol.words import MOST
from referee.games import GAMES
from referee.proofs.conformance.playing import seat_match
from referee.proofs.conformance.sitting import Chooser, ObservedTable
from tests.arena.web.test_live import BEGUN, HOSTILE, VIEW, strings, window
from tests.long import cases, mostly_slow

SHARDS = 10
CONVERSATIONS = int(os.environ.get("ARENA_CONVERSATIONS", cases(300, 600)))
"""In one of the shards. All shards of 5,000 take some ten minutes of one core."""
MESSAGES = 8
LARGEST_EVENT = 40 * VIEW_BYTES
NUMBERS = (-1, 0, 64, 2**31, MOST, MOST + 1, -MOST - 1, 2**64, 10**308, 10**309, -(10**4_000), 0.5, -0.0, 1e308)
"""Among them what no float holds, and what no JSON decoder takes."""
NO_JSON = (b"NaN", b"-Infinity", b"1e999", b"1" * 5_000, b'"\\ud800"', b'"\xff"', b"00", b"[" * 3_000, b"")
PLACE = "a place for what is no JSON"
WORDS: tuple[Any, ...] = ("", HOSTILE, "x" * 70_000, "\N{BOM}", "\x00", "0", "-1", "match/m", "__proto__")
TOPIC = b"match/m"
OTHER_TOPICS = (b"match/n", b"match/", b"match", b"", b"match/\xff", b"match/" + b"x" * 249, b"standings")
STARTED = b'"started":"a time"'
NESTED = json.loads("[" * 200 + "]" * 200)

OTHERS: tuple[Any, ...] = (None, True, [], {}, [None] * 3_000, [0] * 100, NESTED, {"type": "reveal"})

OWN_WORDS = {name for form in get_args(FeedMessage) for name in form.__struct_fields__}


class Publisher:
    """A ZeroMQ socket that has heard something."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = [frames]

    def recv_multipart(self, _: int) -> list[bytes]:
        if not self._frames:
            raise zmq.Again
        return self._frames.pop()


class Browser:
    """Takes what a browser is told, and checks that it could show it."""

    def __init__(self, stream: Stream | None, nursery: trio.Nursery) -> None:
        assert stream is not None
        self.events = 0
        nursery.start_soon(stream.serve_client, trio.sleep_forever, self._send)

    async def _send(self, message: Any) -> None:
        for event in message["body"].split(b"\n\n")[:-1]:
            if event == b":":
                continue
            assert event.startswith(b"data: ")
            assert b"\n" not in event
            assert len(event) <= LARGEST_EVENT
            self.events += 1
            told = json.loads(event[len("data: ") :], parse_constant=_refuse)
            assert all(-MOST <= number <= MOST for number in numbers(told))
            assert all(text.isprintable() for text in strings([_without_views(each) for each in _matches(told)]))


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def _matches(told: dict[str, Any]) -> list[dict[str, Any]]:
    return told["matches"] if told["type"] == "all" else [told]


def _without_views(told: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in ("view", "reveal")}


def numbers(value: Any) -> Iterator[float]:
    """Give all numbers in a JSON value."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict):
        yield from numbers(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each)


@cache
def real_feed(game: str) -> list[dict[str, Any]]:
    """Return what the feed says of a match of a game, with a snapshot after each window."""
    said: list[dict[str, Any]] = []

    def publish(self: ObservedTable, topic: str, message: bytes) -> None:
        named = json.loads(message)
        begun = named.get("begun", named)
        if "players" in begun:
            begun["started"] = "a time"
            begun["players"] = [f"bot {seat}" for seat in range(self.table.seats)]
        said.append(named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ObservedTable, "publish", publish)
        match = seat_match(GAMES[game], GAMES[game].variants[0].name, 1)
        chooser = Chooser(Random(1))
        while match.table.window is not None and len(said) < 60:
            match.feed.snapshot(0)
            match.play(chooser.choose_all(match.table))
    return said


class Conversation:
    """What a hostile feed says, drawn from one number."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._rng = Random(number)
        said = real_feed(self._rng.choice(sorted(GAMES)))
        first = self._rng.randrange(len(said))
        self._said = [said[0], *said[first : first + self._rng.randrange(1, MESSAGES)]]
        if self._rng.random() < 0.2:
            self._rng.shuffle(self._said)

    def frames(self) -> Iterator[list[bytes]]:
        """Give its messages as ZeroMQ has them."""
        changes = self._rng.randrange(3)
        for number, message in enumerate(self._said):
            content = encode(message).replace(STARTED, b'"started":"%d"' % self._number)
            for _ in range(changes if number else self._rng.randrange(2)):
                content = self._changed(content)
            frames = [self._topic(), content]
            if self._rng.random() < 0.02:
                others: list[list[bytes]] = [
                    [],
                    frames[:1],
                    [*frames, b""],
                    [b"x" * 300, content],
                    [b"a\nb", content],
                ]
                frames = self._rng.choice(others)
            yield frames

    def _topic(self) -> bytes:
        return TOPIC if self._rng.random() < 0.9 else self._rng.choice(OTHER_TOPICS)

    def _changed(self, content: bytes) -> bytes:
        if self._rng.random() < 0.1:
            return self._damaged(content)
        try:
            message = json.loads(content)
        except (ValueError, RecursionError):
            return content
        raw = self._set(message)
        try:
            return json.dumps(message).encode("utf-8", "surrogatepass").replace(encode(PLACE), raw)
        except RecursionError:
            return content

    def _damaged(self, content: bytes) -> bytes:
        at = self._rng.randrange(len(content) + 1)
        disturbed = content[:at] + self._rng.randbytes(3) + content[at + 3 :]
        return self._rng.choice((content[:at], content[at:], disturbed, content + content))

    def _set(self, message: Any) -> bytes:
        """Change one value somewhere in a message. Returns what is to stand in the place for what is no JSON."""
        places = list(_places(message))
        if not places:
            return b""
        # Boards and events have most of the places: every other change is to be one of the feed's own words.
        own = {key: (holder, key) for holder, key in places if key in OWN_WORDS}
        holder, key = self._rng.choice(list(own.values()) if own and self._rng.random() < 0.5 else places)
        value: Any
        match 0 if isinstance(holder[key], int) and self._rng.random() < 0.5 else self._rng.randrange(8):
            case 0 | 1 | 2:
                value = self._rng.choice(NUMBERS)
            case 3:
                value = self._rng.choice(WORDS)
            case 4:
                value = self._rng.choice(OTHERS)
            case 5:
                value = PLACE
            case 6:
                value = self._rng.choice(places)[0]
                value = json.loads(json.dumps(value))
            case _:
                del holder[key]
                return b""
        holder[key] = value
        return self._rng.choice(NO_JSON)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Give each list or object in a JSON value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in tuple(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


@pytest.mark.parametrize("shard", mostly_slow(1, range(SHARDS)))
async def test_no_conversation_of_a_feed_ends_the_server(
    shard: int, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[Exception] = []
    monkeypatch.setattr(CompetitionWatcher, "_feed_failed", lambda _, __, error: failures.append(error))
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * MOST_WAITING_BYTES)
    line = trio.socket.from_stdlib_socket(ours)
    with theirs, line:
        async with trio.open_nursery() as nursery:
            watcher = CompetitionWatcher([], ["ipc:///hostile", "ipc:///honest"], nursery)
            watcher.begin()
            nursery.start_soon(read, line, 0, watcher._hear)
            browser = Browser(watcher.stream_at("live/live/events"), nursery)
            of_one: Browser | None = None
            for number in range(shard * CONVERSATIONS, (shard + 1) * CONVERSATIONS):
                for frames in Conversation(number).frames():
                    pass_on(theirs, Publisher(frames))  # type: ignore[arg-type]
                    await trio.sleep(0.25)
                    if of_one is None and (stream := watcher.stream_at("live/live/m/events")) is not None:
                        of_one = Browser(stream, nursery)
                assert [] == failures, number
                honest = encode(msgspec.structs.replace(BEGUN, match="honest", started=str(number)))
                for content in (honest, encode(window(1))):
                    watcher._hear(Heard(1, b"match/honest", content))
                stream = watcher.stream_at("live/live/honest/events")
                assert stream is not None
                assert encode(VIEW) in stream.snapshot()
                watcher._followed["live"].tidy()
            await trio.sleep(1)
            assert browser.events > CONVERSATIONS
            nursery.cancel_scope.cancel()


def planted(*_: object) -> None:
    raise OverflowError("int too large to convert to float")


@pytest.mark.parametrize("method", ["hear", "tidy", "waiting", "snapshot", "snapshot_of"])
async def test_an_error_that_nobody_foresaw_costs_that_feed_and_the_operator_is_told_once(
    method: str, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    failures: list[Exception] = []
    monkeypatch.setattr(CompetitionWatcher, "_feed_failed", lambda _, __, error: failures.append(error))
    watcher = CompetitionWatcher([], ["ipc:///hostile"], nursery)
    watcher.begin()
    watcher._hear(Heard(0, b"match/m", encode(BEGUN)))
    followed = watcher._followed["live"]
    of_one = watcher.stream_at("live/live/m/events")
    assert of_one is not None

    def use_all() -> None:
        watcher._hear(Heard(0, b"match/m", encode(BEGUN)))
        followed.tidy()
        followed.waiting()
        followed.stage.snapshot()
        assert of_one is not None
        of_one.snapshot()

    with monkeypatch.context() as patch:
        patch.setattr(LiveFeed, method, planted)
        await trio.sleep(1)
        use_all()
        await trio.sleep(1)
        use_all()
    assert ["OverflowError"] == [type(error).__name__ for error in failures]
    await trio.sleep(1)
    watcher._hear(Heard(0, b"match/m", encode(BEGUN)))
    assert b'"state":"playing"' in followed.stage.snapshot()
