"""The bots of a tournament whose field changes: who plays from when on, and what waits to be taken in."""

from collections.abc import Sequence
from typing import Any

from arena.schedule import Entered, Event, Withdrawn, competing, entered
from arena.tables import Grid, grid_of
from arena.tournament import Results, Standing, change_text

HASH_SHOWN = 19
"""Characters of a content hash: `sha256:` and twelve digits."""
NOT_YET = "waits"
"""Stands where the block will, once an arena has taken the change in."""


def entries_table(standing: Standing, events: Sequence[Event]) -> Grid:
    """A row for each entrant; blocks are counted from 1, as transcripts are."""

    def block(value: int | str | None) -> str:
        return str(value + 1) if isinstance(value, int) else value or "-"

    rows = [
        (
            str(one["entrant"] + 1),
            one["bot"],
            one["version"] or "-",
            (one["content"] or "-")[:HASH_SHOWN],
            block(one["from_block"]),
            block(one["until_block"]),
        )
        for one in entries_json(standing, events)["entrants"]
    ]
    return grid_of(("#", "bot", "version", "content", "plays from", "withdrawn at"), rows)


def entries_json(standing: Standing, events: Sequence[Event]) -> dict[str, Any]:
    """Entrants and changes as plain values; blocks are counted from 0.

    Args:
        standing: the field with all changes that wait.
        events: as they are in the ledger.
    """
    spec, of_file = standing.spec, len(standing.begun.labels)
    blocks = {event.id: NOT_YET if event.block is None else event.block for event in events}
    came: dict[int, int | str] = {}
    left: dict[int, int | str] = {}
    for event in standing.events:
        if isinstance(event.what, Withdrawn):
            left[event.what.entrant] = blocks[event.id]
        elif isinstance(event.what, Entered):
            came[of_file + len(came)] = blocks[event.id]
            if event.what.predecessor is not None:
                left[event.what.predecessor] = blocks[event.id]
    later = dict(enumerate(entered(spec), start=of_file))
    active = competing(spec)
    entrants = [
        {
            "entrant": number,
            "bot": label,
            "house": number == spec.house,
            "competes": number in active,
            "version": later[number].version if number in later else None,
            "content": standing.content(number),
            "predecessor": later[number].predecessor if number in later else None,
            "from_block": came.get(number, 0),
            "until_block": left.get(number),
        }
        for number, label in enumerate(standing.labels)
    ]
    changes = events_json(events, standing.labels)
    return {"entrants": entrants, "entries_until": standing.entries_until, "changes": changes}


def events_json(events: Sequence[Event], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Changes as plain values; blocks are counted from 0. `labels`: of all entrants, as they entered."""
    return [
        {
            "at": event.at,
            "change": event.kind,
            "text": change_text(event, labels),
            "block": event.block,
            "refused": event.refused,
        }
        for event in events
    ]


def events_of(found: Results) -> list[dict[str, Any]]:
    """The same of a tournament's results; none of a regression test."""
    if found.spec is None:
        return []
    later = [event.what.label for event in found.events if isinstance(event.what, Entered) and not event.refused]
    return events_json(found.events, [*found.terms["bots"], *later])
