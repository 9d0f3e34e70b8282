"""Symbols and actions of Runes to Ruins, judged naively: which are legal, and how they are spelled.

Written from the rule page alone, on JSON values; it shares only the table of runes with the rules.
"""

from collections.abc import Callable
from typing import Any

from protocol.games.runes_to_ruins.runes import RUNES

Json = dict[str, Any]
LINES: dict[str, list[tuple[int, int]]] = {
    rune.name: [(int(segment[0]), int(segment[1])) for segment in rune.segments.split()] for rune in RUNES
}
STRAIGHT: dict[str, int] = {rune.name: rune.straight_lines for rune in RUNES}
DIVINE = ["Divider", "Slope", "Splitter", "Zig-Zag", "Enclosure", "Box"]
MUNDANE = ["Straight", "Torn", "Origin", "Cross", "Angled", "Slash"]
VISIONS = ["assign", "divine", "mundane", "veil", "pattern", "place", "except", "mirror", "window"]
FIVE = range(5)


def groups(rune: str) -> list[str]:
    """Return the Mundane and the Divine group that its name says."""
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
    """Say whether a value is a list of different runes."""
    if not isinstance(value, list) or not all(is_rune(each) for each in value):
        return False
    return len(set(value)) == len(value)


def is_rune(value: Any) -> bool:
    return isinstance(value, str) and value in LINES


def is_group(value: Any) -> bool:
    return isinstance(value, str) and value in DIVINE + MUNDANE


def is_number(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(of(each) for each in value)


def has_keys(value: Any, *keys: str) -> bool:
    return isinstance(value, dict) and sorted(value) == sorted(keys)


class Affairs:
    """What a seat's action is judged by."""

    def __init__(self) -> None:
        self.round = 1
        self.artefacts: Json = {}
        self.invalid: list[list[str]] = []
        self.symbols: list[list[str]] = []
        self.insight = [6] * 5
        self.veils = [0] * 5
        self.bought = [0] * 5
        self.windowed: set[int] = set()
        self.abstained: set[int] = set()
        self.lit: set[int] = set()
        self.discovered: dict[int, int] = {}


def legal(match: Affairs, seat: int, action: Any) -> Json | None:
    """Return the canonical action, or None."""
    if match.round == 1:
        right = has_keys(action, "symbol") and is_legal(action["symbol"])
        return action if right and action["symbol"] not in match.invalid else None
    if not isinstance(action, dict):
        return None
    kept: Json = {}
    for key, value in action.items():
        kind = KINDS.get(key)
        if kind is None or type(value) is not kind:
            return None
        if value or kind is int:
            kept[key] = value
    kept = {key: PARTS[key](match, seat, value, kept) for key, value in kept.items()}
    if None in kept.values():
        return None
    kept = {key: value for key, value in kept.items() if value != {}}
    return kept if cost(match, seat, kept) <= match.insight[seat] else None


KINDS = {
    "votes": dict,
    "more_votes": bool,
    "told": bool,
    "abstain": bool,
    "visions": dict,
    "learned": list,
    "guesses": list,
    "light": bool,
    "dark": int,
}


def cost(match: Affairs, seat: int, action: Json) -> int:
    total = len([key for key in ("more_votes", "told") if key in action])
    prices = {"assign": 1, "divine": 1, "mundane": 1, "pattern": 2, "place": 2, "except": 3}
    prices["veil"] = 1 + match.veils[seat]
    total += sum(prices.get(kind, 0) for kind in action.get("visions", {}))
    price = match.bought[seat]
    for _ in action.get("guesses", [])[1:]:
        price += 1
        total += price
    return total


def votes(_: Affairs, __: int, asked: Json, action: Json) -> Json | None:
    names = [str(number) for number in range(1, 16)]
    right = all(key in names and is_number(each, 1, 4) for key, each in asked.items())
    return asked if right and sum(asked.values()) <= (4 if "more_votes" in action else 1) else None


def abstain(match: Affairs, seat: int, asked: bool, action: Json) -> bool | None:
    barred = "votes" in action or "more_votes" in action or seat in match.abstained
    return None if barred else asked


def light(match: Affairs, seat: int, asked: bool, _: Json) -> bool | None:
    return asked if "light" in match.artefacts.get(str(seat), []) and seat not in match.lit else None


def dark(match: Affairs, seat: int, asked: int, _: Json) -> int | None:
    return asked if "dark" in match.artefacts.get(str(seat), []) and is_number(asked, 0, 4) else None


def guesses(_: Affairs, __: int, asked: list[Any], ___: Json) -> list[Any] | None:
    return asked if all(is_guess(guess) for guess in asked) else None


def learned(match: Affairs, seat: int, asked: list[Any], _: Json) -> list[Json] | None:
    found = [one_learned(seat, each) for each in asked]
    legal_ones = [each for each in found if each is not None]
    names = [name for each in legal_ones for name in each]
    right = len(legal_ones) == len(found) <= 2 * match.round and all(names.count(name) <= 6 for name in names)
    return legal_ones if right else None


def one_learned(seat: int, given: Any) -> Json | None:
    if not isinstance(given, dict) or len(given) != 1:
        return None
    ((kind, asked),) = given.items()
    if kind not in LEARNED or not LEARNED[kind](asked, is_other(seat)):
        return None
    return {kind: sorted(asked)} if kind in ("shared", "most") else {kind: asked}


def is_other(seat: int) -> Callable[[Any], bool]:
    return lambda value: is_number(value, 0, 4) and value != seat


Other = Callable[[Any], bool]
LEARNED: dict[str, Callable[[Any, Other], bool]] = {
    "rune": lambda asked, _: is_rune(asked),
    "count": lambda asked, other: (
        has_keys(asked, "seat", "group", "number")
        and other(asked["seat"])
        and is_group(asked["group"])
        and is_number(asked["number"], 0, 6)
    ),
    "has": lambda asked, other: (
        has_keys(asked, "seat", "rune") and other(asked["seat"]) and is_rune(asked["rune"])
    ),
    "line": lambda asked, _: (
        (
            (has_keys(asked, "rune", "row") and is_number(asked["row"], 0, 1))
            or (has_keys(asked, "rune", "column") and is_number(asked["column"], 0, 2))
        )
        and is_rune(asked["rune"])
    ),
    "shared": lambda asked, other: is_list(asked, other) and len(asked) == 2 and asked[0] != asked[1],
    "most": lambda asked, _: are_runes(asked) and 1 <= len(asked) <= 6,
}


def visions(match: Affairs, seat: int, asked: Json, _: Json) -> Json | None:
    kept: Json = {}
    for kind, each in asked.items():
        if kind == "veil" and each is False:
            continue
        if kind in VISIONS and kind not in ("divine", "mundane", "veil") and each == {}:
            continue
        if kind not in VISION or not VISION[kind](each, is_other(seat), match, seat):
            return None
        kept[kind] = each
    if "pattern" in kept:
        kept["pattern"] = {**kept["pattern"], "seats": sorted(kept["pattern"]["seats"])}
    if "except" in kept:
        kept["except"] = {**kept["except"], "runes": sorted(kept["except"]["runes"])}
    return kept


VISION: dict[str, Callable[[Any, Other, Affairs, int], bool]] = {
    "assign": lambda asked, _, __, seat: (
        has_keys(asked, *(str(other) for other in FIVE if other != seat)) and are_runes(list(asked.values()))
    ),
    "divine": lambda asked, *_: isinstance(asked, str) and asked in DIVINE,
    "mundane": lambda asked, *_: isinstance(asked, str) and asked in MUNDANE,
    "veil": lambda asked, *_: asked is True,
    "pattern": lambda asked, other, *_: (
        has_keys(asked, "groups", "seats")
        and is_list(asked["groups"], is_group)
        and len(asked["groups"]) == 6
        and is_list(asked["seats"], other)
        and 0 < len(asked["seats"]) == len(set(asked["seats"]))
    ),
    "place": lambda asked, *_: (
        has_keys(asked, "order", "position")
        and asked["order"] in ("divine", "mundane")
        and is_number(asked["position"], 0, 5)
    ),
    "except": lambda asked, other, *_: (
        has_keys(asked, "seat", "runes")
        and other(asked["seat"])
        and are_runes(asked["runes"])
        and len(asked["runes"]) <= 5
    ),
    "mirror": lambda asked, other, match, seat: (
        has_keys(asked, "rune", "seat") and other(asked["seat"]) and asked["rune"] in match.symbols[seat]
    ),
    "window": lambda asked, other, match, seat: (
        has_keys(asked, "position", "seat")
        and other(asked["seat"])
        and is_number(asked["position"], 0, 5)
        and seat not in match.windowed
        and seat not in match.discovered
    ),
}
PARTS: dict[str, Callable[[Affairs, int, Any, Json], Any]] = {
    "votes": votes,
    "more_votes": lambda _, __, asked, ___: asked,
    "told": lambda _, __, asked, ___: asked,
    "abstain": abstain,
    "visions": visions,
    "learned": learned,
    "guesses": guesses,
    "light": light,
    "dark": dark,
}
