"""`arena adjudicate`: what the rules make of matches that are written down."""

import sys
from io import BytesIO
from pathlib import Path

import click
import msgspec

from arena.adjudicate import adjudicate_line, adjudicate_stream
from arena.exits import WrongUse
from protocol.codec import decode_json


@click.command("adjudicate")
@click.argument("file", default="-")
def command(file: str) -> None:
    """Adjudicate scenarios: one JSON object a line from standard input (-), or what is in FILE.

    On standard output stands one result a line. A scenario that is wrong gives {"error": "..."} in its place, and
    the next one is read. A FILE may hold one scenario over many lines; if that one is wrong, the exit code is 2.
    """
    if file == "-":
        adjudicate_stream(sys.stdin.buffer, sys.stdout.buffer)
        return
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise WrongUse(f"{file}: cannot be read: {error.strerror}") from None
    if _is_many(content):
        adjudicate_stream(BytesIO(content), sys.stdout.buffer)
        return
    result = adjudicate_line(content)
    failed = decode_json(result).get("error")
    if failed is not None:
        raise WrongUse(f"{file}: {failed}")
    sys.stdout.buffer.write(result + b"\n")


def _is_many(content: bytes) -> bool:
    """Whether a file holds a scenario a line, and more than one."""
    first, *rest = [line for line in content.splitlines() if line.strip()] or [b""]
    try:
        decode_json(first)
    except msgspec.MsgspecError:
        return False
    return bool(rest)
