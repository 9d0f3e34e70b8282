"""Whose fault it is that a window took the default, or cost reserve: the bot's, the referee's, the host's. Pure.

The rule is published in docs/timing.md. It reads only what stands in the transcript, so anybody can judge again.
"""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

ENOUGH = 4
"""If nobody can say how much more time a bot would have needed, it is not at fault if at least one part in so many
of its time was taken from it."""

NAP = 5_000
"""Microseconds for which a bot may do nothing while it owes an answer: messages take some time to be carried."""


class Verdict(StrEnum):
    """Who is at fault."""

    BOT = "bot"
    REFEREE = "referee"
    HOST = "host"
    """The machine: it did not let the bot run although it wanted to."""


class Evidence(Struct, frozen=True, kw_only=True):
    """What is known of one seat's part in a window that took the default or used reserve. Microseconds."""

    gone: bool
    """Its bot's part in the match was over."""
    own: bool = False
    """It had nothing left of its budget; or all that is charged is processor time, which it used itself; or it
    flooded the referee in this window: see `records.Used`."""
    time: int
    reserve: int
    by_default: bool
    late_by: int | None
    """By default: how long after the end its submission for this window arrived; None: none did, or not yet."""
    behind: int
    """The longest that the referee's loop was busy at a stretch in the window, or how late it woke at its end."""
    withheld: int
    """How long the bot was ready to run, and others were running instead: see `records.Used`."""
    slept: int | UnsetType = UNSET
    """How long the bot's main thread neither ran nor waited for a processor before it answered; left out: nobody
    can say."""
    after: int | UnsetType = UNSET
    """For how long after the window's end that, and `withheld`, were looked at; left out with `slept`."""
    rested: int | UnsetType = UNSET
    """For how long it was frozen after the window's end, because it owed nothing, until `slept` was looked at;
    left out: it was not. `after` leaves it out, `late_by` does not."""
    stopped: int | UnsetType = UNSET
    """How long the referee's process was stopped in the window, or the machine suspended; left out: it was not."""
    hogs: tuple[int, ...] | UnsetType = UNSET
    """The other seats whose bots brought about most of `behind` by what they sent in vain; left out: none did."""


def judge(evidence: Evidence) -> Verdict:
    """The verdict.

    What the bot was short of is compared with what was taken from it. Short of: by default, how late it was; else
    the reserve it used; and if it never came, one part in ENOUGH of its time stands for it. An arrival is stamped
    with the last moment at which the referee's loop had looked and it was not there, so no stretch in which the
    loop was busy can have cost anything where there was one; where there was none, nobody knows. A bot's own
    processor time, and being throttled to its bounds, are its own business. So is its sleep: a bot that slept for
    as long as it was short of, or for one part in ENOUGH of its time, could have been in time.

    A stop of the referee costs nothing by itself, for its clock stands meanwhile. But a bot that was stopped with
    it may have gone on a little later, and slowly.
    """
    if evidence.gone or evidence.own:
        return Verdict.BOT
    if not evidence.by_default:
        short, behind = evidence.reserve, 0
    elif evidence.late_by is not None:
        # Of a bot that answered later than it was looked at, only that counts as late: it was still at it then.
        short, behind = evidence.late_by, 0
        if evidence.after is not UNSET:
            looked_at = max(1, evidence.after)
            if evidence.rested is not UNSET:
                # It could not go on. If it was frozen until it was looked at, nobody knows what it still needed.
                short = max(1, short - evidence.rested)
                looked_at = max(looked_at, evidence.time // ENOUGH)
            short = min(short, looked_at)
    else:
        short, behind = max(1, evidence.time // ENOUGH), evidence.behind
    if evidence.stopped is not UNSET:
        behind += evidence.stopped
    if short <= behind:
        return Verdict.REFEREE
    if evidence.slept is not UNSET and evidence.slept >= min(short, evidence.time // ENOUGH) + NAP:
        return Verdict.BOT
    return Verdict.HOST if short <= behind + evidence.withheld else Verdict.BOT
