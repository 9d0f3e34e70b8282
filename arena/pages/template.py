"""Templates of pages. Every word in them is text, unless it is the arena's own markup."""

import re
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from arena.pages.glossary import OF_COLUMNS, anchor
from arena.pages.tables import BETWEEN, Cell, Table
from arena.tables import LONGEST_CELL, shortened
from referee import __version__
from referee.bot_folder import CacheError, cache_folder, private
from referee.printable import printable, printable_name

LONGEST_TEXT = 2_200
"""Characters of what is said, at most: it may hold what a bot wrote."""
SEAMS = re.compile(r"(?<=[a-zA-Z0-9][_./-])(?=[a-zA-Z0-9])")
"""Where a name may go on in the next line."""
FOLDED = 16
"""Letters that a line has room for everywhere."""
MOST_KEPT = 4_096
"""Names and headings whose markup is kept: pages of one competition show the same ones again and again."""


def render(template: str, **values: Any) -> str:
    """A template of this room with its values. Strings are shown as text; what could not be seen is spelled."""
    return _environment().get_template(f"{template}.html.jinja").render(**values)


def markup(text: str) -> Markup:
    """The arena's own markup, such as a style. Never words of others."""
    return Markup(text)  # noqa: S704 - the arena's own


class _CompiledTemplates(FileSystemBytecodeCache):
    """Templates as code, kept for the next command: compiling them takes longer than to fill them in."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, unless there is no room for it."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled_templates() -> _CompiledTemplates | None:
    """Return where compiled templates are kept; None: nowhere that no other user may write to."""
    folder = cache_folder() / "templates"
    try:
        private(folder)
    except (CacheError, OSError):
        return None
    return _CompiledTemplates(str(folder))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("arena.pages", "assets"),
        bytecode_cache=_compiled_templates(),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words_of_columns"] = OF_COLUMNS
    environment.globals["version"] = __version__
    environment.filters |= {
        "name": name,
        "said": said,
        "foldable": foldable,
        "anchor": anchor,
        "in_cell": in_cell,
        "linked": linked,
        "rows": rows,
    }
    return environment


@lru_cache(MOST_KEPT)
def name(text: str) -> str:
    """A name, or what is in a cell: a long one loses its middle, and spaces that nobody sees are spelled."""
    return shortened(printable_name(text[: 4 * LONGEST_TEXT]), LONGEST_CELL)


@lru_cache(MOST_KEPT)
def foldable(text: str) -> Markup:
    """Return `name` as markup in which a line may end behind a part of a long name, and not within one."""
    shown = name(text)
    parts = SEAMS.split(shown) if len(shown) > FOLDED else [shown]
    return Markup("<wbr>").join(parts)


def in_cell(cell: Cell) -> Markup:
    """Return what a cell holds as markup: each name a whole, with a link if it leads somewhere."""
    if not cell.parts:
        return linked(cell.text, cell.href)
    parts = (escape(printable(each.text)) if each.kind == BETWEEN else in_cell(each) for each in cell.parts)
    return markup("".join(parts))


@lru_cache(MOST_KEPT)
def linked(text: str, href: str) -> Markup:
    """Return a name as markup, with a link if `href` leads somewhere."""
    shown = foldable(text)
    if href:
        return markup(f'<a class="name" href="{escape(printable(href))}">{shown}</a>')
    return markup(f'<span class="name">{shown}</span>')


def rows(table: Table) -> Markup:
    """Return a table's rows as markup.

    Not in a template: a site of 10,000 matches has 200,000 cells, and macros took most of the time.
    """
    lines: list[str] = []
    for row in table.rows:
        lines.append("<tr>")
        lines += (_cell(cell, column, table) for column, cell in zip(table.columns, row, strict=True))
        lines.append("</tr>")
    return markup("".join(f"{line}\n" for line in lines))


def _cell(cell: Cell, column: str, table: Table) -> str:
    if column == table.head:
        return f'<th scope="row" class="words stick">{in_cell(cell)}</th>'
    kind = escape(printable(cell.kind))
    if table.is_words(column):
        return f'<td class="words{" " if kind else ""}{kind}">{in_cell(cell)}</td>'
    class_ = f' class="{kind}"' if kind else ""
    text = escape(name(cell.text))
    shown = f'<a href="{escape(printable(cell.href))}">{text}</a>' if cell.href else text
    return f"<td{class_}>{shown}</td>"


def said(text: str) -> str:
    """What is said, of which some may be a bot's: a long one loses its middle."""
    return shortened(printable(text[: 4 * LONGEST_TEXT]), LONGEST_TEXT)


def _shown(value: object) -> object:
    """What an expression of a template shows."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
