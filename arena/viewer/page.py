"""Builds a match's page from template, style, script and data: one self-contained file, or one with two links.

The data has the steps and, for each viewpoint, the board's changes from step to step. A view is a JSON object. For
each step and viewpoint the page has the keys that changed, as numbers in a pool of changes: most seats see the
same, and few things change at once. A change is `[value]`, or for an object
`{"d": {key: change}, "x": [removed keys]}`, or for a list `{"l": {index: change}, "a": [its new elements]}`.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.live import Eyes, in_names, may_know
from arena.replay import Recording, Step
from arena.viewer.minute import game_title, minute_of
from protocol.games import GameLoadError, entries, entry_of
from protocol.games.runes_to_ruins.runes import RUNES
from protocol.text import drawing_of
from referee.display_text import cut, printable


def page_of(recording: Recording, only: Eyes | None = None, *, back: tuple[str, str] | None = None) -> str:
    """Return the self-contained page of a finished match, as HTML.

    Args:
        recording: the match.
        only: the only viewpoint; see `page_data`.
        back: target and text of a link above the board, or None for no link.
    """
    script, style = _script(recording.game), _asset("viewer.css")
    return _page(
        page_data(recording, only),
        linked=False,
        back=back,
        minute="",
        script=_own(script),
        style=_own(style),
        description="",
        image="",
        script_hash=_digest(script),
        style_hash=_digest(style),
    )


def linked_page_of(
    recording: Recording,
    href: Callable[[str], str],
    data: dict[str, Any] | None = None,
    *,
    description: str = "",
    image: str = "",
) -> str:
    """Return the page for all viewpoints, with links to style and script, one folder below the site's top.

    It links back to the top, or to the match that `#match=SLUG/18a` in its own address names.

    Args:
        recording: the match.
        href: returns the address of one of `shared_assets`.
        data: the recording's `page_data`, if it is there already.
        description: what other sites say of a link to it; "" for no preview.
        image: absolute address of the picture that they show; "" for none.
    """
    script = "viewer.js"
    if _place(recording.game):
        script = f"viewer-{recording.game}.js"
    back = ("../index.html", "All competitions")
    data = data or page_data(recording)
    minute = "" if minute_of(recording.game) is None else f"../game/{recording.game}.html"
    more = {"script": href(script), "style": href("viewer.css"), "description": description, "image": image}
    return _page(data, linked=True, back=back, minute=minute, **more)


def shared_assets() -> dict[str, bytes]:
    """Return the style, one script per game and one for all others, by file name."""
    assets = {"viewer.css": _asset("viewer.css").encode(), "viewer.js": _script("").encode()}
    for game in _drawings():
        assets[f"viewer-{game}.js"] = _script(game).encode()
    return assets


def _page(data: dict[str, Any], **values: Any) -> str:
    return _environment().get_template("page.html.jinja").render(data=data, json=inert(data), **values)


def inert(data: dict[str, Any]) -> Markup:
    """Encode JSON without any `<`, so that it cannot end the element around it."""
    return _own(msgspec.json.encode(data).decode().replace("<", "\\u003c"))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("arena.viewer", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def drawing_script() -> str:
    """Return the drawings of all games, as the start of a module: `drawings[GAME].board(view, context)`."""
    return "\n".join([_asset("svg.js"), _asset("motion.js"), *_drawings().values()])


def script_of_drawing(game: str) -> str:
    """Return the script of one game's drawing, which sets `drawings[GAME]`; "" if the game has none."""
    drawing = _drawing(game)
    return f"{_asset('svg.js')}\n{drawing}" if drawing else ""


def shared_script() -> str:
    """Return the script that draws a page's data where there is no browser; see `no_browser.js`."""
    return "\n".join([_asset("steps.js"), _asset("no_browser.js")])


def light_style() -> str:
    """Return the style of pages; outside `@media`, its colours are light."""
    return _asset("viewer.css")


def drawing_style() -> str:
    """Return the style of drawings, for a shadow tree."""
    return _asset("viewer.css").replace(":root", ":host")


@cache
def _asset(name: str) -> str:
    return files("arena.viewer").joinpath("assets", name).read_text()


def _place(game: str) -> str | None:
    """Return the place of a game's drawing; None: it is shown as a list of its view's values."""
    return getattr(entry_of(game), "drawing", None)


@cache
def _drawing(game: str) -> str:
    """Return a game's drawing, "" if it has none.

    Raises:
        GameLoadError: the game is of another package, and its drawing cannot be read.
    """
    place = _place(game)
    if place is None:
        return ""
    package, _, name = place.partition(":")
    try:
        return files(package).joinpath(name).read_text(encoding="utf-8")
    except (ImportError, OSError, ValueError) as error:
        raise GameLoadError(f"game {game}: drawing {place!r} cannot be read: {error}") from error


def _drawings() -> dict[str, str]:
    """Return the drawings of all games that have one, without those that cannot be read."""
    found = {}
    for game in entries():
        with suppress(GameLoadError):
            if text := _drawing(game):
                found[game] = text
    return found


PLAYER = ("steps.js", "viewer.js", "scores.js", "touch.js", "player.js")
"""The scripts of a replay's page, after those of drawings, in order."""


def _script(game: str) -> str:
    parts = [_asset("svg.js"), _asset("motion.js"), _drawing(game), *map(_asset, PLAYER)]
    return "\n".join(filter(None, parts))


def _own(text: str) -> Markup:
    """Mark the arena's own text as safe markup, or JSON that `inert` has encoded."""
    return Markup(text)  # noqa: S704 - no words of others but in `inert`


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


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
    eyes: list[Eyes] = ["host", "spectator", *range(seats)]
    if only is not None:
        eyes = [only]
    steps = dict(_known(recording, only))
    pool = _ChangePool()
    words = [_words(recording, number, step, eyes, pool) for number, step in steps.items()]
    boards = {str(each): _boards(steps.values(), each, pool) for each in eyes}
    return {
        "format": 1,
        "game": recording.game,
        "title": game_title(recording.game),
        "match": recording.terms.match,
        "variant": recording.terms.variant,
        "seats": seats,
        "names": _names(recording.names, seats),
        "manifests": _names(recording.manifests, seats),
        "reserve_ms": recording.terms.reserve_ms,
        "own": recording.own,
        "places": _places(recording.ranking, seats),
        "eyes": list(boards),
        "steps": words,
        "boards": boards,
        "pool": pool.changes,
        "left_out": pool.left_out,
        "runes": runes_of(recording.game),
    }


def runes_of(game: str) -> dict[str, Any]:
    """Return the segments of each rune, which only the drawing of Runes to Ruins needs; {} for other games."""
    if game != "runes-to-ruins":
        return {}
    return {rune.name: rune.segments for rune in RUNES}


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
        facts = [fact for fact in step.facts if may_know(only, fact.seat)]
        if view != before or facts or recording.seen(number, only):
            # The original title would reveal the time that others took and the number of their windows.
            title = step.title if number == 0 else "the board changes"
            yield number, Step(title, step.turn, step.view, step.told, facts, clocks)
        before = view


def _words(
    recording: Recording, number: int, step: Step, eyes: Sequence[Eyes], pool: "_ChangePool"
) -> dict[str, Any]:
    """Return a step without its boards: moves, facts and events, each with the seat that may know it, or null.

    The remarks say everything, so they are left out unless the page has the host's viewpoint.
    """
    words_of = drawing_of(recording.game).words
    said: dict[str, Any] = {"title": "", "turn": step.turn, "moves": [], "facts": [], "told": []}
    if eyes[0] == "host":
        said["remarks"] = [[_line(each.text, pool), each.weight] for each in (*step.faults, *step.remarks)]
    for fact in step.facts:
        said["facts"].append([_line(fact.text, pool), fact.seat, fact.kind])
        if fact.action:
            said["moves"].append([_line(fact.action, pool), fact.seat])
    said["title"] = _line(step.title, pool)
    # All viewpoints together begin with the host's, which knows everything.
    for told in recording.seen(number, eyes[0]):
        text = in_names(words_of(told.event), recording.names)
        said["told"].append([_line(text, pool), told.seat])
        if type(told.event).__name__ == "Reveal":
            said["reveal"] = msgspec.to_builtins(told.event, str_keys=True)
    said["clocks"] = [
        [each.seat, each.main_ms, round(each.used_ms, 1), each.reserve_ms]
        for each in step.clocks
        if may_know(eyes[0], each.seat)
    ]
    return {key: value for key, value in said.items() if value not in (None, [])}


def _line(text: str, pool: "_ChangePool") -> str:
    shown = cut(printable(text), TEXT)
    return shown if pool.spend(len(shown)) else "(left out)"


def _boards(steps: Iterable[Step], eyes: Eyes, pool: "_ChangePool") -> list[Any]:
    """Return for each step the changed keys with their numbers in the pool, or why there is no board."""
    boards: list[Any] = []
    before: dict[str, Any] = {}
    for step in steps:
        view = _view(step, eyes)
        if isinstance(view, str):
            boards.append(view)
            continue
        changed = {}
        for key, value in view.items():
            old = before.get(key, _CHANGED)
            if old != value:
                changed[key] = pool.number(change(old, value))
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
            return {"d": kept} | ({"x": gone} if gone else {})
    if isinstance(old, list | tuple) and isinstance(new, list | tuple) and old and len(new) >= len(old):
        return _change_of_list(old, new)
    return [new]


def _change_of_list(old: Sequence[Any], new: Sequence[Any]) -> Any:
    """Return the change of a list that did not shrink. Numbers and words that change replace the whole list."""
    changed = {}
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if before == after:
            continue
        if not isinstance(after, dict | list | tuple):
            return [new]
        changed[str(index)] = change(before, after)
    more = {"a": new[len(old) :]} if len(new) > len(old) else {}
    return {"l": changed} | more if changed else more


class _ChangePool:
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
