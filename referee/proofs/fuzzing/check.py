"""A comparison of the referee's actions with the rules of time, up to the first difference.

It checks the messages that each seat received (every answer, no message for another seat, all in time), then the
record of each window.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import chain
from typing import TypeVar, assert_never

from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Opened,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Welcome,
)
from referee.match import SeatTime
from referee.proofs.fuzzing import drill
from referee.proofs.fuzzing.rules_of_time import (
    FOREVER,
    PER_MS,
    Clocks,
    ExpectedMatch,
    ExpectedWindow,
    Settlement,
    Spoken,
    attendance,
    judge,
    left_after,
    pauses,
    stalls,
)
from referee.proofs.fuzzing.script import (
    Act,
    Asks,
    Babbles,
    Did,
    Forgoes,
    Leaves,
    Notes,
    Pauses,
    Resumes,
    Returns,
    Script,
    Stalls,
    Submits,
    Trace,
    Undoes,
)

MessageT = TypeVar("MessageT", bound=ServerMessage)


class Wrong(Exception):  # noqa: N818 - a violation by the referee, not an error of ours
    """A violation of a rule of time. The text has the place, the expected value and the actual one."""


def expect(expected: object, actual: object, where: str) -> None:
    """Raise Wrong if the two differ."""
    if expected != actual:
        raise Wrong(f"{where}: should be {expected}, is {actual}")


def closings(trace: Trace) -> dict[tuple[int, int], int]:
    """Return the moments at which seats received the close of a window, keyed by seat and window number.

    If a seat receives the close twice, the second moment counts, which the checks then report as a violation.
    """
    found: dict[tuple[int, int], int] = {}
    for seat, all_heard in enumerate(trace.heard):
        for heard in all_heard:
            if isinstance(heard.message, Closed):
                found[seat, heard.message.window] = heard.at
    return found


def _heard(history: ExpectedMatch, seat: int, kind: type[MessageT]) -> list[tuple[int, MessageT]]:
    """Return the messages of one kind that a seat received, each after its moment."""
    return [(each.at, each.message) for each in history.trace.heard[seat] if isinstance(each.message, kind)]


def _noticed(history: ExpectedMatch, kind: type[Act], seats: Iterable[int]) -> list[int]:
    """Return the moments at which the referee could notice the acts of one kind."""
    return [each.told for each in history.trace.did if each.seat in seats and isinstance(each.act, kind)]


def check_messages(history: ExpectedMatch) -> None:
    """Check all messages to every seat. Raise Wrong at the first difference."""
    for seat in range(history.script.seats):
        _answers(history, seat)
        _closed(history, seat)
        _opened(history, seat)
        _pauses(history, seat)
        _events(history, seat)


def _answers(history: ExpectedMatch, seat: int) -> None:
    """Check that the seat's messages are answered in order, and that there are no other answers."""
    heard = [each for each in history.trace.heard[seat] if isinstance(each.message, Accepted | Rejected)]
    gone = history.there.gone[seat]
    upto = 0
    for place, each in enumerate(history.trace.did):
        if each.seat != seat or isinstance(each.act, Leaves | Pauses | Resumes | Stalls):
            continue
        allowed = _answer(history, place, each)
        if not allowed or each.told > gone:
            continue
        answer = heard[upto] if upto < len(heard) else None
        moments = history.clocks.awake(each.told)
        if answer is None or answer.at not in moments or _word(answer.message) not in allowed:
            if max(moments) >= min(gone, history.ended):
                continue  # A message of the last moment may have arrived too late to be read.
            was = answer and (answer.at, _word(answer.message))
            raise Wrong(f"seat {seat}: {each.act} at {each.at}: should be answered {sorted(allowed)}, is {was}")
        if isinstance(answer.message, Accepted):
            _accepted(history, each, answer.message)
        upto += 1
    expect(len(heard), upto, f"seat {seat}: how many messages were answered")


def _word(message: object) -> str:
    return message.reason.value if isinstance(message, Rejected) else "accepted"


def _accepted(history: ExpectedMatch, each: Did, message: Accepted) -> None:
    if history.script.game == "drill":
        stands = {"choice": each.act.choice} if isinstance(each.act, Submits) else None
        expect(stands, message.action, f"seat {each.seat}: what is told to stand after {each.act}")


def _answer(history: ExpectedMatch, place: int, each: Did) -> set[str]:
    """Return the permitted answers: none for a message without an answer, two if two things happen at once."""
    act = each.act
    if isinstance(act, Returns):
        return set()
    if place in history.out_of_turn and not isinstance(act, Babbles):
        return {"out-of-turn"}
    match act:
        case Asks():
            return set() if history.granted[place] else {"no-pause"}
        case Babbles():
            return {"malformed"}
        case Submits() | Undoes() | Forgoes():
            return _answer_to_window(history, place, each, act.window)
        case Notes() | Leaves() | Pauses() | Resumes() | Stalls():
            return set()
        case _ as unreachable:
            assert_never(unreachable)


def _answer_to_window(history: ExpectedMatch, place: int, each: Did, number: int) -> set[str]:
    windows = history.windows[each.seat]
    if not 0 <= number < len(windows):
        return {"unknown-window"}
    window = windows[number]
    if each.told <= window.opened and each.opened <= number:
        return {"unknown-window"}
    if each.told > window.closed or each.closed > number:
        return {"late"}
    answers = {spoken: answer for (spoken, _), answer in zip(window.spoken, window.part.answers, strict=True)}
    answer = answers.get(place, "late")
    at_once = window.closed in history.clocks.awake(each.told)
    return {answer, "late"} if at_once and answer == "final" else {answer}


def _closed(history: ExpectedMatch, seat: int) -> None:
    """Check that a bot that is present receives the close of each of its windows once."""
    told = [message.window for _, message in _heard(history, seat, Closed)]
    expect(sorted(set(told)), told, f"seat {seat}: windows that were closed")
    for number, window in enumerate(history.windows[seat]):
        if _is_there(history, seat, window.closed) and number not in told:
            raise Wrong(f"seat {seat}: was not told that its window {number} was closed")


def _opened(history: ExpectedMatch, seat: int) -> None:
    """Check that a present bot receives its window when it opens, and a returning bot the time that remains."""
    first = set()
    for at, message in _heard(history, seat, Opened):
        first.add((at, message.id))
        window = history.windows[seat][message.id]
        _time_left(history, window, at, message, f"seat {seat}, its window {message.id}")
    for number, window in enumerate(history.windows[seat]):
        if _is_there(history, seat, window.opened) and (window.opened, number) not in first:
            raise Wrong(f"seat {seat}: was not told that its window {number} was open")
    welcomes = len(_heard(history, seat, Welcome))
    until = min(history.there.gone[seat], history.ended)
    hellos = sorted(_noticed(history, Returns, (seat,)))
    if not bisect_left(hellos, until) <= welcomes <= bisect_right(hellos, until):
        raise Wrong(f"seat {seat}: should be welcomed {len(hellos)} times, is {welcomes}")


def _time_left(history: ExpectedMatch, window: ExpectedWindow, at: int, message: Opened, where: str) -> None:
    reading = history.clocks.reading
    passed = reading(at) - reading(window.opened)
    main = history.script.main_ms * PER_MS
    main_left, reserve_left = max(0, main - passed), window.reserve - max(0, passed - main)
    # The referee rounds down to whole milliseconds: either the remaining time, or the used time.
    expect(main_left // PER_MS, message.main_ms, f"{where}: main time left")
    if abs(reserve_left // PER_MS - message.reserve_ms) > 1:
        raise Wrong(f"{where}: reserve left should be {reserve_left // PER_MS}, is {message.reserve_ms}")


def _pauses(history: ExpectedMatch, seat: int) -> None:
    """Check that a present bot receives the start and end of pauses, and a returning bot the current pause."""
    began = {at for at, _ in _heard(history, seat, Paused) if at < history.ended}
    over = {at for at, _ in _heard(history, seat, Resumed) if at < history.ended}
    orders = _noticed(history, Pauses, range(history.script.seats))
    starts, ends = set(), set()
    for start, end in history.clocks.pauses:
        if _is_there(history, seat, start):
            starts.add(start)
        if _is_there(history, seat, end):
            ends.add(end)
        # A bot that returns in a pause receives the message again.
        until = min(end, history.there.gone[seat])
        starts.update(at for at in _noticed(history, Returns, (seat,)) if start < at < until)
        # All do if the operator takes over a bot's pause.
        taken_over = [at for at in orders if start < at < end]
        if start not in orders and taken_over and _is_there(history, seat, taken_over[0]):
            starts.add(taken_over[0])
    expect({at for at in starts if at < history.ended}, began, f"seat {seat}: pauses")
    expect({at for at in ends if at < history.ended}, over, f"seat {seat}: ends of pauses")


def _events(history: ExpectedMatch, seat: int) -> None:
    """Check that events arrive when a window closes, and answers as soon as the action is settled."""
    closed = {window.closed for window in chain.from_iterable(history.windows)}
    due: dict[int, set[int]] = {}
    for number, window in enumerate(history.windows[seat]):
        if window.kind == "asked" and window.part.choice is not None:
            due[number] = _settled(history, window)
    allowed = {"answer": set().union(*due.values())}
    heard: set[int] = set()
    for at, message in _heard(history, seat, EventMessage):
        if at not in allowed.get(message.event["type"], closed):
            raise Wrong(f"seat {seat}: is told {message.event} at {at}")
        if message.event["type"] == "answer":
            heard.add(at)
    for number, moments in due.items():
        was_there = min(moments) < history.ended and _is_there(history, seat, max(moments))
        if was_there and not heard & moments:
            raise Wrong(f"seat {seat}, its window {number}: should be answered at {sorted(moments)}, is not")


def _settled(history: ExpectedMatch, window: ExpectedWindow) -> set[int]:
    part, clocks = window.part, history.clocks
    if part.by is not None:
        moments = clocks.awake(window.spoken[part.by][1].told)
    else:
        moments = clocks.awake(clocks.moment(part.settled))
    found = set(chain.from_iterable(map(clocks.running, moments)))
    if part.gone:
        found.add(window.closed)
    return found


def _is_there(history: ExpectedMatch, seat: int, moment: int) -> bool:
    """Return whether the seat certainly has a bot then: False at moments at which one connects or disconnects."""
    there = history.there
    spans = there.absent[seat]
    return moment < there.gone[seat] and not any(start <= moment <= end for start, end in spans)


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
        windows: list[list[ExpectedWindow]] = [[] for _ in range(script.seats)]
        self.history = ExpectedMatch(script, trace, self.there, self.clocks, granted, out_of_turn, windows)

    def checked(self) -> ExpectedMatch:
        """Return the expected history. Raise Wrong at the first difference from the actual one."""
        script, trace = self.script, self.trace
        expect(len(script.windows), len(trace.windows), "how many windows there were")
        opens = self.there.begins
        for number, planned in enumerate(script.windows):
            where, record = f"window {number}", trace.windows[number]
            expect(planned.seats, tuple(part.seat for part in record.seats), f"{where}: its seats")
            spoken: dict[int, Spoken] = {}
            parts: dict[int, Settlement] = {}
            for seat in planned.seats:
                spoken[seat] = self._spoken(seat, opens)
                parts[seat] = self._part(seat, opens, spoken[seat])
            reserve = self.reserve.copy()
            for timed in record.seats:
                self._seat(f"{where}, seat {timed.seat}", opens, timed, parts[timed.seat])
            # If all its bots are out, no bot receives it, and it runs from the close of the one before.
            began = max(timed.opened for timed in record.seats)
            allowed = self._may_close(opens, began, parts, spoken)
            closes = self._closes(where, record.at, planned.seats, allowed)
            if not self.clocks.stalls:
                expect(0, record.lateness, f"{where}: lateness")
            for seat in planned.seats:
                window = ExpectedWindow(planned.kind, opens, closes, reserve[seat], parts[seat], spoken[seat])
                self.history.windows[seat].append(window)
            opens = closes
        expect(opens, trace.ended, "the match's end")
        return self.history

    def _spoken(self, seat: int, opens: int) -> Spoken:
        """Return the seat's messages about its next window after it was opened, with their indices in `did`."""
        number = len(self.history.windows[seat])
        heard: Spoken = []
        for place, each in self.spoken.get((seat, number), []):
            if (each.told > opens or each.opened > number) and each.told <= self.there.gone[seat]:
                heard.append((place, each))
        return heard

    def _part(self, seat: int, opens: int, spoken: Spoken) -> Settlement:
        reading = self.clocks.reading
        gone = self.there.gone[seat]
        sayings = [(reading(each.at), each.act) for _, each in spoken]
        ended = None if gone == FOREVER else reading(gone)
        return judge(reading(opens), self.main, self.reserve[seat], sayings, ended)  # type: ignore[arg-type]

    def _seat(self, where: str, opens: int, timed: SeatTime, part: Settlement) -> None:
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
        expect(drill.taken(self.script, part.choice), timed.taken, f"{where}: taken")
        expect(part.arrived, timed.arrived, f"{where}: arrived")
        expect(part.choice is None, timed.by_default, f"{where}: by default")
        expect(part.charged // PER_MS, timed.charged_ms, f"{where}: charged_ms")
        expect(self.reserve[timed.seat] // PER_MS, timed.reserve_ms, f"{where}: reserve_ms")

    def _may_close(
        self, opens: int, began: int, parts: dict[int, Settlement], spoken: dict[int, Spoken]
    ) -> set[int]:
        """Return the moments at which the window may close: one, or several if two things happen at once."""
        due = [self._settled(part, opens, seat, spoken[seat]) for seat, part in parts.items()]
        if self.script.pacing == "fixed":
            due.append(self.clocks.awake(self.clocks.moment(began + self.main)))
        earliest, latest = max(opens, *map(min, due)), max(opens, *map(max, due))
        return self.clocks.running(earliest) | self.clocks.running(latest)

    def _settled(self, part: Settlement, opens: int, seat: int, spoken: Spoken) -> set[int]:
        if part.by is not None:
            return self.clocks.awake(spoken[part.by][1].told)
        if part.gone:
            return {max(opens, self.there.gone[seat])}
        return self.clocks.awake(self.clocks.moment(part.settled))

    def _closes(self, where: str, recorded: int, seats: tuple[int, ...], allowed: set[int]) -> int:
        """Return the moment at which the bots received the close, or the recorded one if no bot was there."""
        heard = set()
        for seat in seats:
            number = len(self.history.windows[seat])
            if (seat, number) in self.closings:
                heard.add(self.closings[seat, number])
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
