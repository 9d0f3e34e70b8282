"""Messages to a language model about a match: rules, commands, a bounded history, the window. Pure."""

from collections import deque
from typing import Any

import msgspec

from protocol import text as game_text
from protocol.codec import encode
from protocol.messages import Opened, Welcome
from protocol.text import GAME_TEXTS, Terms, drawing_of
from protocol.words import Event

MOST_TURNS = 10_000
"""Maximum number of windows in the history."""
MOST_LINE = 1_500
"""Maximum number of characters in a line of the history."""
MOST_SUMMARY = 100
"""Maximum number of characters in an older window's line."""
MOST_BOARD = 12_000
MOST_FACTS = 6_000
MOST_QUOTED = 1_000
"""Maximum number of characters of an unreadable answer that are sent back to the model."""
MARK = "ACTION:"
ANSWER = f"""\
HOW TO ANSWER. The last line of your answer must be {MARK} and then your action, in one of the forms above, on one
line and without anything behind it. Words in capitals in a form stand for what you fill in. If there are several
such lines, the last one counts."""
BRIEFLY = "Think as briefly as you can."
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
"""Units of time, the longest first, in seconds."""


class Context:
    """One match, as described to a model."""

    def __init__(self, welcome: Welcome, history: int, *, brief: bool = False) -> None:
        """Start a match; send at most `history` characters of the past; with `brief`, request short thinking."""
        self._game = welcome.game
        self._text = GAME_TEXTS.get(welcome.game)
        self._history = history
        self._seat = (
            f"You are seat {welcome.seat} of {welcome.seats}, numbered from 0. "
            f"Options of this match: {encode(welcome.options).decode()[:MOST_LINE]}"
        )
        self._terms = Terms(welcome.variant, welcome.options, welcome.seat)
        self._fields = self._text.fields(self._terms) if self._text else {}
        self._system = self._instructions(brief=brief)
        self._told: list[Event] = []
        self._news: list[Event] = []
        self._lines: deque[list[str]] = deque([[]], MOST_TURNS)
        """Lines of the history: first those before any window, then those from each window on, oldest first."""
        self._left_out = 0

    def event(self, event: Any) -> None:
        """Add an event to the history."""
        if self._text is None:
            self._lines[-1].append(_line(encode(event).decode()))
            return
        typed: Event = msgspec.convert(event, self._text.event)
        self._told.append(typed)
        self._news.append(typed)
        self._lines[-1].append(_line(drawing_of(self._game).words(typed)))

    def closed(self, window: str, taken: Any, *, by_default: bool) -> None:
        """Add the resolved action of a window to the history."""
        if taken is None:
            did = game_text.say_default(self._game, window, None)
        else:
            did = game_text.say(self._game, taken)
        self._left_out += len(self._lines) == MOST_TURNS
        self._lines.append([_line(f"window {window}, you: {did}" + (" (by default)" if by_default else ""))])
        self._news = []

    def messages(self, opened: Opened, seconds: float) -> list[dict[str, str]]:
        """Return the messages for a window; `seconds` is the time to answer."""
        asked = (
            f"{self._seat}\n\nWHAT HAPPENED, oldest first\n{self.history() or 'nothing yet'}\n\n"
            f"NOW\n{self._board(opened)}\n\nThe window {opened.window} is open: {self._asked(opened)}\n"
            f"You have {in_words(seconds)}. End with the line that begins with {MARK}"
        )
        return [{"role": "system", "content": self._system}, {"role": "user", "content": asked}]

    def _instructions(self, *, brief: bool) -> str:
        """Return the text for all windows of a match: rules, forms of actions, fields, form of the answer."""
        parts = [
            self._text.rules(self._terms.variant) if self._text else f"The game is {self._game}.\n",
            f"ACTIONS\n{game_text.explain(self._game, self._terms)}\n",
        ]
        if self._fields:
            fields = "\n".join(f"{field}: {meaning}" for field, meaning in self._fields.items())
            parts.append(f"WHAT YOU KNOW is sent as a board and as data with these fields:\n{fields}\n")
        parts.append(f"{ANSWER} {BRIEFLY}" if brief else ANSWER)
        return "\n".join(parts)

    def _board(self, opened: Opened) -> str:
        if self._text is None:
            return encode(opened.view).decode()[:MOST_BOARD]
        view = msgspec.convert(opened.view, self._text.view)
        board = drawing_of(self._game).board(view, self._news, plain=True, told=self._told).plain[:MOST_BOARD]
        return f"{board}\n\nThe same as data: {self._data(opened.view)}"

    def _data(self, view: Any) -> str:
        """Return the explained fields of a view as JSON, with the names of fields that are too long."""
        shown: dict[str, Any] = {}
        left, too_long = MOST_FACTS, []
        for field in self._fields:
            size = len(encode({field: view[field]}))
            if size <= left:
                shown[field] = view[field]
                left -= size
            else:
                too_long.append(field)
        omitted = f" (left out for their length: {', '.join(too_long)})" if too_long else ""
        return f"{encode(shown).decode()}{omitted}"

    def _asked(self, opened: Opened) -> str:
        """Return the allowed answers, the effect of no answer, and examples."""
        nothing = game_text.if_nothing(self._game, opened.window, opened.default)[:MOST_LINE]
        if self._text is None:
            return f"answer with the action as JSON. {nothing}"
        view = msgspec.convert(opened.view, self._text.view)
        examples = game_text.examples(self._game, opened.window, view)
        lines = game_text.listed((f"{MARK} {typed}", meaning) for typed, meaning in examples)
        asked = f"{self._text.ask(opened.window, view)}. {nothing}"
        return "\n".join([asked, "Legal now, as examples of the form and not as advice:", *lines])

    def history(self) -> str:
        """Return the history within its limit: the newest windows in full, older ones in a line each."""
        left = self._history
        whole: list[str] = []
        turns = list(self._lines)
        while turns and (size := sum(len(line) + 1 for line in turns[-1])) <= left * 3 // 4:
            whole = turns.pop() + whole
            left -= size
        short: list[str] = []
        while turns and len(line := _summary(turns[-1])) + MOST_SUMMARY <= left:
            turns.pop()
            if line:
                short.insert(0, line)
                left -= len(line) + 1
        gone = len(turns) + self._left_out
        return "\n".join([*([f"({gone} earlier windows are left out)"] if gone else []), *short, *whole])


def repair(answer: str, complaint: str) -> list[dict[str, str]]:
    """Return the messages after an answer without a valid action."""
    return [
        {"role": "assistant", "content": answer[-MOST_QUOTED:] or "(nothing)"},
        {
            "role": "user",
            "content": f"That was not accepted: {complaint[:MOST_LINE]}\nAnswer again. End with the line that "
            f"begins with {MARK}",
        },
    ]


def in_words(seconds: float) -> str:
    """Return a time in its two largest units, rounded down: `23 hours 59 minutes`, `1 second` at least."""
    left = max(1, int(seconds))
    parts = []
    for unit, size in UNITS:
        number, left = divmod(left, size)
        parts.append(f"{number} {unit}{'' if number == 1 else 's'}" if number else "")
    first = next(at for at, part in enumerate(parts) if part)
    return " ".join(part for part in parts[first : first + 2] if part)


def _line(text: str) -> str:
    return text if len(text) <= MOST_LINE else f"{text[:MOST_LINE]} ..."


def _summary(lines: list[str]) -> str:
    """Return a window as one line: the seat's action and the start of the later events."""
    text = " | ".join(lines)
    return text if len(text) <= MOST_SUMMARY else f"{text[:MOST_SUMMARY]} ..."
