"""The 36 runes of Runes to Ruins: their names, groups and lines (docs/games/runes_to_ruins.md draws them).

The pictures published with the game are lost. This set is a default that agrees with every fact about the runes in
the published text.
"""

from typing import Literal, get_args

from msgspec import Struct

DivineGroup = Literal["Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"]
MundaneGroup = Literal["Straight", "Torn", "Origin", "Cross", "Angled", "Slash"]
Group = Literal[DivineGroup, MundaneGroup]
"""A group of either Order; no name is in both."""

# fmt: off
RuneName = Literal[
    "Straight Divider", "Torn Divider", "Origin Divider", "Cross Divider", "Angled Divider", "Slash Divider",
    "Straight Slope", "Torn Slope", "Origin Slope", "Cross Slope", "Angled Slope", "Slash Slope",
    "Straight Splitter", "Torn Splitter", "Origin Splitter", "Cross Splitter", "Angled Splitter", "Slash Splitter",
    "Straight Zig-Zag", "Torn Zig-Zag", "Origin Zig-Zag", "Cross Zig-Zag", "Angled Zig-Zag", "Slash Zig-Zag",
    "Straight Enclosure", "Torn Enclosure", "Origin Enclosure",
    "Cross Enclosure", "Angled Enclosure", "Slash Enclosure",
    "Straight Box", "Torn Box", "Origin Box", "Cross Box", "Angled Box", "Slash Box",
]
# fmt: on
"""A rune's Mundane group, then its Divine one."""


class Rune(Struct, frozen=True):
    """One rune, drawn on nine points: 0 1 2 / 3 4 5 / 6 7 8, the corners of its four squares."""

    name: RuneName
    divine: DivineGroup
    mundane: MundaneGroup
    segments: str
    """Its line segments, each as its two points: `"14 47"` goes from 1 to 4 and from 4 to 7."""
    straight_lines: int
    """Number of straight lines, as the published text counts: collinear segments that touch are one line."""


RUNES: tuple[Rune, ...] = (
    Rune("Straight Divider", "Divider", "Straight", "14 47", 1),
    Rune("Torn Divider", "Divider", "Torn", "14 58", 2),
    Rune("Origin Divider", "Divider", "Origin", "34 45", 1),
    Rune("Cross Divider", "Divider", "Cross", "14 34 45 47", 2),
    Rune("Angled Divider", "Divider", "Angled", "14 48", 2),
    Rune("Slash Divider", "Divider", "Slash", "24 46", 1),
    Rune("Straight Slope", "Slope", "Straight", "03 36 67 78", 2),
    Rune("Torn Slope", "Slope", "Torn", "03 36 78", 2),
    Rune("Origin Slope", "Slope", "Origin", "14 45", 2),
    Rune("Cross Slope", "Slope", "Cross", "03 24 36 46 67 78", 3),
    Rune("Angled Slope", "Slope", "Angled", "24 25 46 58", 2),
    Rune("Slash Slope", "Slope", "Slash", "24 46 67 78", 2),
    Rune("Straight Splitter", "Splitter", "Straight", "01 12 14 47", 2),
    Rune("Torn Splitter", "Splitter", "Torn", "01 12 47", 2),
    Rune("Origin Splitter", "Splitter", "Origin", "34 45 47", 2),
    Rune("Cross Splitter", "Splitter", "Cross", "01 12 14 34 45 47", 3),
    Rune("Angled Splitter", "Splitter", "Angled", "14 46 48", 3),
    Rune("Slash Splitter", "Splitter", "Slash", "04 24 47", 3),
    Rune("Straight Zig-Zag", "Zig-Zag", "Straight", "01 14 47 78", 3),
    Rune("Torn Zig-Zag", "Zig-Zag", "Torn", "01 14 78", 3),
    Rune("Origin Zig-Zag", "Zig-Zag", "Origin", "03 34 45 58", 3),
    Rune("Cross Zig-Zag", "Zig-Zag", "Cross", "01 14 34 45 47 78", 4),
    Rune("Angled Zig-Zag", "Zig-Zag", "Angled", "13 15 57", 3),
    Rune("Slash Zig-Zag", "Zig-Zag", "Slash", "01 12 24 46 67 78", 3),
    Rune("Straight Enclosure", "Enclosure", "Straight", "03 25 36 58 67 78", 3),
    Rune("Torn Enclosure", "Enclosure", "Torn", "03 25 36 58 67", 3),
    Rune("Origin Enclosure", "Enclosure", "Origin", "01 14 34", 3),
    Rune("Cross Enclosure", "Enclosure", "Cross", "03 25 34 36 45 58 67 78", 4),
    Rune("Angled Enclosure", "Enclosure", "Angled", "03 25 37 57", 4),
    Rune("Slash Enclosure", "Enclosure", "Slash", "13 37 57", 3),
    Rune("Straight Box", "Box", "Straight", "01 03 12 25 36 58 67 78", 4),
    Rune("Torn Box", "Box", "Torn", "01 03 25 36 58 67 78", 4),
    Rune("Origin Box", "Box", "Origin", "01 03 14 34", 4),
    Rune("Cross Box", "Box", "Cross", "01 03 12 14 25 34 36 45 47 58 67 78", 6),
    Rune("Angled Box", "Box", "Angled", "01 03 15 36 58 67 78", 5),
    Rune("Slash Box", "Box", "Slash", "13 15 37 57", 4),
)
"""All runes, ordered by Divine group, then Mundane group, as in the two lists above."""

DIVINE: tuple[DivineGroup, ...] = get_args(DivineGroup)
MUNDANE: tuple[MundaneGroup, ...] = get_args(MundaneGroup)
NAMES: tuple[RuneName, ...] = tuple(rune.name for rune in RUNES)
RUNE: dict[str, Rune] = {rune.name: rune for rune in RUNES}
"""Name to rune."""
