"""The 15 conditions: how one is voted for, and what the winner pays at the start of the next round."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from msgspec import UNSET, Struct

from protocol.games.runes import DIVINE, MUNDANE, RUNES
from protocol.games.runes_to_ruins import Insight, PlayRound, Six
from referee.games.runes_to_ruins.state import OTHERS, SEAT_KEYS, SEATS, RunesState
from referee.games.runes_to_ruins.symbols import GROUPS, joined_pairs
from referee.games.runes_to_ruins.visions import NO_VISIONS, used
from referee.rules import Luck, shuffle

CONDITIONS = range(1, 16)
REFRESHED_AT = 12
"""When so many have been used, all are free again."""
SEGMENTS = {rune.name: len(rune.segments.split()) for rune in RUNES}
LINES = {rune.name: rune.straight_lines for rune in RUNES}
BEST_RANK = 6
"""What a ranked condition pays to the best; each next lower value gets 1 less."""


class Now(Struct, frozen=True, gc=False):
    """What conditions look at, when they pay."""

    state: RunesState
    actions: Sequence[PlayRound]
    """Of the round just ended."""

    def symbol(self, seat: int) -> Six:
        """A seat's symbol."""
        symbol = self.state.standings[seat].symbol
        assert symbol is not None  # noqa: S101 - all symbols are set before round 2
        return symbol


Figure = Callable[[Now, int], int]
"""A seat's figure for one condition."""


_PLACES = {
    name: (DIVINE.index(divine), len(DIVINE) + MUNDANE.index(mundane))
    for name, (divine, mundane) in GROUPS.items()
}
"""Rune to where its groups stand among all groups, the Divine ones first."""
_ONE = {name: 1 << 8 * one | 1 << 8 * other for name, (one, other) in _PLACES.items()}
"""Rune to a 1 for each of its groups, in a byte of their own."""


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
    """All at once: a match asks the same symbols for one figure after another."""
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
    """Line segments in all runes of the symbol."""
    return symbol_figures(now.symbol(seat)).segments


def straight_lines(now: Now, seat: int) -> int:
    """Straight lines in all runes of the symbol."""
    return symbol_figures(now.symbol(seat)).lines


def joined(now: Now, seat: int) -> int:
    """Joined pairs among the seven that lie side by side."""
    return symbol_figures(now.symbol(seat)).joined


def largest_group(now: Now, seat: int) -> int:
    """Runes in one group, of either Order."""
    return symbol_figures(now.symbol(seat)).largest_group


def connected_by_groups(now: Now, seat: int) -> int:
    """Runes that share a group with another rune of the symbol."""
    return symbol_figures(now.symbol(seat)).connected


def used_elsewhere(now: Now, seat: int) -> int:
    """Runes that some other seat uses too."""
    elsewhere: set[str] = set().union(*[now.symbol(other) for other in OTHERS[seat]])
    return len(elsewhere.intersection(now.symbol(seat)))


def insight_held(now: Now, seat: int) -> int:
    """Insight, before this payment."""
    return now.state.standings[seat].insight


def mantra_received(now: Now, seat: int) -> int:
    """Mantra received in the match so far."""
    return now.state.standings[seat].received


def visions_used(now: Now, seat: int) -> int:
    """Visions used in the round just ended, of all nine kinds."""
    visions = now.actions[seat].visions
    return len(used(NO_VISIONS if visions is UNSET else visions))


def mundane_groups(now: Now, seat: int) -> int:
    """Different Mundane groups used."""
    return symbol_figures(now.symbol(seat)).mundane_groups


def divine_groups(now: Now, seat: int) -> int:
    """Different Divine groups used."""
    return symbol_figures(now.symbol(seat)).divine_groups


def two_or_four(now: Now, seat: int) -> int:
    """Two, and two more for a seat that is itself undiscovered."""
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
"""Condition to its figure, and 1 where the most is best or -1 where the least is."""
FLAT: dict[int, Figure] = {13: mundane_groups, 14: divine_groups, 15: two_or_four}
"""Condition to what it pays."""


def winner(votes: Iterable[PlayRound], taken: tuple[int, ...]) -> int:
    """The condition that wins a vote; votes on conditions already used are void.

    Most votes win, the lowest number in a tie; with no votes at all, the lowest that is free.
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
    """The conditions that are not free after this one has won."""
    after = tuple(sorted((*taken, won)))
    return () if len(after) == REFRESHED_AT else after


def payments(condition: int, now: Now, round_: int) -> list[int]:
    """What each seat earns at the start of that round, the flat addition included."""
    added = (round_ - 2) // 3
    if condition in FLAT:
        return [FLAT[condition](now, seat) + added for seat in range(SEATS)]
    figure, sign = RANKED[condition]
    figures = [sign * figure(now, seat) for seat in range(SEATS)]
    ranks = sorted(set(figures), reverse=True)
    return [BEST_RANK - ranks.index(each) + added for each in figures]


def announced(earned: list[int], actions: Sequence[PlayRound], round_: int, luck: Luck) -> Insight:
    """What all are told of a payment: of seats that abstained, only the position."""
    hidden = [seat for seat, action in enumerate(actions) if action.abstain]
    if not hidden:
        return Insight(round=round_, earned=dict(zip(SEAT_KEYS, earned, strict=True)), positions={})
    order = _order(earned, hidden, luck)
    return Insight(
        round=round_,
        earned={key: earned[seat] for seat, key in enumerate(SEAT_KEYS) if seat not in hidden},
        positions={SEAT_KEYS[seat]: order.index(seat) + 1 for seat in hidden},
    )


def _order(earned: list[int], hidden: list[int], luck: Luck) -> list[int]:
    """All seats, most earned first. An abstainer stands before or after the rest of its equals, as drawn."""
    if all(earned.count(earned[seat]) == 1 for seat in hidden):
        # However it were drawn, it would come to this; and a stream takes long to make.
        return sorted(range(SEATS), key=earned.__getitem__, reverse=True)
    drawn = luck.shared()
    order: list[int] = []
    for amount in sorted(set(earned), reverse=True):
        equals = [seat for seat in range(SEATS) if earned[seat] == amount]
        abstainers = [seat for seat in equals if seat in hidden]
        shuffle(drawn, abstainers)
        before = [seat for seat in abstainers if drawn.randrange(2)]
        after = [seat for seat in abstainers if seat not in before]
        order += [*before, *(seat for seat in equals if seat not in hidden), *after]
    return order
