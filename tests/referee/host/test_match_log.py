"""What the operator's log says of a match, under virtual time: each event once, and no secret before its end."""

import json
from collections.abc import Callable
from typing import Any

import trio
from structlog import ReturnLogger, make_filtering_bound_logger, wrap_logger
from structlog.testing import LogCapture
from trio.testing import MockClock

from protocol.messages import Opened
from referee.host.observers import MAX_REFUSALS, MatchLog
from referee.host.plan import Plan
from referee.log import SILENT
from referee.match.terms import Policy
from tests.referee.virtual import Bot, Play, Played, answering, hear_out, play, set_up

SECRETS = ("token-", "SECRET", "C3", "cells")
PLAN = Plan(match="m", game="mist", variant="contractual-obligation", seed=2**52 + 11, block=4)


class Log:
    """A match's log and what it was told."""

    def __init__(self) -> None:
        self._capture = LogCapture()
        logger = wrap_logger(ReturnLogger(), [self._capture], make_filtering_bound_logger(20), dict).bind()
        self.match = MatchLog(logger, PLAN, ("a", "b"))

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [dict(entry) for entry in self._capture.entries]

    def of(self, *events: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] in events]


def ready(log: Log, turns: int = 4, **policy: Any) -> Played:
    options = {"first": 0, "max_turns": turns}
    return set_up(2, options=options, policy=Policy(**policy), log=log.match)


def places(cell: str) -> Play:
    async def script(bot: Bot, window: Opened) -> None:
        await trio.sleep(1)
        bot.submit(window.id, {"cells": [cell]})

    return answering(script)


def tells_all(bot: Bot) -> Callable[[str], None]:
    """Has a bot say all it knows, in every way that is refused."""

    def tell(text: str) -> None:
        bot.line.say(b'{"type":"submit","%b":1}' % text.encode())
        bot.line.say(text.encode())
        bot.note(text * 2_000)
        bot.submit(99, {"cells": [text]})
        bot.submit(0, {text: text})

    return tell


async def test_no_line_before_the_end_contains_messages_or_actions_of_bots(autojump_clock: MockClock) -> None:
    log = Log()
    played = ready(log)

    async def script(bot: Bot, window: Opened) -> None:
        for text in ("SECRET", bot.token, json.dumps(window.view)):
            tells_all(bot)(text)
        bot.submit(window.id, {"cells": ["C3"]})
        bot.hello()

    await play(played, [answering(script), places("D4")])
    assert {"hello", "refused"} <= {line["event"] for line in log.lines}
    text = json.dumps(log.lines)
    assert [] == [secret for secret in SECRETS if secret in text]
    assert str(PLAN.seed) not in text
    assert all({"m", 4} == {line["match"], line["block"]} for line in log.lines)


async def test_matches_that_differ_in_what_bots_do_have_the_same_log_until_they_are_over(
    autojump_clock: MockClock,
) -> None:
    logs = []
    for cells in (("A1", "I5"), ("C3", "G2")):
        log = Log()
        await play(ready(log), [places(cell) for cell in cells])
        logs.append(sorted(log.lines, key=lambda line: line["seat"]))  # Whose task runs first, trio draws.
    assert logs[0] == logs[1]
    assert ["hello", "hello"] == [line["event"] for line in logs[0]]


async def test_refusals_and_late_answers_are_told_by_their_word_so_many_of_each_bot(
    autojump_clock: MockClock,
) -> None:
    log = Log()
    done: list[Opened] = []

    async def late(bot: Bot, window: Opened) -> None:
        if not done:
            done.append(window)
            await trio.sleep(61)
            bot.submit(window.id, {"cells": ["C3"]})
            for _ in range(2 * MAX_REFUSALS):
                bot.line.say(b"garbage")

    await play(ready(log), [answering(late), places("D4")])
    (answer,) = log.of("late_answer")
    assert ("late", 0, "a", 61_000) == (answer["refusal"], answer["seat"], answer["bot"], answer["at_ms"])
    assert ["malformed"] * (MAX_REFUSALS - 1) == [line["refusal"] for line in log.of("refused")]


async def test_a_death_a_pause_and_a_bot_that_is_hung_up_on_have_one_event_each(autojump_clock: MockClock) -> None:
    log = Log()
    played = ready(log, startup_ms=5_000, fault="default")

    async def operator() -> None:
        await trio.sleep(0.5)
        played.host.order(pause=True)
        await trio.sleep(5)
        played.host.order(pause=False)
        await played.host.left(0, -9, "killed: memory over 64 MB")

    async def wrong(bot: Bot) -> None:
        bot.hello("not-it")
        await hear_out(bot)

    await play(played, [places("C3"), wrong], operator)
    events = {(line["event"], line.get("seat")) for line in log.lines}
    assert {("hello", 0), ("bot_hung_up_on", 1), ("paused", None), ("resumed", None), ("bot_left", 0)} == events
    assert len(log.lines) == len(events)
    (left,) = log.of("bot_left")
    assert ("killed", "SIGKILL", "killed: memory over 64 MB") == (left["cause"], left["signal"], left["why"])
    assert "wrong-token" == log.of("bot_hung_up_on")[0]["fault"]


async def test_a_match_without_a_log_hands_its_records_to_the_transcript_alone(autojump_clock: MockClock) -> None:
    """So that nobody pays for what nobody reads."""
    played = set_up(2, log=MatchLog(SILENT, PLAN, ("a", "b")))
    assert played.records.append == played.host.record
