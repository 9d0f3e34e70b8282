"""Changes by the host while a tournament is played. Each is checked, and written into the ledger at once.

The arena that plays the tournament accepts it between two blocks; otherwise the next arena does.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from arena.config import THE_ARENA, Entry, difference, look_alike
from arena.errors import WrongUse
from arena.schedule import (
    Deadline,
    Entered,
    EntriesClosed,
    Extended,
    FieldChange,
    ScheduleSpec,
    What,
    Withdrawn,
    competing,
    entered,
    labels_now,
)
from arena.tournament.aside import Again, BlockSetAside, LeftOut
from arena.tournament.entries import resolve_changes
from arena.tournament.ledger import Ledger
from arena.tournament.results import StartTerms, entries_until
from referee.display_text import did_you_mean, printable_name

LONGEST_LABEL = 900
"""Most characters of a label. The label of a later version is a little longer."""
NAMED = 10
"""Most blocks that a message names."""


class FieldState(Struct, frozen=True):
    """The field after all changes, including those that wait."""

    begun: StartTerms
    events: tuple[FieldChange, ...]
    """All events that are not refused. One that waits has the block from which it would apply now."""
    blocks: int
    """Number of begun blocks."""

    @classmethod
    def of(cls, begun: StartTerms, events: Sequence[FieldChange], blocks: int) -> "FieldState":
        """Return the field after the ledger's events."""
        known = {event.id: event for event in events}
        for event in resolve_changes(begun.spec, begun.game, events, blocks):
            known[event.id] = event
        return cls(begun, tuple(event for event in known.values() if event.refused is None), blocks)

    @property
    def spec(self) -> ScheduleSpec:
        """The schedule with all changes."""
        return replace(self.begun.spec, changes=self.events)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all entrants, in the order of entry."""
        return (*self.begun.labels, *map(attrgetter("label"), entered(self.spec)))

    @property
    def entries_until(self) -> str | None:
        """Time until which bots may enter; None: to the end."""
        return entries_until(self.begun.terms, self.events)

    def check_deadline(self, now: datetime) -> None:
        """Check that bots may still enter. Raises WrongUse if not."""
        until = self.entries_until
        if until is not None and now > moment_of(until):
            raise WrongUse(f"entries were taken until {until} (for a later time: arena extend --entries-until)")

    @property
    def teams(self) -> list[int]:
        """First version of each entrant's bot, indexed by entrant."""
        first = list(range(len(self.begun.labels)))
        for bot in entered(self.spec):
            first.append(len(first))
            if bot.predecessor is not None:
                first[-1] = first[bot.predecessor]
        return first

    def entrant(self, label: str) -> int:
        """Return the competing entrant with this label, or the latest version of the bot that once had it.

        Raises:
            WrongUse: there is none.
        """
        labels, active, teams = self.labels, competing(self.spec), self.teams
        named = [number for number in range(len(labels)) if labels[number] == label]
        for number in active:
            if number in named or teams[number] in named:
                return number
        if named:
            raise WrongUse(f"{label}: {'is the house bot' if named == [self.spec.house] else 'has withdrawn'}")
        near = did_you_mean(label, list(map(labels.__getitem__, active)), "bots")
        raise WrongUse(f"no bot is called {label}; {near}")

    def next_version(self, entrant: int) -> str:
        """Return the label of a bot's next version. The usual one may belong to another bot."""
        teams, labels = self.teams, self.labels
        number = teams.count(teams[entrant]) + 1
        while any(map(partial(look_alike, name := f"{labels[teams[entrant]]} v{number}"), labels)):
            number += 1
        return name

    def content(self, entrant: int) -> str | None:
        """Return the hash of an entrant's content; None if the ledger does not have it."""
        number = entrant - len(self.begun.labels)
        if number < 0:
            return self.begun.contents[entrant]
        return entered(self.spec)[number].content

    def folder(self, entrant: int) -> str:
        """Return the folder of an entrant that is not in the tournament's file."""
        return entered(self.spec)[entrant - len(self.begun.labels)].folder

    def checked(self, what: What) -> What:
        """Return a change after checking that it can be accepted.

        Raises:
            WrongUse: it cannot be accepted.
        """
        if isinstance(what, Entered) and what.remote:
            for other in competing(self.spec):
                if other != what.predecessor and self.content(other) == what.content:
                    raise WrongUse(f"{what.label}: {self.labels[other]} has the same key")
        event = FieldChange(id=max((each.id for each in self.events), default=0) + 1, at="", block=None, what=what)
        (found,) = resolve_changes(self.begun.spec, self.begun.game, (*self.events, event), self.blocks)
        if found.refused is not None:
            raise WrongUse(found.refused)
        after = replace(self.begun.spec, changes=(*self.events, found))
        labels = labels_now(after, self.begun.labels)
        for label in labels:
            if labels.count(label) > 1:
                raise WrongUse(f"{label}: another bot has this name; give --label")
        if isinstance(what, Entered):
            self._check_label(labels[-1], labels[:-1])
        return what

    def _check_label(self, own: str, others: Sequence[str]) -> None:
        """Check that the label of a bot that enters is its own. Raises WrongUse if not."""
        if own in self._labels_in_use():
            raise WrongUse(f"{own}: another bot has this name; give --label")
        # A bot that withdrew may come back under its own label, and no other bot under one that looks like it.
        for other in (*others, *self.labels):
            if other != own and look_alike(own, other):
                raise WrongUse(f"{own}: looks like {other}: {difference(own, other)}; give another --label")

    def _labels_in_use(self) -> set[str]:
        """Return the labels of all versions, also replaced ones, of the bots that compete."""
        teams = self.teams
        active = set(map(teams.__getitem__, competing(self.spec)))
        return {label for label, team in zip(self.labels, teams, strict=True) if team in active}


def _change(ledger: Ledger, begun: StartTerms, what: Callable[[FieldState], What]) -> FieldChange:
    def change(events: Sequence[FieldChange], blocks: int) -> What:
        standing = FieldState.of(begun, events, blocks)
        return standing.checked(what(standing))

    return ledger.change(change)


def field_state_of(ledger: Ledger, begun: StartTerms) -> FieldState:
    """Return the field as it is now."""
    events = ledger.events()
    return FieldState.of(begun, events, ledger.begun())


def enter(
    ledger: Ledger, begun: StartTerms, bot: Entry, label: str, folder: str, *, received: datetime | None = None
) -> FieldChange:
    """Enter a bot, whose content has been copied.

    Args:
        ledger: the tournament's ledger.
        begun: the terms at its start.
        bot: the bot.
        label: its label.
        folder: the name by which it is found again.
        received: the time that decides whether it is in time; None: now.

    Raises:
        WrongUse: it cannot enter.
    """
    if printable_name(label) != label:
        raise WrongUse(f"{printable_name(label)}: has characters that cannot be shown as they are")
    if not 0 < len(label) <= LONGEST_LABEL:
        raise WrongUse(f"{label[:100]!r}: a label has 1 to {LONGEST_LABEL} characters")
    if label == THE_ARENA:
        raise WrongUse(f"{label}: is the name of the arena's own content; give another --label")
    entry = Entered(label=label, folder=folder, content=bot.content, version=bot.version)

    def what(standing: FieldState) -> What:
        standing.check_deadline(received or now())
        return entry

    return _change(ledger, begun, what)


def update(
    ledger: Ledger, begun: StartTerms, bot: Entry, label: str, folder: str, *, received: datetime | None = None
) -> FieldChange:
    """Replace the bot with this label by a new version, whose content has been copied.

    Arguments are those of `enter`.

    Raises:
        WrongUse: it cannot be replaced.
    """

    def what(standing: FieldState) -> What:
        standing.check_deadline(received or now())
        before = standing.entrant(label)
        if standing.content(before) == bot.content:
            raise WrongUse(unchanged_text(folder, standing.labels[before]))
        return Entered(
            label=standing.next_version(before),
            folder=folder,
            content=bot.content,
            version=bot.version,
            predecessor=before,
        )

    return _change(ledger, begun, what)


def unchanged_text(folder: str, label: str) -> str:
    """Return the refusal of a bot's folder, or its label, that is no new version."""
    return f"{folder} has not changed since {label}, the version that is playing"


def withdraw(ledger: Ledger, begun: StartTerms, label: str) -> FieldChange:
    """Withdraw the bot with this label.

    Raises:
        WrongUse: it cannot withdraw.
    """
    return _change(ledger, begun, lambda standing: Withdrawn(entrant=standing.entrant(label)))


def extend(ledger: Ledger, begun: StartTerms, *, blocks: int | None, rounds: int | None) -> FieldChange:
    """Extend a tournament to a new total of blocks or of rounds.

    Raises:
        WrongUse: the format has no such total, or it is not larger than now.
    """
    return _change(ledger, begun, lambda _: Extended(blocks=blocks, rounds=rounds))


def extend_entries(ledger: Ledger, begun: StartTerms, until: datetime) -> FieldChange:
    """Let bots enter until a later time.

    Raises:
        WrongUse: it is not later than the present one, or the tournament is closed.
    """
    text = until.astimezone(UTC).isoformat(timespec="seconds")

    def what(standing: FieldState) -> What:
        if standing.entries_until is not None and moment_of(standing.entries_until) >= moment_of(text):
            raise WrongUse(f"entries are taken until {standing.entries_until}: {text} is not later")
        return Deadline(entries_until=text)

    return _change(ledger, begun, what)


def now() -> datetime:
    """Return the time that decides whether an entry is in time."""
    return datetime.now(UTC)


def moment_of(text: str) -> datetime:
    """Return a time from a ledger.

    Raises:
        WrongUse: the text is no time.
    """
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise WrongUse(f"the tournament's ledger: entries_until: {text!r} is not a time") from None


def close(ledger: Ledger, begun: StartTerms, reason: str) -> bool:
    """Close a tournament, so that no more changes are accepted.

    Call it when all matches are played, and while no other arena plays.

    Returns:
        Whether it is closed now; False: a change waits, which comes first.
    """

    def change(events: Sequence[FieldChange], blocks: int) -> What:
        if any(event.block is None and event.refused is None for event in events):
            raise _WaitingError
        return FieldState.of(begun, events, blocks).checked(EntriesClosed(reason=reason))

    try:
        ledger.change(change)
    except _WaitingError:
        return False
    ledger.take_in(lambda events, blocks: resolve_changes(begun.spec, begun.game, events, blocks))
    return True


class _WaitingError(Exception):
    """A change waits to be accepted."""


def decide(ledger: Ledger, block: int, *, unexcused: tuple[int, ...], leave_out: bool) -> BlockSetAside:
    """Write the host's decision about a block that was set aside; return the block.

    Args:
        ledger: the tournament's ledger.
        block: the number of the block, from 0.
        unexcused: the bots that hold-ups do not excuse when it is played again.
        leave_out: whether the block is not played at all.

    Raises:
        WrongUse: it was never set aside, or it counts already.
    """
    blocks = {each.block: each for each in ledger.asides().blocks}
    if block not in blocks:
        numbers = ", ".join(str(number + 1) for number in list(blocks)[:NAMED])
        known = f"set aside: {numbers}" if numbers else "none is"
        raise WrongUse(f"block {block + 1} is not set aside; {known}")
    if ledger.results(block, block + 1):
        raise WrongUse(f"block {block + 1} has been played, and counts")
    decision = LeftOut() if leave_out else Again(unexcused=unexcused)
    ledger.add_step(block, decision)
    return replace(blocks[block], decision=decision)
