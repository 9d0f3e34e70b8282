"""Notices to a tournament's host: the events that cause one, and their texts.

A notice names the tournament, bots and counts; never a seed, a move, a bot's output, or the path of a file.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from arena.config import NoticeEvent, Notices, Tournament
from arena.errors import CannotGoOn, MachineCannot, Stopped, reason_of
from arena.quantities import pluralise
from arena.schedule import Match
from arena.tournament.ledger import Ledger
from arena.tournament.results_folder import AlreadyPlayed
from protocol.refusals import Conduct
from referee.display_text import printable
from referee.host import Result

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


class Watch:
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

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
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

    def lost(self, match: Match, reason: str) -> None:
        """See `runner.Progress`."""

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""
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
        if event not in self._asked.events:
            return
        at = datetime.now(UTC).isoformat(timespec="seconds")
        whole = _plain(f"{self._name}: {text}")
        self._notify(Notice(event=event, tournament=printable(self._name), at=at, text=whole, **facts))


def _is_time(count: int, first: int) -> bool:
    """Return whether a count is `first` times a power of two."""
    times, rest = divmod(count, first)
    return rest == 0 and times & (times - 1) == 0 and times > 0


def _plain(text: str) -> str:
    """Return a text that chats show unchanged and that names no folder of this machine."""
    short = printable(_FOLDERS.sub("…/", text)).translate(_MARKUP)
    return short if len(short) <= MOST_CHARACTERS else f"{short[: MOST_CHARACTERS - 1]}…"
