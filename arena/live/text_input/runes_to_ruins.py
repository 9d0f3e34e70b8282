"""Runes to Ruins as a person types it: parts set off by `;`, such as `vote 13; divine Box; has 1 Torn Box`."""

from collections.abc import Callable
from typing import Any, cast

from arena.live.text_input import ParseError
from protocol.games.runes_to_ruins import RunesView
from protocol.words import View

FORMS = """\
vote N (times), more votes, told, abstain, light, dark SEAT
assign SEAT RUNE, SEAT RUNE, ... | divine GROUP | mundane GROUP | veil | pattern SEATS: six GROUPS
place ORDER POSITION | except SEAT: RUNES | mirror SEAT RUNE | window POSITION SEAT
rune RUNE | count SEAT GROUP N | has SEAT RUNE | line row|column N RUNE | shared SEAT SEAT | most RUNES
guess six RUNES"""
FLAGS = {"more votes": "more_votes", "told": "told", "abstain": "abstain", "light": "light"}
VISIONS = ("assign", "divine", "mundane", "veil", "pattern", "place", "except", "mirror", "window")
LEARNED = ("rune", "count", "has", "line", "shared", "most")


def read(window: str, text: str) -> dict[str, Any]:
    """See `registry.TextInput`."""
    if window == "symbol":
        return {"symbol": _list(text)}
    action: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        if part != "none":
            _add(action, part)
    return action


def _add(action: dict[str, Any], part: str) -> None:
    """Adds one part."""
    key, _, rest = part.partition(" ")
    try:
        if part in FLAGS:
            action[FLAGS[part]] = True
        elif key == "vote":
            condition, _, times = rest.partition(" ")
            action.setdefault("votes", {})[str(int(condition))] = int(times or 1)
        elif key == "dark":
            action["dark"] = int(rest)
        elif key == "guess":
            action.setdefault("guesses", []).append(_list(rest))
        elif key in LEARNED:
            action.setdefault("learned", []).append({key: _READ[key](rest)})
        elif key in VISIONS:
            action.setdefault("visions", {})[key] = _READ[key](rest)
        else:
            raise _unclear(part)
    except ValueError:
        raise _unclear(part) from None


def _unclear(part: str) -> ParseError:
    return ParseError(f"{part!r} is not understood; parts are set off by ';':\n{FORMS}")


def _list(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _seat_and(text: str) -> tuple[int, str]:
    seat, _, rest = text.partition(" ")
    return int(seat), rest.strip()


def _assign(text: str) -> dict[str, str]:
    return {str(seat): rune for seat, rune in map(_seat_and, _list(text))}


def _pattern(text: str) -> dict[str, Any]:
    seats, colon, groups = text.partition(":")
    if not colon:
        raise ValueError
    return {"groups": _list(groups), "seats": [int(seat) for seat in seats.split()]}


def _place(text: str) -> dict[str, Any]:
    order, position = text.split()
    return {"order": order, "position": int(position)}


def _except(text: str) -> dict[str, Any]:
    seat, _, runes = text.partition(":")
    return {"seat": int(seat), "runes": _list(runes)}


def _seat_rune(text: str) -> dict[str, Any]:
    seat, rune = _seat_and(text)
    return {"seat": seat, "rune": rune}


def _window(text: str) -> dict[str, Any]:
    position, seat = text.split()
    return {"position": int(position), "seat": int(seat)}


def _count(text: str) -> dict[str, Any]:
    seat, group, number = text.split()
    return {"seat": int(seat), "group": group, "number": int(number)}


def _line(text: str) -> dict[str, Any]:
    which, number, rune = text.split(maxsplit=2)
    return {"rune": rune, which: int(number)}


_READ: dict[str, Callable[[str], Any]] = {
    "assign": _assign,
    "divine": str.strip,
    "mundane": str.strip,
    "veil": lambda _text: True,
    "pattern": _pattern,
    "place": _place,
    "except": _except,
    "mirror": _seat_rune,
    "window": _window,
    "rune": str.strip,
    "count": _count,
    "has": _seat_rune,
    "line": _line,
    "shared": lambda text: [int(seat) for seat in text.split()],
    "most": _list,
}


def ask(window: str, view: View) -> str:
    """See `registry.TextInput`."""
    seen = cast("RunesView", view)
    if window == "symbol":
        return "your symbol: six runes, such as Torn Box, Cross Slope, ... in positions 0 1 2 / 3 4 5"
    costs = f"you hold {seen.insight} insight, {seen.mantra} mantra; a second guess costs {seen.guess_cost}"
    return f"parts set off by ';' ({costs}):\n{FORMS}\n"


def say(action: dict[str, Any]) -> str:
    """See `registry.TextInput`."""
    if "symbol" in action:
        return ", ".join(action["symbol"])
    parts = [f"vote {condition}" + (f" {n}" if n > 1 else "") for condition, n in action.get("votes", {}).items()]
    parts += [text for text, key in FLAGS.items() if action.get(key)]
    parts += [f"dark {action['dark']}"] if "dark" in action else []
    asked = [
        *action.get("visions", {}).items(),
        *(pair for each in action.get("learned", ()) for pair in each.items()),
    ]
    parts += [f"{key} {_said(key, value)}".strip() for key, value in asked]
    parts += [f"guess {', '.join(guess)}" for guess in action.get("guesses", ())]
    return "; ".join(parts) or "none"


def _said(key: str, value: Any) -> str:  # noqa: PLR0911, C901 - one line for each form
    match key:
        case "assign":
            return ", ".join(f"{seat} {rune}" for seat, rune in value.items())
        case "pattern":
            return f"{' '.join(map(str, value['seats']))}: {', '.join(value['groups'])}"
        case "place":
            return f"{value['order']} {value['position']}"
        case "except":
            return f"{value['seat']}: {', '.join(value['runes'])}"
        case "mirror" | "has":
            return f"{value['seat']} {value['rune']}"
        case "window":
            return f"{value['position']} {value['seat']}"
        case "count":
            return f"{value['seat']} {value['group']} {value['number']}"
        case "line":
            which = "row" if "row" in value else "column"
            return f"{which} {value[which]} {value['rune']}"
        case "shared":
            return " ".join(map(str, value))
        case "most":
            return ", ".join(value)
        case "veil":
            return ""
        case _:
            return str(value)
