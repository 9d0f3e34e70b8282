"""A bot's log is nobody's but the operator's."""

import fcntl
import os
from pathlib import Path

from referee.sandbox.output_log import BotLog, last_line


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


async def test_all_that_a_bot_has_written_is_in_its_log_however_large_it_has_made_the_pipe(tmp_path: Path) -> None:
    first, second = tmp_path / "1.log", tmp_path / "2.log"
    log = BotLog(first, 2**21)
    fcntl.fcntl(log.bots_end, fcntl.F_SETPIPE_SZ, 2**20)
    os.write(log.bots_end, bytes(2**20))
    log.complete()
    log.begin(second, 2**21)
    assert 2**20 == first.stat().st_size
    fcntl.fcntl(log.bots_end, fcntl.F_SETFL, os.O_WRONLY | os.O_DIRECT)
    for _ in range(2**20 // os.sysconf("SC_PAGESIZE")):
        os.write(log.bots_end, b"x")
    log.handed_over()
    log.finish()
    assert 2**20 // os.sysconf("SC_PAGESIZE") == second.stat().st_size


async def test_what_there_was_no_place_for_is_counted_over_all_of_a_bots_logs(tmp_path: Path) -> None:
    log = BotLog(tmp_path / "1.log", 4_096)
    os.write(log.bots_end, bytes(5_000))
    log.complete()
    log.begin(tmp_path / "2.log", 4_096)
    os.write(log.bots_end, bytes(4_100))
    log.handed_over()
    log.finish()
    assert 904 + 4 == log.thrown_away()


async def test_a_log_that_is_complete_reads_no_more(tmp_path: Path) -> None:
    """Its descriptor is soon another's."""
    log = BotLog(tmp_path / "log", 4_096)
    log.handed_over()
    log.finish()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.write(writer, b"another's")
    log.complete()
    assert b"another's" == os.read(reader, 16)
    for descriptor in (reader, writer):
        os.close(descriptor)


def test_a_fatal_error_is_told_with_the_bots_own_file_and_line() -> None:
    """What `faulthandler` writes ends with the names of modules, and has the latest call first."""
    text = """Fatal Python error: Segmentation fault

Thread 0x00007f1 (most recent call first):
  File "/bot/other.py", line 9 in wait

Current thread 0x00007f2 (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at
  File "/bot/bot.py", line 4 in decide
  File "/arena/code/bots/kit.py", line 164 in decide
  File "/bot/bot.py", line 6 in <module>

Extension modules: msgspec._core (total: 1)
"""
    assert "Fatal Python error: Segmentation fault (bot.py:4)" == last_line(text)
    assert "Fatal Python error: Aborted" == last_line("talk\nFatal Python error: Aborted\n\nmore\n")


def test_the_last_line_of_a_traceback_names_the_bots_own_file_and_line() -> None:
    text = """talk
Traceback (most recent call last):
  File "/bot/bot.py", line 21, in <module>
    run(decide)
  File "/bot/moves.py", line 4, in decide
    return next(cells)
  File "/arena/bots/kit.py", line 9, in act
    return self.decide(window)
StopIteration
"""
    assert "StopIteration (moves.py:4)" == last_line(text)
    assert "talk" == last_line("more\ntalk\n\n")
    assert not last_line("\n \n")
    assert "SyntaxError: invalid syntax (bot.py:1)" == last_line(
        'Traceback (most recent call last):\n  File "/bot/bot.py", line 1\n    def (\n'
        "        ^\nSyntaxError: invalid syntax"
    )
    called = "ValueError: Sample larger than population or is negative"
    assert f"{called} (bot.py:3)" == last_line(
        'Traceback (most recent call last):\n  File "/bot/bot.py", line 3, in decide\n    luck.sample(cells, 9)\n'
        f'  File "/usr/lib/python3.11/random.py", line 456, in sample\n    raise ValueError()\n{called}'
    )
    assert "KeyError: 1 (bot.py:3)" == last_line(
        'Traceback (most recent call last):\n  File "/bot/bot.py", line 3, in decide\n    BOARD.cells(free)\n'
        '  File "/arena/code/protocol/games/hexes.py", line 117, in cells\n    name[low]\nKeyError: 1'
    )
    assert "IsADirectoryError: '/bot'" == last_line(
        'Traceback (most recent call last):\n  File "/arena/referee/sandbox/prefork_server.py", line 8, in run\n'
        "    run(script)\nIsADirectoryError: '/bot'"
    )
