"""What a bot answers to the questions of another's match, judged by the rules of time and of the game. Pure.

It is told what arrived and when, as `match` is, and refuses what `match` would refuse. Times (`at`) are whole
microseconds since the interview's own zero.
"""

import math
from collections.abc import Callable

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from protocol.codec import Refused, decode_client_message, encode
from protocol.messages import (
    MAX_NOTE_CHARACTERS,
    ClientMessage,
    Faulted,
    Hello,
    Note,
    Opened,
    Pause,
    Rejected,
    Submit,
    Undo,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Action
from referee.host.questions import Greeting, Question, Settled, Telling
from referee.match import (
    HELLOS_PER_MATCH,
    MICROSECONDS_PER_MS,
    WHY_NOT,
    Allowance,
    Policy,
    SeatClock,
    SeatWindow,
    take,
    undo,
    why_not,
    wrong_hello,
)
from referee.rules import Illegal


class Answer(Struct, frozen=True, kw_only=True):
    """What a bot answered to one question."""

    action: Action | None
    """In canonical spelling; None: nothing stood, and the default would have been taken."""
    illegal: str = ""
    """Why the last action that broke a rule did, if nothing stood in the end."""
    chosen: bool = False
    """With no action: it asked for the default."""


class Interview:
    """One bot, from its hello to its last answer."""

    def __init__(
        self,
        greeting: Greeting,
        *,
        token: str,
        policy: Policy,
        send: Callable[[bytes], None],
        reconnected: Callable[[], None],
    ) -> None:
        """`token` is what its hello must carry; `send` is given frames for it.

        `reconnected`: the bot has begun anew; what was sent and not yet taken is not for it.
        """
        self.welcomed = False
        self.gone = ""
        """Why nothing more is asked of it; empty as long as something is."""
        self.part: SeatWindow | None = None
        """In the question that is open."""
        self._greeting = greeting
        self._token = token
        self._policy = policy
        self._send = send
        self._reconnected = reconnected
        factor = greeting.welcome.clock.wall_factor
        # Processor time is not counted here: it may take as long on the wall as it could have at the most.
        self._scale = MICROSECONDS_PER_MS * (1 if factor is UNSET else factor)
        self._told: list[Raw] = []
        self._question: Question | None = None
        self._windows = 0
        self._allowance = Allowance(policy)
        self._hellos = self._refused = 0
        self._illegal = ""

    def tell(self, telling: Telling | Settled) -> None:
        """The seat was told something. Who is gone hears nothing more: it may be nobody we know."""
        if isinstance(telling, Telling) and telling.event is not None:
            self._told.append(telling.event)
        if not self.gone:
            self._send(telling.frame)

    def ask(self, at: int, question: Question) -> SeatWindow:
        """Opens a question, whose frame is on its way; its part, which is settled once it is answered."""
        self._question = question
        self.part = SeatWindow(question.opened.id)
        self.part.ends_by = at + self._shortest(question)
        self._windows = question.opened.id + 1
        self._allowance.renew()
        self._illegal = ""
        return self.part

    def handed(self, at: int) -> None:
        """The transport took it: the bot's time runs from here, as much as the seat had in the match."""
        if self.part is not None and self.part.clock is None and self._question is not None:
            opened = self._question.opened
            main, reserve = opened.main_ms * self._scale, opened.reserve_ms * self._scale
            self.part.clock = SeatClock(opened=at, main=main, reserve=reserve)

    def next_deadline(self) -> float:
        """When time will next decide something; infinity where it will not."""
        change = None if self.part is None else self.part.next_change()
        return math.inf if change is None else change

    def pass_time(self, at: int) -> None:
        """All that arrived before then has been told."""
        part, question = self.part, self._question
        if part is None or question is None:
            return
        if part.clock is None and part.ends_by is not None and at >= part.ends_by:
            # Its line should have said so; time runs from when it was given the frame.
            self.handed(at - self._shortest(question))
        part.pass_time(at)

    def left(self, at: int, why: str) -> None:
        """The bot is gone. What it had submitted stands."""
        self.gone = self.gone or why
        if self.part is not None:
            self.part.give_up(at)

    def answer(self) -> Answer:
        """Closes the question: what stands. Only once its part is settled."""
        part, self.part = self.part, None
        assert part is not None  # noqa: S101 - it was asked
        chosen = part.final and part.action is None
        illegal = "" if part.action is not None or chosen else self._illegal
        return Answer(action=part.action, illegal=illegal, chosen=chosen)

    def _shortest(self, question: Question) -> int:
        """How soon time could decide something."""
        return (question.opened.main_ms or question.opened.reserve_ms) * self._scale

    def hear(self, at: int, frame: bytes, size: int = 0) -> None:
        """A frame arrived from the bot. `size`: how many bytes it took on the wire, where that is more."""
        if self.gone:
            return
        flood = self._allowance.hear(max(size, len(frame)))
        if flood is not None:
            self._refuse(at, flood.refusal, flood.text)
            return
        try:
            said = decode_client_message(frame)
        except Refused as refused:
            self._refuse(at, refused.refusal, refused.text)
            return
        self._act_on(at, said)

    def _act_on(self, at: int, said: ClientMessage) -> None:
        if not self.welcomed and not isinstance(said, Hello):
            self._refuse(at, Refusal.OUT_OF_TURN, "say hello first")
            return
        match said:
            case Hello():
                self._hello(at, said)
            case Submit():
                self._submit(at, said)
            case Undo(window):
                if self._may_change(at, window) and self.part is not None:
                    self._send(encode(undo(self.part)))
            case Pause():
                self._refuse(at, Refusal.NO_PAUSE, "no pause is to be had now")
            case Note(text) if len(text) > MAX_NOTE_CHARACTERS:
                self._refuse(at, Refusal.TOO_LONG, f"a note has at most {MAX_NOTE_CHARACTERS} characters")
            case _:
                pass

    def _hello(self, at: int, hello: Hello) -> None:
        wrong = wrong_hello(hello, self._token)
        if wrong is not None:
            self._hang_up(at, *wrong)
            return
        self._hellos += 1
        if self._hellos > HELLOS_PER_MATCH:
            self._hang_up(at, Fault.MISBEHAVED, "too many hellos")
        elif not self.welcomed:
            self.welcomed = True
            self._send(self._greeting.frame)
        else:
            self._reconnected()
            self._send(encode(replace(self._greeting.welcome, told=tuple(self._told))))
            if self._question is not None and self.part is not None and not self.part.settled:
                self._send(encode(self._opened(at, self._question.opened, self.part.clock)))

    def _opened(self, at: int, opened: Opened, clock: SeatClock | None) -> Opened:
        """The open question, with the time it has left."""
        if clock is None:
            return opened
        main, reserve = clock.left_ms(at, opened.reserve_ms, self._scale)
        return replace(opened, main_ms=main, reserve_ms=reserve)

    def _submit(self, at: int, said: Submit) -> None:
        question, part = self._question, self.part
        if not self._may_change(at, said.window) or question is None or part is None:
            return
        try:
            self._send(encode(take(part, said, question.read, at)))
        except Illegal as illegal:
            self._illegal = illegal.reason
            self._refuse(at, Refusal.ILLEGAL, illegal.reason, part.number)

    def _may_change(self, at: int, window: int) -> bool:
        """Whether what was submitted for that window may be changed now; otherwise the message is refused."""
        refusal = why_not(self.part, window, self._windows, at)
        if refusal is not None:
            self._refuse(at, refusal, WHY_NOT[refusal], window)
        return refusal is None

    def _refuse(self, at: int, refusal: Refusal, text: str, window: int | None = None) -> None:
        self._refused += 1
        if self._allowance.is_told(refusal):
            self._send(encode(Rejected(window=window, reason=refusal, text=text)))
        if self._refused > self._policy.refusals_per_match:
            most = self._policy.refusals_per_match
            self._hang_up(at, Fault.MISBEHAVED, f"more than {most} of your messages had to be refused")

    def _hang_up(self, at: int, fault: Fault, text: str) -> None:
        self._send(encode(Faulted(reason=fault, text=text)))
        self.left(at, f"{fault.value}: {text}")
