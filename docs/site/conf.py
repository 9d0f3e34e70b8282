"""How Sphinx makes the site of the pages that `build.py` has laid out. A warning is an error."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "Arena"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Arena"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
smartquotes = False  # they make one dash of the two before an option
myst_disable_syntax = ["html_inline", "html_block"]  # `<` is a character
myst_heading_anchors = 6
"""Headings get the anchors that they have on GitHub, to which the pages' links lead."""
suppress_warnings = [
    "misc.highlighting_failure",  # what is shown need not be of one piece: several objects of JSON, a line cut off
]


def setup(app: Sphinx) -> None:
    """Blocks for which no colours are known are text."""
    for name in ("board", "runes", "wire"):
        app.add_lexer(name, TextLexer)
