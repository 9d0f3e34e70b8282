"""Notices to a tournament's host: what is worth one, and what it says.

A notice names the tournament, bots and counts; never a seed, a move, what a bot wrote, or where a file is.
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
from arena.tournament.runner import Progress
from protocol.refusals import Conduct
from referee.display_text import printable
from referee.host import Result

MOST_CHARACTERS = 300
_FOLDERS = re.compile(r"(?<![\w.:/-])/(?:[^\s/:;,'\"]+/)+")
"""The folders of a path."""
_MARKUP = str.maketrans("<>&@[]", "‹›＆＠()")  # noqa: RUF001 - what no chat takes for a mention or a link


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of them, as it is posted."""

    event: NoticeEvent
    tournament: str
    at: str
    """Wall time, ISO 8601, UTC."""
    text: str
    """For people: a line."""
    bot: str | None = None
    """Its label, if a bot fails."""
    conduct: Conduct | None = None
    """How that bot behaved in the match that it failed in last."""
    count: int | None = None
    """Void blocks in a row, matches in which the bot failed, or matches in all."""


Notify = Callable[[Notice], None]
"""Takes a notice. Never waits."""


def nobody(notice: Notice) -> None:
    """Tells no one."""


class Watch:
    """Finds what is worth a notice while a tournament is played."""

    def __init__(self, tournament: Tournament, notify: Notify) -> None:
        self._asked = tournament.form.notices or Notices()
        folder = tournament.results.absolute()
        self._name = f"{folder.parent.name}: {folder.name}" if tournament.stage else folder.name
        self._endless = tournament.form.endless
        self._notify = notify
        self._labels = tournament.labels
        self._voids = 0
        """In a row."""
        self._failed: Counter[int] = Counter()
        """By entrant: matches."""
        self._played = 0

    def go_on(self, ledger: Ledger) -> None:
        """Counts on from what was played before; not for nobody: of a million matches that takes seconds."""
        if self._notify is not nobody and "failing" in self._asked.events:
            self._failed = Counter(ledger.failed())

    def beside(self, progress: Progress, labels: tuple[str, ...]) -> "Watched":
        """Hears what `progress` hears; `labels`: of all entrants now."""
        self._labels = labels
        return Watched(progress, self)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Tells if its block ends by an exception, unless another arena goes on playing."""
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
            else:  # What is said of terms that have changed names the seed.
                why = "the arena's last line says why"
            self._tell("stopped", f"stopped: {why}")
            raise

    def over(self, leader: str, matches: int) -> None:
        """All is played, or the time of a ladder is up; nothing is told if none of it was played now."""
        if self._played:
            many = pluralise(matches, "match", ",")
            what = f"its time is up after {many}" if self._endless else f"all {many} are played"
            self._tell("over", f"{what}; first is {leader}", count=matches)

    def ended(self, match: Match, result: Result) -> None:
        """A match has its result."""
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

    def void(self, reason: str) -> None:
        """A block is void, and played again."""
        self._voids += 1
        if _is_time(self._voids, self._asked.void_after):
            times = "once" if self._voids == 1 else f"{self._voids:,} times in a row"
            self._tell("void", f"a block was void {times}, most recently because {reason}", count=self._voids)

    def telling_aside(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """Return what shows a line about a block that was set aside, and tells the host of it."""

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


class Watched:
    """Passes on progress, and lets `Watch` hear it."""

    def __init__(self, progress: Progress, watch: Watch) -> None:
        self._progress = progress
        self._watch = watch
        self.lost = progress.lost

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
        self._progress.ended(match, result)
        self._watch.ended(match, result)

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""
        self._progress.void(match, reason, set_aside)
        self._watch.void(reason)


def _is_time(count: int, first: int) -> bool:
    """Whether a count is the first, or twice, four times, … as much."""
    times, rest = divmod(count, first)
    return rest == 0 and times & (times - 1) == 0 and times > 0


def _plain(text: str) -> str:
    """Text that a chat shows as it stands, and that names no folder of this machine."""
    short = printable(_FOLDERS.sub("…/", text)).translate(_MARKUP)
    return short if len(short) <= MOST_CHARACTERS else f"{short[: MOST_CHARACTERS - 1]}…"
