"""Stand-ins for the arena's workers: what a match comes to follows from its plan, and no clock runs.

The commands themselves are the real ones; only the processes that would play are replaced.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import trio
from msgspec.structs import replace

from arena.simulation import play
from arena.workers import PlayMatch, Worker
from protocol.codec import decode_json
from protocol.refusals import Conduct, Refusal
from referee.host import AttemptResult, Plan
from referee.match import Complaint, Ended, HeldUp, SeatReport, Verdict, WindowTime
from referee.match.seat_report import spread_of
from referee.transcript import TranscriptError, read_transcript, verify_transcript
from tests.arena.stand_in import outcome, result
from tests.arena.tournament.test_entries import Command, change
from tests.outputs.transcripts import write_again

MICROSECONDS_PER_MS = 1000


@contextmanager
def playing(play_match: PlayMatch[Any]) -> Iterator[None]:
    """Let this play the matches of all commands that are run meanwhile, one at a time."""
    workers = [Worker(play=play_match, slots=1)]
    with patch("arena.workers.placement.open_pool", lambda _slots, **_: nullcontext(workers)):
        yield


class Drawn:
    """Results drawn from a match's seed and bots, with reports in which much goes wrong."""

    def __init__(
        self,
        file: Path,
        *,
        changes: Mapping[int, tuple[Command, ...]] | None = None,
        stops_after: int | None = None,
        void: Collection[int] = (),
        held_up: str | None = None,
        strong: str | None = None,
        share: float = 0.0,
    ) -> None:
        """Say what happens meanwhile.

        Args:
            file: the tournament's, for changes.
            changes: by number of matches: what the host does after them.
            stops_after: after so many matches the disk is full.
            void: blocks whose first attempt is void.
            held_up: the bot that is always held up, unless it is not excused.
            strong: the bot that wins more than its share.
            share: how often it wins whatever was drawn.
        """
        self._file, self._changes, self._stops_after = file, dict(changes or {}), stops_after
        self._void, self._held_up, self._strong, self._share = set(void), held_up, strong, share
        self._played = 0

    async def __call__(self, plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
        """See `arena.workers.Play`."""
        del players
        await trio.lowlevel.checkpoint()
        if self._played == self._stops_after:
            raise TranscriptError("cannot be written: No space left on device", Path("transcripts/x.jsonl"))
        self._played += 1
        for command in self._changes.pop(self._played, ()):
            done = change(self._file, *command)
            if done.exit_code:
                raise RuntimeError(f"arena entry {command}: {done.stderr}")
        return self._result(plan, transcript)

    def _result(self, plan: Plan, transcript: Path) -> AttemptResult:
        done = result(plan, plan.labels, transcript)
        rng = Random(sha256(f"{plan.match} {plan.seed} {plan.labels}".encode()).digest())
        seats = range(len(plan.labels))
        if self._strong in plan.labels and rng.random() < self._share:
            first = plan.labels.index(self._strong)
            done = replace(done, outcome=outcome((first,), tuple(seat for seat in seats if seat != first)))
        if plan.block in self._void:
            self._void.remove(plan.block)
            return replace(done, outcome=None, void="the referee was late")
        if self._held_up in plan.labels and (seat := plan.labels.index(self._held_up)) not in plan.unexcused:
            held_up = HeldUp(seat=seat, verdict=Verdict.HOST, window=3, evidence="150 ms late after 1,000 ms")
            return replace(done, outcome=None, void="the host is at fault", held_up=held_up)
        times = [[rng.randrange(200, 2_000_000) for _ in range(done.windows[seat])] for seat in seats]
        conduct = tuple(Conduct.OK if rng.random() < 0.9 else rng.choice(list(Conduct)) for _ in seats)
        reports = tuple(_report(rng, conduct[seat], times[seat]) for seat in seats)
        return replace(
            done,
            conduct=conduct,
            charged_us=tuple(map(sum, times)),
            defaults=tuple(min(report.late, done.windows[seat]) for seat, report in enumerate(reports)),
            refused=tuple(sum(each.times for each in report.complaints) for report in reports),
            reports=reports,
        )


def _report(rng: Random, conduct: Conduct, times: list[int]) -> SeatReport:
    """Return a bot's report in one match."""
    broken = conduct is not Conduct.OK
    complaints = (Complaint(Refusal.ILLEGAL.value, "E5 is taken", rng.randrange(1, 4)),)
    late = rng.randrange(3) if rng.random() < 0.2 else 0
    return SeatReport(
        loss=f"{conduct.value}: exit code {rng.randrange(1, 3)}" if broken else "",
        hello_us=None if conduct is Conduct.NEVER_STARTED else rng.randrange(50_000, 400_000),
        late=late,
        worst_late_us=rng.randrange(1, 90_000) if late else 0,
        complaints=complaints if rng.random() < 0.2 else (),
        last_line="ValueError: no move" if broken else "",
        spread=spread_of(times),
        worst_us=max(times, default=0),
        cpu_us=rng.randrange(100_000, 3_000_000),
        start_cpu_us=rng.randrange(10_000, 90_000),
        peak_bytes=rng.randrange(10_000_000, 200_000_000),
    )


class Simulated:
    """Matches of sample bots, played in this process in virtual time, with their transcripts."""

    async def __call__(self, plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
        """See `arena.workers.Play`."""
        await trio.lowlevel.checkpoint()
        played = transcript.with_suffix(".played")
        play(
            plan.game,
            [player.folder.folder for player in players],
            variant=plan.variant,
            seed=plan.seed,
            options=None if plan.options is None else decode_json(plan.options),
            on_illegal="default",
            think_ms=lambda seat, opened: 10 * (seat + 1) + opened.id % 7,
            transcript=played,
        )
        write_again(played, transcript, labels=plan.labels)
        played.unlink()
        return _result_of(plan, transcript)


def _result_of(plan: Plan, transcript: Path) -> AttemptResult:
    """Return the result of a whole match's transcript."""
    charged, windows, defaults = Counter[int](), Counter[int](), Counter[int]()
    ended: Ended | None = None
    for record in read_transcript(transcript):
        if isinstance(record, WindowTime):
            for part in record.seats:
                charged[part.seat] += part.charged_ms * MICROSECONDS_PER_MS
                windows[part.seat] += 1
                defaults[part.seat] += part.by_default
        elif isinstance(record, Ended):
            ended = record
    assert ended is not None
    seats = range(len(plan.labels))
    return AttemptResult(
        match=plan.match,
        outcome=ended.outcome,
        conduct=ended.conduct,
        void=None,
        charged_us=tuple(charged[seat] for seat in seats),
        windows=tuple(windows[seat] for seat in seats),
        defaults=tuple(defaults[seat] for seat in seats),
        refused=tuple(sum(refused.values()) for refused in ended.refused),
        transcript=str(transcript),
        head=verify_transcript(transcript).head,
    )
