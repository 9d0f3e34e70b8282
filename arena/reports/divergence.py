"""Where a new version parts from the old one, as people read it and as programs do."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from arena.quantities import counted
from arena.regression import Decision, DecisionDiff, Group, Place, total
from arena.reports.markdown import escaped, table_lines
from arena.schedule import TWO, sortable_match_name
from arena.tables import Grid, grid_of
from protocol.codec import encode

ROWS = 40
"""Up to so many decisions are listed; of more, the first of each match."""
LONGEST = 60
"""Characters of an action that a table has room for."""
HEADINGS = ("match", "seat", "window", "turn", "base", "head", "base's outcome", "head's outcome")
WORDY = tuple(heading for heading in HEADINGS if heading not in ("seat", "turn"))
GROUPS = ("matches in which they", "matches", "base's mean", "head's mean", "head's gain")
WORDS = {1.0: "won", 0.5: "tied", 0.0: "lost"}
"""Outcomes of two seats, by points."""

Row = tuple[str, ...]


def explained_lines(matches: Sequence[DecisionDiff]) -> list[str]:
    """The counts in a few lines."""
    found = total(matches)
    share = f" ({found.partings / found.asked:.1%})" if found.asked else ""
    parted = f"{found.parted.matches} of {counted(len(matches), 'match')}"
    differing = f"{found.partings} of {counted(found.asked, 'decision')}{share}"
    lines = [f"head differs from base in {differing}, in {parted}"]
    if found.illegal or found.unanswered:
        were = "was" if found.illegal == 1 else "were"
        lines.append(
            f"{found.illegal} of head's answers {were} illegal and {found.unanswered} did not come in time:"
            " the default counts for them"
        )
    gone = [match for match in matches if match.gone]
    if gone:
        left = counted(found.left, "decision")
        lines.append(
            f"head dropped out before the end of {counted(len(gone), 'match')} ({left} not asked),"
            f" first in {_name(gone[0].place)}: {gone[0].gone}"
        )
    return lines


def decisions_table(matches: Sequence[DecisionDiff], seats: int) -> Grid:
    """Return the table of decisions in which head differs from base."""
    return grid_of(HEADINGS, explained_rows(matches, seats), WORDY)


def outcomes_table(matches: Sequence[DecisionDiff]) -> Grid:
    """How it went in matches that part, and in others."""
    return grid_of(GROUPS, outcome_rows(matches), GROUPS[:1])


def explained_rows(matches: Sequence[DecisionDiff], seats: int) -> list[Row]:
    """The rows of the list: all decisions in which they part or head was in trouble, or each match's first."""
    rows = [list(_rows(match, seats)) for match in matches]
    if sum(map(len, rows)) > ROWS:
        rows = [each[:1] for each in rows]
    return [row for each in rows for row in each]


def rows_left_out(matches: Sequence[DecisionDiff], seats: int) -> int:
    """How many rows the list leaves out."""
    return sum(len(list(_rows(match, seats))) for match in matches) - len(explained_rows(matches, seats))


def explained_markdown(matches: Sequence[DecisionDiff], seats: int) -> str:
    """A part of a CI's summary."""
    rows = explained_rows(matches, seats)
    more = rows_left_out(matches, seats)
    return "\n".join(
        [
            "",
            "### Where head differs from base",
            "",
            *(f"- {escaped(line)}" for line in explained_lines(matches)),
            "",
            *table_lines(GROUPS, outcome_rows(matches)),
            "",
            *(table_lines(HEADINGS, rows) if rows else []),
            *(["", f"Only the first of each match is shown; `--json` has {more} more."] if more else []),
            "",
        ]
    )


def explained_json(matches: Sequence[DecisionDiff]) -> dict[str, Any]:
    """All that was found, match by match."""
    found: dict[str, Any] = msgspec.to_builtins(total(matches))
    return found | {
        "matches": [
            {
                "match": _name(match.place),
                **{key: getattr(match.place, key) for key in ("block", "seating", "seat")},
                "base_points": match.place.base_points,
                "head_points": match.place.head_points,
                "asked": match.asked,
                "partings": match.partings,
                "gone": match.gone,
                "left": match.left,
                "decisions": [
                    {**msgspec.to_builtins(decision), "parts": decision.parts} for decision in match.decisions
                ],
            }
            for match in matches
        ]
    }


def outcome_rows(matches: Sequence[DecisionDiff]) -> list[Row]:
    """A row for each kind of match that there is."""
    found = total(matches)
    kinds = {
        "differ": found.parted,
        "never differ": found.same,
        "did not differ before head dropped out": found.cut_short,
    }
    return [(kind, *_means(group)) for kind, group in kinds.items() if group.matches]


def _means(group: Group) -> Row:
    if group.base is None or group.head is None:
        return (str(group.matches), "-", "-", "-")
    return (str(group.matches), f"{group.base:.3f}", f"{group.head:.3f}", f"{group.head - group.base:+z.3f}")


def _rows(match: DecisionDiff, seats: int) -> Iterator[Row]:
    """The rows of one match; only the first says which it is, and how it ended."""
    place = match.place
    first: Row = (_name(place), str(place.seat))
    outcomes: Row = (_outcome(place.base_points, seats), _outcome(place.head_points, seats))
    middles = [*map(_middle, match.decisions), *([("", "", "", match.gone)] if match.gone else [])]
    for number, middle in enumerate(middles):
        yield (*first, *middle, *outcomes) if number == 0 else ("", "", *middle, "", "")


def _middle(decision: Decision) -> Row:
    turn = "" if decision.turn is None else str(decision.turn)
    base, head = _apart(decision.base, decision.head) if decision.parts else (decision.base, decision.head)
    return (
        f"{decision.window} {decision.name}",
        turn,
        _action(base, "default" if decision.base_by_default else ""),
        _action(head, decision.trouble or ("default" if decision.head_by_default else "")),
    )


def _apart(base: Any, head: Any) -> tuple[Any, Any]:
    """What two objects do not agree in: the rest would fill the table."""
    if not (isinstance(base, dict) and isinstance(head, dict)):
        return base, head
    same = [key for key in base if key in head and base[key] == head[key]]
    one, other = ({key: each[key] for key in each if key not in same} for each in (base, head))
    return one, other


def _action(action: Any, remark: str) -> str:
    text = encode(action).decode()
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return f"{text} ({remark})" if remark else text


def _outcome(points: float, seats: int) -> str:
    return WORDS[points] if seats == TWO else f"{points:.2f}"


def _name(place: Place) -> str:
    return sortable_match_name(place.block, place.seating)
