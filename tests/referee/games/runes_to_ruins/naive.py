"""Runes to Ruins once more, as plainly as can be: JSON values, sets and dictionaries, nothing cached.

It shares no code with `referee.games.runes_to_ruins`, only the table of runes, and is written from the rule page
alone, so that a mistake would have to be made twice to go unseen. What is drawn stands in its results as a
function that says whether a value may have been drawn.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

from tests.referee.games.runes_to_ruins.naive_actions import (
    DIVINE,
    FIVE,
    LINES,
    MUNDANE,
    STRAIGHT,
    VISIONS,
    Affairs,
    Json,
    are_joined,
    cost,
    divine,
    groups,
    mundane,
)


class NaiveRunes(Affairs):
    """A match. `play` closes one window with legal actions."""

    def __init__(self, options: Json) -> None:
        super().__init__()
        self.rounds = options.get("rounds", 30)
        self.artefacts = options.get("artefacts", {})
        self.attempt = 1
        self.mantra = [0] * 5
        self.received = [0] * 5
        self.guesses: list[list[Any]] = [[], [], [], [], []]
        self.conditions: list[int] = []
        self.used: set[int] = set()
        # (guesser, guessed) to all the triples of compared guesses
        self.seen: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.reason: str | None = None

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
            self.insight[seat] -= cost(self, seat, actions[seat])
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
        tally = dict.fromkeys(free, 0)
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
        """Answer a vision. About one other seat, it is what that seat's symbol alone would say."""
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
        """Answer a vision by one symbol."""
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
            orders = [kind for kind in ("divine", "mundane") if kind in asked]
            answers += [(kind, self._alone(kind, asked[kind], symbol)) for kind in orders]
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
                before = len(
                    [each for each in equals if each in hidden and positions[str(each)] - better <= place]
                )
                if place not in (before, before + len(rest)):
                    return False
            return True

        return may_be

    def _figure(self, won: int, seat: int, actions: dict[int, Json]) -> int:
        symbol = self.symbols[seat]
        elsewhere = {rune for other in FIVE if other != seat for rune in self.symbols[other]}
        segments = sum(len(LINES[rune]) for rune in symbol)
        lines = sum(STRAIGHT[rune] for rune in symbol)
        sides = [
            (one, other)
            for one, other in combinations(range(6), 2)
            if abs(one % 3 - other % 3) + abs(one // 3 - other // 3) == 1
        ]
        alike = [len([rune for rune in symbol if group in groups(rune)]) for group in DIVINE + MUNDANE]
        connected = {one for one in symbol for two in symbol if one != two and set(groups(one)) & set(groups(two))}
        common = len(set(symbol) & elsewhere)
        figures = {
            1: segments,
            2: segments,
            3: lines,
            4: lines,
            6: max(alike),
            7: len(connected),
            8: common,
            9: common,
            5: len([pair for pair in sides if are_joined(symbol, *pair)]),
            10: self.insight[seat],
            11: self.received[seat],
            12: len(actions[seat].get("visions", {})),
            13: len({mundane(rune) for rune in symbol}),
            14: len({divine(rune) for rune in symbol}),
            15: 2 if seat in self.discovered else 4,
        }
        return figures[won]

    def _reveal(self) -> Json:
        return {
            "type": "reveal",
            "symbols": {str(seat): self.symbols[seat] for seat in FIVE},
            "guesses": {str(seat): self.guesses[seat] for seat in FIVE},
            "conditions": self.conditions,
        }

    def outcome(self, ranking: list[list[int]]) -> Json | None:
        """Return the outcome with this ranking; None where it cannot be the ranking."""
        order = [seat for (seat,) in ranking]
        if sorted(order) != list(FIVE):
            return None
        if any(self._badness(a) > self._badness(b) for a, b in pairwise(order)):
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
