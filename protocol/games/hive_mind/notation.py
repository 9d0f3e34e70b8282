"""Hive Mind as a person types it, in a row: `Charge ADE Zero HKL double Charge guess Zero 112332112213`."""

from typing import Any, cast

from protocol.games.hive_mind import BUYING_ROUND, LAST_ROUND, HiveMindView, Kind
from protocol.games.hive_mind.board import SHAPES
from protocol.text import Example, ParseError, Terms, name, number, quoted
from protocol.words import View

SEATS = 5
HEXES = "ABCDEFGHIJKL"
SHAPE_HEXES = 3
HIVES = ("1", "2", "3", "Charge", "Marcer", "Zero")
"""Hives of all variants; the referee knows which are in play."""
MOST_SCORE = 10_000
"""Upper bound of a guessed score, far beyond any possible one."""
LISTS = ("double", "block")
HIVES_OF = {"recharged": ("Charge", "Marcer", "Zero"), "tempo-up": ("1", "2", "3"), "gauntlet": ("1", "2")}
GUESS = "112332112213"
DEFAULTS = {
    "round": "you place no shape",
    "scores": "you guess no score",
    "give_token": "the token goes to nobody and is lost",
    "break_tie": "one of the tied seats is drawn",
}


def forms(terms: Terms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    hives = ", ".join(HIVES_OF[terms.variant])
    one_each = "" if terms.variant == "gauntlet" else " HIVE SHAPE ..."
    windows: dict[str, tuple[Example, ...]] = {
        "round": (
            (f"HIVE SHAPE{one_each}", f"HIVE is one of {hives}; SHAPE is its three hexes"),
            ("HIVE SHAPE double HIVE block HIVE", "in round 2: Double and Block, or one of them, as well"),
            ("HIVE SHAPE guess HIVE VALUES", "in round 3: the values of hexes A to L as twelve digits, as well"),
            ("none", "no shape"),
        )
    }
    if terms.variant == "gauntlet":
        windows["scores"] = (
            ("SEAT:POINTS SEAT:POINTS ...", f"totals of other seats, any but your own, {terms.seat}"),
            ("none", "no guess"),
        )
    if terms.variant == "tempo-up":
        windows["give_token"] = (("SEAT", f"the token is for that seat, any but your own, {terms.seat}"),)
    return windows | {"break_tie": (("SEAT", "this one of the tied seats is to go"),)}


def examples(window: str, view: View) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    seen = cast("HiveMindView", view)
    others = [seat for seat in range(SEATS) if seat != seen.seat]
    match window:
        case "round":
            return _rounds(seen)
        case "scores":
            one, two = others[:2]
            meaning = f"seat {one} has 12 points, seat {two} has 9"
            return (f"{one}:12 {two}:9", meaning), ("none", "no guess")
        case "give_token":
            return ((str(others[0]), f"the token is for seat {others[0]}"),)
        case _:
            return ((str(seen.tied[0]), f"seat {seen.tied[0]} is to go"),)


def _rounds(seen: HiveMindView) -> tuple[Example, ...]:
    """Return shapes on one Hive and on all, and everything else that the round allows and the seat can pay."""
    placed: list[str] = []
    used: set[Kind] = set()
    for hive, kinds in seen.unused.items():
        left: list[Kind] = [kind for kind in kinds if seen.round > 1 or kind not in used]
        if left:
            used.add(left[0])
            shapes = [cells for cells, shape in SHAPES.items() if shape.kind == left[0]]
            placed.append(f"{hive} {shapes[len(shapes) // 2]}")
    shown = [(placed[0], "a shape on one Hive")] if placed else []
    if len(placed) > 1:
        shown.append((" ".join(placed), "a shape on each Hive"))
    first, before = seen.hives[0], f"{placed[0]} " if placed else ""
    purse = seen.wallet
    if seen.round == BUYING_ROUND and purse is not None:
        for word, free, each in (
            ("double", purse.free_doubles, purse.double_price),
            ("block", purse.free_blocks, purse.block_price),
        ):
            if free or (each is not None and each <= purse.garnets):
                shown.append((f"{before}{word} {first}", f"a shape, and {word.capitalize()} on {first}"))
    if seen.round == LAST_ROUND:
        shown.append((f"{before}guess {first} {GUESS}", f"a shape, and the values of {first}, A to L"))
    return *shown, ("none", "no shape")


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
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
    """Return a Hive's canonical name; case does not matter."""
    if not word:
        raise ParseError(f"{after} what? type {after} and a Hive")
    try:
        return name(word, HIVES, "a Hive")
    except ParseError:  # Its list would have the Hives of other variants.
        raise ParseError(f"{quoted(word)} is not a Hive in play, nor double, block or guess") from None


def _shape(hive: str, word: str) -> str:
    if not word:
        raise ParseError(f"{hive} what? type a Hive and a shape's three hexes")
    cells = word.upper()
    if len(cells) == SHAPE_HEXES == len(set(cells)) and set(cells) <= set(HEXES):
        return cells
    raise ParseError(f"{quoted(word)} is no shape: type three of the hexes A to L after {hive}")


def _values(hive: str, word: str) -> str:
    if len(word) == len(HEXES) and set(word) <= set("123"):
        return word
    what = quoted(word) if word else "nothing"
    raise ParseError(f"{what} is no guess for {hive}: type {len(HEXES)} digits 1 to 3, for hexes A to L")


def _read_score(word: str) -> tuple[str, int]:
    seat, colon, score = word.partition(":")
    if not colon:
        raise ParseError(f"{quoted(word)} is no guess: type SEAT:POINTS for other seats, or none")
    return (
        str(number(seat, 0, SEATS - 1, "a seat's number")),
        number(score, -MOST_SCORE, MOST_SCORE, "a score"),
    )


def ask(window: str, view: View) -> str:
    """See `protocol.text.GameText`."""
    seen = cast("HiveMindView", view)
    match window:
        case "round":
            kinds = "; ".join(f"{hive}: {' '.join(left) or 'nothing left'}" for hive, left in seen.unused.items())
            more = {BUYING_ROUND: ", double HIVE, block HIVE", LAST_ROUND: ", guess HIVE and 12 digits"}
            return f"HIVE and a shape's three letters{more.get(seen.round, '')} ({kinds})"
        case "scores":
            return "the totals of other seats, SEAT:POINTS, or none"
        case "give_token":
            return "whom to give a token: a seat"
        case _:
            return f"who is to go: {', '.join(map(str, seen.tied))}"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "scores" in action:
        return " ".join(f"{seat}:{score}" for seat, score in action["scores"].items()) or "none"
    if "seat" in action:
        return str(action["seat"])
    words = [f"{hive} {cells}" for hive, cells in action.get("place", {}).items()]
    words += [f"{key} {hive}" for key in LISTS for hive in action.get(key, ())]
    words += [f"guess {hive} {digits}" for hive, digits in action.get("guess", {}).items()]
    return " ".join(words) or "none"


def words(window: str, view: View) -> tuple[str, ...]:
    """See `protocol.text.GameText`."""
    if window == "round":
        seen = cast("HiveMindView", view)
        more = {BUYING_ROUND: LISTS, LAST_ROUND: ("guess",)}.get(seen.round, ())
        return "none", *seen.hives, *more
    return ("none",) if window == "scores" else ()
