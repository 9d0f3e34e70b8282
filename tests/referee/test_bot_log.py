"""A bot's log is nobody's but the operator's."""

import os
from pathlib import Path

from referee.bot_log import BotLog


async def test_only_its_owner_can_read_a_bots_log(tmp_path: Path) -> None:
    """A bot may print what it was told, while its opponent's author is on the same machine."""
    log = BotLog(tmp_path / "m.seat-0.log", 4_096)
    os.write(log.bots_end, b"what it was told\n")
    log.handed_over()
    log.finish()
    assert 0o600 == (tmp_path / "m.seat-0.log").stat().st_mode & 0o777


async def test_of_a_bot_that_writes_nothing_there_is_no_log_also_not_of_an_earlier_one(tmp_path: Path) -> None:
    """Where an attempt at a match is made again, what is there is of this attempt."""
    path = tmp_path / "m.seat-0.log"
    path.write_text("earlier\n")
    log = BotLog(path, 4_096)
    log.handed_over()
    log.finish()
    assert not path.exists()
