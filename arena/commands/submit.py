"""`arena submit`: hand a bot in to a season's server, and wait for the verdict."""

import io
import os
import secrets
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, Any
from urllib.parse import urlsplit

import click
import httpx
from msgspec import Struct
from rich.progress import DownloadColumn, TransferSpeedColumn

from arena.config import url_complaint
from arena.errors import AnswerIsNo, MachineCannot, WrongUse, as_wrong_use
from arena.options import JsonOption, option, options
from arena.terminal import print_json, progress_bar, progress_console, results_console, say
from protocol.codec import Refused, decode_untrusted
from referee.bot_folder import FILE, ContentError, folder_items, is_upload

TOKEN = "ARENA_TOKEN"  # noqa: S105 - the name of a variable
SERVICE = "arena"
"""Name under which the desktop's store of secrets has the token, with the server's host as the account."""
BLOCK = 64 * 1024
LOOK_SECONDS = 2.0
TRIES = 5
"""Number of times that a request is made if the line breaks."""
TIMEOUT = httpx.Timeout(30.0, write=120.0)
SERVER_FAULT = 500
MOST_SHOWN = 300
DONE_STATES = ("entered", "refused", "withdrawn")


class SubmitOptions(Struct, frozen=True, kw_only=True):
    """Options of a submission."""

    to: Annotated[str, option("Address of the season's server.", metavar="URL", required=True)]
    note: Annotated[str, option("Note for your team: what is new?")] = ""
    wait: Annotated[bool, option("Wait for the verdict, or only until it is received.", "--wait/--no-wait")] = True
    timeout: Annotated[int, option("Seconds to wait for the verdict.", show_default=True)] = 3_600
    as_json: JsonOption = False


@click.command("submit")
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, exists=True))
@options(SubmitOptions)
def command(folder: Path, *, asked: SubmitOptions) -> None:
    """Hand in the bot in FOLDER, or in an archive of it, and wait for the verdict.

    The token is that of the variable ARENA_TOKEN, or of the desktop's store of secrets (the extra 'keyring';
    service "arena", user the server's host). Make it on the server's page "Keys".

    Exit codes: 0 it entered, or was received with --no-wait; 1 it was refused, or is not judged yet; 2 wrong use,
    or the server refuses the request; 3 the server cannot be reached.
    """
    if wrong := url_complaint(asked.to):
        raise WrongUse(f"--to {asked.to[:MOST_SHOWN]}: {wrong}")
    server = Server(asked.to, _token(asked.to))
    with _archive(folder) as (file, name):
        received = server.submit(file, name, asked.note)
    if not asked.as_json:
        say(f"received as {received['id']}: {_page(asked.to, received['id'])}")
    found = server.verdict(received["id"], asked.timeout, quiet=asked.as_json) if asked.wait else received
    if asked.as_json:
        print_json(found | {"page": _page(asked.to, received["id"])})
    elif asked.wait:
        _print(found)
    if not asked.wait or found["state"] == "entered":
        return
    reason = (found.get("verdict") or {}).get("reason") or found["state"]
    text = f"it is not judged yet: {found['state']}"
    if found["state"] in DONE_STATES:
        text = f"{found['state']}: {reason}" if reason != found["state"] else found["state"]
    raise AnswerIsNo(text)


class Server:
    """A season's server, as a program with a token sees it."""

    def __init__(self, address: str, token: str, *, pause: float = LOOK_SECONDS) -> None:
        """`pause`: seconds between two requests for the verdict."""
        self._pause = pause
        self._client = httpx.Client(
            base_url=f"{address.rstrip('/')}/api/v1/",
            headers={"authorization": f"Bearer {token}", "accept": "application/json"},
            timeout=TIMEOUT,
        )

    def submit(self, file: IO[bytes], name: str, note: str) -> dict[str, Any]:
        """Upload an archive; return the submission. A repeated request counts once.

        Raises:
            WrongUse: the server refuses it.
            MachineCannot: the server cannot be reached.
        """
        size = file.seek(0, os.SEEK_END)
        key = secrets.token_hex(16)
        bar = progress_bar(progress_console(), DownloadColumn(), TransferSpeedColumn(), transient=True)
        with bar:
            task = bar.add_task("upload", total=size)

            def send() -> httpx.Response:
                file.seek(0)
                bar.update(task, completed=0)
                return self._client.post(
                    "submissions",
                    params={"filename": name, "note": note},
                    content=_blocks(file, lambda sent: bar.advance(task, sent)),
                    headers={
                        "idempotency-key": key,
                        "content-length": str(size),
                        "content-type": "application/octet-stream",
                    },
                )

            return self._answer(send)

    def verdict(self, id_: str, seconds: float, *, quiet: bool) -> dict[str, Any]:
        """Wait until a submission is judged; return it, as it is by then. Raises as `submit`."""
        until = time.monotonic() + seconds
        with progress_console().status("") as status:
            while True:
                found = self._answer(lambda: self._client.get(f"submissions/{id_}"))
                if found["state"] in DONE_STATES or time.monotonic() >= until:
                    return found
                if not quiet:
                    place = f", {found['place']}" if found.get("place") else ""
                    status.update(progress_console().render_str(f"{found['state']}{place}"))
                time.sleep(self._pause)

    def _answer(self, send: Any) -> dict[str, Any]:
        """Make a request, also again if the line breaks; return the answer."""
        why = ""
        for attempt in range(TRIES):
            if attempt:
                time.sleep(min(2**attempt, 30) * self._pause / LOOK_SECONDS)
            try:
                response: httpx.Response = send()
            except httpx.TransportError as error:
                why = f"cannot be reached: {str(error) or type(error).__name__}"
                continue
            try:
                found = decode_untrusted(response.content, dict[str, Any])
            except Refused:
                found = {}
            if response.status_code >= SERVER_FAULT and not found.get("error"):
                why = f"answers {response.status_code}"
                continue
            if response.is_success and "state" in found:
                return found
            raise WrongUse(
                f"{self._client.base_url.host}: {found.get('error') or f'answers {response.status_code}'}"
            )
        raise MachineCannot(f"{self._client.base_url.host}: {why}")


def _blocks(file: IO[bytes], sent: Any) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block
        sent(len(block))


def _token(address: str) -> str:
    """Return the token for a server.

    Raises:
        WrongUse: there is none.
    """
    if token := os.environ.get(TOKEN, "").strip():
        return token
    host = urlsplit(address).netloc
    with suppress(Exception):  # Any backend's own errors: without a store there is no token.
        import keyring  # noqa: PLC0415 - an extra

        if stored := keyring.get_password(SERVICE, host):
            return stored
    raise WrongUse(f"set {TOKEN} to a token of yours for {host}; its page 'Keys' makes one")


@contextmanager
def _archive(folder: Path) -> Iterator[tuple[IO[bytes], str]]:
    """Yield an archive of a bot's folder, or the archive that was given, and its name.

    Raises:
        WrongUse: it is neither, or holds what a bot may not have.
    """
    if is_upload(folder):
        with folder.open("rb") as file:
            yield file, folder.name
        return
    if not (folder / FILE).is_file():
        raise WrongUse(f"{folder}: has no {FILE}: it is neither a bot's folder nor an archive (.zip, .tar.gz)")
    with tempfile.TemporaryFile() as file:
        with as_wrong_use(ContentError, about=folder), tarfile.open(fileobj=file, mode="w:gz") as archive:
            for item in folder_items(folder):
                name = os.fsdecode(item.name)
                if item.kind == b"l":
                    raise WrongUse(f"{folder / name}: is a symbolic link, which archives of bots may not have")
                member = tarfile.TarInfo(name)
                member.size, member.mode = item.size, 0o755 if item.kind == b"x" else 0o644
                archive.addfile(member, _Blocks(item.blocks))
        yield file, f"{folder.resolve().name}.tar.gz"


class _Blocks(io.RawIOBase):
    """A file of blocks, for `tarfile`."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; fewer than `size` at the end alone."""
        while len(self._rest) < size and (block := next(self._blocks, b"")):
            self._rest += block
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def _page(address: str, id_: str) -> str:
    return f"{address.rstrip('/')}/team/submission/{id_}"


def _print(found: dict[str, Any]) -> None:
    """Print a verdict."""
    screen = results_console()
    verdict = found.get("verdict") or {}
    for margin in verdict.get("margins", ()):
        screen.say(f"{margin['what']}: {margin['text']}")
    for warning in verdict.get("warnings", ()):
        screen.say(f"warning: {warning}")
    match = verdict.get("match") or {}
    for line in match.get("said", ()):
        screen.say(f"check match: {line}")
    if found["state"] == "entered":
        screen.say(f"entered: it plays as {found['entered']}")
