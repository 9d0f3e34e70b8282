"""The sample bots of Runes to Ruins: symbols are the rules' own, clues hold for the true one, the seeker finds."""

from random import Random

import pytest

from bots import runes_to_ruins as symbols
from bots.runes_to_ruins import best_split, clues, entropy
from bots.runes_to_ruins_veiler.bot import groups
from protocol.games.runes_to_ruins import ChooseSymbol, RunesView, Six
from protocol.games.runes_to_ruins.runes import NAMES
from referee.games.runes_to_ruins import symbols as rules
from tests.bots.in_process import BOTS, play


def numbers(symbol: tuple[str, ...]) -> symbols.Symbol:
    return tuple(symbols.NUMBER[rune] for rune in symbol)


def test_legal_is_what_the_rules_call_so() -> None:
    rng = Random(1)
    for _ in range(300):
        drawn = rules.draw_symbol(rng)
        assert 0 == symbols.illegal(numbers(drawn))
        other = tuple(rng.choices(NAMES, k=6))
        assert (rules.fault(other) is None) == (symbols.illegal(numbers(other)) == 0)


def test_the_walk_ends_at_legal_symbols_that_fit() -> None:
    known = [lambda symbol: int(symbol[2] != 7), lambda symbol: int(30 in symbol)]
    drawn = symbols.fitting(known, Random(1), walks=3, steps=800)
    assert len(set(drawn)) > 5
    assert {0} == {symbols.wrong(known, symbol) for symbol in drawn}


def test_the_symbol_with_fewest_violations_is_drawn_if_none_fits() -> None:
    impossible = [lambda symbol: int(symbol[0] != 1), lambda symbol: int(symbol[0] != 2)]
    drawn = symbols.fitting(impossible, Random(1), walks=2, steps=500)
    assert {1} == {symbols.wrong(impossible, symbol) for symbol in drawn}


def test_the_best_question_divides_evenly() -> None:
    boxes, others = symbols.GROUP["Box"], symbols.NUMBER["Torn Slope"]
    box = symbols.NUMBER["Cross Box"]
    drawn: list[symbols.Symbol] = [(box, 0, 1, 2, 3, 4), (others, 0, 1, 2, 3, 4)]
    split = best_split(drawn, 0)
    assert 1 == sum(symbols.is_in(symbol[0], split) for symbol in drawn)
    assert symbols.is_in(box, boxes)
    assert (1, 0) == (entropy([1, 1]), entropy([5]))


@pytest.mark.slow
def test_all_clues_of_a_match_hold_for_the_true_symbols() -> None:
    """Told by views alone: the seeker's, at each of its windows, against what the reveal shows."""
    views: list[RunesView] = []

    def watched() -> object:
        bot = BOTS["runes-to-ruins"]["seeker"]()
        decide = bot.decide

        def noted(window):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - as the kit calls it
            views.append(window.view)
            return decide(window)

        bot.decide = noted  # type: ignore[method-assign]
        return bot

    makers = (watched, *[BOTS["runes-to-ruins"]["random"]] * 4)
    played = play(makers, game="runes-to-ruins", variant="guardians", seed=2)  # type: ignore[arg-type]
    assert played.outcome.winners == (0,)
    found = views[-1].discovered
    guesses = [guess for each in views[-1].history if each.action for guess in each.action.guesses]
    assert len(found) >= 3
    for seat in map(int, found):
        known = clues(views[-1], seat)
        assert any(symbols.wrong(known, numbers(guess)) == 0 for guess in guesses)


def test_the_best_symbol_has_all_groups_of_both_orders() -> None:
    kinds: Six = (
        "Straight Divider",
        "Torn Slope",
        "Origin Splitter",
        "Cross Zig-Zag",
        "Angled Enclosure",
        "Slash Box",
    )
    assert 12 == groups(ChooseSymbol(symbol=kinds))
    assert 8 == groups(ChooseSymbol(symbol=(*kinds[:2], *kinds[:2], *kinds[2:4])))


@pytest.mark.slow
def test_the_veiler_is_legal_and_wins() -> None:
    """Over 100 matches against four random bots the seeker, which wins above, won every one."""
    bots = [BOTS["runes-to-ruins"]["random"]] * 5
    bots[2] = BOTS["runes-to-ruins"]["veiler"]
    played = play(tuple(bots), game="runes-to-ruins", variant="guardians", seed=2)
    assert (2,) == played.outcome.winners
    assert max(played.slowest_ms) < 5_000
