"""Hive Mind as a person types it, in a row: `Charge ADE Zero HKL double Charge guess Zero 112332112213`."""

from typing import Any, cast

from protocol.games.hive_mind import BUYING_ROUND, LAST_ROUND, HiveMindView
from protocol.text.parsing import ParseError, name, number, quoted
from protocol.words import View

SEATS = 5
HEXES = "ABCDEFGHIJKL"
SHAPE_HEXES = 3
HIVES = ("1", "2", "3", "Charge", "Marcer", "Zero")
"""Of all variants; the referee knows which are in play."""
MOST_SCORE = 10_000
"""Far beyond what anybody can have."""
LISTS = ("double", "block")
EXAMPLES = {
    "round": (
        ("Charge ADE Zero HKL", "shapes on two Hives, each by its three hexes"),
        ("1 ADE", "the same, where Hives have numbers"),
        ("Charge EIJ double Charge block Zero", "and in round 2: Double and Block"),
        ("Charge CFI guess Zero 112332112213", "and in round 3: the values of hexes A to L"),
        ("none", "no shape"),
    ),
    "scores": (("1:12 3:9", "seat 1 has 12 points, seat 3 has 9"), ("none", "no guess")),
    "give_token": (("3", "the token is for seat 3"),),
    "break_tie": (("3", "seat 3 is to go"),),
}
DEFAULTS = {
    "round": "you place no shape",
    "scores": "you guess no score",
    "give_token": "the token goes to nobody and is lost",
    "break_tie": "one of the tied seats is drawn",
}


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.registry.TextInput`."""
    words = text.replace(",", " ").split()
    if [word.lower() for word in words] == ["none"] and window in ("round", "scores"):
        words = []
    match window:
        case "round":
            return _read_round(words)
        case "scores":
            return {"scores": dict(map(_read_score, words))}
        case _:
            return {"seat": number(" ".join(words), 0, SEATS - 1, "a seat's number")}


def _read_round(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        key = word.lower()
        if key in LISTS:
            action.setdefault(key, []).append(_hive(next(left, ""), key))
        elif key == "guess":
            hive = _hive(next(left, ""), key)
            action.setdefault(key, {})[hive] = _values(hive, next(left, ""))
        else:
            hive = _hive(word)
            action.setdefault("place", {})[hive] = _shape(hive, next(left, ""))
    return action


def _hive(word: str, after: str = "") -> str:
    """A Hive's name however its letters are written."""
    if not word:
        raise ParseError(f"{after} what? type {after} and a Hive, such as {after} Zero")
    return name(word, HIVES, "a Hive, nor double, block or guess")


def _shape(hive: str, word: str) -> str:
    if not word:
        raise ParseError(f"{hive} what? type a Hive and a shape's three hexes, such as {hive} ADE")
    cells = word.upper()
    if len(cells) == SHAPE_HEXES == len(set(cells)) and set(cells) <= set(HEXES):
        return cells
    raise ParseError(f"{quoted(word)} is no shape: three of the hexes A to L, such as {hive} ADE")


def _values(hive: str, word: str) -> str:
    if len(word) == len(HEXES) and set(word) <= set("123"):
        return word
    what = quoted(word) if word else "nothing"
    raise ParseError(
        f"{what} is no guess: {len(HEXES)} digits 1 to 3 for hexes A to L, such as guess {hive} 112332112213"
    )


def _read_score(word: str) -> tuple[str, int]:
    seat, colon, score = word.partition(":")
    if not colon:
        raise ParseError(f"{quoted(word)} is no guess: seat:score for others, such as 1:12 3:9, or none")
    return (
        str(number(seat, 0, SEATS - 1, "a seat's number")),
        number(score, -MOST_SCORE, MOST_SCORE, "a score"),
    )


def ask(window: str, view: View) -> str:
    """See `protocol.text.registry.TextInput`."""
    seen = cast("HiveMindView", view)
    match window:
        case "round":
            kinds = "; ".join(f"{hive}: {' '.join(left) or 'nothing left'}" for hive, left in seen.unused.items())
            more = {BUYING_ROUND: ", double HIVE, block HIVE", LAST_ROUND: ", guess HIVE and 12 digits"}
            return f"HIVE and a shape's three letters{more.get(seen.round, '')} ({kinds})"
        case "scores":
            return "what the others have, such as 1:12 3:9, or none"
        case "give_token":
            return "whom to give a token: a seat"
        case _:
            return f"who is to go: {', '.join(map(str, seen.tied))}"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.registry.TextInput`."""
    if "scores" in action:
        return " ".join(f"{seat}:{score}" for seat, score in action["scores"].items()) or "none"
    if "seat" in action:
        return str(action["seat"])
    words = [f"{hive} {cells}" for hive, cells in action.get("place", {}).items()]
    words += [f"{key} {hive}" for key in LISTS for hive in action.get(key, ())]
    words += [f"guess {hive} {digits}" for hive, digits in action.get("guess", {}).items()]
    return " ".join(words) or "none"


def words(window: str, view: View) -> tuple[str, ...]:
    """See `protocol.text.registry.TextInput`."""
    if window == "round":
        seen = cast("HiveMindView", view)
        more = {BUYING_ROUND: LISTS, LAST_ROUND: ("guess",)}.get(seen.round, ())
        return "none", *seen.hives, *more
    return ("none",) if window == "scores" else ()
