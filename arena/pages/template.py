"""Templates of pages. Every word in them is text, unless it is the arena's own markup."""

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from arena.pages.glossary import OF_COLUMNS, anchor
from arena.tables import LONGEST_CELL, shortened
from referee import __version__
from referee.printable import printable, printable_name

LONGEST_TEXT = 2_200
"""Characters of what is said, at most: it may hold what a bot wrote."""
SEAMS = re.compile(r"(?<=[a-zA-Z0-9][_./-])(?=[a-zA-Z0-9])")
"""Where a name may go on in the next line."""
FOLDED = 16
"""Letters that a line has room for everywhere."""


def render(template: str, **values: Any) -> str:
    """A template of this room with its values. Strings are shown as text; what could not be seen is spelled."""
    return _environment().get_template(f"{template}.html.jinja").render(**values)


def markup(text: str) -> Markup:
    """The arena's own markup, such as a style. Never words of others."""
    return Markup(text)  # noqa: S704 - the arena's own


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("arena.pages", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words_of_columns"] = OF_COLUMNS
    environment.globals["version"] = __version__
    environment.filters |= {"name": name, "said": said, "foldable": foldable, "anchor": anchor}
    return environment


def name(text: str) -> str:
    """A name, or what is in a cell: a long one loses its middle, and spaces that nobody sees are spelled."""
    return shortened(printable_name(text[: 4 * LONGEST_TEXT]), LONGEST_CELL)


def foldable(text: str) -> Markup:
    """Return `name` as markup in which a line may end behind a part of a long name, and not within one."""
    shown = name(text)
    parts = SEAMS.split(shown) if len(shown) > FOLDED else [shown]
    return Markup("<wbr>").join(parts)


def said(text: str) -> str:
    """What is said, of which some may be a bot's: a long one loses its middle."""
    return shortened(printable(text[: 4 * LONGEST_TEXT]), LONGEST_TEXT)


def _shown(value: object) -> object:
    """What an expression of a template shows."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
