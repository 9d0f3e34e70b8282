"""What a language model is sent about a match: rules, commands, a bounded history, the window. Pure."""

from collections import deque
from typing import Any

import msgspec

from protocol import text as game_text
from protocol.codec import encode
from protocol.messages import Opened, Welcome
from protocol.text import GAME_TEXTS, ParseError, drawing_of
from protocol.words import Event

MOST_TURNS = 10_000
"""Windows that are remembered."""
MOST_LINE = 1_500
"""Characters of one line of the history."""
MOST_SUMMARY = 100
"""Characters of an older window's line."""
MOST_BOARD = 12_000
MOST_FACTS = 6_000
IN_HISTORY = frozenset({"history", "told"})
"""Fields of views that repeat events and actions."""
MOST_QUOTED = 1_000
"""Characters of its own unreadable answer that the model is shown again."""
MARK = "ACTION:"
ANSWER = f"""\
HOW TO ANSWER. Think as briefly as you can. The last line of your answer must be {MARK} and then your action,
as it is typed above, on one line and without anything behind it, such as {MARK} {{example}}
Only that line is read."""


class Context:
    """One match, as a model is told of it."""

    def __init__(self, welcome: Welcome, history: int) -> None:
        """`history`: characters of what happened before that are sent along."""
        self._game = welcome.game
        self._text = GAME_TEXTS.get(welcome.game)
        self._history = history
        self._seat = (
            f"You are seat {welcome.seat} of {welcome.seats}, numbered from 0. "
            f"Options of this match: {encode(welcome.options).decode()[:MOST_LINE]}"
        )
        self._rules = self._text.rules(welcome.variant) if self._text else f"The game is {welcome.game}."
        self._told: list[Event] = []
        self._news: list[Event] = []
        self._lines: deque[list[str]] = deque([[]], MOST_TURNS)
        """For each window what happened from it on, oldest first; before them what came before any window."""
        self._left_out = 0

    def event(self, event: Any) -> None:
        """The game tells something."""
        if self._text is None:
            self._lines[-1].append(_line(encode(event).decode()))
            return
        typed: Event = msgspec.convert(event, self._text.event)
        self._told.append(typed)
        self._news.append(typed)
        self._lines[-1].append(_line(drawing_of(self._game).words(typed)))

    def closed(self, window: str, taken: Any, *, by_default: bool) -> None:
        """A window is over: what was taken."""
        if taken is None:
            did = game_text.say_default(self._game, window, None)
        else:
            did = game_text.say(self._game, taken)
        self._left_out += len(self._lines) == MOST_TURNS
        self._lines.append([_line(f"window {window}, you: {did}" + (" (by default)" if by_default else ""))])
        self._news = []

    def messages(self, opened: Opened, seconds: float) -> list[dict[str, str]]:
        """What is sent for a window; `seconds`: how long there is to answer."""
        examples = self._text.examples.get(opened.window, ()) if self._text else ()
        how = ANSWER.format(example=examples[0][0] if examples else "{}")
        system = f"{self._rules}\nACTIONS\n{game_text.explain(self._game)}\n\n{how}"
        asked = (
            f"{self._seat}\n\nWHAT HAPPENED, oldest first\n{self.history() or 'nothing yet'}\n\n"
            f"NOW\n{self._board(opened)}\n\nThe window {opened.window} is open: {self._asked(opened)}\n"
            f"You have {max(1, int(seconds))} seconds. End with the line that begins with {MARK}"
        )
        return [{"role": "system", "content": system}, {"role": "user", "content": asked}]

    def _board(self, opened: Opened) -> str:
        if self._text is None:
            return encode(opened.view).decode()[:MOST_BOARD]
        view = msgspec.convert(opened.view, self._text.view)
        board = drawing_of(self._game).board(view, self._news, plain=True, told=self._told).plain[:MOST_BOARD]
        facts = {key: value for key, value in opened.view.items() if key not in IN_HISTORY}
        return f"{board}\n\nThe same as data: {encode(facts).decode()[:MOST_FACTS]}"

    def _asked(self, opened: Opened) -> str:
        """What may be typed, and what happens if nothing is."""
        default = game_text.say_default(self._game, opened.window, opened.default)
        if self._text is None:
            return f"answer with the action as JSON. If you submit nothing: {default[:MOST_LINE]}"
        view = msgspec.convert(opened.view, self._text.view)
        return f"{self._text.ask(opened.window, view)}. If you submit nothing: {default[:MOST_LINE]}"

    def history(self) -> str:
        """What happened, in at most so many characters: the newest windows whole, older ones in a line each."""
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
    """What is sent after an answer that was no action."""
    return [
        {"role": "assistant", "content": answer[-MOST_QUOTED:] or "(nothing)"},
        {
            "role": "user",
            "content": f"That was not accepted: {complaint[:MOST_LINE]}\nAnswer again. End with the line that "
            f"begins with {MARK}",
        },
    ]


def read_answer(game: str, window: str, answer: str) -> Any:
    """The action in a model's answer; None: it wants the default.

    Raises:
        ParseError: there is none. The text says what would be one.
    """
    lines = [line.strip().strip("*_`#> ").strip() for line in answer.splitlines()]
    lines = [line for line in lines if line]
    marked = [line[len(MARK) :] for line in lines if line.upper().startswith(MARK)]
    if not marked and len(lines) != 1:
        raise ParseError(f"no line begins with {MARK}")
    typed = (marked or lines)[-1].strip("*_`\" '").removesuffix("!").strip()
    if typed.lower().startswith("/submit "):
        typed = typed[len("/submit ") :].strip()
    if typed.lower() == "/done":
        return None
    if not typed or len(typed) > 4_000:  # noqa: PLR2004 - as a line at `console`
        raise ParseError(f"there is no action behind {MARK}")
    return game_text.read(game, window, typed)


def _line(text: str) -> str:
    return text if len(text) <= MOST_LINE else f"{text[:MOST_LINE]} ..."


def _summary(lines: list[str]) -> str:
    """A window in a line: what the seat did, and of what came then the beginning."""
    text = " | ".join(lines)
    return text if len(text) <= MOST_SUMMARY else f"{text[:MOST_SUMMARY]} ..."
