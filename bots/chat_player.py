"""A seat for a language model: asks it in each window, has it answer again, and falls back to a legal action."""

import sys
from collections.abc import Callable
from random import Random
from time import monotonic
from typing import Any

import msgspec

from bots.chat_answer import read_answer
from bots.chat_context import Context, repair
from bots.chat_endpoint import Answer, Failure, ask
from bots.chat_settings import Settings
from bots.kit import Bot, OnError, Window
from protocol.codec import encode
from protocol.messages import MAX_NOTE_CHARACTERS, Closed, Note, Opened, Rejected
from protocol.text import ParseError
from protocol.words import Outcome

Asker = Callable[[Settings, list[dict[str, str]], float, Random], tuple[Answer, int]]
RESERVE_SHARE = 0.25
"""Of a window's reserve, what a slow model may use. The rest is for later windows."""
MOST_NOTES = 2_000
"""In a match."""
MILLION = 1_000_000
MOST_TEXT, MOST_LINE = 200, 500
"""Characters of a reason in a note, and of a line in the log."""


class Tally(msgspec.Struct):
    """What asking has cost: of a window, or of a match."""

    asked: int = 0
    """Requests, tries that failed among them."""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    estimates: int = 0
    """Answers whose tokens the endpoint did not tell."""

    def add(self, other: "Tally") -> None:
        """Counts another one in."""
        for key in self.__struct_fields__:
            setattr(self, key, getattr(self, key) + getattr(other, key))

    def shown(self) -> dict[str, Any]:
        """As notes have it."""
        return msgspec.to_builtins(self) | {"seconds": round(self.seconds, 3), "cost": round(self.cost, 9)}  # type: ignore[no-any-return]


class ChatSeat(Bot[Any, Any]):
    """Plays what the model answers."""

    view_type = event_type = Any
    on_error: OnError = "default"

    def __init__(self, settings: Settings, asker: Asker = ask) -> None:
        self._settings = settings
        self._ask = asker
        self.actions = 0
        """How many of the model's answers held an action, legal or not."""

    def welcome(self) -> None:
        """Begins with nothing known, and nothing spent."""
        self._context = Context(self.match, self._settings.history, brief=self._settings.brief)
        self._total = Tally()
        self._fallbacks = self._notes = 0

    def event(self, event: Any) -> None:
        """Remembers it."""
        self._context.event(event)

    def decide(self, window: Window[Any]) -> Any:
        """What the model answers in time, else a legal action."""
        seconds = window.left_ms() / 1000 + window.reserve_ms / 1000 * RESERVE_SHARE
        # Of a short window, half is for the answer.
        self._until = monotonic() + max(seconds / 2, seconds - self._settings.margin)
        self._open = window
        opened = Opened(window.id, window.name, window.view, window.default, window.main_ms, window.reserve_ms)
        self._messages = self._context.messages(opened, self._until - monotonic())
        return self._play(window)

    def rejected(self, rejected: Rejected) -> Any:
        """Has the model answer again, where there is time; None leaves it to what stands, or the default."""
        self._messages += repair(self._reply, rejected.text)
        return self._play(self._open)

    def closed(self, closed: Closed) -> None:
        """Remembers what was taken."""
        self._context.closed(self._open.name, closed.taken, by_default=closed.by_default)

    def over(self, outcome: Outcome) -> None:
        """Says what the match has cost."""
        del outcome
        total = self._total
        self._say(
            f"{total.asked} requests, {total.seconds:.1f} s, {total.tokens_in} tokens in, {total.tokens_out} out, "
            f"cost {total.cost:.6f}, {self._fallbacks} times no answer"
        )

    def _play(self, window: Window[Any]) -> Any:
        """The model's action, or the fallback; with its note."""
        spent, failed = Tally(), ""
        try:
            return self._answer(window.name, spent)
        except Failure as failure:
            failed = str(failure)
            self._fallbacks += 1
            self._say(f"window {window.id}: the model {failed}")
            return legal_action(window)
        finally:
            self._note(window, spent, failed)

    def _answer(self, name: str, spent: Tally) -> Any:
        """The first action that can be read. Counts in `spent` what it cost.

        Raises:
            Failure: there is none in time, or no more may be spent.
        """
        complaint = ""
        for _ in range(1 + self._settings.repairs):
            if self._total.cost + spent.cost >= self._settings.most_cost:
                raise Failure("is asked no more: CHAT_MOST_COST is spent")
            answer = self._asked(spent)
            self._reply = answer.text
            try:
                action = read_answer(self.match.game, name, answer.text)
            except ParseError as unclear:
                complaint = "it was cut off before its end" if answer.is_cut else str(unclear)
                self._messages += repair(answer.text, complaint)
                continue
            if self._settings.secret.is_in(encode(action).decode()):
                raise Failure("answers with the key")
            self.actions += 1
            return action
        raise Failure(f"gives no action that can be read: {complaint[:MOST_TEXT]}")

    def _asked(self, spent: Tally) -> Answer:
        """One answer."""
        started, settings = monotonic(), self._settings
        tries = 1
        try:
            answer, tries = self._ask(settings, self._messages, self._until, self.luck)
        except Failure as failure:
            tries = failure.tries
            raise
        except Exception as error:  # noqa: BLE001 - its text may hold what was sent
            raise Failure(f"cannot be asked ({type(error).__name__})") from None
        finally:
            spent.add(Tally(asked=tries, seconds=monotonic() - started))
        cost = (answer.tokens_in * settings.price_in + answer.tokens_out * settings.price_out) / MILLION
        spent.add(
            Tally(
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                cost=cost,
                estimates=int(answer.is_estimate),
            )
        )
        return answer

    def _note(self, window: Window[Any], spent: Tally, failed: str) -> None:
        """Tells the transcript what a window has cost, and what the match has so far."""
        self._total.add(spent)
        self._notes += 1
        if self._notes > MOST_NOTES:
            return
        told: dict[str, Any] = {"window": window.id, **spent.shown(), "failed": failed[:MOST_TEXT]}
        if not failed:
            del told["failed"]
        told["match"] = self._total.shown() | {"failed": self._fallbacks}
        if self._notes == 1:
            told |= {"model": self._settings.model, "host": self._settings.host[:MOST_TEXT]}
        text = self._settings.secret.hide(encode({"chat": told}).decode())
        window.say(Note(text[:MAX_NOTE_CHARACTERS]))

    def _say(self, text: str) -> None:
        """A line in the author's own log."""
        print(f"chat: {self._settings.secret.hide(text)[:MOST_LINE]}", file=sys.stderr, flush=True)


def legal_action(window: Window[Any]) -> Any:
    """What is submitted where the model gives no action: the default. Each window has one, and it is legal.

    A better fallback has its place here: an action that the rules allow, chosen from the window's view.
    """
    return window.default
