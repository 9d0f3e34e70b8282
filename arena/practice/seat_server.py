"""Serves the seats of people in a match to the web server: requests, streams, and links to free seats.

Who plays the match is for subclasses: the referee in this process, or one on another machine.
"""

import secrets
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, assert_never

import trio

from arena.practice.person import NotOpenError, Person, RefusedTextError
from arena.practice.protocol import (
    MOST_REQUEST,
    REQUEST_SECONDS,
    Answer,
    Request,
    Said,
    SeatsFile,
    answer_of,
    hash_of,
    read_line,
    seat_in,
    write_seats,
)
from arena.practice.seat_log import gone, unnumbered
from arena.viewer import minute_of
from protocol.codec import Refused, decode_untrusted

HEARTBEAT_SECONDS = 15.0
BATCH_BYTES = 64 * 1024
STREAMS_OF_SEAT = 8
"""Maximum streams of one seat: its tabs, and lines that broke without notice."""
MOST_CONNECTIONS = 400
MOST_PONGS = 16
STUCK_SECONDS = 40.0
"""Seconds for which a piece of a stream may wait for the web server."""


class Watching:
    """One stream of a seat: what it was sent, and what it still gets beside the log."""

    def __init__(self, after: int) -> None:
        self.next = after + 1
        self.pongs: list[bytes] = []
        self.news = trio.Event()
        self.people = -1
        """Version of the list of people that it was sent."""
        self.has_moved = False
        """True if another match has taken the place of the stream's."""


class SeatServer:
    """The seats of people in one match."""

    def __init__(self, folder: Path, holder: str, address: str) -> None:
        """Create it without a seat.

        Args:
            folder: the match's own, for the socket and the file of the seats.
            holder: hash of the secret of the owner's browser; "" if it is not known yet.
            address: the address by which the owner is counted; "" for this machine's own.
        """
        self.folder = folder
        self.holder = holder
        self.address = address
        self.own = 0
        """The owner's seat."""
        self.game = self.title = ""
        self.names: tuple[str, ...] = ()
        """Names of all seats for people."""
        self.people: dict[int, Person] = {}
        self.holders: tuple[str, ...] = ()
        """Hash of the secret of each seat's browser; "" for a bot's seat, and for one that is free."""
        self.begun = False
        self.over = False
        self.gone = ""
        """Why the match ended without a result; "" if it did not."""
        self.has_ended = False
        """True if no more messages follow."""
        self.changed = trio.Event()
        """Set when somebody comes or goes; a new event takes its place."""
        self.watching: dict[int, list[Watching]] = {}
        """Streams, by seat."""
        self.last_seen = trio.current_time()
        """Time when a stream was last open, by trio's clock."""
        self._began = trio.current_time()
        self._keys: dict[int, str] = {}
        """Hash of the secret of each free seat's link."""
        self._version = 0
        """Number of changes of the list of people."""
        self._connections = 0

    def now(self) -> int:
        """Return milliseconds on the referee's clock."""
        return round((trio.current_time() - self._began) * 1_000)

    def seat(self, game: str, names: Sequence[str], people: Iterable[int], own: int) -> None:
        """Give seats to people: the owner's, and others that are free.

        Args:
            game: name of the game.
            names: names of all seats for people.
            people: the seats of people.
            own: the owner's seat.
        """
        minute = minute_of(game)
        self.game, self.own = game, own
        self.title = game if minute is None else minute.title
        self.names = tuple(names)
        self.people = {
            seat: Person(seat, game=game, names=self.names, now=self.now, changed=partial(self._wake, seat))
            for seat in people
        }
        self.holders = tuple(self.holder if seat == own else "" for seat in range(len(names)))
        self.watching = {seat: [] for seat in self.people}

    def store(self) -> None:
        """Write to whom the seats belong."""
        write_seats(
            self.folder,
            SeatsFile(
                game=self.game,
                title=self.title,
                holders=self.holders,
                made_by=self.holder,
                address=self.address,
                over=self.over,
                gone=self.gone,
            ),
        )

    def resume(self, person: Person) -> None:
        """End the pause that a person asked for.

        Raises:
            RefusedTextError: there is none, or it cannot be ended here.
        """
        raise NotImplementedError

    async def connected(self, stream: trio.SocketStream) -> None:
        """Answer a connection of the web server."""
        if self._connections >= MOST_CONNECTIONS:
            await trio.aclose_forcefully(stream)
            return
        self._connections += 1
        try:
            async with stream:
                await self._serve(stream)
        except* (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError, Refused):
            pass  # The web server has gone, or the browser has.
        finally:
            self._connections -= 1

    async def _serve(self, stream: trio.SocketStream) -> None:
        """Answer the request of one connection."""
        with trio.fail_after(REQUEST_SECONDS):
            found = await read_line(stream, MOST_REQUEST)
        if found is None:
            return
        request = decode_untrusted(found[0], Request)
        if request.do != "stream":
            answer = self._answer(request)
            await self._send(stream, b"%d %b\n" % (answer.status, answer.body))
            return
        seat = seat_in(self.holders, request.holder)
        if seat is None:
            await self._send(stream, b"403 {}\n")
        elif len(self.watching[seat]) >= STREAMS_OF_SEAT:
            await self._send(stream, b"429 {}\n")
        else:
            await self._stream(stream, seat, Watching(request.after))

    def _answer(self, request: Request) -> Answer:
        if request.do == "join":
            return self._join(request)
        seat = seat_in(self.holders, request.holder)
        if seat is None:
            return answer_of(403, ok=False, text="This seat is not yours.")
        if request.said is None:
            return answer_of(400, ok=False, text="Nothing was said.")
        try:
            return answer_of(200, ok=True, **self._do(seat, request.said))
        except NotOpenError as closed:
            return answer_of(409, ok=False, text=str(closed))
        except RefusedTextError as refused:
            return answer_of(200, ok=False, text=str(refused))

    def _do(self, seat: int, said: Said) -> dict[str, Any]:
        """Do what a person asks for, and return the fields of the answer."""
        person = self.people[seat]
        match said.do:
            case "preview":
                shown = person.preview(said.window, said.text)
                return {"action": shown.action, "text": shown.text, "effect": shown.effect}
            case "submit":
                person.submit(said.window, said.text, final=said.final)
            case "done":
                person.finish(said.window)
            case "undo":
                person.undo(said.window)
            case "pause":
                person.pause()
            case "resume":
                self.resume(person)
            case "leave":
                person.leaving.cancel()
            case "ping":
                self._pong(seat, said.n)
            case "invite":
                return {"href": f"join#{self._invite(seat, said.seat)}"}
            case _ as unreachable:
                assert_never(unreachable)
        return {}

    def _pong(self, seat: int, n: float) -> None:
        pong = unnumbered({"type": "pong", "at_ms": self.now(), "n": n})
        for watching in self.watching[seat]:
            if len(watching.pongs) < MOST_PONGS:
                watching.pongs.append(pong)
        self._wake(seat)

    def _invite(self, seat: int, other: int) -> str:
        """Return the secret of a new link for a free seat. It replaces the one before."""
        if seat != self.own or other not in self._free():
            raise RefusedTextError("You cannot give that seat away.")
        secret = secrets.token_urlsafe(32)
        self._keys[other] = hash_of(secret)
        return secret

    def _free(self) -> list[int]:
        return [seat for seat in self.people if not self.holders[seat]]

    def _join(self, request: Request) -> Answer:
        """Give a free seat to the browser that has its link's secret."""
        keys = tuple(self._keys.get(seat, "") for seat in range(len(self.names)))
        seat = seat_in(keys, request.key)
        own = seat_in(self.holders, request.holder)
        if own is not None:
            if seat is None or seat == own:
                return answer_of(200, ok=True)
            return answer_of(409, ok=False, text="You have another seat of this match: open the link elsewhere.")
        if seat is None or not request.holder:
            return answer_of(403, ok=False, text="This link does not lead to a seat: ask for a new one.")
        if seat not in self._free():
            return answer_of(409, ok=False, text="Somebody else has taken this seat.")
        holders = list(self.holders)
        holders[seat] = request.holder
        self.holders = tuple(holders)
        del self._keys[seat]
        if seat == self.own:
            self.holder = request.holder
        self.store()
        self.people_changed()
        return answer_of(200, ok=True)

    async def _stream(self, stream: trio.SocketStream, seat: int, watching: Watching) -> None:
        """Send a seat's messages until its browser has gone."""
        streams = self.watching[seat]
        streams.append(watching)
        self.last_seen = trio.current_time()
        self.people_changed()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_until_end, stream, nursery.cancel_scope)
                await self._send(stream, b"200 stream\n" + self._now())
                while await self._send_news(stream, seat, watching):
                    pass
                nursery.cancel_scope.cancel()
        finally:
            streams.remove(watching)
            self.last_seen = trio.current_time()
            self.people_changed()

    async def _send_news(self, stream: trio.SocketStream, seat: int, watching: Watching) -> bool:
        """Send what is new, or wait for it. Return False after the last message."""
        if watching.has_moved:
            await self._send(stream, unnumbered({"type": "moved"}))
            return False
        watching.news = trio.Event()
        data, watching.next = self.people[seat].log.since(watching.next, BATCH_BYTES)
        if watching.people != self._version:
            watching.people = self._version
            data += self._people(seat)
        data += b"".join(watching.pongs)
        watching.pongs.clear()
        if data:
            await self._send(stream, data)
        elif self.has_ended:
            await self._send(stream, gone(self.gone))
            return False
        else:
            with trio.move_on_after(HEARTBEAT_SECONDS) as waiting:
                await watching.news.wait()
            if waiting.cancelled_caught:
                await self._send(stream, self._now())
        return True

    async def _send(self, stream: trio.SocketStream, data: bytes) -> None:
        with trio.fail_after(STUCK_SECONDS):
            await stream.send_all(data)

    def _now(self) -> bytes:
        return unnumbered({"type": "now", "at_ms": self.now()})

    def _people(self, seat: int) -> bytes:
        """Return the list of all players, as a person may know it."""
        seats = []
        for number, name in enumerate(self.names):
            kind = "bot"
            if number == seat:
                kind = "you"
            elif number in self.people:
                kind = "person"
            here = kind == "bot" or bool(self.watching[number])
            seats.append(
                {"seat": number, "name": name, "kind": kind, "here": here, "taken": number not in self._free()}
            )
        may_invite = self._free() if seat == self.own else []
        return unnumbered(
            {"type": "people", "at_ms": self.now(), "seats": seats, "begun": self.begun, "may_invite": may_invite}
        )

    def people_changed(self) -> None:
        """Tell all streams that somebody came or went."""
        self._version += 1
        self.wake_all()

    def wake_all(self) -> None:
        """Let all streams look for news."""
        self.changed.set()
        self.changed = trio.Event()
        for seat in self.people:
            self._wake(seat)

    async def end_streams(self) -> None:
        """Tell all streams that no more messages follow, and wait until they have ended."""
        self.has_ended = True
        self.wake_all()
        while any(self.watching.values()):
            await self.changed.wait()

    def _wake(self, seat: int) -> None:
        for watching in self.watching[seat]:
            watching.news.set()


async def _until_end(stream: trio.SocketStream, sending: trio.CancelScope) -> None:
    """Cancel a stream when the web server closes it."""
    try:
        while await stream.receive_some(64):
            pass
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    sending.cancel()
