"""Matches under every kind of clock, with bots that do anything at any time: replayed, and the sums come out."""

from random import Random

import pytest
import trio
import trio.testing

from protocol.codec import encode
from protocol.messages import Closed, Opened
from referee.match.terms import ClockTable, Policy
from referee.transcript.replayer import replay
from tests.referee.transcript.test_replayer import header
from tests.referee.virtual import Bot, Play, answering, play, set_up
from tests.referee.virtual_cores import Cores

CLOCKS = [
    ClockTable(kind=kind, **times)
    for kind in ("wall", "cpu")
    for times in (
        {"main_ms": 1_000},
        {"main_ms": 500, "reserve_ms": 2_000},
        {"budget_ms": 3_000},
        {"budget_ms": 2_000, "increment_ms": 100},
        {"budget_ms": 2_000, "delay_ms": 300},
        {"budget_ms": 2_000, "delay": "bronstein", "delay_ms": 300},
    )
]
EDGES = (0.1, 0.3, 0.5, 1.0, 2.0, 3.0)


def anything(rng: Random, cores: Cores, seat: int) -> Play:
    """A bot that submits, withdraws, works, rests, comes back and asks for pauses, often right on an edge."""

    async def script(bot: Bot, window: Opened) -> None:
        cell = {"cells": [rng.choice(["A1", "C3", "E5", "G7", "Z9"])]}
        for _ in range(rng.randrange(6)):
            cores.work(seat, rng.randrange(3))
            await trio.sleep(rng.choice([rng.choice(EDGES) + rng.choice((-0.001, 0, 0.001)), rng.random()]))
            match rng.randrange(8):
                case 0:
                    bot.undo(window.id)
                case 1:
                    bot.submit(window.id, None)
                case 2:
                    bot.hello()
                case 3:
                    bot.pause()
                case _:
                    bot.submit(window.id, cell, final=rng.random() < 0.3)

    return answering(script)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: f"{clock.kind}-{clock.budget_ms}-{clock.delay_ms}")
async def test_it_is_replayed_and_no_time_is_lost_or_won(
    clock: ClockTable, seed: int, autojump_clock: object
) -> None:
    rng, cores = Random(seed), Cores(2, cores=2)
    policy = Policy(pauses=3, pause_ms=400, pacing="fixed" if clock.main_ms and seed % 2 else "prompt")
    options = {"first": 0, "max_turns": 8}
    variant = "heaven-and-hell"
    played = set_up(2, variant=variant, options=options, clock=clock, policy=policy, cpu=cores.read)

    async def operator() -> None:
        for _ in range(4):
            await trio.sleep(rng.random() * 2)
            played.host.order(pause=True)
            await trio.sleep(rng.random())
            played.host.order(pause=False)

    with trio.fail_after(1_000):
        await play(played, [anything(rng, cores, 0), anything(rng, cores, 1)], operator)
    replayed = replay([header(played), *played.records])
    assert encode(played.match.ended) == encode(replayed.match.ended)
    for bot in played.bots:
        left = clock.budget_ms or clock.reserve_ms or 0
        for opened, closed in windows(bot):
            overdrawn = max(0, closed.charged_ms - opened.main_ms)
            given = clock.increment_ms
            if clock.delay == "bronstein":
                given += min(overdrawn, clock.delay_ms or 0)
            assert left == opened.reserve_ms
            assert closed.charged_ms <= opened.main_ms + left
            # Told are whole milliseconds, rounded down.
            assert abs(left - overdrawn + given - closed.reserve_ms) <= 1
            left = closed.reserve_ms


def windows(bot: Bot) -> list[tuple[Opened, Closed]]:
    """Each window of a bot's as it was first opened, and closed."""
    closed = {heard.window: heard for heard in bot.all_of(Closed)}
    opened: dict[int, Opened] = {}
    for heard in bot.all_of(Opened):
        opened.setdefault(heard.id, heard)
    return [(opened[number], closed[number]) for number in sorted(closed)]
