"""Test for bots that delay themselves: it compares the seats of a tournament's void attempts. Pure.

A busy machine delays any bot. If one bot is delayed again and again, and its opponents in the same matches are
not, the bot itself is the cause. The rule is published in docs/tournament.md.

An attempt counts against the delayed bot only if an opponent was at least about as exposed: a bot that thinks
to the last moment cannot be compared with one that answers at once. So if the machine is the cause, the delayed
bot is this one with a probability of at most `CHANCE`. The counts are tested by their likelihood ratio, which may
be checked after each attempt: it ever reaches `1 / LEVEL` by chance with a probability of at most `LEVEL`
(J. Ville, *Etude critique de la notion de collectif*, 1939).
"""

from collections.abc import Iterable, Sequence
from math import log

from msgspec import Struct

CHANCE = 2 / 3
"""Maximum probability that the machine delays this bot and not an opponent about as exposed."""
OWN = 0.98
"""The same probability for a bot that delays itself."""
LEVEL = 1e-3
"""Maximum probability, per tournament, of finding that any honest bot delays itself."""
QUICK = 20
"""Divisor of a window's time: a bot that never uses more than this part is no more exposed than others."""


class SeatTimes(Struct, frozen=True, kw_only=True):
    """Times of a seat in one attempt, in microseconds."""

    windows: int
    usual: int | None
    """Median time of answered windows; None if it answered none."""
    held_up: bool
    """True if the seat was delayed in some window."""


class HoldUp(Struct, frozen=True, kw_only=True):
    """A void attempt: the delayed bot, all bots present, and the outcome of `is_alone`."""

    entrant: int
    present: tuple[int, ...]
    """Bots of the match, indexed by seat."""
    alone: bool
    """True if the attempt counts against the bot; see `is_alone`."""


class VoidCounts(Struct, frozen=True, kw_only=True):
    """Counts of a tournament's void attempts for one bot."""

    alone: int
    """Attempts in which the bot was delayed, and no opponent, one of them about as exposed."""
    others: int
    """Attempts at its matches in which another bot was delayed."""

    def shows_own_doing(self, bots: int) -> bool:
        """Return True if the bot delays itself; `bots` is the number of bots compared in the tournament."""
        ratio = self.alone * log(OWN / CHANCE) + self.others * log((1 - OWN) / (1 - CHANCE))
        return ratio >= log(bots / LEVEL)


def is_alone(seats: Sequence[SeatTimes], held: int, allowed: int, longest: int | None) -> bool:
    """Return True if an attempt counts against the bot that was delayed.

    Some opponent must have been about as exposed, and no opponent delayed.

    Args:
        seats: times of the attempt, by seat.
        held: the seat that was delayed.
        allowed: time of the lost window, in microseconds.
        longest: the bot's longest time for a window in matches that count, in microseconds; None if it has none.
    """
    if longest is None:
        return False
    is_quick = longest * QUICK <= allowed
    exposed = False
    for number, other in enumerate(seats):
        if number == held:
            continue
        if other.held_up:
            return False
        if other.usual is not None and other.windows + 1 >= seats[held].windows:
            exposed = exposed or is_quick or other.usual >= longest
    return exposed


def count_of(hold_ups: Iterable[HoldUp], entrant: int) -> VoidCounts:
    """Return a bot's counts over void attempts."""
    alone = others = 0
    for each in hold_ups:
        if each.entrant == entrant:
            alone += each.alone
        elif entrant in each.present:
            others += 1
    return VoidCounts(alone=alone, others=others)
