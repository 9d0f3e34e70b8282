"""Verifies a transcript against the rules: a new match gets its inputs, and must make every other record.

Records are compared byte for byte. `reader` reads the file, and checks that its bytes are unchanged.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import UNSET

from protocol.codec import encode
from referee.match import AnyRecord, Footer, Header, Match, Record
from referee.rules import Addressed
from referee.transcript.checks import BadTermsError, dealt


class Differs(Exception):  # noqa: N818 - the answer to a question, not a failure of ours
    """The rules contradict a transcript."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line


class Replayed:
    """A match that is being replayed, with its `MatchIO`. Messages are compared instead of sent."""

    def __init__(self, header: Header, watch: "Watch | None" = None) -> None:
        """Deal the match of a header. `watch` is called with the events, as in the match.

        Raises:
            Differs: the header's terms are not possible.
        """
        self.header = header
        self.made: deque[Record] = deque()
        """Records that are made but not compared yet."""
        self._watch = watch
        try:
            self.table, policy = dealt(header)
        except BadTermsError as error:
            raise Differs(1, f"cannot be dealt: {error}") from None
        self.match = Match(
            header.match,
            self.table,
            terms=header.clock,
            policy=policy,
            bots=header.bots,
            io=self,
            measured=header.measured,
            unexcused=() if header.unexcused is UNSET else header.unexcused,
        )
        self.match.begin()

    def record(self, record: Record) -> None:
        """See `MatchIO`."""
        self.made.append(record)

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchIO`."""
        if self._watch is not None:
            self._watch(self, told)

    def _pass_over(self, *_: Any, **__: Any) -> None:
        """Ignore a request of the match that matters only if bots play."""

    send = nobody_handed = reconnected = hang_up = restart = paused = resumed = _pass_over


Watch = Callable[[Replayed, tuple[Addressed, ...]], None]


def replay(records: Iterable[AnyRecord], watch: Watch | None = None) -> Replayed:
    """Replay a whole transcript, given its records from the header on.

    Returns:
        The match at its end.

    Raises:
        Differs: at the first line that the rules contradict, or at the end of an unfinished transcript.
    """
    walk = steps(records, watch)
    _, replayed = next(walk)
    deque(walk, maxlen=0)
    return replayed


def steps(records: Iterable[AnyRecord], watch: Watch | None = None) -> Iterator[tuple[AnyRecord, Replayed]]:
    """Yield the records from the header on, each after the rules have confirmed it, with the match at that point.

    The match includes all effects of the last input, also those in later records.

    Raises:
        Differs: as in `replay`.
    """
    lines = enumerate(records, start=1)
    _, header = next(lines, (0, None))
    if not isinstance(header, Header):
        raise Differs(1, "is no header of a whole match")
    replayed = Replayed(header, watch)
    yield header, replayed
    number = 1
    for number, record in lines:
        if isinstance(record, Footer):
            break
        try:
            _take(replayed, number, record)
        except RecursionError:
            # The limit of nesting depends on the caller.
            raise Differs(number, "nested too deeply") from None
        yield record, replayed
    if replayed.made or not replayed.match.over:
        raise Differs(number, "the match is not over here")


def _take(replayed: Replayed, number: int, record: AnyRecord) -> None:
    """Apply the next record to the match, and compare it with the match's own."""
    replayed.match.apply(record)
    if not replayed.made:
        raise Differs(number, f"the rules lead to no such line: {_short(record)}")
    made = replayed.made.popleft()
    if encode(made) != encode(record):
        raise Differs(number, f"the rules lead to {_short(made)}, the transcript says {_short(record)}")


def _short(record: AnyRecord) -> str:
    text = encode(record).decode()
    return text if len(text) <= 300 else f"{text[:300]}…"  # noqa: PLR2004 - as much as a line of a report takes
