"""Checks of actions, which return the canonical spelling or raise the reason for a refusal.

Reasons depend only on the action, public facts and the sender's earlier actions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from protocol.games.hive_mind import BUYING_ROUND, Kind, Round, Scores
from protocol.games.hive_mind.board import CELLS, KINDS, SHAPES, shape_named
from referee.games.hive_mind.state import ROUNDS, RULE_SETS, SEATS, HiveMindState, Turn, price, turn, wallet
from referee.rules import Illegal, remembered

LONGEST_QUOTE = 20
_KIND_BITS = {shape.cells: 1 << KINDS.index(shape.kind) for shape in SHAPES.values()}
"""One-bit masks of kinds, indexed by shape."""
_KINDS_LEFT = tuple(
    tuple(kind for at, kind in enumerate(KINDS) if not used >> at & 1) for used in range(1 << len(KINDS))
)
"""Unused kinds, indexed by the mask of used ones."""


@remembered
def kinds_left(state: HiveMindState) -> tuple[dict[str, tuple[Kind, ...]], ...]:
    """Return the kinds of shapes not yet placed, indexed by seat and by Hive in play (R4)."""
    now = turn(state)
    if now is None:
        return ({},) * SEATS
    rounds = state.rounds[len(state.rounds) - now.number + 1 :]
    if not rounds:
        return (dict.fromkeys(now.hives, KINDS),) * SEATS
    return tuple([_seat_kinds_left(now.hives, rounds, seat) for seat in range(SEATS)])


def _seat_kinds_left(
    hives: Iterable[str], rounds: Iterable[tuple[Round, ...]], seat: int
) -> dict[str, tuple[Kind, ...]]:
    used = dict.fromkeys(hives, 0)
    for actions in rounds:
        for hive, cells in actions[seat].place.items():
            used[hive] |= _KIND_BITS[cells]
    return {hive: _KINDS_LEFT[kinds] for hive, kinds in used.items()}


def checked_round(state: HiveMindState, now: Turn, seat: int, action: Round) -> Round:
    """Return a round's canonical spelling. Raise Illegal by R5, R6, R12, or if a part belongs to another round."""
    for named in (action.place, action.double, action.block, action.guess):
        if named:
            _check_in_play(now, named)
    if now.number != BUYING_ROUND and (action.double or action.block):
        raise Illegal(f"Double and Block are for round {BUYING_ROUND}")
    if now.number != ROUNDS and action.guess:
        raise Illegal(f"hexes are guessed in round {ROUNDS}")
    left = kinds_left(state)[seat]
    place = {
        hive: _checked_shape(hive, action.place[hive], left[hive]) for hive in now.hives if hive in action.place
    }
    if now.number == 1 and len({_KIND_BITS[cells] for cells in place.values()}) < len(place):
        raise Illegal("in round 1 a different kind of shape is placed on each Hive")
    double = action.double and _once_each("Double", action.double)
    block = action.block and _once_each("Block", action.block)
    guess = action.guess and {
        hive: _checked_guess(action.guess[hive]) for hive in now.hives if hive in action.guess
    }
    checked = Round(place=place, double=double, block=block, guess=guess)
    if double or block:
        _check_price(state, seat, checked)
    return checked


def checked_scores(seat: int, action: Scores) -> Scores:
    """Return the canonical spelling of guessed scores. Raise Illegal if the sender guesses its own."""
    if str(seat) in action.scores:
        raise Illegal("only the scores of others are guessed")
    return Scores(scores=dict(sorted(action.scores.items())))


def _check_in_play(now: Turn, hives: Iterable[str]) -> None:
    for hive in hives:
        if hive not in now.hives:
            raise Illegal(f"{_quoted(hive)} is no Hive in play; that is {', '.join(now.hives)}")


def _checked_shape(hive: str, name: str, left: Sequence[Kind]) -> str:
    shape = shape_named(name)
    if shape is None:
        raise Illegal(f"{_quoted(name)} is no shape: three hexes, {CELLS[0]} to {CELLS[-1]}, that are connected")
    if shape.kind not in left:
        raise Illegal(f"{shape.cells} is of the kind {shape.kind}, which you have used on Hive {hive}")
    return shape.cells


def _once_each(what: str, hives: tuple[str, ...]) -> tuple[str, ...]:
    for hive, times in Counter(hives).items():
        if times > 1:
            raise Illegal(f"a second {what} on Hive {hive}")
    return tuple(sorted(hives))


def _checked_guess(guess: str) -> str:
    if len(guess) != len(CELLS) or set(guess) - set("123"):
        raise Illegal(f"{_quoted(guess)} is no guess: {len(CELLS)} digits 1 to 3")
    return guess


def _check_price(state: HiveMindState, seat: int, action: Round) -> None:
    """Raise Illegal if the seat cannot pay (R6)."""
    rules, purse = RULE_SETS[state.variant], wallet(state, seat)
    for what, hives, free, each in (
        ("Double", action.double, purse.free_doubles, rules.double_price),
        ("Block", action.block, purse.free_blocks, rules.block_price),
    ):
        if each is None and len(hives) > free:
            raise Illegal(f"{what} may be used once, and none can be bought")
    cost = price(rules, action)
    if cost > purse.garnets:
        raise Illegal(f"this costs more garnets than the {purse.garnets} you have")


def _quoted(text: str) -> str:
    return repr(text[:LONGEST_QUOTE])
