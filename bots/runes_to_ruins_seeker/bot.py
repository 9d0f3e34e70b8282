"""Plays Runes to Ruins by keeping symbols that fit all answers, and asking what splits them best.

It goes after one seat at a time. Of all symbols that fit what it was told of that seat it draws some hundreds, and
spends its insight on the vision `pattern`, in each position on the group that divides them most evenly, then on
cheaper questions; beliefs that it may check for little mantra come on top. Each round it guesses the symbol that
it drew most often. Its own symbol is drawn: nothing about it can be foreseen.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import log2

from msgspec import UNSET, UnsetType

from bots.kit import Window, run
from bots.runes_clues import clues
from bots.runes_symbols import GROUP_NAMES, POSITIONS, Symbol, fitting, is_in
from protocol.games.runes import DIVINE, MUNDANE, NAMES, RUNES, DivineGroup, MundaneGroup, RuneName
from protocol.games.runes_to_ruins import (
    ChooseSymbol,
    Count,
    Has,
    Learned,
    Pattern,
    PlayRound,
    RunesView,
    SixGroups,
    Visions,
)

WALKS, STEPS = 5, 900
PATTERN_COST, CHEAP_COST = 2, 1
FREE_MANTRA = 6
MOST_LEARNED, MOST_OF_A_KIND = 2, 6
"""Learned insights a round: so many times its number in all; and so many of each kind."""
HAS_MANTRA, COUNT_MANTRA = 4, 3
MUST_TELL = 0.3
"""Bits below which a question is not worth its place."""
CONDITIONS = (13, 14, 15, 11, 10, 12, 7, 6, 5, 9, 8, 4, 3, 2, 1)
"""What it votes for, round by round."""


def decide(window: Window[RunesView]) -> ChooseSymbol | PlayRound | None:
    """Questions, beliefs and a guess about one seat."""
    view, luck = window.view, window.luck
    if window.name == "symbol":
        return None
    vote = {str(CONDITIONS[(view.round - 2) % len(CONDITIONS)]): 1}
    targets = [
        seat for seat in ((view.seat or 0) + step for step in range(1, 5)) if str(seat % 5) not in view.discovered
    ]
    if not targets:
        return PlayRound(votes=vote)
    target = targets[0] % 5
    drawn = fitting(clues(view, target), luck, walks=WALKS, steps=STEPS)
    visions, spent = asked(view, target, drawn)
    return PlayRound(
        votes=vote,
        visions=visions,
        learned=tuple(believed(view, target, drawn, spare=(view.insight or 0) - spent > 0)),
        guesses=(tuple(NAMES[rune] for rune in Counter(drawn).most_common(1)[0][0]),),
    )


def asked(view: RunesView, target: int, drawn: list[Symbol]) -> tuple[Visions, int]:
    """The visions that the insight is spent on, and what they cost."""
    purse = view.insight or 0
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
    """Beliefs to check: those that tell most for the mantra they are likely to bring."""
    budget: float = FREE_MANTRA + (FREE_MANTRA if spare else 0) - (view.mantra or 0)
    offers = sorted(
        [*_counts(target, drawn), *_runes(target, drawn)], key=lambda offer: -offer[0] / (offer[1] + 1)
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


def _counts(target: int, drawn: list[Symbol]) -> Iterator[tuple[float, float, Learned]]:
    """Bits, mantra on average, and the belief, of how many runes of each group there are."""
    for group, name in enumerate(GROUP_NAMES):
        numbers = Counter(sum(is_in(rune, group) for rune in symbol) for symbol in drawn)
        number = min(range(7), key=lambda n: sum(abs(n - count) * times for count, times in numbers.items()))
        mantra = COUNT_MANTRA * sum(abs(number - count) * times for count, times in numbers.items()) / len(drawn)
        yield entropy(numbers.values()), mantra, Learned(count=Count(seat=target, group=name, number=number))


def _runes(target: int, drawn: list[Symbol]) -> Iterator[tuple[float, float, Learned]]:
    """The same for each rune: whether it is in the symbol."""
    for rune, name in enumerate(NAMES):
        share = sum(rune in symbol for symbol in drawn) / len(drawn)
        bits = entropy((share, 1 - share))
        yield bits, HAS_MANTRA * (1 - share), Learned(has=Has(seat=target, rune=name))


def best_split(drawn: list[Symbol], position: int) -> int:
    """The group that divides the symbols most evenly by what they have in a position."""
    return min(
        range(len(GROUP_NAMES)),
        key=lambda group: abs(0.5 - sum(is_in(symbol[position], group) for symbol in drawn) / len(drawn)),
    )


def best_group(drawn: list[Symbol], groups: range) -> int | None:
    """The group that divides them most evenly by whether they use it; None where none tells enough."""
    shares = {
        group: sum(any(is_in(rune, group) for rune in symbol) for symbol in drawn) / len(drawn) for group in groups
    }
    best = min(groups, key=lambda group: abs(0.5 - shares[group]))
    return best if entropy((shares[best], 1 - shares[best])) >= MUST_TELL else None


def assigned(view: RunesView, target: int, drawn: list[Symbol]) -> dict[str, RuneName]:
    """The rune that divides them most evenly, for the target; any others for the other seats."""
    uses = Counter(rune for symbol in drawn for rune in symbol)
    best = min(range(len(RUNES)), key=lambda rune: abs(0.5 - uses[rune] / len(drawn)))
    others = [seat for seat in range(5) if seat not in (view.seat, target)]
    rest = [rune for rune in range(len(RUNES)) if rune != best]
    more: dict[str, RuneName] = {
        str(seat): NAMES[rest[(view.round * len(DIVINE) + step) % len(rest)]] for step, seat in enumerate(others)
    }
    return {str(target): NAMES[best], **more}


def entropy(counts: Iterable[float]) -> float:
    """Of a distribution, given by any counts, in bits."""
    counts = list(counts)
    total = sum(counts)
    return -sum(n / total * log2(n / total) for n in counts if n)


if __name__ == "__main__":
    run(decide)
