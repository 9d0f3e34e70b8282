"""A bot's log is nobody's but the operator's."""

import fcntl
import os
from pathlib import Path

import pytest
import trio
import trio.lowlevel

from referee.sandbox.bot_files import BREATH_SECONDS, READ_BYTES, BotLog, last_line, stuck_at


async def test_only_its_owner_can_read_a_bots_log(tmp_path: Path) -> None:
    """A bot may print what it was told, while its opponent's author is on the same machine."""
    log = BotLog(tmp_path / "m.seat-0.log", 4_096)
    os.write(log.bots_end, b"what it was told\n")
    log.handed_over()
    log.finish()
    assert 0o600 == (tmp_path / "m.seat-0.log").stat().st_mode & 0o777


async def test_a_bot_that_writes_nothing_has_no_log_not_even_an_earlier_one(tmp_path: Path) -> None:
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


async def test_discarded_output_is_counted_over_all_of_a_bots_logs(tmp_path: Path) -> None:
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
  File "/arena/code/bots/kit/session.py", line 164 in decide
  File "/bot/bot.py", line 6 in <module>

Extension modules: msgspec._core (total: 1)
"""
    assert "Fatal Python error: Segmentation fault (bot.py:4)" == last_line(text)
    assert "Fatal Python error: Aborted" == last_line("talk\nFatal Python error: Aborted\n\nmore\n")


HUNG = """more
Timeout (0:00:00.500000)!
Thread 0x00007f7db9bd8b70 (most recent call first):
  File "/bot/worker.py", line 9 in work
  File "/usr/lib/python3.11/threading.py", line 982 in run

Thread 0x00007f7db9bd8b80 (most recent call first):
  File "/usr/lib/python3.11/queue.py", line 171 in get
  File "/bot/moves.py", line 4 in wait
  File "/bot/bot.py", line 12 in decide
  File "/arena/code/bots/kit/session.py", line 178 in decide
  File "/bot/bot.py", line 15 in <module>
"""


def test_the_place_of_a_hang_is_the_bots_own_latest_call_in_the_kits_thread() -> None:
    assert "moves.py:4" == stuck_at(HUNG)
    assert "bot.py:7" == stuck_at(HUNG + HUNG.replace("/bot/moves.py", "/bot/bot.py").replace("line 4", "line 7"))
    assert "" == stuck_at(HUNG.replace("/bots/kit/session.py", "/other.py"))
    assert "" == stuck_at("Timeout (0:00:00.500000)!\n")
    assert "" == stuck_at(HUNG.replace("Timeout", "timeout"))


def test_the_calls_of_a_bot_that_hung_are_no_last_line_and_no_place_of_an_error() -> None:
    assert "more" == last_line(HUNG)
    assert "KeyError" == last_line(f"{HUNG}KeyError\n")


@pytest.mark.parametrize(
    "text",
    [
        "no weights\n",
        "[stdout] loading\nno weights\n",
        "no weights\n[stdout] loading\n",
        "no weights[stdout] loading\n\n",
    ],
)
def test_a_printed_line_is_no_last_line_wherever_it_came_between(text: str) -> None:
    assert "no weights" == last_line(text)


def test_only_a_printed_line_is_the_last() -> None:
    assert "[stdout] loading" == last_line("[stdout] loading\n")


def test_an_error_that_names_its_place_gets_no_other() -> None:
    text = 'Traceback (most recent call last):\n  File "/bot/bot.py", line 30, in <module>\n    run(decide)\n'
    assert "TooLarge: decide (bot.py:21)" == last_line(f"{text}TooLarge: decide (bot.py:21)\n")


async def test_for_how_long_a_bot_waits_that_prints_more_than_is_kept_is_in_its_log(tmp_path: Path) -> None:
    log = BotLog(tmp_path / "log", 4_096)
    flood = bytes(3 * READ_BYTES)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.follow)
        await trio.to_thread.run_sync(os.write, log.bots_end, flood)
        await trio.to_thread.run_sync(os.write, log.bots_end, flood)
        log.handed_over()
        await trio.lowlevel.checkpoint()
    log.finish()
    assert log.waited >= BREATH_SECONDS
    left_out = 2 * len(flood) - 4_096
    assert (
        f"[{left_out} bytes left out here; the bot waited up to {log.waited:.1f} s to print them]".encode()
        in (tmp_path / "log").read_bytes()
    )


async def test_a_bot_that_prints_a_little_at_a_time_does_not_wait(tmp_path: Path) -> None:
    log = BotLog(tmp_path / "log", 4_096)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.follow)
        for _ in range(5):
            os.write(log.bots_end, bytes(4_000))
            await trio.sleep(2 * BREATH_SECONDS)
        log.handed_over()
    log.finish()
    assert (0.0, 5 * 4_000 - 4_096) == (log.waited, log.thrown_away())


def test_the_last_line_of_a_traceback_names_the_bots_own_file_and_line() -> None:
    text = """talk
Traceback (most recent call last):
  File "/bot/bot.py", line 21, in <module>
    run(decide)
  File "/bot/moves.py", line 4, in decide
    return next(cells)
  File "/arena/bots/kit/session.py", line 9, in act
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


async def test_output_of_an_earlier_match_is_not_quoted_for_a_later_one(tmp_path: Path) -> None:
    log = BotLog(tmp_path / "1.log", 4_096)
    os.write(log.bots_end, b"dealt: the seven of hearts\n")
    log.complete()
    os.write(log.bots_end, b"still of that match\n")
    log.complete()
    log.begin(tmp_path / "2.log", 4_096)
    log.handed_over()
    assert log.finish() == ""
    assert not (tmp_path / "2.log").exists()


async def test_later_output_is_quoted(tmp_path: Path) -> None:
    log = BotLog(tmp_path / "1.log", 4_096)
    os.write(log.bots_end, b"Traceback (most recent call last):\n")
    log.complete()
    log.begin(tmp_path / "2.log", 4_096)
    os.write(log.bots_end, b"bye\n")
    log.handed_over()
    assert log.finish() == "bye"
