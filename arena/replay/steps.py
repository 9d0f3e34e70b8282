"""The steps of a recording: of a whole match, by a replay under the rules, or of one seat's own transcript.

Only the hashes of one seat's file can be verified, not its content: a view may be any JSON.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Union, assert_never

import msgspec
from msgspec import Raw

from arena.errors import WrongUse
from arena.live import CONDUCTS, Commentator, Eyes, clock_text, numbered_names, view_of
from arena.quantities import duration, pluralise
from arena.replay.recording import (
    KINDS_KEPT,
    MOST_STEPS,
    NOTES_KEPT,
    TEXT,
    ClockReading,
    Fact,
    FactKind,
    PublicTerms,
    Recording,
    Step,
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
from protocol.refusals import Conduct, Refusal
from protocol.text import Remark
from protocol.words import Outcome, View
from referee.display_text import cut, printable
from referee.games import GAMES
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
from referee.rules import Addressed
from referee.transcript import Broken, Differs, Replayed, read_transcript, steps

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
    grown = _MatchSteps(transcript)
    try:
        for record, replayed in steps(records, grown.watch):
            grown.take(record, replayed)
    except Differs:
        if not unfinished:
            raise
    return Recording(grown.game, grown.names, grown.steps, None, grown.terms, grown.ranking, grown.manifests)


def terms_of(header: Header | SeatHeader, variant: str, seats: int) -> PublicTerms:
    """Return the terms of a match from a transcript's header."""
    return PublicTerms(
        match=printable(header.match), variant=variant, seats=seats, reserve_ms=header.clock.reserve_ms
    )


class _Steps:
    """Builder of the steps of a recording, and of the facts for the next one."""

    def __init__(self, transcript: Path, names: list[str]) -> None:
        self.names = names
        self.steps: list[Step] = []
        self.ranking: Sequence[Sequence[int]] = ()
        self._transcript = transcript
        self._pending: list[Fact] = []
        """Facts that no step has yet."""
        self._refused: defaultdict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
        """Kinds of refusals that no step shows yet, by seat."""

    def _add(self, step: Step) -> None:
        """Add a step. Raise WrongUse if there are too many."""
        if len(self.steps) == MOST_STEPS:
            raise WrongUse(f"{self._transcript}: has more than {MOST_STEPS:,} steps; so many are not shown")
        self.steps.append(step)

    def _refuse(self, seat: int, rejected: Rejected) -> None:
        """Count a refused message of a seat."""
        kinds = self._refused[seat]
        kind = rejected.reason.value, rejected.text[:TEXT]
        if kind in kinds or len(kinds) < KINDS_KEPT:
            kinds[kind] += 1

    def _end_text(self, outcome: Outcome) -> str:
        """Return the text of an outcome, whose ranking becomes the recording's."""
        self.ranking = outcome.ranking
        groups = [" and ".join(map(self._seat_at_end, group)) for group in outcome.ranking]
        return over_text(outcome.reason, ", then ".join(groups))

    def _seat_at_end(self, seat: int) -> str:
        """Return a seat as the text of an outcome names it."""
        return self.names[seat]


class _MatchSteps(_Steps):
    """The steps of a whole match, during its replay."""

    def __init__(self, transcript: Path) -> None:
        super().__init__(transcript, [])
        self.game = ""
        self.manifests: list[str] = []
        self.terms = PublicTerms(match="", variant="", seats=0, reserve_ms=0)
        self._commentator: Commentator | None = None
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
        self._counted: Counter[int] = Counter()
        """Seat to refusals that are shown already."""
        self._asked: set[int] = set()
        """Seats whose bots have requested the default, or withdrawn their submission."""
        self._gone: dict[int, str] = {}
        self._failed: set[int] = set()
        """Seats whose bots have left the match at least once."""

    def watch(self, replayed: Replayed, told: tuple[Addressed, ...]) -> None:
        """Add a step. Called with its events, before the records that led to it are compared."""
        table = replayed.table
        view = partial(view_of, table.game, table.state)
        whole = view("host")
        step = Step("the deal", turn_of(whole), view, told)
        self._add(step)
        if self._commentator is None:
            self._commentator = Commentator(table.game.name, _names(replayed.header))
        step.remarks, step.scores = self._commentator.comment(whole, told)
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
                self.names = _names(record)
                self.manifests = [printable(bot.manifest_text) for bot in record.bots]
                self._measured = record.measured
                self._main_ms = record.clock.main_ms
                self.terms = terms_of(record, record.variant, len(record.bots))
            case In():
                self._note(record)
            case Out() if bytes(record.frame).startswith(_TOLD):
                self._hear(record)
            case Left():
                self._leave(record)
            case PauseOrder():
                text = "the operator stops the clocks" if record.on else "the clocks run again"
                self._pending.append(Fact(text, None, "pause"))
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

    def _fact(self, seat: int, text: str, kind: FactKind, fault: str = "", action: str = "") -> Fact:
        """Return a fact about a seat. `fault`: what its bot did wrong, without its name."""
        remark = None
        if fault:
            remark = Remark(cut(f"{self.names[seat]} {fault}", TEXT), (seat,), 1 if kind == "default" else 2)
        return Fact(f"{seat_text(seat, self.names)}: {text}", seat, kind, remark, action)

    def _leave(self, left: Left) -> None:
        """Report that a bot has left. If the referee has disconnected it, that is reported already."""
        why = _why_gone(left)
        fault = ""
        if left.seat not in self._gone:
            fault = f"{CONDUCTS[Conduct.CRASHED] if left.exit else CONDUCTS[Conduct.DISCONNECTED]}: {why}"
        self._gone[left.seat] = why
        self._failed.add(left.seat)
        self._pending.append(self._fact(left.seat, f"the bot is gone: {why}", "gone", fault))

    def _say(self, seat: int, text: str, kind: FactKind) -> None:
        self._pending.append(self._fact(seat, text, kind))

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
            case Rejected(window=number, reason=reason) as rejected:
                if reason is Refusal.LATE and number is not None:
                    self._late(out, number)
                self._refuse(out.seat, rejected)
            case Accepted(action=action):
                self._asked.discard(out.seat)
                if action is None:
                    self._asked.add(out.seat)
            case Faulted(reason=reason, text=text):
                self._gone[out.seat] = text
                self._failed.add(out.seat)
                hangs_up = f"the referee hangs up ({reason.value}): {text}"
                fault = f"{CONDUCTS[Conduct.MISBEHAVED]}: {printable(text)}"
                self._pending.append(self._fact(out.seat, hangs_up, "gone", fault))
            case Welcome():
                self._gone.pop(out.seat, None)
            case Invited() | EventMessage() | Opened() | Closed() | Paused() | Resumed() | Over():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _close(self, window: WindowTime, replayed: Replayed) -> None:
        step = self._closing.pop(window.number)
        step.title = f"window {window.number} ({window.window}), over at {_clock(window.at)}"
        if window.lateness:
            step.title += f", {duration(window.lateness)} late"
        step.facts += [*self._refusals(replayed), *self._pending]
        self._pending.clear()
        for seat, times in self._notes.items():
            if times > NOTES_KEPT:
                step.facts.append(self._fact(seat, pluralise(times - NOTES_KEPT, "more note"), "note"))
        self._notes.clear()
        for part in window.seats:
            number = self._windows[part.seat]
            self._windows[part.seat] += 1
            if part.by_default or part.charged_ms:
                self._closed[part.seat, number] = step
            if part.by_default and not self._measured:
                self._due[part.seat, number] = window.at - window.lateness
            step.facts.append(self._part(part))
            main_ms = self._main_ms.get(window.window, 0)
            step.clocks.append(
                ClockReading(part.seat, main_ms, _used(part) / MICROSECONDS_PER_MS, part.reserve_ms)
            )
            self._asked.discard(part.seat)

    def _part(self, part: SeatTime) -> Fact:
        """Return a seat's action, with the reason if it is the default."""
        taken = taken_text(self.game, part.taken)
        if not part.by_default:
            return self._fact(part.seat, f"{taken}, in {took_text(_used(part))}", "taken", action=taken)
        took = took_text(part.charged_ms * MICROSECONDS_PER_MS)
        fault = ""
        if part.seat in self._gone:
            why = f"the bot is gone: {self._gone[part.seat]}"
        else:
            in_time = part.charged_ms < (part.deadline - part.opened) // MICROSECONDS_PER_MS
            withdrawn = part.seat in self._asked
            why = default_text(withdrawn=withdrawn, in_time=in_time)
            if not in_time and not withdrawn:
                fault = "misses the deadline: plays the default"
        return self._fact(part.seat, f"{taken}, by default, after {took}: {why}", "default", fault, taken)

    def _late(self, out: Out, number: int) -> None:
        """Report an answer after its window. In a measured match the verdict reports the delay."""
        due = self._due.pop((out.seat, number), None)
        if due is not None:
            text = f"the answer came {duration(max(0, out.at - due))} too late"
            self._closed[out.seat, number].facts.append(self._fact(out.seat, text, "late"))

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
        step.facts.append(self._fact(judged.seat, f"{what}; verdict: {judged.verdict.value}", "verdict"))

    def _end(self, ended: Ended, replayed: Replayed) -> None:
        if not self.steps:
            self.watch(replayed, ())
        step = self.steps[-1]
        step.facts += [*self._refusals(replayed), *self._pending]
        if ended.void is not None:
            step.facts.append(Fact(f"the match is void: {ended.void}", None, "end"))
        elif ended.outcome is not None:
            step.facts += self._at_end(ended)
            step.facts.append(Fact(self._end_text(ended.outcome), None, "end"))

    def _at_end(self, ended: Ended) -> Iterator[Fact]:
        """Yield the bots that failed without a word so far: those that never started."""
        for seat, conduct in enumerate(ended.conduct):
            if conduct is not Conduct.OK and seat not in self._failed:
                yield self._fact(seat, conduct.value.replace("_", " "), "gone", CONDUCTS[conduct])


def _names(header: Header) -> list[str]:
    """Return the seats' names, with a number after a name that an earlier seat has."""
    return numbered_names([printable(bot.name) for bot in header.bots])


def _why_gone(left: Left) -> str:
    """Return the reason for which a bot has disconnected."""
    if left.why is not msgspec.UNSET:
        return left.why
    if left.exit is None:
        return "it did not read"
    return f"exit code {left.exit}"


def _used(part: SeatTime) -> int:
    """Return the time used, in microseconds; exact unless processor time is charged."""
    if part.charged_ms or part.by_default:
        return part.charged_ms * MICROSECONDS_PER_MS
    return max(0, (part.arrived or 0) - part.opened)


def _clock(microseconds: int) -> str:
    return f"{clock_text(microseconds // _MICROSECONDS)}.{microseconds % _MICROSECONDS // MICROSECONDS_PER_MS:03}"


MOST_BYTES = 64 * 1024 * 1024
"""Most bytes of all steps' views and of the events between them."""


def recording_of_seat(transcript: Path) -> Recording:
    """Return the steps of one seat's own transcript.

    Raises:
        WrongUse: it is too large.
        Broken: a message is not one of the referee's. Others as `read_transcript`.
    """
    records = read_transcript(transcript)
    header = next(records)
    if not isinstance(header, SeatHeader):
        raise WrongUse(f"{transcript}: is not one seat's own file")
    steps = _SeatSteps(transcript, header)
    for line, record in enumerate(records, 2):
        if isinstance(record, Out):
            try:
                steps.hear(bytes(record.frame))
            except (msgspec.MsgspecError, RecursionError) as error:
                raise Broken(
                    line, f"line {line}: frame: no message of {header.game}'s: {error}", transcript
                ) from None
        elif isinstance(record, Left):
            steps.say(f"the bot is gone: {_why_gone(record)}", "gone")
        elif isinstance(record, In):
            steps.note(record)
        elif isinstance(record, SeatEnded):
            steps.end(f"conduct: {record.conduct.value}")
    terms = terms_of(header, printable(header.variant), header.seats)
    manifests = [""] * header.seat + [printable(header.bot.manifest_text)]
    return Recording(header.game, steps.names, steps.steps, header.seat, terms, steps.ranking, manifests)


class _SeatSteps(_Steps):
    """The steps of one seat, from its messages. A step starts when a window opens, and at the end."""

    def __init__(self, transcript: Path, header: SeatHeader) -> None:
        super().__init__(transcript, [""] * header.seat + [printable(header.bot.name)])
        self._seat, self._game = header.seat, GAMES[header.game]
        self._events: tuple[type, ...] = tuple(self._game.events)
        self._told: list[Addressed] = []
        self._clocks: list[ClockReading] = []
        self._withdrawn = False
        self._view = Raw(b"null")
        self._main_ms = 0
        self._ms = 0
        """Milliseconds that the window allows, reserve included."""
        self._bytes = 0

    def _seat_at_end(self, seat: int) -> str:
        return f"seat {seat}"

    def say(self, text: str, kind: FactKind, action: str = "") -> None:
        """Add a fact."""
        self._pending.append(Fact(text, self._seat, kind, action=action))
        self._count(len(text))

    def note(self, record: In) -> None:
        """Add the text of a bot's frame if it is a note."""
        note = note_of(record)
        if note is not None and sum(fact.kind == "note" for fact in self._pending) < NOTES_KEPT:
            self.say(f"your note: {note}", "note")

    def end(self, text: str) -> None:
        """Add the last step, with a text about the end.

        A bot that had disconnected did not receive the outcome, so the text cannot come from its messages.
        """
        self.say(text, "end")
        self._step("the end", turn=None)

    def hear(self, frame: bytes) -> None:  # noqa: C901 - one case for each message
        """Process the next message. Raises msgspec.MsgspecError."""
        match decode_server_message(frame):
            case Welcome(told=told):
                # A later welcome, after a restart, repeats what the seat has been told.
                if not self.steps:
                    for event in told[len(self._told) :]:
                        self._tell(event, len(frame))
            case EventMessage(event=event):
                self._tell(event, len(frame))
            case Opened() as opened:
                self._open(opened)
            case Accepted(action=action):
                self._withdrawn = action is None
            case Rejected() as rejected:
                self._refuse(self._seat, rejected)
            case Closed() as closed:
                self._close(closed)
            case Faulted(reason=reason, text=text):
                self.say(f"the referee hangs up ({reason.value}): {text[:TEXT]}", "gone")
            case Over(outcome=outcome):
                self.say(self._end_text(outcome)[:TEXT], "end")
            case Invited() | Paused() | Resumed():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _tell(self, event: Any, size: int) -> None:
        self._count(size)
        self._told.append(Addressed(msgspec.convert(event, Union[self._events]), self._seat))  # noqa: UP007 - at run time

    def _open(self, opened: Opened) -> None:
        self._view = Raw(msgspec.json.encode(opened.view))
        self._main_ms = opened.main_ms
        self._ms = opened.main_ms + opened.reserve_ms
        self._count(len(bytes(self._view)))
        turn = None
        if isinstance(opened.view, dict):
            turn = opened.view.get("turn", opened.view.get("round"))
        if not isinstance(turn, int):
            turn = None
        self._step(f"window {opened.id}, {opened.window[:TEXT]}, opens", turn=turn)

    def _close(self, closed: Closed) -> None:
        self._pending += refusal_facts(self._seat, "your message", dict(self._refused.pop(self._seat, {})))
        taken = taken_text(self._game.name, closed.taken)
        took = took_text(closed.charged_ms * MICROSECONDS_PER_MS)
        if closed.by_default:
            in_time = closed.charged_ms < self._ms
            why = default_text(withdrawn=self._withdrawn, in_time=in_time)
            self.say(f"window {closed.window}: {taken}, by default, after {took}: {why}", "default", taken)
        else:
            self.say(f"window {closed.window}: {taken}, in {took}", "taken", taken)
        self._withdrawn = False
        self._clocks.append(ClockReading(self._seat, self._main_ms, closed.charged_ms, closed.reserve_ms))

    def _step(self, title: str, *, turn: int | None) -> None:
        view = partial(_decoded, self._game.view_type, self._view)
        self._add(Step(title, turn, view, tuple(self._told), self._pending, self._clocks))
        self._told, self._pending, self._clocks = [], [], []

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise WrongUse(
                f"{self._transcript}: has more than {MOST_BYTES:,} bytes of boards; so many are not shown"
            )


def _decoded(form: type[View], raw: Raw, eyes: Eyes) -> View:
    """Decode a view. Raises msgspec.ValidationError, which is a ValueError."""
    del eyes
    return msgspec.json.decode(raw, type=form)
