"""Blocks that one bot's hold-ups made void again and again: what became of them. Pure data, as the ledger has it.

An attempt is void if a bot lost a window by the machine's fault. If a block was void so often for the same bot, it
is set aside, and the rest goes on. Then it is played again by the host's decision or, where other matches depend
on it, once nothing else is left to play.
"""

from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Annotated, assert_never

from msgspec import Meta, Struct

from arena.schedule import MOST_BLOCKS
from arena.statistics import HoldUp, SeatTimes, is_alone
from referee.host import AttemptResult
from referee.match import HeldUp, Verdict, percentile

MOST_ENTRANTS = 1_000_000
USUAL = 0.5
"""A window that takes longer than so many of a bot's is not usual."""
MOST_EVIDENCE = 20
"""Hold-ups that are listed of one block."""
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
    """True if it says something against the bot: see `arena.statistics.hold_ups`."""

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
    """A text for each of its void attempts."""


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
    """The void one, or the last one that had begun then."""
    block: Annotated[int, Meta(ge=0, le=MOST_BLOCKS)] | None
    """None: it concerns all blocks."""
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
    """Return the one bot that was held up in all of these attempts; None: there is no such bot."""
    entrants = {each.entrant for each in held}
    if len(entrants) == 1:
        return entrants.pop()
    return None


def hold_ups_of(steps: Iterable[StepTaken]) -> list[HoldUp]:
    """Return the void attempts in which the machine held a bot up."""
    found = []
    for taken in steps:
        if isinstance(taken.step, Held) and taken.step.is_bound:
            step = taken.step
            found.append(HoldUp(entrant=step.entrant, present=step.present, alone=step.alone))
    return found


def is_alone_in(result: AttemptResult, longest: int | None) -> bool:
    """Return whether a void attempt says something against the bot that was held up in it.

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
