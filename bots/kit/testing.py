"""Tests of a bot without an arena: the bot receives recorded messages, and its answers are returned.

A record is a file with the referee's messages to one seat, one per line. `arena new-bot` writes some.
"""

import json
import shutil
import subprocess
import tempfile
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bots.kit import Bot, FunctionBot, Session, Window
from protocol.codec import decode_json, decode_server_message
from protocol.messages import ClientMessage, Opened, Submit, is_message

TIMEOUT_S = 60


def answers(bot: Bot[Any, Any] | Callable[[Window[Any]], Any], record: Path) -> Iterator[tuple[Opened, Any]]:
    """Yield each recorded window with the bot's last action, as JSON values; None stands for the default.

    Errors of the bot are not caught.
    """
    said: list[ClientMessage] = []
    player: Bot[Any, Any] = bot if isinstance(bot, Bot) else FunctionBot(bot)  # pyright: ignore[reportUnknownVariableType]
    session = Session(player, said.append)
    for line in _lines(record):
        message = decode_server_message(line)
        session.hear(message)
        if isinstance(message, Opened):
            (*_, last) = (each for each in said if isinstance(each, Submit))
            yield message, decode_json(last.action)


def program_answers(folder: Path, record: Path) -> Iterator[tuple[Opened, Any]]:
    """Yield the same for a program with `transport = "stdio"`, built and started in a copy of its folder.

    Raises:
        OSError: a program is not installed on this machine.
        subprocess.SubprocessError: the build or the bot failed, or took longer than TIMEOUT_S.
        KeyError: the bot sent no final answer to a window.
    """
    told = tomllib.loads((folder / "bot.toml").read_text(encoding="utf-8-sig"))
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(folder, Path(scratch) / "bot")
        for command in told.get("build", []):
            subprocess.run(command, cwd=copy, check=True, timeout=TIMEOUT_S)  # noqa: S603 - the bot's own
        ended = subprocess.run(  # noqa: S603 - the bot's own
            told["command"],
            cwd=copy,
            check=True,
            timeout=TIMEOUT_S,
            input=record.read_bytes().removeprefix(BOM_UTF8),
            stdout=subprocess.PIPE,
        )
    lines = [line.removeprefix(BOM_UTF8) for line in ended.stdout.splitlines()]
    said = [json.loads(line) for line in lines if is_message(line)]
    submits = [each for each in said if each["type"] == "submit"]
    actions = {one["window"]: one["action"] for one in submits if one.get("final", one["action"] is not None)}
    for line in _lines(record):
        if isinstance(message := decode_server_message(line), Opened):
            yield message, actions[message.id]


def _lines(record: Path) -> list[bytes]:
    """Return a record's messages, without the byte order mark that some editors add."""
    return record.read_bytes().removeprefix(BOM_UTF8).splitlines()
