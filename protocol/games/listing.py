"""The list of all games, and where the parts of each lie. Parts are imported on first use."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, TypeVar

from msgspec import Struct

PartT = TypeVar("PartT")


class GameEntry(Struct, frozen=True, kw_only=True):
    """Where the parts of a game lie, each as `MODULE:NAME`. What a game does not have is left out."""

    rules: str
    """The class of its rules, a `referee.rules.Game`."""
    text: str | None = None
    """Its `protocol.text.GameText`: what people and language models read and type. Without it they use JSON."""
    drawing: str | None = None
    """Its drawing for browsers, as `PACKAGE:FILE`. Without it they show the values of a view in a table."""
    encoder: str | None = None
    """The class of its encoder of observations, a `referee.encoding.Encoder`. Learning needs one."""


def _ours(folder: str, rules: str, encoder: str) -> GameEntry:
    """Return the entry of a game that has all parts, in the folders of that name and with these classes."""
    words, decisions = f"protocol.games.{folder}", f"referee.games.{folder}"
    return GameEntry(
        rules=f"{decisions}:{rules}",
        text=f"{words}.text:TEXT",
        drawing=f"{words}:drawing.js",
        encoder=f"{decisions}.encoder:{encoder}",
    )


ENTRIES = {
    "mist": _ours("mist", "Mist", "MistEncoder"),
    "hive-mind": _ours("hive_mind", "HiveMind", "HiveMindEncoder"),
    "pointing": _ours("pointing", "Pointing", "PointingEncoder"),
    "fight-for-a-name": _ours("fight_for_a_name", "FightForAName", "FightEncoder"),
    "runes-to-ruins": _ours("runes_to_ruins", "RunesToRuins", "RunesEncoder"),
}
"""Each game's entry, by the game's name. A new game is one line here."""


class Parts(MutableMapping[str, PartT]):
    """One part of each game that has it, by the game's name. It is imported, and made if a class, on first use."""

    def __init__(self, part: str) -> None:
        """Find the parts by `part`, a field of `GameEntry`."""
        self._parts: dict[str, Any] = {}
        for name, entry in ENTRIES.items():
            place = getattr(entry, part)
            if place is not None:
                self._parts[name] = place

    def __getitem__(self, name: str) -> PartT:
        part = self._parts[name]
        if isinstance(part, str):
            module, attribute = part.split(":")
            part = getattr(import_module(module), attribute)
            if isinstance(part, type):
                part = part()
            self._parts[name] = part
        found: PartT = part
        return found

    def __setitem__(self, name: str, part: PartT) -> None:
        self._parts[name] = part

    def __delitem__(self, name: str) -> None:
        del self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
