"""A tournament's ledger: its terms at the start, later changes, all attempts at matches, and blocks that count.

This is the only module that writes entries; `ledger_file` has the file. Attempts are stored apart from results: a
block's matches become results together, when the last of them has ended. A void attempt makes its whole block
void, which is then played again. Calls wait for the disk; from trio, make them in a thread.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, starmap
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import WrongUse
from arena.quantities import pluralise
from arena.schedule import FieldChange, ScheduledMatch, What, kind_of
from arena.statistics import CountedMatch, Reported
from arena.tournament.aside import (
    MOST_EVIDENCE,
    Again,
    Asides,
    DealtAnew,
    Held,
    OwnDoing,
    SetAside,
    Step,
    StepTaken,
    bound_to,
    count_of,
    deal_of,
    held_since,
    hold_ups_of,
)
from arena.tournament.ledger_file import RECENT, LedgerFile
from protocol.codec import MAX_NESTING, TOO_DEEP, is_deeper
from protocol.refusals import Conduct
from referee.host import AttemptResult
from referee.match import HeldUp, SeatReport

LAST = 2**63 - 1
"""SQLite's largest number, which is larger than that of any block."""
MOST_EVENTS = 10_000
"""Most changes of one tournament. All are read whenever one is accepted."""
INTERRUPTED = "interrupted"
"""Reason of a void attempt whose process was stopped; no bot is at fault."""


_REPORTED = (
    "SELECT played, reports, CASE WHEN place LIKE '%://%' THEN place ELSE transcript END FROM results"
    " JOIN attempts ON attempts.id = results.attempt"
)
_ENDED = (
    "SELECT id, transcript, CASE WHEN place LIKE '%://%' THEN place END, json_extract(played, '$.head')"
    " FROM attempts WHERE ended IS NOT NULL"
)
_IN_ORDER = " ORDER BY results.block, results.seating"


LedgerCall = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Makes a call of the ledger, and returns its result."""


class Attempt(Struct, frozen=True):
    """An attempt at a match."""

    id: int
    number: int
    """Number of this attempt among those at its match, from 1."""
    transcript: Path
    deal: int = 0
    """Number of times that the block has been dealt again."""
    unexcused: frozenset[int] = frozenset()
    """The entrants that a verdict `host` does not excuse."""


class HeldUpBlock(Struct, frozen=True, kw_only=True):
    """The state of a block after an attempt that is void because a bot lost a window."""

    set_aside: int
    """Number of results that the block had, which no longer count."""
    held: tuple[Held, ...]
    """The hold-ups that made the block void since its start, or since it was last set aside."""
    is_aside: bool
    """True if the block is set aside now."""


class EndedAttempt(Struct, frozen=True, array_like=True):
    """An attempt that has ended."""

    id: int
    transcript: str
    place: str | None
    """URL of the transcript, if it is not in the results folder."""
    head: str | None
    """The transcript's last hash; None: the attempt is void."""


class AttemptCounts(Struct, frozen=True, array_like=True):
    """Sums over some attempts that have ended. Interrupted ones do not count as void."""

    last: int
    """Id of the last of these attempts; if there are none, of the last attempt before."""
    played: int = 0
    void: int = 0
    windows: int = 0
    """Windows of all seats; the next two also count windows of all seats."""
    defaults: int = 0
    late: int = 0
    """Windows whose answers came too late."""
    failed: int = 0
    """Seats whose conduct was not `ok`."""


class LedgerTimes(Struct, frozen=True, kw_only=True):
    """Times of matches, as wall time in ISO 8601, in UTC."""

    begun: str | None
    """Start of the first attempt."""
    ended: tuple[str, ...]
    """Ends of the latest matches that count, in order."""
    under_way: tuple[tuple[int, int, str], ...]
    """Block, seating and start of attempts that have not ended. Those of a killed arena never end."""


class Ledger(LedgerFile):
    """An open ledger. Close it after use; the file is intact even without that."""

    def terms(self) -> dict[str, Any]:
        """Return the terms of the tournament at its start; empty for a new ledger."""
        with self._errors_as_exits():
            rows = self._db.execute("SELECT key, value FROM terms ORDER BY rowid").fetchall()
            return {key: _shallow(value) for key, value in rows}

    def begin(self, terms: dict[str, Any]) -> None:
        """Write the terms with which the tournament begins."""
        rows = [(key, msgspec.json.encode(value).decode()) for key, value in terms.items()]
        with self._errors_as_exits(), self._transaction():
            self._db.executemany("INSERT INTO terms VALUES (?, ?)", rows)

    def events(self) -> list[FieldChange]:
        """Return all changes, including those that wait and those that were refused."""
        with self._errors_as_exits():
            return self._events()

    def waiting(self) -> bool:
        """Return whether changes wait to be accepted."""
        return bool(self._read("SELECT 1 FROM events WHERE block IS NULL AND refused IS NULL LIMIT 1"))

    def ended(self, after: int, count: int) -> list[EndedAttempt]:
        """Return up to `count` attempts that have ended and have an id greater than `after`, in order."""
        return self._read(f"{_ENDED} AND id > ? ORDER BY id LIMIT ?", after, count, kind=EndedAttempt)

    def last_ended(self) -> EndedAttempt | None:
        """Return the last attempt that has ended; None if there is none."""
        return next(iter(self._read(f"{_ENDED} ORDER BY id DESC LIMIT 1", kind=EndedAttempt)), None)

    def matches(self, end: int = LAST) -> int:
        """Return the number of matches of the blocks before `end` that count."""
        ((count,),) = self._read("SELECT count(*) FROM results WHERE block < ?", end)
        return int(count)

    def begun(self) -> int:
        """Return the number of blocks that were begun."""
        with self._errors_as_exits():
            return self._begun()

    def change(self, change: Callable[[Sequence[FieldChange], int], What]) -> FieldChange:
        """Write a change, which the next arena to look for changes accepts. No other change is written meanwhile.

        Args:
            change: returns the change; called with all events so far and the number of begun blocks. Its
                exceptions end the call.
        """
        with self._errors_as_exits(), self._transaction():
            events = self._events()
            if len(events) >= MOST_EVENTS:
                raise WrongUse(f"{self.path}: a tournament has at most {MOST_EVENTS} changes")
            what = change(events, self._begun())
            row = (self._now(), kind_of(what), msgspec.json.encode(what).decode())
            self._db.execute("INSERT INTO events (at, kind, data) VALUES (?, ?, ?)", row)
            return self._events()[-1]

    def take_in(self, judge: Callable[[Sequence[FieldChange], int], Sequence[FieldChange]]) -> list[FieldChange]:
        """Accept or refuse the changes that wait; return them.

        Args:
            judge: called with all events so far and the number of begun blocks. It returns the events that
                waited, each with its block or with the reason of its refusal.
        """
        with self._errors_as_exits(), self._transaction():
            settled = list(judge(self._events(), self._begun()))
            self._db.executemany(
                "UPDATE events SET block = ?, refused = ? WHERE id = ?",
                [(event.block, event.refused, event.id) for event in settled],
            )
        return settled

    def give_up_unfinished(self) -> int:
        """Declare the unfinished attempts of another process void; return their number."""
        with self._errors_as_exits(), self._transaction():
            done = self._db.execute(
                "UPDATE attempts SET ended = ?, void = ? WHERE ended IS NULL", (self._now(), INTERRUPTED)
            )
        return done.rowcount

    def finished(self, first: int = 0) -> set[tuple[int, int]]:
        """Return block and seating of every match that has a result, from block `first` on.

        Matches of blocks that are not complete yet are included.
        """
        query = "SELECT block, seating FROM attempts WHERE block >= ? AND played IS NOT NULL AND set_aside IS NULL"
        return set(self._read(query, first))

    def try_match(self, match: ScheduledMatch, folder: Path, name: str) -> Attempt:
        """Write that an attempt at a match begins, with the transcript `name` in `folder`."""
        with self._errors_as_exits(), self._transaction():
            (tried,) = self._db.execute(
                "SELECT count(*) FROM attempts WHERE block = ? AND seating = ?", (match.block, match.seating)
            ).fetchone()
            transcript = _unused(folder, name, tried + 1)
            row = self._db.execute(
                "INSERT INTO attempts (block, seating, number, transcript, started) VALUES (?, ?, ?, ?, ?)",
                (match.block, match.seating, tried + 1, transcript.name, self._now()),
            ).lastrowid
            steps = self._steps(match.block)
        deal, unexcused = deal_of(steps, match.block), Asides.of(steps).unexcused(match.block)
        return Attempt(row or 0, tried + 1, transcript, deal, unexcused)

    def void(self, attempt: Attempt, reason: str) -> None:
        """Write that an attempt ended without a result."""
        with self._errors_as_exits(), self._transaction():
            self._void(attempt, reason)

    def lose_worker(self, attempt: Attempt, how: str) -> None:
        """Write that the referee process of an attempt ended, and how."""
        with self._errors_as_exits(), self._transaction():
            self._void(attempt, INTERRUPTED)
            self._db.execute("UPDATE attempts SET worker = ? WHERE id = ?", (how, attempt.id))

    def void_block(self, block: int, attempt: Attempt, reason: str, *, redeals: bool = False) -> int:
        """Write that an attempt ended without a result, and that its block is played again.

        Running attempts at its matches will not count either.

        Args:
            block: the number of the block.
            attempt: the void attempt.
            reason: the reason why it is void.
            redeals: whether the block is played from another deal.

        Returns:
            The number of results that the block had.
        """
        with self._errors_as_exits(), self._transaction():
            if redeals:
                self._add_step(block, DealtAnew(), attempt.id)
            return self._void_block(block, attempt, reason)

    def hold_up(
        self,
        match: ScheduledMatch,
        attempt: Attempt,
        reason: str,
        held_up: HeldUp,
        *,
        alone: bool = False,
        voids_block: bool,
        most: int | None,
    ) -> HeldUpBlock:
        """Write that an attempt is void because a bot lost a window.

        Args:
            match: the match of the attempt.
            attempt: the void attempt.
            reason: the reason why it is void.
            held_up: the bot that lost a window.
            alone: whether that is evidence against the bot (`aside.is_alone_in`).
            voids_block: whether its block is played again, from another deal; see `void_block`.
            most: number of times that a block may be void for the same bot before it is set aside; None: it is
                never set aside.
        """
        block, played = match.block, 0
        step = Held(
            entrant=match.entrants[held_up.seat],
            held_up=held_up,
            redeals=voids_block,
            present=match.entrants,
            alone=alone,
        )
        with self._errors_as_exits(), self._transaction():
            self._add_step(block, step, attempt.id)
            if voids_block:
                played = self._void_block(block, attempt, reason)
            else:
                self._void(attempt, reason)
            held = held_since(self._steps(block), block)
            bot = bound_to(held)
            is_aside = voids_block and most is not None and bot is not None and len(held) >= most
            if is_aside and bot is not None:
                evidence = tuple(each.text for each in held[-MOST_EVIDENCE:])
                self._add_step(block, SetAside(entrant=bot, evidence=evidence))
        return HeldUpBlock(set_aside=played, held=tuple(held), is_aside=is_aside)

    def _void_block(self, block: int, attempt: Attempt, reason: str) -> int:
        self._void(attempt, reason)
        ((played,),) = self._db.execute(
            "SELECT count(*) FROM attempts WHERE block = ? AND played IS NOT NULL AND set_aside IS NULL",
            (block,),
        )
        self._db.execute(
            "UPDATE attempts SET set_aside = ? WHERE block = ? AND void IS NULL AND set_aside IS NULL",
            (reason, block),
        )
        return int(played)

    def add_step(self, block: int | None, step: Step) -> None:
        """Write a step about a block that is or was set aside, or about a bot."""
        with self._errors_as_exits(), self._transaction():
            self._add_step(block, step)

    def longest_window(self, entrant: int) -> int | None:
        """Return the longest time of a bot for a window in its latest matches that count, in microseconds.

        None: it has played no match that counts.
        """
        seats = f"(SELECT * FROM attempts WHERE played IS NOT NULL ORDER BY id DESC LIMIT {RECENT}) AS recent"  # noqa: S608 - a number
        ((found,),) = self._read(
            "SELECT max(coalesce(json_extract(recent.reports, '$[' || seat.key || '].worst_us'), 0))"  # noqa: S608
            f" FROM {seats} JOIN results ON results.attempt = recent.id"
            " JOIN json_each(recent.played, '$.entrants') AS seat WHERE seat.value = ?",
            entrant,
        )
        return None if found is None else int(found)

    def judge_own_doing(self, entrant: int, bots: int) -> tuple[OwnDoing | None, list[int]]:
        """Write that a bot causes its own hold-ups, if all void attempts show it and it is not written yet.

        Blocks that wait for the host because of that bot are then played again.

        Args:
            entrant: the bot.
            bots: the number of bots that are compared.

        Returns:
            The step that was written, or None; and the numbers of these blocks.
        """
        with self._errors_as_exits(), self._transaction():
            steps = self._steps()
            asides, count = Asides.of(steps), count_of(hold_ups_of(steps), entrant)
            known = set(map(attrgetter("entrant"), asides.own_doing))
            if entrant in known or not count.shows_own_doing(bots):
                return None, []
            evidence = (
                f"it was held up in {pluralise(count.alone, 'void attempt')}, in which no opponent was, though as"
                f" exposed; in {count.others} others at its matches another bot was held up and it was not"
            )
            found = OwnDoing(entrant=entrant, evidence=evidence)
            self._add_step(None, found)
            blocks = []
            for each in asides.undecided:
                if each.set_aside.entrant == entrant:
                    blocks.append(each.block)
                    self._add_step(each.block, Again(unexcused=(entrant,), by_host=False))
        return found, blocks

    def play_unexcused(self, block: int) -> tuple[int, ...]:
        """Record that a block set aside is now played; return the bots that hold-ups no longer excuse in it."""
        with self._errors_as_exits(), self._transaction():
            undecided = Asides.of(self._steps(block)).undecided
            entrants = tuple(each.set_aside.entrant for each in undecided)
            if entrants:
                self._add_step(block, Again(unexcused=entrants, by_host=False))
        return entrants

    def asides(self) -> Asides:
        """Return the blocks that were set aside, and the bots that are not excused any more."""
        return Asides.of(self.steps())

    def steps(self) -> list[StepTaken]:
        """Return the steps about void blocks and bots, in order."""
        with self._errors_as_exits():
            return self._steps()

    def _steps(self, block: int | None = None) -> list[StepTaken]:
        """Return the steps of a block, and those of all blocks."""
        which, values = "", tuple[int, ...]()
        if block is not None:
            which, values = " WHERE block = ? OR block IS NULL", (block,)
        found = []
        rows = self._db.execute(f"SELECT attempt, block, data FROM steps{which} ORDER BY id", values)  # noqa: S608
        for attempt, number, data in rows:
            taken = {"attempt": attempt, "block": number, "step": _shallow(data)}
            found.append(msgspec.convert(taken, StepTaken))
        return found

    def _add_step(self, block: int | None, step: Step, attempt: int | None = None) -> None:
        if attempt is None:
            (attempt,) = self._db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
        self._db.execute(
            "INSERT INTO steps (at, attempt, block, data) VALUES (?, ?, ?, ?)",
            (self._now(), attempt, block, msgspec.json.encode(step).decode()),
        )

    def finish(self, match: ScheduledMatch, attempt: Attempt, result: AttemptResult, seatings: int) -> bool:
        """Write the result of an attempt; return whether its block is complete, and so counts, now."""
        played = msgspec.json.encode(_played(match, result)).decode()
        place = None if result.transcript == str(attempt.transcript) else result.transcript
        with self._errors_as_exits(), self._transaction():
            self._db.execute(
                "UPDATE attempts SET ended = ?, played = ?, place = ?, reports = ? WHERE id = ?",
                (self._now(), played, place, msgspec.json.encode(result.reports).decode(), attempt.id),
            )
            rows = self._db.execute(
                "SELECT block, seating, id, json_extract(played, '$.head') FROM attempts"
                " WHERE block = ? AND played IS NOT NULL AND set_aside IS NULL",
                (match.block,),
            ).fetchall()
            # An attempt that no longer counts may end after its block has been played again and counts.
            completes = len(rows) == seatings and any(row[2] == attempt.id for row in rows)
            if completes:
                self._db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
        return completes

    def results(self, first: int = 0, end: int = LAST) -> list[CountedMatch]:
        """Return the matches that count of the blocks from `first` on and before `end`, in schedule order."""
        with self._errors_as_exits():
            rows = self._db.execute(
                "SELECT played FROM results JOIN attempts ON attempts.id = results.attempt"
                " WHERE results.block >= ? AND results.block < ? ORDER BY results.block, results.seating",
                (first, end),
            ).fetchall()
            return [msgspec.json.decode(played, type=CountedMatch) for (played,) in rows]

    def reports(self, end: int = LAST, first: int = 0) -> Iterator[Reported]:
        """Yield the matches that count of the blocks from `first` on and before `end`, in schedule order.

        Each comes with its seats' reports and its transcript's name, or its URL if it is not in the results
        folder. Rows are read one by one, so those of a large tournament need not be in memory together.
        """
        with self._errors_as_exits():
            which = " WHERE results.block >= ? AND results.block < ?"
            yield from map(_reported, self._db.execute(f"{_REPORTED}{which}{_IN_ORDER}", (first, end)))

    def after(self, block: int, seating: int, count: int) -> list[Reported]:
        """Return up to `count` matches that count and follow this one in schedule order, as `reports` does."""
        with self._errors_as_exits():
            rows = self._db.execute(
                f"{_REPORTED} WHERE (results.block, results.seating) > (?, ?){_IN_ORDER} LIMIT ?",
                (block, seating, count),
            )
            return list(map(_reported, rows))

    def one(self, block: int, seating: int) -> Reported | None:
        """Return this match as `reports` does; None if it does not count."""
        with self._errors_as_exits():
            rows = self._db.execute(
                f"{_REPORTED} WHERE results.block = ? AND results.seating = ?", (block, seating)
            )
            return next(map(_reported, rows), None)

    def counted_since(self, attempt: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield block, seating and entrants of the matches of blocks that an attempt from this one on belongs to.

        Only blocks that count. From `unended` of an earlier moment on, these include all that count since then.
        """
        query = (
            "SELECT results.block, results.seating, json_extract(played, '$.entrants') FROM results"
            " JOIN attempts ON attempts.id = results.attempt"
        )
        if attempt:
            query += " WHERE results.block IN (SELECT block FROM results WHERE attempt >= ?)"
        with self._errors_as_exits():
            for block, seating, entrants in self._db.execute(query, (attempt,) if attempt else ()):
                yield int(block), int(seating), msgspec.json.decode(entrants, type=tuple[int, ...])

    def unended(self, since: int) -> int:
        """Return the first attempt from `since` on that has not ended, or the one that will be made next."""
        ((found, last),) = self._read(
            "SELECT (SELECT min(id) FROM attempts WHERE id >= ? AND ended IS NULL), max(id) FROM attempts", since
        )
        return int(found or (last or 0) + 1)

    def counted(self, heads: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return block and seating of the matches that count among those with these transcript heads, by head."""
        marks = ", ".join("?" * len(heads))
        rows = self._read(f"SELECT head, block, seating FROM results WHERE head IN ({marks})", *heads)  # noqa: S608 - question marks
        return {head: (block, seating) for head, block, seating in rows}

    def some(self, keys: Iterable[tuple[int, int]]) -> list[Reported]:
        """Return the matches with these blocks and seatings that count, as `reports` does."""
        return list(filter(None, starmap(self.one, keys)))

    def times(self) -> LedgerTimes:
        """Return the times of the last `RECENT` attempts: reading all of a large ledger would take too long."""
        recent = f"(SELECT * FROM attempts ORDER BY id DESC LIMIT {RECENT}) AS recent"  # noqa: S608 - a number
        begun = self._read("SELECT started FROM attempts ORDER BY id LIMIT 1")
        ended = self._read(
            f"SELECT recent.ended FROM {recent} JOIN results ON results.attempt = recent.id ORDER BY recent.ended"  # noqa: S608
        )
        under_way = self._read(
            f"SELECT block, seating, started FROM {recent} WHERE ended IS NULL AND set_aside IS NULL ORDER BY id"  # noqa: S608
        )
        return LedgerTimes(
            begun=begun[0][0] if begun else None,
            ended=tuple(chain.from_iterable(ended)),
            under_way=tuple(under_way),
        )

    def last_settled(self) -> int:
        """Return the id of the attempt up to which all have ended, or are not of the last `RECENT`."""
        ((last,),) = self._read(
            "SELECT coalesce((SELECT min(id) - 1 FROM attempts WHERE ended IS NULL"
            " AND id > (SELECT max(id) FROM attempts) - ?), (SELECT max(id) FROM attempts), 0)",
            RECENT,
        )
        return int(last)

    def counts(self, after: int) -> AttemptCounts:
        """Return sums over the attempts with an id greater than `after`, up to `last_settled`."""
        ((*found,),) = self._read(
            "SELECT coalesce(max(id), ?), count(played), count(*) FILTER (WHERE void != ?),"
            " coalesce(sum((SELECT sum(value) FROM json_each(played, '$.windows'))), 0),"
            " coalesce(sum((SELECT sum(value) FROM json_each(played, '$.defaults'))), 0),"
            " coalesce(sum((SELECT sum(value ->> '$.late') FROM json_each(reports))), 0),"
            " coalesce(sum((SELECT count(*) FROM json_each(played, '$.conduct') WHERE value != ?)), 0)"
            " FROM attempts WHERE id > ? AND id <= ?",
            after,
            INTERRUPTED,
            Conduct.OK.value,
            after,
            self.last_settled(),
        )
        with self._errors_as_exits():
            return msgspec.convert(found, AttemptCounts)

    def void_series(self) -> tuple[int, str]:
        """Return the number of void attempts since the last match that was played, and the reason of the last."""
        ((count, last),) = self._read(
            "SELECT count(*), max(id) FROM attempts WHERE void != ?"
            " AND id > coalesce((SELECT id FROM attempts WHERE played IS NOT NULL ORDER BY id DESC LIMIT 1), 0)",
            INTERRUPTED,
        )
        reason = self._read("SELECT void FROM attempts WHERE id = ?", last)
        return int(count), str(reason[0][0]) if reason else ""

    def recent_blocks(self, count: int) -> list[tuple[int, str]]:
        """Return the latest blocks that count, each with the end of its last match; newest first.

        They are of the last `RECENT` attempts, as in `times`.
        """
        recent = f"(SELECT * FROM attempts ORDER BY id DESC LIMIT {RECENT}) AS recent"  # noqa: S608 - a number
        rows = self._read(
            f"SELECT results.block, max(recent.ended) FROM {recent} JOIN results ON results.attempt = recent.id"  # noqa: S608
            " GROUP BY results.block ORDER BY max(recent.id) DESC LIMIT ?",
            count,
        )
        return [(block, ended) for block, ended in rows]

    def under_way(self, block: int, seating: int) -> str | None:
        """Return the transcript's name of the latest running attempt at a match; None if there is none."""
        found = self._read(
            "SELECT transcript FROM attempts WHERE block = ? AND seating = ?"
            " AND ended IS NULL AND set_aside IS NULL ORDER BY id DESC LIMIT 1",
            block,
            seating,
        )
        return str(found[0][0]) if found else None

    def transcripts(self) -> dict[tuple[int, int], str]:
        """Return the transcript's name of every match that counts, by block and seating."""
        rows = self._read(
            "SELECT results.block, results.seating, transcript FROM results"
            " JOIN attempts ON attempts.id = results.attempt"
        )
        return {(block, seating): name for block, seating, name in rows}

    def played(self) -> Iterator[tuple[CountedMatch, tuple[SeatReport, ...]]]:
        """Yield every match that has a result, with its seats' reports, in schedule order.

        Matches of blocks that are not complete yet are included.
        """
        with self._errors_as_exits():
            rows = self._db.execute(
                "SELECT played, reports, transcript FROM attempts WHERE played IS NOT NULL AND set_aside IS NULL"
                " ORDER BY block, seating"
            )
            for row in rows:
                yield _reported(row)[:2]

    def failed(self) -> dict[int, int]:
        """Return the number of finished matches in which an entrant's conduct was not `ok`, by entrant."""
        rows = self._read(
            "SELECT json_extract(played, '$.entrants[' || seat.key || ']') AS entrant,"
            " count(DISTINCT attempts.id) FROM attempts JOIN json_each(played, '$.conduct') AS seat"
            " WHERE played IS NOT NULL AND set_aside IS NULL AND seat.value != ? GROUP BY entrant",
            Conduct.OK.value,
        )
        return dict(rows)

    def voids(self) -> list[tuple[int, int, str]]:
        """Return block, seating and reason of every void attempt, without interrupted ones."""
        query = "SELECT block, seating, void FROM attempts WHERE void IS NOT NULL AND void != ? ORDER BY id"
        return self._read(query, INTERRUPTED)

    def lost_with_workers(self) -> list[tuple[int, int, str]]:
        """Return block, seating and the end of the referee process of every attempt that outlived it."""
        return self._read("SELECT block, seating, worker FROM attempts WHERE worker IS NOT NULL ORDER BY id")

    def set_aside(self) -> list[tuple[int, int, str]]:
        """Return block, seating and reason of every match that was played, and played again with its block."""
        return self._read(
            "SELECT block, seating, set_aside FROM attempts"
            " WHERE set_aside IS NOT NULL AND played IS NOT NULL ORDER BY id"
        )

    def _events(self) -> list[FieldChange]:
        found = self._db.execute("SELECT id, at, block, refused, kind, data FROM events ORDER BY id")
        names = [name for name, *_ in found.description]
        events = [_event(dict(zip(names, row, strict=True))) for row in islice(found, MOST_EVENTS + 1)]
        if len(events) > MOST_EVENTS:
            raise msgspec.ValidationError(f"more than {MOST_EVENTS} events")
        return events

    def _begun(self) -> int:
        """Return the number of begun blocks, which have an attempt at a match.

        A block that later ones have overtaken, because a remote bot was absent, counts as begun.
        """
        (last,) = self._db.execute("SELECT max(block) FROM attempts").fetchone()
        return 0 if last is None else int(last) + 1

    def _void(self, attempt: Attempt, reason: str) -> None:
        self._db.execute("UPDATE attempts SET ended = ?, void = ? WHERE id = ?", (self._now(), reason, attempt.id))


def _shallow(text: str) -> Any:
    """Return an untrusted JSON value that is shallow enough to be encoded again."""
    value = msgspec.json.decode(text)
    if is_deeper(text.encode(), MAX_NESTING):
        raise RecursionError(TOO_DEEP)
    return value


def _event(row: dict[str, Any]) -> FieldChange:
    """Return a row of the table as an event. It is checked, because a ledger may be untrusted."""
    event = msgspec.convert(row | {"what": msgspec.json.decode(row["data"])}, FieldChange)
    if event.kind != row["kind"]:
        raise msgspec.ValidationError(f"event {event.id} is of two kinds")
    return event


def _unused(folder: Path, name: str, number: int) -> Path:
    """Return an unused path for a transcript. A file with no line in the ledger, lost by a power cut, is kept."""
    while True:
        path = folder / (f"{name}.jsonl" if number == 1 else f"{name}.{number}.jsonl")
        if not path.exists() and not path.with_name(f"{path.name}.part").exists():
            return path
        number += 1


def _reported(row: tuple[str, str, str]) -> Reported:
    played, reports, transcript = row
    if not isinstance(transcript, str):
        raise TypeError("a transcript's name is no text")
    match = msgspec.json.decode(played, type=CountedMatch)
    of_seats = msgspec.json.decode(reports, type=tuple[SeatReport, ...])
    if len(of_seats) not in (0, len(match.entrants)):
        raise TypeError(f"{len(of_seats)} reports of {len(match.entrants)} seats")
    return Reported(match, of_seats, transcript)


def _played(match: ScheduledMatch, result: AttemptResult) -> CountedMatch:
    """Return the part of a result from which standings are computed."""
    if result.outcome is None:
        raise ValueError(f"a void attempt at {match.name} was given as a result")
    return CountedMatch(
        block=match.block,
        seating=match.seating,
        entrants=match.entrants,
        outcome=result.outcome,
        conduct=result.conduct,
        charged_us=result.charged_us,
        windows=result.windows,
        defaults=result.defaults,
        refused=result.refused,
        head=result.head,
    )
