"""Templates of pages. Every word in them is text, unless it is the arena's own markup."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from referee.printable import printable


def render(template: str, **values: Any) -> str:
    """A template of this room with its values. Strings are shown as text; what could not be seen is spelled."""
    return _environment().get_template(f"{template}.html.jinja").render(**values)


def markup(text: str) -> Markup:
    """The arena's own markup, such as a drawing. Never words of others."""
    return Markup(text)  # noqa: S704 - the arena's own


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("arena.pages", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """What an expression of a template shows."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
