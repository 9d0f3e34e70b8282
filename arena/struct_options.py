"""Options of commands, each declared once: as a field of a Struct.

The field's name, type and default are those of the option, and `option` in its annotation has the help. A command
that is decorated with `options` receives one object with all values.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import click
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo, fields

from arena.quantities import seconds_in

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
FormT = TypeVar("FormT", bound=Struct)
Settings = dict[str, Any]
"""Keyword arguments of `click.option`."""


class Seconds(click.ParamType[int]):
    """A time such as `90s` or `2h`, converted to seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType`."""
        seconds = seconds_in(value)
        if seconds is None:
            self.fail(
                f"{value!r} is not a time; give a whole number with s, m, h or d, for example 2h", param, ctx
            )
        return seconds


def option(text: str | None = None, flag: str | None = None, **settings: Any) -> Meta:
    """Return the annotation that makes a field an option.

    Args:
        text: the help.
        flag: the option's name, if it is not that of the field, such as `--json` or `--warm/--cold`.
        settings: further arguments of `click.option`, which override those derived from the field.
    """
    return Meta(extra={"help": text, "flag": flag, "settings": settings})


def options(form: type[Struct], name: str = "asked") -> Callable[[CommandT], CommandT]:
    """Add the options of a Struct to a command, which receives them as one argument.

    Fields whose type is a Struct with options add these in their place. Other fields without `option` keep their
    defaults.
    """

    def add(command: CommandT) -> CommandT:
        @wraps(command)
        def receive(*arguments: Any, **values: Any) -> Any:
            chosen = _filled(form, values)
            return command(*arguments, **values, **{name: chosen})

        for each in reversed(list(_options(form))):
            each(receive)
        return receive  # type: ignore[return-value]  # click calls it with all options, and it passes them on

    return add


def _filled(form: type[FormT], values: dict[str, Any]) -> FormT:
    """Return the Struct of the values of its options, which are removed from `values`."""
    found: dict[str, Any] = {}
    for field in fields(form):
        kind, meta = _read(field.type)
        if meta is not None:
            found[field.name] = values.pop(field.name)
        elif _is_group(kind):
            found[field.name] = _filled(kind, values)
    return form(**found)


def _options(form: type[Struct]) -> Iterator[Callable[[Any], Any]]:
    """Yield click's decorator for each option, in order."""
    for field in fields(form):
        kind, meta = _read(field.type)
        if meta is not None:
            yield _option(field, kind, meta)
        elif _is_group(kind):
            yield from _options(kind)


def _option(field: FieldInfo, kind: Any, meta: dict[str, Any]) -> Callable[[Any], Any]:
    settings = _settings(kind)
    if field.default is not NODEFAULT:
        settings["default"] = field.default
    settings["help"] = meta["help"]
    settings |= meta["settings"]
    flag = meta["flag"] or f"--{field.name.replace('_', '-')}"
    return click.option(flag, field.name, **settings)


def _settings(kind: Any) -> Settings:
    """Return what a field's type says of its option."""
    if kind is bool:
        return {"is_flag": True}
    if get_origin(kind) is tuple:
        return _settings(get_args(kind)[0]) | {"multiple": True}
    return {"type": _click_type(kind)}


def _click_type(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return click.Path(path_type=Path)
    if get_origin(kind) is not Annotated:
        return kind
    number, bounds = get_args(kind)
    if number is int:
        return click.IntRange(bounds.ge, bounds.le)
    return click.FloatRange(bounds.ge, bounds.le)


def _read(kind: Any) -> tuple[Any, dict[str, Any] | None]:
    """Return a field's type without `None` and `option`, and what `option` has; None if it is not an option."""
    found = None
    if get_origin(kind) is Annotated:
        base, *metas = get_args(kind)
        found = next((meta.extra for meta in metas if meta.extra is not None), None)
        bounds = [meta for meta in metas if meta.extra is None]
        kind = Annotated[base, *bounds] if bounds else base
    if get_origin(kind) in (UnionType, Union):
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return kind, found


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct) and any(_options(kind))
