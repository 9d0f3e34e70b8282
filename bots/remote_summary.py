"""Summary of a match on another machine for the bot's author, from what the bot itself could know. Pure."""

from collections import Counter
from typing import assert_never

from msgspec import UNSET, UnsetType

from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Invited,
    NoAction,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Submit,
    Undo,
    Welcome,
)
from protocol.refusals import Refusal
from protocol.words import Outcome

MOST_KINDS = 100
"""Number of different refusal texts that are counted; the host may send any number of them."""
MOST_SHOWN = 3
TEXT = 300
"""Maximum number of characters of a text that are shown."""


class Summary:
    """The summary of one match so far."""

    def __init__(self) -> None:
        self._seat = -1
        self._match = ""
        self._outcome: Outcome | None = None
        self._fault = ""
        self._windows = self._by_default = self._forgone = self._worst_ms = 0
        self._refused = self._late = 0
        self._refusals: Counter[str] = Counter()
        self._nothing = self._raised = 0
        self._forgoes = False
        """True if the bot's latest submission in the open window chose the default."""
        self._no_action: NoAction | UnsetType = UNSET
        """The reason why the kit submitted in place of the bot; UNSET if it did not."""

    def hear(self, told: ServerMessage) -> None:
        """Record a message from the host."""
        match told:
            case Welcome(match=name, seat=seat):
                self._match, self._seat = name[:TEXT], seat
            case Opened():
                self._windows += 1
                self._forgoes, self._no_action = False, UNSET
            case Closed(by_default=by_default, charged_ms=charged_ms):
                self._by_default += by_default
                self._count_choice(by_default=by_default)
                self._worst_ms = max(self._worst_ms, charged_ms)
            case Rejected(reason=Refusal.LATE):
                self._late += 1
            case Rejected(reason=reason, text=text):
                kind = f"{reason}: {text[:TEXT]}"
                self._refused += 1
                if kind in self._refusals or len(self._refusals) < MOST_KINDS:
                    self._refusals[kind] += 1
            case Over(outcome=outcome):
                self._outcome = outcome
            case Faulted(reason=reason, text=text):
                self._fault = f"{reason}: {text[:TEXT]}"
            case Invited() | EventMessage() | Accepted() | Paused() | Resumed():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _count_choice(self, *, by_default: bool) -> None:
        """Count the origin of the bot's final submission in the window that has closed."""
        self._forgone += by_default and self._forgoes and self._no_action is UNSET
        self._nothing += self._no_action == "returned-nothing"
        self._raised += self._no_action == "raised"

    def say(self, said: Submit | Undo) -> None:
        """Record a submission of the bot for the open window."""
        self._forgoes = isinstance(said, Submit) and bytes(said.action) == b"null" and said.final is True
        self._no_action = said.because if isinstance(said, Submit) else UNSET

    def lines(self) -> list[str]:
        """Return the summary as lines with unprintable characters escaped; empty before the match starts."""
        if self._seat < 0:
            return []
        said = [f"match {self._match}, seat {self._seat}: {self._came_out()}"]
        windows = _counted(self._windows, "window")
        said.append(f"{windows}, {self._by_default} decided by default; the longest took {self._worst_ms} ms")
        if self._late:
            said.append(f"{_counted(self._late, 'answer')} came too late")
        if self._forgone:
            said.append(f"the bot chose the default {_times(self._forgone)}")
        if self._nothing:
            said.append(f"decide returned nothing {_times(self._nothing)}")
        if self._raised:
            said.append(f"decide raised an error {_times(self._raised)}")
        if self._refused:
            said.append(f"{_counted(self._refused, 'message')} refused: {self._kinds()}")
        return [printable(line) for line in said]

    def _came_out(self) -> str:
        if self._fault:
            return f"the host ended the match for this bot: {self._fault}"
        if self._outcome is None:
            return "not over when the bot's program ended"
        ranking = self._outcome.ranking
        place = next((place for place, group in enumerate(ranking, 1) if self._seat in group), 0)
        scores = self._outcome.scores or {}
        score = f", score {scores[str(self._seat)]}" if str(self._seat) in scores else ""
        return f"place {place} of {sum(map(len, ranking))}{score}, {self._outcome.reason[:TEXT]}"

    def _kinds(self) -> str:
        shown = self._refusals.most_common(MOST_SHOWN)
        said = [f"{text} ({_times(times)})" for text, times in shown]
        others = self._refused - sum(times for _, times in shown)
        return "; ".join([*said, f"others ({_times(others)})"] if others else said)


def printable(text: str) -> str:
    """Return the text on one line, with unprintable characters escaped so that a terminal is safe."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
