"""A seat for a language model: it requests an answer in each window, retries, and falls back to a legal action."""

import sys
from collections.abc import Callable
from random import Random
from time import monotonic
from typing import Any

import msgspec

from bots.kit import Bot, OnError, Window
from bots.language_model.endpoint import Answer, Failure, ask
from bots.language_model.prompts import Context, read_answer, repair
from bots.language_model.settings import Settings
from protocol.codec import encode
from protocol.messages import MAX_NOTE_CHARACTERS, Closed, Note, Opened, Rejected
from protocol.text import ParseError
from protocol.words import Outcome

Asker = Callable[[Settings, list[dict[str, str]], float, Random], tuple[Answer, int]]
RESERVE_SHARE = 0.25
"""Share of a window's reserve that a slow model may use. The rest is for later windows."""
MOST_NOTES = 2_000
"""Maximum number of notes in a match."""
MILLION = 1_000_000
MOST_TEXT, MOST_LINE = 200, 500
"""Maximum numbers of characters of a reason in a note, and of a line in the log."""


class RequestCost(msgspec.Struct):
    """Cost of requests in a window or a match."""

    asked: int = 0
    """Number of requests, including failed tries."""
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    estimates: int = 0
    """Number of answers for which the endpoint did not report tokens."""

    def add(self, other: "RequestCost") -> None:
        """Add another tally to this one."""
        for key in self.__struct_fields__:
            setattr(self, key, getattr(self, key) + getattr(other, key))

    def shown(self) -> dict[str, Any]:
        """Return the tally in the form of notes."""
        return msgspec.to_builtins(self) | {"seconds": round(self.seconds, 3), "cost": round(self.cost, 9)}  # type: ignore[no-any-return]


class ChatSeat(Bot[Any, Any]):
    """A bot that plays the model's answers."""

    view_type = event_type = Any
    on_error: OnError = "default"

    def __init__(self, settings: Settings, asker: Asker = ask) -> None:
        self._settings = settings
        self._ask = asker
        self.actions = 0
        """Number of the model's answers with an action, legal or not."""

    def welcome(self) -> None:
        """Start the match with an empty context and tally."""
        self._context = Context(self.match, self._settings.history, brief=self._settings.brief)
        self._total = RequestCost()
        self._fallbacks = self._notes = 0

    def event(self, event: Any) -> None:
        """Add an event to the context."""
        self._context.event(event)

    def decide(self, window: Window[Any]) -> Any:
        """Return the model's answer if it is in time, otherwise a legal action."""
        seconds = window.left_ms() / 1000 + window.reserve_ms / 1000 * RESERVE_SHARE
        # In a short window, half of the time is for the answer.
        self._until = monotonic() + max(seconds / 2, seconds - self._settings.margin)
        self._open = window
        opened = Opened(window.id, window.name, window.view, window.default, window.main_ms, window.reserve_ms)
        self._messages = self._context.messages(opened, self._until - monotonic())
        return self._play(window)

    def rejected(self, rejected: Rejected) -> Any:
        """Return the model's second answer, or a legal action if there is none in time."""
        self._messages += repair(self._reply, rejected.text)
        return self._play(self._open)

    def closed(self, closed: Closed) -> None:
        """Add the resolved action to the context."""
        self._context.closed(self._open.name, closed.taken, by_default=closed.by_default)

    def over(self, outcome: Outcome) -> None:
        """Log the cost of the match."""
        del outcome
        total = self._total
        self._say(
            f"{total.asked} requests, {total.seconds:.1f} s, {total.tokens_in} tokens in, {total.tokens_out} out, "
            f"cost {total.cost:.6f}, {self._fallbacks} times no answer"
        )

    def _play(self, window: Window[Any]) -> Any:
        """Return the model's action or the fallback, and send a note."""
        spent, failed = RequestCost(), ""
        try:
            return self._answer(window.name, spent)
        except Failure as failure:
            failed = str(failure)
            self._fallbacks += 1
            self._say(f"window {window.id}: the model {failed}")
            return legal_action(window)
        finally:
            self._note(window, spent, failed)

    def _answer(self, name: str, spent: RequestCost) -> Any:
        """Return the first readable action; add the cost to `spent`.

        Raises:
            Failure: there is none in time, or the cost limit is reached.
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

    def _asked(self, spent: RequestCost) -> Answer:
        """Request one answer; add its cost to `spent`."""
        started, settings = monotonic(), self._settings
        tries = 1
        try:
            answer, tries = self._ask(settings, self._messages, self._until, self.rng)
        except Failure as failure:
            tries = failure.tries
            raise
        except Exception as error:  # noqa: BLE001 - the error's text may contain the request
            raise Failure(f"cannot be asked ({type(error).__name__})") from None
        finally:
            spent.add(RequestCost(asked=tries, seconds=monotonic() - started))
        cost = (answer.tokens_in * settings.price_in + answer.tokens_out * settings.price_out) / MILLION
        spent.add(
            RequestCost(
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                cost=cost,
                estimates=int(answer.is_estimate),
            )
        )
        return answer

    def _note(self, window: Window[Any], spent: RequestCost, failed: str) -> None:
        """Send a note for the transcript with the cost of a window and of the match so far."""
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
        """Write a line to the author's own log."""
        print(f"chat: {self._settings.secret.hide(text)[:MOST_LINE]}", file=sys.stderr, flush=True)


def legal_action(window: Window[Any]) -> Any:
    """Return the action used if the model returns none: the default, which is legal in each window.

    Replace this by a better fallback: an action that the rules allow, chosen from the window's view.
    """
    return window.default
