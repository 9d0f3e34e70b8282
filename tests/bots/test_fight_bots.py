"""The sample bots of The Fight For a Name: on the rules' own board, always legal, and the herald is stronger."""

from collections import Counter
from random import Random

import msgspec
import pytest

from bots.fight_for_a_name import ALL, PROGRESS, missing, pairs_left, solution
from bots.fight_for_a_name_scout.bot import gains, holds
from protocol.games.fight_for_a_name import Banner, FightEvent, FightView, HexKey, Reveal
from protocol.games.fight_for_a_name.board import COLOURS, START, STEPS
from referee.games import GAMES
from referee.rules import Deal, Table
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed
from tests.long import mostly_slow

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


def test_the_stored_pairs_of_colours_include_the_true_banners() -> None:
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
    events = [msgspec.convert(event, FightEvent) for event in told]
    reveal = next(event for event in events if isinstance(event, Reveal))
    titles: dict[str, Banner] = dict(reveal.titles.items())
    narrowed = 0
    for view in views:
        for title, pairs in pairs_left(view).items():
            banner = titles[title]
            assert (banner.body, banner.parting) in pairs
            narrowed += len(pairs) < len(ALL)
    assert narrowed > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(1, (1, 2)))
def test_bots_are_always_legal(seed: int) -> None:
    rng = Random(seed)
    bots = tuple(rng.choice(list(BOTS[NAME].values())) for _ in range(13))
    assert play(bots, game=NAME, variant=VARIANT, seed=seed).outcome.reason in ("titles", "rounds")


def test_a_hex_is_held_by_the_highest_strength_that_no_other_has() -> None:
    rivals: list[dict[HexKey, int]] = [{"7": 5}, {"7": 5}, {"7": 2, "8": 1}]
    assert (True, False, False, True) == (
        holds("7", 3, rivals),
        holds("7", 2, rivals),
        holds("8", 1, rivals),
        holds("8", 2, rivals),
    )


def test_the_scout_goes_where_its_banner_comes_nearer() -> None:
    table = Table(GAMES[NAME], Deal(VARIANT, 1))
    view = GAMES[NAME].view(table.state, 0)
    assert isinstance(view, FightView)
    near = next(iter(STEPS[START].items()))
    banner = Banner(body=view.colours[near[1]], parting=next(c for c in COLOURS if c != view.colours[near[1]]))
    found = gains(view, {START: (), near[1]: (near[0],)}, [], [banner])
    assert {near[1]: pytest.approx(PROGRESS[2] - PROGRESS[3])} == found


def test_the_scout_plays_the_same_match_again() -> None:
    bots = (BOTS[NAME]["scout"], *[BOTS[NAME]["random"]] * 12)
    one, again = (play(bots, game=NAME, variant=VARIANT, seed=1).outcome for _ in range(2))
    assert one == again


@pytest.mark.slow
def test_the_herald_is_ranked_before_random_bots() -> None:
    """Equals would be at 0.5; over 208 matches it was 0.66."""
    matches = matches_of(NAME, VARIANT, range(1))
    played = [(match[1], one_match(NAME, ("herald", "random"), VARIANT, match)) for match in matches]
    assert summed(iter(played)).points > 0.55
