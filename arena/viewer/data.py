"""The data of a match's page: its steps and, for each viewpoint, the board's changes from step to step.

A view is a JSON object. For each step and viewpoint the page has the keys that changed, as numbers in a pool of
changes: most seats see the same, and few things change at once. A change is `[value]`, or for an object
`{"d": {key: change}, "x": [removed keys]}`, or for a list that grew `{"a": [its new elements]}`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from arena.live import Eyes, with_names
from arena.replay import Fact, Recording, Step
from protocol.games.runes_to_ruins.runes import RUNES
from protocol.text import drawing_of
from referee.display_text import printable

MOST_BYTES = 32 * 1024 * 1024
"""Limit of all boards and texts in the page together, in bytes."""
TEXT = 2_200
"""Longest line of text, in characters: a note has 2,000."""
_CHANGED = object()


def page_data(recording: Recording, only: Eyes | None = None) -> dict[str, Any]:
    """Return the data of a page as JSON types. With `only`, include nothing that this viewpoint may not know."""
    if recording.own is not None:
        only = recording.own
    seats = recording.terms.seats
    eyes: list[Eyes] = ["host", "spectator", *range(seats)] if only is None else [only]
    steps = list(_known(recording, only))
    pool = _Pool()
    words = [_words(recording, number, step, eyes, pool) for number, step in steps]
    boards = {str(each): _boards([step for _, step in steps], each, pool) for each in eyes}
    return {
        "format": 1,
        "game": recording.game,
        "match": recording.terms.match,
        "variant": recording.terms.variant,
        "seats": seats,
        "names": _names(recording.names, seats),
        "manifests": _names(recording.manifests, seats),
        "reserve_ms": recording.terms.reserve_ms,
        "own": recording.own,
        "places": _places(recording.ranking, seats),
        "eyes": [str(each) for each in eyes],
        "steps": words,
        "boards": boards,
        "pool": pool.changes,
        "left_out": pool.left_out,
        "runes": runes_of(recording.game),
    }


def runes_of(game: str) -> dict[str, Any]:
    """Return the segments of each rune, which only the drawing of Runes to Ruins needs; {} for other games."""
    return {rune.name: rune.segments for rune in RUNES} if game == "runes-to-ruins" else {}


def _names(known: Sequence[str], seats: int) -> list[str]:
    """Return a name for each seat; "" where none is known."""
    names = [*known, *[""] * seats][:seats]
    return [printable(name)[:TEXT] for name in names]


def _places(ranking: Sequence[Sequence[int]], seats: int) -> list[int | None]:
    """Return each seat's place, 1 for the best; ties share a place. A seat's own file may hold invalid seats."""
    places: list[int | None] = [None] * seats
    better = 0
    for group in ranking:
        for seat in group:
            if 0 <= seat < seats:
                places[seat] = better + 1
        better += len(group)
    return places


def _known(recording: Recording, only: Eyes | None) -> Iterator[tuple[int, Step]]:
    """Yield the steps with their numbers, without those that the viewpoint may not know of."""
    hides = recording.own is None and only not in (None, "host")
    before: object = None
    for number, step in enumerate(recording.steps):
        if not hides or only is None:
            yield number, step
            continue
        view = _view(step, only)
        clocks = [each for each in step.clocks if each.seat == only]
        facts = [fact for fact in step.facts if _may_know(fact, only)]
        if view != before or facts or recording.seen(number, only):
            # The original title would reveal the time that others took and the number of their windows.
            title = step.title if number == 0 else "the board changes"
            yield number, Step(title, step.turn, step.view, step.told, facts, clocks)
        before = view


def _may_know(fact: Fact, eyes: Eyes) -> bool:
    return fact.seat is None or eyes in (fact.seat, "host")


def _words(recording: Recording, number: int, step: Step, eyes: Sequence[Eyes], pool: "_Pool") -> dict[str, Any]:
    """Return a step without its boards: facts and events, each with the seat that may know it, or null."""
    all_eyes = "host" in eyes
    facts = [[_line(fact.text, pool), fact.seat, fact.kind] for fact in step.facts]
    told = step.told if all_eyes else recording.seen(number, eyes[0])
    say = drawing_of(recording.game).words
    said = {
        "title": _line(step.title, pool),
        "turn": step.turn,
        "facts": facts,
        "told": [[_line(with_names(say(each.event), recording.names), pool), each.seat] for each in told],
        "clocks": [
            [each.seat, each.main_ms, round(each.used_ms, 1), each.reserve_ms]
            for each in step.clocks
            if all_eyes or each.seat == eyes[0]
        ],
    }
    for each in told:
        if type(each.event).__name__ == "Reveal":
            said["reveal"] = msgspec.to_builtins(each.event, str_keys=True)
    return {key: value for key, value in said.items() if value not in (None, [])}


def _line(text: str, pool: "_Pool") -> str:
    shown = printable(text)
    shown = shown if len(shown) <= TEXT else f"{shown[:TEXT]}…"
    return shown if pool.spend(len(shown)) else "(left out)"


def _boards(steps: Sequence[Step], eyes: Eyes, pool: "_Pool") -> list[Any]:
    """Return for each step the changed keys with their numbers in the pool, or why there is no board."""
    boards: list[Any] = []
    before: dict[str, Any] = {}
    for step in steps:
        view = _view(step, eyes)
        if isinstance(view, str):
            boards.append(view)
            continue
        changed = {
            key: pool.number(change(before.get(key, _CHANGED), value))
            for key, value in view.items()
            if key not in before or before[key] != value
        }
        if None in changed.values():
            boards.append("left out to keep the page small")
            continue
        boards.append(changed)
        before = view
    return boards


def _view(step: Step, eyes: Eyes) -> dict[str, Any] | str:
    """Return a board as JSON types, or an error text if a seat's own file holds an impossible board."""
    try:
        view: dict[str, Any] = msgspec.to_builtins(step.view(eyes), str_keys=True)
    except ValueError as error:
        return printable(f"what is shown here is not a board of the game: {error}")[:TEXT]
    return view


def change(old: Any, new: Any) -> Any:
    """Return the change from the old value to the new one; the module's docstring has the format."""
    if isinstance(old, dict) and isinstance(new, dict) and old:
        gone = [key for key in old if key not in new]
        kept = {key: change(old.get(key, _CHANGED), new[key]) for key in new if old.get(key, _CHANGED) != new[key]}
        if len(gone) + len(kept) < len(new):
            return {"d": kept, "x": gone} if gone else {"d": kept}
    if isinstance(old, list | tuple) and isinstance(new, list | tuple) and old and len(new) > len(old):
        end = len(old)
        if new[:end] == old:
            return {"a": new[end:]}
    return [new]


class _Pool:
    """Distinct changes, up to a total size."""

    def __init__(self) -> None:
        self.changes: list[Any] = []
        self.left_out = False
        self._numbers: dict[bytes, int] = {}
        self._bytes = 0

    def number(self, changed: Any) -> int | None:
        """Return the index of a change, adding it if it is new; None if there is no room."""
        spelled = msgspec.json.encode(changed)
        if spelled not in self._numbers:
            if not self.spend(len(spelled)):
                return None
            self._numbers[spelled] = len(self.changes)
            self.changes.append(changed)
        return self._numbers[spelled]

    def spend(self, size: int) -> bool:
        """Reserve `size` bytes and return True, or return False if there is no room."""
        if self._bytes + size > MOST_BYTES:
            self.left_out = True
            return False
        self._bytes += size
        return True
