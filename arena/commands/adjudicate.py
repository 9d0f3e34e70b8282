"""`arena adjudicate`: play scenarios by the rules, without bots or clock."""

import sys
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from arena.errors import WrongUse
from protocol.codec import decode_json
from referee.adjudication import MAX_SCENARIO_BYTES, adjudicate_line, adjudicate_stream
from referee.linux.files import open_regular


@click.command("adjudicate")
@click.argument("file", default="-")
def command(file: str) -> None:
    """Play scenarios without bots or clock: from FILE, or one a line from standard input (-).

    The command prints one result a line. A wrong scenario gives {"error": "..."} in its place, and the next one
    follows. A FILE may hold one scenario over many lines; if that one is wrong, the exit code is 2.
    """
    if file == "-":
        adjudicate_stream(sys.stdin.buffer, sys.stdout.buffer)
        return
    with _opened(Path(file)) as opened:
        content = opened.read(MAX_SCENARIO_BYTES + len(b"\r\n") + 1)
        if _is_many(content):
            opened.seek(0)
            adjudicate_stream(opened, sys.stdout.buffer)
            return
    result = adjudicate_line(content.removesuffix(b"\n").removesuffix(b"\r"))
    failed = decode_json(result).get("error")
    if failed is not None:
        raise WrongUse(f"{file}: {failed}")
    sys.stdout.buffer.write(result + b"\n")


def _opened(file: Path) -> BinaryIO:
    try:
        return open_regular(file)
    except OSError as error:
        raise WrongUse(f"{file}: cannot be read: {error.strerror}") from None


def _is_many(content: bytes) -> bool:
    """Return True if a file that begins so has more than one scenario, one per line."""
    first, *rest = [line for line in content.split(b"\n") if line.strip()] or [b""]
    try:
        # The reader of the line reports text that is not UTF-8, or nested too deeply.
        decode_json(first.decode(errors="replace").encode())
    except RecursionError:
        return bool(rest)
    except msgspec.MsgspecError:
        return False
    return bool(rest)
