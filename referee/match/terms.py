"""The terms that a host sets for a match: the times of the `[clock]` table, and the policy for faults. Pure.

The `[clock]` table of a host's file replaces all times of the variant's rules: times that it leaves out do not
apply. `window` implements the times; pauses and pacing belong to the policy.
"""

from collections.abc import Collection
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct
from msgspec.structs import replace

from protocol.messages import ClockTerms
from referee.match.records import BotIdentity
from referee.rules import AnyGame, TimeTerms

LONGEST_MS = 10**12
"""The longest time in milliseconds, thirty years. Sums of a match's times remain exact in every JSON reader."""
WALL_FACTOR = 10
"""The default `wall_factor`: a bot that gets less than a tenth of a core is charged for more than it used."""

MOST_WALL_FACTOR = 1_000

Some = Annotated[int, Meta(ge=1, le=LONGEST_MS)]
AnyOrNone = Annotated[int, Meta(ge=0, le=LONGEST_MS)]
MOST = 2**63 - 1
"""A bound that is as good as none, and that every parser accepts."""
NotNegative = Annotated[int, Meta(ge=0, le=MOST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)]


class ClockTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of `[clock]`. Times are in milliseconds."""

    kind: Literal["wall", "cpu"] = "wall"
    """The time that counts: wall time, or the bot's own processor time."""
    wall_factor: Annotated[int, Meta(ge=1, le=MOST_WALL_FACTOR)] | None = None
    """Milliseconds of wall time that count as at least one on a `cpu` clock; None: ten."""
    main_ms: AnyOrNone | dict[str, AnyOrNone] | None = None
    """Main time of every window, or of each window by its name."""
    reserve_ms: AnyOrNone | None = None
    """The time that each seat may use beyond main time, over the match. None: none."""
    budget_ms: Some | None = None
    """Each seat's time over the match, for windows without main time. It replaces main time and reserve."""
    increment_ms: AnyOrNone = 0
    """The time added to a seat's reserve or budget after each window of its own."""
    delay: Literal["simple", "bronstein"] | None = None
    """`simple`: `delay_ms` passes before the budget runs. `bronstein`: it is refunded as far as it was used. None:
    simple."""
    delay_ms: Some | None = None


class BadClockError(ValueError):
    """A table describes no valid clock. `field` names the field in a file with `[clock]` and `[policy]`."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field
        self.what = what


def table_of(time: TimeTerms) -> ClockTable:
    """Return a variant's published times as a table."""
    return ClockTable(main_ms=time.main_ms, reserve_ms=time.reserve_ms)


def terms_of(table: ClockTable, time: TimeTerms) -> ClockTerms:
    """Return the terms of the clock that a table describes. The variant's times name the windows.

    Raises:
        BadClockError: its fields contradict one another, or the windows.
    """
    _check_fields(table)
    main = _main(table, time)
    bank = table.budget_ms or table.reserve_ms or 0
    for window, main_ms in main.items():
        if main_ms + bank == 0:
            where = "clock.main_ms"
            if isinstance(table.main_ms, dict):
                where += f".{window}"
            raise BadClockError(where, f"no time at all for {window}: neither main time nor a reserve")
    terms = ClockTerms(main_ms=main, reserve_ms=bank, increment_ms=table.increment_ms or UNSET)
    if table.kind == "cpu":
        terms = replace(terms, kind="cpu", wall_factor=table.wall_factor or WALL_FACTOR)
    if table.delay == "bronstein":
        terms = replace(terms, bronstein_ms=table.delay_ms or UNSET)
    return terms


def _main(table: ClockTable, time: TimeTerms) -> dict[str, int]:
    given = table.main_ms
    if given is None and table.delay == "bronstein":
        given = 0
    elif given is None:
        given = table.delay_ms or 0
    if isinstance(given, int):
        return dict.fromkeys(time.main_ms, given)
    windows = ", ".join(time.main_ms)
    for window in given:
        if window not in time.main_ms:
            raise BadClockError(f"clock.main_ms.{window}", f"there is no such window; there are {windows}")
    for window in time.main_ms:
        if window not in given:
            raise BadClockError("clock.main_ms", f"{window} is missing; the windows are {windows}")
    return {window: given[window] for window in time.main_ms}


def _check_fields(table: ClockTable) -> None:
    if table.main_ms is None and table.budget_ms is None:
        raise BadClockError("clock", "needs main_ms, the time of a window, or budget_ms, the time of a match")
    if table.budget_ms is not None:
        for field in ("main_ms", "reserve_ms"):
            if getattr(table, field) is not None:
                raise BadClockError(f"clock.{field}", "budget_ms stands in place of main time and reserve")
    if table.wall_factor is not None and table.kind == "wall":
        raise BadClockError("clock.wall_factor", 'is for kind = "cpu"')
    if table.delay is not None and table.delay_ms is None:
        raise BadClockError("clock.delay", "how long? delay_ms is missing")
    if table.delay_ms is None or table.budget_ms is not None:
        return
    if table.delay != "bronstein":
        raise BadClockError("clock.delay_ms", "main_ms is such a delay already; a simple one is for budget_ms")
    if not table.reserve_ms:
        raise BadClockError("clock.delay_ms", "there is no reserve to give it back to")


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The treatment of time and faults in a match."""

    main_ms: Some | None = None
    """Main time of every window; None: that of the variant's rules."""
    reserve_ms: AnyOrNone | None = None
    """Reserve of each seat per match; None: that of the variant's rules."""
    startup_ms: Some = 10_000
    """The most time from a bot's start to its `hello`. It is not charged to the bot's clock."""
    pauses: AnyOrNone = 0
    pause_ms: AnyOrNone = 10_000
    pacing: Literal["prompt", "fixed"] = "prompt"
    ponder: bool = True
    """True if a bot may think while it owes nothing. If False, it is frozen then, and during pauses."""
    processes: Literal["fresh", "kept"] = "fresh"
    """`kept`: a bot that supports it (`keeps` in its bot.toml) keeps its process for the next matches of its
    tournament. `fresh`: it is started for each."""
    fault: Literal["default", "forfeit", "restart"] = "default"
    """The cost of a fault: defaults in all further windows, the match, or a restart."""
    unfair: Literal["void", "note"] = "void"
    """The treatment of a match in which a default was used by a fault of the referee or the machine."""
    restarts: NotNegative = 3
    """The number of restarts of a seat with `restart`, after which `default` applies."""
    messages_per_window: Positive = 100
    """A bot's messages from one window to the next. Further ones are refused as a flood."""
    bytes_per_window: Positive = 262_144
    """Bytes of these messages. Further ones are refused as a flood too. They suffice for a hundred notes, four of
    the longest frames, or some thirty times the longest legal action of any game."""
    transcript_bytes_per_match: Positive = 3 * 1024 * 1024
    """Bytes that a bot may add to the match's transcript. Further messages are refused. A transcript of 13 seats
    that use all of it can still be shown. They suffice for a note of 2,000 characters in each of 1,000 windows."""
    refusals_per_match: Positive = 1_000
    """Refused messages per match. With one more, the bot is disconnected."""


class MatchTerms(Struct, frozen=True, kw_only=True):
    """The terms of one match."""

    match: str
    """The match's name, unique in its tournament."""
    clock: ClockTerms
    policy: Policy
    bots: tuple[BotIdentity, ...]
    """The bots, indexed by seat."""
    measured: bool = False
    """True if a `Used` follows each seat window that is over."""
    unexcused: Collection[int] = ()
    """The seats whose bots stalled alone so often that it counts as their own doing: a verdict `host` on their
    windows does not void the match."""


def clock_terms(game: AnyGame, variant: str, policy: Policy, table: ClockTable | None = None) -> ClockTerms:
    """Return the terms of a match's clock: those of the table, or the variant's, as changed by the policy.

    Raises:
        BadClockError: the table describes no clock, or contradicts the policy.
    """
    time = game.variant(variant).time
    if table is None:
        terms = ClockTerms(main_ms=time.main_ms, reserve_ms=time.reserve_ms)
        if policy.main_ms is not None:
            terms = replace(terms, main_ms=dict.fromkeys(time.main_ms, policy.main_ms))
        if policy.reserve_ms is not None:
            terms = replace(terms, reserve_ms=policy.reserve_ms)
    else:
        for field in ("main_ms", "reserve_ms"):
            if getattr(policy, field) is not None:
                raise BadClockError(f"policy.{field}", "the [clock] table says the times")
        terms = terms_of(table, time)
        if policy.pacing == "fixed" and not all(terms.main_ms.values()):
            raise BadClockError("policy.pacing", "a window without main time has no fixed length")
    return replace(terms, pauses=policy.pauses, pause_ms=policy.pause_ms, pacing=policy.pacing)
