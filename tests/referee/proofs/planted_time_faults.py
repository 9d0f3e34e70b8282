"""Mistakes in the rules of time, each planted in the referee alone: the fuzzer must find every one."""

from collections.abc import Callable
from typing import Any

import pytest
import trio

from protocol.messages import Accepted
from protocol.refusals import Refusal
from referee.host.host import Alarm, Host
from referee.match.flow import Flow, MatchPauses
from referee.match.match import Match
from referee.match.records import Handed, Woke
from referee.match.seat import Outbox, Seat
from referee.match.window import ClockStage, OpenWindow, SeatClock, SeatWindow, Stopwatch

Plant = Callable[[pytest.MonkeyPatch], None]


def off_by_one_at_the_deadline(patch: pytest.MonkeyPatch) -> None:
    def stage(clock: SeatClock, reading: int) -> ClockStage:
        if reading <= clock.main_ends:
            return ClockStage.MAIN
        return ClockStage.RESERVE if reading < clock.deadline else ClockStage.OVER

    patch.setattr(SeatClock, "stage", stage)


def off_by_one_at_the_end_of_the_reserve(patch: pytest.MonkeyPatch) -> None:
    def stage(clock: SeatClock, reading: int) -> ClockStage:
        if reading < clock.main_ends:
            return ClockStage.MAIN
        return ClockStage.RESERVE if reading < clock.deadline - 1 else ClockStage.OVER

    patch.setattr(SeatClock, "stage", stage)


def poll_timeout_restarted_by_every_message(patch: pytest.MonkeyPatch) -> None:
    waits: dict[Alarm, tuple[float, float]] = {}

    def set_alarm(alarm: Alarm, time: float) -> None:
        now = trio.current_time()
        due, wait = waits.get(alarm, (None, 0.0))
        waits[alarm] = (time, time - now) if due != time else (time, wait)
        alarm._time = alarm._scope.deadline = now + waits[alarm][1]

    patch.setattr(Alarm, "set", set_alarm)


def stale_reply_accepted(patch: pytest.MonkeyPatch) -> None:
    right = Match._seat_window

    def part(match: Match, seat: Seat, window: int, reading: int) -> SeatWindow | None:
        now = match._flow.seat_window(seat.number)
        return right(match, seat, window if now is None else now.number, reading)

    patch.setattr(Match, "_seat_window", part)


def reserve_charged_for_the_referees_lateness(patch: pytest.MonkeyPatch) -> None:
    right = SeatWindow.pass_time

    def pass_time(part: SeatWindow, reading: int) -> None:
        was_settled = part.settled
        right(part, reading)
        if part.settled and not was_settled and part.clock is not None:
            part.reserve_used = part.clock.reserve_used(part.clock.used(reading))

    patch.setattr(SeatWindow, "pass_time", pass_time)


def pause_that_leaks_time(patch: pytest.MonkeyPatch) -> None:
    right = Stopwatch.resume
    patch.setattr(Stopwatch, "resume", lambda watch, at: right(watch, at - 1))


def pause_whose_beginning_is_charged_to_what_arrives_in_it(patch: pytest.MonkeyPatch) -> None:
    right = Stopwatch.reading

    def reading(watch: Stopwatch, at: int) -> int:
        paused_at = watch._paused_at
        return right(watch, at) + (0 if paused_at is None else max(0, at - paused_at))

    patch.setattr(Stopwatch, "reading", reading)


def first_in_reserve_not_taken_at_once(patch: pytest.MonkeyPatch) -> None:
    right = SeatWindow.pass_time

    def pass_time(part: SeatWindow, reading: int) -> None:
        clock = part.clock
        if clock and part.arrived is not None and clock.main_ends <= part.arrived and reading < clock.deadline:
            return
        right(part, reading)

    patch.setattr(SeatWindow, "pass_time", pass_time)


def what_arrived_before_the_deadline_judged_by_when_it_was_read(patch: pytest.MonkeyPatch) -> None:
    def micros(host: Host, time: float) -> int:
        return round((trio.current_time() - host._zero) * 1_000_000)

    patch.setattr(Host, "_micros", micros)


def deadline_acted_on_before_what_arrived_was_heard(patch: pytest.MonkeyPatch) -> None:
    right = Host._drain

    def drain(host: Host, match: Match) -> None:
        due = match.next_deadline()
        if due is not None:
            match.apply(Woke(at=host._micros(trio.current_time()), deadline=due))
        right(host, match)

    patch.setattr(Host, "_drain", drain)


def window_closed_in_a_pause(patch: pytest.MonkeyPatch) -> None:
    right = Flow.advance

    def advance(flow: Flow) -> bool:
        watch = flow.stopwatch
        paused_at, watch._paused_at = watch._paused_at, None
        try:
            return right(flow)
        finally:
            watch._paused_at = paused_at

    patch.setattr(Flow, "advance", advance)


def pause_that_changes_hands_untold(patch: pytest.MonkeyPatch) -> None:
    right = MatchPauses._begin
    patch.setattr(
        MatchPauses,
        "_begin",
        lambda pauses, reason: None if pauses._flow.stopwatch.paused else right(pauses, reason),
    )


def undo_that_withdraws_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SeatWindow, "undo", lambda _: None)


def final_submission_replaced(patch: pytest.MonkeyPatch) -> None:
    def refusal(part: SeatWindow, reading: int) -> Refusal | None:
        if part.clock is None:
            return Refusal.UNKNOWN_WINDOW
        part.pass_time(reading)
        return Refusal.LATE if part.settled and not part.final else None

    patch.setattr(SeatWindow, "refusal", refusal)


def fixed_pacing_that_closes_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(OpenWindow, "_earliest_close", lambda _: 0)


def clock_started_anew_by_a_reconnect(patch: pytest.MonkeyPatch) -> None:
    right = Flow.opened

    def opened(flow: Flow, seat: Seat) -> Any:
        part = flow.seat_window(seat.number)
        if part is not None and part.clock is not None and flow._open is not None:
            part.clock = flow._clock(flow._open.window, seat, part, flow._outbox.now)
        return right(flow, seat)

    patch.setattr(Flow, "opened", opened)


def reserve_not_kept_from_window_to_window(patch: pytest.MonkeyPatch) -> None:
    right = Flow._close

    def close(flow: Flow, opened: OpenWindow) -> None:
        right(flow, opened)
        for number in opened.seat_windows:
            flow._seats[number].reserve = flow._terms.reserve_ms * 1_000

    patch.setattr(Flow, "_close", close)


def others_told_what_was_accepted(patch: pytest.MonkeyPatch) -> None:
    right = Outbox.send

    def send(outbox: Outbox, seat: Seat, message: Any, *, timed: bool = False) -> None:
        to = outbox._seats if isinstance(message, Accepted) else [seat]
        for each in to:
            right(outbox, each, message, timed=timed)

    patch.setattr(Outbox, "send", send)


def bots_clock_under_restart_begun_when_the_last_window_was_answered(patch: pytest.MonkeyPatch) -> None:
    """As it was here once, until the fuzzer found it: the referee's lateness was the bot's.

    It takes some 10,000 windows to be found, so that a script has to do.
    """

    def nobody_handed(host: Host, seat: int) -> None:
        host._inputs.append(lambda _: Handed(at=0, seat=seat))

    patch.setattr(Host, "nobody_handed", nobody_handed)


FAULTS: tuple[Plant, ...] = (
    off_by_one_at_the_end_of_the_reserve,
    poll_timeout_restarted_by_every_message,
    stale_reply_accepted,
    pause_that_leaks_time,
    what_arrived_before_the_deadline_judged_by_when_it_was_read,
    deadline_acted_on_before_what_arrived_was_heard,
    undo_that_withdraws_nothing,
    final_submission_replaced,
    fixed_pacing_that_closes_early,
    clock_started_anew_by_a_reconnect,
    reserve_not_kept_from_window_to_window,
    others_told_what_was_accepted,
    window_closed_in_a_pause,
    reserve_charged_for_the_referees_lateness,
    pause_that_changes_hands_untold,
    pause_whose_beginning_is_charged_to_what_arrives_in_it,
    first_in_reserve_not_taken_at_once,
    off_by_one_at_the_deadline,
)
"""Those that take the longest to find come last."""
