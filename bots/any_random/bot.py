"""Plays any game at random, from the `window` message and the JSON Schema alone, without any rules.

`schema.json` in this folder is the output of `arena schema`. The bot draws an action of the window's form; if that
is rejected, it draws again, and after some tries it chooses the default. It draws words less often that were
rejected more often than accepted, and so learns which words are names in the game.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bots.wire import WireLine

TRIES = 40
"""Maximum number of actions drawn for one window."""
MOST_REJECTED = 900
"""Maximum number of rejections in a match; the referee hangs up after a thousand refused messages."""
REJECTED, ACCEPTED = 0.7, 3.0
"""Factors of the trust in a drawn word."""
LEAST_TRUST = 0.02
PROTOCOL = 1
Say = Callable[[dict[str, Any]], None]


class AnyRandom:
    """The bot, independent of the transport: `hear` handles messages, `say` sends answers."""

    def __init__(self, schema: dict[str, Any], say: Say) -> None:
        self._schema = schema
        self._say = say
        self._rng = Random()
        self._actions: dict[str, Any] = {}
        self._window: dict[str, Any] = {}
        self._tries = 0
        self._rejected = 0
        self._drawn: list[str] = []
        self._trust: dict[str, float] = {}

    def hear(self, message: dict[str, Any]) -> bool:
        """Handle a message; return False once the match is over."""
        match message["type"]:
            case "welcome":
                self._rng = Random(message["seed"])
                if message["game"] not in self._schema["games"]:
                    self._schema = schema_of(message["game"])
                self._actions = self._schema["games"][message["game"]]["actions"]
            case "window":
                self._window, self._tries = message, 0
                self._try()
            case "rejected" if message["window"] == self._window.get("id") and message["reason"] == "illegal":
                self._rejected += 1
                self._judge(REJECTED)
                self._try()
            case "accepted" if message["action"] is not None:
                self._judge(ACCEPTED)
            case "over" | "fault":
                return False
            case _:
                pass
        return True

    def _judge(self, times: float) -> None:
        """Multiply the trust in the last drawn words by `times`."""
        for word in self._drawn:
            self._trust[word] = min(1.0, max(LEAST_TRUST, self._trust.get(word, 1.0) * times))

    def _try(self) -> None:
        window = self._window
        self._tries += 1
        action = None
        if self._tries <= TRIES and self._rejected < MOST_REJECTED:
            words = words_of(window["view"], window["default"])
            drawer = Drawer(self._schema["$defs"], words, self._rng, trust=self._trust)
            action = drawer.draw(self._actions[window["window"]])
        self._drawn = words_of([action])
        self._say({"type": "submit", "window": window["id"], "action": action, "final": True})


def schema_of(game: str) -> dict[str, Any]:
    """Return the JSON Schema of the actions of a game that `schema.json` does not have: one of another package."""
    # Imported late, because other matches do not need them.
    import msgspec  # noqa: PLC0415

    from referee.games import GAMES  # noqa: PLC0415

    actions = GAMES[game].actions
    schemas, words = msgspec.json.schema_components(actions.values(), ref_template="#/$defs/{name}")
    return {"games": {game: {"actions": dict(zip(actions, schemas, strict=True))}}, "$defs": words}


def main() -> None:
    """Play the match that this process was started for."""
    line = WireLine(os.environ["ARENA_ENDPOINT"])
    schema = json.loads(Path(__file__).with_name("schema.json").read_text(encoding="utf-8"))
    bot = AnyRandom(schema, lambda said: line.send(json.dumps(said).encode()))
    token = os.environ["ARENA_TOKEN"]
    line.send(
        json.dumps(
            {"type": "hello", "token": token, "name": "any_random", "version": "1.0", "protocol": PROTOCOL}
        ).encode()
    )
    while (frame := line.receive()) is not None and bot.hear(json.loads(frame)):
        pass
    line.close()


LONGEST_LIST = 4
NUMBERS = (0, 1, 1, 2, 3, 5, 8, 13)
"""Whole numbers that are tried; a schema's own bounds are respected."""
ONLY_ONE = 1 / 2
"""Probability of including exactly one of the optional keys: many forms require exactly one."""


class Drawer:
    """A generator of values.

    `words` are the texts it uses; `trust` has the weight of some of them, the others have 1.
    """

    def __init__(
        self,
        definitions: dict[str, Any],
        words: Sequence[str],
        rng: Random,
        trust: Mapping[str, float] | None = None,
    ) -> None:
        self._definitions = definitions
        self._words = words or [""]
        self._trust = [(trust or {}).get(word, 1.0) for word in self._words]
        self._rng = rng

    def draw(self, schema: dict[str, Any]) -> Any:
        """Return a value that the schema allows, as far as its constraints are known."""
        if "$ref" in schema:
            return self.draw(self._definitions[schema["$ref"].rpartition("/")[2]])
        if "examples" in schema:
            return self._rng.choice(schema["examples"])
        if "enum" in schema:
            return self._rng.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        if "anyOf" in schema:
            return self.draw(self._rng.choice(schema["anyOf"]))
        return self._of_type(schema)

    def _of_type(self, schema: dict[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                return self._array(schema)
            case "integer":
                return self._integer(schema)
            case "boolean":
                return self._rng.choice((True, False))
            case "string":
                return self._word()
            case _:
                return None

    def _object(self, schema: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        rest = [key for key in properties if key not in required]
        if rest and self._rng.random() < ONLY_ONE:
            more = [self._rng.choice(rest)]
        else:
            more = [key for key in rest if self._rng.choice((True, False))]
        drawn = {key: self.draw(properties[key]) for key in properties if key in required or key in more}
        entries = schema.get("additionalProperties")
        if not properties and isinstance(entries, dict):
            keys = [self._word() for _ in range(self._rng.randint(1, LONGEST_LIST))]
            drawn = {key: self.draw(entries) for key in keys}
        return drawn

    def _array(self, schema: dict[str, Any]) -> list[Any]:
        if "prefixItems" in schema:
            return [self.draw(item) for item in schema["prefixItems"]]
        least = schema.get("minItems", 0)
        length = self._rng.randint(least, max(least, min(schema.get("maxItems", LONGEST_LIST), LONGEST_LIST)))
        return [self.draw(schema["items"]) for _ in range(length)]

    def _word(self) -> str:
        return self._rng.choices(self._words, self._trust)[0]

    def _integer(self, schema: dict[str, Any]) -> int:
        least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        most = schema.get("maximum", schema.get("exclusiveMaximum", 1 << 53) - 1)
        return int(self._rng.choice([number for number in NUMBERS if least <= number <= most] or [least]))


def words_of(*values: Any) -> list[str]:
    """Return every text in JSON values in order, with keys of objects unless they name a view's fields."""
    found: dict[str, None] = {}
    for value in values:
        for each in value.values() if isinstance(value, dict) else [value]:
            _collect(each, found)
    return sorted(found)


def _collect(value: Any, found: dict[str, None]) -> None:
    if isinstance(value, dict):
        for key, entry in value.items():
            found[key] = None
            _collect(entry, found)
    elif isinstance(value, list):
        for entry in value:
            _collect(entry, found)
    elif isinstance(value, str):
        found[value] = None


if __name__ == "__main__":
    main()
