"""Which bots hold themselves up: compares seats over a tournament's void attempts. Pure.

A machine that is busy holds up whoever needs it. If one bot alone is held up, again and again, and its opponents
in the same matches are not, that is its own doing. The rule is published in docs/tournament.md.

An attempt counts against the bot that was held up only if an opponent was about as exposed, or more: nothing is
learned where a bot that thinks to the last moment meets one that answers at once. So if the machine were at fault,
the one that was held up would be this bot with a chance of at most `CHANCE`. The counts are tested by their
likelihood ratio, which may be looked at after each attempt: it ever reaches `1 / LEVEL` by chance with a
probability of at most `LEVEL` (J. Ville, *Etude critique de la notion de collectif*, 1939).
"""

from collections.abc import Iterable, Sequence
from math import log

from msgspec import Struct

CHANCE = 2 / 3
"""The most that the chance can be by which the machine holds up a bot, and not an opponent about as exposed."""
OWN = 0.98
"""The same chance for a bot that holds itself up."""
LEVEL = 1e-3
"""The most that the chance may be, in one tournament, by which any honest bot is found to hold itself up."""
QUICK = 20
"""A bot that takes at most one part in so many of a window is exposed no more than any other."""


class SeatTimes(Struct, frozen=True, kw_only=True):
    """How long a seat took in the windows of one attempt that it answered, in microseconds."""

    windows: int
    usual: int | None
    """The median; None: it answered none."""
    held_up: bool
    """Whether the machine held it up in some window."""


class HoldUp(Struct, frozen=True, kw_only=True):
    """A void attempt: which bot was held up, who took part, and whether it says something against that bot."""

    entrant: int
    present: tuple[int, ...]
    """All bots of the match, by seat."""
    alone: bool
    """See `is_alone`."""


class Count(Struct, frozen=True, kw_only=True):
    """What the void attempts of a tournament say of one bot."""

    alone: int
    """Attempts in which it was held up, and no opponent that was about as exposed."""
    others: int
    """Attempts at its matches in which the machine held up another bot, and not this one."""

    def shows_own_doing(self, bots: int) -> bool:
        """Return whether it holds itself up. `bots`: how many are compared in the tournament."""
        ratio = self.alone * log(OWN / CHANCE) + self.others * log((1 - OWN) / (1 - CHANCE))
        return ratio >= log(bots / LEVEL)


def is_alone(seats: Sequence[SeatTimes], held: int, allowed: int, longest: int | None) -> bool:
    """Return whether an attempt says something against the bot of a seat that was held up.

    Some opponent must have been about as exposed, and no opponent held up.

    Args:
        seats: of the attempt.
        held: the seat that was held up.
        allowed: the time of the window that it lost, in microseconds.
        longest: the longest that it took for any window in matches that count; None: it has played none.
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


def count_of(hold_ups: Iterable[HoldUp], entrant: int) -> Count:
    """Return what void attempts say of a bot."""
    alone = others = 0
    for each in hold_ups:
        if each.entrant == entrant:
            alone += each.alone
        elif entrant in each.present:
            others += 1
    return Count(alone=alone, others=others)
