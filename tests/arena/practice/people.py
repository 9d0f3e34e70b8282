"""People who play over HTTP, without sockets to browsers: the site's routes, cookies, and lines of events.

`python -m tests.arena.practice.people GAME FOLDER` plays a match of two people, for games of other packages.
"""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import httpx
import msgspec
import trio
import trio.testing
from httpx import ASGITransport, AsyncClient

from arena.practice import Tables
from arena.practice.process import PracticeMatch
from arena.practice.protocol import Assignment
from arena.web import Rate, Serving, play_of
from arena.web import play as play_module
from arena.web.events import Streams
from arena.web.server import Application, Site
from referee.log import SILENT

URL = "http://127.0.0.1:8000"
GENEROUS_SECONDS = 60.0
"""Seconds after which a test gives up to wait for a message."""
Message = dict[str, Any]


class Line:
    """A line of events to one browser, as its page has it."""

    def __init__(self, application: Application, path: str, cookie: str, last: int | None) -> None:
        headers = [(b"host", URL.removeprefix("http://").encode()), (b"cookie", cookie.encode())]
        if last is not None:
            headers.append((b"last-event-id", str(last).encode()))
        self._scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 5),
        }
        self._application = application
        self._news = trio.Event()
        self._left = b""
        self._lost = trio.Event()
        self.status = 0
        self.last = last
        self.messages: list[Message] = []
        self.acted: set[int] = set()
        """Windows to which a final action was sent."""
        self.is_ended = False

    async def run(self) -> None:
        """Receive messages until the server ends the line or it is lost."""
        await self._application(self._scope, self._receive, self._send)
        self.is_ended = True
        self._news.set()

    def lose(self) -> None:
        """Break the line."""
        self._lost.set()

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something is the case, which a message may bring about."""
        with trio.fail_after(GENEROUS_SECONDS):
            while not holds():
                assert not self.is_ended, self.messages[-3:]
                self._news = trio.Event()
                await self._news.wait()

    async def message(self, kind: str) -> Message:
        """Wait for the first message of a kind."""
        await self.until(lambda: self.all(kind))
        return self.all(kind)[0]

    async def end(self) -> None:
        """Wait for the line's end."""
        with trio.fail_after(GENEROUS_SECONDS):
            while not self.is_ended:
                self._news = trio.Event()
                await self._news.wait()

    def all(self, kind: str) -> list[Message]:
        """Return the messages of a kind."""
        return [each for each in self.messages if each["type"] == kind]

    @property
    def window(self) -> Message | None:
        """The window that is open for the seat and owes an action; None if there is none."""
        found: Message | None = None
        for each in self.messages:
            if each["type"] == "window":
                found = each
            elif each["type"] in ("closed", "over", "gone"):
                found = None
        return None if found is None or found["id"] in self.acted else found

    async def _receive(self) -> Mapping[str, Any]:
        await self._lost.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await trio.lowlevel.checkpoint()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        *events, self._left = (self._left + message["body"]).split(b"\n\n")
        for event in events:
            for line in event.split(b"\n"):
                name, _, value = line.partition(b": ")
                if name == b"id":
                    self.last = int(value)
                elif name == b"data":
                    self.messages.append(msgspec.json.decode(value))
        self._news.set()


class Visitor:
    """A visitor's browser."""

    def __init__(self, room: "Room") -> None:
        self._room = room
        transport = ASGITransport(room.answer, client=("127.0.0.1", 4000))
        self.http = AsyncClient(transport=transport, base_url=f"{URL}/play/")
        self.match = ""

    async def begin(self, **order: Any) -> httpx.Response:
        """Order a match."""
        answer = await self.post("new", order)
        if answer.is_success:
            self.match = answer.json()["id"]
        return answer

    async def invite(self, friend: "Visitor", seat: int) -> httpx.Response:
        """Send a friend the link to a seat, which the friend opens."""
        link = (await self.say(do="invite", seat=seat)).json()["href"]
        friend.match = self.match
        return await friend.join(link.partition("#")[2])

    async def join(self, key: str) -> httpx.Response:
        """Exchange a link's secret for a seat."""
        return await self.post(f"{self.match}/join", {"key": key})

    async def say(self, **said: Any) -> httpx.Response:
        """Send the referee what the page's script would."""
        return await self.post(f"{self.match}/say", said)

    async def get(self, path: str = "") -> httpx.Response:
        """Get a page of the match."""
        return await self.http.get(f"{self.match}/{path}")

    async def post(self, path: str, body: Any, origin: str = URL) -> httpx.Response:
        """Send JSON."""
        return await self.http.post(path, json=body, headers={"origin": origin})

    def line(self, last: int | None = None) -> Line:
        """Open a line of events, from what the browser had last."""
        cookie = "; ".join(f"{each.name}={each.value}" for each in self.http.cookies.jar)
        line = Line(self._room.application, f"/play/{self.match}/events", cookie, last)
        self._room.nursery.start_soon(line.run)
        return line

    async def play(self, line: Line, rng: Random) -> Message:
        """Play until the match is over, by examples and defaults. Return the outcome."""
        while True:
            await line.until(lambda: line.all("over") or line.window)
            if over := line.all("over"):
                return over[0]
            window = line.window
            assert window is not None
            await self.act(window, rng)
            line.acted.add(window["id"])

    async def act(self, window: Message, rng: Random) -> None:
        """Submit one of a window's examples, or else its default."""
        examples = [each[0] for each in window["examples"]]
        if examples:
            answer = await self.say(do="submit", window=window["id"], text=rng.choice(examples), final=True)
            if answer.json()["ok"]:
                return
        await self.say(do="done", window=window["id"])


class Room:
    """A site on which people play, whose matches run in this process."""

    def __init__(self, folder: Path, nursery: trio.Nursery) -> None:
        self.folder = folder
        self.nursery = nursery
        self.matches: list[PracticeMatch] = []
        self.application: Application

    async def serve(self, *, behind_proxy: bool = False) -> None:
        """Serve with a new server, which knows nothing of the one before."""
        play = play_of(Serving(places=(self.folder / "none",), behind_proxy=behind_proxy), self.folder, SILENT)
        self.application = Application(Site({}), Streams(), lambda _: None, SILENT, [play])
        self.nursery.start_soon(play.run, self.nursery, 0)
        await trio.testing.wait_all_tasks_blocked()

    async def answer(self, *call: Any) -> None:
        """Answer a request with the present server: see `Application`."""
        await self.application(*call)

    def visitor(self) -> Visitor:
        """Return a browser without any cookie."""
        return Visitor(self)

    async def start(self, folder: Path, assignment: Assignment) -> bool:
        """Start a match in this process: see `Tables`."""
        match = PracticeMatch(folder, assignment)
        self.matches.append(match)
        await self.nursery.start(match.run)
        return True


@asynccontextmanager
async def open_room(folder: Path, *, processes: bool = False) -> AsyncIterator[Room]:
    """Open a site for people in a folder, without limits of rates.

    Its matches run in this process, or in `processes` of their own as those of a server.
    """
    async with trio.open_nursery() as nursery:
        room = Room(folder, nursery)
        with ExitStack() as patched:
            patched.enter_context(patch.object(play_module, "SAY", Rate(1_000_000, 0.001)))
            patched.enter_context(patch.object(play_module, "BEGIN", Rate(1_000_000, 0.001)))
            patched.enter_context(patch.object(play_module, "JOIN", Rate(1_000_000, 0.001)))
            if not processes:
                patched.enter_context(patch.object(Tables, "_start", lambda _, *order: room.start(*order)))
            await room.serve()
            yield room
        nursery.cancel_scope.cancel()


async def play_whole(room: Room, game: str, seats: list[str], seed: int = 1) -> list[Message]:
    """Play a match whose seats are `me`, `friend` and bots. Return what each person was told of its outcome."""
    host = room.visitor()
    answer = await host.begin(game=game, pace="slow", seats=seats)
    assert answer.status_code == httpx.codes.OK, answer.text
    people = [host]
    for seat, each in enumerate(seats):
        if each == "friend":
            people.append(room.visitor())
            assert (await host.invite(people[-1], seat)).json() == {"ok": True}
    outcomes: list[Message] = []

    async def person(number: int, visitor: Visitor) -> None:
        outcomes.append(await visitor.play(visitor.line(), Random(f"{seed}/{number}")))

    async with trio.open_nursery() as nursery:
        for number, visitor in enumerate(people):
            nursery.start_soon(person, number, visitor)
    return outcomes


async def _main(game: str, folder: Path) -> None:
    async with open_room(folder) as room:
        for outcome in await play_whole(room, game, ["me", "friend"]):
            sys.stdout.write(f"{outcome['ranking']}\n")


if __name__ == "__main__":
    trio.run(partial(_main, sys.argv[1], Path(sys.argv[2])))
