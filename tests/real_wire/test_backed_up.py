"""Backups of a tournament that is being played, some of them killed; restored after the machine is lost."""

import json
import os
import shutil
import signal
import time
from pathlib import Path
from random import Random

import pytest

from arena.errors import DONE
from tests.real_wire.processes import SLOW
from tests.real_wire.test_tournament_stopped import MANY_MATCHES, STAND_INS, cup, start, table

pytestmark = pytest.mark.timeout(900)
BACKUP = ("-m", "arena", "backup", "--json")
BLOCKS = 100
TEXT = MANY_MATCHES.replace("blocks = 20", f"blocks = {BLOCKS}")


@pytest.mark.slow
def test_a_backup_made_while_it_is_played_and_restored_gives_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other backup is killed; then the arena is killed, and its results are gone.

    Matches are slow until then: some are left, and some end, also while the slowest machine makes its backups.
    """
    slow = tmp_path / "slow"
    slow.touch()
    monkeypatch.setenv(SLOW, str(slow))
    file = cup(tmp_path / "b", TEXT)
    results, place, rng = file.parent / "runs/cup", tmp_path / "backup", Random(7)
    playing = start(*STAND_INS, file)
    while not list(results.glob("ledger.sqlite-wal")):
        assert playing.poll() is None
        time.sleep(0.01)
    counted = []
    for number in range(4):
        backup = start(*BACKUP, results, place)
        if number % 2:
            time.sleep(rng.uniform(0.3, 1))
            os.kill(backup.pid, signal.SIGKILL)
        output, said = backup.communicate()
        assert backup.returncode in (DONE, -signal.SIGKILL), said.decode()
        counted += [json.loads(output)["matches"]] if backup.returncode == DONE else []
    playing.kill()
    playing.communicate()
    slow.unlink()
    assert counted == sorted(counted)
    assert counted[0] < 2 * BLOCKS
    shutil.rmtree(results)
    shutil.copytree(place, results)
    restored = table(start(*STAND_INS, file))
    assert table(start(*STAND_INS, cup(tmp_path / "a", TEXT))) == restored
