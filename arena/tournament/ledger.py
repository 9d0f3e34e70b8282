"""A tournament's book: what it was begun with, what changed since, all attempts at matches, the blocks that count.

The only file that writes it. SQLite in WAL mode: a process killed at any moment leaves a book that is whole.
Attempts stand apart from results: a block's matches become results all at once, when the last of them has ended.
An attempt that is void takes its block with it: what had been played of that is set aside, and played again.
Calls wait on the disk; from trio, make them in a thread.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.quantities import pluralise
from arena.schedule import Event, Match, What, kind_of
from arena.statistics import Played, Reported, count_of
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
    deal_of,
    held_since,
    hold_ups_of,
)
from arena.tournament.ledger_clock import LedgerClock
from arena.tournament.ledger_schema import StrangeBookError, prepare
from protocol.codec import MAX_NESTING, TOO_DEEP, is_deeper
from protocol.refusals import Conduct
from referee.host import Result
from referee.linux.files import check_regular, for_owner
from referee.match import HeldUp, SeatReport

LAST = 2**63 - 1
"""SQLite's largest number: no block has it."""
MOST_EVENTS = 10_000
"""Of one tournament: all are read whenever one is taken in."""
PRIMARY_CODE = 0xFF
OF_THE_MACHINE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
"""Errors of SQLite that are not the file's; by its primary codes."""
PAGES = 2_000
"""Of a book that is copied, in one step: 8 MB."""
RECENT = 2_000
"""Attempts that are looked through for times: more than any arena makes at once."""
INTERRUPTED = "interrupted"
"""Why an attempt is void whose process was stopped: it is no fault of anyone's."""


_REPORTED = (
    "SELECT played, reports, CASE WHEN place LIKE '%://%' THEN place ELSE transcript END FROM results"
    " JOIN attempts ON attempts.id = results.attempt"
)
_ENDED = (
    "SELECT id, transcript, CASE WHEN place LIKE '%://%' THEN place END, json_extract(played, '$.head')"
    " FROM attempts WHERE ended IS NOT NULL"
)
_IN_ORDER = " ORDER BY results.block, results.seating"


class Attempt(Struct, frozen=True):
    """One try at a match."""

    id: int
    number: int
    """Counts the tries at this match from 1."""
    transcript: Path
    deal: int = 0
    """How often its block has been dealt anew."""
    unexcused: frozenset[int] = frozenset()
    """The entrants that a verdict `host` does not excuse."""


class HeldUpBlock(Struct, frozen=True, kw_only=True):
    """What an attempt that is void because a bot lost a window has done to its block."""

    set_aside: int
    """How many results the block had: they do not count."""
    held: tuple[Held, ...]
    """The hold-ups that made the block void since it was begun, or set aside the last time."""
    is_aside: bool
    """Whether the block is set aside now."""


class Ended(Struct, frozen=True, array_like=True):
    """An attempt that has ended."""

    id: int
    transcript: str
    place: str | None
    """URL of its transcript, if that is not in the results folder."""
    head: str | None
    """The transcript's last hash; None: the attempt is void."""


class LedgerTimes(Struct, frozen=True, kw_only=True):
    """When matches were played. Times are wall time, ISO 8601, UTC."""

    begun: str | None
    """When the first attempt began."""
    ended: tuple[str, ...]
    """When the latest matches that count ended, the last of them at the end."""
    under_way: tuple[tuple[int, int, str], ...]
    """Block, seating and beginning of attempts that have no end. Of an arena that was killed, they stay so."""


class Ledger:
    """An open book. Close it; a book that was not closed is whole all the same."""

    def __init__(self, path: Path) -> None:
        """Opens the book, or begins one.

        Raises:
            WrongUse: the file is no ledger, or one of a newer arena.
            MachineCannot: it cannot be read or written.
        """
        self.path = path
        with self._errors_as_exits(), ExitStack() as undo:
            self._check_file()
            _begin(path)
            # Calls come from trio's worker threads, one at a time.
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            undo.callback(self._db.close)
            self._db.execute("PRAGMA journal_mode = WAL")
            # No wait for the disk at each line: 6 ms here. A power cut may take the last lines, but never
            # the book; what they told of is played again.
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            prepare(self._db)
            undo.pop_all()
        self._clock: LedgerClock | None = None

    def close(self) -> None:
        """Ends the use of the book."""
        self._db.close()

    def terms(self) -> dict[str, Any]:
        """What the tournament was begun with; empty for a new book."""
        with self._errors_as_exits():
            rows = self._db.execute("SELECT key, value FROM terms ORDER BY rowid").fetchall()
            return {key: _shallow(value) for key, value in rows}

    def begin(self, terms: dict[str, Any]) -> None:
        """Writes down what the tournament is begun with."""
        rows = [(key, msgspec.json.encode(value).decode()) for key, value in terms.items()]
        with self._errors_as_exits(), self._transaction():
            self._db.executemany("INSERT INTO terms VALUES (?, ?)", rows)

    def events(self) -> list[Event]:
        """All changes since it was begun, also those that no arena has taken in, or could."""
        with self._errors_as_exits():
            return self._events()

    def waiting(self) -> bool:
        """Whether there are changes that no arena has taken in."""
        with self._errors_as_exits():
            query = "SELECT EXISTS (SELECT 1 FROM events WHERE block IS NULL AND refused IS NULL)"
            (found,) = self._db.execute(query).fetchone()
        return bool(found)

    def copy_to(self, path: Path, step: Callable[[int, int], None]) -> None:
        """Writes the book as it is now to a new file, for its owner alone, while others go on to write it.

        Args:
            path: the file's; what is there is replaced.
            step: told now and then how many pages are left, of how many.

        Raises:
            MachineCannot: there is no space for it.
        """
        with self._errors_as_exits():
            self._db.execute("BEGIN")
        try:
            with self._errors_as_exits():
                # The first thing read settles as of when: SQLite would begin anew at each line that others write.
                self._begun()
            with self._errors_as_exits(path):
                path.unlink(missing_ok=True)
                _begin(path)
                with closing(sqlite3.connect(path)) as copy:
                    self._db.backup(copy, pages=PAGES, progress=lambda _, left, total: step(left, total))
        finally:
            self._db.execute("ROLLBACK")

    def ended(self, after: int, count: int) -> list[Ended]:
        """At most so many attempts that have ended, those with a greater number than `after`, in order."""
        with self._errors_as_exits():
            rows = self._db.execute(f"{_ENDED} AND id > ? ORDER BY id LIMIT ?", (after, count))
            return [msgspec.convert(row, Ended) for row in rows]

    def last_ended(self) -> Ended | None:
        """The last attempt that has ended; None: there is none."""
        with self._errors_as_exits():
            row = self._db.execute(f"{_ENDED} ORDER BY id DESC LIMIT 1").fetchone()
            return None if row is None else msgspec.convert(row, Ended)

    def matches(self) -> int:
        """How many matches count."""
        with self._errors_as_exits():
            (count,) = self._db.execute("SELECT count(*) FROM results").fetchone()
        return int(count)

    def damage(self) -> str | None:
        """What SQLite finds wrong with the book when it reads all of it; None: nothing."""
        with self._errors_as_exits():
            ((found,),) = self._db.execute("PRAGMA integrity_check(1)")
        return None if found == "ok" else str(found)

    def settle(self) -> None:
        """Puts what SQLite keeps beside the book into it, as far as no other process reads it now."""
        with self._errors_as_exits():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def begun(self) -> int:
        """How many blocks were begun."""
        with self._errors_as_exits():
            return self._begun()

    def change(self, change: Callable[[Sequence[Event], int], What]) -> Event:
        """Writes down a change that the next arena to look takes in. No other is written meanwhile.

        `change` is given all events so far, and how many blocks were begun; what it raises ends the call.
        """
        with self._errors_as_exits(), self._transaction():
            events = self._events()
            if len(events) >= MOST_EVENTS:
                raise WrongUse(f"{self.path}: a tournament has at most {MOST_EVENTS} changes")
            what = change(events, self._begun())
            row = (self._now(), kind_of(what), msgspec.json.encode(what).decode())
            self._db.execute("INSERT INTO events (at, kind, data) VALUES (?, ?, ?)", row)
            return self._events()[-1]

    def take_in(self, judge: Callable[[Sequence[Event], int], Sequence[Event]]) -> list[Event]:
        """Settles the changes that wait; those it settled.

        `judge` is given all events so far, and how many blocks were begun; it gives back the events that waited,
        each with its block, or with why it is refused.
        """
        with self._errors_as_exits(), self._transaction():
            settled = list(judge(self._events(), self._begun()))
            self._db.executemany(
                "UPDATE events SET block = ?, refused = ? WHERE id = ?",
                [(event.block, event.refused, event.id) for event in settled],
            )
        return settled

    def give_up_unfinished(self) -> int:
        """Declares void what another process left unfinished; how many attempts that were."""
        with self._errors_as_exits(), self._transaction():
            done = self._db.execute(
                "UPDATE attempts SET ended = ?, void = ? WHERE ended IS NULL", (self._now(), INTERRUPTED)
            )
        return done.rowcount

    def finished(self, first: int = 0) -> set[tuple[int, int]]:
        """Block and seating of every match that need not be played again, its block being committed or not.

        `first`: those of earlier blocks are left out.
        """
        with self._errors_as_exits():
            return set(
                self._db.execute(
                    "SELECT block, seating FROM attempts"
                    " WHERE block >= ? AND played IS NOT NULL AND set_aside IS NULL",
                    (first,),
                )
            )

    def counting(self, end: int = LAST) -> int:
        """How many matches of the blocks before `end` count."""
        with self._errors_as_exits():
            (found,) = self._db.execute("SELECT count(*) FROM results WHERE block < ?", (end,)).fetchone()
        return int(found)

    def try_match(self, match: Match, folder: Path, name: str) -> Attempt:
        """Writes down that an attempt at a match begins, with the transcript `name` in `folder`."""
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
        """An attempt ended without a result."""
        with self._errors_as_exits(), self._transaction():
            self._void(attempt, reason)

    def lose_worker(self, attempt: Attempt, how: str) -> None:
        """The referee process that was making an attempt ended; `how`."""
        with self._errors_as_exits(), self._transaction():
            self._void(attempt, INTERRUPTED)
            self._db.execute("UPDATE attempts SET worker = ? WHERE id = ?", (how, attempt.id))

    def void_block(self, block: int, attempt: Attempt, reason: str, *, redeals: bool = False) -> int:
        """An attempt ended without a result, and its block is played again: how many results it had.

        Attempts at its matches that are being made now will not count either, however they end. `redeals`: the
        block is played from another deal.
        """
        with self._errors_as_exits(), self._transaction():
            if redeals:
                self._add_step(block, DealtAnew(), attempt.id)
            return self._void_block(block, attempt, reason)

    def hold_up(
        self,
        match: Match,
        attempt: Attempt,
        reason: str,
        held_up: HeldUp,
        *,
        alone: bool = False,
        voids_block: bool,
        most: int | None,
    ) -> HeldUpBlock:
        """Write down that an attempt is void because a bot lost a window.

        Args:
            match: what the attempt was at.
            attempt: the void one.
            reason: why it is void.
            held_up: the bot that lost a window.
            alone: whether that says something against it (`aside.is_alone_in`).
            voids_block: whether its block is played again, as `void_block` says; it is, from another deal.
            most: set the block aside once it was void so often for the same bot; None: never.
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
        """Write down what becomes of a block that is or was set aside, or of a bot."""
        with self._errors_as_exits(), self._transaction():
            self._add_step(block, step)

    def longest_window(self, entrant: int) -> int | None:
        """Return the longest that a bot took for a window in its latest matches that count, in microseconds.

        None: it has played none.
        """
        seats = f"(SELECT * FROM attempts WHERE played IS NOT NULL ORDER BY id DESC LIMIT {RECENT}) AS recent"  # noqa: S608 - a number
        with self._errors_as_exits():
            ((found,),) = self._db.execute(
                "SELECT max(coalesce(json_extract(recent.reports, '$[' || seat.key || '].worst_us'), 0))"  # noqa: S608
                f" FROM {seats} JOIN results ON results.attempt = recent.id"
                " JOIN json_each(recent.played, '$.entrants') AS seat WHERE seat.value = ?",
                (entrant,),
            )
        return None if found is None else int(found)

    def judge_own_doing(self, entrant: int, bots: int) -> tuple[OwnDoing | None, list[int]]:
        """Write down that a bot holds itself up, if all void attempts show it and that was not known.

        Blocks that wait for the host because of that bot are then played again. `bots`: how many are compared.

        Returns:
            What was written, and the numbers of these blocks.
        """
        with self._errors_as_exits(), self._transaction():
            steps = self._steps()
            asides, count = Asides.of(steps), count_of(hold_ups_of(steps), entrant)
            known = {each.entrant for each in asides.own_doing}
            if entrant in known or not count.shows_own_doing(bots):
                return None, []
            evidence = (
                f"it was held up in {pluralise(count.alone, 'void attempt')}, in which no opponent was, though as"
                f" exposed; in {count.others} others at its matches another bot was held up and it was not"
            )
            found = OwnDoing(entrant=entrant, evidence=evidence)
            self._add_step(None, found)
            blocks = [each.block for each in asides.undecided if each.set_aside.entrant == entrant]
            for block in blocks:
                self._add_step(block, Again(unexcused=(entrant,), by_host=False))
        return found, blocks

    def play_unexcused(self, block: int) -> tuple[int, ...]:
        """Have a block played that is set aside, its bot's hold-ups not excused; return which bot."""
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
        """Return what became of blocks that were void, in order."""
        with self._errors_as_exits():
            return self._steps()

    def _steps(self, block: int | None = None) -> list[StepTaken]:
        """Return the steps of a block, and those of all blocks."""
        all_steps = "SELECT attempt, block, data FROM steps"
        which, values = ("", ()) if block is None else (" WHERE block = ? OR block IS NULL", (block,))
        rows = self._db.execute(f"{all_steps}{which} ORDER BY id", values).fetchall()
        return [
            msgspec.convert({"attempt": attempt, "block": number, "step": _shallow(data)}, StepTaken)
            for attempt, number, data in rows
        ]

    def _add_step(self, block: int | None, step: Step, attempt: int | None = None) -> None:
        if attempt is None:
            (attempt,) = self._db.execute("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
        self._db.execute(
            "INSERT INTO steps (at, attempt, block, data) VALUES (?, ?, ?, ?)",
            (self._now(), attempt, block, msgspec.json.encode(step).decode()),
        )

    def finish(self, match: Match, attempt: Attempt, result: Result, seatings: int) -> bool:
        """An attempt ended with a result; whether that completed its block, which then counts as a whole."""
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
            # One that was set aside may end after its block has been played again, and been committed.
            completes = len(rows) == seatings and any(row[2] == attempt.id for row in rows)
            if completes:
                self._db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
        return completes

    def results(self, first: int = 0, end: int = LAST) -> list[Played]:
        """Every match that counts of the blocks from `first` on and before `end`, in schedule order."""
        with self._errors_as_exits():
            rows = self._db.execute(
                "SELECT played FROM results JOIN attempts ON attempts.id = results.attempt"
                " WHERE results.block >= ? AND results.block < ? ORDER BY results.block, results.seating",
                (first, end),
            ).fetchall()
            return [msgspec.json.decode(played, type=Played) for (played,) in rows]

    def reports(self, end: int = LAST, first: int = 0) -> Iterator[Reported]:
        """Every match that counts of the blocks from `first` on and before `end`, in schedule order, with reports.

        Last comes its transcript's name, or its URL where it is not in the results folder. Rows are read as they
        are asked for: a large tournament's need not be held at once.
        """
        with self._errors_as_exits():
            which = " WHERE results.block >= ? AND results.block < ?"
            yield from map(_reported, self._db.execute(f"{_REPORTED}{which}{_IN_ORDER}", (first, end)))

    def after(self, block: int, seating: int, count: int) -> list[Reported]:
        """As `reports` gives them: at most so many matches that follow this one in schedule order."""
        with self._errors_as_exits():
            rows = self._db.execute(
                f"{_REPORTED} WHERE (results.block, results.seating) > (?, ?){_IN_ORDER} LIMIT ?",
                (block, seating, count),
            )
            return list(map(_reported, rows))

    def one(self, block: int, seating: int) -> Reported | None:
        """As `reports` gives it: this match; None: it does not count."""
        with self._errors_as_exits():
            rows = self._db.execute(
                f"{_REPORTED} WHERE results.block = ? AND results.seating = ?", (block, seating)
            )
            return next(map(_reported, rows), None)

    def counted(self, heads: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Those of these transcripts' heads whose matches count, with block and seating."""
        with self._errors_as_exits():
            rows = self._db.execute(
                f"SELECT head, block, seating FROM results WHERE head IN ({', '.join('?' * len(heads))})",  # noqa: S608 - question marks
                tuple(heads),
            ).fetchall()
            return {head: (block, seating) for head, block, seating in rows}

    def some(self, keys: Iterable[tuple[int, int]]) -> list[Reported]:
        """As `reports` gives them: these matches, by block and seating. Those that do not count are left out."""
        found = (self.one(block, seating) for block, seating in keys)
        return [each for each in found if each is not None]

    def times(self) -> LedgerTimes:
        """When what was played, of the last `RECENT` attempts: a large ledger is not read through for it."""
        recent = f"(SELECT * FROM attempts ORDER BY id DESC LIMIT {RECENT}) AS recent"  # noqa: S608 - a number
        with self._errors_as_exits():
            begun = self._db.execute("SELECT started FROM attempts ORDER BY id LIMIT 1").fetchone()
            ended = self._db.execute(
                f"SELECT recent.ended FROM {recent} JOIN results ON results.attempt = recent.id"  # noqa: S608
                " ORDER BY recent.ended"
            ).fetchall()
            under_way = self._db.execute(
                f"SELECT block, seating, started FROM {recent}"  # noqa: S608
                " WHERE ended IS NULL AND set_aside IS NULL ORDER BY id"
            ).fetchall()
        return LedgerTimes(
            begun=begun[0] if begun else None,
            ended=tuple(each for (each,) in ended),
            under_way=tuple(under_way),
        )

    def under_way(self, block: int, seating: int) -> str | None:
        """The name of the transcript of the latest attempt at a match that has no end; None: there is none."""
        with self._errors_as_exits():
            found = self._db.execute(
                "SELECT transcript FROM attempts WHERE block = ? AND seating = ?"
                " AND ended IS NULL AND set_aside IS NULL ORDER BY id DESC LIMIT 1",
                (block, seating),
            ).fetchone()
        return None if found is None else str(found[0])

    def transcripts(self) -> dict[tuple[int, int], str]:
        """By block and seating: the name of the transcript of every match that counts."""
        with self._errors_as_exits():
            rows = self._db.execute(
                "SELECT results.block, results.seating, transcript FROM results"
                " JOIN attempts ON attempts.id = results.attempt"
            ).fetchall()
        return {(block, seating): name for block, seating, name in rows}

    def played(self) -> Iterator[tuple[Played, tuple[SeatReport, ...]]]:
        """Every match that need not be played again, with its seats' reports, its block being committed or not.

        They come in schedule order.
        """
        with self._errors_as_exits():
            rows = self._db.execute(
                "SELECT played, reports, transcript FROM attempts WHERE played IS NOT NULL AND set_aside IS NULL"
                " ORDER BY block, seating"
            )
            for row in rows:
                yield _reported(row)[:2]

    def failed(self) -> dict[int, int]:
        """By entrant: in how many matches that were played to their end it did not behave."""
        with self._errors_as_exits():
            return dict(
                self._db.execute(
                    "SELECT json_extract(played, '$.entrants[' || seat.key || ']') AS entrant,"
                    " count(DISTINCT attempts.id) FROM attempts JOIN json_each(played, '$.conduct') AS seat"
                    " WHERE played IS NOT NULL AND set_aside IS NULL AND seat.value != ? GROUP BY entrant",
                    (Conduct.OK.value,),
                )
            )

    def voids(self) -> list[tuple[int, int, str]]:
        """Block, seating and reason of every void attempt, interrupted ones left out."""
        with self._errors_as_exits():
            return self._db.execute(
                "SELECT block, seating, void FROM attempts WHERE void IS NOT NULL AND void != ? ORDER BY id",
                (INTERRUPTED,),
            ).fetchall()

    def lost_with_workers(self) -> list[tuple[int, int, str]]:
        """Block and seating of every attempt whose referee process ended before it, and how that ended."""
        with self._errors_as_exits():
            return self._db.execute(
                "SELECT block, seating, worker FROM attempts WHERE worker IS NOT NULL ORDER BY id"
            ).fetchall()

    def set_aside(self) -> list[tuple[int, int, str]]:
        """Block, seating and reason of every match that was played, and whose block was then played again."""
        with self._errors_as_exits():
            return self._db.execute(
                "SELECT block, seating, set_aside FROM attempts"
                " WHERE set_aside IS NOT NULL AND played IS NOT NULL ORDER BY id"
            ).fetchall()

    def _events(self) -> list[Event]:
        found = self._db.execute("SELECT id, at, block, refused, kind, data FROM events ORDER BY id")
        names = [name for name, *_ in found.description]
        events = [_event(dict(zip(names, row, strict=True))) for row in islice(found, MOST_EVENTS + 1)]
        if len(events) > MOST_EVENTS:
            raise msgspec.ValidationError(f"more than {MOST_EVENTS} events")
        return events

    def _begun(self) -> int:
        """How many blocks were begun, an attempt at one of their matches or more.

        One that others have overtaken, for a remote bot was not there, counts as begun.
        """
        (last,) = self._db.execute("SELECT max(block) FROM attempts").fetchone()
        return 0 if last is None else int(last) + 1

    def _now(self) -> str:
        """The time of what is written: never before that of what was written last, by any process until now."""
        if self._clock is None:
            ((latest,),) = self._db.execute(
                "SELECT max(at) FROM (SELECT max(max(started, coalesce(ended, started))) AS at"
                " FROM (SELECT started, ended FROM attempts ORDER BY id DESC LIMIT ?)"
                " UNION ALL SELECT max(at) FROM events)",
                (RECENT,),
            )
            self._clock = LedgerClock(latest)
        return self._clock.now()

    def _void(self, attempt: Attempt, reason: str) -> None:
        self._db.execute("UPDATE attempts SET ended = ?, void = ? WHERE id = ?", (self._now(), reason, attempt.id))

    def _check_file(self) -> None:
        """SQLite would wait for a fifo, and read a device.

        The file is not opened: to close it again would take away the locks that SQLite holds on it for other books
        of this process, and another process would take away the log that these are written to.
        """
        with suppress(FileNotFoundError):
            try:
                check_regular(self.path)
            except FileNotFoundError:
                raise
            except OSError as error:
                raise WrongUse(f"{self.path}: cannot be read: {error.strerror}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors_as_exits(self, path: Path | None = None) -> Iterator[None]:
        """Raises SQLite's errors as exits that name the book, or another file: a full disk among them."""
        path = path or self.path
        try:
            yield
        except StrangeBookError as error:
            raise WrongUse(f"{path}: {error}") from None
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY_CODE
            kind = MachineCannot if code in OF_THE_MACHINE else WrongUse
            raise kind(f"{path}: {error}") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as error:
            raise WrongUse(f"{path}: not as an arena writes it: {error}") from None


def _shallow(text: str) -> Any:
    """A value that can be written again, whoever wrote it."""
    value = msgspec.json.decode(text)
    if is_deeper(text.encode(), MAX_NESTING):
        raise RecursionError(TOO_DEEP)
    return value


def _event(row: dict[str, Any]) -> Event:
    """A row of the table, checked: a ledger may come from anybody."""
    event = msgspec.convert(row | {"what": msgspec.json.decode(row["data"])}, Event)
    if event.kind != row["kind"]:
        raise msgspec.ValidationError(f"event {event.id} is of two kinds")
    return event


def _begin(path: Path) -> None:
    """An empty file for its owner alone, if there is none: SQLite would make one that others may read."""
    with suppress(OSError):  # SQLite says what is wrong.
        os.close(for_owner(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def _unused(folder: Path, name: str, number: int) -> Path:
    """A transcript's path. One that is there already is of an attempt whose line a power cut took: it stays."""
    while True:
        path = folder / (f"{name}.jsonl" if number == 1 else f"{name}.{number}.jsonl")
        if not path.exists() and not path.with_name(f"{path.name}.part").exists():
            return path
        number += 1


def _reported(row: tuple[str, str, str]) -> Reported:
    played, reports, transcript = row
    if not isinstance(transcript, str):
        raise TypeError("a transcript's name is no text")
    match = msgspec.json.decode(played, type=Played)
    of_seats = msgspec.json.decode(reports, type=tuple[SeatReport, ...])
    if len(of_seats) not in (0, len(match.entrants)):
        raise TypeError(f"{len(of_seats)} reports of {len(match.entrants)} seats")
    return match, of_seats, transcript


def _played(match: Match, result: Result) -> Played:
    """What of a result the standings are made of."""
    if result.outcome is None:
        raise ValueError(f"a void attempt at {match.name} was given as a result")
    return Played(
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
