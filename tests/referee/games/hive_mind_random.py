"""Random actions of Hive Mind that are mostly legal, in tempers that make shapes meet and points tie."""

from random import Random
from typing import Any

from tests.referee.games.naive_hive_mind import CELLS, HIVES, SEATS, SHAPES, NaiveHiveMind

VARIANTS = ("recharged", "tempo-up", "gauntlet")


def values(luck: Random) -> str:
    """Values of a Hive that are allowed."""
    while True:
        digits = luck.sample("111112222333", 12)
        if "".join(cell for cell, digit in zip(CELLS, digits, strict=True) if digit == "3") not in SHAPES:
            return "".join(digits)


def setup(variant: str, luck: Random) -> dict[str, str]:
    return {hive: values(luck) for hive in HIVES[variant]}


def garnets(luck: Random) -> int | list[int] | None:
    return luck.choice((None, None, 0, 20, [luck.randrange(25) for _ in SEATS]))


class Crowd:
    """Five players of one temper: how often they place, from how few shapes, what they pay for."""

    def __init__(self, luck: Random) -> None:
        self.luck = luck
        self.shapes = luck.sample(sorted(SHAPES), luck.choice((3, 5, 10, 20, 55)))
        self.place = luck.choice((0, 0.5, 0.9, 1, 1))
        self.pay = luck.choice((0, 0.2, 0.6, 1))
        self.guess = luck.choice((0, 0.5, 1))
        self.odd = luck.choice((0, 0, 0.03))
        self.copy = luck.choice((0, 0, 0.5, 0.9))
        self.last: Any = None

    def submission(self, match: NaiveHiveMind, seat: int) -> Any:
        """What a seat submits to the open window; None for nothing."""
        window = match.window()
        assert window
        name = window[0]
        if name == "round":
            # Alike on purpose: seats that do the same tie.
            if seat and self.luck.random() < self.copy:
                return self.last
            self.last = self.round(match, seat)
            return self.last
        if self.luck.random() < 0.1:
            return None
        if name == "scores":
            others = [other for other in SEATS if other != seat and self.luck.random() < 0.8]
            return {
                "scores": {str(other): match.total(other) + self.luck.choice((0, 0, 1, -2)) for other in others}
            }
        return {"seat": self.luck.choice(SEATS)}

    def round(self, match: NaiveHiveMind, seat: int) -> Any:
        luck, number = self.luck, match.round()
        action: dict[str, Any] = {"place": {}, "double": [], "block": [], "guess": {}}
        used: set[str] = set()
        for hive in match.in_play():
            out = match.used(seat, hive) | (used if number == 1 else set())
            left = [cells for cells in self.shapes if SHAPES[cells][0] not in out]
            if left and luck.random() < self.place:
                cells = luck.choice(left)
                used.add(SHAPES[cells][0])
                action["place"][hive] = "".join(luck.choice((c, c.lower())) for c in luck.sample(cells, 3))
            if number == 3 and luck.random() < self.guess:
                action["guess"][hive] = guess(match.values[hive], luck)
            for key in ("double", "block"):
                if number == 2 and luck.random() < self.pay:
                    action[key].append(hive)
        if luck.random() < self.odd:
            action["double"].append(luck.choice(["1", "2", "Zero", ""]))
        luck.shuffle(action["double"])
        return {key: value for key, value in action.items() if value or luck.random() < 0.1}


def guess(truth: str, luck: Random) -> str:
    """Values that are right, nearly right, or any."""
    digits = list(truth)
    for _ in range(luck.choice((0, 1, 2, 12))):
        digits[luck.randrange(12)] = luck.choice("123")
    return "".join(digits)
