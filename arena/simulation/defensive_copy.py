"""Copies of views and events for bots, whose changes do not affect the match. Pure.

A game's Structs are frozen, but may contain dicts that belong to the state.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

ValueT = TypeVar("ValueT")
Copy = Callable[[Any], Any]
_LEAVES = (str, int, float, bool, bytes, type(None))


def defensive_copy(value: ValueT) -> ValueT:
    """Return the Struct with a copy of every dict and list in it."""
    kind: Any = type(value)
    own: dict[str, Any] = {}
    for name, copy in _copies(kind):
        own[name] = copy(getattr(value, name))
    return replace(value, **own) if own else value  # type: ignore[type-var]


@cache
def _copies(kind: type[Any]) -> tuple[tuple[str, Copy], ...]:
    """Return the fields of a Struct that may contain mutable values, each with its copy function."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)  # noqa: S101 - views and events are
    return tuple((field.name, _copy_of(field.type)) for field in info.fields if _may_change(field.type, ()))


def _copy_of(info: msgspec.inspect.Type) -> Copy:
    """Return the copy function of a type; a dict of immutable values is copied in one step."""
    if isinstance(info, msgspec.inspect.DictType) and not _may_change(info.value_type, ()):
        return lambda value: value.copy() if isinstance(value, dict) else value  # The field may be unset.
    return _copied


def _copied(value: Any) -> Any:
    """Return a copy of a value of an unspecific type, such as `Any` or a union."""
    if isinstance(value, _LEAVES):
        return value
    if isinstance(value, Struct):
        return defensive_copy(value)
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(_copied, value))
    return value


def _may_change(info: msgspec.inspect.Type, within: tuple[type, ...]) -> bool:
    inspect = msgspec.inspect
    match info:
        case inspect.StructType(cls=kind, fields=fields):
            return kind not in within and any(_may_change(field.type, (*within, kind)) for field in fields)
        case inspect.UnionType(types=types) | inspect.TupleType(item_types=types):
            return any(_may_change(each, within) for each in types)
        case inspect.VarTupleType(item_type=item) | inspect.FrozenSetType(item_type=item):
            return _may_change(item, within)
        case inspect.DictType() | inspect.ListType() | inspect.SetType() | inspect.AnyType() | inspect.RawType():
            return True
        case _:
            return False
