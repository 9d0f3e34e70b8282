"""The operator's log: lines that programs read, and that no match waits for."""

import json
import os
import pty
from pathlib import Path
from typing import Any

import pytest

from referee import log as log_module
from referee.display_text import printable
from referee.log import MAX_CHARACTERS, MAX_WAITING, NO_LOG, WRITE_BYTES, Writer, inherited, opened
from tests.hostile_names import NAMES


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BATCH_SECONDS", 0.001)
    monkeypatch.setattr(log_module, "CLOSE_SECONDS", 0.5)


def read(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_event_is_a_line_of_json_with_what_is_bound(tmp_path: Path) -> None:
    writer = Writer(opened(str(tmp_path / "log")))
    logger = writer.log.logger.bind(match="m", block=3)
    logger.info("match_begun", bots=["a", "b"])
    logger.warning("bot_left", seat=1, exit=None)
    assert 0 == writer.close()
    first, second = read((tmp_path / "log").read_bytes())
    assert ["timestamp", "level", "event"] == list(first)[:3]
    assert ("info", "match_begun", "m", 3, ["a", "b"]) == tuple(
        first[key] for key in ("level", "event", "match", "block", "bots")
    )
    assert ("warning", 1, None) == (second["level"], second["seat"], second["exit"])


def test_a_log_is_added_to_and_is_its_owners_alone(tmp_path: Path) -> None:
    for event in ("one", "two"):
        writer = Writer(opened(str(tmp_path / "log")))
        writer.log.logger.info(event)
        writer.close()
    assert ["one", "two"] == [line["event"] for line in read((tmp_path / "log").read_bytes())]
    assert 0o600 == (tmp_path / "log").stat().st_mode & 0o777


def test_hostile_names_do_nothing_and_are_bounded(tmp_path: Path) -> None:
    writer = Writer(opened(str(tmp_path / "log")))
    for name in NAMES.values():
        writer.log.logger.info("bot_left", bot=name, bots=[name] * 13, reason=name * 100)
    writer.log.logger.info("bot_left", reason="\x1b" * 1_000_000, bots=["\U0001f3b2\\" * 999] * 13)
    assert 0 == writer.close()
    text = (tmp_path / "log").read_bytes()
    assert all(printable(line) == line for line in text.decode().splitlines())
    assert len(NAMES) + 1 == len(read(text))
    assert all(len(line["reason"]) <= MAX_CHARACTERS for line in read(text))
    assert all(len(line) < WRITE_BYTES for line in text.splitlines())


def test_a_pipe_that_is_not_read_delays_nothing_and_lost_lines_are_counted(tmp_path: Path) -> None:
    """Whoever waited for a reader would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    writer = Writer(opened(str(tmp_path / "pipe")))
    many = 3 * MAX_WAITING
    for number in range(many):
        writer.log.logger.info("refused", number=number)
    assert MAX_WAITING < writer.close() < many


def test_a_reader_who_comes_late_is_told_how_many_lines_were_dropped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Writer(opened(str(tmp_path / "pipe")))
    many = 3 * MAX_WAITING
    for number in range(many):
        writer.log.logger.info("refused", number=number)
    text = b""
    with (tmp_path / "pipe").open("rb", buffering=0) as pipe:
        while b"log_dropped" not in text or text[-1:] != b"\n":
            text += pipe.read(65536)
        writer.log.logger.info("last")
        lost = writer.close()
        text += pipe.read(65536)
    lines = read(text)
    assert ["last"] == [line["event"] for line in lines][-1:]
    dropped = sum(line["lines"] for line in lines if line["event"] == "log_dropped")
    assert lost == dropped > 0
    assert many == dropped + sum(line["event"] == "refused" for line in lines)


def test_a_full_disk_holds_up_nothing_and_is_told_at_the_end() -> None:
    writer = Writer(opened("/dev/full"))
    for _ in range(100):
        writer.log.logger.info("refused")
    assert 100 == writer.close()
    assert writer.failure is not None
    assert "No space left on device" == writer.failure.strerror


def test_a_reader_who_is_gone_holds_up_nothing() -> None:
    reader, end = os.pipe()
    os.close(reader)
    writer = Writer(end)
    writer.log.logger.info("refused")
    assert 1 == writer.close()
    assert isinstance(writer.failure, BrokenPipeError)


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    writers = [Writer(opened(str(tmp_path / "log"))) for _ in range(3)]
    for number in range(1_000):
        for name, writer in enumerate(writers):
            writer.log.logger.info("refused", writer=name, number=number, text="x" * 200)
    assert [0, 0, 0] == [writer.close() for writer in writers]
    lines = read((tmp_path / "log").read_bytes())
    for name in range(3):
        assert list(range(1_000)) == [line["number"] for line in lines if line["writer"] == name]


@pytest.mark.parametrize("plain", [False, True])
def test_at_a_terminal_it_is_for_people(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    ours, theirs = pty.openpty()
    writer = Writer(theirs)
    writer.log.logger.info("bot_left", bot="a\x1b[2Jb")
    writer.close()
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "bot_left" in shown
    assert "a\\x1b[2Jb" in shown
    assert plain is ("\x1b[3" not in shown)


def test_nothing_is_logged_without_a_log() -> None:
    with inherited(None) as log:
        assert NO_LOG is log
        log.logger.bind(match="m").error("refused")
    assert not NO_LOG.logger.is_enabled_for(50 - 1)


@pytest.mark.parametrize("path", ["/nowhere/log", "/proc", "/dev/null/log"])
def test_an_unwritable_log_is_reported_at_once(path: str) -> None:
    with pytest.raises(OSError, match="directory"):
        opened(path)
