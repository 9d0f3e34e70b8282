"""Results folders as tournaments leave them, without transcripts: bots of known strength, matches in no time."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from arena.schedule import Block, ScheduleSpec, format_of, rounds_of
from arena.statistics import CountedMatch
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.match import SeatReport

SEED = 4
SPREAD = 200.0
"""Elo points; one standard deviation of the bots' strengths."""
STARTED, ENDED = "2026-11-22T20:00:00.000+00:00", "2026-11-22T20:00:03.500+00:00"
REPORTS = msgspec.json.encode(
    (SeatReport(hello_us=92_000, cpu_us=1_200_000, peak_bytes=30_000_000, spread={"140": 31}),) * 2
)


def write_results(folder: Path, bots: int, *, blocks: int = 1, rounds: int | None = None) -> int:
    """Write the results of a tournament of two seats: each against each, or Swiss with `rounds` rounds.

    Returns the number of matches.
    """
    (folder / TRANSCRIPTS).mkdir(parents=True)
    labels = [f"some_bot_with_a_name_{number}" for number in range(bots)]
    format_ = "round_robin" if rounds is None else "swiss"
    told = {"format": format_, "blocks": blocks, **({} if rounds is None else {"rounds": rounds})}
    with closing(Ledger(folder / LEDGER)) as ledger:
        ledger.begin(_terms(labels, told))
    spec = msgspec.convert(told | {"entrants": bots, "seats": 2, "filled": False}, ScheduleSpec)
    with closing(sqlite3.connect(folder / LEDGER)) as book, book:
        return _play(book, spec, labels)


def _terms(labels: Sequence[str], told: dict[str, Any]) -> dict[str, Any]:
    known = {"arena": version("mist-arena"), "game": "mist", "variant": "contractual-obligation"}
    return {
        **known,
        **told,
        "rotations": None,
        "seed": SEED,
        "isolation": "strict",
        "policy.processes": "fresh",
        "bots": list(labels),
        "house": False,
    }


def _play(book: sqlite3.Connection, spec: ScheduleSpec, labels: Sequence[str]) -> int:
    rng = Random(SEED)
    strength = [rng.gauss(0, SPREAD) for _ in labels]
    everything: list[CountedMatch] = []

    def between(first: int, end: int) -> list[CountedMatch]:
        return [each for each in everything if first <= each.block < end]

    for blocks in rounds_of(format_of(spec).schedule(spec).rounds(SEED), between):
        played = list(_results(blocks(), strength, rng))
        _write(book, played, len(everything))
        everything += played
    return len(everything)


def _results(blocks: Iterator[Block], strength: Sequence[float], rng: Random) -> Iterator[CountedMatch]:
    for block in blocks:
        for match in block.matches:
            one, other = (strength[entrant] for entrant in match.entrants)
            wins = rng.random() < 1 / (1 + 10 ** ((other - one) / 400))
            ranking: tuple[tuple[int, ...], ...] = ((0,), (1,)) if wins else ((1,), (0,))
            ranking = ((0, 1),) if rng.random() < 0.1 else ranking  # noqa: PLR2004 - one of ten is a tie
            yield CountedMatch(
                block=match.block,
                seating=match.seating,
                entrants=match.entrants,
                outcome=Outcome(
                    ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="three_in_a_row"
                ),
                conduct=(Conduct.OK, Conduct.OK),
                charged_us=(1_234_567, 2_345_678),
                windows=(31, 30),
                defaults=(0, 0),
                refused=(0, 0),
                head=sha256(match.name.encode()).hexdigest(),
            )


def _write(book: sqlite3.Connection, played: Sequence[CountedMatch], first: int) -> None:
    ids = range(first + 1, first + len(played) + 1)
    rows = list(zip(ids, played, strict=True))
    book.executemany(
        "INSERT INTO attempts (id, block, seating, number, transcript, started, ended, played, reports)"
        " VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)",
        (
            (
                id_,
                match.block,
                match.seating,
                f"{match.block}-{match.seating}.jsonl",
                STARTED,
                ENDED,
                msgspec.json.encode(match).decode(),
                REPORTS.decode(),
            )
            for id_, match in rows
        ),
    )
    book.executemany(
        "INSERT INTO results VALUES (?, ?, ?, ?)",
        ((match.block, match.seating, id_, match.head) for id_, match in rows),
    )
