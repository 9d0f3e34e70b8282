"""Words of others in HTML: they are text, whatever they hold, and do nothing to the page around them."""

from html import escape  # noqa: TID251 - this is the door

from referee.printable import printable, printable_name


def html_text(text: str) -> str:
    """The text as it stands, on one line, for an element or an attribute in quotes."""
    return escape(printable_name(text))


def html_lines(text: str) -> str:
    """The same line by line, spaces too, for `<pre>`."""
    return "\n".join(escape(printable(line)) for line in text.split("\n"))
