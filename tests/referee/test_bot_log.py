"""A bot's log is nobody's but the operator's."""

from pathlib import Path

from referee.bot_log import BotLog


async def test_only_its_owner_can_read_a_bots_log(tmp_path: Path) -> None:
    """A bot may print what it was told, while its opponent's author is on the same machine."""
    log = BotLog(tmp_path / "m.seat-0.log", 4_096)
    log.handed_over()
    log.finish()
    assert 0o600 == (tmp_path / "m.seat-0.log").stat().st_mode & 0o777
