"""Random actions of Hive Mind that are mostly legal, in tempers that make shapes meet and points tie."""

from random import Random
from typing import Any

from tests.referee.games.hive_mind.naive import CELLS, HIVES, SEATS, SHAPES, NaiveHiveMind

VARIANTS = ("recharged", "tempo-up", "gauntlet")


def values(rng: Random) -> str:
    """Values of a Hive that are allowed."""
    while True:
        digits = rng.sample("111112222333", 12)
        if "".join(cell for cell, digit in zip(CELLS, digits, strict=True) if digit == "3") not in SHAPES:
            return "".join(digits)


def setup(variant: str, rng: Random) -> dict[str, str]:
    return {hive: values(rng) for hive in HIVES[variant]}


def garnets(rng: Random) -> int | list[int] | None:
    return rng.choice((None, None, 0, 20, [rng.randrange(25) for _ in SEATS]))


class Crowd:
    """Five players of one temper: how often they place, from how few shapes, what they pay for."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.shapes = rng.sample(sorted(SHAPES), rng.choice((3, 5, 10, 20, 55)))
        self.place = rng.choice((0, 0.5, 0.9, 1, 1))
        self.pay = rng.choice((0, 0.2, 0.6, 1))
        self.guess = rng.choice((0, 0.5, 1))
        self.odd = rng.choice((0, 0, 0.03))
        self.copy = rng.choice((0, 0, 0.5, 0.9))
        self.last: Any = None

    def submission(self, match: NaiveHiveMind, seat: int) -> Any:
        """Draw a submission to the open window; None for nothing."""
        window = match.window()
        assert window
        name = window[0]
        if name == "round":
            # Alike on purpose: seats that do the same tie.
            if seat and self.rng.random() < self.copy:
                return self.last
            self.last = self.round(match, seat)
            return self.last
        if self.rng.random() < 0.1:
            return None
        if name == "scores":
            others = [other for other in SEATS if other != seat and self.rng.random() < 0.8]
            return {
                "scores": {str(other): match.total(other) + self.rng.choice((0, 0, 1, -2)) for other in others}
            }
        return {"seat": self.rng.choice(SEATS)}

    def round(self, match: NaiveHiveMind, seat: int) -> Any:
        rng, number = self.rng, match.round()
        action: dict[str, Any] = {"place": {}, "double": [], "block": [], "guess": {}}
        used: set[str] = set()
        for hive in match.in_play():
            out = match.used(seat, hive) | (used if number == 1 else set())
            left = [cells for cells in self.shapes if SHAPES[cells][0] not in out]
            if left and rng.random() < self.place:
                cells = rng.choice(left)
                used.add(SHAPES[cells][0])
                action["place"][hive] = "".join(rng.choice((c, c.lower())) for c in rng.sample(cells, 3))
            if number == 3 and rng.random() < self.guess:
                action["guess"][hive] = guess(match.values[hive], rng)
            for key in ("double", "block"):
                if number == 2 and rng.random() < self.pay:
                    action[key].append(hive)
        if rng.random() < self.odd:
            action["double"].append(rng.choice(["1", "2", "Zero", ""]))
        rng.shuffle(action["double"])
        return {key: value for key, value in action.items() if value or rng.random() < 0.1}


def guess(truth: str, rng: Random) -> str:
    """Values that are right, nearly right, or any."""
    digits = list(truth)
    for _ in range(rng.choice((0, 1, 2, 12))):
        digits[rng.randrange(12)] = rng.choice("123")
    return "".join(digits)
