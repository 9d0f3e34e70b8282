"""Plays The Fight For a Name by the pillars' answers: it collects crests and hexes in their possible colours.

For each title it stores the pairs of colours that fit all answers. On its first visits it takes the best-known
crest and asks about the others. Then every move goes to the hex that adds most to the possible banners of its
crests: a banner with all hexes held has the value 1, with one missing 0.33, with two missing 0.1.
"""

from collections import Counter
from collections.abc import Collection

from bots.fight_for_a_name import (
    ALL,
    PROGRESS,
    START_WORTH,
    STEP_COST,
    decided,
    missing,
    pairs_left,
    way_to_pillar,
)
from bots.kit import Window, run
from protocol.games.fight_for_a_name import FightView
from protocol.games.fight_for_a_name.board import GATES, START, Path, walks
from protocol.words import Action

HELD_BY_OTHER = 0.3
"""Share of its value that a hex held by another seat has, because it may be won."""


def decide(window: Window[FightView]) -> Action:
    """Return the best action that the view alone suggests."""
    return decided(window, moved)


def moved(window: Window[FightView]) -> Path:
    """Return the path to a pillar while crests are wanted, otherwise to the place of the highest value."""
    view, rng = window.view, window.rng
    position, mp = view.position or START, view.mp or 0
    to_pillar = way_to_pillar(view, rng)
    if to_pillar is not None:
        return to_pillar
    reach = walks(position, mp)
    worths = {place: worth(view, place, len(path)) for place, path in reach.items()}
    return reach[max(worths, key=lambda place: (worths[place], rng.random()))]


def worth(view: FightView, place: str, steps: int) -> float:
    """Return the value of ending the move at a place."""
    if place in GATES or place == START:
        base = standing(view, held(view))
        return base + (START_WORTH if place == START else 0.0) - STEP_COST * steps
    if int(place) in view.white:
        return -1.0
    holder = view.holders.get(place)
    mine = standing(view, held(view) | {place})
    if holder is not None and holder != view.seat:
        none = standing(view, held(view))
        return none + HELD_BY_OTHER * (mine - none) - STEP_COST * steps
    return mine - STEP_COST * steps


def held(view: FightView) -> set[str]:
    """Return the hexes that this seat holds."""
    return {number for number, seat in view.holders.items() if seat == view.seat}


def standing(view: FightView, hexes: Collection[str]) -> float:
    """Return the value of hexes: for each unclaimed crest the mean progress of its possible banners."""
    colours: Counter[str] = Counter(view.colours[number] for number in hexes)
    left = pairs_left(view)
    total = 0.0
    for title in view.crests:
        if title not in view.claims:
            pairs = left.get(title) or ALL
            worths = [PROGRESS[missing(pair, colours)] for pair in pairs]
            total += sum(worths) / len(worths)
    return total if view.crests else 0.01 * len(set(colours))


if __name__ == "__main__":
    run(decide)
