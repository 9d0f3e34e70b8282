"""Legal actions of The Fight For a Name, built choice by choice from a seat's view.

- `challenge`: positions in ascending order, then `stop`. All 256 actions are listed.
- `move`, on the board: the steps of the path, then `stop`. In the final phase `reinforce` may follow the path
  instead of `stop`, then a hex, the MP put on it as descending powers of two, and `reinforce` again or `stop`.
  A move ends without `stop` once it has spent all MP, or at a pillar if there is no hex to reinforce.
- `move`, with a title: a seat that receives 1 MP, then a second one or the same one again; `stop` ends the gifts
  earlier. All actions are listed, 91 at most.
- `pillar`: the title whose crest the seat receives, then title and colour of `body`, of `parting` and of `other`.
  The two remaining titles are `neither`. Uniform choices make each of the 77,760 actions equally likely.
- votes: a seat, or `stop` to name no seat. All actions are listed.
"""

from collections.abc import Generator, Iterator, Sequence
from itertools import combinations
from operator import attrgetter

from protocol.games.fight_for_a_name import Ask, Colour, Direction, FightView, HexKey, Move, Pick, Title, Vote
from protocol.games.fight_for_a_name.board import COLOURS, DIRECTIONS, HEXES, PILLAR_AT, STEPS, TITLES
from protocol.words import Action
from referee.games.fight_for_a_name.moving import MOST_GIVEN
from referee.games.fight_for_a_name.state import NUMBERS, SEAT_KEYS, SEATS
from referee.rules import Building, choice_mask

POWERS = 15
"""Number of powers of two in amounts, 2^0 to 2^14: a seat receives 28,000 MP at most, in 1,000 rounds."""
STOP, REINFORCE = 0, 1
STEP = 2
POSITION = STEP + len(DIRECTIONS)
SEAT = POSITION + NUMBERS
TITLE = SEAT + SEATS
COLOUR = TITLE + len(TITLES)
HEX = COLOUR + len(COLOURS)
AMOUNT = HEX + len(HEXES)
"""Number of the first hex amount; the constants above are the first numbers of the other kinds of choices."""
CHOICES = (
    "stop",
    "reinforce",
    *DIRECTIONS,
    *(f"position {position}" for position in range(NUMBERS)),
    *(f"seat {key}" for key in SEAT_KEYS),
    *TITLES,
    *COLOURS,
    *(f"hex {name}" for name in HEXES),
    *(f"{1 << power} MP" for power in range(POWERS)),
)


def listed(view: FightView) -> Sequence[Action] | None:
    """Return all picks, votes or gifts, the smallest first; None at a pillar and for a move on the board."""
    if view.candidates is not None:
        return [Vote(seat=seat) for seat in (None, *view.candidates)]
    if view.round == 0:
        return _PICKS
    if view.position is None:
        seats = list(map(SEAT_KEYS.__getitem__, _given(view)))
        gifts = [{}, *({key: 1} for key in seats), *({key: MOST_GIVEN} for key in seats)]
        gifts += [dict.fromkeys(pair, 1) for pair in combinations(seats, 2)]
        return [Move(give=give) for give in gifts]
    return None


def build(view: FightView) -> Building:
    """See `Game.build`."""
    if view.candidates is not None:
        return _vote(view.candidates)
    if view.round == 0:
        return _pick()
    if view.position is None:
        return _gifts(view)
    return _ask(view.visits[-1].titles) if _waits(view) else _move(view, view.position, view.mp or 0)


def spell(view: FightView, action: Action) -> Sequence[int]:
    """See `Game.spell`."""
    choices = list(_wanted(action))
    building = build(view)
    next(building)
    try:
        for choice in choices:
            building.send(choice)
    except StopIteration:
        return choices
    return [*choices, STOP]


def _wanted(action: Action) -> Iterator[int]:
    """Yield the choices of an action, without `stop`."""
    match action:
        case Pick(pick=pick):
            yield from map(POSITION.__add__, pick)
        case Vote(seat=seat):
            if seat is not None:
                yield SEAT + seat
        case Ask():
            yield TITLE + TITLES.index(action.crest)
            for title, colour in (action.body, action.parting, action.other):
                yield TITLE + TITLES.index(title)
                yield COLOUR + COLOURS.index(colour)
        case Move():
            for key, amount in action.give.items():
                yield from [SEAT + int(key)] * amount
            yield from (STEP + DIRECTIONS.index(way) for way in action.path)
            for name, amount in action.reinforce.items():
                yield REINFORCE
                yield HEX + HEXES.index(name)
                yield from (AMOUNT + power for power in reversed(range(POWERS)) if amount >> power & 1)
        case _:
            pass


def _waits(view: FightView) -> bool:
    """Return whether the seat is at a pillar and has not put its questions yet."""
    last = view.visits[-1] if view.visits else None
    return last is not None and last.round == view.round and bool(last.titles) and last.asked is None


def _vote(candidates: tuple[int, ...]) -> Building:
    choice = yield 1 << STOP | choice_mask(candidates, SEAT)
    return Vote(seat=None if choice == STOP else choice - SEAT)


def _pick() -> Building:
    pick: tuple[int, ...] = ()
    after = 0
    while after < NUMBERS:
        choice = yield 1 << STOP | choice_mask(range(after, NUMBERS), POSITION)
        if choice == STOP:
            break
        pick += (choice - POSITION,)
        after = choice - POSITION + 1
    return Pick(pick=pick)


_PICKS = tuple(Pick(pick=pick) for count in range(NUMBERS + 1) for pick in combinations(range(NUMBERS), count))


def _given(view: FightView) -> list[int]:
    """Return the seats to which this one may give MP."""
    return [seat for seat in map(int, view.positions) if seat != view.barred]


def _gifts(view: FightView) -> Building:
    give: dict[str, int] = {}
    mask = 1 << STOP | choice_mask(_given(view), SEAT)
    for _ in range(MOST_GIVEN):
        choice = yield mask
        if choice == STOP:
            break
        key = SEAT_KEYS[choice - SEAT]
        give[key] = give.get(key, 0) + 1
    return Move(give=dict(sorted(give.items(), key=lambda gift: int(gift[0]))))


def _ask(shown: tuple[Title, ...]) -> Building:
    left = list(shown)
    crest = yield from _title(left)
    body = yield from _coloured(left)
    parting = yield from _coloured(left)
    other = yield from _coloured(left)
    one, two = sorted(left)
    return Ask(body=body, parting=parting, other=other, neither=(one, two), crest=crest)


def _title(left: list[Title]) -> Generator[int, int, Title]:
    """Choose one of the remaining titles, and remove it from `left`."""
    title = TITLES[(yield choice_mask(map(TITLES.index, left), TITLE)) - TITLE]
    left.remove(title)
    return title


def _coloured(left: list[Title]) -> Generator[int, int, tuple[Title, Colour]]:
    title = yield from _title(left)
    return title, COLOURS[(yield ((1 << len(COLOURS)) - 1) << COLOUR) - COLOUR]


def _move(view: FightView, at: str, left: int) -> Building:
    path: list[Direction] = []
    white = set(view.white)
    hexes: list[int] = []
    if view.final_phase:
        hexes += [number - 1 for number in view.reached if number not in white]
    visited: set[str] = set(map(attrgetter("pillar"), view.visits))
    choice = STOP
    if not left:
        yield 1 << STOP
    while left:
        reinforce = bool(hexes) << REINFORCE
        if path and at in PILLAR_AT:
            mask = reinforce and reinforce | 1 << STOP
        else:
            mask = _ways(at, path, visited) | reinforce | 1 << STOP
        choice = (yield mask) if mask else STOP
        if choice in (STOP, REINFORCE):
            break
        path.append(DIRECTIONS[choice - STEP])
        at = STEPS[at][path[-1]]
        left -= 1
    put = (yield from _reinforced(hexes, left)) if choice == REINFORCE else {}
    return Move(path=tuple(path), reinforce=put)


def _ways(at: str, path: list[Direction], visited: set[str]) -> int:
    """Return the mask of the next steps: a pillar needs a straight path, and allows one visit per seat (R1)."""
    mask = 0
    for way, there in STEPS[at].items():
        if there not in PILLAR_AT or (there not in visited and path.count(way) == len(path)):
            mask |= 1 << STEP + DIRECTIONS.index(way)
    return mask


def _reinforced(hexes: list[int], left: int) -> Generator[int, int, dict[HexKey, int]]:
    put: dict[int, int] = {}
    choice = REINFORCE
    while choice == REINFORCE:
        hex_ = (yield choice_mask(hexes, HEX)) - HEX
        hexes.remove(hex_)
        put[hex_], smaller = 0, POWERS
        more = 0
        while True:
            # One power is required. Afterwards only smaller powers may follow, unless the amount is complete.
            powers = (1 << min(smaller, left.bit_length())) - 1
            choice = yield powers << AMOUNT | more
            if choice < AMOUNT:
                break
            smaller = choice - AMOUNT
            put[hex_] += 1 << smaller
            left -= 1 << smaller
            if not left:
                choice = STOP
                break
            more = 1 << STOP | bool(hexes) << REINFORCE
    return {HEXES[hex_]: put[hex_] for hex_ in sorted(put)}
