"""Finds the action in a language model's answer, in the forms that models use. Pure, and linear in its length.

The last marked action counts: by a line that starts with `ACTION:`, by `<answer>` tags or by LaTeX's `boxed`.
Without a mark, these are read as well: a line that starts with `Answer:`, `ACTION:` after the end of a sentence,
JSON in a block of code, and an answer of a single line. Thinking, quotations and examples are never read.
"""

import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from protocol import text as game_text
from protocol.codec import decode_json
from protocol.text import ParseError

MARK = "ACTION:"
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


class Found(Struct, frozen=True, order=True):
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


def _lower(text: str) -> str:
    """Return the text with its ASCII letters in lower case, so that all positions remain the same."""
    return "".join(each.lower() if each.isascii() else each for each in text)


def _without_thoughts(text: str) -> str:
    """Return the text after the model's thinking, without any unfinished thought."""
    text = text[text.rfind(CHANNEL) + len(CHANNEL) :] if CHANNEL in text else text
    low = _lower(text)
    closings = [low.rfind(f"</{word}>") + len(word) + 3 for word in THOUGHTS if f"</{word}>" in low]
    begin = max(closings, default=0)
    openings = [at for word in THOUGHTS if (at := low.find(f"<{word}>", begin)) >= 0]
    return text[begin : min(openings, default=len(text))]


def _marked_lines(lines: list[str], marker: str) -> Iterator[Found]:
    """Yield the text after a line's marker, unless the line is a quotation."""
    at = 0
    for number, line in enumerate(lines):
        typed = _after_marker(line, marker)
        if typed is not None:
            yield Found(at, number, typed)
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


def _with_next_lines(found: Found, lines: list[str]) -> str:
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


def _in_tags(text: str) -> Iterator[Found]:
    """Yield the text between the last opening and closing tag of each kind."""
    low = _lower(text)
    for word in TAGS:
        end = low.rfind(f"</{word}>")
        begin = low.rfind(f"<{word}>", 0, max(end, 0))
        if begin >= 0:
            yield Found(begin, -1, _own_line(text[begin + len(word) + 2 : end]))


def _boxed(text: str) -> Iterator[Found]:
    r"""Yield the content of the last `\boxed{}`."""
    begin = text.rfind(BOX + "{")
    depth = 0
    for at in range(begin + len(BOX), len(text) if begin >= 0 else 0):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            yield Found(begin, -1, _own_line(text[begin + len(BOX) + 1 : at]))
            return


def _own_line(enclosed: str) -> str:
    """Return the enclosed text without a marker inside it."""
    within = list(_marked_lines(enclosed.splitlines(), "action"))
    return within[-1].typed if within else " ".join(enclosed.split())


def _unmarked(text: str, lines: list[str]) -> Iterator[Found]:
    """Yield possible actions of an answer without a mark."""
    yield from _marked_lines(lines, "answer")
    at = 0
    for line in lines:
        where = line.rfind(MARK)
        before = line[:where].rstrip("*_` \t")
        is_quoted = any(word in before.lower() for word in QUOTING)
        if where > 0 and before.endswith((".", ":", ";", ",", "!", "?")) and not is_quoted:
            yield Found(at + where, -1, line[where + len(MARK) :])
        at += len(line) + 1
    filled = [line.strip() for line in lines if line.strip() and not line.strip().startswith("```")]
    whole = " ".join(filled)
    if len(filled) == 1 or (whole.startswith("{") and whole.endswith("}")):
        typed = _after_marker(whole.strip(WRAPPING), "action")
        yield Found(0, -1, whole if typed is None else typed)
    end = text.rfind("```")
    begin = text.rfind("```", 0, max(end, 0))
    language, brace, _ = text[begin + 3 : end].partition("{") if begin >= 0 else ("", "", "")
    if brace and len(language.split()) <= 1:
        yield Found(begin, -1, text[begin + 3 + len(language) : end])


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
    named = {key.lower(): value for key, value in held.items()} if isinstance(held, dict) else {}
    for value in (named.get("action"), named.get("answer")):
        if isinstance(value, str):
            return _unwrapped(value)
        if isinstance(value, dict):
            return msgspec.json.encode(value).decode()
        if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
            return ", ".join(map(str, value))
    return bare
