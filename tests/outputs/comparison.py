"""Compares two recordings, and shows what differs. It uses none of the code that is compared."""

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

STATES = ("same", "changed", "new", "gone")
MOST_FILES = 5
"""Files of which the differences are shown."""
MOST_LINES = 60
"""Lines that are shown per file."""
MOST_CHARACTERS = 200
"""Characters of a line that are shown."""
LONG = 300
"""Lines longer than this are broken before they are compared: otherwise JSON on one line is one difference."""
_BREAKS = re.compile(r'(?<=,)(?=[{["])|(?=<)')


def compare(before: Path, after: Path) -> tuple[str, bool]:
    """Return a report on two folders, and whether they are the same."""
    states = _states(before, after)
    lines = [f"{'group':15}" + "".join(f"{state:>9}" for state in STATES)]
    for group in sorted({file.parts[0] for file in states}):
        found = [state for file, state in states.items() if file.parts[0] == group]
        lines.append(f"{group:15}" + "".join(f"{found.count(state):>9}" for state in STATES))
    for state in ("new", "gone"):
        files = [str(file) for file, each in states.items() if each == state]
        lines += [f"{state}: {name}" for name in files[: MOST_FILES * 2]]
        if len(files) > MOST_FILES * 2:
            lines.append(f"and {len(files) - MOST_FILES * 2} more {state}")
    changed = [file for file, state in states.items() if state == "changed"]
    for file in changed[:MOST_FILES]:
        lines += ["", *_difference(before / file, after / file)]
    if len(changed) > MOST_FILES:
        lines += ["", f"also changed, {len(changed) - MOST_FILES} files:", *map(str, changed[MOST_FILES:])]
    return "\n".join(lines) + "\n", all(state == "same" for state in states.values())


def _states(before: Path, after: Path) -> dict[Path, str]:
    """Return the state of every file of either folder, in order. Groups that neither finished are left out."""
    first, second = set(_files(before)), set(_files(after))
    states: dict[Path, str] = {}
    for file in sorted(first | second):
        if file not in second:
            states[file] = "gone"
        elif file not in first:
            states[file] = "new"
        else:
            is_same = (before / file).read_bytes() == (after / file).read_bytes()
            states[file] = "same" if is_same else "changed"
    return states


def _files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        name = file.relative_to(folder)
        if file.is_file() and not name.parts[0].startswith("."):
            yield name


def _difference(before: Path, after: Path) -> list[str]:
    diff = unified_diff(_lines(before), _lines(after), str(before), str(after), n=1, lineterm="")
    lines = [line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…" for line in diff]
    if len(lines) > MOST_LINES:
        return [*lines[:MOST_LINES], f"… {len(lines) - MOST_LINES} more lines"]
    return lines


def _lines(file: Path) -> list[str]:
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8", errors="backslashreplace").splitlines():
        lines += _BREAKS.split(line) if len(line) > LONG else [line]
    return lines
