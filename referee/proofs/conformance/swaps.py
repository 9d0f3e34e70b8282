"""Secrets: what a seat is shown depends on nothing but what it was told.

Secret swap: `Twin` keeps a second history beside a match, in which one observer was told the same while the rest
differs as far as it can be made to; `Memory` remembers what was shown over all matches. Sealed swap:
`check_sealed`, and `check_commuting` for windows that answer at once.
"""

from collections.abc import Iterator
from random import Random

from protocol.codec import encode
from referee.proofs.conformance.finding import difference
from referee.proofs.conformance.promises import Where
from referee.proofs.conformance.reseating import reseat
from referee.proofs.conformance.sitting import Chooser, Chosen, Observer, Sitting, answered, open_window
from referee.rules import Taken

CHANGES = 3
"""How many other histories are tried for each window, before the one that was played."""
EXCHANGES = 6
"""How many seats the observer is moved to, in search of one where it would have submitted just the same."""
DEALS = 8
"""How many other seeds are tried for a deal that tells the observer the same."""
PROBES = 4
"""How many submissions, legal or not, are compared for each pair of windows."""
REMEMBERED_WINDOWS = 12
"""Later in a match no two seeds are likely to have told a seat the same."""

SECRET = "secret swap: told the same, shown the same"  # noqa: S105 - a promise, not a password
COMMUTE = "answers of an `asap` window commute"
SEALED = "sealed swap: what others submit changes nothing before the window closes"


class Twin:
    """A history in which `observer` was told the same as in the match beside it, and as little else as can be."""

    def __init__(self, observer: Observer, match: Sitting, deals: list[Sitting], luck: Random) -> None:
        """Starts from one of the `deals` that tells the observer what it was told in the match, if any does."""
        self._observer = observer
        self._luck = luck
        self._chooser = Chooser(luck)
        alike = (deal for deal in deals if deal.told[observer] == match.told[observer])
        self._sitting = next(alike, match).fork()
        self._others = [seat for seat in range(match.table.seats) if seat != observer]
        luck.shuffle(self._others)
        self.pairs = 0
        """How many pairs of positions were compared that differ in what the observer was not told."""
        self.probes = 0

    def follow(self, before: Sitting, chosen: Chosen, after: Sitting, where: Where) -> None:
        """Closes a window as the match did, but for what the observer cannot know; if that fails, begins anew."""
        own = chosen.get(self._observer) if self._observer is not None else None
        if own and own.action is not None:
            self._compare_responses(before, encode(own.action), where)
        for start in (self._sitting, before):
            tried: list[Chosen] = []
            for changed in self._attempts(start, before, chosen) if start.table.window else ():
                if changed in tried:
                    continue
                tried.append(changed)
                attempt = start.fork()
                attempt.play(changed)
                if attempt.told[self._observer] == after.told[self._observer]:
                    self._sitting = attempt
                    return

    def _attempts(self, start: Sitting, before: Sitting, chosen: Chosen) -> Iterator[Chosen]:
        """Other histories of this window, the likeliest to tell the observer the same last."""
        for _ in range(CHANGES):
            yield self._changed(start, before, chosen, 1 / 2)
        for reseated in self._reseated(before, chosen):
            yield self._changed(start, before, reseated, 1)
        # With many seats, change one of them: a change of half the seats would be told to everyone.
        for _ in range(CHANGES):
            yield self._changed(start, before, chosen, max(1 / 2, 1 - 1 / len(before.table.owed)))
        yield self._changed(start, before, chosen, 1)

    def _reseated(self, before: Sitting, chosen: Chosen) -> Iterator[Chosen]:
        """What was chosen, moved to other seats, as far as the observer's own submission allows.

        Two others have exchanged seats, the same two all match long, or the observer sits in another's.
        """
        exchanges = [(self._others[0], self._others[-1])]
        if self._observer is not None and self._luck.random() < 1 / 2:
            new_seats = self._luck.sample(self._others, min(EXCHANGES, len(self._others)))
            exchanges = [(self._observer, seat) for seat in new_seats]
        for one, other in exchanges:
            seat_of = list(range(before.table.seats))
            seat_of[one], seat_of[other] = other, one
            reseated = reseat(before.table.game, chosen, tuple(seat_of))
            if self._observer is None or reseated.get(self._observer) == chosen.get(self._observer):
                yield reseated

    def compare(self, match: Sitting, where: Where) -> None:
        """Compares all that the observer may be sent now. Raises ConformanceError where it differs."""
        twin, seat = self._sitting, self._observer
        if twin.table.state == match.table.state:
            return
        self.pairs += 1
        number = match.table.number
        one, other = match.shown(seat), twin.shown(seat)
        if one != other:
            raise where.error(SECRET, difference(one, other), number, seat)
        if seat is not None and match.owes(seat):
            for _ in range(PROBES):
                self._compare_responses(match, self._chooser.guess(match.table, seat), where)

    def _compare_responses(self, match: Sitting, action: bytes, where: Where) -> None:
        seat = self._observer
        if seat is None:
            return
        self.probes += 1
        one, other = match.response(seat, action), self._sitting.response(seat, action)
        if one != other:
            raise where.error(SECRET, f"{action.decode()}: {difference(one, other)}", match.table.number, seat)

    def _changed(self, start: Sitting, before: Sitting, chosen: Chosen, keep: float) -> Chosen:
        """For each seat of the window at the start: the observer's own part; of others the match's, or another."""
        table = start.table
        same_window = open_window(table).name == open_window(before.table).name
        changed = {}
        for seat in (owed.seat for owed in table.owed):
            part = chosen.get(seat) if same_window else None
            kept = part and (
                seat == self._observer or (self._luck.random() < keep and _is_legal(start, seat, part))
            )
            changed[seat] = part if part and kept else self._chooser.choose(table, seat)
        return changed


class Memory:
    """What each observer was shown, by what it had been told, over all matches that were played."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Observer, bytes], tuple[bytes, object, Where, int]] = {}

    def compare(self, match: Sitting, where: Where) -> int:
        """Compares what everyone is shown with what it was shown when it had been told the same.

        Returns how many positions differed in what the observer was not told. Raises ConformanceError.
        """
        number, pairs = match.table.number, 0
        if number >= REMEMBERED_WINDOWS:
            return 0
        for observer in match.observers:
            shown = match.shown(observer)
            seen = self._seen.setdefault(
                (observer, match.told[observer]), (shown, match.table.state, where, number)
            )
            pairs += seen[1] != match.table.state
            if seen[0] != shown:
                other = f"in seed {seen[2].seed}, window {seen[3]}: {difference(shown, seen[0])}"
                raise where.error(SECRET, other, number, observer)
        return pairs


def _is_legal(match: Sitting, seat: int, part: Taken) -> bool:
    return part.action is None or match.response(seat, encode(part.action)).startswith(b"accepted")


def check_disguised(match: Sitting, chooser: Chooser, luck: Random, where: Where, watched: int) -> int:
    """Compares the match with its disguises for so many observers. Returns how many differed from it.

    Raises ConformanceError where an observer sees which it is.
    """
    disguises = 0
    game, number = match.table.game, match.table.number
    for observer in luck.sample(match.observers, min(watched, len(match.observers))):
        other = match.disguised(game.disguise(match.table.state, observer, luck))
        if other.table.state == match.table.state:
            continue
        disguises += 1
        probes = (
            [chooser.guess(match.table, observer) for _ in range(PROBES)]
            if observer is not None and match.owes(observer)
            else []
        )
        if observer is not None and probes and (own := chooser.choose(match.table, observer)).action is not None:
            probes.append(encode(own.action))
        one, two = (
            b"\n".join([each.shown(observer), *(each.response(observer or 0, probe) for probe in probes)])
            for each in (match, other)
        )
        if one != two:
            raise where.error(SECRET, difference(one, two), number, observer)
    return disguises


def check_sealed(match: Sitting, chooser: Chooser, luck: Random, where: Where, watched: int) -> int:
    """Lets so many seats of the window submit, each in sight of so many others. Returns how often one did.

    Raises ConformanceError where another sees it.
    """
    window = open_window(match.table)
    seats = [owed.seat for owed in window.owed]
    seats = luck.sample(seats, min(watched, len(seats)))
    for seat in seats:
        others = [observer for observer in match.observers if observer != seat]
        others = luck.sample(others, min(watched, len(others)))
        probes = {
            other: chooser.guess(match.table, other) for other in others if other is not None and match.owes(other)
        }
        quiet = _seen_by(others, match, probes)
        for _ in range(2):
            chosen = chooser.choose(match.table, seat)
            after = match.fork()
            for told in after.answer(seat, chosen) if window.asap and not chosen.by_default else ():
                if told.seat != seat:
                    what = f"the answer to seat {seat} tells {told}"
                    raise where.error(SEALED, what, match.table.number, told.seat)
            for other, seen in _seen_by(others, after, probes).items():
                if seen != quiet[other]:
                    raise where.error(SEALED, difference(quiet[other], seen), match.table.number, other)
    return 2 * len(seats)


def _seen_by(observers: list[Observer], match: Sitting, probes: dict[int, bytes]) -> dict[Observer, bytes]:
    """What each is shown, and hears when it submits its probe."""
    return {
        observer: match.shown(observer)
        + (match.response(observer, probes[observer]) if observer is not None and observer in probes else b"")
        for observer in observers
    }


def check_commuting(match: Sitting, chooser: Chooser, where: Where) -> int:
    """Answers an `asap` window in two orders. Returns how many answers it gave. Raises ConformanceError."""
    if not open_window(match.table).asap:
        return 0
    chosen = chooser.choose_all(match.table)
    one, other = match.fork(), match.fork()
    one.play(chosen)
    other.play(dict(reversed(chosen.items())))
    for observer in match.observers:
        if one.last[observer] != other.last[observer]:
            what = difference(b"".join(one.last[observer]), b"".join(other.last[observer]))
            raise where.error(COMMUTE, what, match.table.number, observer)
    ends = [encode(each.table.game.host_view(each.table.state)) for each in (one, other)]
    if ends[0] != ends[1]:
        raise where.error(COMMUTE, difference(*ends), match.table.number)
    return len(answered(chosen))
