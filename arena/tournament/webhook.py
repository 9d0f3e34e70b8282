"""Sends notices by webhook: each is a JSON object that is posted to a URL. Callers never wait.

The URL often contains a secret, so messages and logs name only its host.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import trio

from arena.quantities import pluralise
from arena.terminal import say
from arena.tournament.notices import Notice, Notify, no_notices
from referee.display_text import printable
from referee.log import SILENT, Logger

if TYPE_CHECKING:
    import httpx

MOST_WAITING = 50
"""Most notices that wait to be sent. Further ones are dropped and counted."""
TRIES = 6
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds between two tries: each is twice the last one, or the time that the server asks for."""
ANSWER_SECONDS = 10.0
"""Seconds for one try, from the connection to the answer's first lines. A slow server may send single bytes."""
CLOSE_SECONDS = 10.0
"""Seconds for which the end of a command waits for unsent notices."""
SOON = 1.0
"""Seconds after which that wait is reported, and the longest time between two tries during it."""
AGAIN = frozenset({408, 425, 429})
"""Refusals after which a notice is sent again, besides the server's own errors (500 and more)."""
OK, REDIRECT, REFUSED, FAULT = 200, 300, 400, 500


@contextmanager
def open_notices(url: str | None, log: Logger = SILENT) -> Iterator[Notify]:
    """Send notices during the block. Without a URL they are ignored."""
    if url is None:
        yield no_notices
        return
    sender = Sender(url, log)
    try:
        yield sender.tell
    finally:
        sender.close()


class Sender:
    """A thread that posts notices one after the other."""

    def __init__(self, url: str, log: Logger = SILENT) -> None:
        self._url = url
        self._host = printable(urlsplit(url).hostname or "")
        self._log = log
        self._waiting = self._left_out = 0
        self._ready, self._ended = Event(), Event()
        # A daemon: a thread that an exception left behind must not keep the process alive.
        self._thread = Thread(target=self._run, name="notices", daemon=True)
        self._thread.start()
        self._ready.wait()

    def tell(self, notice: Notice) -> None:
        """See `Notify`."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._take, notice)

    def close(self) -> None:
        """Send the waiting notices, for at most `CLOSE_SECONDS`."""
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._end)
        if not self._ended.wait(SOON):
            left = pluralise(self._waiting, "notice")
            say(f"notices: {self._host}: {left} to be sent, for up to {CLOSE_SECONDS:.0f} s")
        self._thread.join(CLOSE_SECONDS + SOON)
        if self._waiting:
            self._lost(f"{pluralise(self._waiting, 'notice')} could not be sent in time")
        if self._left_out:
            self._lost(f"{pluralise(self._left_out, 'notice')} left out: {MOST_WAITING} waited already")

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except Exception as error:  # noqa: BLE001 - whatever becomes of notices, matches go on
            self._lost(f"no more notices: {type(error).__name__}")
        finally:
            self._ready.set()
            self._ended.set()

    async def _main(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._queue, notices = trio.open_memory_channel[Notice](MOST_WAITING)
        self._closing = trio.Event()
        with trio.CancelScope() as self._scope:
            self._ready.set()
            async with _client() as client:
                async for notice in notices:
                    await self._deliver(client, notice)
                    self._waiting -= 1

    def _take(self, notice: Notice) -> None:
        try:
            self._queue.send_nowait(notice)
            self._waiting += 1
        except (trio.WouldBlock, trio.ClosedResourceError):
            self._left_out += 1

    def _end(self) -> None:
        self._queue.close()
        self._closing.set()
        self._scope.deadline = trio.current_time() + CLOSE_SECONDS

    async def _deliver(self, client: "httpx.AsyncClient", notice: Notice) -> None:
        """Post a notice, with further tries while they can succeed."""
        wait, answer = FIRST_WAIT, ""
        for tried in range(TRIES):
            if tried:
                with trio.move_on_after(wait):
                    await self._closing.wait()
                if self._closing.is_set():
                    await trio.sleep(min(wait, SOON))
                wait = min(2 * wait, LONGEST_WAIT)
            answer, again, asked = await self._post(client, notice)
            if not answer:
                return
            wait = wait if asked is None else asked
            if not again:
                break
        self._lost(f"{answer}: lost a notice ({notice.event})")

    async def _post(self, client: "httpx.AsyncClient", notice: Notice) -> tuple[str, bool, float | None]:
        """Post a notice once.

        Returns:
            The error, empty if there was none; whether to try again; and after how many seconds, if the server
            asks for it.
        """
        import httpx  # noqa: PLC0415 - see `_client`

        body = msgspec.json.encode(notice)
        headers = {"content-type": "application/json"}
        with trio.move_on_after(ANSWER_SECONDS):
            try:
                # The body is not read: it may have no end.
                async with client.stream("POST", self._url, content=body, headers=headers) as response:
                    return _verdict(response.status_code, response.headers.get("retry-after", ""))
            except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
                # The errors' texts may contain the URL.
                return f"cannot be reached ({type(error).__name__})", True, None
        return f"does not answer in {ANSWER_SECONDS:.0f} s", True, None

    def _lost(self, why: str) -> None:
        say(f"notices: {self._host}: {why}")
        self._log.warning("notice_lost", host=self._host, reason=why)


def _client() -> "httpx.AsyncClient":
    """Return a client that follows no redirects: a notice is for the named server only."""
    import httpx  # noqa: PLC0415 - takes a fifth of a second, and few tournaments send notices

    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # They would log the URL.
    return httpx.AsyncClient(timeout=ANSWER_SECONDS, follow_redirects=False, headers={"user-agent": "arena"})


def _verdict(status: int, retry_after: str) -> tuple[str, bool, float | None]:
    if OK <= status < REDIRECT:
        return "", False, None
    if REDIRECT <= status < REFUSED:
        return f"answers {status}, a redirect, which is not followed", False, None
    asked = min(float(retry_after), LONGEST_WAIT) if re.fullmatch("[0-9]{1,9}", retry_after) else None
    return f"answers {status}", status in AGAIN or status >= FAULT, asked
