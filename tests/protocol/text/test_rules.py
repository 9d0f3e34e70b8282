"""The rules in one page, and each game's text beside its rules in the referee."""

from typing import get_args

import pytest

from protocol.games.fight_for_a_name.board import GATES, STEPS
from protocol.games.hive_mind.board import BOARD as HIVE
from protocol.games.hive_mind.board import CELLS
from protocol.games.mist.board import BOARD
from protocol.text import GAME_TEXTS, InputTerms
from referee.games import GAMES
from tests.games import WITH_TEXT, with_variants

PAGES = with_variants(WITH_TEXT)
MOST_CHARACTERS = 11_000
"""A page is sent with each question to a language model."""
OF_A_VARIANT = {
    ("mist", "contractual-obligation"): ("You place 1 to 3 pieces", "one piece is placed on E5 for you"),
    ("mist", "heaven-and-hell"): ("You place 0 to 3 pieces", "may swap", "spotted or not", "you place no pieces"),
    ("hive-mind", "recharged"): ("Charge, Marcer and Zero", "one Double and one Block in the whole match"),
    ("hive-mind", "tempo-up"): ("each further Double costs 2 garnets", "window give_token", "third highest"),
    ("hive-mind", "gauntlet"): ("a Double costs 5 garnets, a Block 3", "window scores", "most feats"),
}


@pytest.mark.parametrize(("game", "variant"), PAGES)
def test_every_variant_has_a_page_of_plain_text_that_names_what_hosts_set(game: str, variant: str) -> None:
    page = " ".join(GAME_TEXTS[game].rules(variant).split())
    assert variant in page
    assert page.isascii()
    assert len(page) < MOST_CHARACTERS
    assert not set("{}\0") & set(page)
    for option in GAMES[game].options.__struct_fields__:
        assert f"option {option}" in page
    others = {each for (name, of), says in OF_A_VARIANT.items() if (name, of) != (game, variant) for each in says}
    for says in OF_A_VARIANT.get((game, variant), ()):
        assert says in page
    assert not [each for each in others if each in page and each != "window give_token"]


@pytest.mark.parametrize("game", WITH_TEXT)
def test_a_games_text_has_the_forms_views_and_events_of_its_rules(game: str) -> None:
    text, rules = GAME_TEXTS[game], GAMES[game]
    assert (dict(rules.actions), rules.view_type) == (dict(text.actions), text.view)
    assert set(rules.events) == set(get_args(text.event))
    forms = [text.forms(InputTerms(variant.name, {}, 0)) for variant in rules.variants]
    assert set(rules.actions) == {window for each in forms for window in each}


def test_the_pages_have_the_boards_of_the_rules() -> None:
    """Neighbours, gates and steps are written out there: a model does not reckon them."""
    hive = GAME_TEXTS["hive-mind"].rules("recharged")
    for cell in CELLS:
        assert f"{cell}: {' '.join(HIVE.cells(HIVE.neighbours(HIVE.mask(cell))))}." in hive.replace(
            "A touches", "A:"
        )
    mist = GAME_TEXTS["mist"].rules("heaven-and-hell")
    for cell in ("C3", "G3", "E5"):
        *most, last = BOARD.cells(BOARD.neighbours(BOARD.bit[cell]))
        assert f"{', '.join(most)} and {last}" in " ".join(mist.split())
    fight = " ".join(GAME_TEXTS["fight-for-a-name"].rules("guardians").split())
    for pillar, gates in GATES.items():
        ways_out = {f"{way} to {place}" for way, place in STEPS[pillar].items()}
        said = fight.partition(f" {pillar}: in ")[2].partition(".")[0]
        ways_in, _, out = said.partition("; out ")
        assert {f"{place} {way}" for place, way in gates} == set(ways_in.split(", "))
        assert ways_out == set(out.split(", "))
    steps = [
        f"{way} leads to {place}" if way == "N" else f"{way} to {place}" for way, place in STEPS["Start"].items()
    ]
    assert all(step in fight for step in steps)
