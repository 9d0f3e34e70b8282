"""To a bot on its author's own machine there was no cut: it hears everything once, and its word stands."""

from bots.remote_memory import Memory
from protocol.codec import encode
from protocol.messages import (
    Accepted,
    ClockTerms,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    Opened,
    Over,
    Rejected,
    ServerMessage,
    Undo,
    Welcome,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Outcome

HELLO = encode(Hello(token="t", name="b", version="1", protocol=1))
NOTHING: tuple[list[bytes], list[bytes]] = ([], [])


def welcome(*told: object) -> Welcome:
    clock = ClockTerms(main_ms={"w": 1})
    return Welcome(1, "m", "g", "v", 0, 2, {}, clock, 7, told)


def opened(number: int) -> Opened:
    return Opened(id=number, window="w", view=None, default=None, main_ms=1, reserve_ms=0)


def submit(window: int, action: object) -> bytes:
    return encode({"type": "submit", "window": window, "action": action})


def hears(memory: Memory, *messages: ServerMessage) -> tuple[list[bytes], list[bytes]]:
    """What goes to the bot, and back to the host, for some messages of the host's."""
    to_bot, to_host = [], []
    for message in messages:
        bot, host = memory.hear(encode(message))
        to_bot += bot
        to_host += host
    return to_bot, to_host


def playing() -> Memory:
    """A match in which two events were told and window 0 is open."""
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


def test_what_it_submitted_last_is_said_again() -> None:
    memory = playing()
    for frame in (submit(0, 1), submit(0, 2)):
        assert frame == memory.say(frame)
    assert ([], [HELLO, submit(0, 2)]) == hears(memory, Invited("t"), welcome("a", "b"), opened(0))


def test_what_it_took_back_is_taken_back_again() -> None:
    memory = playing()
    undo = encode(Undo(window=0))
    for frame in (submit(0, 1), undo):
        memory.say(frame)
    assert ([], [HELLO, undo]) == hears(memory, Invited("t"), welcome("a", "b"), opened(0))


def test_that_the_host_had_its_last_word_already_is_not_the_bots_business() -> None:
    memory = playing()
    memory.say(submit(0, 1))
    hears(memory, Invited("t"), welcome("a", "b"), opened(0))
    assert NOTHING == hears(memory, Rejected(0, Refusal.FINAL, ""))
    illegal = Rejected(0, Refusal.ILLEGAL, "")
    assert ([encode(illegal)], []) == hears(memory, illegal)


def test_what_it_submitted_to_a_window_that_is_over_is_not_said_again() -> None:
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


def test_what_neither_understands_is_passed_on() -> None:
    memory = playing()
    assert ([b'{"type":"new"}'], []) == memory.hear(b'{"type":"new"}')
    assert b"nonsense" == memory.say(b"nonsense")
    accepted = Accepted(0, None)
    assert ([encode(accepted)], []) == hears(memory, accepted)


def test_what_comes_of_saying_a_word_twice_is_not_counted_either() -> None:
    memory = playing()
    memory.say(submit(0, "x"))
    hears(memory, Rejected(0, Refusal.ILLEGAL, "no"), Invited("t"), welcome("a", "b"), opened(0))
    hears(memory, Rejected(0, Refusal.FINAL, "your final submission stands"))
    assert "once a message was refused: illegal: no (once)" == memory.summary.lines()[-1]
