"""Symbols of Runes to Ruins that fit what a view says, and the questions that divide them best for their cost.

A symbol is six rune numbers. Rune number n belongs to the Divine group n // 6 and to the Mundane group n % 6;
groups 0 to 5 are Divine, 6 to 11 Mundane. There are too many symbols (28,731,986) to list. A random walk that
changes one rune or swaps two draws those that fit, and prefers steps that violate fewer clues.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from math import exp, log2
from random import Random
from typing import Any, assert_never

from msgspec import UNSET, UnsetType

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Count,
    Discovered,
    GuessAnswer,
    Has,
    Insight,
    Learned,
    LearnedAnswer,
    Mirrored,
    Pattern,
    Played,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesView,
    SixGroups,
    SymbolSet,
    VisionAnswer,
    Visions,
)
from protocol.games.runes_to_ruins.runes import (
    DIVINE,
    MUNDANE,
    NAMES,
    RUNES,
    DivineGroup,
    Group,
    MundaneGroup,
    RuneName,
)

Symbol = tuple[int, ...]
Clue = Callable[[Symbol], int]
"""Distance of a symbol from one that fits an answer; 0 if it fits."""
NUMBER: dict[str, int] = {name: number for number, name in enumerate(NAMES)}
GROUP_NAMES: tuple[Group, ...] = (*DIVINE, *MUNDANE)
GROUP: dict[str, int] = {name: number for number, name in enumerate(GROUP_NAMES)}
POSITIONS = range(6)
MOST_ALIKE = 3
COLUMNS = 3
ACROSS = 2 * COLUMNS + 1
WARMTH = 0.6
"""Temperature of the walk: how readily it accepts one more violation."""


def _touched(position: int, rune: int) -> int:
    """Return the mask of the symbol's grid points on which the lines of a rune end."""
    mask = 0
    for point in map(int, RUNES[rune].segments.replace(" ", "")):
        row, column = 2 * (position // COLUMNS) + point // 3, 2 * (position % COLUMNS) + point % 3
        mask |= 1 << (row * ACROSS + column)
    return mask


TOUCHED = tuple(tuple(map(_touched, repeat(position, len(RUNES)), range(len(RUNES)))) for position in POSITIONS)


def is_in(rune: int, group: int) -> bool:
    """Return True if a rune belongs to a group of either Order."""
    return rune // 6 == group if group < len(DIVINE) else rune % 6 == group - len(DIVINE)


def uses_group(symbol: Symbol, group: int) -> bool:
    """Return True if a symbol has a rune of a group."""
    return any(is_in(rune, group) for rune in symbol)


def group_size(symbol: Symbol, group: int) -> int:
    """Return the number of a symbol's runes in a group."""
    return sum(is_in(rune, group) for rune in symbol)


def illegal(symbol: Symbol) -> int:
    """Return the distance of a symbol from a legal one."""
    twice = len(symbol) - len(set(symbol))
    divine, mundane = [rune // 6 for rune in symbol], [rune % 6 for rune in symbol]
    return 2 * twice + min(_unlike(divine, mundane), _unlike(mundane, divine)) + _loose(symbol)


def _unlike(unlike: list[int], free: list[int]) -> int:
    """Return the number of violations if the groups of the first Order are those that have to differ."""
    return len(unlike) - len(set(unlike)) + max(0, max(map(free.count, free)) - MOST_ALIKE)


def _loose(symbol: Symbol) -> int:
    """Return the number of runes that are not connected with the first."""
    apart = [TOUCHED[position][rune] for position, rune in enumerate(symbol)]
    together = apart.pop(0)
    while True:
        reached = [mask for mask in apart if mask & together]
        if not reached:
            return len(apart)
        apart = [mask for mask in apart if not mask & together]
        for mask in reached:
            together |= mask


def nearness(guess: Symbol, symbol: Symbol) -> tuple[int, int, int]:
    """Return the three figures of a guess: exact, moved, group."""
    exact = moved = group = 0
    for guessed, rune in zip(guess, symbol, strict=True):
        if guessed == rune:
            exact += 1
        elif guessed in symbol:
            moved += 1
        elif guessed // 6 == rune // 6 or guessed % 6 == rune % 6:
            group += 1
    return exact, moved, group


def wrong(clues: Iterable[Clue], symbol: Symbol) -> int:
    """Return the number of violations of the rules and of the clues."""
    return illegal(symbol) + sum(clue(symbol) for clue in clues)


def fitting(clues: list[Clue], rng: Random, *, walks: int, steps: int) -> list[Symbol]:
    """Draw symbols that fit, the likelier the more often; those with the fewest violations if none fits."""
    found: list[Symbol] = []
    nearest: list[Symbol] = []
    least = 1_000
    for _ in range(walks):
        at: Symbol = tuple(rng.sample(range(len(RUNES)), len(POSITIONS)))
        energy = wrong(clues, at)
        for _ in range(steps):
            there = _changed(at, rng)
            height = wrong(clues, there)
            if height <= energy or rng.random() < exp((energy - height) / WARMTH):
                at, energy = there, height
            if energy == 0:
                found.append(at)
            elif energy <= least:
                if energy < least:
                    least, nearest = energy, []
                nearest.append(at)
    return found or nearest


def _changed(symbol: Symbol, rng: Random) -> Symbol:
    """Return the symbol with one rune changed or two swapped."""
    changed = list(symbol)
    at = rng.randrange(len(changed))
    if rng.random() < 0.3:  # noqa: PLR2004 - mostly it changes one
        other = rng.randrange(len(changed))
        changed[at], changed[other] = changed[other], changed[at]
    else:
        changed[at] = rng.randrange(len(RUNES))
    return tuple(changed)


def clues(view: RunesView, seat: int) -> list[Clue]:
    """Return all clues about a seat's symbol.

    A `veil` may have changed some of the answers; then no symbol fits all clues.
    """
    found: list[Clue] = []
    for played in view.history:
        found += _of_round(played, seat)
    return found


def _of_round(played: Played, seat: int) -> Iterator[Clue]:
    discovered = any(isinstance(event, Discovered) and seat in event.seats for event in played.told)
    for event in played.told:
        match event:
            case Revealed(seat=shown, rune=rune, position=position) if shown == seat:
                yield _at(NUMBER[rune], position)
            case VisionAnswer(kind=kind, answer=answer) if played.action and played.action.visions:
                yield from _of_vision(played.action.visions, kind, answer, seat)
            case LearnedAnswer(index=index, answer=answer) if played.action:
                yield from _of_learned(played.action.learned[index], int(answer), seat)
            case GuessAnswer(index=index, exact=exact, moved=moved, group=group) if (
                played.action and not discovered
            ):
                guess = tuple(NUMBER[rune] for rune in played.action.guesses[index])
                yield _not_nearer(guess, (exact, moved, group))
            case (
                Resubmit()
                | SymbolSet()
                | Insight()
                | ConditionWon()
                | VisionAnswer()
                | Mirrored()
                | LearnedAnswer()
                | GuessAnswer()
                | Revealed()
                | Discovered()
                | Purse()
                | Reveal()
            ):
                pass
            case _ as unreachable:
                assert_never(unreachable)


def _of_vision(visions: Visions, kind: str, answer: Any, seat: int) -> Iterator[Clue]:
    key = str(seat)
    match kind:
        case "assign" if visions.assign is not UNSET and key in visions.assign:
            yield _uses(NUMBER[visions.assign[key]], wanted=answer[key])
        case "divine" | "mundane":
            group = getattr(visions, kind)
            yield _has_group(GROUP[group], wanted=answer[key])
        case "pattern" if visions.pattern is not UNSET and visions.pattern.seats == (seat,):
            for position, (group, count) in enumerate(zip(visions.pattern.groups, answer, strict=True)):
                yield _group_at(position, GROUP[group], wanted=bool(count))
        case "place" if visions.place is not UNSET:
            yield _one_of_at(visions.place.position, frozenset(GROUP[group] for group in answer))
        case "except" if visions.except_ is not UNSET and visions.except_.seat == seat:
            yield _uses(NUMBER[answer], wanted=True)
        case "window" if visions.window is not UNSET and visions.window.seat == seat:
            yield _at(NUMBER[answer], visions.window.position)
        case _:
            pass


def _of_learned(learned: Learned, answer: int, seat: int) -> Iterator[Clue]:
    if learned.has is not UNSET and learned.has.seat == seat:
        yield _uses(NUMBER[learned.has.rune], wanted=bool(answer))
    if learned.count is not UNSET and learned.count.seat == seat:
        yield _counts(GROUP[learned.count.group], answer)


def _uses(rune: int, *, wanted: bool) -> Clue:
    return lambda symbol: int((rune in symbol) is not wanted)


def _at(rune: int, position: int | None) -> Clue:
    if position is None:
        return _uses(rune, wanted=True)
    return lambda symbol: int(symbol[position] != rune)


def _has_group(group: int, *, wanted: bool) -> Clue:
    return lambda symbol: int(uses_group(symbol, group) is not wanted)


def _group_at(position: int, group: int, *, wanted: bool) -> Clue:
    return lambda symbol: int(is_in(symbol[position], group) is not wanted)


def _one_of_at(position: int, groups: frozenset[int]) -> Clue:
    return lambda symbol: int(not any(is_in(symbol[position], group) for group in groups))


def _counts(group: int, number: int) -> Clue:
    return lambda symbol: abs(group_size(symbol, group) - number)


def _not_nearer(guess: Symbol, told: tuple[int, int, int]) -> Clue:
    """Return the clue of a guess: its figures are those of the closest symbol, so this symbol is not closer."""
    return lambda symbol: int(nearness(guess, symbol) > told)


PATTERN_COST, CHEAP_COST = 2, 1
FREE_MANTRA = 6
MOST_LEARNED, MOST_OF_A_KIND = 2, 6
"""Limits of learned insights per round: in total, times the round's number; and of each kind."""
HAS_MANTRA, COUNT_MANTRA = 4, 3
MUST_TELL = 0.3
"""Minimum information of a question, in bits."""
SEATS = 5
CONDITIONS = (13, 14, 15, 11, 10, 12, 7, 6, 5, 9, 8, 4, 3, 2, 1)
"""Conditions to vote for, in the order of rounds."""


def vote_of(view: RunesView) -> dict[str, int]:
    """Return the vote of a round: the next condition."""
    return {str(CONDITIONS[(view.round - 2) % len(CONDITIONS)]): 1}


def target_of(view: RunesView) -> int | None:
    """Return the next seat that is not discovered, or None."""
    own = view.seat or 0
    others = ((own + step) % SEATS for step in range(1, SEATS))
    return next((seat for seat in others if str(seat) not in view.discovered), None)


def asked(view: RunesView, target: int, drawn: list[Symbol], purse: int) -> tuple[Visions, int]:
    """Return the visions that this insight buys, and their cost."""
    left = purse
    pattern: Pattern | UnsetType = UNSET
    assign: dict[str, RuneName] | UnsetType = UNSET
    divine: DivineGroup | UnsetType = UNSET
    mundane: MundaneGroup | UnsetType = UNSET
    if left >= PATTERN_COST:
        left -= PATTERN_COST
        groups: SixGroups = tuple(GROUP_NAMES[best_split(drawn, position)] for position in POSITIONS)
        pattern = Pattern(groups=groups, seats=(target,))
    by_order = [best_group(drawn, order) for order in (range(6), range(6, 12))]
    if left >= CHEAP_COST and by_order[0] is not None:
        left -= CHEAP_COST
        divine = DIVINE[by_order[0]]
    if left >= CHEAP_COST and by_order[1] is not None:
        left -= CHEAP_COST
        mundane = MUNDANE[by_order[1] - len(DIVINE)]
    if left >= CHEAP_COST:
        left -= CHEAP_COST
        assign = assigned(view, target, drawn)
    return Visions(pattern=pattern, divine=divine, mundane=mundane, assign=assign), purse - left


def believed(view: RunesView, target: int, drawn: list[Symbol], *, spare: bool) -> Iterator[Learned]:
    """Yield the beliefs to check: those with most information for their expected mantra."""
    budget: float = FREE_MANTRA + (FREE_MANTRA if spare else 0) - (view.mantra or 0)
    offers = sorted(
        [*_count_offers(target, drawn), *_runes(target, drawn)], key=lambda offer: -offer[0] / (offer[1] + 1)
    )
    used: Counter[str] = Counter()
    for bits, mantra, learned in offers:
        kind = "has" if learned.has else "count"
        is_too_much = used[kind] >= MOST_OF_A_KIND or used.total() >= MOST_LEARNED * view.round
        if bits < MUST_TELL or mantra > budget or is_too_much:
            continue
        budget -= mantra
        used[kind] += 1
        yield learned


def _count_offers(target: int, drawn: list[Symbol]) -> Iterator[tuple[float, float, Learned]]:
    """Yield bits, expected mantra and the belief about the number of runes of each group."""
    for group, name in enumerate(GROUP_NAMES):
        numbers = Counter(group_size(symbol, group) for symbol in drawn)
        number = min(range(7), key=lambda n: sum(abs(n - count) * times for count, times in numbers.items()))
        mantra = COUNT_MANTRA * sum(abs(number - count) * times for count, times in numbers.items()) / len(drawn)
        yield entropy(numbers.values()), mantra, Learned(count=Count(seat=target, group=name, number=number))


def _runes(target: int, drawn: list[Symbol]) -> Iterator[tuple[float, float, Learned]]:
    """Yield bits, expected mantra and the belief that a rune is in the symbol, for each rune."""
    for rune, name in enumerate(NAMES):
        share = sum(rune in symbol for symbol in drawn) / len(drawn)
        bits = entropy((share, 1 - share))
        yield bits, HAS_MANTRA * (1 - share), Learned(has=Has(seat=target, rune=name))


def best_split(drawn: list[Symbol], position: int) -> int:
    """Return the group that divides the symbols most evenly by their rune in a position."""
    return min(
        range(len(GROUP_NAMES)),
        key=lambda group: abs(0.5 - sum(is_in(symbol[position], group) for symbol in drawn) / len(drawn)),
    )


def best_group(drawn: list[Symbol], groups: range) -> int | None:
    """Return the group whose use divides the symbols most evenly; None if that is not informative enough."""
    shares: dict[int, float] = {}
    for group in groups:
        shares[group] = sum(uses_group(symbol, group) for symbol in drawn) / len(drawn)
    best = min(groups, key=lambda group: abs(0.5 - shares[group]))
    return best if entropy((shares[best], 1 - shares[best])) >= MUST_TELL else None


def assigned(view: RunesView, target: int, drawn: list[Symbol]) -> dict[str, RuneName]:
    """Return the rune that divides the symbols most evenly for the target, and any others for other seats."""
    uses = Counter(chain.from_iterable(drawn))
    best = min(range(len(RUNES)), key=lambda rune: abs(0.5 - uses[rune] / len(drawn)))
    others = [seat for seat in range(5) if seat not in (view.seat, target)]
    rest = [rune for rune in range(len(RUNES)) if rune != best]
    more: dict[str, RuneName] = {
        str(seat): NAMES[rest[(view.round * len(DIVINE) + step) % len(rest)]] for step, seat in enumerate(others)
    }
    return {str(target): NAMES[best], **more}


def entropy(counts: Iterable[float]) -> float:
    """Return the entropy in bits of a distribution with these counts."""
    counts = list(counts)
    total = sum(counts)
    return -sum(n / total * log2(n / total) for n in counts if n)
