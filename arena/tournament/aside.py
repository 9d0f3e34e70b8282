"""Blocks that one bot's hold-ups made void again and again: what became of them. Pure data, as the ledger has it.

An attempt is void if a bot lost a window by the machine's fault. If a block was void so often for the same bot, it
is set aside, and the rest goes on. Then it is played again by the host's decision or, where other matches depend
on it, once nothing else is left to play.

A busy machine delays any bot. If one bot is delayed again and again, and its opponents in the same matches are
not, the bot itself is the cause. The rule is published in docs/tournament.md.

An attempt counts against the delayed bot only if an opponent was at least about as exposed: a bot that thinks
to the last moment cannot be compared with one that answers at once. So if the machine is the cause, the delayed
bot is this one with a probability of at most `CHANCE`. The counts are tested by their likelihood ratio, which may
be checked after each attempt: it ever reaches `1 / LEVEL` by chance with a probability of at most `LEVEL`
(J. Ville, *Etude critique de la notion de collectif*, 1939).
"""

from collections.abc import Collection, Iterable, Sequence
from math import log
from operator import attrgetter
from typing import Annotated, assert_never

from msgspec import Meta, Struct

from arena.schedule import MOST_BLOCKS
from referee.host import AttemptResult
from referee.match import HeldUp, Verdict, percentile

MOST_ENTRANTS = 1_000_000
USUAL = 0.5
"""Percentile of a bot's times that counts as its usual time: the median."""
MOST_EVIDENCE = 20
"""Maximum number of hold-ups that are listed per block."""
CHANCE = 2 / 3
"""Maximum probability that the machine delays this bot and not an opponent about as exposed."""
OWN = 0.98
"""The same probability for a bot that delays itself."""
LEVEL = 1e-3
"""Maximum probability, per tournament, of finding that any honest bot delays itself."""
QUICK = 20
"""A bot that never uses more than 1 / QUICK of a window's time is no more exposed than others."""
Entrant = Annotated[int, Meta(ge=0, le=MOST_ENTRANTS)]


class Held(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="held-up"):
    """An attempt is void because a bot lost a window."""

    entrant: Entrant
    held_up: HeldUp
    redeals: bool
    """True if it made its block void, which is played from another deal since; else another attempt had before."""
    present: tuple[Entrant, ...] = ()
    """All bots of the match, by seat."""
    alone: bool = False
    """True if it says something against the bot: see `arena.tournament.aside`."""

    @property
    def text(self) -> str:
        """The evidence, in words."""
        held = self.held_up
        window = "its start"
        if held.window is not None:
            window = f"window {held.window} of seat {held.seat}"
        return f"{window}: {held.evidence}"

    @property
    def is_bound(self) -> bool:
        """True if the machine held the bot up; else the referee was late, which is no bot's doing."""
        return self.held_up.verdict is Verdict.HOST


class DealtAnew(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="dealt-anew"):
    """An attempt is void for another reason, and its block is dealt anew: a bot may remember this deal."""


class SetAside(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="set-aside"):
    """A block was void so often for one bot that the host is to decide."""

    entrant: Entrant
    evidence: Annotated[tuple[Annotated[str, Meta(max_length=1_000)], ...], Meta(max_length=MOST_EVIDENCE)]
    """A text for each void attempt of the block."""


class Again(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="again"):
    """A block that was set aside, or left out, is to be played again."""

    unexcused: tuple[Entrant, ...] = ()
    """The bots that a verdict `host` does not excuse in it."""
    by_host: bool = True
    """True if the host decided so; else the arena did, because other matches depend on it."""


class LeftOut(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="left-out"):
    """The host decided that a block is not played."""


class OwnDoing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="own-doing"):
    """A bot was held up alone so often that from now on a verdict `host` excuses it in no block."""

    entrant: Entrant
    evidence: Annotated[str, Meta(max_length=1_000)]


Step = Held | DealtAnew | SetAside | Again | LeftOut | OwnDoing


class StepTaken(Struct, frozen=True, kw_only=True):
    """A step, as the ledger has it."""

    attempt: Annotated[int, Meta(ge=0)]
    """The attempt that is void, or the last one that had begun when the step was taken."""
    block: Annotated[int, Meta(ge=0, le=MOST_BLOCKS)] | None
    """The block that the step concerns; None: all blocks."""
    step: Step


class BlockSetAside(Struct, frozen=True, kw_only=True):
    """A block that was set aside, and what became of it."""

    block: int
    set_aside: SetAside
    decision: Again | LeftOut | None
    """None: the host has not decided."""


class Asides(Struct, frozen=True, kw_only=True):
    """All that was set aside in a tournament, and the bots that are not excused any more."""

    blocks: tuple[BlockSetAside, ...] = ()
    """The blocks, in schedule order."""
    own_doing: tuple[OwnDoing, ...] = ()

    @classmethod
    def of(cls, steps: Iterable[StepTaken]) -> "Asides":
        """Return where all steps lead, given in order."""
        blocks: dict[int, BlockSetAside] = {}
        own_doing: dict[int, OwnDoing] = {}
        for taken in steps:
            block = taken.block
            match taken.step:
                case OwnDoing() as step:
                    own_doing.setdefault(step.entrant, step)
                case SetAside() as step if block is not None:
                    blocks[block] = BlockSetAside(block=block, set_aside=step, decision=None)
                case Again() | LeftOut() as step if block in blocks:
                    blocks[block] = BlockSetAside(block=block, set_aside=blocks[block].set_aside, decision=step)
                case Held() | DealtAnew() | SetAside() | Again() | LeftOut():
                    pass
                case _ as unreachable:
                    assert_never(unreachable)
        in_order = sorted(blocks.values(), key=attrgetter("block"))
        return cls(blocks=tuple(in_order), own_doing=tuple(own_doing.values()))

    @property
    def undecided(self) -> tuple[BlockSetAside, ...]:
        """The blocks that wait for the host."""
        return tuple(each for each in self.blocks if each.decision is None)

    @property
    def left_out(self) -> tuple[BlockSetAside, ...]:
        """The blocks that the host left out."""
        return tuple(each for each in self.blocks if isinstance(each.decision, LeftOut))

    def unexcused(self, block: int) -> frozenset[int]:
        """Return the entrants that a verdict `host` does not excuse in a block."""
        found = set(map(attrgetter("entrant"), self.own_doing))
        for each in self.blocks:
            if each.block == block and isinstance(each.decision, Again):
                found.update(each.decision.unexcused)
        return frozenset(found)


def deal_of(steps: Iterable[StepTaken], block: int) -> int:
    """Return how often a block has been dealt anew."""
    deal = 0
    for taken in steps:
        is_redeal = isinstance(taken.step, DealtAnew) or (isinstance(taken.step, Held) and taken.step.redeals)
        deal += is_redeal and taken.block == block
    return deal


def held_since(steps: Iterable[StepTaken], block: int) -> list[Held]:
    """Return the hold-ups by the machine that made a block void since it was begun, or set aside the last time."""
    found: list[Held] = []
    for taken in steps:
        if taken.block != block:
            continue
        if isinstance(taken.step, Held) and taken.step.redeals and taken.step.is_bound:
            found.append(taken.step)
        elif isinstance(taken.step, SetAside):
            found.clear()
    return found


def bound_to(held: Collection[Held]) -> int | None:
    """Return the bot that was held up in all of these attempts, or None if they concern several bots."""
    entrants = {each.entrant for each in held}
    if len(entrants) == 1:
        return entrants.pop()
    return None


class SeatTimes(Struct, frozen=True, kw_only=True):
    """Times of a seat in one attempt, in microseconds."""

    windows: int
    usual: int | None
    """Median time of answered windows; None if it answered none."""
    held_up: bool
    """True if the seat was delayed in some window."""


class VoidCounts(Struct, frozen=True, kw_only=True):
    """Counts of a tournament's void attempts for one bot."""

    alone: int
    """Attempts in which only the bot was delayed, although an opponent was about as exposed."""
    others: int
    """Attempts at the bot's matches in which another bot was delayed."""

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


def count_of(hold_ups: Iterable[Held], entrant: int) -> VoidCounts:
    """Return a bot's counts over void attempts in which the machine held a bot up."""
    alone = others = 0
    for each in hold_ups:
        if each.entrant == entrant:
            alone += each.alone
        elif entrant in each.present:
            others += 1
    return VoidCounts(alone=alone, others=others)


def hold_ups_of(steps: Iterable[StepTaken]) -> list[Held]:
    """Return the void attempts in which the machine held a bot up."""
    held = [taken.step for taken in steps if isinstance(taken.step, Held)]
    return [each for each in held if each.is_bound]


def is_alone_in(result: AttemptResult, longest: int | None) -> bool:
    """Return whether a void attempt is evidence against the bot that was held up in it.

    `longest`: see `is_alone`.
    """
    held_up = result.held_up
    if held_up is None or len(result.reports) != len(result.windows):
        return False
    seats = []
    for seat, report in enumerate(result.reports):
        verdicts = result.verdicts[seat] if result.verdicts else {}
        seats.append(
            SeatTimes(
                windows=sum(report.spread.values()),
                usual=percentile(report.spread, USUAL),
                held_up=seat == held_up.seat or Verdict.HOST.value in verdicts,
            )
        )
    return is_alone(seats, held_up.seat, held_up.allowed, longest)
