"""Make a referee's messages of a match of Mist for tests; each takes other fields by name."""

from typing import Any

from protocol.messages import PROTOCOL, ClockTerms, Closed, Opened, Welcome


def welcome(**more: Any) -> Welcome:
    given: dict[str, Any] = {
        "protocol": PROTOCOL,
        "match": "m",
        "game": "mist",
        "variant": "contractual-obligation",
        "seat": 1,
        "seats": 2,
        "options": {},
        "clock": ClockTerms(main_ms={"turn": 60_000}),
        "seed": 5,
    }
    return Welcome(**given | more)


def opened(number: int = 0, **more: Any) -> Opened:
    given = {"window": "turn", "view": None, "default": None, "main_ms": 60_000, "reserve_ms": 0}
    return Opened(id=number, **given | more)


def closed(number: int = 0, **more: Any) -> Closed:
    return Closed(window=number, **{"taken": None, "by_default": False, "charged_ms": 5, "reserve_ms": 0} | more)
