"""Writes the ledger that tests open as an old one, once there is a newer schema.

`python -m tests.arena.tournament.old_ledgers` writes one of the schema that there is now. Ledgers of this format
count as released: a change of the tables is a new schema, with a migration, and with one more file here.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.schedule.fields import Entered, Extended, FieldChange, Withdrawn
from arena.schedule.round_robin import round_robin
from arena.tournament.ledger import Ledger
from arena.tournament.ledger_file import SCHEMA
from referee.host.plan import Plan
from referee.match.seat_report import SeatReport
from tests.arena.stand_in import result

FOLDER = Path(__file__).with_name("fixtures")
TERMS: dict[str, Any] = {
    "arena": "0.1.0",
    "game": "mist",
    "variant": "contractual-obligation",
    "format": "round_robin",
    "blocks": 2,
    "rotations": 2,
    "seed": 9,
    "isolation": "strict",
    "bots": ["mist_random", "mist_cautious", "mist_hunter"],
    "house": False,
    "content of mist_random": f"sha256:{1:064}",
}
CHANGES = (
    Entered(label="zoe", folder="bots/zoe", content=f"sha256:{2:064}", version="1"),
    Withdrawn(entrant=0),
    Extended(blocks=1),
    Entered(label="zoe v2", folder="bots/zoe", content=f"sha256:{3:064}", version="2", predecessor=3),
)


def old_ledger(schema: int) -> Path:
    """Return the file of a schema."""
    return FOLDER / f"schema-{schema}.sqlite"


def fill(ledger: Ledger) -> None:
    """Write two blocks, one attempt of each other kind, two accepted changes, a refused and a waiting one."""
    ledger.begin(TERMS)
    blocks = list(round_robin(3, 2, 9))
    for block in blocks[:2]:
        for match in block.matches:
            attempt = ledger.try_match(match, Path("t"), f"{match.block + 1:05d}{'ab'[match.seating]}")
            played = result(
                Plan(match=match.name, game="mist", variant="v", seed=match.seed), ("a", "b"), Path("t")
            )
            reports = (SeatReport(late=2, worst_us=7), SeatReport(loss="ended with 1", last_line="KeyError: 3"))
            elsewhere = "s3://bucket/x.jsonl" if match.block else str(attempt.transcript)
            ledger.finish(match, attempt, replace(played, reports=reports, transcript=elsewhere), seatings=2)
    first, second = blocks[2].matches
    ledger.lose_worker(ledger.try_match(first, Path("t"), "00003a"), "killed by SIGKILL")
    again = ledger.try_match(first, Path("t"), "00003a")
    ledger.finish(first, again, result(Plan(match="m", game="mist", variant="v", seed=1), "ab", Path("t")), 2)
    ledger.void_block(2, ledger.try_match(second, Path("t"), "00003b"), "no memory")
    ledger.try_match(first, Path("t"), "00003a")
    for change in CHANGES[:3]:
        ledger.change(lambda *_, what=change: what)

    def judge(events: Sequence[FieldChange], begun: int) -> list[FieldChange]:
        return [*(replace(event, block=begun) for event in events[:2]), replace(events[2], refused="no more")]

    ledger.take_in(judge)
    ledger.change(lambda *_: CHANGES[3])


if __name__ == "__main__":
    with closing(Ledger(old_ledger(SCHEMA))) as new:
        fill(new)
