"""Names that others may choose, of entries' folders, bots and keys. Each does something where it is not text."""

from arena.config import look_alike
from referee.display_text import printable_name

NAMES = {
    "markup": "[a-team]",
    "markup's end": "[b/]",
    "an end of nothing": "[/bold]",
    "a style": "[red]x[/red]",
    "a link in markup": "[link=http://e.vil]x[/link]",
    "an emoji's code": ":skull:",
    "ANSI": "\x1b[31mred\x1b[2J",
    "a window's title": "\x1b]0;mine\x07",
    "C1": "\x9b31mred",
    "DEL": "a\x7fb",
    "NUL": "a\x00b",
    "a line's end": "a\nb",
    "a return": "a\rb",
    "a tab": "a\tb",
    "Unicode's line's end": "a\u2028b",
    "right to left": "a\u202etxt.exe",
    "an isolate": "a\u2067b",
    "a mark of direction": "a\u200fb",
    "an Arabic mark": "a\u061cb",
    "zero width": "a\u200bb",
    "a joiner": "a\u200db",
    "a byte order mark": "\ufeffa",
    "a soft hyphen": "a\xadb",
    "a tag": "a\U000e0041",
    "a variant": "a\ufe0f",
    "a rarer variant": "a\U000e0100",
    "a filler": "a\u3164",
    "a grapheme joiner": "a\u034f",
    "braille's blank": "a\u2800",
    "another space": "a\xa0b",
    "an outer space": " a",
    "a space behind": "a ",
    "two spaces": "a  b",
    "nothing else": "a",
    "combining": "e" + "\u0301" * 60,
    "wide": "将棋" * 20,
    "emoji": "🎲👩\u200d👩\u200d👧",
    "long": "n" * 240,
    "HTML": "<script>alert(1)<!--",
    "an entity": "&lt;&#x202e;",
    "quotes": "\"'><img src=x onerror=alert(1)>",
    "CSS": "</style><style>*{display:none}",
    "pipes": "a|b||c",
    "an escaped pipe": "a\\|b",
    "code": "`rm` ``x``",
    "an open code": "`",
    "a link": "[x](http://e.vil)",
    "a picture": "![x](http://e.vil)",
    "an address": "http://e.vil",
    "a shorter address": "www.e.vil",
    "a mail address": "a@e.vil",
    "somebody": "@everyone",
    "emphasis": "*a* __b__ _c_ ~~d~~",
    "a heading": "# a",
    "an item": "- a",
    "another item": "12. a",
    "a rule": "---",
    "sums": "$a$",
    "a formula": "=cmd|' /C calc'!A0",
    "a plus": "+1+1",
    "a minus": "-1+1",
    "an at": "@SUM(A1:A9)",
    "a formula behind a space": " =1+1",
    "a formula behind a tab": "\t=1+1",
    "a formula behind a return": "\r=1+1",
    "a wide formula": "＝1+1",  # noqa: RUF001 - that is its point
    "the console": "console",
    "an option": "--json",
    "a remote bot": "remote:x",
    "the house": "x (house)",
    "the table's all": "all",
    "Windows": "a\\b:c*?",
}
"""By what they are."""

FOLDERS = {kind: name for kind, name in NAMES.items() if "/" not in name and "\x00" not in name}
"""Those that a folder can have."""


def entries() -> list[str]:
    """Return a name for each of `FOLDERS`, with a number in it if it looks like one before."""
    chosen: list[str] = []
    for number, name in enumerate(FOLDERS.values()):
        alike = any(look_alike(printable_name(name), printable_name(other)) for other in chosen)
        chosen.append(f"{name[:1]}{number}{name[1:]}" if alike else name)
    return chosen
