"""The Fight For a Name as a person types it: `N NE S`, `put 12:2`, `give 3:1`, uses of a pillar's titles."""

from typing import Any, cast

from arena.live.text_input import ParseError
from protocol.games.fight_for_a_name import FightView
from protocol.words import View

ASKING = ("body", "parting", "other", "neither", "crest")
ASK = "body TITLE COLOUR parting TITLE COLOUR other TITLE COLOUR neither TITLE TITLE crest TITLE"
NOBODY = ("nobody", "none")


def read(window: str, text: str) -> dict[str, Any]:
    """See `registry.TextInput`."""
    words = text.replace(",", " ").split()
    match window:
        case "challenge":
            return {"pick": [int(word) for word in _numbers(words)]}
        case "move":
            return _move(words)
        case "pillar":
            return _ask(words)
        case _:
            if words and words[0].lower() in NOBODY:
                return {"seat": None}
            return {"seat": int(_numbers(words[:1] or ["?"])[0])}


def _numbers(words: list[str]) -> list[str]:
    for word in words:
        if not word.isdecimal() and word not in NOBODY:
            raise ParseError("type numbers, set off by blanks, or none")
    return [word for word in words if word.isdecimal()]


def _move(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    key = "path"
    for word in words:
        if word.lower() in ("put", "give"):
            key = {"put": "reinforce", "give": "give"}[word.lower()]
        elif key == "path":
            if word.lower() not in (*NOBODY, "stay"):
                action.setdefault("path", []).append(word.upper())
        else:
            where, colon, amount = word.partition(":")
            if not (colon and where.isdecimal() and amount.isdecimal()):
                raise ParseError("type steps such as N NE; put HEX:MP; give SEAT:MP")
            action.setdefault(key, {})[where] = int(amount)
    return action


def _ask(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    for at, word in enumerate(words):
        key = word.lower()
        if key in ASKING:
            width = 1 if key == "crest" else 2
            values = words[at + 1 : at + 1 + width]
            if len(values) < width:
                raise ParseError(f"type {ASK}")
            if key in ("neither", "crest"):
                values = [each.capitalize() for each in values]
            else:
                values = [values[0].capitalize(), values[1].lower()]
            action[key] = values[0] if key == "crest" else values
    if set(action) != set(ASKING):
        raise ParseError(f"type {ASK}")
    return action


def ask(window: str, view: View) -> str:
    """See `registry.TextInput`."""
    seen = cast("FightView", view)
    match window:
        case "challenge":
            return "positions of the numbers that make the target, such as 1 4, or none"
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
    """See `registry.TextInput`."""
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
