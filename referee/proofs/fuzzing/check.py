"""A comparison of the referee's actions with the rules of time, up to the first difference."""

from referee.match import SeatTime
from referee.proofs.fuzzing import stage
from referee.proofs.fuzzing.attendance import PER_MS, attendance, pauses, stalls
from referee.proofs.fuzzing.check_messages import Wrong, check_messages, closings, expect
from referee.proofs.fuzzing.history import History, Spoken, Window
from referee.proofs.fuzzing.rules_of_time import FOREVER, Clocks, Part, judge, left_after
from referee.proofs.fuzzing.script import Asks, Babbles, Leaves, Notes, Pauses, Resumes, Returns, Script, Stalls
from referee.proofs.fuzzing.trace import Did, Trace


def check(script: Script, trace: Trace) -> str | None:
    """Return the first violation in this match as one line; None: there is none."""
    if trace.failure is not None:
        return f"the referee failed: {trace.failure}"
    if trace.ended is None:
        return "the match was not over long after all time had run out"
    try:
        check_messages(_Windows(script, trace).checked())
    except Wrong as wrong:
        return str(wrong)
    return None


class _Windows:
    """The windows of a match, checked in order: each opens when the one before it has closed."""

    def __init__(self, script: Script, trace: Trace) -> None:
        self.script = script
        self.trace = trace
        asleep = Clocks([], stalls(trace.did))
        self.there = attendance(script, trace.did, asleep)
        spans, granted = pauses(script, trace.did, self.there, asleep)
        self.clocks = Clocks(spans, asleep.stalls)
        self.main = script.main_ms * PER_MS
        self.reserve = [script.reserve_ms * PER_MS] * script.seats
        self.closings = closings(trace)
        self.spoken, out_of_turn = _sorted(trace.did, script.seats)
        self.history = History(
            script, trace, there=self.there, clocks=self.clocks, granted=granted, out_of_turn=out_of_turn
        )

    def checked(self) -> History:
        """Return the expected history. Raise Wrong at the first difference from the actual one."""
        script, trace = self.script, self.trace
        expect(len(script.windows), len(trace.windows), "how many windows there were")
        opens = self.there.begins
        for number, planned in enumerate(script.windows):
            where, record = f"window {number}", trace.windows[number]
            expect(planned.seats, tuple(part.seat for part in record.seats), f"{where}: its seats")
            spoken = {seat: self._spoken(seat, opens) for seat in planned.seats}
            reserve = {seat: self.reserve[seat] for seat in planned.seats}
            parts = {seat: self._part(seat, opens, spoken[seat]) for seat in planned.seats}
            for timed in record.seats:
                self._seat(f"{where}, seat {timed.seat}", opens, timed, parts[timed.seat])
            # If all its bots are out, no bot receives it, and it runs from the close of the one before.
            began = max(timed.opened for timed in record.seats)
            allowed = self._may_close(opens, began, parts, spoken)
            closes = self._closes(where, record.at, planned.seats, allowed)
            if not self.clocks.stalls:
                expect(0, record.lateness, f"{where}: lateness")
            for seat in planned.seats:
                window = Window(planned.kind, opens, closes, reserve[seat], parts[seat], spoken[seat])
                self.history.windows[seat].append(window)
            opens = closes
        expect(opens, trace.ended, "the match's end")
        return self.history

    def _spoken(self, seat: int, opens: int) -> Spoken:
        """Return the seat's messages about its next window after it was opened, with their indices in `did`."""
        number = len(self.history.windows[seat])
        said = self.spoken.get((seat, number), [])
        gone = self.there.gone[seat]
        return [
            (place, each)
            for place, each in said
            if (each.told > opens or each.opened > number) and each.told <= gone
        ]

    def _part(self, seat: int, opens: int, spoken: Spoken) -> Part:
        reading = self.clocks.reading
        gone = self.there.gone[seat]
        sayings = [(reading(each.at), each.act) for _, each in spoken]
        ended = None if gone == FOREVER else reading(gone)
        return judge(reading(opens), self.main, self.reserve[seat], sayings, ended)  # type: ignore[arg-type]

    def _seat(self, where: str, opens: int, timed: SeatTime, part: Part) -> None:
        opened = self.clocks.reading(opens)
        all_ends = opened + self.main + self.reserve[timed.seat]
        self.reserve[timed.seat] = left_after(
            self.reserve[timed.seat],
            part.from_reserve,
            self.script.bronstein_ms * PER_MS,
            self.script.increment_ms * PER_MS,
        )
        if opens < self.there.gone[timed.seat] and all_ends > opened:  # Otherwise the seat has no running clock.
            expect((opened, all_ends), (timed.opened, timed.deadline), f"{where}: opened and deadline")
        expect(stage.taken(self.script, part.choice), timed.taken, f"{where}: taken")
        expect(part.arrived, timed.arrived, f"{where}: arrived")
        expect(part.choice is None, timed.by_default, f"{where}: by default")
        expect(part.charged // PER_MS, timed.charged_ms, f"{where}: charged_ms")
        expect(self.reserve[timed.seat] // PER_MS, timed.reserve_ms, f"{where}: reserve_ms")

    def _may_close(self, opens: int, began: int, parts: dict[int, Part], spoken: dict[int, Spoken]) -> set[int]:
        """Return the moments at which the window may close: one, or several if two things happen at once."""
        due = [self._settled(part, opens, seat, spoken[seat]) for seat, part in parts.items()]
        if self.script.pacing == "fixed":
            due.append(self.clocks.awake(self.clocks.moment(began + self.main)))
        earliest = max(opens, *(min(moments) for moments in due))
        latest = max(opens, *(max(moments) for moments in due))
        return self.clocks.running(earliest) | self.clocks.running(latest)

    def _settled(self, part: Part, opens: int, seat: int, spoken: Spoken) -> set[int]:
        if part.by is not None:
            return self.clocks.awake(spoken[part.by][1].told)
        if part.gone:
            return {max(opens, self.there.gone[seat])}
        return self.clocks.awake(self.clocks.moment(part.settled))

    def _closes(self, where: str, recorded: int, seats: tuple[int, ...], allowed: set[int]) -> int:
        """Return the moment at which the bots received the close, or the recorded one if no bot was there."""
        numbers = [(seat, len(self.history.windows[seat])) for seat in seats]
        heard = {self.closings[number] for number in numbers if number in self.closings}
        heard = heard or {min((at for at in allowed if at >= recorded), default=recorded)}
        if len(heard) > 1 or not heard <= allowed:
            raise Wrong(f"{where}: should close at {sorted(allowed)}, closes at {sorted(heard)}")
        return heard.pop()


def _sorted(did: tuple[Did, ...], seats: int) -> tuple[dict[tuple[int, int], Spoken], set[int]]:
    """Return the messages about windows, keyed by seat and window, and the indices of those before a hello."""
    welcomed = [False] * seats
    out_of_turn: set[int] = set()
    spoken: dict[tuple[int, int], Spoken] = {}
    for place, each in enumerate(did):
        if isinstance(each.act, Returns):
            welcomed[each.seat] = True
        elif isinstance(each.act, Leaves):
            welcomed[each.seat] = False
        elif isinstance(each.act, Pauses | Resumes | Stalls):
            continue
        elif not welcomed[each.seat]:
            out_of_turn.add(place)
        elif not isinstance(each.act, Asks | Babbles | Notes):
            spoken.setdefault((each.seat, each.act.window), []).append((place, each))
    return spoken, out_of_turn
