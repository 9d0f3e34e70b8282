"""The steps of one seat's own transcript, from the views that its bot received.

Only the hashes of such a file can be verified, not its content: a view may be any JSON.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Union, assert_never

import msgspec
from msgspec import Raw

from arena.errors import WrongUse
from arena.live import Eyes
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
    taken_text,
    took_text,
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
from protocol.words import View
from referee.display_text import printable
from referee.games import GAMES
from referee.match import MICROSECONDS_PER_MS, In, Left, Out, SeatEnded, SeatHeader
from referee.rules import Addressed
from referee.transcript import Broken, read_transcript

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
    steps = _Steps(transcript, header)
    for line, record in enumerate(records, 2):
        if isinstance(record, Out):
            try:
                steps.hear(bytes(record.frame))
            except (msgspec.MsgspecError, RecursionError) as error:
                raise Broken(
                    line, f"line {line}: frame: no message of {header.game}'s: {error}", transcript
                ) from None
        elif isinstance(record, Left):
            code = "it did not read" if record.exit is None else f"exit code {record.exit}"
            steps.say(f"the bot is gone: {code if record.why is msgspec.UNSET else record.why}", "gone")
        elif isinstance(record, In):
            steps.note(record)
        elif isinstance(record, SeatEnded):
            steps.end(f"conduct: {record.conduct.value}")
    terms = Terms(
        match=printable(header.match),
        variant=printable(header.variant),
        seats=header.seats,
        reserve_ms=header.clock.reserve_ms,
    )
    manifests = [""] * header.seat + [printable(header.bot.manifest_text)]
    return Recording(header.game, steps.names, steps.steps, header.seat, terms, steps.ranking, manifests)


class _Steps:
    """Builder of steps from messages. A step starts when a window opens, and at the end."""

    def __init__(self, transcript: Path, header: SeatHeader) -> None:
        self.names = [""] * header.seat + [printable(header.bot.name)]
        self.steps: list[Step] = []
        self.ranking: Sequence[Sequence[int]] = ()
        self._transcript = transcript
        self._seat, self._game = header.seat, GAMES[header.game]
        self._events: tuple[type, ...] = tuple(self._game.events)
        self._told: list[Addressed] = []
        self._facts: list[Fact] = []
        self._clocks: list[SeatClock] = []
        self._refused: Counter[tuple[str, str]] = Counter()
        self._withdrawn = False
        self._view = Raw(b"null")
        self._main_ms = 0
        self._ms = 0
        """Milliseconds that the window allows, reserve included."""
        self._bytes = 0

    def say(self, text: str, kind: FactKind) -> None:
        """Add a fact."""
        self._facts.append(Fact(text, self._seat, kind))
        self._count(len(text))

    def note(self, record: In) -> None:
        """Add the text of a bot's frame if it is a note."""
        note = note_of(record)
        if note is not None and sum(fact.kind == "note" for fact in self._facts) < NOTES_KEPT:
            self.say(f"your note: {note}", "note")

    def end(self, text: str) -> None:
        """Add the last step. A bot that had disconnected did not receive the outcome."""
        self.say(text, "end")
        self._step("the end", turn=None)

    def hear(self, frame: bytes) -> None:  # noqa: C901 - one case for each message
        """Process the next message. Raises msgspec.MsgspecError."""
        match decode_server_message(frame):
            case Welcome(told=told):
                for event in told[len(self._told) :] if not self.steps else ():
                    self._tell(event, len(frame))
            case EventMessage(event=event):
                self._tell(event, len(frame))
            case Opened() as opened:
                self._open(opened)
            case Accepted(action=action):
                self._withdrawn = action is None
            case Rejected(reason=reason, text=text):
                kind = reason.value, text[:TEXT]
                if kind in self._refused or len(self._refused) < KINDS_KEPT:
                    self._refused[kind] += 1
            case Closed() as closed:
                self._close(closed)
            case Faulted(reason=reason, text=text):
                self.say(f"the referee hangs up ({reason.value}): {text[:TEXT]}", "gone")
            case Over(outcome=outcome):
                self.ranking = outcome.ranking
                places = ", then ".join(
                    " and ".join(f"seat {seat}" for seat in group) for group in outcome.ranking
                )
                self.say(over_text(outcome.reason, places)[:TEXT], "end")
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
        turn = opened.view.get("turn", opened.view.get("round")) if isinstance(opened.view, dict) else None
        self._step(
            f"window {opened.id}, {opened.window[:TEXT]}, opens", turn=turn if isinstance(turn, int) else None
        )

    def _close(self, closed: Closed) -> None:
        self._facts += refusal_facts(self._seat, "your message", dict(self._refused))
        self._refused.clear()
        taken = taken_text(self._game.name, closed.taken)
        took = took_text(closed.charged_ms * MICROSECONDS_PER_MS)
        if closed.by_default:
            in_time = closed.charged_ms < self._ms
            why = default_text(withdrawn=self._withdrawn, in_time=in_time)
            self.say(f"window {closed.window}: {taken}, by default, after {took}: {why}", "default")
        else:
            self.say(f"window {closed.window}: {taken}, in {took}", "taken")
        self._withdrawn = False
        self._clocks.append(SeatClock(self._seat, self._main_ms, closed.charged_ms, closed.reserve_ms))

    def _step(self, title: str, *, turn: int | None) -> None:
        if len(self.steps) == MOST_STEPS:
            raise WrongUse(f"{self._transcript}: has more than {MOST_STEPS:,} steps; so many are not shown")
        view = partial(_view, self._game.view_type, self._view)
        self.steps.append(Step(title, turn, view, tuple(self._told), self._facts, self._clocks))
        self._told, self._facts, self._clocks = [], [], []

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MOST_BYTES:
            raise WrongUse(
                f"{self._transcript}: has more than {MOST_BYTES:,} bytes of boards; so many are not shown"
            )


def _view(form: type[View], raw: Raw, eyes: Eyes) -> View:
    """Decode a view. Raises msgspec.ValidationError, which is a ValueError."""
    del eyes
    return msgspec.json.decode(raw, type=form)
