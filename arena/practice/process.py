"""The referee's process of one practice match, which the web server starts: `python -m arena.practice.process`.

It keeps what each person was told, so that a reload, a lost line or a restart of the web server brings a seat
back. When the match has ended, what each person was told is written into a file, and the process ends; the web
server shows the rest. It also ends when no person was there for some minutes.
"""

import secrets
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any, assert_never

import msgspec
import trio

from arena import event_loop
from arena.config import BotCaps, find_entry
from arena.errors import MachineCannot, Stopped, WrongUse, as_wrong_use, errors_as_exits
from arena.practice.order import PACES, SLOW_MS
from arena.practice.person import NotOpenError, Person, RefusedTextError, forms_of
from arena.practice.protocol import (
    MOST_REQUEST,
    READY,
    REPLAY,
    REQUEST_SECONDS,
    SOCKET,
    TRANSCRIPT,
    Answer,
    Assignment,
    Request,
    Said,
    SeatsFile,
    answer_of,
    hash_of,
    listen,
    log_file,
    read_line,
    seat_in,
    write_seats,
)
from arena.practice.seat_log import gone, unnumbered
from arena.replay import recorded
from arena.schedule import SEED_BITS
from arena.viewer import minute_of, page_of, runes_of
from arena.workers import demand_room, ready
from protocol.codec import Refused, decode_untrusted
from protocol.text import InputTerms, text_of
from referee.bot_folder import BotFolderError
from referee.games import GAMES
from referee.host import AttemptResult, LocalSeat, Plan, Player, SandboxedBot, play
from referee.match import ClockTable, Policy, clock_terms
from referee.rules import Addressed, Table
from referee.sandbox import Isolation, SandboxError, find_isolation
from referee.transcript import TranscriptReading

ABSENT_SECONDS = 600.0
"""Seconds after which a match without any person ends, and one whose seats are not all taken."""
ENDING_SECONDS = 10.0
"""Seconds in which open streams get the last messages when the match has ended."""
LOOK_SECONDS = 2.0
HEARTBEAT_SECONDS = 15.0
BATCH_BYTES = 64 * 1024
STREAMS_OF_SEAT = 8
"""Maximum streams of one seat: its tabs, and lines that broke without notice."""
MOST_CONNECTIONS = 400
MOST_PONGS = 16
STUCK_SECONDS = 40.0
"""Seconds for which a piece of a stream may wait for the web server."""
PAUSES, PAUSE_MS = 3, 300_000
STARTUP_MS = 30_000
"""Time of bots to start: these processes have a low priority."""
MOST_ASSIGNMENT = 64 * 1024
LATE_TEXT = "The free seat was not taken within ten minutes, so the match did not begin."
ABSENT_TEXT = "No person was here for ten minutes, so the match was stopped."


class Watching:
    """One stream of a seat: what it was sent, and what it still gets beside the log."""

    def __init__(self, after: int) -> None:
        self.next = after + 1
        self.pongs: list[bytes] = []
        self.news = trio.Event()
        self.people = -1
        """Version of the list of people that it was sent."""


class PracticeMatch:
    """A practice match with its people, their streams and their links."""

    def __init__(self, folder: Path, assignment: Assignment) -> None:
        self.folder = folder
        self.id = assignment.id
        self.terms = assignment.terms
        self._began = trio.current_time()
        self._assignment = assignment
        self.names = self.terms.names
        game = self.terms.game
        minute = minute_of(game)
        self.title = game
        if minute is not None:
            self.title = minute.title
        self.people = {
            seat: Person(seat, game=game, names=self.names, now=self.now, changed=partial(self._wake, seat))
            for seat, bot in enumerate(self.terms.bots)
            if not bot
        }
        holders = [""] * len(self.names)
        holders[self.terms.seat] = assignment.holder
        self.holders = tuple(holders)
        self._keys: dict[int, str] = {}
        """Hash of the secret of each free seat's link."""
        self._watching: dict[int, list[Watching]] = {seat: [] for seat in self.people}
        self._version = 0
        """Number of changes of the list of people."""
        self._changed = trio.Event()
        self._connections = 0
        self._last_seen = trio.current_time()
        self._playing = trio.CancelScope()
        self.has_ended = False
        """True if no more messages follow."""
        self.begun = False
        self.over = False
        self.gone = ""
        """Why the match ended without a result; "" if it did not."""
        self._orders: trio.MemorySendChannel[bool] | None = None
        self._left: Counter[int] = Counter()

    def now(self) -> int:
        """Return milliseconds on the referee's clock."""
        return round((trio.current_time() - self._began) * 1_000)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Play the match, and answer the web server until all have the last messages.

        It is started when the web server can connect.
        """
        self.store()
        listener = listen(self.folder)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(trio.serve_listeners, self._connected, [listener]))
                nursery.start_soon(self._stop_when_left)
                task_status.started()
                with self._playing:
                    await self._play()
                with trio.move_on_after(ENDING_SECONDS):
                    await self._end()
                nursery.cancel_scope.cancel()
        finally:
            (self.folder / SOCKET).unlink(missing_ok=True)

    def store(self) -> None:
        """Write to whom the seats belong."""
        write_seats(
            self.folder,
            SeatsFile(
                game=self.terms.game,
                title=self.title,
                holders=self.holders,
                made_by=self._assignment.holder,
                address=self._assignment.address,
                over=self.over,
                gone=self.gone,
            ),
        )

    async def _end(self) -> None:
        """Store what each person was told, and wait until the open streams have it."""
        for seat, person in self.people.items():
            log = log_file(self.folder, seat)
            log.touch(0o600)
            log.write_bytes(person.log.whole())
        self.store()  # From now on, the match takes no place any more.
        self.has_ended = True
        self._wake_all()
        while any(self._watching.values()):
            await self._changed.wait()

    # The match.

    async def _play(self) -> None:
        """Wait for the people, play, and make the replay. Whatever goes wrong is said on the page."""
        try:
            with errors_as_exits():
                isolation = await trio.to_thread.run_sync(self._isolation)
                players = await trio.to_thread.run_sync(self._players, isolation)
                plan = self._plan(isolation)
                self._tell_terms(plan)
                if not await self._everybody():
                    self.gone = LATE_TEXT
                    return
                self.begun = True
                self._people_changed()
                result = await self._played(plan, players)
            await self._finish(result)
        except (WrongUse, MachineCannot) as error:
            # The reason is the host's own; its paths are not the visitor's business.
            sys.stderr.write(f"{error.format_message()}\n")
            self.gone = "This machine cannot play the match now."
        except Exception:  # noqa: BLE001 - it is this match's alone, and its folder has the reason
            traceback.print_exc()
            self.gone = "The referee stopped by a fault of its own."

    def _isolation(self) -> Isolation:
        """Return the best isolation of this machine; without bots none is needed."""
        if not any(self.terms.bots):
            return "none"
        try:
            return find_isolation()
        except SandboxError as error:
            raise MachineCannot(str(error)) from None

    def _players(self, isolation: Isolation) -> list[Player]:
        """Return the players by seat, with their bots built."""
        with as_wrong_use(BotFolderError):
            folders = [find_entry(bot, self.terms.game, BotCaps()) for bot in self.terms.bots if bot]
        built = ready(folders, isolation)
        demand_room(built, isolation, seats=len(self.names), shares=[1], of_worker=False)
        bots = iter(built)
        players: list[Player] = []
        for seat, bot in enumerate(self.terms.bots):
            if bot:
                players.append(SandboxedBot(next(bots)))
            else:
                players.append(LocalSeat("person", self.people[seat].play))
        return players

    def _plan(self, isolation: Isolation) -> Plan:
        clock = None
        if self.terms.pace == "slow":
            clock = ClockTable(main_ms=SLOW_MS)
        return Plan(
            match=f"practice-{self.id}",
            game=self.terms.game,
            variant=self.terms.variant,
            seed=SystemRandom().getrandbits(SEED_BITS),
            policy=Policy(pauses=PAUSES, pause_ms=PAUSE_MS, startup_ms=STARTUP_MS, unfair="note"),
            clock=clock,
            isolation=isolation,
            labels=self.names,
        )

    def _tell_terms(self, plan: Plan) -> None:
        """Send each person the terms of the match."""
        game = GAMES[plan.game]
        clock = clock_terms(game, plan.variant, plan.policy, plan.clock)
        options: dict[str, Any] = msgspec.to_builtins(game.read_options(plan.variant, None))
        for seat, person in self.people.items():
            person.tell(
                "table",
                match=plan.match,
                game=plan.game,
                title=self.title,
                variant=plan.variant,
                seats=len(self.names),
                seat=seat,
                names=self.names,
                runes=runes_of(plan.game),
                pace=PACES[self.terms.pace],
                main_ms=clock.main_ms,
                reserve_ms=clock.reserve_ms,
                pauses=clock.pauses,
                pause_ms=clock.pause_ms,
                forms=forms_of(plan.game, InputTerms(plan.variant, options, seat)),
                rules=text_of(plan.game).rules(plan.variant),
            )

    async def _everybody(self) -> bool:
        """Wait until each person has a stream. Return False if that takes too long."""
        with trio.move_on_after(ABSENT_SECONDS):
            while not all(self._watching.values()):
                await self._changed.wait()
            return True
        return False

    async def _played(self, plan: Plan, players: Sequence[Player]) -> AttemptResult:
        """Play the match, while the people may pause it."""
        for person in self.people.values():
            person.tell("begun", text="The match begins.")
        self._orders, orders = trio.open_memory_channel[bool](8)
        return await play(plan, players, transcript=self.folder / TRANSCRIPT, watch=self._watch, operator=orders)

    def _watch(self, table: Table, told: Sequence[Addressed]) -> None:
        for person in self.people.values():
            person.saw(table, told)

    async def _finish(self, result: AttemptResult) -> None:
        """Tell the outcome, and make the replay."""
        if result.outcome is None:
            sys.stderr.write(f"{result.void}\n")
            self.gone = "The match does not count: something went wrong on this machine."
            return
        for person in self.people.values():
            person.hear_outcome(result.outcome)
        is_made = False
        try:
            page = await trio.to_thread.run_sync(_replay, Path(result.transcript))
            (self.folder / REPLAY).write_bytes(page)
            is_made = True
        except Exception:  # noqa: BLE001 - a replay that cannot be made hides no result
            traceback.print_exc()
        self.over = True
        for person in self.people.values():
            person.tell("replay", ready=is_made, href="replay")

    async def _stop_when_left(self) -> None:
        """Stop the match when no person was there for long."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            now = trio.current_time()
            if any(self._watching.values()):
                self._last_seen = now
            away = now - self._last_seen
            if away > ABSENT_SECONDS:
                self.gone = ABSENT_TEXT
                self._playing.cancel()

    # The web server's requests.

    async def _connected(self, stream: trio.SocketStream) -> None:
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
        elif len(self._watching[seat]) >= STREAMS_OF_SEAT:
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
                action, text = person.preview(said.window, said.text)
                return {"action": action, "text": text, "judged": True}
            case "submit":
                person.submit(said.window, said.text, final=said.final)
            case "done":
                person.finish(said.window)
            case "undo":
                person.undo(said.window)
            case "pause":
                person.pause()
            case "resume":
                self._resume(person)
            case "leave":
                person.leaving.cancel()
            case "ping":
                self._pong(seat, said.n)
            case "invite":
                return {"href": f"join#{self._invite(seat, said.seat)}"}
            case _ as unreachable:
                assert_never(unreachable)
        return {}

    def _resume(self, person: Person) -> None:
        """End the pause that the person asked for."""
        if not person.paused or self._orders is None:
            raise RefusedTextError("There is no pause of yours.")
        try:
            self._orders.send_nowait(False)
        except (trio.WouldBlock, trio.BrokenResourceError):
            raise RefusedTextError("Try again.") from None

    def _pong(self, seat: int, n: float) -> None:
        pong = unnumbered({"type": "pong", "at_ms": self.now(), "n": n})
        for watching in self._watching[seat]:
            if len(watching.pongs) < MOST_PONGS:
                watching.pongs.append(pong)
        self._wake(seat)

    def _invite(self, seat: int, other: int) -> str:
        """Return the secret of a new link for a free seat. It replaces the one before."""
        if seat != self.terms.seat or other not in self._free():
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
        self.store()
        self._people_changed()
        return answer_of(200, ok=True)

    # Streams.

    async def _stream(self, stream: trio.SocketStream, seat: int, watching: Watching) -> None:
        """Send a seat's messages until its browser has gone."""
        self._watching[seat].append(watching)
        self._last_seen = trio.current_time()
        self._people_changed()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_until_end, stream, nursery.cancel_scope)
                await self._send(stream, b"200 stream\n" + self._now())
                while await self._send_news(stream, seat, watching):
                    pass
                nursery.cancel_scope.cancel()
        finally:
            self._watching[seat].remove(watching)
            self._last_seen = trio.current_time()
            self._people_changed()

    async def _send_news(self, stream: trio.SocketStream, seat: int, watching: Watching) -> bool:
        """Send what is new, or wait for it. Return False after the last message."""
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
            here = kind == "bot" or bool(self._watching[number])
            seats.append(
                {"seat": number, "name": name, "kind": kind, "here": here, "taken": number not in self._free()}
            )
        may_invite = self._free() if seat == self.terms.seat else []
        return unnumbered(
            {"type": "people", "at_ms": self.now(), "seats": seats, "begun": self.begun, "may_invite": may_invite}
        )

    def _people_changed(self) -> None:
        self._version += 1
        self._wake_all()

    def _wake_all(self) -> None:
        self._changed.set()
        self._changed = trio.Event()
        for seat in self.people:
            self._wake(seat)

    def _wake(self, seat: int) -> None:
        for watching in self._watching[seat]:
            watching.news.set()


async def _until_end(stream: trio.SocketStream, sending: trio.CancelScope) -> None:
    """Cancel a stream when the web server closes it."""
    try:
        while await stream.receive_some(64):
            pass
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    sending.cancel()


def _replay(transcript: Path) -> bytes:
    """Return the page of a match's replay. Uses seconds of processor time."""
    return page_of(recorded(iter(TranscriptReading(transcript)), transcript), back=("./", "The match")).encode()


async def _run(folder: Path, assignment: Assignment) -> None:
    async with trio.open_nursery() as nursery:
        await nursery.start(PracticeMatch(folder, assignment).run)
        sys.stdout.buffer.write(READY)
        sys.stdout.buffer.flush()


def main() -> None:
    """Play the match of the folder that the command line names, as standard input says."""
    assignment = msgspec.json.decode(sys.stdin.buffer.read(MOST_ASSIGNMENT), type=Assignment)
    try:
        event_loop.run(partial(_run, Path(sys.argv[1]), assignment))
    except Stopped:
        sys.exit(1)


if __name__ == "__main__":
    main()
