"""To a bot on its author's own machine there was no cut: it hears everything once, and its word stands."""

import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bots.remote import memory as limits
from bots.remote.memory import MOST_FRAME_BYTES, Bounds, HostError, Memory
from bots.remote.news import News
from protocol.codec import encode
from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    Over,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Undo,
    Welcome,
)
from protocol.news import Dismissed, TranscriptPart
from protocol.refusals import Fault, Refusal
from protocol.words import Outcome
from tests.bots.test_remote_news import REPORT
from tests.builders import messages
from tests.builders.messages import opened

OUTCOME = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=None, scores={"0": 3}, reason="x")
CONVERSATIONS = 200
"""Of each seed in the fuzz test."""
HELLO = encode(Hello(token="t", name="b", version="1", protocol=1))
NOTHING: tuple[list[bytes], list[bytes]] = ([], [])


def welcome(*told: object) -> Welcome:
    return messages.welcome(told=told)


def submit(window: int, action: object) -> bytes:
    return encode({"type": "submit", "window": window, "action": action})


def hears(memory: Memory, *messages: ServerMessage) -> tuple[list[bytes], list[bytes]]:
    """Say a host's messages; return what goes to the bot, and what goes back to the host."""
    to_bot, to_host = [], []
    for message in messages:
        bot, host = memory.hear(encode(message))
        to_bot += bot
        to_host += host
    return to_bot, to_host


def playing() -> Memory:
    """Begin a match in which two events were told and window 0 is open."""
    memory = Memory()
    assert NOTHING == hears(memory, Invited("t"))
    assert HELLO == memory.say(HELLO)
    begun: list[ServerMessage] = [welcome(), EventMessage(0, "a"), EventMessage(1, "b"), opened(0)]
    assert ([encode(each) for each in begun], []) == hears(memory, *begun)
    return memory


def test_an_invitation_is_not_for_the_bot_and_names_the_token() -> None:
    memory = Memory()
    assert NOTHING == hears(memory, Invited("t"))
    assert "t" == memory.token


def test_back_in_the_match_hello_is_said_again_and_the_bot_hears_what_it_missed_once() -> None:
    memory = playing()
    assert ([], [HELLO]) == hears(memory, Invited("t"))
    assert NOTHING == hears(memory, EventMessage(2, "c"))
    missed = [
        encode(EventMessage(2, "c")),
        encode(EventMessage(3, "d")),
        encode(opened(1)),
        encode(EventMessage(4, "e")),
    ]
    assert (missed, []) == hears(memory, welcome("a", "b", "c", "d"), opened(1), EventMessage(4, "e"))


def test_a_window_that_the_bot_knows_is_not_shown_again() -> None:
    memory = playing()
    assert ([], [HELLO]) == hears(memory, Invited("t"), welcome("a", "b"), opened(0))


def test_the_last_submission_is_sent_again() -> None:
    memory = playing()
    for frame in (submit(0, 1), submit(0, 2)):
        assert frame == memory.say(frame)
    assert ([], [HELLO, submit(0, 2)]) == hears(memory, Invited("t"), welcome("a", "b"), opened(0))


def test_an_undo_is_sent_again() -> None:
    memory = playing()
    undo = encode(Undo(window=0))
    for frame in (submit(0, 1), undo):
        memory.say(frame)
    assert ([], [HELLO, undo]) == hears(memory, Invited("t"), welcome("a", "b"), opened(0))


def test_an_answer_to_a_repeated_submission_is_not_passed_to_the_bot() -> None:
    memory = playing()
    memory.say(submit(0, 1))
    hears(memory, Invited("t"), welcome("a", "b"), opened(0))
    assert NOTHING == hears(memory, Rejected(0, Refusal.FINAL, ""))
    illegal = Rejected(0, Refusal.ILLEGAL, "")
    assert ([encode(illegal)], []) == hears(memory, illegal)


def test_a_submission_to_a_closed_window_is_not_sent_again() -> None:
    memory = playing()
    memory.say(submit(0, 1))
    hears(memory, opened(1))
    assert ([], [HELLO]) == hears(memory, Invited("t"), welcome("a", "b"), opened(1))


def test_a_cut_before_its_first_hello_is_no_cut() -> None:
    memory = Memory()
    assert NOTHING == hears(memory, Invited("t"), Invited("t"))
    memory.say(HELLO)
    assert ([encode(welcome())], []) == hears(memory, welcome())


def test_another_token_is_another_match() -> None:
    memory = playing()
    assert NOTHING == hears(memory, Invited("u"))
    assert (encode(Invited("u")), "t") == (memory.elsewhere, memory.token)


def test_the_last_word_is_noticed_even_before_the_welcome() -> None:
    memory = playing()
    fault = Faulted(Fault.MISBEHAVED, "too many hellos")
    assert ([encode(fault)], [HELLO]) == hears(memory, Invited("t"), fault)
    assert memory.over
    memory = playing()
    hears(memory, Over(Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=None, scores=None, reason="x")))
    assert memory.over


def test_unknown_messages_are_passed_on() -> None:
    memory = playing()
    assert ([b'{"type":"new"}'], []) == memory.hear(b'{"type":"new"}')
    assert b"nonsense" == memory.say(b"nonsense")
    accepted = Accepted(0, None)
    assert ([encode(accepted)], []) == hears(memory, accepted)


def test_consequences_of_a_repeated_message_are_not_counted() -> None:
    memory = playing()
    memory.say(submit(0, "x"))
    hears(memory, Rejected(0, Refusal.ILLEGAL, "no"), Invited("t"), welcome("a", "b"), opened(0))
    hears(memory, Rejected(0, Refusal.FINAL, "your final submission stands"))
    assert "1 message refused: illegal: no (once)" == memory.summary.lines()[-1]


@pytest.mark.parametrize("token", ["", "a\0b", "a b", "é", "x" * 101, "x" * 3_000_000, "a\n", "=\x1b[2J"])
def test_a_token_that_no_environment_takes_is_refused(token: str) -> None:
    with pytest.raises(HostError, match="an invitation whose token is none") as refused:
        hears(Memory(), Invited(token))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("number", [-1, -(10**9), 100_000, 10**30])
def test_an_event_has_a_number_that_a_match_can_have(number: int) -> None:
    with pytest.raises(HostError, match="an event whose number is not from 0 to 99999"):
        playing().hear(b'{"type":"event","n":%d,"event":0}' % number)


def test_a_welcome_with_more_events_than_a_match_has_is_refused() -> None:
    with pytest.raises(HostError, match="a welcome with 100001 events"):
        hears(Memory(), Invited("t"), welcome(*([0] * 100_001)))


def test_messages_and_bytes_and_unknown_words_of_a_match_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_MATCH_FRAMES", 3)
    resumed = encode(Resumed("x"))
    memory = Memory()
    for _ in range(3):
        memory.hear(resumed)
    with pytest.raises(HostError, match="more than 3 messages in one match"):
        memory.hear(resumed)
    monkeypatch.setattr(limits, "MOST_MATCH_FRAMES", 100_000)
    monkeypatch.setattr(limits, "MOST_MATCH_BYTES", 3 * len(resumed))
    bounds = Bounds()
    memory = Memory(bounds)
    for _ in range(3):
        memory.hear(resumed)
    bounds.end(finished=True)
    memory.hear(resumed)
    with pytest.raises(HostError, match="bytes in one match"):
        for _ in range(3):
            memory.hear(resumed)
    monkeypatch.undo()
    memory = Memory()
    assert ([b"new words"], []) == memory.hear(b"new words")
    with pytest.raises(HostError, match="more than 1000 messages in one match that are not of this protocol"):
        for _ in range(1_000):
            memory.hear(b"\xff")


def test_a_host_that_ends_no_match_is_given_up() -> None:
    bounds = Bounds()
    for finished in (*[False] * 19, True, *[False] * 19):
        bounds.end(finished=finished)
    with pytest.raises(HostError, match="invitations to 20 matches, none of which it has ended"):
        bounds.end(finished=False)


def test_a_frame_has_a_greatest_size_and_depth() -> None:
    bounds = Bounds()
    bounds.frame(b"x" * MOST_FRAME_BYTES)
    bounds.frame(b"[" * 64 + b"]" * 64)
    with pytest.raises(HostError, match="1048577 bytes"):
        bounds.frame(b"x" * (MOST_FRAME_BYTES + 1))
    with pytest.raises(HostError, match="nested deeper than 64"):
        bounds.frame(b"[" * 65 + b"]" * 65)


VALUES: tuple[object, ...] = (
    None, True, 0, -1, 2**53, 2**63, 10**300, 1e300, -0.0, "", "\0", "\x1b[2J", "x" * 5_000, [], {}, [[]] * 50,
    {"": {}}, "tok", "window", "late", "final", "misbehaved",
)  # fmt: skip
FORMS = (
    Invited("t", stands=True), welcome(1, 2), EventMessage(0, 1), opened(0), Accepted(0, 1), Over(OUTCOME),
    Closed(window=0, taken=1, by_default=True, charged_ms=5, reserve_ms=0), Resumed("x"), Paused("x"),
    Rejected(0, Refusal.FINAL, "x"), Faulted(Fault.MISBEHAVED, "x"), REPORT, Dismissed(text="x"),
    TranscriptPart(match="m", seat=0, part=0, parts=1, data=b"x"),
)  # fmt: skip


def mutated(rng: Random) -> bytes:
    """Make a message of a host, with some of its fields replaced, or some of its bytes."""
    fields = json.loads(encode(rng.choice(FORMS)))
    for _ in range(rng.choice((0, 1, 1, 2))):
        place: Any = fields
        while isinstance(place, dict) and place:
            name = rng.choice([*place])
            if not isinstance(place[name], dict) or rng.random() < 0.5:
                place[name] = deepcopy(rng.choice(VALUES))
                break
            place = place[name]
    frame = bytearray(json.dumps(fields, ensure_ascii=rng.random() < 0.9).encode())
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        frame[rng.randrange(len(frame))] = rng.randrange(256)
    return bytes(frame)


@pytest.mark.parametrize("seed", range(10))
def test_whatever_a_host_says_is_taken_or_refused_in_words(seed: int, tmp_path: Path) -> None:
    """Nothing else is raised, and nothing unprintable is shown."""
    rng = Random(seed)
    for _ in range(CONVERSATIONS):
        bounds = Bounds()
        memory, news = Memory(bounds), News(tmp_path / "transcripts", bounds)
        lines: list[str] = []
        try:
            for _ in range(rng.randrange(1, 12)):
                frame = mutated(rng)
                bounds.frame(frame)
                if (said := news.hear(frame)) is not None:
                    lines += said
                    continue
                to_bot, to_host = memory.hear(frame)
                assert all(isinstance(each, bytes) for each in (*to_bot, *to_host))
                if rng.random() < 0.3:
                    memory.say(rng.choice((HELLO, submit(0, 1), b"junk")))
        except HostError as error:
            lines.append(str(error))
        lines += memory.summary.lines()
        assert all(line.isprintable() for line in lines)
    assert {"transcripts"} >= {path.name for path in tmp_path.iterdir()}
