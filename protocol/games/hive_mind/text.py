"""Hive Mind in text, for people and language models.

What a person types: `Charge ADE Zero HKL double Charge guess Zero 112332112213`.
The rules in one page: docs/games/hive_mind.md, R1 to R12.
"""

from itertools import starmap
from typing import Any

from protocol.games.hive_mind import (
    BUYING_ROUND,
    LAST_ROUND,
    BreakTie,
    GiveToken,
    HiveMindEvent,
    HiveMindView,
    Kind,
    Round,
    Scores,
    drawing,
)
from protocol.games.hive_mind.board import SHAPES
from protocol.text import (
    Drawing,
    Example,
    GameText,
    InputTerms,
    ParseError,
    counted,
    joined,
    name,
    number,
    pairs,
    quoted,
    series,
)

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


def forms(terms: InputTerms) -> dict[str, tuple[Example, ...]]:
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


def examples(window: str, view: HiveMindView) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    others = [seat for seat in range(SEATS) if seat != view.seat]
    match window:
        case "round":
            return _rounds(view)
        case "scores":
            one, two = others[:2]
            meaning = f"seat {one} has 12 points, seat {two} has 9"
            return (f"{one}:12 {two}:9", meaning), ("none", "no guess")
        case "give_token":
            return ((str(others[0]), f"the token is for seat {others[0]}"),)
        case _:
            return ((str(view.tied[0]), f"seat {view.tied[0]} is to go"),)


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


def effect(window: str, view: HiveMindView, action: dict[str, Any]) -> str:  # noqa: ARG001 - all is in the action
    """See `protocol.text.GameText`."""
    match window:
        case "round":
            parts = [f"place {shape} on {hive}" for hive, shape in action.get("place", {}).items()]
            parts += [f"{key} {hive}" for key in LISTS for hive in action.get(key, ())]
            parts += [f"guess the values of {hive}" for hive in action.get("guess", {})]
            return f"you {series(parts)}" if parts else DEFAULTS["round"]
        case "scores":
            parts = [f"{counted(score, 'point')} for seat {seat}" for seat, score in action["scores"].items()]
            return f"you guess {series(parts)}" if parts else DEFAULTS["scores"]
        case "give_token":
            return f"you give the token to seat {action['seat']}"
        case _:
            return f"you vote for seat {action['seat']} to go"


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    words = text.replace(",", " ").split()
    if " ".join(words).lower() == "none" and window in ("round", "scores"):
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


def ask(window: str, view: HiveMindView) -> str:
    """See `protocol.text.GameText`."""
    match window:
        case "round":
            kinds = "; ".join(f"{hive}: {' '.join(left) or 'nothing left'}" for hive, left in view.unused.items())
            more = {BUYING_ROUND: ", double HIVE, block HIVE", LAST_ROUND: ", guess HIVE and 12 digits"}
            return f"HIVE and a shape's three letters{more.get(view.round, '')} ({kinds})"
        case "scores":
            return "the totals of other seats, SEAT:POINTS, or none"
        case "give_token":
            return "whom to give a token: a seat"
        case _:
            return f"who is to go: {joined(view.tied)}"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "scores" in action:
        return pairs("{}:{}", action["scores"], " ") or "none"
    if "seat" in action:
        return str(action["seat"])
    words = list(starmap("{} {}".format, action.get("place", {}).items()))
    for key in LISTS:
        words += map(f"{key} {{}}".format, action.get(key, ()))
    words += starmap("guess {} {}".format, action.get("guess", {}).items())
    return " ".join(words) or "none"


def words(window: str, view: HiveMindView) -> tuple[str, ...]:
    """See `protocol.text.GameText`."""
    if window == "round":
        more = {BUYING_ROUND: LISTS, LAST_ROUND: ("guess",)}.get(view.round, ())
        return "none", *view.hives, *more
    return ("none",) if window == "scores" else ()


_PAGE = """\
HIVE MIND, variant {variant}. Five seats, 0 to 4. The seat with the most points wins.

A HIVE has twelve hexes in four rows, each row shifted half a hex: A B C / D E F G / H I J / K L. A touches B D E.
B: A C E F. C: B F G. D: A E H. E: A B D F H I. F: B C E G I J. G: C F J. H: D E I K. I: E F H J K L. J: F G I L.
K: H I L. L: I J K. E, F and I are inside; the other nine are the border. Under the hexes lie five 1s, four 2s and
three 3s, hidden, so that the three 3s are not all connected. All 20,790 such layouts are equally likely. {hives}

SHAPES. A shape is three connected hexes: a tri (each touches the other two), a line (three in a row) or an arc (a
bend around a centre hex). When you place a shape, only you are told the sum of the initial values of the hexes
that it looks at. In the lists below ABE:CDFHI means that the shape on A, B and E looks at C, D, F, H and I.
tri: {tri}
line: {line}
arc: {arc}

ROUNDS. A Hive lasts three rounds. In each, every seat may place one shape on each Hive in play, in secret; each
kind of shape (tri, line, arc) only once on each Hive. {kinds}If you leave a Hive out, you place nothing there: no
hint, no score, and the kind stays unused. After a round all are told, for each Hive, how many shapes of each kind
were placed and how many lie over each hex, but not whose they are.

SCORING, in rounds 2 and 3 (round 1 does not score). For each hex: if an odd number of shapes lies over it, every
seat whose shape is there scores its value now, and the hex is worth 0 for the rest of this Hive. If the number is
even, nobody scores and the hex keeps its value. Nobody is told points, nor which hexes scored, before the end.

DOUBLE AND BLOCK are taken in round 2 for a Hive, and work in that Hive's round 3. You may take both for one Hive,
but neither twice for the same Hive. Double: each hex that you score alone pays double. All are told after round 2
who doubles. Block: you gain 1 for each hex that still has a value, over which an even number of shapes above 0
lies, yours among them and that of at least one other seat that doubled on this Hive. {blocks} Cost: {price}

GUESSING, in round 3 of a Hive: the initial values of all twelve hexes, A to L, as twelve digits 1 to 3. 1 point if
the set of hexes that you guess as 1 is right, 1 for the 2s, 1 for the 3s.{scores}

THE RESULT. Most points win; then more points scored on 3s (hexes of initial value 3, doubled points counted as
scored); then more on 2s{tie}. Seats that are tied even then all stand first, and the winner's token is not given.
The elimination candidate has the fewest points{without}; then fewer on 3s; then fewer on 2s; if several are tied,
the winner chooses one of them (window break_tie). If there are several winners, or the winner is tied, too, it is
drawn.
{prizes}

TIME. If you submit nothing in a round, you place no shape.
"""
_COMMON = {
    "hives": "Three Hives are in play at once.",
    "kinds": "In round 1 your kinds must differ from Hive to Hive. ",
    "scores": "",
    "tie": "; then more points from guesses of hexes",
    "without": "",
}
_VARIANTS = {
    "recharged": _COMMON
    | {
        "hives": "Three Hives, Charge, Marcer and Zero, are in play at once.",
        "blocks": "All are told just before the end who blocked.",
        "price": (
            "each seat has one Double and one Block in the whole match. More cannot be bought, and the "
            "option garnets has no effect."
        ),
        "prizes": "The winner gets 2 tokens. Each seat gets 1 garnet for every full 5 points.",
    },
    "tempo-up": _COMMON
    | {
        "hives": "Three Hives, 1, 2 and 3, are in play at once.",
        "blocks": "All are told after round 3 who blocked.",
        "price": (
            "the first Double and the first Block are free; each further Double costs 2 garnets, each "
            "further Block 1. The option garnets says how many you have (2 each if it is not set)."
        ),
        "prizes": (
            "The winner gets 2 tokens, of which it may give one to another seat (window give_token); if "
            "it gives none, that one is lost. A garnet goes to every seat whose points are at least the "
            "third highest of the five."
        ),
    },
    "gauntlet": _COMMON
    | {
        "hives": "There are two Hives, 1 and 2: first all rounds of Hive 1, then all of Hive 2.",
        "kinds": "",
        "blocks": "All are told after the Hive's round 3 who blocked.",
        "price": (
            "a Double costs 5 garnets, a Block 3. The option garnets says how many you have (8 each if it "
            "is not set)."
        ),
        "scores": (
            "\n\nGUESSING SCORES, after both Hives (window scores). You may guess every other seat's total of "
            "points so far. All guesses are of the totals before this window. Each right guess gains you "
            "1 and costs the other 2. You are told how many of yours were right, and how many guessed "
            "yours."
        ),
        "tie": "",
        "without": " among the seats without a token",
        "prizes": (
            "The winner gets a token. A second token goes to the seat with the most feats; then fewer "
            "points on 3s; then fewer on 2s; if seats are still tied, to none. One seat may win both. "
            "Feats, 1 each: for each Hive, your three shapes, all placed, share no hex; for each round in "
            "which you placed a shape: it shares no hex with any other shape; it lies on three hexes of "
            "initial value 2; all four others cover one and the same hex, and your shape is on no such "
            "hex. Each seat gets 1 garnet for every full 5 points."
        ),
    },
}


def page(variant: str) -> str:
    """See `protocol.text.GameText.rules`."""
    shapes: dict[str, list[str]] = {"tri": [], "line": [], "arc": []}
    for shape in SHAPES.values():
        shapes[shape.kind].append(f"{shape.cells}:{shape.looks}")
    kinds = dict(zip(shapes, map(" ".join, shapes.values()), strict=True))
    return _PAGE.format(variant=variant, **kinds, **_VARIANTS[variant])


_FIELDS = {
    "seat": "your own",
    "window": "the window that is open",
    "hives": "the Hives in play",
    "round": "the round of these Hives, 1 to 3; 0 in other windows",
    "unused": "each Hive in play to the kinds of shapes that you have left there",
    "wallet": (
        "what you can pay with. garnets: how many are left. free_doubles, free_blocks: uses left that cost "
        "nothing. double_price, block_price: garnets for a further one, null where none is for sale"
    ),
    "tied": "in the window break_tie: the seats that you may name",
    "submitted": (
        "what was taken of you in each round so far. place: each Hive to your shape. double, block: the Hives. "
        "guess: each Hive to twelve digits"
    ),
}
_SCORES = {"scores": "what you guessed of others' points, seat to number; null before"}


def fields(terms: InputTerms) -> dict[str, str]:
    """See `protocol.text.GameText`."""
    return _FIELDS | (_SCORES if terms.variant == "gauntlet" else {})


TEXT = GameText(
    actions={
        "round": Round,
        "scores": Scores,
        "give_token": GiveToken,
        "break_tie": BreakTie,
    },
    view=HiveMindView,
    event=HiveMindEvent,
    drawing=Drawing(drawing.board, drawing.words),
    read=read,
    ask=ask,
    say=say,
    words=words,
    forms=forms,
    examples=examples,
    effect=effect,
    if_nothing=if_nothing,
    rules=page,
    fields=fields,
)
