"""The sample bots of The Fight For a Name: on the rules' own board, always legal, and the herald is stronger."""

from collections import Counter
from random import Random

import pytest

from bots.fight_banners import ALL, pairs_left
from bots.fight_for_a_name_herald.bot import missing, solution
from protocol.games.fight_for_a_name import FightView, Reveal
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed

NAME, VARIANT = "fight-for-a-name", "guardians"


def test_the_timed_game_is_solved_where_it_can_be() -> None:
    assert (0, 1) == solution((3, 5, 9), 8)
    assert () == solution((3, 5, 9), 4)


def test_a_banner_lacks_what_is_not_held() -> None:
    assert (3, 1, 0) == (
        missing(("red", "blue"), Counter()),
        missing(("red", "blue"), Counter(red=1, blue=1)),
        missing(("red", "blue"), Counter(red=2, blue=2)),
    )


def test_what_is_kept_of_banners_holds_for_the_true_ones() -> None:
    """By the views of a herald, at each of its windows, against what the reveal shows."""
    views: list[FightView] = []

    def watched() -> object:
        bot = BOTS[NAME]["herald"]()
        decide = bot.decide

        def noted(window):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - as the kit calls it
            views.append(window.view)
            return decide(window)

        bot.decide = noted  # type: ignore[method-assign]
        bot.event = told.append  # type: ignore[method-assign, assignment]
        return bot

    told: list[object] = []
    play((watched, *[BOTS[NAME]["random"]] * 12), game=NAME, variant=VARIANT, seed=3)  # type: ignore[arg-type]
    reveal = next(event for event in told if isinstance(event, dict) and event["type"] == "reveal")
    assert Reveal.__struct_config__.tag == reveal["type"]
    narrowed = 0
    for view in views:
        for title, pairs in pairs_left(view).items():
            banner = reveal["titles"][title]
            assert (banner["body"], banner["parting"]) in pairs
            narrowed += len(pairs) < len(ALL)
    assert narrowed > 0


@pytest.mark.parametrize("seed", range(4))
def test_bots_are_always_legal(seed: int) -> None:
    luck = Random(seed)
    bots = tuple(luck.choice(list(BOTS[NAME].values())) for _ in range(13))
    assert play(bots, game=NAME, variant=VARIANT, seed=seed).outcome.reason in ("titles", "rounds")


@pytest.mark.slow
def test_the_herald_is_ranked_before_random_bots() -> None:
    """Equals would be at 0.5; over 208 matches it was 0.66."""
    matches = matches_of(NAME, VARIANT, range(2))
    played = [(match[1], one_match(NAME, ("herald", "random"), VARIANT, match)) for match in matches]
    assert summed(iter(played)).points > 0.55
