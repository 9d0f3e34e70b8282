"""A strict reader of TOML files (bot.toml, tournament files) whose errors name the file, line and field.

`tomllib` reports lines only for broken syntax, and msgspec names a wrong value only by its path; `line_of` finds
the line of such a path. Some of these files are untrusted, so size, nesting and numbers have limits.
"""

import errno
import math
import re
import tomllib
from enum import Enum
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct, UnsetType

from referee.display_text import did_you_mean, printable
from referee.linux.files import read_regular

FormT = TypeVar("FormT", bound=Struct)
Steps = tuple[str | int, ...]
"""A path as a tuple: keys of tables and indexes of arrays."""

MOST_BYTES = 256 * 1024
"""Maximum bytes of a file. A tournament of a thousand bots needs a quarter of that."""
MOST_PARTS = 32
"""Maximum number of parts of a dotted key, since the time of `tomllib` grows with its square."""
LONGEST_COMPLAINT = 400
"""Maximum characters of an error, which may quote a key or value as long as the file."""
_INT64 = range(-(2**63), 2**63)
"""The range of integers in TOML."""

_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
_HEADER = re.compile(r"\s*+(\[\[?+)([^\]]++)\]")
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_ASSIGNMENT = re.compile(rf"\s*+({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)[ \t]*+=")
_KEY = re.compile(_PART)
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}")
_LONG_NUMBER = re.compile(r"(?<![0-9_])[0-9_]{1000}")
_SYNTAX = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_AT = re.compile(r"(?P<what>.*?) - at `(?P<path>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`", re.DOTALL)
_NOT_ALLOWED = "Invalid enum value"
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*)`", re.DOTALL)


class TomlError(ValueError):
    """A file does not have the required form. The text is one line: `FILE:LINE: FIELD: what is wrong`."""

    def __init__(self, text: str, *, missing_field: str = "", unknown_field: str = "") -> None:
        super().__init__(text)
        self.missing_field = missing_field
        """Path of the required field that is missing, or ""."""
        self.unknown_field = unknown_field
        """Path of the field that the form does not have, or ""."""


def read_toml(path: Path, form: type[FormT], *, shown: Path | None = None) -> FormT:
    """Return a file's content, which must have exactly the form's fields and types.

    Args:
        path: the file.
        form: the type of the content.
        shown: the file's name in errors; None: its path.

    Raises:
        TomlError: it is missing, too long, not TOML, or does not fit the form.
    """
    return read_toml_with_text(path, form, shown=shown)[0]


def read_toml_with_text(path: Path, form: type[FormT], *, shown: Path | None = None) -> tuple[FormT, str]:
    """Return the content as `read_toml` and the text, since the file may change before a second reading.

    Raises:
        TomlError: as `read_toml`.
    """
    shown = shown or path
    text = read_text(path, shown=shown)
    try:
        return msgspec.convert(parse(text), form), text
    except TomlError as error:
        raise _error(f"{shown}:{error}") from None
    except RecursionError:
        raise _error(f"{shown}:{_deepest_line(text)}: is nested too deeply") from None
    except msgspec.ValidationError as error:
        raise _misfit(shown, text, form, str(error)) from None


def read_text(path: Path, *, shown: Path | None = None, most: int = MOST_BYTES, follow: bool = True) -> str:
    """Return a text file's content.

    Args:
        path: the file.
        shown: the file's name in errors; None: its path.
        most: the maximum number of bytes.
        follow: whether the path may be a symbolic link.

    Raises:
        TomlError: it cannot be read, is too long, is no regular file, or not UTF-8.
    """
    shown = shown or path
    try:
        content = read_regular(path, most, follow=follow)
    except OSError as error:
        long = f"is longer than {most} bytes" if error.errno == errno.EFBIG else None
        raise _error(f"{shown}: {long or f'cannot be read: {error.strerror}'}") from None
    except ValueError as error:
        raise _error(f"{shown}: cannot be read: {error}") from None
    try:
        # Editors on Windows write a byte order mark first, which is not part of the text.
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _error(f"{shown}: is not UTF-8 text, from byte {error.start} on") from None


def parse(text: str) -> dict[str, Any]:
    """Return a TOML document as plain values with integers of 64 bits, finite floats and no NUL characters.

    Raises:
        TomlError: the text is not TOML or exceeds a limit. Its text is `LINE: what is wrong`.
    """
    if long := _LONG_KEY.search(text):
        raise _error(f"{_line_at(text, long.start())}: a key has more than {MOST_PARTS} parts")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _error(_syntax(text, str(error))) from None
    except RecursionError:
        raise _error(f"{_deepest_line(text)}: is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        # A number is too long: Python reads no integer of more than 4,300 digits.
        long = _LONG_NUMBER.search(text)
        line, what = (1, str(error)) if long is None else (_line_at(text, long.start()), "a number is too long")
        raise _error(f"{line}: {what}") from None
    try:
        _check(content)
    except _UnfitError as error:
        path = "".join(reversed(error.steps)).removeprefix(".")
        raise _error(f"{line_of(text, path)}: {path}: {error}") from None
    return content


class _UnfitError(ValueError):
    """No field accepts a value. The text has the reason; `steps` is the value's path in reverse."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.steps: list[str] = []


def _check(value: Any) -> None:
    """Raise _UnfitError if a value within this one is accepted by no field."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for step, each in pairs:
            try:
                _check(each)
                _check(step)
            except _UnfitError as error:
                error.steps.append(f".{step}" if isinstance(step, str) else f"[{step}]")
                raise
    elif isinstance(value, int) and value not in _INT64:
        raise _UnfitError("an integer of more than 64 bits")
    elif isinstance(value, float) and not math.isfinite(value):
        raise _UnfitError(f"{value} is not a number")
    elif isinstance(value, str) and "\0" in value:
        raise _UnfitError("text has a NUL character")


def _error(text: str, *, missing_field: str = "", unknown_field: str = "") -> TomlError:
    """Return an error with one short line of text, even if it quotes a long value."""
    return TomlError(cut(printable(text)), missing_field=missing_field, unknown_field=unknown_field)


def cut(complaint: str) -> str:
    """Return a complaint, shortened if it quotes a long value."""
    return complaint if len(complaint) <= LONGEST_COMPLAINT else f"{complaint[: LONGEST_COMPLAINT - 3]}..."


def _line_at(text: str, at: int) -> int:
    """Return the line, from 1, of a character."""
    return text.count("\n", 0, at) + 1


def _deepest_line(text: str) -> int:
    """Return the line, from 1, on which most brackets are open."""
    depth, deepest, best = 0, 0, 1
    for number, line in enumerate(text.split("\n"), start=1):
        depth += line.count("[") + line.count("{")
        if depth > deepest:
            deepest, best = depth, number
        depth -= line.count("]") + line.count("}")
    return best


def line_of(text: str, path: str) -> int:
    """Return the line, from 1, of the value at a path, or of the nearest table around it if it is absent.

    Args:
        text: a TOML document.
        path: a path as msgspec writes it, with or without `$`: `$.limits.memory_mb`, `$.bots[1].name`.
    """
    wanted = _steps(path)
    tables: dict[Steps, int] = {}
    table: Steps = ()
    best, best_length = 1, 0
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = _table(_keys(header[2]), tables, is_array=header[1] == "[[")
            here = table
        elif assignment := _ASSIGNMENT.match(line):
            here = table + _keys(assignment[1])
        else:
            continue
        # Values within an inline array or table have no line of their own, only the line of the key.
        length = len(here) if here == wanted[: len(here)] else _shared(here, wanted)
        if length > best_length:
            best, best_length = number, length
    return best


def _table(keys: Steps, tables: dict[Steps, int], *, is_array: bool) -> Steps:
    """Return the path of a header's table; `tables` has the current index of each array of tables."""
    if is_array:
        tables[keys] = tables.get(keys, -1) + 1
    path: Steps = ()
    for length in range(1, len(keys) + 1):
        path += (keys[length - 1],)
        if keys[:length] in tables:
            path += (tables[keys[:length]],)
    return path


def _shared(here: Steps, wanted: Steps) -> int:
    """Return the number of first steps that two paths share: 1 for `limits.log_kb` and `limits.files`."""
    shared = 0
    for ours, theirs in zip(here, wanted, strict=False):
        if ours != theirs:
            break
        shared += 1
    return shared


def _keys(dotted: str) -> Steps:
    return tuple(found[0].strip("\"'") for found in islice(_KEY.finditer(dotted), MOST_PARTS + 1))


def _steps(path: str) -> Steps:
    steps = (match.groups() for match in _STEP.finditer(path.removeprefix("$")))
    return tuple(int(index) if index is not None else key for index, key in steps)


def _syntax(text: str, complaint: str) -> str:
    """Return `LINE: complaint` for broken syntax."""
    found = _SYNTAX.fullmatch(complaint)
    if found is None:
        return f"1: {complaint}"
    return f"{found['line'] or _line_at(text.rstrip(), len(text))}: {found['what']}"


def _misfit(shown: Path, text: str, form: type[Struct], complaint: str) -> TomlError:
    """Return the error `FILE:LINE: FIELD: complaint` for a value that does not fit."""
    at = _AT.fullmatch(complaint)
    what, path = (at["what"], at["path"]) if at else (complaint, "$")
    if missing := _MISSING.fullmatch(what):
        field = _field(path, missing["key"])
        return _error(f"{shown}:{line_of(text, path)}: {field}: is missing", missing_field=field)
    if unknown := _UNKNOWN.fullmatch(what):
        field = _field(path, unknown["key"])
        known = _known(form, _steps(path))
        said = f"; {did_you_mean(unknown['key'], known, 'fields')}" if known else ""
        line = line_of(text, field)
        return _error(f"{shown}:{line}: {field}: is not a known field{said}", unknown_field=field)
    if what.startswith(_NOT_ALLOWED) and (words := _words(_form_at(form, _steps(path)))):
        what = f"{what}; there are {words}"
    value = _value(text, _steps(path))
    return _error(f"{shown}:{line_of(text, path)}: {_field(path, '')}: {value}: {what}")


def _field(path: str, key: str) -> str:
    return ".".join(part for part in (path.removeprefix("$").removeprefix("."), key) if part)


def _known(form: Any, steps: Steps) -> list[str]:
    """Return the names of the fields of the Struct at a path within a form; none if the type is not one Struct."""
    there = _form_at(form, steps)
    return [field.encode_name for field in msgspec.structs.fields(there)] if _is_struct(there) else []


def _words(form: Any) -> str:
    """Return the allowed values of an Enum or Literal, joined by commas; "" for other types."""
    if isinstance(form, type) and issubclass(form, Enum):
        return ", ".join(str(each.value) for each in form)
    return ", ".join(map(str, get_args(form))) if get_origin(form) is Literal else ""


def _form_at(form: Any, steps: Steps) -> Any:
    """Return the type at a path within a form, or None if it cannot be determined."""
    for step in steps:
        if isinstance(step, int):
            form = next(iter(get_args(form)), None)
        elif _is_struct(form):
            fields = {field.encode_name: field.type for field in msgspec.structs.fields(form)}
            form = _without_none(fields.get(step))
        else:
            return None
    return form


def _is_struct(form: Any) -> bool:
    return isinstance(form, type) and issubclass(form, Struct)


def _without_none(form: Any) -> Any:
    """Return the other type of an optional type; return all other types unchanged."""
    if get_origin(form) not in (UnionType, Union):
        return form
    there = [each for each in get_args(form) if each not in (NoneType, UnsetType)]
    return there[0] if len(there) == 1 else form


def _value(text: str, steps: Steps) -> str:
    """Return the value at a path as text, shortened to fit on a line."""
    value: Any = tomllib.loads(text)
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            # In paths, msgspec does not name the keys of a table with arbitrary keys.
            break
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004 - a line's worth
