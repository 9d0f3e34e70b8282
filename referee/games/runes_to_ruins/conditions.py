"""The 15 conditions: the vote for one, and the insight that the winner pays at the start of the next round."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import filterfalse

from msgspec import UNSET, Struct

from protocol.games.runes_to_ruins import Insight, PlayRound, Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, RUNES
from referee.games.runes_to_ruins.state import OTHERS, SEAT_KEYS, SEATS, RunesState
from referee.games.runes_to_ruins.symbols import GROUPS, joined_pairs
from referee.games.runes_to_ruins.visions import NO_VISIONS, used
from referee.rules import MatchRandom, ranked, shuffle

CONDITIONS = range(1, 16)
REFRESHED_AT = 12
"""Number of used conditions at which all are free again."""
SEGMENTS = {rune.name: len(rune.segments.split()) for rune in RUNES}
LINES = {rune.name: rune.straight_lines for rune in RUNES}
BEST_RANK = 6
"""Insight that a ranked condition pays to the best; each next lower value gets 1 less."""


class Now(Struct, frozen=True, gc=False):
    """The state and actions from which payments are computed."""

    state: RunesState
    actions: Sequence[PlayRound]
    """Actions of the round just ended, indexed by seat."""

    def symbol(self, seat: int) -> Six:
        """Return the symbol of the seat."""
        symbol = self.state.standings[seat].symbol
        assert symbol is not None  # noqa: S101 - all symbols are set before round 2
        return symbol


Figure = Callable[[Now, int], int]
"""A seat's figure for one condition."""


_PLACES = {
    name: (DIVINE.index(divine), len(DIVINE) + MUNDANE.index(mundane))
    for name, (divine, mundane) in GROUPS.items()
}
"""Indices of the two groups of each rune among all groups, the Divine ones first."""
_ONE = {name: 1 << 8 * one | 1 << 8 * other for name, (one, other) in _PLACES.items()}
"""An integer with a 1 in the byte of each group of a rune; by rune."""


class SymbolFigures(Struct, frozen=True, gc=False):
    """The figures that depend on nothing but a symbol."""

    segments: int
    lines: int
    joined: int
    largest_group: int
    connected: int
    mundane_groups: int
    divine_groups: int


@lru_cache(maxsize=256)
def symbol_figures(symbol: Six) -> SymbolFigures:
    """Compute all figures at once: a match needs several figures of the same symbols."""
    counts = sum(map(_ONE.__getitem__, symbol)).to_bytes(len(DIVINE) + len(MUNDANE), "little")
    return SymbolFigures(
        segments=sum(map(SEGMENTS.__getitem__, symbol)),
        lines=sum(map(LINES.__getitem__, symbol)),
        joined=joined_pairs(symbol),
        largest_group=max(counts),
        connected=sum([counts[one] > 1 or counts[other] > 1 for one, other in map(_PLACES.__getitem__, symbol)]),
        mundane_groups=len(MUNDANE) - counts.count(0, len(DIVINE)),
        divine_groups=len(DIVINE) - counts.count(0, 0, len(DIVINE)),
    )


def line_segments(now: Now, seat: int) -> int:
    """Count the line segments in all runes of the symbol."""
    return symbol_figures(now.symbol(seat)).segments


def straight_lines(now: Now, seat: int) -> int:
    """Count the straight lines in all runes of the symbol."""
    return symbol_figures(now.symbol(seat)).lines


def joined(now: Now, seat: int) -> int:
    """Count the joined pairs among the seven adjacent pairs of the symbol."""
    return symbol_figures(now.symbol(seat)).joined


def largest_group(now: Now, seat: int) -> int:
    """Count the runes in the largest group, of either Order."""
    return symbol_figures(now.symbol(seat)).largest_group


def connected_by_groups(now: Now, seat: int) -> int:
    """Count the runes that share a group with another rune of the symbol."""
    return symbol_figures(now.symbol(seat)).connected


def used_elsewhere(now: Now, seat: int) -> int:
    """Count the runes of the symbol that another seat uses too."""
    elsewhere: set[str] = set().union(*[now.symbol(other) for other in OTHERS[seat]])
    return len(elsewhere.intersection(now.symbol(seat)))


def insight_held(now: Now, seat: int) -> int:
    """Return the insight held before this payment."""
    return now.state.standings[seat].insight


def mantra_received(now: Now, seat: int) -> int:
    """Return the mantra received in the match so far."""
    return now.state.standings[seat].received


def visions_used(now: Now, seat: int) -> int:
    """Count the visions of all nine kinds used in the round just ended."""
    visions = now.actions[seat].visions
    return len(used(NO_VISIONS if visions is UNSET else visions))


def mundane_groups(now: Now, seat: int) -> int:
    """Count the different Mundane groups in the symbol."""
    return symbol_figures(now.symbol(seat)).mundane_groups


def divine_groups(now: Now, seat: int) -> int:
    """Count the different Divine groups in the symbol."""
    return symbol_figures(now.symbol(seat)).divine_groups


def two_or_four(now: Now, seat: int) -> int:
    """Return 4 for an undiscovered seat, 2 for a discovered one."""
    return 4 if now.state.standings[seat].discovered is None else 2


RANKED: dict[int, tuple[Figure, int]] = {
    1: (line_segments, 1),
    2: (line_segments, -1),
    3: (straight_lines, 1),
    4: (straight_lines, -1),
    5: (joined, 1),
    6: (largest_group, 1),
    7: (connected_by_groups, 1),
    8: (used_elsewhere, 1),
    9: (used_elsewhere, -1),
    10: (insight_held, -1),
    11: (mantra_received, -1),
    12: (visions_used, -1),
}
"""Figure of each condition, with 1 if the highest is best or -1 if the lowest is."""
FLAT: dict[int, Figure] = {13: mundane_groups, 14: divine_groups, 15: two_or_four}
"""Function of the insight that each flat condition pays."""


def winner(votes: Iterable[PlayRound], taken: tuple[int, ...]) -> int:
    """Return the condition that wins a vote; votes for conditions already used are void.

    Most votes win; a tie goes to the lowest number. Without valid votes the lowest free condition wins.
    """
    counts = [0] * CONDITIONS.stop
    for action in votes:
        if action.votes is not UNSET:
            for condition, number in action.votes.items():
                counts[int(condition)] += number
    for each in taken:
        counts[each] = 0
    most = max(counts)
    return counts.index(most) if most else next(each for each in CONDITIONS if each not in taken)


def now_used(taken: tuple[int, ...], won: int) -> tuple[int, ...]:
    """Return the conditions that are not free after `won` has won."""
    after = tuple(sorted((*taken, won)))
    return () if len(after) == REFRESHED_AT else after


def payments(condition: int, now: Now, round_: int) -> list[int]:
    """Return the insight that each seat earns at the start of round `round_`, including the flat addition."""
    added = (round_ - 2) // 3
    if condition in FLAT:
        return [FLAT[condition](now, seat) + added for seat in range(SEATS)]
    figure, sign = RANKED[condition]
    figures = [sign * figure(now, seat) for seat in range(SEATS)]
    ranks = sorted(set(figures), reverse=True)
    return [BEST_RANK - ranks.index(each) + added for each in figures]


def announced(earned: list[int], actions: Sequence[PlayRound], round_: int, rng: MatchRandom) -> Insight:
    """Return the public event of a payment, which has only the position of seats that abstained."""
    hidden = [seat for seat, action in enumerate(actions) if action.abstain]
    if not hidden:
        return Insight(round=round_, earned=dict(zip(SEAT_KEYS, earned, strict=True)), positions={})
    order = _order(earned, hidden, rng)
    return Insight(
        round=round_,
        earned={key: earned[seat] for seat, key in enumerate(SEAT_KEYS) if seat not in hidden},
        positions={SEAT_KEYS[seat]: order.index(seat) + 1 for seat in hidden},
    )


def _order(earned: list[int], hidden: list[int], rng: MatchRandom) -> list[int]:
    """Order all seats by earnings, highest first; abstainers are randomly before or after their equals."""
    if all(earned.count(earned[seat]) == 1 for seat in hidden):
        # The draw would not change the order here, and creating a stream is slow.
        return sorted(range(SEATS), key=earned.__getitem__, reverse=True)
    drawn = rng.shared()
    order: list[int] = []
    for equals in ranked(range(SEATS), earned.__getitem__):
        abstainers = list(filter(hidden.__contains__, equals))
        shuffle(drawn, abstainers)
        before: list[int] = []
        after: list[int] = []
        for seat in abstainers:
            (before if drawn.randrange(2) else after).append(seat)
        order += [*before, *filterfalse(hidden.__contains__, equals), *after]
    return order
