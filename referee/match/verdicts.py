"""Verdicts on windows that took the default or used the reserve: the bot's fault, the referee's or the host's.

Pure.

The rule is published in docs/timing.md. It uses only data of the transcript, so that everyone can verify it.
"""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

ENOUGH = 4
"""If it is unknown how much more time a bot would have needed, it is not at fault if at least one part in this
many of its time was withheld from it."""

NAP = 5_000
"""Microseconds for which a bot may do nothing while it owes an answer, since messages take time to be carried."""


class Verdict(StrEnum):
    """The party at fault."""

    BOT = "bot"
    REFEREE = "referee"
    HOST = "host"
    """The machine, which did not run the bot although it was ready."""


class Evidence(Struct, frozen=True, kw_only=True):
    """The facts about a seat's part in a window that took the default or used the reserve, in microseconds."""

    gone: bool
    """Whether its bot had left the match."""
    own: bool = False
    """Whether its bot is at fault in any case: it had no budget left, or used all that is charged as processor
    time, or flooded the referee in this window; see `records.Used`."""
    time: int
    reserve: int
    by_default: bool
    late_by: int | None
    """Time from the end to the arrival of its late submission, if the default was used; None: none arrived so
    far."""
    behind: int
    """The longest event-loop stall in the window, or the referee's lateness at its end."""
    withheld: int
    """Time for which the bot was ready to run while others ran; see `records.Used`."""
    slept: int | UnsetType = UNSET
    """Time for which the bot's main thread neither ran nor waited for a processor before it answered. Absent:
    unknown."""
    after: int | UnsetType = UNSET
    """Time after the window's end that `slept` and `withheld` include. Absent with `slept`."""
    rested: int | UnsetType = UNSET
    """Time for which the bot was frozen between the window's end and the measurement, because it owed nothing.
    Absent: none. `after` excludes it, `late_by` does not."""
    stopped: int | UnsetType = UNSET
    """Time for which the referee's process was stopped in the window, or the machine suspended. Absent: none."""
    hogs: tuple[int, ...] | UnsetType = UNSET
    """The other seats whose rejected messages caused most of `behind`. Absent: there are none."""


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict.

    The time that the bot lacked is compared with the time withheld from it. It lacked its delay if the default was
    used, the used reserve if it was not, and one part in ENOUGH of its time if no answer arrived. An arrival is
    stamped with the last time at which the referee's loop had polled without finding it, so that stalls cannot
    have cost anything if there was an arrival; without one that is unknown. A bot is responsible for its own
    processor time, for throttling to its limits, and for its sleep: a bot that slept for as long as it lacked, or
    for one part in ENOUGH of its time, could have been in time.

    A stop of the referee costs nothing by itself, because its clock pauses. But a bot that was stopped with it may
    have continued a little later, and slowly.
    """
    if evidence.gone or evidence.own:
        return Verdict.BOT
    if not evidence.by_default:
        short, behind = evidence.reserve, 0
    elif evidence.late_by is not None:
        # If a bot answered after the measurement, only the time up to that counts: it was still working then.
        short, behind = evidence.late_by, 0
        if evidence.after is not UNSET:
            looked_at = max(1, evidence.after)
            if evidence.rested is not UNSET:
                # The bot was frozen. If it was so until the measurement, the time that it still needed is unknown.
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
