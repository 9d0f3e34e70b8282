"""What a host changes while a tournament goes on: each is checked, and written into the ledger at once.

An arena that is playing the tournament takes it in between two blocks; otherwise the next one does.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from arena.config import THE_ARENA, Entry, difference, look_alike
from arena.errors import WrongUse
from arena.schedule import (
    Closed,
    Deadline,
    Entered,
    Event,
    Extended,
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
from arena.tournament.results import StartTerms
from referee.display_text import printable_name
from referee.suggestions import did_you_mean

LONGEST_LABEL = 900
"""Characters; that of a version is a little longer."""
NAMED = 10
"""The most bots that a message names."""


class FieldState(Struct, frozen=True):
    """The field once all changes that wait are taken in."""

    begun: StartTerms
    events: tuple[Event, ...]
    """Those that stand, the ones that wait with the block at which they would be taken in now."""
    blocks: int
    """How many blocks were begun."""

    @classmethod
    def of(cls, begun: StartTerms, events: Sequence[Event], blocks: int) -> "FieldState":
        """By the ledger's events."""
        waiting = {event.id: event for event in resolve_changes(begun.spec, begun.game, events, blocks)}
        all_events = (waiting.get(event.id, event) for event in events)
        return cls(begun, tuple(event for event in all_events if event.refused is None), blocks)

    @property
    def spec(self) -> ScheduleSpec:
        """With all changes."""
        return replace(self.begun.spec, changes=self.events)

    @property
    def labels(self) -> tuple[str, ...]:
        """Of all entrants, by number, as they entered."""
        return (*self.begun.labels, *(bot.label for bot in entered(self.spec)))

    @property
    def entries_until(self) -> str | None:
        """Until when bots may enter; None: as long as it is played."""
        later = [event.what.entries_until for event in self.events if isinstance(event.what, Deadline)]
        return later[-1] if later else self.begun.entries_until

    def check_deadline(self, now: datetime) -> None:
        """Raises: WrongUse: no bot may enter any more."""
        until = self.entries_until
        if until is not None and now > moment_of(until):
            raise WrongUse(f"entries were taken until {until} (for a later time: arena extend --entries-until)")

    @property
    def teams(self) -> list[int]:
        """By entrant: the first version of its bot."""
        first = list(range(len(self.begun.labels)))
        for bot in entered(self.spec):
            first.append(len(first) if bot.predecessor is None else first[bot.predecessor])
        return first

    def entrant(self, label: str) -> int:
        """The bot that competes under a label: of this version, or the latest that began under it.

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
        near = did_you_mean(label, [labels[number] for number in active], "bots")
        raise WrongUse(f"no bot is called {label}; {near}")

    def next_version(self, entrant: int) -> str:
        """What the next version of a bot is called: another bot's author may have taken the usual name."""
        teams, labels = self.teams, self.labels
        numbers = count(teams.count(teams[entrant]) + 1)
        names = (f"{labels[teams[entrant]]} v{number}" for number in numbers)
        return next(name for name in names if not any(look_alike(name, label) for label in labels))

    def content(self, entrant: int) -> str | None:
        """The hash of an entrant's content; None: the ledger does not say."""
        number = entrant - len(self.begun.labels)
        return self.begun.contents[entrant] if number < 0 else entered(self.spec)[number].content

    def folder(self, entrant: int) -> str:
        """Where a bot was found that is not in the file."""
        return entered(self.spec)[entrant - len(self.begun.labels)].folder

    def checked(self, what: What) -> What:
        """A change that can be taken in.

        Raises:
            WrongUse: it cannot.
        """
        if isinstance(what, Entered) and what.remote:
            others = [number for number in competing(self.spec) if number != what.predecessor]
            same = [self.labels[other] for other in others if self.content(other) == what.content]
            if same:
                raise WrongUse(f"{what.label}: {same[0]} has the same key")
        event = Event(id=max((each.id for each in self.events), default=0) + 1, at="", block=None, what=what)
        (found,) = resolve_changes(self.begun.spec, self.begun.game, (*self.events, event), self.blocks)
        if found.refused is not None:
            raise WrongUse(found.refused)
        after = replace(self.begun.spec, changes=(*self.events, found))
        labels = labels_now(after, self.begun.labels)
        if twice := next((label for label in labels if labels.count(label) > 1), None):
            raise WrongUse(f"{twice}: another bot has this name; give --label")
        if isinstance(what, Entered):
            *earlier, own = labels
            if own in self._labels_in_use():
                raise WrongUse(f"{own}: another bot has this name; give --label")
            # A bot that withdrew may come back under its own label, and no other bot under one that looks like it.
            known = [label for label in (*earlier, *self.labels) if label != own]
            if other := next((each for each in known if look_alike(own, each)), None):
                raise WrongUse(f"{own}: looks like {other}: {difference(own, other)}; give another --label")
        return what

    def _labels_in_use(self) -> set[str]:
        """Return the labels of all versions, also replaced ones, of the bots that compete."""
        teams = self.teams
        active = {teams[number] for number in competing(self.spec)}
        return {label for label, team in zip(self.labels, teams, strict=True) if team in active}


def _change(ledger: Ledger, begun: StartTerms, what: Callable[[FieldState], What]) -> Event:
    def change(events: Sequence[Event], blocks: int) -> What:
        standing = FieldState.of(begun, events, blocks)
        return standing.checked(what(standing))

    return ledger.change(change)


def field_state_of(ledger: Ledger, begun: StartTerms) -> FieldState:
    """The field as it is now."""
    events = ledger.events()
    return FieldState.of(begun, events, ledger.begun())


def enter(ledger: Ledger, begun: StartTerms, bot: Entry, label: str, folder: str) -> Event:
    """A bot enters, whose content is kept already.

    Raises:
        WrongUse: it cannot.
    """
    if printable_name(label) != label:
        raise WrongUse(f"{printable_name(label)}: has characters that cannot be shown as they are")
    if not 0 < len(label) <= LONGEST_LABEL:
        raise WrongUse(f"{label[:100]!r}: a label has 1 to {LONGEST_LABEL} characters")
    if label == THE_ARENA:
        raise WrongUse(f"{label}: is the name of the arena's own content; give another --label")
    entry = Entered(label=label, folder=folder, content=bot.content, version=bot.version)

    def what(standing: FieldState) -> What:
        standing.check_deadline(now())
        return entry

    return _change(ledger, begun, what)


def update(ledger: Ledger, begun: StartTerms, bot: Entry, label: str, folder: str) -> Event:
    """A new version takes the place of the bot of a label; its content is kept already.

    Raises:
        WrongUse: it cannot.
    """

    def what(standing: FieldState) -> What:
        standing.check_deadline(now())
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
    """Return why a bot's folder, or its label, is no new version."""
    return f"{folder} has not changed since {label}, the version that is playing"


def withdraw(ledger: Ledger, begun: StartTerms, label: str) -> Event:
    """The bot of a label plays no more.

    Raises:
        WrongUse: it cannot withdraw.
    """
    return _change(ledger, begun, lambda standing: Withdrawn(entrant=standing.entrant(label)))


def extend(ledger: Ledger, begun: StartTerms, *, blocks: int | None, rounds: int | None) -> Event:
    """More is to be played: a new total of one of the two.

    Raises:
        WrongUse: the format has no such total, or it is no more than there is.
    """
    return _change(ledger, begun, lambda _: Extended(blocks=blocks, rounds=rounds))


def extend_entries(ledger: Ledger, begun: StartTerms, until: datetime) -> Event:
    """Bots may enter until a later time.

    Raises:
        WrongUse: it is no later than what is set now, or entries are taken in no more.
    """
    text = until.astimezone(UTC).isoformat(timespec="seconds")

    def what(standing: FieldState) -> What:
        if standing.entries_until is not None and moment_of(standing.entries_until) >= moment_of(text):
            raise WrongUse(f"entries are taken until {standing.entries_until}: {text} is not later")
        return Deadline(entries_until=text)

    return _change(ledger, begun, what)


def now() -> datetime:
    """The time by which entries are in time or late."""
    return datetime.now(UTC)


def moment_of(text: str) -> datetime:
    """A time from a ledger.

    Raises:
        WrongUse: it is none.
    """
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise WrongUse(f"the tournament's ledger: entries_until: {text!r} is not a time") from None


def close(ledger: Ledger, begun: StartTerms, reason: str) -> bool:
    """No change is to be taken in any more; whether that is so now: else a change waits that comes before.

    Call it when all is played, and while nobody else plays.
    """

    def change(events: Sequence[Event], blocks: int) -> What:
        if any(event.block is None and event.refused is None for event in events):
            raise _WaitingError
        return FieldState.of(begun, events, blocks).checked(Closed(reason=reason))

    try:
        ledger.change(change)
    except _WaitingError:
        return False
    ledger.take_in(lambda events, blocks: resolve_changes(begun.spec, begun.game, events, blocks))
    return True


class _WaitingError(Exception):
    """A change waits."""


def decide(ledger: Ledger, block: int, *, unexcused: tuple[int, ...], leave_out: bool) -> BlockSetAside:
    """Write down the host's decision about a block that was set aside; return the block.

    Args:
        ledger: the tournament's.
        block: its number, from 0.
        unexcused: the bots whose hold-ups do not excuse them when it is played again.
        leave_out: it is not played at all.

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
    ledger.add_step(block, LeftOut() if leave_out else Again(unexcused=unexcused))
    (found,) = (each for each in ledger.asides().blocks if each.block == block)
    return found
