"""Golden transcripts: one match under each fault policy, in virtual time, kept to the byte.

`scripts/golden` rewrites them. The same bots play each: what differs between the files is the policy's doing.
"""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import trio
import trio.testing
from msgspec import Raw, to_builtins

from protocol.codec import encode
from protocol.messages import Opened, Over, Welcome
from referee.match.records import FORMAT, Header
from referee.match.terms import Policy, clock_terms
from referee.sandbox.meter import NOTHING
from referee.transcript.writer import open_transcript
from tests.referee.virtual import Bot, Play, Played, play, set_up

FOLDER = Path(__file__).parent
FAULTS: tuple[str, ...] = get_args(Policy.__annotations__["fault"])
CRASH_CODE = -9
AWAY_SECONDS = 3
"""From the crash to the `hello` of the bot that was started again."""


def path(fault: str) -> Path:
    """Where that policy's golden transcript is kept."""
    return FOLDER / f"fault.{fault}.jsonl"


async def write_transcript(fault: str, file: Path) -> None:
    """Plays the match under a policy and writes its transcript."""
    played = await _played(Policy(fault=fault))  # type: ignore[arg-type]
    async with open_transcript(file, _header(played)) as transcript:
        for record in played.records:
            transcript.append(record)


async def _played(policy: Policy) -> Played:
    """Six turns of Mist. Seat 0 crashes in its second; seat 1 lets its second pass.

    No two things happen at the same moment: trio runs what is ready at once in an order that is drawn.
    """
    started_again = trio.Event()
    played = set_up(
        2,
        variant="heaven-and-hell",
        options={"first": 0, "max_turns": 6},
        policy=policy,
        restart=lambda _seat: started_again.set(),
        measure=lambda _seat: NOTHING,
    )

    async def crashes(bot: Bot) -> None:
        bot.hello()
        await _says_much(bot, await bot.hear_a(Opened))
        window = await bot.hear_a(Opened)
        await trio.sleep(5)
        bot.submit(window.id, {"cells": ["D7"]}, final=False)
        await trio.sleep(1)
        await played.host.left(0, CRASH_CODE)
        await started_again.wait()
        await trio.sleep(AWAY_SECONDS)
        bot.hello()
        await bot.hear_a(Welcome)
        while True:
            window = await bot.hear_a(Opened)
            await trio.sleep(0.4)
            bot.submit(window.id, {"cells": ["A1"]})

    async def lets_one_pass(bot: Bot) -> None:
        await trio.sleep(0.5)
        bot.hello()
        for cell in ("G7", None, "I5"):
            window = await bot.hear_a(Opened)
            await trio.sleep(1.5)
            if cell is not None:
                bot.submit(window.id, {"cells": [cell]})
        await bot.hear_a(Over)

    return await play(played, [_until_hung_up(crashes), _until_hung_up(lets_one_pass)])


async def _says_much(bot: Bot, window: Opened) -> None:
    """Send a message of every kind, and three that are refused; then a submission that uses the reserve."""
    bot.note("größe")
    bot.line.say(b"\xff no text")
    bot.pause()
    bot.submit(window.id, {"cells": ["C3"]}, final=False)
    bot.submit(window.id, {"cells": ["Z9"]})
    await trio.sleep(2)
    bot.undo(window.id)
    await trio.sleep(70)
    bot.submit(window.id, {"cells": ["C3"]})


def _until_hung_up(script: Play) -> Play:
    async def play(bot: Bot) -> None:
        with suppress(trio.EndOfChannel):
            await script(bot)

    return play


def _header(played: Played) -> Header:
    table = played.match.table
    return Header(
        format=FORMAT,
        arena="golden",
        match=played.match.terms.match,
        game="mist",
        variant=table.deal.variant,
        seed=table.deal.seed,
        options=Raw(encode(table.options)),
        setup=Raw(encode(table.setup)),
        clock=clock_terms(table.game, table.deal.variant, played.policy),
        policy=to_builtins(played.policy),
        bots=tuple(seat.bot for seat in played.match.seats),
        isolation="none",
        machine="none",
        started="2025-01-01T00:00:00Z",
        measured=True,
        salts=("00" * 16, "11" * 16),
    )


def rewrite() -> None:
    """Rewrites every golden transcript as the referee now writes it."""
    for fault in FAULTS:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "m.jsonl"
            trio.run(write_transcript, fault, file, clock=trio.testing.MockClock(autojump_threshold=0))
            path(fault).write_bytes(file.read_bytes())


if __name__ == "__main__":
    rewrite()
