"""The Fight For a Name once more, as plainly as can be: coordinates, dictionaries, JSON values, nothing shared.

It is written from the rule page alone and imports none of `referee.games.fight_for_a_name.game`, so that a mistake
would have to be made twice to go unseen. What is drawn it does not draw: it is told (`rank`, `drawn`), and
complains if that was not among what could have been.
"""

from typing import Any

ROWS = [[1], [2, 3], [4, 5, 6], [7, 8, 9, 10], [11, 12, 13], [14, 15, 16, 17], [18, 0, 19]]
ROWS += [[20, 21, 22, 23], [24, 25, 26], [27, 28, 29, 30], [31, 32, 33], [34, 35], [36]]
AT = {
    (2 * column - len(row) + 1, height - 6): number
    for height, row in enumerate(ROWS)
    for column, number in enumerate(row)
}
WHERE = {number: place for place, number in AT.items()}
WAYS = {"N": (0, -2), "NE": (1, -1), "SE": (1, 1), "S": (0, 2), "SW": (-1, 1), "NW": (-1, -1)}
PRINTED = {"phi": [(1, "N")], "mu": [(3, "NE"), (6, "N")], "omega": [(10, "SE"), (10, "NE"), (17, "NE")]}
"""The gates that the source text gives."""
MIRRORED = {"phi": "phi psi", "mu": "mu lambda sigma theta", "omega": "omega delta gamma xi"}
"""Each of them as it is; left to right (where that is another); top to bottom; both."""
SEATS = [str(seat) for seat in range(13)]
COLOURS = ["red", "orange", "yellow", "green", "blue", "purple"]

Json = Any
Said = tuple[int | None, Json]
"""Whom an event is for (None: all), and the event as JSON."""


def gates() -> dict[str, set[tuple[int, str]]]:
    """All pillars' gates, by mirroring those printed."""
    found = {}
    for pillar, names in MIRRORED.items():
        flips = [(1, 1), (1, -1)] if pillar == "phi" else [(1, 1), (-1, 1), (1, -1), (-1, -1)]
        for name, (across, down) in zip(names.split(), flips, strict=True):
            found[name] = {
                (flipped_hex(hex_, across, down), flipped(way, across, down)) for hex_, way in PRINTED[pillar]
            }
    return found


def flipped_hex(number: int, across: int, down: int) -> int:
    x, y = WHERE[number]
    return AT[x * across, y * down]


def flipped(way: str, across: int, down: int) -> str:
    x, y = WAYS[way]
    return next(name for name, step in WAYS.items() if step == (x * across, y * down))


GATES = gates()


def step(place: str, way: str) -> str | None:
    """Where a step leads; None: nowhere."""
    dx, dy = WAYS[way]
    if place in GATES:
        back = next(name for name, vector in WAYS.items() if vector == (-dx, -dy))
        leads = [number for number, gate in GATES[place] if gate == back]
        if len(leads) == 2:  # the hex that no other direction leads to
            leads = [n for n in leads if all(gate == back for number, gate in GATES[place] if number == n)]
        return str(leads[0]) if leads else None
    number = 0 if place == "Start" else int(place)
    x, y = WHERE[number]
    if (x + dx, y + dy) in AT:
        there = AT[x + dx, y + dy]
        return str(there) if there else "Start"
    return next((pillar for pillar, found in GATES.items() if (number, way) in found), None)


def is_int(value: Json) -> bool:
    return type(value) is int


def keys_of(action: Json, allowed: set[str]) -> bool:
    return isinstance(action, dict) and set(action) <= allowed


class NaiveFight:
    """A match. `close` closes one window with canonical actions; `rank` and `drawn` say what chance did."""

    def __init__(self, setup: Json, rounds: int) -> None:
        self.setup, self.rounds = setup, rounds
        self.phase, self.round = "challenge", 0
        self.place: dict[str, str] = dict.fromkeys(SEATS, "Start")  # of those without a title
        self.mp = dict.fromkeys(SEATS, 0)
        self.crests: dict[str, dict[str, int]] = {seat: {} for seat in SEATS}
        self.landings: dict[str, list[tuple[int, int, int]]] = {seat: [] for seat in SEATS}  # hex, MP, extra
        self.seen: dict[str, set[str]] = {seat: set() for seat in SEATS}  # pillars
        self.ended_on: dict[str, set[int]] = {seat: set() for seat in SEATS}
        self.barred: dict[str, str | None] = dict.fromkeys(SEATS, None)
        self.white: set[int] = set()
        self.claims: dict[str, dict[str, int]] = {}
        self.visiting: dict[str, str] = {}
        self.gifts: dict[str, int] = {}
        self.rank: list[int] = []
        self.candidates: list[int] = []
        self.winners: list[int] = []
        self.tokens: dict[int, int] = {}
        self.eliminated: int | None = None
        self.reason: str | None = None

    # What is due, and what is legal.

    def window(self) -> tuple[str, list[int]] | None:
        match self.phase:
            case "over":
                return None
            case "challenge" | "move":
                return self.phase, list(range(13))
            case "pillar":
                return self.phase, sorted(map(int, self.visiting))
            case "justice":
                return self.phase, [self.claims["Justice"]["seat"]]
            case _:
                return self.phase, self.winners

    def default(self) -> Json:
        return {"challenge": {"pick": []}, "move": {}, "pillar": None}.get(self.phase, {"seat": None})

    def legal(self, seat: str, action: Json) -> Json:
        """Return the canonical spelling; None if it is illegal."""
        if self.phase == "challenge":
            return self._legal_pick(action)
        if self.phase == "move":
            return self._legal_move(seat, action)
        if self.phase == "pillar":
            return self._legal_ask(self.setup["pillars"][self.visiting[seat]], action)
        if not isinstance(action, dict) or set(action) != {"seat"}:
            return None
        named = action["seat"]
        return action if named is None or (is_int(named) and named in self.candidates) else None

    def _legal_pick(self, action: Json) -> Json:
        if not isinstance(action, dict) or set(action) != {"pick"} or not isinstance(action["pick"], list):
            return None
        pick = action["pick"]
        fine = all(is_int(n) and n in range(8) for n in pick) and len(set(pick)) == len(pick)
        return {"pick": sorted(pick)} if fine else None

    def _legal_move(self, seat: str, action: Json) -> Json:
        if not keys_of(action, {"path", "reinforce", "give"}):
            return None
        types = {"path": list, "reinforce": dict, "give": dict}
        if any(not isinstance(value, types[key]) for key, value in action.items()):
            return None
        action = {key: value for key, value in action.items() if value}
        if seat not in self.place:
            return action if set(action) <= {"give"} and self._legal_gifts(seat, action.get("give", {})) else None
        path, reinforce = action.get("path", []), action.get("reinforce", {})
        cost = self._reinforcing_costs(seat, reinforce)
        if "give" in action or cost is None or self._legal_path(seat, path) is None:
            return None
        return action if len(path) + cost <= self.mp[seat] else None

    def _legal_gifts(self, seat: str, give: dict[str, Json]) -> bool:
        if any(key not in self.place or not is_int(n) or n not in (1, 2) for key, n in give.items()):
            return False
        return sorted(give.values()) in ([], [1], [2], [1, 1]) and self.barred[seat] not in give

    def _legal_path(self, seat: str, path: list[Json]) -> str | None:
        here = self.place[seat]
        for number, way in enumerate(path):
            there = step(here, way) if isinstance(way, str) and way in WAYS else None
            last = number == len(path) - 1
            if there is None or (there in GATES and (not last or len(set(path)) != 1 or there in self.seen[seat])):
                return None
            here = there
        return here

    def _reinforcing_costs(self, seat: str, reinforce: dict[str, Json]) -> int | None:
        if reinforce and len(self.place) > 5:
            return None
        mine = {str(number) for number in self.ended_on[seat] - self.white}
        if any(key not in mine or not is_int(n) or n < 1 for key, n in reinforce.items()):
            return None
        return sum(reinforce.values())

    def _legal_ask(self, shown: list[str], action: Json) -> Json:
        if not isinstance(action, dict) or set(action) != {"body", "parting", "other", "neither", "crest"}:
            return None
        named = []
        for key in ("body", "parting", "other"):
            if not isinstance(action[key], list) or len(action[key]) != 2 or action[key][1] not in COLOURS:
                return None
            named.append(action[key][0])
        if not isinstance(action["neither"], list):
            return None
        named += [*action["neither"], action["crest"]]
        if any(not isinstance(title, str) for title in named) or sorted(named) != sorted(shown):
            return None
        return action | {"neither": sorted(action["neither"])} if len(action["neither"]) == 2 else None

    # What the windows come to.

    def answer(self, seat: str, ask: Json, got: Json) -> None:
        """Judges an answer that a pillar gave; chance decides only among what is allowed."""
        titles = self.setup["titles"]
        one, other = ask["body"], ask["parting"]
        assert titles[one[0]]["body"] == one[1] if got["body"] else titles[one[0]]["body"] != one[1]
        assert got["parting"] is (titles[other[0]]["parting"] == other[1])
        banner = titles[ask["other"][0]].values()
        assert got["other"] in COLOURS
        assert got["other"] not in [*banner, ask["other"][1]]
        banners = [colour for title in ask["neither"] for colour in titles[title].values()]
        assert got["neither"] == sorted(set(got["neither"]))
        assert len(got["neither"]) == 2
        assert not set(got["neither"]) & set(banners)
        assert got == {"type": "pillar_answer"} | {
            key: got[key] for key in ("body", "parting", "other", "neither")
        } | {"crest": ask["crest"]}
        self.crests[seat].setdefault(ask["crest"], self.round)

    def close(self, actions: dict[str, Json], drawn: int | None) -> list[Said]:
        """`drawn` is the eliminated seat, should it be drawn now."""
        self.drawn = drawn
        match self.phase:
            case "challenge":
                self._begin_round()
                return []
            case "move":
                return self._moves(actions)
            case "pillar":
                return self._end_round()
        return self._votes([action["seat"] for action in actions.values() if action["seat"] is not None])

    def _votes(self, votes: list[int]) -> list[Said]:
        tally = {seat: votes.count(seat) for seat in votes}
        top = sorted(seat for seat in tally if tally[seat] == max(tally.values()))
        if self.phase == "token_vote":
            if len(top) == 1:
                self.tokens[top[0]] = 1
            return self._elimination()
        if self.phase == "elimination_vote":
            self.candidates = top or self.candidates
            if len(self.candidates) > 1 and "Justice" in self.claims:
                self.phase = "justice"
                return []
            return self._over()
        self.candidates = votes or self.candidates
        return self._over()

    def _begin_round(self) -> None:
        self.phase, self.round = "move", self.round + 1
        self.visiting, self.gifts = {}, {}
        for seat in self.place:
            self.mp[seat] += 2

    def _moves(self, actions: dict[str, Json]) -> list[Said]:
        for seat in SEATS:
            if seat in self.place:
                self._move(seat, actions[seat].get("path", []), actions[seat].get("reinforce", {}))
        at_start = [seat for seat, place in self.place.items() if place == "Start"]
        for seat in at_start:
            self.mp[seat] += 3 if len(at_start) > 1 else 4
        for seat in set(SEATS) - set(self.place):
            give = actions[seat].get("give", {})
            self.barred[seat] = next((key for key in give if give[key] == 2), None)
            for key, amount in give.items():
                self.gifts[key] = self.gifts.get(key, 0) + amount
        for key, amount in self.gifts.items():
            self.mp[key] += amount
        said = self._visits()
        if self.visiting:
            self.phase = "pillar"
            return said
        return said + self._end_round()

    def _move(self, seat: str, path: list[str], reinforce: dict[str, int]) -> None:
        here = self.place[seat]
        there = self._legal_path(seat, path)
        assert there is not None
        self.place[seat] = there
        self.mp[seat] -= len(path) + sum(reinforce.values())
        self.landings[seat] += [(int(key), amount, 0) for key, amount in reinforce.items()]
        if there in GATES and there != here:
            self.visiting[seat] = there
            self.seen[seat].add(there)
        elif there.isdigit():
            self.ended_on[seat].add(int(there))
            self.landings[seat].append((int(there), len(path), 1))

    def _visits(self) -> list[Said]:
        said: list[Said] = []
        crowd = list(self.visiting.values())
        for seat, pillar in sorted(self.visiting.items(), key=lambda visit: int(visit[0])):
            if crowd.count(pillar) > 5:
                said.append((int(seat), {"type": "crowded", "pillar": pillar}))
                del self.visiting[seat]
            else:
                shown = {"type": "pillar_shows", "pillar": pillar, "titles": self.setup["pillars"][pillar]}
                said.append((int(seat), shown))
        return said

    def strength(self, seat: str, number: int) -> int:
        """Landings on hexes that are white by now count no more, and a seat with a title has none."""
        if number in self.white or seat not in self.place:
            return 0
        return sum(spent + extra for hex_, spent, extra in self.landings[seat] if hex_ == number)

    def spent(self, seat: str, number: int) -> int:
        return sum(spent for hex_, spent, _ in self.landings[seat] if hex_ == number)

    def holder(self, number: int) -> str | None:
        strengths = [self.strength(seat, number) for seat in SEATS]
        for strength in sorted(set(strengths) - {0}, reverse=True):
            if strengths.count(strength) == 1:
                return SEATS[strengths.index(strength)]
        return None

    def _end_round(self) -> list[Said]:
        claimed = {}
        for title in sorted(self.setup["titles"]):
            if title not in self.claims:
                seat = self._claim(title)
                if seat is not None:
                    claimed[title] = seat
        return self._results(claimed)

    def _claim(self, title: str) -> int | None:
        banner, claimers = self.setup["titles"][title], []
        for seat in self.place:
            mine = [number for number in range(1, 37) if self.holder(number) == seat]
            bodies = [n for n in mine if self.setup["colours"][str(n)] == banner["body"]]
            partings = [n for n in mine if self.setup["colours"][str(n)] == banner["parting"]]
            if title in self.crests[seat] and bodies and len(partings) >= 2:
                hexes = {bodies[0], partings[0], partings[1]}
                worth = sum(self.spent(seat, number) for number in hexes)
                claimers.append((-worth, self.crests[seat][title], self.rank.index(int(seat)), seat, hexes))
        if not claimers:
            return None
        *_, seat, hexes = min(claimers)
        del self.place[seat]
        for other in self.place:
            self.mp[other] += sum(self.spent(other, number) for number in hexes)
        for other in SEATS:
            self.landings[other] = [landing for landing in self.landings[other] if landing[0] not in hexes]
        self.white |= hexes
        self.claims[title] = {"seat": int(seat), "round": self.round}
        return int(seat)

    def _results(self, claimed: dict[str, int]) -> list[Said]:
        for seat in SEATS:
            self.landings[seat] = [landing for landing in self.landings[seat] if landing[0] not in self.white]
        holders = {str(n): int(holder) for n in range(1, 37) if (holder := self.holder(n)) is not None}
        result = {
            "type": "round_result",
            "round": self.round,
            "positions": {seat: self.place[seat] for seat in SEATS if seat in self.place},
            "holders": holders,
            "white": sorted(self.white),
            "claimed": claimed,
            "gifts": {seat: self.gifts[seat] for seat in SEATS if seat in self.gifts},
        }
        said: list[Said] = [(None, result)]
        for seat in self.place:
            own = {"crests": sorted(self.crests[seat]), "strengths": self.strengths(seat)}
            said.append((int(seat), {"type": "standing", "mp": self.mp[seat]} | own))
        if len(self.place) <= 2:
            self.reason = "titles"
        elif self.round == self.rounds:
            self.reason = "rounds"
        else:
            self._begin_round()
            return said
        return said + self._closing()

    def strengths(self, seat: str) -> dict[str, int]:
        return {str(n): strength for n in range(1, 37) if (strength := self.strength(seat, n))}

    def _closing(self) -> list[Said]:
        rounds = [claim["round"] for claim in self.claims.values()]
        self.winners = sorted(claim["seat"] for claim in self.claims.values() if claim["round"] == min(rounds))
        if len(self.winners) == 1:
            self.tokens[self.winners[0]] = 3
        elif len(self.winners) <= 8:
            self.tokens = dict.fromkeys(self.winners, 1)
        others = sorted({claim["seat"] for claim in self.claims.values()} - set(self.winners))
        if others and len(self.winners) <= 5:
            self.phase, self.candidates = "token_vote", others
            return []
        return self._elimination()

    def _elimination(self) -> list[Said]:
        def key(seat: str) -> tuple[int, int]:
            crests = sum(title not in self.claims for title in self.crests[seat])
            return crests, sum(spent for _, spent, _ in self.landings[seat])

        least = min(key(seat) for seat in self.place)
        self.candidates = [int(seat) for seat in self.place if key(seat) == least]
        if len(self.candidates) > 1 and self.winners:
            self.phase = "elimination_vote"
            return []
        return self._over()

    def _over(self) -> list[Said]:
        assert self.drawn in self.candidates
        self.phase, self.eliminated = "over", self.drawn
        return [(None, self.reveal())]

    def reveal(self) -> Json:
        secrets = {key: self.setup[key] for key in ("titles", "pillars")}
        claims = {title: self.claims[title] for title in sorted(self.claims)}
        return {"type": "reveal"} | secrets | {"challenge": self.rank, "claims": claims}

    def outcome(self) -> Json:
        if self.phase != "over":
            return None
        claims = list(self.claims.values())
        rounds = sorted({claim["round"] for claim in claims})
        ranking: list[Json] = [
            sorted(claim["seat"] for claim in claims if claim["round"] == number) for number in rounds
        ]
        ranking += [[int(seat) for seat in self.place if int(seat) != self.eliminated], [self.eliminated]]
        return {
            "ranking": [group for group in ranking if group],
            "winners": self.winners,
            "eliminated": self.eliminated,
            "scores": None,
            "tokens": {str(seat): self.tokens[seat] for seat in sorted(self.tokens)},
            "garnets": {},
            "reason": self.reason,
            "detail": {
                "claims": {title: self.claims[title] for title in sorted(self.claims)},
                "crests": {seat: sorted(self.crests[seat]) for seat in SEATS},
                "strengths": {seat: self.strengths(seat) for seat in SEATS},
            },
        }
