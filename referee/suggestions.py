"""Suggestions for a name that is not known: the names that it may have been meant to be."""

import re
from collections.abc import Iterable

from msgspec import Struct

LONGEST_COMPARED = 100
"""Characters of a name that are compared: it may be as long as the file that it stands in."""
NEAR = 0.7
"""Share of letters in common at which a name is near: 1 is the same name."""
MOST_LISTED = 30
"""Known names that are listed where none is near."""
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`$")


def did_you_mean(name: str, known: Iterable[str], kind: str) -> str:
    """Return `did you mean mist?`, or `the games are mist, pointing` where no known name is near.

    Args:
        name: what was written.
        known: the names that would be right, in the order in which they are listed.
        kind: what they are names of, in the plural: `games`.
    """
    names = list(dict.fromkeys(known))
    if not names:
        return f"there are no {kind}"
    from difflib import get_close_matches  # noqa: PLC0415 - no match waits for it

    by_lower_case = {each.lower(): each for each in reversed(names)}
    near = get_close_matches(name[:LONGEST_COMPARED].lower(), by_lower_case, cutoff=NEAR)
    if near:
        return f"did you mean {' or '.join(by_lower_case[each] for each in near)}?"
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"the {kind} are {', '.join(names[:MOST_LISTED])}{more}"


def with_known_options(complaint: str, options: type[Struct]) -> str:
    """Return msgspec's complaint about a game's options, with the known options if it names an unknown one."""
    found = _UNKNOWN.search(complaint)
    if found is None:
        return complaint
    near = did_you_mean(found["key"], options.__struct_fields__, "options")
    return f"{complaint[: found.start()]}{found['key']!r} is not an option; {near}"
