"""Puts the windows of one seat of a match to another bot, in order and with the same events between them.

The bot is started as for a match, and plays one of the game `interview.Interview`, whose other seats are empty.
"""

import secrets
from collections.abc import Iterable
from pathlib import Path

import trio
from msgspec.structs import replace

from referee.bot_folder import BotFolder
from referee.host.interview import ALL_ASKED, Interview, Interviewed, Questionnaire, interviewed, questions_of
from referee.host.observers import MatchLog
from referee.host.one_match import LocalMatch
from referee.host.plan import Plan
from referee.host.players import ConsoleSeat, ProcessSeat, SeatDriver
from referee.linux.shortage import unwrapped
from referee.log import SILENT
from referee.match import LONGEST_MS, AnyRecord, BotIdentity, Policy, Record
from referee.rules import Addressed, Deal, Table
from referee.sandbox import Isolation, Terminal
from referee.wire import MemoryLine, Wire


async def ask(
    bot: BotFolder, records: Iterable[AnyRecord], seat: int | None, terms: Plan, *, log: Path, wire: Wire
) -> Interviewed:
    """Put all windows of a seat to a bot. A seat whose bot never sent `hello` has none.

    Args:
        bot: the bot.
        records: see `interview.questions_of`.
        seat: the seat; see `interview.questions_of`.
        terms: the plan of a match under whose terms the bot is started: its isolation, and of its policy the
            start-up time, the bounds on messages, and whether bots may ponder.
        log: see `sandbox.start`.
        wire: the process's wire.

    Raises:
        Differs: the rules contradict the transcript, or it has no such seat.
        TranscriptError: the transcript cannot be read, or was changed.
        SandboxError: the requested isolation is not available.
        OSError: the machine has run out of something.
    """
    # In a thread: a match is replayed, and other tasks must run.
    asked = await trio.to_thread.run_sync(questions_of, records, seat)
    if asked is None:
        return Interviewed(())
    plan = _plan(asked, policy=terms.policy, isolation=terms.isolation, warm=terms.warm)
    who = stand_in(asked, secrets.token_hex(16))
    player = ProcessSeat(asked.welcome.seat, who, bot, plan=plan, wire=wire, log=log)
    return await reask(asked, player, plan)


async def ask_at_terminal(
    bot: BotFolder, asked: Questionnaire, terminal: Terminal, *, log: Path, wire: Wire
) -> Interviewed:
    """Put all windows to a bot outside the sandbox, at its author's terminal, without a clock.

    `log` must be a path in a writable folder, although no log is written there. The rest is as in `ask`.

    Raises:
        OSError: the machine has run out of something.
    """
    plan = _plan(asked, policy=Policy(), isolation="none", warm=False)
    who = stand_in(asked, secrets.token_hex(16))
    player = ProcessSeat(asked.welcome.seat, who, bot, plan=plan, wire=wire, log=log, terminal=terminal)
    return await reask(asked, player, plan, unlimited=True)


def _plan(asked: Questionnaire, *, policy: Policy, isolation: Isolation, warm: bool) -> Plan:
    return Plan(
        match=asked.welcome.match,
        game=asked.welcome.game,
        variant=asked.welcome.variant,
        seed=0,
        policy=policy,
        isolation=isolation,
        warm=warm,
    )


def stand_in(asked: Questionnaire, token: str) -> BotIdentity:
    """Return the identity of a bot in the place of the original: with the same seed, and a token of its own."""
    return BotIdentity(name="", version="", content="", seed=asked.welcome.seed, token=token)


async def reask(asked: Questionnaire, player: SeatDriver, plan: Plan, *, unlimited: bool = False) -> Interviewed:
    """Put all windows to a player; see `ask`. It has the original's seat and its `stand_in` identity.

    If `unlimited`, no window runs out of time, whatever times the bot is shown.
    """
    policy = replace(plan.policy, pauses=0, fault="default", unfair="note")
    if unlimited:
        policy = replace(policy, startup_ms=LONGEST_MS)
    one = _Asking(asked, player, replace(plan, policy=policy), unlimited=unlimited)
    try:
        with unwrapped():
            await one.run()
    finally:
        player.close()
        one.release()
    return interviewed(asked, one.records)


class _Asking(LocalMatch):
    """A match of the game `Interview`, ended after the last question. Its records are not written to a file."""

    def __init__(self, asked: Questionnaire, player: SeatDriver, plan: Plan, *, unlimited: bool) -> None:
        table = Table(Interview(asked, unlimited=unlimited), Deal(plan.variant, plan.seed))
        players = [ConsoleSeat(seat, stand_in(asked, ""), _leave) for seat in range(table.seats)]
        here = [*players[: player.seat], player, *players[player.seat + 1 :]]
        super().__init__(plan, table, here, asked.welcome.clock, MatchLog(SILENT, plan, [""] * table.seats))
        self.records: list[Record] = []
        self.record = self.records.append

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchHooks`."""
        del told
        if self.table.window is None:
            self.host.abort(ALL_ASKED)


async def _leave(line: MemoryLine) -> None:
    """Leave an empty seat at once."""
