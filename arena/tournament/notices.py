"""Notices to a tournament's host: the events that cause one, their texts, and their sending by webhook.

A notice names the tournament, bots and counts; never a seed, a move, a bot's output, or the path of a file. Each
is a JSON object that is posted to a URL; callers never wait. The URL often contains a secret, so messages and logs
name only its host.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
import trio
from msgspec import Struct

from arena.config import NoticeEvent, Notices, Tournament
from arena.errors import CannotGoOn, MachineCannot, Stopped, reason_of
from arena.quantities import pluralise
from arena.schedule import ScheduledMatch
from arena.terminal import say
from arena.tournament.ledger import Ledger
from arena.tournament.results_folder import AlreadyPlayed
from protocol.refusals import Conduct
from referee.display_text import printable
from referee.host import AttemptResult
from referee.log import SILENT, Logger

if TYPE_CHECKING:
    import httpx


MOST_CHARACTERS = 300
_FOLDERS = re.compile(r"(?<![\w.:/-])/(?:[^\s/:;,'\"]+/)+")
"""The folders in a path."""
_MARKUP = str.maketrans("<>&@[]", "‹›＆＠()")  # noqa: RUF001 - no chat reads these as a mention or a link


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notice as it is posted."""

    event: NoticeEvent
    tournament: str
    at: str
    """Wall time in ISO 8601, in UTC."""
    text: str
    """A line for people."""
    bot: str | None = None
    """The label of the bot that fails."""
    conduct: Conduct | None = None
    """The conduct of that bot in the last match in which it failed."""
    count: int | None = None
    """Number of void blocks in a row, of matches in which the bot failed, or of all matches."""


Notify = Callable[[Notice], None]
"""Receives a notice, without waiting."""


def no_notices(notice: Notice) -> None:
    """Ignore a notice."""


def notice_of(event: NoticeEvent, name: str, text: str, **facts: Any) -> Notice:
    """Return a notice of now.

    Args:
        event: what has happened.
        name: name of the tournament.
        text: what happened, in a line.
        facts: further fields.
    """
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Notice(event=event, tournament=printable(name), at=at, text=_plain(f"{name}: {text}"), **facts)


class NoticeObserver:
    """Observes a tournament while it is played, and sends notices."""

    def __init__(self, tournament: Tournament, notify: Notify) -> None:
        self._asked = tournament.form.notices or Notices()
        folder = tournament.results.absolute()
        self._name = f"{folder.parent.name}: {folder.name}" if tournament.stage else folder.name
        self._endless = tournament.form.endless
        self._notify = notify
        self._labels = tournament.labels
        self._voids = 0
        """Number of void attempts in a row."""
        self._failed: Counter[int] = Counter()
        """Number of matches in which an entrant failed; by entrant."""
        self._played = 0

    def go_on(self, ledger: Ledger) -> None:
        """Include the failures of matches played earlier, if notices are sent. A million matches take seconds."""
        if self._notify is not no_notices and "failing" in self._asked.events:
            self._failed = Counter(ledger.failed())

    def change(self, labels: tuple[str, ...]) -> None:
        """Continue with a field in which bots have entered; `labels` are those of all entrants now."""
        self._labels = labels

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Send a notice if the block ends by an exception, unless another arena is playing the tournament."""
        try:
            yield
        except AlreadyPlayed:
            raise
        except BaseException as error:
            reason = reason_of(error)
            if isinstance(reason, Stopped):
                why = f"by signal {reason.signal}"
            elif isinstance(reason, CannotGoOn):
                why = f"{reason.why}; {reason.kept}"
            elif isinstance(reason, MachineCannot):
                why = reason.format_message()
            else:  # An error about changed terms names the seed.
                why = "the arena's last line says why"
            self._tell("stopped", f"stopped: {why}")
            raise

    def over(self, leader: str, matches: int) -> None:
        """Send a notice of the end, if any match was played in this run."""
        if self._played:
            many = pluralise(matches, "match", ",")
            what = f"its time is up after {many}" if self._endless else f"all {many} are played"
            self._tell("over", f"{what}; first is {leader}", count=matches)

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """See `observers.MatchObserver`."""
        self._voids = 0
        self._played += 1
        failed = {
            entrant: conduct
            for entrant, conduct in zip(match.entrants, result.conduct, strict=True)
            if conduct is not Conduct.OK
        }
        for entrant, conduct in failed.items():
            self._failed[entrant] += 1
            count = self._failed[entrant]
            if _is_time(count, self._asked.failing_after):
                bot, how = self._labels[entrant], conduct.value.replace("_", " ")
                text = f"{bot} has failed in {pluralise(count, 'match', ',')}, most recently: {how}"
                self._tell("failing", text, bot=printable(bot), conduct=conduct, count=count)

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        """See `observers.MatchObserver`."""

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """See `observers.MatchObserver`."""
        del match, set_aside
        self._voids += 1
        if _is_time(self._voids, self._asked.void_after):
            times = "once" if self._voids == 1 else f"{self._voids:,} times in a row"
            self._tell("void", f"a block was void {times}, most recently because {reason}", count=self._voids)

    def telling_aside(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """Return a function that shows a line about a block that was set aside, and sends it as a notice."""

        def tell(line: str) -> None:
            say(line)
            self._tell("void", line)

        return tell

    def _tell(self, event: NoticeEvent, text: str, **facts: Any) -> None:
        if event in self._asked.events:
            self._notify(notice_of(event, self._name, text, **facts))


def _is_time(count: int, first: int) -> bool:
    """Return whether a count is `first` times a power of two."""
    times, rest = divmod(count, first)
    return rest == 0 and times & (times - 1) == 0 and times > 0


def _plain(text: str) -> str:
    """Return a text that chats show unchanged and that names no folder of this machine."""
    short = printable(_FOLDERS.sub("…/", text)).translate(_MARKUP)
    return short if len(short) <= MOST_CHARACTERS else f"{short[: MOST_CHARACTERS - 1]}…"


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
        if not self._ended.wait(SOON) and self._waiting:
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
