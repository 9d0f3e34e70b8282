"""The list of all games, with the place of each part. Parts are imported on first use.

Games of other packages come from entry points of the group `GROUP`. They are looked up only for a name that is not
one of ours, or to list all games: that takes longer than a short match.
"""

import re
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from traceback import walk_tb
from typing import Any, TypeVar, cast, overload

from msgspec import Struct

PartT = TypeVar("PartT")
DefaultT = TypeVar("DefaultT")
GROUP = "mist_arena.games"
"""The group of entry points of games: the game's name, and the place of its `GameEntry`."""
MOST_NAME = 40
"""The most characters of a game's name."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class GameLoadError(Exception):
    """A game of another package cannot be used. The text names the package, the entry point and the reason."""


class GameEntry(Struct, frozen=True, kw_only=True):
    """The places of a game's parts, each as `MODULE:NAME`. Parts that the game does not have are left out."""

    rules: str
    """The class of the game's rules, a `referee.rules.Game`."""
    text: str | None = None
    """The game's `protocol.text.GameText`, for people and language models. Without it they use JSON."""
    drawing: str | None = None
    """The game's drawing for browsers, as `PACKAGE:FILE`. Without it they show the values of a view in a table."""
    minute: str | None = None
    """A page that explains the game to people who have never seen it, as `PACKAGE:FILE`."""
    encoder: str | None = None
    """The class of the game's encoder of observations, a `referee.encoding.Encoder`. Learning needs one."""
    commentary: str | None = None
    """The game's `protocol.text.commentary.Commentary` for pages and terminals. Without it they list events."""


def _ours(folder: str, rules: str, encoder: str) -> GameEntry:
    """Return the entry of a game that has all parts, in the folders of that name and with these classes."""
    words, decisions = f"protocol.games.{folder}", f"referee.games.{folder}"
    return GameEntry(
        rules=f"{decisions}:{rules}",
        text=f"{words}.text:TEXT",
        drawing=f"{words}:drawing.js",
        encoder=f"{decisions}.encoder:{encoder}",
        commentary=f"{words}.commentary:COMMENTARY",
        minute=f"{words}:minute.toml",
    )


ENTRIES = {
    "mist": _ours("mist", "Mist", "MistEncoder"),
    "hive-mind": _ours("hive_mind", "HiveMind", "HiveMindEncoder"),
    "pointing": _ours("pointing", "Pointing", "PointingEncoder"),
    "fight-for-a-name": _ours("fight_for_a_name", "FightForAName", "FightEncoder"),
    "runes-to-ruins": _ours("runes_to_ruins", "RunesToRuins", "RunesEncoder"),
}
"""Each game's entry, by the game's name. A new game of ours is one line here."""


class OutsideGame(Struct, frozen=True):
    """A game of another package, as its entry point names it."""

    name: str
    value: str
    """The place of the game's `GameEntry`, as `MODULE:NAME`."""
    package: str
    """Name and version of the package."""

    def __str__(self) -> str:
        return f"package {self.package}, entry point {self.name!r} = {self.value!r}"

    @property
    def module(self) -> str:
        """The package or module of Python, at the top, in which the game lies."""
        return re.split(r"[.:\[ ]", self.value, maxsplit=1)[0]

    def load(self, place: str) -> Any:
        """Import an object of the game by its place.

        Raises:
            GameLoadError: there is no such object, or its module raises an error.
        """
        try:
            module, attribute = place.split(":")
            found = getattr(import_module(module.strip()), attribute.strip())
            return found() if isinstance(found, type) else found
        except (Exception, SystemExit) as error:
            raise GameLoadError(f"{self}: {place!r}: {type(error).__name__}: {error}") from error


@cache
def outside_games() -> tuple[OutsideGame, ...]:
    """Return all games of other packages, also those that cannot be used. Imports none of them."""
    from importlib.metadata import distributions  # noqa: PLC0415 - slow, and of no use to a match of our own games

    found: dict[str, list[OutsideGame]] = {}
    for each in distributions():
        if GROUP not in (each.read_text("entry_points.txt") or ""):
            continue
        package = f"{each.name} {each.version}"
        if each.name in found:
            continue  # Python imports the one that is first on its path.
        try:
            points = [(point.name, point.value) for point in each.entry_points if point.group == GROUP]
        except Exception as error:  # noqa: BLE001 - the file of another package may hold anything
            points = [("?", f"entry_points.txt cannot be read: {error}")]
        found[each.name] = [OutsideGame(name, value, package) for name, value in dict.fromkeys(points)]
    games = [game for of_one in found.values() for game in of_one]
    return tuple(sorted(games, key=lambda game: (game.name, game.package, game.value)))


def outside_game(name: str) -> OutsideGame | None:
    """Return the game of another package that has this name; None: there is none, or it is one of ours.

    Raises:
        GameLoadError: the name is not a game's, or is given twice.
    """
    if name in ENTRIES:
        return None
    named = [game for game in outside_games() if game.name == name]
    if not named:
        return None
    if problem := _problem(named[0]):
        raise GameLoadError(problem)
    return named[0]


def _problem(game: OutsideGame) -> str | None:
    """Return why the name of a game cannot be used; None: it can."""
    if not _NAME.fullmatch(game.name) or len(game.name) > MOST_NAME:
        return f"{game}: a game's name has small letters, digits and single hyphens, and {MOST_NAME} at most"
    if game.name in ENTRIES:
        return f"{game}: the arena has a game of this name, which is used"
    others = [other for other in outside_games() if other.name == game.name and other != game]
    return f"{game}: the name is given twice, also by {others[0]}" if others else None


@cache
def _load_entry(game: OutsideGame) -> GameEntry:
    """Import the entry of a game of another package.

    Raises:
        GameLoadError: there is none.
    """
    entry = game.load(game.value)
    if not isinstance(entry, GameEntry):
        raise GameLoadError(f"{game}: it is no protocol.games.GameEntry")
    return entry


def entry_of(name: str) -> GameEntry | None:
    """Return a game's entry; None: there is no such game.

    Raises:
        GameLoadError: there is, but it cannot be used.
    """
    if name in ENTRIES:
        return ENTRIES[name]
    game = outside_game(name)
    return None if game is None else _load_entry(game)


def entries() -> dict[str, GameEntry]:
    """Return the entries of all games by name, without games of other packages that cannot be used."""
    found = dict(ENTRIES)
    for game in outside_games():
        if _problem(game) is None:
            with suppress(GameLoadError):
                found[game.name] = _load_entry(game)
    return found


def package_of(name: str) -> str | None:
    """Return name and version of the package that a game comes from; None: it is one of ours."""
    game = outside_game(name)
    return None if game is None else game.package


def fault_of_package(error: BaseException) -> str | None:
    """Return a line for an error that code of another package raised or caused; None: only code of ours ran.

    It names the package, and the innermost place in it. In a group, the first such error counts.
    """
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            if (line := fault_of_package(inner)) is not None:
                return line
        return None
    packages = {game.module: game.package for game in outside_games()}
    line = None
    for frame, number in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        package = packages.get(module.partition(".")[0])
        if package is not None:
            place = f"{module}, line {number}, in {frame.f_code.co_name}"
            line = f"an error in the package {package}: {place}: {type(error).__name__}: {error}"
    return line


class Parts(MutableMapping[str, PartT]):
    """One part of each game that has it, by the game's name. It is imported, and made if a class, on first use.

    A part of another package that cannot be used raises `GameLoadError` where it is looked up by `[]`. Iteration
    leaves its game out.
    """

    def __init__(self, part: str, *, expected: type[Any] | None = None) -> None:
        """Find the parts by `part`, a field of `GameEntry`. `expected`: the type of those of other packages."""
        self._part = part
        self._expected = expected
        self._made: dict[str, Any] = {}
        self._left_out: set[str] = set()

    def __getitem__(self, name: str) -> PartT:
        if name not in self._made:
            place = self._place(name)
            if place is None:
                raise KeyError(name)
            self._made[name] = self._make(name, place)
        found: PartT = self._made[name]
        return found

    def _place(self, name: object) -> str | None:
        """Return where a game's part lies; None: there is none."""
        if not isinstance(name, str) or name in self._left_out:
            return None
        entry = entry_of(name)
        place: str | None = None if entry is None else getattr(entry, self._part)
        return place

    def _make(self, name: str, place: str) -> Any:
        game = outside_game(name)
        if game is None:
            module, attribute = place.split(":")
            part = getattr(import_module(module), attribute)
            return part() if isinstance(part, type) else part
        part = game.load(place)
        if self._expected is not None and not isinstance(part, self._expected):
            raise GameLoadError(f"{game}: {self._part}: {place!r} is no {self._expected.__name__}")
        if getattr(part, "name", name) != name:
            raise GameLoadError(f"{game}: {self._part}: {place!r} has the name {part.name!r}")
        return part

    def __setitem__(self, name: str, part: PartT) -> None:
        self._made[name] = part
        self._left_out.discard(name)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._made.pop(name, None)
        self._left_out.add(name)

    def __contains__(self, name: object) -> bool:
        return name in self._made or self._place(name) is not None

    @overload
    def get(self, name: str, default: None = None) -> PartT | None: ...

    @overload
    def get(self, name: str, default: PartT | DefaultT) -> PartT | DefaultT: ...

    def get(self, name: str, default: Any = None) -> Any:
        """Return a game's part; `default` if there is none, or if it is another package's and cannot be used."""
        try:
            return self[name]
        except (KeyError, GameLoadError):
            return default

    def __iter__(self) -> Iterator[str]:
        for name in ENTRIES:
            if name in self:
                yield name
        for name in entries():
            if name not in ENTRIES and self.get(name) is not None:
                yield name
        for name in list(self._made):
            if entry_of(name) is None:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def problems(*parts: Parts[Any]) -> list[str]:
    """Return a text for each game of another package that cannot be used, or one of whose parts cannot."""
    texts: list[str] = []
    for game in outside_games():
        problem = _problem(game)
        if problem is None:
            try:
                for part in parts:
                    if game.name in part:
                        part[game.name]
            except GameLoadError as error:
                problem = str(error)
        if problem is not None:
            texts.append(problem)
    return texts
