"""Questions of bots of Runes to Ruins: those that divide the possible symbols best for their cost."""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import log2

from msgspec import UNSET, UnsetType

from bots.runes_to_ruins.symbols import GROUP_NAMES, POSITIONS, Symbol, group_size, is_in, uses_group
from protocol.games.runes_to_ruins import Count, Has, Learned, Pattern, RunesView, SixGroups, Visions
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES, RUNES, DivineGroup, MundaneGroup, RuneName

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
    shares = {group: sum(uses_group(symbol, group) for symbol in drawn) / len(drawn) for group in groups}
    best = min(groups, key=lambda group: abs(0.5 - shares[group]))
    return best if entropy((shares[best], 1 - shares[best])) >= MUST_TELL else None


def assigned(view: RunesView, target: int, drawn: list[Symbol]) -> dict[str, RuneName]:
    """Return the rune that divides the symbols most evenly for the target, and any others for other seats."""
    uses = Counter(rune for symbol in drawn for rune in symbol)
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
