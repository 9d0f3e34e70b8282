"""The Fight For a Name as a person types it: `N NE S`, `put 12:2`, `give 3:1`, uses of a pillar's titles."""

from typing import Any, cast, get_args

from protocol.games.fight_for_a_name import Colour, Direction, FightView, HexKey, Position, SeatKey, Title
from protocol.text.parsing import ParseError, name, number, quoted
from protocol.words import View

DIRECTIONS, TITLES, COLOURS = get_args(Direction), get_args(Title), get_args(Colour)
LAST_POSITION, LAST_HEX, LAST_SEAT = max(get_args(Position)), len(get_args(HexKey)), len(get_args(SeatKey)) - 1
MOST_MP, MOST_GIVEN = 1_000_000, 2
ASKING = ("body", "parting", "other", "neither", "crest")
ASK = "body TITLE COLOUR parting TITLE COLOUR other TITLE COLOUR neither TITLE TITLE crest TITLE"
NOBODY = ("nobody", "none")
VOTE = (("4", "vote for seat 4"), ("nobody", "no vote"))
EXAMPLES = {
    "challenge": (("1 4", "the second and the fifth number make the target"), ("none", "no answer")),
    "move": (
        ("N NE NE", "three steps"),
        ("stay", "no step"),
        ("N put 12:2", "a step, then in the final phase 2 MP on hex 12"),
        ("give 3:1 5:1", "with a title: 1 MP each to seats 3 and 5"),
    ),
    "pillar": (
        (
            "body Hope red parting Faith blue other Mercy green neither Honour Justice crest Charity",
            "what each of the six titles shown is asked for",
        ),
    ),
    "token_vote": VOTE,
    "elimination_vote": VOTE,
    "justice": (("4", "name seat 4"), ("nobody", "name nobody")),
}
DEFAULTS = {
    "challenge": "you give no answer",
    "move": "you stay where you are, and put and give nothing",
    "pillar": "you ask the pillar nothing",
    "token_vote": "you vote for nobody",
    "elimination_vote": "you vote for nobody",
    "justice": "you name nobody",
}


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.registry.TextInput`."""
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
        raise ParseError(f"{quoted(word)} is not understood: type put HEX:MP, such as put 12:2, or give SEAT:MP")
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
    """See `protocol.text.registry.TextInput`."""
    seen = cast("FightView", view)
    match window:
        case "challenge":
            return "positions, from 0, of the numbers that make the target, such as 1 4, or none"
        case "move":
            if seen.title is not None:
                return "gifts: give SEAT:1 SEAT:1, or give SEAT:2, or none"
            put = ", then put HEX:MP" if seen.final_phase else ""
            return f"steps such as N NE{put}, or stay"
        case "pillar":
            return f"{ASK}, of {', '.join(seen.visits[-1].titles)}"
        case _:
            return f"one of seats {', '.join(map(str, seen.candidates or ()))}, or nobody"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.registry.TextInput`."""
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
    """See `protocol.text.registry.TextInput`."""
    match window:
        case "challenge":
            return ("none",)
        case "move":
            return "put", "give", "stay", *DIRECTIONS
        case "pillar":
            return *ASKING, *cast("FightView", view).visits[-1].titles, *COLOURS
        case _:
            return ("nobody",)
