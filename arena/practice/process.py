"""The referee's process of one practice match, which the web server starts: `python -m arena.practice.process`.

It keeps what each person was told, so that a reload, a lost line or a restart of the web server brings a seat
back. When the match has ended, what each person was told is written into a file, and the process ends; the web
server shows the rest. It also ends when no person was there for some minutes.
"""

import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any

import msgspec
import trio

from arena import event_loop
from arena.config import BotCaps, find_entry
from arena.errors import MachineCannot, Stopped, WrongUse, as_wrong_use, errors_as_exits
from arena.practice.order import PACES, SLOW_MS
from arena.practice.person import Person, RefusedTextError, table_fields
from arena.practice.protocol import (
    READY,
    REPLAY,
    SOCKET,
    TRANSCRIPT,
    Assignment,
    listen,
    log_file,
)
from arena.practice.seat_server import SeatServer
from arena.replay import recorded
from arena.schedule import SEED_BITS
from arena.viewer import page_of
from arena.workers import demand_room, ready
from protocol.text import InputTerms
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
PAUSES, PAUSE_MS = 3, 300_000
STARTUP_MS = 30_000
"""Time of bots to start: these processes have a low priority."""
MOST_ASSIGNMENT = 64 * 1024
LATE_TEXT = "The free seat was not taken within ten minutes, so the match did not begin."
ABSENT_TEXT = "No person was here for ten minutes, so the match was stopped."


class PracticeMatch(SeatServer):
    """A practice match with its people, their streams and their links."""

    def __init__(self, folder: Path, assignment: Assignment) -> None:
        super().__init__(folder, assignment.holder, assignment.address)
        self.id = assignment.id
        self.terms = terms = assignment.terms
        people = [seat for seat, bot in enumerate(terms.bots) if not bot]
        self.seat(terms.game, terms.names, people, terms.seat)
        self._playing = trio.CancelScope()
        self._orders: trio.MemorySendChannel[bool] | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Play the match, and answer the web server until all have the last messages.

        It is started when the web server can connect.
        """
        self.store()
        listener = listen(self.folder)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(trio.serve_listeners, self.connected, [listener]))
                nursery.start_soon(self._stop_when_left)
                task_status.started()
                with self._playing:
                    await self._play()
                self._store_end()
                with trio.move_on_after(ENDING_SECONDS):
                    await self.end_streams()
                nursery.cancel_scope.cancel()
        finally:
            (self.folder / SOCKET).unlink(missing_ok=True)

    def _store_end(self) -> None:
        """Store what each person was told, and that the match has ended: it takes no place any more."""
        for seat, person in self.people.items():
            log = log_file(self.folder, seat)
            log.touch(0o600)
            log.write_bytes(person.log.whole())
        self.store()

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
                self.people_changed()
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
        pace = PACES[self.terms.pace]
        for seat, person in self.people.items():
            terms = InputTerms(plan.variant, options, seat)
            table = table_fields(plan.game, terms, match=plan.match, names=self.names, clock=clock, pace=pace)
            person.tell("table", title=self.title, **table)

    async def _everybody(self) -> bool:
        """Wait until each person has a stream. Return False if that takes too long."""
        with trio.move_on_after(ABSENT_SECONDS):
            while not all(self.watching.values()):
                await self.changed.wait()
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
        self.over = True
        self._store_end()
        is_made = False
        try:
            page = await trio.to_thread.run_sync(_replay, Path(result.transcript))
            (self.folder / REPLAY).write_bytes(page)
            is_made = True
        except Exception:  # noqa: BLE001 - a replay that cannot be made hides no result
            traceback.print_exc()
        for person in self.people.values():
            person.tell("replay", ready=is_made, href="replay")

    async def _stop_when_left(self) -> None:
        """Stop the match when no person was there for long."""
        while True:
            await trio.sleep(LOOK_SECONDS)
            now = trio.current_time()
            if any(self.watching.values()):
                self.last_seen = now
            away = now - self.last_seen
            if away > ABSENT_SECONDS:
                self.gone = ABSENT_TEXT
                self._playing.cancel()

    def resume(self, person: Person) -> None:
        """See `SeatServer`."""
        if not person.paused or self._orders is None:
            raise RefusedTextError("There is no pause of yours.")
        try:
            self._orders.send_nowait(False)
        except (trio.WouldBlock, trio.BrokenResourceError):
            raise RefusedTextError("Try again.") from None


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
