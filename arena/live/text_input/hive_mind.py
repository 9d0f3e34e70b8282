"""Hive Mind as a person types it, in a row: `Charge ADE Zero HKL double Charge guess Zero 112332112213`."""

from typing import Any, cast

from arena.live.text_input import ParseError
from protocol.games.hive_mind import HiveMindView
from protocol.words import View

BUYING_ROUND, LAST_ROUND = 2, 3
NOBODY = ("nobody", "none")
LISTS = ("double", "block")


def read(window: str, text: str) -> dict[str, Any]:
    """See `registry.TextInput`."""
    words = text.replace(",", " ").split()
    match window:
        case "round":
            return _read_round(words)
        case "scores":
            return {"scores": dict(map(_read_score, [] if words == ["none"] else words))}
        case _:
            if len(words) == 1 and words[0].isdecimal():
                return {"seat": int(words[0])}
            raise ParseError("type a seat's number")


def _read_round(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    left = iter([] if words == ["none"] else words)
    for word in left:
        key = word.lower()
        hive = _hive(next(left, "")) if key in (*LISTS, "guess") else _hive(word)
        if key in LISTS:
            action.setdefault(key, []).append(hive)
            continue
        what = next(left, "")
        if not hive or not what:
            raise ParseError(
                "type a Hive and three letters, such as Charge ADE; then double, block or guess and a Hive"
            )
        action.setdefault("guess" if key == "guess" else "place", {})[hive] = what
    return action


def _read_score(word: str) -> tuple[str, int]:
    seat, colon, score = word.partition(":")
    if not (colon and seat.isdecimal() and score.lstrip("-").isdecimal()):
        raise ParseError("type seat:score for others, such as 1:12 3:9, or none")
    return seat, int(score)


def _hive(word: str) -> str:
    """A Hive's name however its letters are written."""
    return word.capitalize()


def ask(window: str, view: View) -> str:
    """See `registry.TextInput`."""
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
    """See `registry.TextInput`."""
    if "scores" in action:
        return " ".join(f"{seat}:{score}" for seat, score in action["scores"].items()) or "none"
    if "seat" in action:
        return str(action["seat"])
    words = [f"{hive} {cells}" for hive, cells in action.get("place", {}).items()]
    words += [f"{key} {hive}" for key in LISTS for hive in action.get(key, ())]
    words += [f"guess {hive} {digits}" for hive, digits in action.get("guess", {}).items()]
    return " ".join(words) or "none"
