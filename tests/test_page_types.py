"""The programs that `tests.page_types` checks have every block of Python, where it stands in its page."""

from collections.abc import Callable
from typing import Any, get_args, get_overloads, get_type_hints

import pytest

from arena.simulation import Match, play
from referee.games import GAMES
from tests.docs_pages import Block, blocks, name
from tests.page_types import programs


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: f"{name(block.page)}-{block.line}")
def test_each_block_is_in_a_program_at_its_own_line(block: Block) -> None:
    lines = block.text.splitlines()
    shown = [each.text.splitlines() for each in programs() if each.page == block.page]
    assert 1 == sum(each[block.line - 1 : block.line - 1 + len(lines)] == lines for each in shown)
    assert lines[0] == block.page.read_text().splitlines()[block.line - 1].strip()


def known_views(function: Callable[..., Any], where: str) -> dict[str, Any]:
    """Return the view by a game's name, as overloads say; `where`: the parameter that holds the match."""
    told = {}
    for overload in get_overloads(function):
        hints = get_type_hints(overload)
        if where not in hints:
            continue  # The match goes on from a position, whose game is not named.
        match = hints[where] if where == "self" else get_args(hints[where])[0]
        (view,) = get_args(match)
        told.update(dict.fromkeys(get_args(hints["game"]) or ["any other"], view))
    return told


def test_a_match_and_a_result_are_of_the_games_own_views_by_the_games_name() -> None:
    """What a type checker makes of them, the pages show."""
    expected = {name: game.view_type for name, game in GAMES.items()} | {"any other": Any}
    assert expected == known_views(Match.__init__, "self")
    assert expected == known_views(play, "return")
