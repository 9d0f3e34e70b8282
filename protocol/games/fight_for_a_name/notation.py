"""The Fight For a Name as a person types it: `N NE S`, `put 12:2`, `give 3:1`, uses of a pillar's titles."""

from typing import Any, cast, get_args

from protocol.games.fight_for_a_name import (
    Colour,
    Direction,
    FightOptions,
    FightView,
    HexKey,
    Position,
    SeatKey,
    Title,
)
from protocol.games.fight_for_a_name.board import START, walks
from protocol.text import Example, ParseError, Terms, name, number, quoted
from protocol.words import View

DIRECTIONS, TITLES, COLOURS = get_args(Direction), get_args(Title), get_args(Colour)
LAST_POSITION, LAST_HEX, LAST_SEAT = max(get_args(Position)), len(get_args(HexKey)), len(get_args(SeatKey)) - 1
MOST_MP, MOST_GIVEN = 1_000_000, 2
ASKING = ("body", "parting", "other", "neither", "crest")
ASK = "body TITLE COLOUR parting TITLE COLOUR other TITLE COLOUR neither TITLE TITLE crest TITLE"
NOBODY = ("nobody", "none")
FIRST_PILLAR, FIRST_CLAIM = 2, 4
"""Earliest rounds in which a seat has the MP to reach a pillar, and three hexes for a banner."""
DEFAULTS = {
    "challenge": "you give no answer",
    "move": "you stay where you are, and put and give nothing",
    "pillar": "you ask the pillar nothing",
    "token_vote": "you vote for nobody",
    "elimination_vote": "you vote for nobody",
    "justice": "you name nobody",
}


def forms(terms: Terms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    rounds = terms.options.get("rounds", FightOptions().rounds)
    move: tuple[Example, ...] = (
        ("STEP STEP ...", "a path, each STEP one of N NE SE S SW NW"),
        ("stay", "no step"),
    )
    if rounds > FIRST_CLAIM:
        move += (
            ("STEP ... put HEX:MP HEX:MP", "in the final phase: a path, or none, then so many MP on each hex"),
            (
                "give SEAT:MP SEAT:MP",
                "with a title: 1 or 2 MP to one seat, or 1 each to two; or none",
            ),
        )
    windows: dict[str, tuple[Example, ...]] = {
        "challenge": (
            ("POSITION POSITION ...", "positions, from 0, of the numbers that make the target"),
            ("none", "no answer"),
        ),
        "move": move,
    }
    if rounds >= FIRST_PILLAR:
        windows["pillar"] = ((ASK, "each of the six titles shown put to one use"),)
    if rounds >= FIRST_CLAIM:
        vote = (("SEAT", "vote for that seat"), ("nobody", "no vote"))
        windows |= {"token_vote": vote, "elimination_vote": vote}
        windows["justice"] = (("SEAT", "name that seat"), ("nobody", "name nobody"))
    return windows


def examples(window: str, view: View) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    seen = cast("FightView", view)
    match window:
        case "challenge":
            return ("0 3", "the first and the fourth number, right or wrong"), ("none", "no answer")
        case "move":
            return _moves(seen) if seen.title is None else _gifts(seen)
        case "pillar":
            one, two, three, four, five, six = seen.visits[-1].titles
            asked = f"body {one} red parting {two} blue other {three} green neither {four} {five} crest {six}"
            return ((asked, "all six titles shown, in any order"),)
        case _:
            seats = seen.candidates or ()
            return *((str(seat), f"seat {seat}") for seat in seats[:1]), ("nobody", "no vote")


def _moves(seen: FightView) -> tuple[Example, ...]:
    """Return a path of one step, one as long as the MP allow, and uses of MP in the final phase."""
    position, mp = seen.position or START, seen.mp or 0
    paths = sorted(walks(position, mp).values(), key=len)
    named = {len(path): path for path in paths if path}
    shown = (
        [(" ".join(named[n]), f"{n} step{'s' if n > 1 else ''}") for n in sorted({min(named), max(named)})]
        if named
        else []
    )
    shown.append(("stay", "no step"))
    hexes = [number for number in seen.reached if number not in seen.white]
    if seen.final_phase and hexes and mp:
        shown.append((f"put {hexes[0]}:{mp}", f"no step, and {mp} MP on hex {hexes[0]}"))
        if mp > 1 and named:
            shown.append((f"{' '.join(named[1])} put {hexes[0]}:1", f"a step, and 1 MP on hex {hexes[0]}"))
    return tuple(shown)


def _gifts(seen: FightView) -> tuple[Example, ...]:
    """Return a gift of each form."""
    seats = [seat for seat in seen.positions if int(seat) != seen.barred]
    shown = [("none", "no gift")]
    if seats:
        shown.append((f"give {seats[0]}:2", f"2 MP to seat {seats[0]}"))
    if len(seats) > 1:
        shown.append((f"give {seats[0]}:1 {seats[1]}:1", f"1 MP each to seats {seats[0]} and {seats[1]}"))
    return tuple(shown)


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    words = text.replace(",", " ").split()
    lower = [word.lower() for word in words]
    match window:
        case "challenge":
            if lower in ([each] for each in NOBODY):
                return {"pick": []}
            return {"pick": [number(word, 0, LAST_POSITION, "a number's position") for word in words]}
        case "move":
            return _move(words)
        case "pillar":
            return _ask(words)
        case _:
            if lower in ([each] for each in NOBODY):
                return {"seat": None}
            return {"seat": number(" ".join(words), 0, LAST_SEAT, "a seat's number, nor nobody")}


def _move(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    key = "path"
    for word in words:
        if word.lower() in ("put", "give"):
            key = {"put": "reinforce", "give": "give"}[word.lower()]
        elif key == "path":
            if word.lower() not in (*NOBODY, "stay"):
                action.setdefault("path", []).append(name(word, DIRECTIONS, "a direction, nor put, give or stay"))
        else:
            where, amount = _spent(key, word)
            action.setdefault(key, {})[where] = amount
    return action


def _spent(key: str, word: str) -> tuple[str, int]:
    where, colon, amount = word.partition(":")
    if not colon:
        raise ParseError(f"{quoted(word)} is not understood: type put HEX:MP or give SEAT:MP")
    if key == "give":
        return str(number(where, 0, LAST_SEAT, "a seat")), number(amount, 1, MOST_GIVEN, "a gift's MP")
    return str(number(where, 1, LAST_HEX, "a hex")), number(amount, 1, MOST_MP, "an amount of MP")


def _ask(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        key = name(word, ASKING, "one of the uses of a title")
        values = [next(left, "") for _ in range(1 if key == "crest" else 2)]
        if not all(values):
            raise ParseError(f"{key} lacks a word; type {ASK}")
        title = name(values[0], TITLES, "a title")
        if key == "crest":
            action[key] = title
        elif key == "neither":
            action[key] = [title, name(values[1], TITLES, "a title")]
        else:
            action[key] = [title, name(values[1], COLOURS, "a colour")]
    if missing := [key for key in ASKING if key not in action]:
        raise ParseError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; type {ASK}")
    return action


def ask(window: str, view: View) -> str:
    """See `protocol.text.GameText`."""
    seen = cast("FightView", view)
    match window:
        case "challenge":
            return "positions, from 0, of the numbers that make the target, or none"
        case "move":
            if seen.title is not None:
                return "gifts: give SEAT:1 SEAT:1, or give SEAT:2, or none"
            put = ", then put HEX:MP" if seen.final_phase else ""
            return f"steps{put}, or stay"
        case "pillar":
            return f"{ASK}, of {', '.join(seen.visits[-1].titles)}"
        case _:
            return f"one of seats {', '.join(map(str, seen.candidates or ()))}, or nobody"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "seat" in action:
        return "nobody" if action["seat"] is None else str(action["seat"])
    if "pick" in action:
        return " ".join(map(str, action["pick"])) or "none"
    if "crest" in action:
        return " ".join(f"{key} {action[key] if key == 'crest' else ' '.join(action[key])}" for key in ASKING)
    words = list(action.get("path", ()))
    for key, word in (("reinforce", "put"), ("give", "give")):
        if key in action:
            words += [word, *(f"{where}:{amount}" for where, amount in action[key].items())]
    return " ".join(words) or "stay"


def words(window: str, view: View) -> tuple[str, ...]:
    """See `protocol.text.GameText`."""
    match window:
        case "challenge":
            return ("none",)
        case "move":
            return "put", "give", "stay", *DIRECTIONS
        case "pillar":
            return *ASKING, *cast("FightView", view).visits[-1].titles, *COLOURS
        case _:
            return ("nobody",)
