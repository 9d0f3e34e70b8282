"""Messages to a language model about a match, and the action in its answer. Pure, and linear in their length.

The messages have the rules, the commands, a bounded history and the window. In an answer the last marked action
counts: by a line that starts with `ACTION:`, by `<answer>` tags or by LaTeX's `boxed`. Without a mark, these are
read as well: a line that starts with `Answer:`, `ACTION:` after the end of a sentence, JSON in a block of code,
and an answer of a single line. Thinking, quotations and examples are never read.
"""

import unicodedata
from collections import deque
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import msgspec
from msgspec import Struct

from protocol import text as game_text
from protocol.codec import decode_json, encode
from protocol.messages import Opened, Welcome
from protocol.text import GAME_TEXTS, InputTerms, ParseError, drawing_of
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
        self._terms = InputTerms(welcome.variant, welcome.options, welcome.seat)
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
        if by_default:
            did += " (by default)"
        self._lines.append([_line(f"window {window}, you: {did}")])
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
            self._rules() or f"The game is {self._game}.\n",
            f"ACTIONS\n{game_text.explain(self._game, self._terms)}\n",
        ]
        if self._fields:
            fields = "\n".join(f"{field}: {meaning}" for field, meaning in self._fields.items())
            parts.append(f"WHAT YOU KNOW is sent as a board and as data with these fields:\n{fields}\n")
        parts.append(ANSWER + f" {BRIEFLY}" * brief)
        return "\n".join(parts)

    def _rules(self) -> str:
        return "" if self._text is None else self._text.rules(self._terms.variant)

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
        data = encode(shown).decode()
        if too_long:
            data += f" (left out for their length: {', '.join(too_long)})"
        return data

    def _asked(self, opened: Opened) -> str:
        """Return the allowed answers, the effect of no answer, and examples."""
        nothing = game_text.if_nothing(self._game, opened.window, opened.default)[:MOST_LINE]
        if self._text is None:
            return f"answer with the action as JSON. {nothing}"
        view = msgspec.convert(opened.view, self._text.view)
        examples = self._text.examples(opened.window, view)
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
        if gone:
            short.insert(0, f"({gone} earlier windows are left out)")
        return "\n".join([*short, *whole])


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
    parts: list[tuple[int, str]] = []
    for unit, size in UNITS:
        number, left = divmod(left, size)
        if number or parts:
            parts.append((number, unit + "s" * (number != 1)))
    return " ".join(f"{number} {unit}" for number, unit in parts[:2] if number)


def _line(text: str) -> str:
    return _cut(text, MOST_LINE)


def _cut(text: str, most: int) -> str:
    """Return the text, shortened to `most` characters."""
    return text if len(text) <= most else f"{text[:most]} ..."


def _summary(lines: list[str]) -> str:
    """Return a window as one line: the seat's action and the start of the later events."""
    return _cut(" | ".join(lines), MOST_SUMMARY)


MOST_CHARACTERS = 20_000
"""Maximum number of characters of an answer that are read, counted from its end."""
MOST_TYPED = 4_000
"""Maximum number of characters of an action, the same as for a line at `console`."""
MOST_UNMARKED = 20
"""Maximum number of unmarked places that are tried."""
LEADING = "*_`#-+•–—~ \t"  # noqa: RUF001 - models write all three dashes
"""Characters of Markdown that may precede the text of a line."""
WRAPPING = "*_`\"'“”‘’«»$ \t"  # noqa: RUF001 - and all these quotation marks
ENDING = ".,;!。"
BRACKETS = {"[": "]", "(": ")", "<": ">"}
ADJECTIVES = frozenset({"my", "the", "our", "final", "chosen", "next"})
SIGNS = (":", "=>", "=", "->", "→")
"""Signs that may separate the word ACTION from the action."""
TAGS = ("answer", "action", "final", "final_answer")
THOUGHTS = ("think", "thinking", "thought", "reasoning", "reflection", "scratchpad")
CHANNEL, TOKEN, LAST_TOKEN = "<|message|>", "<|", "</s>"
"""Tokens that some servers leave in the text: everything before the last channel is thinking."""
BOX = "\\boxed"
PREFIXES = ("/submit ", "submit ", "seat ")
LATEX = ("\\text{", "\\texttt{", "\\mathrm{", "\\textbf{", "\\mathtt{")
REMARKS = (" (", " - ", " – ", " — ", " # ", " // ")  # noqa: RUF001 - models write all three dashes
"""Separators that start a remark after an action."""
JOINS = (" and ", " & ", " + ")
QUOTING = ("example", "such as", "e.g", "instance", "format", "prompt", "must be", "begins with", "instead of")
"""Words that show that an action after them, in the middle of a line, is not the answer's own."""


class ListedAction(Struct, frozen=True, order=True):
    """A possible action: its position in the text, the line on which it starts, and its text."""

    at: int
    line: int
    """Index of the line; -1 if the following lines must not be added."""
    typed: str


def read_answer(game: str, window: str, answer: str) -> Any:
    """Return the action in a model's answer; None if it wants the default.

    Raises:
        ParseError: there is no action, or it cannot be read; the text says why.
    """
    text = _without_thoughts(_plain(answer[-MOST_CHARACTERS:]))
    lines = text.splitlines()
    marked = [*_marked_lines(lines, "action"), *_in_tags(text), *_boxed(text)]
    if marked:
        return _read(game, window, _with_next_lines(max(marked), lines))
    unmarked = sorted(_unmarked(text, lines), reverse=True)
    for found in unmarked[:MOST_UNMARKED]:
        try:
            return _read(game, window, _with_next_lines(found, lines))
        except ParseError:
            continue
    raise ParseError(f"no line begins with {MARK}")


def _plain(answer: str) -> str:
    """Return the answer with wide characters replaced by plain ones and invisible ones removed."""
    plain = unicodedata.normalize("NFKC", answer)[-MOST_CHARACTERS:].replace("\N{MINUS SIGN}", "-")
    return "".join(each for each in plain if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cf"))


_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def _lower(text: str) -> str:
    """Return the text with its ASCII letters in lower case, so that all positions remain the same."""
    return text.translate(_LOWER)


def _without_thoughts(text: str) -> str:
    """Return the text after the model's thinking, without any unfinished thought."""
    text = text.rpartition(CHANNEL)[2]
    low = _lower(text)
    closings = [low.rfind(f"</{word}>") + len(word) + 3 for word in THOUGHTS if f"</{word}>" in low]
    begin = max(closings, default=0)
    openings = [at for word in THOUGHTS if (at := low.find(f"<{word}>", begin)) >= 0]
    return text[begin : min(openings, default=len(text))]


def _marked_lines(lines: list[str], marker: str) -> Iterator[ListedAction]:
    """Yield the text after a line's marker, unless the line is a quotation."""
    at = 0
    for number, line in enumerate(lines):
        typed = _after_marker(line, marker)
        if typed is not None:
            yield ListedAction(at, number, typed)
        at += len(line) + 1


def _after_marker(line: str, marker: str) -> str | None:
    """Return the text after `ACTION:`, in its many spellings, at the start of a line; None without it."""
    rest = line.strip().lstrip(LEADING)
    unnumbered = rest.lstrip("0123456789")
    if unnumbered != rest and unnumbered[:1] in (".", ")"):
        rest = unnumbered[1:].lstrip(LEADING)
    for word in rest[:MOST_UNMARKED].split()[:3]:
        if word.strip(WRAPPING).lower() in ADJECTIVES:
            rest = rest[len(word) :].lstrip(LEADING)
    if rest[: len(marker)].lower() != marker:
        return None
    after = rest[len(marker) :].lstrip("*_` \t")
    for sign in SIGNS:
        if after.startswith(sign):
            return after[len(sign) :].strip()
    return None


def _with_next_lines(found: ListedAction, lines: list[str]) -> str:
    """Return the typed text, completed by the next line or JSON object if its own line ends too early."""
    typed, following = found.typed, found.line + 1
    if found.line < 0:
        return typed
    while not typed.strip(WRAPPING) and following < len(lines):
        line = lines[following].strip()
        typed = "" if line.startswith("```") else line.lstrip("> ")
        following += 1
    if not typed.strip(WRAPPING).startswith("{"):
        return typed
    parts = [typed]
    left = typed.count("{") - typed.count("}")
    for line in lines[following : following + MOST_TYPED]:
        if left <= 0:
            break
        parts.append(line.strip())
        left += line.count("{") - line.count("}")
    return " ".join(parts)


def _in_tags(text: str) -> Iterator[ListedAction]:
    """Yield the text between the last opening and closing tag of each kind."""
    low = _lower(text)
    for word in TAGS:
        end = low.rfind(f"</{word}>")
        begin = low.rfind(f"<{word}>", 0, max(end, 0))
        if begin >= 0:
            yield ListedAction(begin, -1, _own_line(text[begin + len(word) + 2 : end]))


def _boxed(text: str) -> Iterator[ListedAction]:
    r"""Yield the content of the last `\boxed{}`."""
    begin = text.rfind(BOX + "{")
    if begin < 0:
        return
    depth = 0
    for at in range(begin + len(BOX), len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            yield ListedAction(begin, -1, _own_line(text[begin + len(BOX) + 1 : at]))
            return


def _own_line(enclosed: str) -> str:
    """Return the enclosed text without a marker inside it."""
    within = list(_marked_lines(enclosed.splitlines(), "action"))
    return within[-1].typed if within else " ".join(enclosed.split())


def _unmarked(text: str, lines: list[str]) -> Iterator[ListedAction]:
    """Yield possible actions of an answer without a mark."""
    yield from _marked_lines(lines, "answer")
    at = 0
    for line in lines:
        where = line.rfind(MARK)
        before = line[:where].rstrip("*_` \t")
        is_quoted = any(word in before.lower() for word in QUOTING)
        if where > 0 and before.endswith((".", ":", ";", ",", "!", "?")) and not is_quoted:
            yield ListedAction(at + where, -1, line[where + len(MARK) :])
        at += len(line) + 1
    filled = [line.strip() for line in lines if line.strip() and not line.strip().startswith("```")]
    whole = " ".join(filled)
    if len(filled) == 1 or (whole.startswith("{") and whole.endswith("}")):
        typed = _after_marker(whole.strip(WRAPPING), "action")
        yield ListedAction(0, -1, whole if typed is None else typed)
    end = text.rfind("```")
    begin = text.rfind("```", 0, max(end, 0))
    if begin < 0:
        return
    language, brace, _ = text[begin + 3 : end].partition("{")
    if brace and len(language.split()) <= 1:
        yield ListedAction(begin, -1, text[begin + 3 + len(language) : end])


def _read(game: str, window: str, typed: str) -> Any:
    """Return the typed action, in its first reading that has the form of the window's actions."""
    first: ParseError | None = None
    for reading in _readings(typed):
        if reading.lower() == "/done":
            return None
        try:
            return game_text.read(game, window, reading)
        except ParseError as unclear:
            first = first or unclear
    raise first or ParseError(f"there is no action behind {MARK}")


def _readings(typed: str) -> Iterator[str]:
    """Yield an action without the decoration that models add, then without a trailing remark, then as a list."""
    if len(typed) > MOST_TYPED:
        return
    bare = _unwrapped(typed)
    if bare.startswith("{"):
        yield _named_action(bare)
        return
    if bare:
        yield bare
    for remark in REMARKS:
        before = _unwrapped(bare.partition(remark)[0])
        if before and before != bare:
            yield before
    joined = bare
    for join in JOINS:
        joined = joined.replace(join, ", ")
    if joined != bare:
        yield joined.replace(",,", ",")


def _unwrapped(typed: str) -> str:
    """Return the typed text without surrounding tokens, quotation marks, brackets, LaTeX and full stop."""
    bare, before = typed.partition(TOKEN)[0].replace(LAST_TOKEN, "").strip(), ""
    for _ in range(len(LATEX) + len(BRACKETS)):
        if bare == before:
            break
        before = bare
        bare = bare.strip(WRAPPING).rstrip(ENDING).strip(WRAPPING)
        for prefix in PREFIXES:
            if bare.lower().startswith(prefix):
                bare = bare[len(prefix) :]
        for opening in LATEX:
            if bare.startswith(opening) and bare.endswith("}"):
                bare = bare[len(opening) : -1]
        if bare and BRACKETS.get(bare[0]) == bare[-1]:
            bare = bare[1:-1]
    return bare if bare.startswith("{") else bare.replace('"', "").replace("'", "").replace("`", "")


def _named_action(bare: str) -> str:
    """Return the action in an object such as `{"action": "C3"}`; any other text unchanged."""
    try:
        held = decode_json(bare.encode(errors="replace"))
    except (msgspec.MsgspecError, RecursionError):
        return bare
    if not isinstance(held, dict):
        return bare
    named = {key.lower(): value for key, value in held.items()}
    for value in (named.get("action"), named.get("answer")):
        if isinstance(value, str):
            return _unwrapped(value)
        if isinstance(value, dict):
            return msgspec.json.encode(value).decode()
        if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
            return ", ".join(map(str, value))
    return bare
