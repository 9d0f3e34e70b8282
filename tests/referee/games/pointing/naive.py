"""Pointing once more, as plainly as can be: sets of pairs, walks one step at a time, JSON values and text.

It shares no code with `referee.games.pointing` and is written from the rule page alone, so that a mistake would
have to be made twice to go unseen. `view` makes a seat's view from what it was told and did, and nothing else.
"""

import json
from typing import Any

Pairs = set[tuple[int, int]]
"""Who points at whom."""


class NaiveRound:
    """One round. `pointed` maps every seat to the one it points at, or to None."""

    def __init__(self, pointed: dict[int, int | None]) -> None:
        self.pointed = pointed
        pairs = {(seat, target) for seat, target in pointed.items() if target is not None}
        self.looped = {seat for seat in pointed if seat in self.walk(seat)[1:]}
        self.cut = {(seat, target) for seat, target in pairs if seat not in self.looped and target in self.looped}
        self.left = pairs - self.cut
        self.sections = self.connected_parts()

    def walk(self, seat: int) -> list[int]:
        """List the seat, what it points at, what that points at …, for as many steps as there are seats."""
        steps = [seat]
        for _ in self.pointed:
            ahead = self.pointed[steps[-1]]
            if ahead is None:
                break
            steps.append(ahead)
        return steps

    def connected_parts(self) -> list[set[int]]:
        """Start with every seat alone, and join two parts per remaining pointer."""
        parts = [{seat} for seat in self.pointed]
        for one, other in self.left:
            joined = [part for part in parts if one in part or other in part]
            parts = [part for part in parts if part not in joined]
            parts.append(set().union(*joined))
        return parts

    def kind(self, section: set[int]) -> str:
        if section & self.looped:
            return "loop"
        return "node" if len(section) == 1 else "chain"

    def end(self, section: set[int]) -> int:
        (end,) = [seat for seat in section if not any(one == seat for one, _ in self.left)]
        return end

    def starts(self) -> set[int]:
        chains = [section for section in self.sections if self.kind(section) == "chain"]
        return {seat for chain in chains for seat in chain if not any(hit == seat for _, hit in self.left)}

    def ends(self) -> set[int]:
        return {self.end(section) for section in self.sections if self.kind(section) == "chain"}

    def nodes(self) -> set[int]:
        return {seat for section in self.sections if self.kind(section) == "node" for seat in section}

    def section_of(self, seat: int) -> set[int]:
        (section,) = [section for section in self.sections if seat in section]
        return section

    def after(self, seat: int) -> int:
        """How many seats stand after this one on the way to its chain's end."""
        count = 0
        while ahead := [hit for one, hit in self.left if one == seat]:
            seat = ahead[0]
            count += 1
        return count

    def points(self, seat: int, *, was_node: bool) -> int:
        section = self.section_of(seat)
        if len(section) >= 9:
            return -1
        match self.kind(section):
            case "loop":
                return 0
            case "node":
                return -2 if was_node else 1
            case _:
                return self.after(seat)

    def tree(self, end: int) -> str:
        return "[" + ",".join(sorted(self.tree(one) for one, hit in self.left if hit == end)) + "]"

    def shape(self, section: set[int]) -> str:
        if self.kind(section) != "loop":
            return self.tree(self.end(section))
        texts = []
        for first in section:
            turn = self.walk(first)[: len(section)]
            hung = [sorted(self.tree(one) for one, hit in self.cut if hit == seat) for seat in turn]
            texts.append("[" + ",".join("[" + ",".join(trees) + "]" for trees in hung) + "]")
        return min(texts)

    def text(self, section: set[int]) -> str:
        kind = self.kind(section)
        cut = kind != "loop" and any(one == self.end(section) for one, _ in self.cut)
        told = "true" if cut else "false"
        return f'{{"kind":"{kind}","size":{len(section)},"shape":{self.shape(section)},"cut":{told}}}'

    def map(self) -> list[Any]:
        return [json.loads(text) for text in sorted(self.text(section) for section in self.sections)]


def keyed(values: dict[int, Any]) -> dict[str, Any]:
    return {str(seat): value for seat, value in sorted(values.items())}


class NaivePointing:
    """A match. `play` closes one window with everyone's legal actions."""

    def __init__(self, seats: int = 13, token_threshold: int = 7) -> None:
        self.seats = list(range(seats))
        self.token_threshold = token_threshold
        self.rounds: list[NaiveRound] = []
        self.votes: dict[int, int | None] | None = None

    def window(self) -> tuple[str, list[int]] | None:
        if len(self.rounds) < 3:
            return "point", self.seats
        if self.votes is None and len(self.last()) > 1:
            return "vote", self.winners()
        return None

    def legal(self, seat: int, action: Any) -> bool:
        due = self.window()
        if due is None or seat not in due[1] or not isinstance(action, dict):
            return False
        key = "target" if due[0] == "point" else "seat"
        if list(action) != [key]:
            return False
        named = action[key]
        if named is None:
            return True
        allowed = [other for other in self.seats if other != seat] if due[0] == "point" else self.last()
        return type(named) is int and named in allowed

    def play(self, actions: dict[int, Any]) -> list[dict[str, Any]]:
        """Close the open window; return what all are told."""
        if len(self.rounds) == 3:
            self.votes = {seat: action["seat"] for seat, action in actions.items()}
            return [self.reveal()]
        self.rounds.append(NaiveRound({seat: action["target"] for seat, action in actions.items()}))
        said: list[dict[str, Any]] = [
            {"type": "map", "round": len(self.rounds), "sections": self.rounds[-1].map()}
        ]
        if len(self.rounds) == 3:
            tied = {"type": "tied", "seats": self.last()}
            said.append(tied if len(tied["seats"]) > 1 else self.reveal())
        return said

    def round_points(self, number: int, seat: int) -> int:
        was_node = any(seat in before.nodes() for before in self.rounds[:number])
        return self.rounds[number].points(seat, was_node=was_node)

    def score(self, seat: int) -> int:
        total = sum(self.round_points(number, seat) for number in range(3))
        if all(seat in each.ends() for each in self.rounds):
            total += 1
        if all(seat in each.starts() for each in self.rounds):
            total -= 2
        return total

    def winners(self) -> list[int]:
        return [seat for seat in self.seats if all(self.score(seat) >= self.score(other) for other in self.seats)]

    def connected(self, seat: int) -> int:
        return len(set().union(*(each.section_of(seat) for each in self.rounds)) - {seat})

    def last(self) -> list[int]:
        fewest = min(self.score(seat) for seat in self.seats)
        tied = [seat for seat in self.seats if self.score(seat) == fewest]
        return [seat for seat in tied if all(self.connected(seat) <= self.connected(other) for other in tied)]

    def may_go(self) -> list[int]:
        """Those of whom one goes; where it is more than one, it is drawn."""
        votes = [vote for vote in (self.votes or {}).values() if vote is not None]
        tied = self.last()
        return [seat for seat in tied if all(votes.count(seat) >= votes.count(other) for other in tied)]

    def told_rounds(self) -> list[dict[str, Any]]:
        return [
            {
                "targets": keyed(each.pointed),
                "points": keyed({seat: self.round_points(number, seat) for seat in self.seats}),
            }
            for number, each in enumerate(self.rounds)
        ]

    def scores(self) -> dict[str, int]:
        return keyed({seat: self.score(seat) for seat in self.seats})

    def reveal(self) -> dict[str, Any]:
        return {"type": "reveal", "rounds": self.told_rounds(), "scores": self.scores()}

    def outcome(self, eliminated: int) -> dict[str, Any]:
        """If that one is drawn."""
        winners = self.winners()
        lucky = winners if len(winners) <= self.token_threshold else []
        garnets = dict.fromkeys(self.seats, 0)
        for seat in self.seats:
            garnets[seat] += seat in lucky
            garnets[seat] -= all(each.pointed[seat] is not None for each in self.rounds)
        ranking: list[list[int]] = []
        for seat in sorted(self.seats, key=lambda seat: (-self.score(seat), seat)):
            if seat == eliminated:
                continue
            if ranking and self.score(ranking[-1][0]) == self.score(seat):
                ranking[-1].append(seat)
            else:
                ranking.append([seat])
        return {
            "ranking": [*ranking, [eliminated]],
            "winners": winners,
            "eliminated": eliminated,
            "scores": self.scores(),
            "tokens": keyed(dict.fromkeys(lucky, 1)),
            "garnets": keyed({seat: number for seat, number in garnets.items() if number}),
            "reason": "finished",
            "detail": {
                "rounds": self.told_rounds(),
                "connected": keyed({seat: self.connected(seat) for seat in self.seats}),
            },
        }


def view(seats: int, seat: int | None, told: list[dict[str, Any]], did: list[Any]) -> dict[str, Any]:
    """Return the view of a seat that was told these events, and of which these actions were taken.

    In `did` a window that opened to the seat and is still open is a None.
    """
    maps = [event["sections"] for event in told if event["type"] == "map"]
    reveals = [event for event in told if event["type"] == "reveal"]
    voted = [action["seat"] for action in did if action and "seat" in action]
    return {
        "seat": seat,
        "seats": seats,
        "round": len(maps) + 1,
        "maps": maps,
        "targets": [action["target"] for action in did if action and "target" in action],
        "tied": [other for event in told if event["type"] == "tied" for other in event["seats"]],
        "may_vote": len(maps) == 3 and did[-1:] == [None],
        "voted": voted[0] if voted else None,
        "rounds": reveals[0]["rounds"] if reveals else [],
        "scores": reveals[0]["scores"] if reveals else None,
    }
