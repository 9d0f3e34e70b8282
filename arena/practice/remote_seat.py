"""A person's seat in the matches that another machine hosts, for a browser of this machine.

`arena remote join ENDPOINT browser` serves it. For each match the relay (`bots.remote`) starts a program in the
bot's place, which carries lines between the relay and the seat's socket: `bots.remote.pipe`. The page of the seat
stays the same from match to match. The host is not trusted: what is no message ends the match for this seat.
"""

import os
import secrets
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Raw

from arena.practice.person import Person, RefusedTextError, table_fields
from arena.practice.protocol import SOCKET, hash_of, listen, read_line
from arena.practice.seat_server import SeatServer
from protocol.codec import Refused, decode_server_message, encode
from protocol.messages import Welcome
from protocol.text import InputTerms
from referee.bot_folder import FILE
from referee.games import GAMES

PIPE = "pipe"
"""Folder of the socket of the program in the bot's place, within that of the seat."""
UNREAD_FRAMES = 1_000
"""Maximum messages of either side that wait for the other."""
MOST_FRAME = 1024 * 1024
"""Maximum bytes of a message: the relay takes no longer one."""
ENDING_SECONDS = 5.0
"""Seconds in which open pages are told that no match follows."""
WAITING = "The host's next match begins on this page by itself."
OVER = "The host has no more matches for this seat."


def write_pipe_bot(bot: Path, seat: Path) -> None:
    """Make the folder of a bot that carries lines to a seat's socket; the relay starts it for each match."""
    bot.mkdir(0o700)
    place = os.path.relpath(seat / PIPE / SOCKET, bot)  # A socket's path may have 107 bytes.
    command = ["python", "-P", "-m", "bots.remote.pipe", place]
    lines = (
        'name = "person"',
        'version = "1"',
        'transport = "stdio"',
        f"command = {encode(command).decode()}",
        "",
    )
    (bot / FILE).write_text("\n".join(lines))


class PipeLine:
    """The line to the relay: each message is a line of JSON."""

    def __init__(self, stream: trio.SocketStream, rest: bytes) -> None:
        """`rest`: what was read of the stream already."""
        self._stream = stream
        self._rest = rest
        self._heard_in, self._heard = trio.open_memory_channel[bytes](UNREAD_FRAMES)
        self._said, self._said_out = trio.open_memory_channel[bytes](UNREAD_FRAMES)

    def say(self, frame: bytes) -> None:
        """See `SeatLine`."""
        self._said.send_nowait(frame)

    async def hear(self) -> bytes:
        """See `SeatLine`."""
        return await self._heard.receive()

    def hear_nowait(self) -> bytes | None:
        """See `SeatLine`."""
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            return self._heard.receive_nowait()
        return None

    async def read(self) -> None:
        """Read messages until the relay closes the line, or sends too much at once."""
        async with self._heard_in:
            with suppress(trio.BrokenResourceError):
                while (found := await read_line(self._stream, MOST_FRAME, self._rest)) is not None:
                    frame, self._rest = found
                    await self._heard_in.send(frame)

    async def write(self) -> None:
        """Write messages until cancelled."""
        with suppress(trio.BrokenResourceError):
            async for frame in self._said_out:
                await self._stream.send_all(frame + b"\n")


class RemoteSeat(SeatServer):
    """A person's seat in the matches of one host."""

    def __init__(self, folder: Path) -> None:
        """Create a seat that waits for a match. `folder`: its own; see `Tables`."""
        super().__init__(folder, "", "")
        self.seat("", ("you",), [0], 0)
        self.title = "A match on another machine"
        self.key = secrets.token_urlsafe(32)
        """Secret of the link to the seat."""
        self._keys[0] = hash_of(self.key)
        self._is_busy = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve the seat until cancelled. It is started when the relay and the web server can connect."""
        (self.folder / PIPE).mkdir(0o700)
        self.store()
        pipe, web = listen(self.folder / PIPE), listen(self.folder)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(trio.serve_listeners, self._match, [pipe]))
                nursery.start_soon(partial(trio.serve_listeners, self.connected, [web]))
                task_status.started()
        finally:
            (self.folder / SOCKET).unlink(missing_ok=True)

    async def end(self) -> None:
        """Tell the open pages that no match follows."""
        self.gone = OVER
        with trio.move_on_after(ENDING_SECONDS):
            await self.end_streams()

    def resume(self, person: Person) -> None:
        """See `SeatServer`."""
        del person
        raise RefusedTextError("The host ends the pause.")

    async def _match(self, stream: trio.SocketStream) -> None:
        """Play a match, which begins when the relay starts the program in the bot's place."""
        async with stream:
            if self._is_busy:
                return
            self._is_busy = True
            try:
                await self._play(stream)
            except* trio.BrokenResourceError:
                pass  # The relay has gone.
            finally:
                self._is_busy = False

    async def _play(self, stream: trio.SocketStream) -> None:
        found = await read_line(stream, MOST_FRAME)
        if found is None:
            return
        try:
            welcome = decode_server_message(found[0])
            if not isinstance(welcome, Welcome):
                return
            self._begin(welcome)
        except Exception:  # noqa: BLE001 - whatever a host sends, the seat waits for the next match
            traceback.print_exc()
            return
        person, line = self.people[self.own], PipeLine(stream, found[1])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(line.read)
            nursery.start_soon(line.write)
            try:
                await person.sit(line)
            except (msgspec.MsgspecError, Refused, ValueError, LookupError, RecursionError):
                traceback.print_exc()
                person.tell("fault", reason="host", text="The host has sent what is no message of this game.")
            if not person.over:
                person.tell("fault", reason="host", text="The line to the host has ended.")
            nursery.cancel_scope.cancel()

    def _begin(self, welcome: Welcome) -> None:
        """Let the seat's page show a new match."""
        game = GAMES[welcome.game]
        read = game.read_options(welcome.variant, Raw(encode(welcome.options)))
        if welcome.seats != game.seats(read) or welcome.seat not in range(welcome.seats):
            raise ValueError(f"seat {welcome.seat} of {welcome.seats}")
        names = [f"seat {seat}" for seat in range(welcome.seats)]
        options: dict[str, Any] = msgspec.to_builtins(read)
        terms = InputTerms(welcome.variant, options, welcome.seat)
        clock, pace = welcome.clock, "the host's times"
        table = table_fields(welcome.game, terms, match=welcome.match, names=names, clock=clock, pace=pace)
        streams = self.watching[self.own]
        self.seat(welcome.game, names, [welcome.seat], welcome.seat)
        if not self.holder:
            self._keys = {welcome.seat: hash_of(self.key)}
        self.begun = True
        self.store()
        person = self.people[self.own]
        person.tell("table", title=self.title, waits=WAITING, **table)
        person.tell("begun", text="The match begins.")
        for each in streams:
            each.has_moved = True
            each.news.set()
