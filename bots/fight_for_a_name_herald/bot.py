"""Plays The Fight For a Name by what pillars tell: collects crests, and holds hexes in colours that may be theirs.

For each title it keeps the pairs of colours that fit all answers. On its first visits it takes the crest that it
knows most of, and asks about the others; then every move goes to the hex that brings its crests' possible banners
on most: a banner with all its hexes held is worth 1, with one missing a third, with two missing a tenth.
"""

from collections import Counter
from collections.abc import Collection

from bots.fight_banners import ALL, pairs_left
from bots.fight_choices import (
    PROGRESS,
    START_WORTH,
    STEP_COST,
    decided,
    missing,
    way_to_pillar,
)
from bots.kit import Window, run
from protocol.games.fight_board import GATES, START, Path, walks
from protocol.games.fight_for_a_name import FightView
from protocol.words import Action

HELD_BY_OTHER = 0.3
"""How much of its worth a hex keeps that another seat holds: it may be won."""


def decide(window: Window[FightView]) -> Action:
    """What seems best, from the view alone."""
    return decided(window, moved)


def moved(window: Window[FightView]) -> Path:
    """To a pillar while crests are wanted, else to the hex that is worth most."""
    view, luck = window.view, window.luck
    position, mp = view.position or START, view.mp or 0
    to_pillar = way_to_pillar(view, luck)
    if to_pillar is not None:
        return to_pillar
    reach = walks(position, mp)
    worths = {place: worth(view, place, len(path)) for place, path in reach.items()}
    return reach[max(worths, key=lambda place: (worths[place], luck.random()))]


def worth(view: FightView, place: str, steps: int) -> float:
    """What it brings to end the move there."""
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
    """The hexes that this seat holds."""
    return {number for number, seat in view.holders.items() if seat == view.seat}


def standing(view: FightView, hexes: Collection[str]) -> float:
    """What hexes are worth for the crests that may still be claimed: over their pairs, how near a banner is."""
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
