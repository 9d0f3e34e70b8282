"""A generator of random actions and options for any game, made from their types alone.

Its strings come from the game's own JSON, which names cells, colours and titles, or from the `examples` of a type:
`Annotated[str, Meta(examples=["ADE", "HKL"])]`.
"""

from functools import cache
from random import Random
from typing import Any

import msgspec
from msgspec import inspect

LONGEST_LIST = 4
LONGEST_WORD = 40
HALF = 1 / 2
LOWER = 1 / 8
"""Share of the words that are tried in lower case."""
NUMBERS = (-1, 0, 0, 1, 1, 2, 3, 4, 5, 6, 8, 13, 21, 60)
"""Whole numbers worth trying. Those outside the bounds of a type are skipped."""


class Guesser:
    """A generator of random values of types. `words` are the known strings, sorted."""

    def __init__(self, luck: Random) -> None:
        self._luck = luck
        self.words: list[str] = []

    def learn(self, *said: bytes) -> None:
        """Add the strings of JSON texts, keys as well as values, to the known words."""
        found = set(self.words)
        for text in said:
            _collect(msgspec.json.decode(text), found)
        self.words = sorted(found)

    def guess(self, form: Any) -> Any:
        """Return a random plain value of a type; the rules may still reject it."""
        return self._guess(_described(form))

    def _guess(self, kind: inspect.Type) -> Any:
        match kind:
            case inspect.StructType(fields=fields):
                guess: Any = {
                    field.encode_name: self._guess(field.type) for field in fields if self._includes(field)
                }
            case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
                guess = [self._guess(item) for _ in range(self._luck.randrange(LONGEST_LIST + 1))]
            case inspect.TupleType(item_types=items):
                guess = [self._guess(item) for item in items]
            case inspect.DictType(key_type=key, value_type=value):
                entries = range(self._luck.randrange(LONGEST_LIST))
                guess = {str(self._guess(key)): self._guess(value) for _ in entries}
            case inspect.UnionType(types=types):
                guess = self._guess(self._luck.choice(types))
            case inspect.Metadata(type=inner, extra_json_schema=extra):
                examples = (extra or {}).get("examples")
                guess = self._luck.choice(examples) if examples else self._guess(inner)
            case _:
                guess = self._guess_plain(kind)
        return guess

    def _guess_plain(self, kind: inspect.Type) -> Any:
        match kind:
            case inspect.LiteralType(values=values):
                return self._luck.choice(values)
            case inspect.StrType():
                word = self._luck.choice(self.words or [""])
                return word.lower() if self._luck.random() < LOWER else word
            case inspect.IntType(ge=least, le=most):
                numbers = [number for number in NUMBERS if _between(least, number, most)]
                return self._luck.choice(numbers or [most if least is None else least])
            case inspect.BoolType():
                return self._luck.random() < HALF
            case _:
                return None

    def _includes(self, field: inspect.Field) -> bool:
        return field.required or self._luck.random() < HALF


@cache
def _described(form: Any) -> inspect.Type:
    return inspect.type_info(form)


def _between(least: int | None, number: int, most: int | None) -> bool:
    return (least is None or least <= number) and (most is None or number <= most)


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, dict):
        for key, entry in value.items():
            _collect(key, found)
            _collect(entry, found)
    elif isinstance(value, list):
        for entry in value:
            _collect(entry, found)
    elif isinstance(value, str) and len(value) <= LONGEST_WORD:
        found.add(value)
