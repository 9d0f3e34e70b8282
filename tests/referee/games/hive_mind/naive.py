"""Hive Mind once more, as plainly as can be: sets of letters, coordinates, JSON values; what can be counted is.

It shares no code with `referee.games.hive_mind` and is written from the rule page alone, so that a mistake would
have to be made twice to go unseen. `view` makes a seat's view from what it was told and submitted.
"""

from itertools import combinations, permutations
from typing import Any

SEATS = [0, 1, 2, 3, 4]
CELLS = "ABCDEFGHIJKL"
TOUCHES = {
    "A": "BDE",
    "B": "ACEF",
    "C": "BFG",
    "D": "AEH",
    "E": "ABDFHI",
    "F": "BCEGIJ",
    "G": "CFJ",
    "H": "DEIK",
    "I": "EFHJKL",
    "J": "FGIL",
    "K": "HIL",
    "L": "IJK",
}
INSIDE = "EFI"
PLACE = {
    "A": (-2, 0), "B": (0, 0), "C": (2, 0),
    "D": (-3, 1), "E": (-1, 1), "F": (1, 1), "G": (3, 1),
    "H": (-2, 2), "I": (0, 2), "J": (2, 2),
    "K": (-1, 3), "L": (1, 3),
}  # fmt: skip
HIVES = {"gauntlet": ["1", "2"], "tempo-up": ["1", "2", "3"], "recharged": ["Charge", "Marcer", "Zero"]}
GARNETS = {"gauntlet": 8, "tempo-up": 2, "recharged": 0}
PRICES = {"gauntlet": (5, 3), "tempo-up": (2, 1), "recharged": (None, None)}

Said = tuple[int | None, dict[str, Any]]
"""Whom an event is for (None: all), and the event as JSON."""


def described(cells: str) -> tuple[str, str] | None:
    """Kind and looked-at hexes of three different hexes; None where they are no shape."""
    for one, middle, other in permutations(cells):
        if middle not in TOUCHES[one] or middle not in TOUCHES[other]:
            continue
        if other in TOUCHES[one]:
            return "tri", "".join(c for c in CELLS if c not in cells and any(c in TOUCHES[own] for own in cells))
        (x1, y1), (x2, y2), (x3, y3) = PLACE[one], PLACE[middle], PLACE[other]
        if (x1 + x3, y1 + y3) == (2 * x2, 2 * y2):
            ends = [end for end in (one, other) if end not in INSIDE]
            looked = {c for end in ends for c in TOUCHES[end] if c not in INSIDE and c not in cells}
            return "line", "".join(sorted(looked))
        (centre,) = [c for c in CELLS if all(own in TOUCHES[c] for own in cells)]
        x, y = PLACE[centre]
        ray = [(x + n * (x - x2), y + n * (y - y2)) for n in range(4)]
        return "arc", "".join(c for c in CELLS if PLACE[c] in ray)
    return None


SHAPES = {"".join(three): found for three in combinations(CELLS, 3) if (found := described("".join(three)))}


class NaiveHiveMind:
    """A match. `play` closes one window with the actions of its seats, each legal and canonical."""

    def __init__(self, variant: str, garnets: int | list[int] | None, hives: dict[str, str]) -> None:
        self.variant = variant
        garnets = GARNETS[variant] if garnets is None else garnets
        self.garnets = garnets if isinstance(garnets, list) else [garnets] * 5
        self.values = hives
        self.rounds: list[dict[int, dict[str, Any]]] = []
        self.scores: dict[int, dict[str, int]] | None = None
        self.asked = False
        self.token_to: int | None = None
        self.eliminated: int | None = None
        # What has been counted since a window was closed.
        self.counted: dict[int, list[tuple[str, int]]] = {}
        self.pointed: dict[int, dict[str, int]] = {}

    # What is open, and to whom.

    def window(self) -> tuple[str, list[int]] | None:
        gauntlet = self.variant == "gauntlet"
        if len(self.rounds) < (6 if gauntlet else 3):
            return "round", SEATS
        if gauntlet and self.scores is None:
            return "scores", SEATS
        if self.eliminated is not None:
            return None
        winners = self.ranking()[0]
        if self.variant == "tempo-up" and len(winners) == 1 and not self.asked:
            return "give_token", winners
        return "break_tie", winners

    def in_play(self) -> list[str]:
        if self.variant != "gauntlet":
            return HIVES[self.variant]
        return ["1"] if len(self.rounds) < 3 else ["2"]

    def round(self) -> int:
        return len(self.rounds) % 3 + 1

    def default(self) -> dict[str, Any] | None:
        """Return the default of the open window; None also stands for the drawn one."""
        window = self.window()
        assert window
        return {"round": {}, "scores": {"scores": {}}}.get(window[0])

    # What may be submitted.

    def legal(self, seat: int, action: Any) -> dict[str, Any] | None:
        """Return the canonical spelling of a seat's action; None if it is illegal."""
        window = self.window()
        assert window
        name, seats = window
        if seat not in seats or not isinstance(action, dict):
            return None
        if name == "round":
            return self.legal_round(seat, action)
        if name == "scores":
            return self.legal_scores(seat, action)
        may = [other for other in SEATS if other != seat] if name == "give_token" else self.candidates()
        named = list(action) == ["seat"] and type(action["seat"]) is int
        return action if named and action["seat"] in may else None

    def legal_scores(self, seat: int, action: dict[str, Any]) -> dict[str, Any] | None:
        guesses = action.get("scores")
        if list(action) != ["scores"] or not isinstance(guesses, dict):
            return None
        others = [str(other) for other in SEATS if other != seat]
        if any(key not in others or type(number) is not int for key, number in guesses.items()):
            return None
        return {"scores": {key: guesses[key] for key in sorted(guesses)}}

    def legal_round(self, seat: int, action: dict[str, Any]) -> dict[str, Any] | None:
        forms = {"place": dict, "double": list, "block": list, "guess": dict}
        if any(key not in forms or type(value) is not forms[key] for key, value in action.items()):
            return None
        action = {key: action[key] for key in forms if action.get(key)}
        spelled = {
            "place": self.legal_place(seat, action.get("place", {})),
            "double": self.legal_hives(action.get("double", [])),
            "block": self.legal_hives(action.get("block", [])),
            "guess": self.legal_guess(action.get("guess", {})),
        }
        rounds = {"place": [1, 2, 3], "double": [2], "block": [2], "guess": [3]}
        hives = [hive for value in action.values() for hive in value]
        broken = [
            any(hive not in self.in_play() for hive in hives),
            any(self.round() not in rounds[key] for key in action),
            any(spelled[key] is None for key in action),
        ]
        if any(broken) or not self.can_pay(seat, action):
            return None
        return {key: spelled[key] for key in action}

    def legal_place(self, seat: int, place: dict[str, Any]) -> dict[str, str] | None:
        placed = {}
        for hive, name in sorted(place.items()):
            if type(name) is not str or any(c not in CELLS + CELLS.lower() for c in name):
                return None
            shape = "".join(sorted(name.upper()))
            if shape not in SHAPES or SHAPES[shape][0] in self.used(seat, hive):
                return None
            placed[hive] = shape
        kinds = [SHAPES[shape][0] for shape in placed.values()]
        return placed if self.round() > 1 or len(kinds) == len(set(kinds)) else None

    def legal_hives(self, hives: list[Any]) -> list[str] | None:
        texts = all(type(hive) is str for hive in hives)
        return sorted(hives) if texts and len(set(hives)) == len(hives) else None

    def legal_guess(self, guess: dict[str, Any]) -> dict[str, str] | None:
        right = all(type(g) is str and len(g) == 12 and all(digit in "123" for digit in g) for g in guess.values())
        return {hive: guess[hive] for hive in sorted(guess)} if right else None

    def used(self, seat: int, hive: str) -> set[str]:
        return {SHAPES[shape][0] for shape in self.shapes(seat, hive) if shape}

    def cost(self, action: dict[str, Any]) -> int | None:
        """None where it cannot be had."""
        cost = 0
        for key, price in zip(("double", "block"), PRICES[self.variant], strict=True):
            for n, _ in enumerate(action.get(key, [])):
                free = n == 0 and self.variant != "gauntlet"
                if not free and price is None:
                    return None
                cost += 0 if free else price or 0
        return cost

    def left(self, seat: int) -> int:
        return self.garnets[seat] - sum(self.cost(actions[seat]) or 0 for actions in self.rounds)

    def can_pay(self, seat: int, action: dict[str, Any]) -> bool:
        cost = self.cost(action)
        return cost is not None and cost <= self.left(seat)

    # What was done on a Hive.

    def hive_rounds(self, hive: str) -> list[dict[int, dict[str, Any]]]:
        if self.variant != "gauntlet":
            return self.rounds
        return self.rounds[:3] if hive == "1" else self.rounds[3:]

    def shapes(self, seat: int, hive: str) -> list[str | None]:
        return [actions[seat].get("place", {}).get(hive) for actions in self.hive_rounds(hive)]

    def over(self, hive: str, at: int, cell: str) -> set[int]:
        """Whose shapes lie over a hex in a Hive's round, counting from 0."""
        return {seat for seat in SEATS if cell in (self.shapes(seat, hive)[at] or "")}

    def with_(self, key: str, hive: str) -> list[int]:
        return [seat for seat in SEATS if any(hive in acts[seat].get(key, []) for acts in self.hive_rounds(hive))]

    # Points.

    def gains(self, seat: int) -> list[tuple[str, int]]:
        """Every gain of a seat: what for (the initial value of a hex scored, `block`, `guess`), and how many."""
        if seat not in self.counted:
            self.counted[seat] = self.count_gains(seat)
        return self.counted[seat]

    def count_gains(self, seat: int) -> list[tuple[str, int]]:
        gains = []
        for hive, values in self.values.items():
            rounds = range(len(self.hive_rounds(hive)))
            for cell, value in zip(CELLS, values, strict=True):
                odd = [at for at in rounds if at > 0 and len(self.over(hive, at, cell)) % 2]
                if odd and seat in self.over(hive, odd[0], cell):
                    alone = (
                        odd[0] == 2 and self.over(hive, 2, cell) == {seat} and seat in self.with_("double", hive)
                    )
                    gains.append((value, int(value) * (2 if alone else 1)))
                if len(rounds) == 3 and not odd and seat in self.over(hive, 2, cell):
                    blocked = self.over(hive, 2, cell) & set(self.with_("double", hive)) - {seat}
                    if seat in self.with_("block", hive) and blocked:
                        gains.append(("block", 1))
            if len(rounds) == 3:
                guess = self.hive_rounds(hive)[2][seat].get("guess", {}).get(hive)
                right = [d for d in "123" if guess and [g == d for g in guess] == [v == d for v in values]]
                gains += [("guess", 1)] * len(right)
        return gains

    def before_scores(self, seat: int) -> int:
        return sum(points for _, points in self.gains(seat))

    def right(self) -> list[tuple[int, int]]:
        """Guesser and guessed of every score guessed right."""
        guesses = self.scores or {seat: {} for seat in SEATS}
        totals = {seat: self.before_scores(seat) for seat in SEATS}
        return [(a, b) for a in SEATS for b in SEATS if a != b and guesses[a].get(str(b)) == totals[b]]

    def points(self, seat: int) -> dict[str, int]:
        if seat not in self.pointed:
            self.pointed[seat] = self.count_points(seat)
        return self.pointed[seat]

    def count_points(self, seat: int) -> dict[str, int]:
        gains, right = self.gains(seat), self.right()
        return {
            "hexes": sum(points for what, points in gains if what in "123"),
            "threes": sum(points for what, points in gains if what == "3"),
            "twos": sum(points for what, points in gains if what == "2"),
            "guesses": sum(points for what, points in gains if what == "guess"),
            "blocks": sum(points for what, points in gains if what == "block"),
            "score_guesses": sum((seat == a) - 2 * (seat == b) for a, b in right),
        }

    def total(self, seat: int) -> int:
        points = self.points(seat)
        return points["hexes"] + points["guesses"] + points["blocks"] + points["score_guesses"]

    def feats(self, seat: int) -> int:
        feats = 0
        for hive, values in self.values.items():
            mine = self.shapes(seat, hive)
            for at, shape in enumerate(mine):
                if shape is None:
                    continue
                others = [set(self.shapes(other, hive)[at] or "") for other in SEATS if other != seat]
                feats += not set(shape) & set().union(*others)
                feats += all(values[CELLS.index(cell)] == "2" for cell in shape)
                by_all_others = set(CELLS).intersection(*others)
                feats += bool(by_all_others) and not by_all_others & set(shape)
            pairs = combinations(mine, 2)
            feats += len(mine) == 3 and None not in mine and all(not set(a or "") & set(b or "") for a, b in pairs)
        return feats

    # Results.

    def ordered(self, seats: list[int], *measures: Any) -> list[list[int]]:
        """Seats in groups: by each measure in turn, more is better."""
        if not measures:
            return [seats] if seats else []
        first, rest = measures[0], measures[1:]
        levels = sorted({first(seat) for seat in seats}, reverse=True)
        return [g for level in levels for g in self.ordered([s for s in seats if first(s) == level], *rest)]

    def measures(self) -> list[Any]:
        return [self.total, lambda s: self.points(s)["threes"], lambda s: self.points(s)["twos"]]

    def ranking(self) -> list[list[int]]:
        by_guesses = [lambda s: self.points(s)["guesses"]] if self.variant != "gauntlet" else []
        return self.ordered(SEATS, *self.measures(), *by_guesses)

    def tokens(self) -> dict[int, int]:
        tokens = dict.fromkeys(SEATS, 0)
        first = self.ranking()[0]
        if len(first) == 1:
            tokens[first[0]] += 2 if self.variant == "recharged" else 1
        if self.variant == "gauntlet":
            fewer = [lambda s: -self.points(s)["threes"], lambda s: -self.points(s)["twos"]]
            best = self.ordered(SEATS, self.feats, *fewer)[0]
            if len(best) == 1:
                tokens[best[0]] += 1
        if self.token_to is not None:
            tokens[self.token_to] += 1
        return tokens

    def candidates(self) -> list[int]:
        """Return the elimination candidate, or the tied."""
        stand = [s for s in SEATS if self.variant != "gauntlet" or not self.tokens()[s]]
        return self.ordered(stand, *self.measures())[-1]

    def outcome(self) -> dict[str, Any] | None:
        if self.window():
            return None
        totals = {seat: self.total(seat) for seat in SEATS}
        if self.variant == "tempo-up":
            garnets = {s: int(sum(other > totals[s] for other in totals.values()) < 3) for s in SEATS}
        else:
            garnets = {s: max(0, totals[s]) // 5 for s in SEATS}
        detail: dict[str, Any] = {"points": {str(s): self.points(s) for s in SEATS}}
        if self.variant == "gauntlet":
            detail["feats"] = {str(s): self.feats(s) for s in SEATS}
        return {
            "ranking": self.ranking(),
            "winners": self.ranking()[0],
            "eliminated": self.eliminated,
            "scores": {str(s): n for s, n in totals.items()},
            "tokens": {str(s): n for s, n in self.tokens().items() if n},
            "garnets": {str(s): n for s, n in garnets.items() if n},
            "reason": "finished",
            "detail": detail,
        }

    # What happens.

    def play(self, actions: dict[int, Any], drawn: int) -> list[Said]:
        """Close the open window. `drawn` goes, if it comes to drawing."""
        window = self.window()
        assert window
        self.forget()
        said: list[Said] = []
        if window[0] == "round":
            said = self.play_round(actions)
        elif window[0] == "scores":
            self.scores = {seat: action["scores"] for seat, action in actions.items()}
            for seat in SEATS:
                right = sum(a == seat for a, _ in self.right())
                by = sum(b == seat for _, b in self.right())
                said.append((seat, {"type": "score_guesses", "right": right, "guessed_by": by}))
        elif window[0] == "give_token":
            ((winner, action),) = actions.items()
            self.asked = True
            if action:
                self.token_to = action["seat"]
                said.append((None, {"type": "token_given", "from": winner, "to": self.token_to}))
        else:
            self.eliminated = next(iter(actions.values()))["seat"]
        self.forget()
        return said + self.end(drawn)

    def forget(self) -> None:
        self.counted.clear()
        self.pointed.clear()

    def play_round(self, actions: dict[int, Any]) -> list[Said]:
        number, hives = self.round(), self.in_play()
        self.rounds.append(actions)
        said: list[Said] = []
        for seat in SEATS:
            for hive, cells in actions[seat].get("place", {}).items():
                kind, looks = SHAPES[cells]
                total = sum(int(self.values[hive][CELLS.index(cell)]) for cell in looks)
                hint = {
                    "hive": hive,
                    "round": number,
                    "shape": kind,
                    "cells": cells,
                    "looks": looks,
                    "total": total,
                }
                said.append((seat, {"type": "hint", **hint}))
        told: dict[str, Any] = {}
        for hive in hives:
            placed = [cells for seat in SEATS if (cells := actions[seat].get("place", {}).get(hive))]
            told[hive] = {
                "round": number,
                "shapes": {
                    k: len([1 for cells in placed if SHAPES[cells][0] == k]) for k in ("tri", "arc", "line")
                },
                "counts": {cell: "".join(placed).count(cell) for cell in CELLS},
            }
        said.append((None, {"type": "round_result", "hives": told}))
        if number == 2:
            said.append((None, {"type": "doubles", "hives": self.by_hive("double", hives)}))
        if number == 3 and self.variant != "recharged":
            said.append((None, {"type": "blocks", "hives": self.by_hive("block", hives)}))
        return said

    def by_hive(self, key: str, hives: list[str]) -> dict[str, list[int]]:
        return {hive: self.with_(key, hive) for hive in hives if self.with_(key, hive)}

    def end(self, drawn: int) -> list[Said]:
        """Settles what nobody is asked about; tells the last things when all is settled."""
        window = self.window()
        if window and window[0] == "break_tie":
            candidates, winners = self.candidates(), self.ranking()[0]
            if len(candidates) == 1:
                (self.eliminated,) = candidates
            elif len(winners) > 1 or winners[0] in candidates:
                self.eliminated = drawn
        if self.window():
            return []
        said: list[Said] = []
        if self.variant == "recharged":
            said.append((None, {"type": "blocks", "hives": self.by_hive("block", self.in_play())}))
        hives = HIVES[self.variant]
        reveal: dict[str, Any] = {
            "type": "reveal",
            "hives": self.values,
            "placements": {str(seat): {hive: self.shapes(seat, hive) for hive in hives} for seat in SEATS},
            "points": {str(seat): self.points(seat) for seat in SEATS},
        }
        if self.variant == "gauntlet":
            reveal["feats"] = {str(seat): self.feats(seat) for seat in SEATS}
        return [*said, (None, reveal)]


def view(
    match: NaiveHiveMind, seat: int | None, told: list[dict[str, Any]], submitted: list[Any]
) -> dict[str, Any]:
    """Return a seat's view, from what it was told and submitted, what is open to it, and its prices."""
    opened = match.window()
    name, owing = opened or (None, [])
    if name in ("give_token", "break_tie") and seat not in owing:
        name = None
    mine = NaiveHiveMind(match.variant, [match.garnets[seat or 0]] * 5, {})
    rounds = len([event for event in told if event["type"] == "round_result"])
    mine.rounds = [dict.fromkeys(SEATS, action) for action in submitted[:rounds]] or [{}] * rounds
    hives = mine.in_play() if name == "round" else []
    seen: dict[str, Any] = {
        "seat": seat,
        "window": name,
        "hives": hives,
        "round": rounds % 3 + 1 if name == "round" else 0,
        "unused": {},
        "wallet": None,
        "tied": match.candidates() if name == "break_tie" else [],
        "submitted": submitted[:rounds],
        "scores": submitted[6]["scores"] if match.variant == "gauntlet" and len(submitted) > 6 else None,
        "told": told,
    }
    if seat is not None:
        kinds = ("tri", "arc", "line")
        seen["unused"] = {hive: [kind for kind in kinds if kind not in mine.used(seat, hive)] for hive in hives}
        free = {
            key: int(match.variant != "gauntlet" and not any(action.get(key) for action in submitted[:rounds]))
            for key in ("double", "block")
        }
        prices = PRICES[match.variant]
        seen["wallet"] = {
            "garnets": mine.left(seat),
            "free_doubles": free["double"],
            "free_blocks": free["block"],
            "double_price": prices[0],
            "block_price": prices[1],
        }
    return seen
