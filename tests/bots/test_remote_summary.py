"""What an author reads of his bot's match on another machine."""

from msgspec import Raw

from bots.remote.memory import Summary
from protocol.messages import (
    ClockTerms,
    Closed,
    Faulted,
    NoAction,
    Opened,
    Over,
    Rejected,
    ServerMessage,
    Submit,
    Welcome,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Outcome

WELCOME = Welcome(1, "cup-7", "mist", "v", 1, 2, {}, ClockTerms(main_ms={"w": 1}), 7)
LOST = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=None, scores={"0": 9, "1": 4}, reason="full")


def heard(*messages: ServerMessage | Submit) -> list[str]:
    summary = Summary()
    for message in messages:
        if isinstance(message, Submit):
            summary.say(message)
        else:
            summary.hear(message)
    return summary.lines()


def window(number: int, *, by_default: bool = False, charged_ms: int = 5) -> tuple[Opened, Closed]:
    opened = Opened(id=number, window="w", view=None, default=None, main_ms=1, reserve_ms=0)
    return opened, Closed(number, None, by_default=by_default, charged_ms=charged_ms, reserve_ms=0)


def test_a_match_without_mishaps_has_its_place_and_its_times() -> None:
    assert [
        "match cup-7, seat 1: place 2 of 2, score 4, full",
        "2 windows, 0 decided by default; the longest took 60 ms",
    ] == heard(WELCOME, *window(0), *window(1, charged_ms=60), Over(LOST))


def test_defaults_late_answers_and_refusals_are_counted_with_their_texts() -> None:
    opened, closed = window(1, by_default=True)
    refused = Rejected(1, Refusal.ILLEGAL, "unknown cell J9")
    messages = (opened, refused, refused, Submit(1, Raw(b"null"), final=True), closed)
    late = Rejected(0, Refusal.LATE, "too late")
    others = [Rejected(1, Refusal.ILLEGAL, f"unknown cell {number}") for number in range(4)]
    kinds = "illegal: unknown cell J9 (twice); illegal: unknown cell 0 (once); illegal: unknown cell 1 (once)"
    assert [
        "2 windows, 2 decided by default; the longest took 406 ms",
        "1 answer came too late",
        "the bot chose the default once",
        f"6 messages refused: {kinds}; others (twice)",
    ] == heard(WELCOME, *window(0, by_default=True, charged_ms=406), late, *messages, *others, Over(LOST))[1:]


def test_windows_without_a_decision_are_counted_by_their_cause() -> None:
    causes: tuple[NoAction, ...] = ("returned-nothing", "raised", "returned-nothing")
    messages: list[ServerMessage | Submit] = []
    for number, because in enumerate(causes):
        opened, closed = window(number, by_default=True)
        messages += [opened, Submit(number, Raw(b"null"), final=True, because=because), closed]
    assert [
        "3 windows, 3 decided by default; the longest took 5 ms",
        "decide returned nothing twice",
        "decide raised an error once",
    ] == heard(WELCOME, *messages, Over(LOST))[1:]


def test_a_bot_that_was_hung_up_on_has_the_reason_and_it_does_nothing_to_a_terminal() -> None:
    (first, _) = heard(WELCOME, Faulted(Fault.MISBEHAVED, "too \x1b[2J many"))
    assert r"match cup-7, seat 1: the host ended the match for this bot: misbehaved: too \x1b[2J many" == first


def test_before_the_match_there_is_nothing_to_say() -> None:
    assert [] == heard()
    assert heard(WELCOME)[0].endswith("not over when the bot's program ended")
