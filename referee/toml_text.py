"""TOML files that people write (bot.toml, tournament files), read strictly: an error names file, line and field.

`tomllib` knows lines only for broken syntax, and msgspec names a wrong value only by its path; `line_of` finds the
line that belongs to such a path.
"""

import re
import tomllib
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct

FormT = TypeVar("FormT", bound=Struct)
Steps = tuple[str | int, ...]
"""A path, taken apart: keys of tables and indexes of arrays."""

_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
_ASSIGNMENT = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_KEY = re.compile(r"\"[^\"]*\"|'[^']*'|[\w-]+")
_SYNTAX = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")
_AT = re.compile(r"(?P<what>.*?) - at `(?P<path>.*)`")
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`")
_NOT_ALLOWED = "Invalid enum value"
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*)`")


class TomlError(ValueError):
    """A file that cannot be read as what it should be. The text is one line: `FILE:LINE: FIELD: what is wrong`."""


def read_toml(path: Path, form: type[FormT]) -> FormT:
    """The file's content, in exactly the form's fields and types.

    Raises:
        TomlError: it is missing, is not TOML, or does not fit the form.
    """
    try:
        text = path.read_bytes().decode()
        return msgspec.convert(tomllib.loads(text), form)
    except OSError as error:
        raise TomlError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TomlError(f"{path}: is not UTF-8 text, from byte {error.start} on") from None
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"{path}:{_syntax(text, str(error))}") from None
    except msgspec.ValidationError as error:
        raise TomlError(f"{path}:{_misfit(text, form, str(error))}") from None


def line_of(text: str, path: str) -> int:
    """The line, from 1, on which the value at a path stands; the nearest one around it where it has none.

    Args:
        text: a TOML document.
        path: as msgspec writes them, with or without `$`: `$.limits.memory_mb`, `$.bots[1].name`.
    """
    wanted = _steps(path)
    tables: dict[Steps, int] = {}
    table: Steps = ()
    best, best_length = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table(_keys(header[2]), tables, is_array=header[1] == "[[")
            here = table
        elif assignment := _ASSIGNMENT.match(line):
            here = table + _keys(assignment[1])
        else:
            continue
        # An array's value stands on its key's line: what is wanted may lie deeper than any line of its own.
        length = len(here) if here == wanted[: len(here)] else _shared(here, wanted)
        if length > best_length:
            best, best_length = number, length
    return best


def _table(keys: Steps, tables: dict[Steps, int], *, is_array: bool) -> Steps:
    """The path that a header opens; `tables` counts how often each array of tables was opened."""
    if is_array:
        tables[keys] = tables.get(keys, -1) + 1
    path: Steps = ()
    for length in range(1, len(keys) + 1):
        path += (keys[length - 1],)
        if keys[:length] in tables:
            path += (tables[keys[:length]],)
    return path


def _shared(here: Steps, wanted: Steps) -> int:
    """How much of a wanted path a line shares, though it goes on elsewhere: `limits.log_kb` for `limits.files`."""
    shared = 0
    for ours, theirs in zip(here, wanted, strict=False):
        if ours != theirs:
            break
        shared += 1
    return shared


def _keys(dotted: str) -> Steps:
    return tuple(key.strip("\"'") for key in _KEY.findall(dotted))


def _steps(path: str) -> Steps:
    steps = (match.groups() for match in _STEP.finditer(path.removeprefix("$")))
    return tuple(int(index) if index is not None else key for index, key in steps)


def _syntax(text: str, complaint: str) -> str:
    """`LINE: complaint` for broken syntax."""
    found = _SYNTAX.fullmatch(complaint)
    if found is None:
        return f"1: {complaint}"
    return f"{found['line'] or max(1, len(text.splitlines()))}: {found['what']}"


def _misfit(text: str, form: type[Struct], complaint: str) -> str:
    """`LINE: FIELD: complaint` for a value that does not fit."""
    at = _AT.fullmatch(complaint)
    what, path = (at["what"], at["path"]) if at else (complaint, "$")
    if missing := _MISSING.fullmatch(what):
        return f"{line_of(text, path)}: {_field(path, missing['key'])}: is missing"
    if unknown := _UNKNOWN.fullmatch(what):
        field = _field(path, unknown["key"])
        known = _known(form, _steps(path))
        return f"{line_of(text, field)}: {field}: is no known field" + (f"; there are {known}" if known else "")
    if what.startswith(_NOT_ALLOWED) and (words := _words(_form_at(form, _steps(path)))):
        what = f"{what}; there are {words}"
    return f"{line_of(text, path)}: {_field(path, '')}: {_value(text, _steps(path))}: {what}"


def _field(path: str, key: str) -> str:
    return ".".join(part for part in (path.removeprefix("$").removeprefix("."), key) if part)


def _known(form: Any, steps: Steps) -> str:
    """The names of the fields of the Struct at a path within a form; empty where it is not plainly one Struct."""
    there = _form_at(form, steps)
    return ", ".join(field.encode_name for field in msgspec.structs.fields(there)) if _is_struct(there) else ""


def _words(form: Any) -> str:
    """The values that are allowed of a type that is a list of them; empty for any other."""
    if isinstance(form, type) and issubclass(form, Enum):
        return ", ".join(str(each.value) for each in form)
    return ", ".join(map(str, get_args(form))) if get_origin(form) is Literal else ""


def _form_at(form: Any, steps: Steps) -> Any:
    """The type of what stands at a path within a form; None where that is not plain."""
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
    """A type that may be left out, as it is where it is not."""
    if get_origin(form) not in (UnionType, Union):
        return form
    there = [each for each in get_args(form) if each is not NoneType]
    return there[0] if len(there) == 1 else form


def _value(text: str, steps: Steps) -> str:
    """What stands at a path, short enough for one line."""
    value: Any = tomllib.loads(text)
    for step in steps:
        value = value[step]
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004 - a line's worth
