"""Hive Mind's legal actions: the check of submitted ones, and how they are built from a view.

Reasons of refusals depend only on the action, the seat's own submissions and public facts. A round is built Hive
by Hive: a shape or `none`; in round 2 a choice to double on each, then to block, limited by the seat's garnets; in
round 3 `guess` or `no guess`, and a guess's twelve digits, A to L. Guessed scores are built seat by seat: `none`,
a number up to 40, or any other number by sign and digits. Rounds and guessed scores are not listed.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import assert_never

from protocol.games.hive_mind import BUYING_ROUND, BreakTie, GiveToken, HiveMindView, Kind, Round, Scores
from protocol.games.hive_mind.board import CELLS, KINDS, SHAPES, shape_named
from protocol.words import Action
from referee.games.hive_mind.state import ROUNDS, RULE_SETS, SEATS, HiveMindState, OpenHives, price, turn, wallet
from referee.rules import Building, Illegal, choice_mask, remembered

SHAPE_NAMES = tuple(SHAPES)
SMALL = 40
"""Largest number that is a single choice."""
MOST_DIGITS = 4300
"""Maximum number of digits of an integer in a message."""
CHOICES = (
    "none",
    *SHAPE_NAMES,
    "no double", "double",
    "no block", "block",
    "no guess", "guess",
    "holds 1", "holds 2", "holds 3",
    *(f"seat {seat}" for seat in range(SEATS)),
    *(str(number) for number in range(SMALL + 1)),
    "a number above", "a number below",
    *(f"digit {digit}" for digit in range(10)),
    "end of number",
)  # fmt: skip
NUMBER = {name: number for number, name in enumerate(CHOICES)}
NONE, SHAPE = NUMBER["none"], NUMBER[SHAPE_NAMES[0]]
DOUBLE, BLOCK, GUESS = NUMBER["no double"], NUMBER["no block"], NUMBER["no guess"]
"""The choice for no; the next number is the choice for yes."""
HOLDS, SEAT, COUNT = NUMBER["holds 1"], NUMBER["seat 0"], NUMBER["0"]
ABOVE, BELOW, DIGIT, END = (
    NUMBER["a number above"],
    NUMBER["a number below"],
    NUMBER["digit 0"],
    NUMBER["end of number"],
)
YES_OR_NO = 0b11
SHAPES_OF: dict[Kind, int] = dict.fromkeys(KINDS, 0)
"""Masks of choices, indexed by kind of shape."""
for _number, _shape in enumerate(SHAPES.values(), SHAPE):
    SHAPES_OF[_shape.kind] |= 1 << _number


def build(view: HiveMindView, seat: int) -> Building:
    """See `Game.build`."""
    match view.window:
        case "round":
            return (yield from _round(view))
        case "scores":
            return (yield from _scores(seat))
        case "give_token":
            return GiveToken(seat=(yield choice_mask(_others(seat), SEAT)) - SEAT)
        case "break_tie":
            return BreakTie(seat=(yield choice_mask(view.tied, SEAT)) - SEAT)
        case None:
            raise AssertionError("no window is open")
        case _ as unreachable:
            assert_never(unreachable)


def spell(view: HiveMindView, action: Action) -> Sequence[int]:
    """See `Game.spell`."""
    match action:
        case Round():
            return _spelled_round(view, action)
        case Scores(scores=scores):
            choices: list[int] = []
            for other in _others(view.seat):
                choices += _spelled_number(scores.get(str(other)))
            return choices
        case GiveToken(seat=seat) | BreakTie(seat=seat):
            return (SEAT + seat,)
        case _:
            raise AssertionError(action)


def listed(view: HiveMindView, seat: int) -> Sequence[Action] | None:
    """Return the winner's legal decisions; None for rounds and guessed scores, which are too many to list."""
    match view.window:
        case "give_token":
            return [GiveToken(seat=other) for other in _others(seat)]
        case "break_tie":
            return [BreakTie(seat=other) for other in view.tied]
        case "round" | "scores" | None:
            return None
        case _ as unreachable:
            assert_never(unreachable)


def _round(view: HiveMindView) -> Generator[int, int, Round]:
    place = yield from _place(view)
    double: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    guess: dict[str, str] = {}
    if view.round == BUYING_ROUND and (purse := view.wallet):
        double, garnets = yield from _uses(
            view.hives, DOUBLE, purse.free_doubles, purse.double_price, purse.garnets
        )
        block, _ = yield from _uses(view.hives, BLOCK, purse.free_blocks, purse.block_price, garnets)
    if view.round == ROUNDS:
        for hive in view.hives:
            if (yield YES_OR_NO << GUESS) == GUESS + 1:
                guess[hive] = ""
                for _ in CELLS:
                    guess[hive] += str((yield 0b111 << HOLDS) - HOLDS + 1)
    return Round(place=place, double=double, block=block, guess=guess)


def _place(view: HiveMindView) -> Generator[int, int, dict[str, str]]:
    """Build the placements: a shape or none on each Hive, in round 1 each kind at most once."""
    place: dict[str, str] = {}
    for hive in view.hives:
        mask = 1 << NONE
        for kind in view.unused[hive]:
            mask |= SHAPES_OF[kind]
        if view.round == 1:
            for cells in place.values():
                mask &= ~SHAPES_OF[SHAPES[cells].kind]
        if (choice := (yield mask)) != NONE:
            place[hive] = SHAPE_NAMES[choice - SHAPE]
    return place


def _uses(
    hives: Iterable[str], no: int, free: int, price: int | None, garnets: int
) -> Generator[int, int, tuple[tuple[str, ...], int]]:
    """Build the choice of Hives to double or block on. Return them and the remaining garnets."""
    used: list[str] = []
    for hive in hives:
        cost = 0 if len(used) < free else price
        affordable = cost is not None and cost <= garnets
        if (yield (YES_OR_NO if affordable else 1) << no) == no + 1:
            used.append(hive)
            garnets -= cost or 0
    return tuple(sorted(used)), garnets


def _scores(seat: int) -> Generator[int, int, Scores]:
    scores: dict[str, int] = {}
    for other in _others(seat):
        choice = yield 1 << NONE | 0b11 << ABOVE | (1 << SMALL + 1) - 1 << COUNT
        if choice in (ABOVE, BELOW):
            digits = yield from _digits()
            scores[str(other)] = digits if choice == ABOVE else -digits
        elif choice != NONE:
            scores[str(other)] = choice - COUNT
    return Scores(scores=scores)


def _digits() -> Generator[int, int, int]:
    """Build a number from its digits, the highest first."""
    text = ""
    for _ in range(MOST_DIGITS):
        choice = yield 0b11_1111_1111 << DIGIT | bool(text) << END
        if choice == END:
            break
        text += str(choice - DIGIT)
    return int(text)


def _spelled_round(view: HiveMindView, action: Round) -> list[int]:
    place = action.place
    choices = [SHAPE + SHAPE_NAMES.index(place[hive]) if hive in place else NONE for hive in view.hives]
    if view.round == BUYING_ROUND:
        choices += [DOUBLE + (hive in action.double) for hive in view.hives]
        choices += [BLOCK + (hive in action.block) for hive in view.hives]
    if view.round == ROUNDS:
        for hive in view.hives:
            guess = action.guess.get(hive, "")
            choices.append(GUESS + bool(guess))
            choices += [HOLDS + int(digit) - 1 for digit in guess]
    return choices


def _spelled_number(number: int | None) -> list[int]:
    if number is None:
        return [NONE]
    if 0 <= number <= SMALL:
        return [COUNT + number]
    digits = str(abs(number))
    choices = [ABOVE if number > 0 else BELOW]
    choices += [DIGIT + int(digit) for digit in digits]
    if len(digits) < MOST_DIGITS:
        choices.append(END)
    return choices


def _others(seat: int | None) -> list[int]:
    return [other for other in range(SEATS) if other != seat]


LONGEST_QUOTE = 20
_KIND_BITS = {shape.cells: 1 << KINDS.index(shape.kind) for shape in SHAPES.values()}
"""One-bit masks of kinds, indexed by shape."""


def _unused(used: int) -> tuple[Kind, ...]:
    return tuple([kind for at, kind in enumerate(KINDS) if not used >> at & 1])


_KINDS_LEFT = tuple(map(_unused, range(1 << len(KINDS))))
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


def checked_round(state: HiveMindState, now: OpenHives, seat: int, action: Round) -> Round:
    """Return a round's canonical spelling. Raise Illegal by R5, R6, R12, or if a part belongs to another round."""
    for named in (action.place, action.double, action.block, action.guess):
        if named:
            _check_in_play(now, named)
    if now.number != BUYING_ROUND and (action.double or action.block):
        raise Illegal(f"Double and Block are for round {BUYING_ROUND}")
    if now.number != ROUNDS and action.guess:
        raise Illegal(f"hexes are guessed in round {ROUNDS}")
    left = kinds_left(state)[seat]
    place: dict[str, str] = {}
    for hive in filter(action.place.__contains__, now.hives):
        place[hive] = _checked_shape(hive, action.place[hive], left[hive])
    if now.number == 1 and len(set(map(_KIND_BITS.__getitem__, place.values()))) < len(place):
        raise Illegal("in round 1 a different kind of shape is placed on each Hive")
    double = action.double and _once_each("Double", action.double)
    block = action.block and _once_each("Block", action.block)
    guess: dict[str, str] = {}
    for hive in filter(action.guess.__contains__, now.hives):
        guess[hive] = _checked_guess(action.guess[hive])
    checked = Round(place=place, double=double, block=block, guess=guess)
    if double or block:
        _check_price(state, seat, checked)
    return checked


def checked_scores(seat: int, action: Scores) -> Scores:
    """Return the canonical spelling of guessed scores. Raise Illegal if the sender guesses its own."""
    if str(seat) in action.scores:
        raise Illegal("only the scores of others are guessed")
    return Scores(scores=dict(sorted(action.scores.items())))


def _check_in_play(now: OpenHives, hives: Iterable[str]) -> None:
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
