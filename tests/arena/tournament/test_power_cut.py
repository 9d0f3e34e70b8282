"""A machine is restarted without warning: what the ledger has lost is played again, and the table is the same."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena.errors import MachineCannot
from arena.tournament.ledger import Ledger
from arena.tournament.results_folder import LEDGER, TRANSCRIPTS
from referee.host import AttemptResult, Plan
from tests.arena.cups import play_cup
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_run import TEXT

MATCHES = 12
PAGE_BYTES, HEADER_BYTES = 4_096 + 24, 32
"""Of SQLite's log of writes: a page with its header, and the log's own header."""


@pytest.mark.parametrize("lost", [0, 1, 5, 20, 10_000])
def test_lines_that_a_power_cut_took_from_the_ledger_are_played_again(tmp_path: Path, lost: int) -> None:
    """Matches' transcripts are on the disk before the ledger says so: only the ledger can be behind.

    `lost`: pages at the end of the log that never reached the disk; half of the one before did.
    """
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
        (folder / "cup.toml").write_text(TEXT)
    undisturbed = play_cup(whole / "cup.toml", AtOnce())
    results = cut / "runs/cup"
    reading: list[Ledger] = []

    class PowerCut(AtOnce):
        """Keeps the ledger's log from being cleared away in order, and stops."""

        async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
            if len(self.played) == 7:
                reading.append(Ledger(results / LEDGER))
                reading[0].results()
                raise MachineCannot("no power")
            (results / TRANSCRIPTS / transcript.name).touch()
            return await super().__call__(plan, players, transcript=transcript)

    with pytest.RaisesGroup(MachineCannot, allow_unwrapped=True, flatten_subgroups=True):
        play_cup(cut / "cup.toml", PowerCut())
    left = cut / "left"
    left.mkdir()
    for name in (LEDGER, f"{LEDGER}-wal"):
        shutil.copy(results / name, left / name)
    reading[0].close()
    log = left / f"{LEDGER}-wal"
    size = log.stat().st_size
    kept = max(0, size - HEADER_BYTES - lost * PAGE_BYTES - PAGE_BYTES // 2)
    with log.open("r+b") as file:
        file.truncate(HEADER_BYTES + kept)
    for name in (LEDGER, f"{LEDGER}-wal"):
        shutil.copy(left / name, results / name)
    (results / f"{LEDGER}-shm").unlink(missing_ok=True)
    before = {path.name for path in (results / TRANSCRIPTS).iterdir()}
    again = AtOnce()
    assert undisturbed.standings == play_cup(cut / "cup.toml", again).standings
    assert MATCHES - 7 <= len(again.played) <= MATCHES
    assert before <= {path.name for path in (results / TRANSCRIPTS).iterdir()}
