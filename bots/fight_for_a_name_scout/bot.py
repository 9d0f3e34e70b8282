"""Plays The Fight For a Name on sampled worlds: possible strengths of the others and possible banners.

Visits, questions and gifts are the herald's. Every other move goes where the banners of its crests are nearest on
average over the worlds, each with all strengths and all banners. So the bot estimates how likely it would hold a
hex against hidden strengths, and uses that every colour is the body of two titles and the parting of two.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import cast

from bots.fight_for_a_name import (
    PROGRESS,
    START_WORTH,
    STEP_COST,
    decided,
    missing,
    way_to_pillar,
)
from bots.kit import Window, run
from protocol.games.fight_for_a_name import Banner, FightView, HexKey
from protocol.games.fight_for_a_name.board import START, Path, walks
from protocol.words import Action
from referee.games import GAMES, FightForAName

RULES = cast("FightForAName", GAMES["fight-for-a-name"])
WORLDS = 30
WHITE = -1.0
"""Value of a place on a hex that gives nothing any more."""


def decide(window: Window[FightView]) -> Action:
    """Return the best action on average over sampled worlds."""
    return decided(window, moved)


def moved(window: Window[FightView]) -> Path:
    """Return the path to a pillar while crests are wanted, otherwise to the place of the highest value."""
    view, rng = window.view, window.rng
    position, mp = view.position or START, view.mp or 0
    to_pillar = way_to_pillar(view, rng)
    if to_pillar is not None:
        return to_pillar
    reach = walks(position, mp)
    worths = {place: -STEP_COST * len(path) + at_rest(view, place) for place, path in reach.items()}
    try:
        for state in islice(RULES.worlds(view, (), cast("int", view.seat), rng), WORLDS):
            rivals = [player.strengths for seat, player in enumerate(state.players) if seat != view.seat]
            titles = state.setup.titles
            banners = [titles[title] for title in view.crests if title not in view.claims]
            for place, gain in gains(view, reach, rivals, banners).items():
                worths[place] += gain / WORLDS
    except ValueError:
        pass  # No world was found, so only costs and the values at rest decide.
    return reach[max(worths, key=lambda place: (worths[place], rng.random()))]


def at_rest(view: FightView, place: str) -> float:
    """Return the value of a place apart from banners."""
    if place == START:
        return START_WORTH
    return WHITE if place.isdigit() and int(place) in view.white else 0.0


def gains(
    view: FightView,
    reach: dict[str, Path],
    rivals: Sequence[dict[HexKey, int]],
    banners: Sequence[Banner],
) -> dict[str, float]:
    """Return the gain of ending the move at each place in one world; places without gain are absent."""
    strengths = view.strengths or {}
    colours: Counter[str] = Counter(
        view.colours[name] for name, mine in strengths.items() if holds(name, mine, rivals)
    )
    before = worth(banners, colours)
    found: dict[str, float] = {}
    for place, path in reach.items():
        if place not in view.colours or int(place) in view.white:
            continue
        mine = strengths.get(place, 0)
        change = holds(place, mine + len(path) + 1, rivals) - holds(place, mine, rivals)
        if change:
            after = colours.copy()
            after[view.colours[place]] += change
            found[place] = worth(banners, after) - before
    return found


def holds(name: HexKey, mine: int, rivals: Sequence[dict[HexKey, int]]) -> bool:
    """Return True if this strength holds a hex: it is the highest that only one seat has there."""
    theirs = Counter(each[name] for each in rivals if name in each)
    return mine > 0 and mine not in theirs and all(times > 1 for other, times in theirs.items() if other > mine)


def worth(banners: Sequence[Banner], colours: Counter[str]) -> float:
    """Return the progress of the banners with hexes of these colours; without banners count the colours."""
    if not banners:
        return 0.01 * sum(number > 0 for number in colours.values())
    return sum(PROGRESS[missing((each.body, each.parting), colours)] for each in banners)


if __name__ == "__main__":
    run(decide)
