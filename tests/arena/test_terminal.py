"""No text commands the terminal that it is shown on."""

import io
from pathlib import Path

from rich.table import Table  # noqa: TID251 - the worst case

from arena.commands import entry
from arena.terminal import Screen, arguments


def shown(thing: object) -> str:
    """What reaches a terminal."""
    out = io.StringIO()
    Screen(file=out, width=60, force_terminal=True, color_system=None).print(thing)
    return out.getvalue()


def test_the_words_of_others_are_shown_and_do_nothing() -> None:
    table = Table("bot")
    table.add_row("eve\x1b[2J\u202e")
    assert "│ eve\\x1" in shown(table)  # A table has no more room for it than for what it would have shown.
    assert "\u202e" not in shown(table)
    assert ["a", r"b\x9b31m", ""] == shown("a\nb\x9b31m").split("\n")
    assert "\x1b" not in shown(table)


def test_our_own_colours_stay() -> None:
    out = io.StringIO()
    Screen(file=out, force_terminal=True, color_system="standard", legacy_windows=False).print("a", style="red")
    assert "\x1b[31ma\x1b[0m\n" == out.getvalue()


def test_a_label_that_begins_with_a_hyphen_is_no_option() -> None:
    assert ("cup.toml", "anna", "--results", "r") == arguments("cup.toml", "anna", options=("--results", "r"))
    told = arguments(Path("cup.toml"), "--results=x", options=("--results", "r"))
    assert ("--results", "r", "--", Path("cup.toml"), "--results=x") == told
    update = entry.update_command.make_context("update", [*map(str, told)])
    assert ("--results=x", None, Path("r")) == tuple(update.params[name] for name in ("label", "bot", "results"))
