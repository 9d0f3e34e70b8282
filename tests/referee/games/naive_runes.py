"""Runes to Ruins once more, as plainly as can be: JSON values, sets and dictionaries, nothing cached.

It shares no code with `referee.games.runes_to_ruins`, only the table of runes, and is written from the rule page
alone, so that a mistake would have to be made twice to go unseen. What is drawn stands in its results as a function
that says whether a value may have been drawn.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from protocol.games.runes import RUNES

Json = dict[str, Any]
LINES = {rune.name: [(int(a), int(b)) for a, b in rune.segments.split()] for rune in RUNES}
STRAIGHT = {rune.name: rune.straight_lines for rune in RUNES}
DIVINE = ["Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"]
MUNDANE = ["Straight", "Torn", "Origin", "Cross", "Angled", "Slash"]
VISIONS = ["assign", "divine", "mundane", "veil", "pattern", "place", "except", "mirror", "window"]
FIVE = range(5)


def groups(rune: str) -> list[str]:
    """The Mundane and the Divine group that its name says."""
    return rune.split(" ")


def divine(rune: str) -> str:
    return groups(rune)[1]


def mundane(rune: str) -> str:
    return groups(rune)[0]


def ends(position: int, rune: str) -> set[tuple[int, int]]:
    """Where its segments end, in coordinates of the whole symbol."""
    left, top = 2 * (position % 3), 2 * (position // 3)
    return {(left + point % 3, top + point // 3) for line in LINES[rune] for point in line}


def are_joined(symbol: list[str], one: int, other: int) -> bool:
    return bool(ends(one, symbol[one]) & ends(other, symbol[other]))


def hangs_together(symbol: list[str]) -> bool:
    reached = {0}
    while True:
        more = {there for there in range(6) if any(are_joined(symbol, here, there) for here in reached)}
        if more <= reached:
            return len(reached) == 6
        reached |= more


def is_legal(symbol: Any) -> bool:
    if not is_guess(symbol):
        return False
    fits = []
    for one, other in ((divine, mundane), (mundane, divine)):
        ones, others = [one(rune) for rune in symbol], [other(rune) for rune in symbol]
        fits.append(len(set(ones)) == 6 and all(others.count(group) <= 3 for group in others))
    return any(fits) and hangs_together(symbol)


def is_guess(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 6 and are_runes(value)


def are_runes(value: Any) -> bool:
    """A list of different runes."""
    if not isinstance(value, list) or not all(is_rune(each) for each in value):
        return False
    return len(set(value)) == len(value)


def is_rune(value: Any) -> bool:
    return isinstance(value, str) and value in LINES


def is_group(value: Any) -> bool:
    return isinstance(value, str) and value in DIVINE + MUNDANE


def is_number(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def has_keys(value: Any, *keys: str) -> bool:
    return isinstance(value, dict) and sorted(value) == sorted(keys)


class NaiveRunes:
    """A match. `play` closes one window with legal actions."""

    def __init__(self, options: Json) -> None:
        self.rounds = options.get("rounds", 30)
        self.artefacts = options.get("artefacts", {})
        self.round = 1
        self.attempt = 1
        self.invalid: list[list[str]] = []
        self.symbols: list[list[str]] = []
        self.insight = [6] * 5
        self.mantra = [0] * 5
        self.received = [0] * 5
        self.veils = [0] * 5
        self.bought = [0] * 5
        self.windowed: set[int] = set()
        self.abstained: set[int] = set()
        self.lit: set[int] = set()
        self.discovered: dict[int, int] = {}
        self.guesses: list[list[Any]] = [[], [], [], [], []]
        self.conditions: list[int] = []
        self.used: set[int] = set()
        # (guesser, guessed) to all the triples of compared guesses
        self.seen: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.reason: str | None = None

    # --- what may be submitted

    def legal(self, seat: int, action: Any) -> Json | None:
        """The canonical action, or None."""
        if self.round == 1:
            right = has_keys(action, "symbol") and is_legal(action["symbol"])
            return action if right and action["symbol"] not in self.invalid else None
        if not isinstance(action, dict):
            return None
        flags = ("more_votes", "told", "abstain", "light")
        kept: Json = {}
        for key, value in action.items():
            if key in flags:
                if not isinstance(value, bool):
                    return None
                if value:
                    kept[key] = True
            elif key in ("votes", "visions"):
                if not isinstance(value, dict):
                    return None
                if value:
                    kept[key] = value
            elif key in ("learned", "guesses"):
                if not isinstance(value, list):
                    return None
                if value:
                    kept[key] = value
            elif key == "dark":
                if not is_number(value, 0, 4):
                    return None
                kept[key] = value
            else:
                return None
        return self._legal_round(seat, kept)

    def _legal_round(self, seat: int, kept: Json) -> Json | None:
        votes = kept.get("votes", {})
        if not all(key in [str(n) for n in range(1, 16)] and is_number(n, 1, 4) for key, n in votes.items()):
            return None
        if sum(votes.values()) > (4 if "more_votes" in kept else 1):
            return None
        if "abstain" in kept and (votes or "more_votes" in kept or seat in self.abstained):
            return None
        artefacts = self.artefacts.get(str(seat), [])
        if "light" in kept and ("light" not in artefacts or seat in self.lit):
            return None
        if "dark" in kept and "dark" not in artefacts:
            return None
        if "visions" in kept:
            visions = self._legal_visions(seat, kept.pop("visions"))
            if visions is None:
                return None
            if visions:
                kept["visions"] = visions
        if "learned" in kept:
            learned = [self._legal_learned(seat, each) for each in kept["learned"]]
            if None in learned or len(learned) > 2 * self.round:
                return None
            names = [name for each in learned for name in each]  # type: ignore[union-attr]
            if any(names.count(name) > 6 for name in names):
                return None
            kept["learned"] = learned
        if not all(is_guess(guess) for guess in kept.get("guesses", [])):
            return None
        return kept if self.cost(seat, kept) <= self.insight[seat] else None

    def cost(self, seat: int, action: Json) -> int:
        total = len([key for key in ("more_votes", "told") if key in action])
        prices = {"assign": 1, "divine": 1, "mundane": 1, "pattern": 2, "place": 2, "except": 3}
        prices["veil"] = 1 + self.veils[seat]
        total += sum(prices.get(kind, 0) for kind in action.get("visions", {}))
        price = self.bought[seat]
        for _ in action.get("guesses", [])[1:]:
            price += 1
            total += price
        return total

    def _legal_visions(self, seat: int, visions: Json) -> Json | None:
        kept: Json = {}
        for kind, asked in visions.items():
            if kind not in VISIONS:
                return None
            if kind == "veil":
                if not isinstance(asked, bool):
                    return None
                if asked:
                    kept["veil"] = True
            elif asked == {} and kind not in ("divine", "mundane"):
                continue
            else:
                legal = self._legal_vision(seat, kind, asked)
                if legal is None:
                    return None
                kept[kind] = legal
        return kept

    def _legal_vision(self, seat: int, kind: str, asked: Any) -> Any:
        others = [other for other in FIVE if other != seat]

        def is_other(value: Any) -> bool:
            return type(value) is int and value in others

        if kind == "assign":
            right = has_keys(asked, *map(str, others)) and are_runes(list(asked.values()))
        elif kind in ("divine", "mundane"):
            right = isinstance(asked, str) and asked in (DIVINE if kind == "divine" else MUNDANE)
        elif kind == "pattern":
            right = (
                has_keys(asked, "groups", "seats")
                and all(isinstance(asked[key], list) for key in asked)
                and len(asked["groups"]) == 6
                and all(is_group(group) for group in asked["groups"])
                and len(asked["seats"]) > 0
                and all(is_other(other) for other in asked["seats"])
                and len(set(asked["seats"])) == len(asked["seats"])
            )
            return {"groups": asked["groups"], "seats": sorted(asked["seats"])} if right else None
        elif kind == "place":
            right = (
                has_keys(asked, "order", "position")
                and asked["order"] in ("divine", "mundane")
                and is_number(asked["position"], 0, 5)
            )
        elif kind == "except":
            right = has_keys(asked, "seat", "runes") and is_other(asked["seat"]) and are_runes(asked["runes"])
            right = right and len(asked["runes"]) <= 5
            return {"seat": asked["seat"], "runes": sorted(asked["runes"])} if right else None
        elif kind == "mirror":
            right = has_keys(asked, "rune", "seat") and is_other(asked["seat"])
            right = right and asked["rune"] in self.symbols[seat]
        else:
            right = has_keys(asked, "position", "seat") and is_other(asked["seat"])
            right = right and is_number(asked["position"], 0, 5)
            right = right and seat not in self.windowed and seat not in self.discovered
        return asked if right else None

    def _legal_learned(self, seat: int, given: Any) -> Json | None:
        if not isinstance(given, dict) or len(given) != 1:
            return None
        ((kind, asked),) = given.items()
        others = [other for other in FIVE if other != seat]
        if kind == "rune":
            right = is_rune(asked)
        elif kind == "count":
            right = has_keys(asked, "seat", "group", "number") and is_group(asked["group"])
            right = right and is_number(asked["number"], 0, 6)
            right = right and type(asked["seat"]) is int and asked["seat"] in others
        elif kind == "has":
            right = has_keys(asked, "seat", "rune") and is_rune(asked["rune"])
            right = right and type(asked["seat"]) is int and asked["seat"] in others
        elif kind == "line":
            rows = has_keys(asked, "rune", "row") and is_number(asked["row"], 0, 1)
            columns = has_keys(asked, "rune", "column") and is_number(asked["column"], 0, 2)
            right = (rows or columns) and is_rune(asked["rune"])
        elif kind == "shared":
            if not isinstance(asked, list) or not all(type(one) is int and one in others for one in asked):
                return None
            return {"shared": sorted(asked)} if len(asked) == 2 and asked[0] != asked[1] else None
        elif kind == "most":
            return {"most": sorted(asked)} if are_runes(asked) and 1 <= len(asked) <= 6 else None
        else:
            return None
        return given if right else None

    # --- what happens

    def play(self, actions: dict[int, Json]) -> tuple[list[Json], dict[int, list[Json]]]:
        """Public events, and what each seat is told."""
        told: dict[int, list[Json]] = {seat: [] for seat in FIVE}
        return (self._symbols(actions, told) if self.round == 1 else self._round(actions, told)), told

    def _symbols(self, actions: dict[int, Json], told: dict[int, list[Json]]) -> list[Json]:
        submitted = [actions[seat]["symbol"] for seat in FIVE]
        clashing = [symbol for symbol in submitted if submitted.count(symbol) > 1]
        if clashing:
            self.invalid += clashing
            self.attempt += 1
            return [{"type": "resubmit", "attempt": self.attempt}]
        self.symbols = submitted
        self.round = 2
        for seat in FIVE:
            told[seat].append({"type": "symbol_set", "symbol": submitted[seat]})
        return []

    def _round(self, actions: dict[int, Json], told: dict[int, list[Json]]) -> list[Json]:
        for seat in FIVE:
            self.insight[seat] -= self.cost(seat, actions[seat])
            assert self.insight[seat] >= 0
        public: list[Json] = []
        won = self._vote(actions)
        self.conditions.append(won)
        for seat in FIVE:
            if actions[seat].get("told"):
                told[seat].append({"type": "condition", "condition": won})
        self._visions(actions, told, public)
        gained = [self._learn(seat, actions[seat].get("learned", []), told) for seat in FIVE]
        self._mirrors(actions, told)
        found = self._guess(actions, told)
        if found:
            public.append({"type": "discovered", "seats": sorted(found)})
        over = len(self.discovered) >= 4
        self.reason = "discovered" if over else "rounds" if self.round == self.rounds else None
        for seat in FIVE:
            self.mantra[seat] += gained[seat]
            self.received[seat] += gained[seat]
        for seat in FIVE:
            if "dark" in actions[seat] and not self.reason:
                target = actions[seat]["dark"]
                more = self.mantra[target] - self.mantra[target] % 5
                self.mantra[target] += max(more, 10)
                self.received[target] += max(more, 10)
        for seat in FIVE:
            self._settle(seat)
            told[seat].append({"type": "purse", "insight": self.insight[seat], "mantra": self.mantra[seat]})
        self.abstained = {seat for seat in FIVE if actions[seat].get("abstain")}
        self.lit = {seat for seat in FIVE if actions[seat].get("light")}
        if self.reason:
            public.append(self._reveal())
        else:
            public.append(self._pay(won, actions))
        return public

    def _vote(self, actions: dict[int, Json]) -> int:
        free = [number for number in range(1, 16) if number not in self.used]
        tally = {number: 0 for number in free}
        for action in actions.values():
            for key, votes in action.get("votes", {}).items():
                if int(key) in tally:
                    tally[int(key)] += votes
        won = next(number for number in free if tally[number] == max(tally.values()))
        self.used.add(won)
        if len(self.used) == 12:
            self.used = set()
        return won

    def _visions(self, actions: dict[int, Json], told: dict[int, list[Json]], public: list[Json]) -> None:
        veiled = [seat for seat in FIVE if "veil" in actions[seat].get("visions", {})]
        for seat in FIVE:
            visions = actions[seat].get("visions", {})
            for kind in VISIONS:
                if kind not in visions:
                    continue
                asked = visions[kind]
                if kind == "mirror":
                    public.append({"type": "revealed", "seat": seat, "rune": asked["rune"], "position": None})
                elif kind == "window":
                    position = asked["position"]
                    rune = self.symbols[seat][position]
                    public.append({"type": "revealed", "seat": seat, "rune": rune, "position": position})
                    self.windowed.add(seat)
                if kind not in ("veil", "mirror"):
                    answer = self._vision(seat, kind, asked, veiled)
                    told[seat].append({"type": "vision", "kind": kind, "answer": answer})
                users = [other for other in FIVE if kind in actions[other].get("visions", {})]
                if users == [seat]:
                    self.insight[seat] += 1
        for seat in veiled:
            self.veils[seat] += 1

    def _vision(self, seat: int, kind: str, asked: Any, veiled: list[int]) -> Any:
        """The answer to a vision. About one other seat, it is what that seat's symbol alone would say."""
        others = [other for other in FIVE if other != seat]
        if kind in ("assign", "divine", "mundane"):
            straight = {}
            for other in others:
                rune = asked[str(other)] if kind == "assign" else asked
                truth = self._alone(kind, rune, self.symbols[other])
                straight[str(other)] = not truth if other in veiled else truth
            return straight
        if kind == "pattern":
            parts = [self._alone(kind, asked, self.symbols[other]) for other in asked["seats"]]
            return [sum(column) for column in zip(*parts, strict=True)]
        if kind == "place":
            return sorted({self._alone(kind, asked, self.symbols[other])[0] for other in others})
        if kind == "except":
            return self._alone(kind, asked, self.symbols[asked["seat"]])
        return self.symbols[asked["seat"]][asked["position"]]

    def _alone(self, kind: str, asked: Any, symbol: list[str]) -> Any:
        """What one symbol answers to a vision."""
        if kind == "assign":
            return asked in symbol
        if kind in ("divine", "mundane"):
            return any(asked in groups(rune) for rune in symbol)
        if kind == "pattern":
            return [int(group in groups(rune)) for group, rune in zip(asked["groups"], symbol, strict=True)]
        if kind == "place":
            order = divine if asked["order"] == "divine" else mundane
            return [order(symbol[asked["position"]])]
        left = set(symbol) - set(asked["runes"])
        return lambda drawn: drawn in left

    def _learn(self, seat: int, learned: list[Json], told: dict[int, list[Json]]) -> int:
        total = 0
        for index, each in enumerate(learned):
            ((kind, asked),) = each.items()
            answer, mantra = self._learned(seat, kind, asked)
            total += mantra
            told[seat].append({"type": "learned", "index": index, "answer": answer, "mantra": mantra})
        return total

    def _learned(self, seat: int, kind: str, asked: Any) -> tuple[Any, int]:
        others = [self.symbols[other] for other in FIVE if other != seat]
        if kind == "rune":
            users = len([symbol for symbol in others if asked in symbol])
            return users, 2 * users
        if kind == "count":
            truth = len([rune for rune in self.symbols[asked["seat"]] if asked["group"] in groups(rune)])
            return truth, 3 * abs(truth - asked["number"])
        if kind == "has":
            truth = asked["rune"] in self.symbols[asked["seat"]]
            return truth, 4 * (not truth)
        if kind == "line":
            there = [symbol for symbol in others if asked["rune"] in self._line(asked, symbol)]
            return len(there), 5 * (not there)
        if kind == "shared":
            common = set(self.symbols[asked[0]]) & set(self.symbols[asked[1]])
            return len(common), 6 * (not common)
        most = max(len(set(asked) & set(symbol)) for symbol in others)
        return most, 3 * (len(asked) - most)

    def _line(self, asked: Json, symbol: list[str]) -> list[str]:
        if "row" in asked:
            return [symbol[:3], symbol[3:]][asked["row"]]
        return symbol[asked["column"] :: 3]

    def _mirrors(self, actions: dict[int, Json], told: dict[int, list[Json]]) -> None:
        for seat in FIVE:
            mirror = actions[seat].get("visions", {}).get("mirror")
            if mirror is None:
                continue
            of = mirror["seat"]
            symbol = self.symbols[of]
            asked = actions[of].get("visions", {})
            answers: list[tuple[str, Any]] = []
            if "assign" in asked:
                answers.append(("assign", self._alone("assign", asked["assign"][str(seat)], symbol)))
            for kind in ("divine", "mundane"):
                if kind in asked:
                    answers.append((kind, self._alone(kind, asked[kind], symbol)))
            if "pattern" in asked and seat in asked["pattern"]["seats"]:
                answers.append(("pattern", self._alone("pattern", asked["pattern"], symbol)))
            if "place" in asked:
                answers.append(("place", self._alone("place", asked["place"], symbol)))
            if "except" in asked and asked["except"]["seat"] == seat:
                answers.append(("except", self._alone("except", asked["except"], symbol)))
            answers += self._mirrored_learned(seat, of, actions[of].get("learned", []))
            for kind, answer in answers:
                told[seat].append({"type": "mirrored", "of": of, "kind": kind, "answer": answer})

    def _mirrored_learned(self, seat: int, of: int, learned: list[Json]) -> Iterator[tuple[str, Any]]:
        symbol = self.symbols[of]
        for each in learned:
            ((kind, asked),) = each.items()
            if kind in ("rune", "most"):
                named = [asked] if kind == "rune" else asked
                yield kind, len(set(named) & set(symbol))
            elif kind == "line":
                yield kind, int(asked["rune"] in self._line(asked, symbol))
            elif kind == "shared" and seat in asked:
                yield kind, len(set(symbol) & set(self.symbols[seat]))
            elif kind == "count" and asked["seat"] == seat:
                yield kind, len([rune for rune in symbol if asked["group"] in groups(rune)])
            elif kind == "has" and asked["seat"] == seat:
                yield kind, asked["rune"] in symbol

    def _guess(self, actions: dict[int, Json], told: dict[int, list[Json]]) -> set[int]:
        open_ = [seat for seat in FIVE if seat not in self.discovered and not actions[seat].get("light")]
        finders: dict[int, set[int]] = {}
        for guesser in FIVE:
            guesses = actions[guesser].get("guesses", [])
            self.bought[guesser] += max(len(guesses) - 1, 0)
            self.guesses[guesser] += guesses
            for index, guess in enumerate(guesses):
                closest = (0, 0, 0)
                for seat in open_:
                    if seat != guesser:
                        triple = self._near(guess, self.symbols[seat])
                        self.seen.setdefault((guesser, seat), []).append(triple)
                        closest = max(closest, triple)
                        if triple[0] == 6:
                            finders.setdefault(seat, set()).add(guesser)
                exact, moved, group = closest
                told[guesser].append(
                    {"type": "guess", "index": index, "exact": exact, "moved": moved, "group": group}
                )
        for seat, who in finders.items():
            self.discovered[seat] = self.round
            for finder in who:
                self.insight[finder] += 10 if len(who) == 1 else 5
        return set(finders)

    def _near(self, guess: list[str], symbol: list[str]) -> tuple[int, int, int]:
        exact = [n for n in range(6) if guess[n] == symbol[n]]
        moved = [n for n in range(6) if n not in exact and guess[n] in symbol]
        rest = [n for n in range(6) if n not in exact + moved]
        alike = [n for n in rest if set(groups(guess[n])) & set(groups(symbol[n]))]
        return len(exact), len(moved), len(alike)

    def _settle(self, seat: int) -> None:
        self.mantra[seat] = max(self.mantra[seat] - 6, 0)
        for removes in (7, 8, 9, 10, 20, None):
            left = self.mantra[seat]
            remove = left if removes is None else removes
            if left == 0 or left < remove or self.insight[seat] == 0:
                return
            self.mantra[seat] -= remove
            self.insight[seat] -= 1

    # --- conditions

    def _pay(self, won: int, actions: dict[int, Json]) -> Json:
        figures = [self._figure(won, seat, actions) for seat in FIVE]
        if won in (13, 14, 15):
            earned = figures
        else:
            best_first = sorted(set(figures), reverse=won in (1, 3, 5, 6, 7, 8))
            earned = [6 - best_first.index(figure) for figure in figures]
        self.round += 1
        extra = len([number for number in range(5, self.round + 1) if number % 3 == 2])
        earned = [each + extra for each in earned]
        for seat in FIVE:
            self.insight[seat] += earned[seat]
        hidden = [seat for seat in FIVE if actions[seat].get("abstain")]
        return {
            "type": "insight",
            "round": self.round,
            "earned": {str(seat): earned[seat] for seat in FIVE if seat not in hidden},
            "positions": self._may_be_positions(earned, hidden) if hidden else {},
        }

    def _may_be_positions(self, earned: list[int], hidden: list[int]) -> Callable[[Any], bool]:
        def may_be(positions: Any) -> bool:
            if sorted(positions) != [str(seat) for seat in hidden] or len(set(positions.values())) < len(hidden):
                return False
            for seat in hidden:
                better = len([other for other in FIVE if earned[other] > earned[seat]])
                equals = [other for other in FIVE if earned[other] == earned[seat]]
                rest = [other for other in equals if other not in hidden]
                place = positions[str(seat)] - better
                if not 1 <= place <= len(equals):
                    return False
                # Of its equals in hiding, some stand before all the rest, and some after.
                before = len([each for each in equals if each in hidden and positions[str(each)] - better <= place])
                if place not in (before, before + len(rest)):
                    return False
            return True

        return may_be

    def _figure(self, won: int, seat: int, actions: dict[int, Json]) -> int:
        symbol = self.symbols[seat]
        elsewhere = {rune for other in FIVE if other != seat for rune in self.symbols[other]}
        if won in (1, 2):
            return sum(len(LINES[rune]) for rune in symbol)
        if won in (3, 4):
            return sum(STRAIGHT[rune] for rune in symbol)
        if won == 5:
            sides = [
                (one, other)
                for one, other in combinations(range(6), 2)
                if abs(one % 3 - other % 3) + abs(one // 3 - other // 3) == 1
            ]
            return len([pair for pair in sides if are_joined(symbol, *pair)])
        if won == 6:
            return max(len([rune for rune in symbol if group in groups(rune)]) for group in DIVINE + MUNDANE)
        if won == 7:
            return len({a for a in symbol for b in symbol if a != b and set(groups(a)) & set(groups(b))})
        if won in (8, 9):
            return len(set(symbol) & elsewhere)
        if won == 10:
            return self.insight[seat]
        if won == 11:
            return self.received[seat]
        if won == 12:
            return len(actions[seat].get("visions", {}))
        if won == 15:
            return 2 if seat in self.discovered else 4
        return len({(mundane if won == 13 else divine)(rune) for rune in symbol})

    # --- the end

    def _reveal(self) -> Json:
        return {
            "type": "reveal",
            "symbols": {str(seat): self.symbols[seat] for seat in FIVE},
            "guesses": {str(seat): self.guesses[seat] for seat in FIVE},
            "conditions": self.conditions,
        }

    def outcome(self, ranking: list[list[int]]) -> Json | None:
        """The outcome with this ranking; None where it cannot be the ranking."""
        order = [seat for (seat,) in ranking]
        if sorted(order) != list(FIVE):
            return None
        if any(self._badness(a) > self._badness(b) for a, b in zip(order, order[1:], strict=False)):
            return None
        may = [seat for seat in order if self.mantra[seat] < 10]
        tokens = {} if not may else {str(may[0]): 2 if may[0] == order[0] else 1}
        return {
            "ranking": ranking,
            "winners": [order[0]],
            "eliminated": order[4],
            "scores": None,
            "tokens": tokens,
            "garnets": {},
            "reason": self.reason,
            "detail": {
                "discovered": {str(seat): self.discovered[seat] for seat in sorted(self.discovered)},
                "mantra": {str(seat): self.mantra[seat] for seat in FIVE},
            },
        }

    def _badness(self, seat: int) -> list[int]:
        found = self.discovered.get(seat, 10**9)
        sums = []
        for figure in range(3):
            best = [
                max((triple[figure] for triple in self.seen.get((other, seat), [])), default=0) for other in FIVE
            ]
            sums.append(sum(best))
        return [-found, *sums, self.received[seat]]


def may_be(expected: Any, got: Any) -> bool:
    """Whether a result is as expected, where what was drawn need only be possible. The order of keys counts."""
    if callable(expected):
        return bool(expected(got))
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and list(expected) == list(got)
            and all(may_be(value, got[key]) for key, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(got, list)
            and len(expected) == len(got)
            and all(may_be(one, other) for one, other in zip(expected, got, strict=True))
        )
    return type(expected) is type(got) and bool(expected == got)
