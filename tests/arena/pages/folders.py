"""Results folders as tournaments leave them: ledgers of simulated matches, without transcripts."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from arena.pages import Website
from arena.statistics import CountedMatch
from arena.tournament import LEDGER, Ledger
from referee.match import SeatReport

SEED = 7316548209915
"""No page says it."""
BEGUN = datetime(2026, 11, 1, 12, tzinfo=UTC)
TERMS: dict[str, Any] = {
    "arena": "0.1.0",
    "game": "mist",
    "variant": "fog",
    "format": "round_robin",
    "blocks": 1,
    "rotations": 2,
    "seed": SEED,
    "policy.main_ms": 500,
    "policy.processes": "fresh",
    "clock.budget_ms": 10_000,
    "isolation": "strict",
    "house": False,
}


def folder_of(
    path: Path,
    labels: Sequence[str],
    played: Sequence[CountedMatch],
    *,
    reports: Mapping[tuple[int, int], Sequence[SeatReport]] | None = None,
    open_attempts: Sequence[tuple[int, int]] = (),
    seconds: float = 1,
    **terms: Any,
) -> Path:
    """A results folder in which these matches count.

    Args:
        path: the folder.
        labels: the bots.
        played: the matches, in schedule order.
        reports: by block and seating; a match that is not there has empty ones.
        open_attempts: block and seating of attempts without an end.
        seconds: from one match to the next.
        terms: others than the usual ones; None: left out.
    """
    path.mkdir(parents=True)
    with closing(Ledger(path / LEDGER)) as ledger:
        given = TERMS | {"bots": list(labels)} | {key.replace("__", "."): value for key, value in terms.items()}
        ledger.begin({key: value for key, value in given.items() if value is not None})
        attempts, results = [], []
        for number, each in enumerate(played, start=1):
            head = each.head or sha256(f"{each.block}/{each.seating}".encode()).hexdigest()
            match = msgspec.structs.replace(each, head=head)
            said = (reports or {}).get((match.block, match.seating), ())
            at = BEGUN + timedelta(seconds=seconds * number)
            name = f"{match.block + 1:05d}{chr(97 + match.seating)}.jsonl"
            attempts.append(
                (
                    number, match.block, match.seating, 1, name, (at - timedelta(seconds=seconds)).isoformat(),
                    at.isoformat(), msgspec.json.encode(match).decode(), msgspec.json.encode(said).decode(),
                )
            )  # fmt: skip
            results.append((match.block, match.seating, number, head))
        db = ledger._db
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO attempts (id, block, seating, number, transcript, started, ended, played, reports)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            attempts,
        )
        db.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", results)
        db.executemany(
            "INSERT INTO attempts (block, seating, number, transcript, started) VALUES (?, ?, 1, 'x.jsonl', ?)",
            [(*each, BEGUN.isoformat()) for each in open_attempts],
        )
        db.execute("COMMIT")
    return path


def body_of(website: Website, path: str) -> bytes:
    """The content of a page, which must be there."""
    page = website.page(path)
    assert page is not None, path
    return page.body
