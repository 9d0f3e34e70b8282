"""The steps of a whole match, from a transcript that replays under the rules."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import assert_never

import msgspec

from arena.errors import WrongUse
from arena.live import Eyes, clock_text
from arena.quantities import duration, pluralise
from arena.replay.recording import (
    KINDS_KEPT,
    MOST_STEPS,
    NOTES_KEPT,
    TEXT,
    Fact,
    FactKind,
    Recording,
    SeatClock,
    Step,
    Terms,
    default_text,
    note_of,
    refusal_facts,
    seat_text,
    taken_text,
    took_text,
    turn_of,
)
from arena.reports import over_text
from protocol.codec import decode_server_message
from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Invited,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    Welcome,
)
from protocol.refusals import Refusal
from protocol.words import View
from referee.display_text import printable
from referee.match import (
    MICROSECONDS_PER_MS,
    AnyRecord,
    Cpu,
    Ended,
    Footer,
    Handed,
    Header,
    In,
    Judged,
    Left,
    Out,
    PauseOrder,
    SeatEnded,
    SeatHeader,
    SeatTime,
    Started,
    Used,
    WindowTime,
    Woke,
)
from referee.rules import Addressed, Table, shown
from referee.transcript import Differs, Replayed, read_transcript, steps

_TOLD = (b'{"type":"rejected"', b'{"type":"accepted"', b'{"type":"fault"', b'{"type":"welcome"')
_MICROSECONDS = 1_000_000


def recording_of(transcript: Path) -> Recording:
    """Return the steps of a whole match.

    Raises:
        WrongUse: there are too many.
        Differs, Broken, TranscriptError: as `replay` and `read_transcript`.
    """
    return recorded(read_transcript(transcript), transcript)


def recorded(records: Iterable[AnyRecord], transcript: Path, *, unfinished: bool = False) -> Recording:
    """Return the steps of a transcript's records. `unfinished`: accept records that end early."""
    grown = _Steps(transcript)
    try:
        for record, replayed in steps(records, grown.watch):
            grown.take(record, replayed)
    except Differs:
        if not unfinished:
            raise
    return Recording(grown.game, grown.names, grown.steps, None, grown.terms, grown.ranking, grown.manifests)


class _Steps:
    """Builder of steps during a match's replay."""

    def __init__(self, transcript: Path) -> None:
        self.game = ""
        self.names: list[str] = []
        self.manifests: list[str] = []
        self.ranking: Sequence[Sequence[int]] = ()
        self.terms = Terms(match="", variant="", seats=0, reserve_ms=0)
        self.steps: list[Step] = []
        self._transcript = transcript
        self._number = 0
        """Number of windows closed so far."""
        self._closing: dict[int, Step] = {}
        """Number of a window to the step that closes it, while its actions are not recorded yet."""
        self._closed: dict[tuple[int, int], Step] = {}
        """(seat, the seat's own window count) to closed steps that may still receive a verdict."""
        self._due: dict[tuple[int, int], int] = {}
        """(seat, the seat's own window count) to a default's deadline, in a match without verdicts."""
        self._measured = False
        self._main_ms: dict[str, int] = {}
        """Window name to main time."""
        self._notes: Counter[int] = Counter()
        """Seat to notes since the last window closed."""
        self._windows: Counter[int] = Counter()
        self._pending: list[Fact] = []
        self._refused: defaultdict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._counted: Counter[int] = Counter()
        """Seat to refusals that are shown already."""
        self._asked: set[int] = set()
        """Seats whose bots have requested the default, or withdrawn their submission."""
        self._gone: dict[int, str] = {}

    def watch(self, replayed: Replayed, told: tuple[Addressed, ...]) -> None:
        """Add a step. Called with its events, before the records that led to it are compared."""
        table = replayed.table
        if len(self.steps) == MOST_STEPS:
            raise WrongUse(f"{self._transcript}: has more than {MOST_STEPS:,} steps; so many are not shown")
        view = partial(_view, table, table.state)
        step = Step("the deal", turn_of(view("host")), view, told)
        self.steps.append(step)
        if len(self.steps) == 1:
            return
        if table.number == self._number:
            step.title = f"an answer within window {table.number}"
        else:
            self._closing[self._number] = step
            self._number = table.number

    def take(self, record: AnyRecord, replayed: Replayed) -> None:
        """Process the next record, once the replay has reached it."""
        match record:
            case Header():
                self.game = record.game
                self.names = [printable(bot.name) for bot in record.bots]
                self.manifests = [printable(bot.manifest_text) for bot in record.bots]
                self._measured = record.measured
                self._main_ms = record.clock.main_ms
                self.terms = Terms(
                    match=printable(record.match),
                    variant=record.variant,
                    seats=len(record.bots),
                    reserve_ms=record.clock.reserve_ms,
                )
            case In():
                self._note(record)
            case Out() if bytes(record.frame).startswith(_TOLD):
                self._hear(record)
            case Left():
                code = "it did not read" if record.exit is None else f"exit code {record.exit}"
                self._gone[record.seat] = code if record.why is msgspec.UNSET else record.why
                self._say(record.seat, f"the bot is gone: {self._gone[record.seat]}", "gone")
            case PauseOrder():
                self._pending.append(
                    Fact("the operator stops the clocks" if record.on else "the clocks run again", None, "pause")
                )
            case WindowTime():
                self._close(record, replayed)
            case Judged():
                self._judge(record)
            case Ended():
                self._end(record, replayed)
            case Handed() | Cpu() | Woke() | Started() | Used() | Out() | Footer() | SeatHeader() | SeatEnded():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _say(self, seat: int, text: str, kind: FactKind) -> None:
        self._pending.append(Fact(f"{seat_text(seat, self.names)}: {text}", seat, kind))

    def _note(self, record: In) -> None:
        if record.closed:
            self._say(record.seat, f"its connection was closed: {printable(record.closed)}", "refused")
            return
        note = note_of(record)
        if note is not None:
            self._notes[record.seat] += 1
            if self._notes[record.seat] <= NOTES_KEPT:
                self._say(record.seat, f"notes: {note}", "note")

    def _hear(self, out: Out) -> None:
        match decode_server_message(bytes(out.frame)):
            case Rejected(window=number, reason=reason, text=text):
                if reason is Refusal.LATE and number is not None:
                    self._late(out, number)
                told = self._refused[out.seat]
                kind = reason.value, text[:TEXT]
                if kind in told or len(told) < KINDS_KEPT:
                    told[kind] += 1
            case Accepted(action=action):
                (self._asked.add if action is None else self._asked.discard)(out.seat)
            case Faulted(reason=reason, text=text):
                self._gone[out.seat] = text
                self._say(out.seat, f"the referee hangs up ({reason.value}): {text}", "gone")
            case Welcome():
                self._gone.pop(out.seat, None)
            case Invited() | EventMessage() | Opened() | Closed() | Paused() | Resumed() | Over():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _close(self, window: WindowTime, replayed: Replayed) -> None:
        step = self._closing.pop(window.number)
        step.title = f"window {window.number} ({window.window}), over at {_clock(window.at)}"
        late = f", {duration(window.lateness)} late" if window.lateness else ""
        step.facts += [*self._refusals(replayed), *self._pending]
        self._pending.clear()
        for seat, times in self._notes.items():
            if times > NOTES_KEPT:
                text = f"{seat_text(seat, self.names)}: {pluralise(times - NOTES_KEPT, 'more note')}"
                step.facts.append(Fact(text, seat, "note"))
        self._notes.clear()
        for part in window.seats:
            number, self._windows[part.seat] = self._windows[part.seat], self._windows[part.seat] + 1
            if part.by_default or part.charged_ms:
                self._closed[part.seat, number] = step
            if part.by_default and not self._measured:
                self._due[part.seat, number] = window.at - window.lateness
            kind: FactKind = "default" if part.by_default else "taken"
            step.facts.append(Fact(f"{seat_text(part.seat, self.names)}: {self._part(part)}", part.seat, kind))
            step.clocks.append(
                SeatClock(
                    part.seat,
                    self._main_ms.get(window.window, 0),
                    _used(part) / MICROSECONDS_PER_MS,
                    part.reserve_ms,
                )
            )
            self._asked.discard(part.seat)
        if late:
            step.title += late

    def _part(self, part: SeatTime) -> str:
        taken = taken_text(self.game, part.taken)
        if not part.by_default:
            return f"{taken}, in {took_text(_used(part))}"
        took = took_text(part.charged_ms * MICROSECONDS_PER_MS)
        if part.seat in self._gone:
            why = f"the bot is gone: {self._gone[part.seat]}"
        else:
            in_time = part.charged_ms < (part.deadline - part.opened) // MICROSECONDS_PER_MS
            why = default_text(withdrawn=part.seat in self._asked, in_time=in_time)
        return f"{taken}, by default, after {took}: {why}"

    def _late(self, out: Out, number: int) -> None:
        """Report an answer after its window. In a measured match the verdict reports the delay."""
        due = self._due.pop((out.seat, number), None)
        if due is not None:
            text = f"{seat_text(out.seat, self.names)}: the answer came {duration(max(0, out.at - due))} too late"
            self._closed[out.seat, number].facts.append(Fact(text, out.seat, "late"))

    def _refusals(self, replayed: Replayed) -> list[Fact]:
        facts: list[Fact] = []
        for seat in replayed.match.seats:
            told = self._refused.pop(seat.number, Counter())
            new = seat.refusals - self._counted[seat.number]
            self._counted[seat.number] = seat.refusals
            facts += refusal_facts(
                seat.number, seat_text(seat.number, self.names), dict(told), max(0, new - told.total())
            )
        return facts

    def _judge(self, judged: Judged) -> None:
        step = self._closed.get((judged.seat, judged.number))
        evidence = judged.evidence
        if step is None or evidence.gone:
            return
        what = "no answer came before its next window was over"
        if not evidence.by_default:
            what = f"{duration(evidence.reserve)} of the reserve were used"
        elif evidence.late_by is not None:
            what = f"the answer came {duration(evidence.late_by)} too late"
        who = seat_text(judged.seat, self.names)
        step.facts.append(Fact(f"{who}: {what}; verdict: {judged.verdict.value}", judged.seat, "verdict"))

    def _end(self, ended: Ended, replayed: Replayed) -> None:
        if not self.steps:
            self.watch(replayed, ())
        step = self.steps[-1]
        step.facts += [*self._refusals(replayed), *self._pending]
        if ended.void is not None:
            step.facts.append(Fact(f"the match is void: {ended.void}", None, "end"))
        elif ended.outcome is not None:
            self.ranking = ended.outcome.ranking
            places = ", then ".join(
                " and ".join(seat_text(seat, self.names) for seat in group) for group in ended.outcome.ranking
            )
            step.facts.append(Fact(over_text(ended.outcome.reason, places), None, "end"))


def _used(part: SeatTime) -> int:
    """Return the time used, in microseconds; exact unless processor time is charged."""
    used = part.charged_ms * MICROSECONDS_PER_MS
    return used if used or part.by_default else max(0, (part.arrived or 0) - part.opened)


def _view(table: Table, state: object, eyes: Eyes) -> View:
    if eyes == "host":
        return table.game.host_view(state)
    return shown(table.game, state, None if eyes == "spectator" else eyes)


def _clock(microseconds: int) -> str:
    return f"{clock_text(microseconds // _MICROSECONDS)}.{microseconds % _MICROSECONDS // MICROSECONDS_PER_MS:03}"
