"""Draws JSON values from a JSON Schema, as the arena prints it, for bots that know no game.

Free text is drawn from words of the window itself, such as the names in its view and default.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

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
