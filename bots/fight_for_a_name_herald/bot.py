"""Plays The Fight For a Name by what pillars tell: collects crests, and holds hexes in colours that may be theirs.

For each title it keeps the pairs of colours that fit all answers. On its first visits it takes the crest that it
knows most of, and asks about the others; then every move goes to the hex that brings its crests' possible banners
on most: a banner with all its hexes held is worth 1, with one missing a third, with two missing a tenth.
"""

from collections import Counter
from collections.abc import Collection
from itertools import combinations

from bots.fight_banners import ALL, NEED, Pairs, likeliest, pairs_left
from bots.kit import Window, run
from protocol.games.fight_board import COLOURS, GATES, START, Path, visits, walks
from protocol.games.fight_for_a_name import Ask, FightView, Move, Pick, Title, Vote
from protocol.words import Action

CRESTS_WANTED = 3
PROGRESS = (1.0, 0.33, 0.1, 0.0)
"""What a banner is worth by how many of its three hexes are missing."""
STEP_COST = 0.004
HELD_BY_OTHER = 0.3
"""How much of its worth a hex keeps that another seat holds: it may be won."""
PILLAR_MP = 4
"""What the way from Start to a pillar costs."""


def decide(window: Window[FightView]) -> Action:
    """What seems best, from the view alone."""
    view = window.view
    match window.name:
        case "challenge":
            return Pick(pick=solution(view.numbers, view.target))
        case "move":
            return given(view) if view.title is not None else Move(path=moved(window))
        case "pillar":
            return questions(view)
        case _:
            others = [seat for seat in view.candidates or () if seat != view.seat]
            return Vote(seat=window.luck.choice(others) if others else None)


def solution(numbers: Collection[int], target: int) -> tuple[int, ...]:
    """Positions of numbers that add up to the target; none if there are none."""
    values = list(numbers)
    for size in range(1, len(values) + 1):
        for pick in combinations(range(len(values)), size):
            if sum(values[at] for at in pick) == target:
                return pick
    return ()


def given(view: FightView) -> Move:
    """With a title, one MP to a seat on the board: it costs nothing."""
    seats = [seat for seat in view.positions if int(seat) != view.barred]
    return Move(give={seats[view.round % len(seats)]: 1}) if seats else Move()


def moved(window: Window[FightView]) -> Path:
    """To a pillar while crests are wanted, else to the hex that is worth most."""
    view, luck = window.view, window.luck
    position, mp = view.position or START, view.mp or 0
    visited = {visit.pillar for visit in view.visits}
    if wants_crest(view):
        ways = sorted(visits(position, mp, visited), key=lambda way: (len(way[1]), luck.random()))
        if ways:
            return ways[0][1]
        if position == START and mp < PILLAR_MP:
            return ()
    reach = walks(position, mp)
    worths = {place: worth(view, place, len(path)) for place, path in reach.items()}
    return reach[max(worths, key=lambda place: (worths[place], luck.random()))]


def wants_crest(view: FightView) -> bool:
    """Whether one more crest is wanted, and there is time to use it."""
    open_crests = [title for title in view.crests if title not in view.claims]
    return len(open_crests) < CRESTS_WANTED and view.round <= view.rounds // 2 + 1


def worth(view: FightView, place: str, steps: int) -> float:
    """What it brings to end the move there."""
    if place in GATES or place == START:
        base = standing(view, held(view))
        return base + (0.02 if place == START else 0.0) - STEP_COST * steps
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


def missing(pair: tuple[str, str], colours: Counter[str]) -> int:
    """How many hexes a banner of these colours lacks."""
    return sum(max(0, need - colours[colour]) for colour, need in zip(pair, NEED.values(), strict=True))


def questions(view: FightView) -> Ask:
    """The crest of which most is known; of the others own crests come first, with likely colours."""
    titles = view.visits[-1].titles
    left = pairs_left(view)
    taken = {*view.crests, *view.claims}
    fresh: list[Title] = [title for title in titles if title not in taken] or list(titles)
    crest = min(fresh, key=lambda title: len(left.get(title, ALL)))
    others: list[Title] = [title for title in titles if title != crest]
    rest = sorted(others, key=lambda title: _wish(view, title, left))
    body, parting, other, one, two = rest[:5]
    ruled_out = set(COLOURS) - {colour for pair in left.get(other, ALL) for colour in pair}
    return Ask(
        body=(body, likeliest(left.get(body) or ALL, 0)),
        parting=(parting, likeliest(left.get(parting) or ALL, 1)),
        other=(other, min(ruled_out or COLOURS)),
        neither=(one, two),
        crest=crest,
    )


def _wish(view: FightView, title: str, left: dict[str, Pairs]) -> tuple[bool, bool, int]:
    """Own crests first, then what is least known; claimed titles last."""
    return title in view.claims, title not in view.crests, -len(left.get(title, ALL))


if __name__ == "__main__":
    run(decide)
