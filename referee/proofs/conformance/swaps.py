"""Checks of secrecy: the view of a seat depends only on the messages that were sent to it.

Secret swap: `Twin` plays a second history along with a match, which sends one observer the same messages but
otherwise differs as far as possible; `ViewMemory` stores the views of all matches. Random play seldom finds two
such histories if all seats are sent totals of everyone's actions. So a forger may pass other histories (`Forge`):
it knows from the rules which changes of the secrets look alike to the observer. It must not use the game's own
code, or it would make the same mistakes.

Sealed swap: `check_sealed`, and `check_commuting` for `asap` windows.

Anonymity: an event that is declared anonymous is the same for every arrangement of the seats. Secret swap cannot
detect a violation, because an event is sent on purpose. Therefore the match is played once more with the players
in other seats (`Reseated`): each submits the same action, with the seats in it renamed (`Game.reseat`).
"""

from collections.abc import Callable, Iterator
from random import Random

import msgspec
from msgspec.structs import replace

from protocol.codec import encode
from referee.proofs.conformance.sitting import (
    Chooser,
    Chosen,
    MatchPlace,
    ObservedTable,
    Observer,
    answered,
    difference,
    open_window,
)
from referee.rules import AnyGame, Deal, ResolvedAction, Table

ANONYMOUS = "anonymous events are the same, whoever sits where"
CHANGES = 3
"""Number of other histories that are tried for each window, before the one that was played."""
EXCHANGES = 6
"""Number of seats to which the observer is moved, in search of one where it would have submitted the same."""
DEALS = 8
"""Number of other seeds that are tried for a deal that sends the observer the same messages."""
PROBES = 4
"""Number of submissions, legal or not, that are compared for each pair of windows."""
REMEMBERED_WINDOWS = 12
"""Number of windows per match that `ViewMemory` stores: later, two seeds rarely send a seat the same messages."""
SECRET = "secret swap: told the same, shown the same"  # noqa: S105 - a promise, not a password
COMMUTE = "answers of an `asap` window commute"
SEALED = "sealed swap: what others submit changes nothing before the window closes"
History = tuple[Chosen, ...]
"""The actions that each closed window took, in order of the windows."""
Forge = Callable[[Deal, History, Observer, Random], tuple[Deal, History] | None]
"""A function that returns another deal and a history of the same length, in which the rules send the observer the
same messages. It returns None if it finds none."""


def anonymous_tags(game: AnyGame) -> set[str]:
    """Return the JSON tags of the events that the game declares anonymous."""
    return {str(event.__struct_config__.tag) for event in game.events if event.anonymous}


def reseat(game: AnyGame, chosen: Chosen, seat_of: tuple[int, ...]) -> Chosen:
    """Return the actions of a window after each player has moved from seat `s` to `seat_of[s]`."""
    moved: Chosen = {}
    for seat, part in sorted(chosen.items(), key=lambda item: seat_of[item[0]]):
        moved[seat_of[seat]] = part
        if part.action is not None:
            moved[seat_of[seat]] = replace(part, action=game.reseat(part.action, seat_of))
    return moved


class Reseated:
    """A copy of a match in which the players sit in other seats."""

    def __init__(self, match: ObservedTable, rng: Random) -> None:
        self._sitting = match.fork()
        self._seat_of = tuple(rng.sample(range(match.table.seats), match.table.seats))
        self._tags = anonymous_tags(match.table.game)
        self._alike = bool(self._tags)
        """True if the copy still follows the match, and the game has anonymous events."""
        self.compared = 0

    def follow(self, chosen: Chosen, after: ObservedTable, where: MatchPlace) -> None:
        """Close the window as the match did. Raise ConformanceError if an anonymous event differs."""
        table = self._sitting.table
        moved = reseat(table.game, chosen, self._seat_of)
        # Random draws may differ in the copy; from then on it is another match.
        self._alike = self._alike and table.window is not None and tuple(moved) == table.window.seats
        if not self._alike:
            return
        self._sitting.play(moved)
        for observer in after.observers:
            there: Observer = None if observer is None else self._seat_of[observer]
            one, other = self._anonymous(after, observer), self._anonymous(self._sitting, there)
            self.compared += len(one)
            if one != other:
                what = difference(b"".join(one), b"".join(other))
                raise where.error(ANONYMOUS, what, after.table.number - 1, observer)

    def _anonymous(self, sitting: ObservedTable, observer: Observer) -> list[bytes]:
        return [event for event in sitting.last[observer] if msgspec.json.decode(event)["type"] in self._tags]


def compare_shown(
    match: ObservedTable, other: ObservedTable, observer: Observer, chooser: Chooser, where: MatchPlace
) -> int:
    """Compare all that an observer may receive now in two positions: view, window, answers to `PROBES` guesses.

    Returns:
        The number of compared answers.

    Raises:
        ConformanceError: something differs.
    """
    one, two = match.shown(observer), other.shown(observer)
    if one != two:
        raise where.error(SECRET, difference(one, two), match.table.number, observer)
    if observer is None or not match.owes(observer):
        return 0
    for _ in range(PROBES):
        compare_response(match, other, observer, chooser.guess(match.table, observer), where)
    return PROBES


def compare_response(
    match: ObservedTable, other: ObservedTable, seat: int, action: bytes, where: MatchPlace
) -> None:
    """Compare the answers to a submission in two positions. Raise ConformanceError if they differ."""
    one, two = match.response(seat, action), other.response(seat, action)
    if one != two:
        raise where.error(SECRET, f"{action.decode()}: {difference(one, two)}", match.table.number, seat)


class Twin:
    """A history that sends `observer` the same messages as the match, but otherwise differs as far as possible."""

    def __init__(self, observer: Observer, match: ObservedTable, deals: list[ObservedTable], rng: Random) -> None:
        """Start from the first of the `deals` that sends the observer the same messages as the match, if any."""
        self._observer = observer
        self._rng = rng
        self._chooser = Chooser(rng)
        alike = (deal for deal in deals if deal.told[observer] == match.told[observer])
        self._sitting = next(alike, match).fork()
        self._others = [seat for seat in range(match.table.seats) if seat != observer]
        rng.shuffle(self._others)
        self.pairs = 0
        """Number of compared pairs of positions that differ in facts hidden from the observer."""
        self.probes = 0

    def follow(self, before: ObservedTable, chosen: Chosen, after: ObservedTable, where: MatchPlace) -> None:
        """Close a window as the match did, except for hidden facts; if that fails, start again from the match."""
        seat = self._observer
        if seat is not None and seat in chosen and (action := chosen[seat].action) is not None:
            self.probes += 1
            compare_response(before, self._sitting, seat, encode(action), where)
        for start in (self._sitting, before):
            if start.table.window is None:
                continue
            tried: list[Chosen] = []
            for changed in self._attempts(start, before, chosen):
                if changed in tried:
                    continue
                tried.append(changed)
                attempt = start.fork()
                attempt.play(changed)
                if attempt.told[self._observer] == after.told[self._observer]:
                    self._sitting = attempt
                    return

    def _attempts(self, start: ObservedTable, before: ObservedTable, chosen: Chosen) -> Iterator[Chosen]:
        """Yield other histories of this window; the last are the likeliest to look the same to the observer."""
        for _ in range(CHANGES):
            yield self._changed(start, before, chosen, 1 / 2)
        for reseated in self._reseated(before, chosen):
            yield self._changed(start, before, reseated, 1)
        # With many seats, change one of them: everyone would see a change of half the seats.
        for _ in range(CHANGES):
            yield self._changed(start, before, chosen, max(1 / 2, 1 - 1 / len(before.table.owed)))
        yield self._changed(start, before, chosen, 1)

    def _reseated(self, before: ObservedTable, chosen: Chosen) -> Iterator[Chosen]:
        """Yield the chosen actions moved to other seats, if the observer's own submission stays the same.

        Two other seats are exchanged, the same two during the whole match, or the observer's with another one.
        """
        exchanges = [(self._others[0], self._others[-1])]
        if self._observer is not None and self._rng.random() < 1 / 2:
            new_seats = self._rng.sample(self._others, min(EXCHANGES, len(self._others)))
            exchanges = [(self._observer, seat) for seat in new_seats]
        for one, other in exchanges:
            seat_of = list(range(before.table.seats))
            seat_of[one], seat_of[other] = other, one
            reseated = reseat(before.table.game, chosen, tuple(seat_of))
            if self._observer is None or reseated.get(self._observer) == chosen.get(self._observer):
                yield reseated

    def compare(self, match: ObservedTable, where: MatchPlace) -> None:
        """Compare all that the observer may receive now. Raise ConformanceError if it differs."""
        if self._sitting.table.state != match.table.state:
            self.pairs += 1
            self.probes += compare_shown(match, self._sitting, self._observer, self._chooser, where)

    def _changed(self, start: ObservedTable, before: ObservedTable, chosen: Chosen, keep: float) -> Chosen:
        """Return actions for the window of `start`: the observer's own, and for others the match's or new ones.

        An action of the match is used with probability `keep`, if it is legal in `start`.
        """
        table = start.table
        same_window = open_window(table).name == open_window(before.table).name
        changed = {}
        for seat in open_window(table).seats:
            part = chosen.get(seat)
            if (
                same_window
                and part is not None
                and (seat == self._observer or (self._rng.random() < keep and _is_legal(start, seat, part)))
            ):
                changed[seat] = part
            else:
                changed[seat] = self._chooser.choose(table, seat)
        return changed


class ViewMemory:
    """The views of each observer in all matches, keyed by the messages before them."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Observer, bytes], tuple[bytes, object, MatchPlace, int]] = {}

    def compare(self, match: ObservedTable, where: MatchPlace) -> int:
        """Compare each view with the stored view of the observer after the same messages.

        Returns:
            The number of positions that differed in facts hidden from the observer.

        Raises:
            ConformanceError: a view differs.
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


def _is_legal(match: ObservedTable, seat: int, part: ResolvedAction) -> bool:
    return part.action is None or match.response(seat, encode(part.action)).startswith(b"accepted")


def check_disguised(match: ObservedTable, chooser: Chooser, rng: Random, where: MatchPlace, watched: int) -> int:
    """Compare the match with its disguises for `watched` observers.

    Returns:
        The number of disguises that differed from the match.

    Raises:
        ConformanceError: an observer can distinguish a disguise from the match.
    """
    disguises = 0
    game = match.table.game
    for observer in rng.sample(match.observers, min(watched, len(match.observers))):
        other = match.disguised(game.disguise(match.table.state, observer, rng))
        if other.table.state == match.table.state:
            continue
        disguises += 1
        compare_shown(match, other, observer, chooser, where)
        if observer is not None and match.owes(observer):
            own = chooser.choose(match.table, observer).action
            if own is not None:
                compare_response(match, other, observer, encode(own), where)
    return disguises


def check_sealed(match: ObservedTable, chooser: Chooser, rng: Random, where: MatchPlace, watched: int) -> int:
    """Submit for `watched` seats of the window, and compare the views of `watched` other observers.

    Returns:
        The number of submissions.

    Raises:
        ConformanceError: another observer sees a submission.
    """
    window = open_window(match.table)
    seats = rng.sample(window.seats, min(watched, len(window.seats)))
    for seat in seats:
        others = [observer for observer in match.observers if observer != seat]
        others = rng.sample(others, min(watched, len(others)))
        probes: dict[Observer, bytes] = {}
        for other in others:
            if other is not None and match.owes(other):
                probes[other] = chooser.guess(match.table, other)
        quiet = _seen_by(others, match, probes)
        for _ in range(2):
            chosen = chooser.choose(match.table, seat)
            after = match.fork()
            if window.asap and not chosen.by_default:
                for told in after.answer(seat, chosen):
                    if told.seat != seat:
                        what = f"the answer to seat {seat} tells {told}"
                        raise where.error(SEALED, what, match.table.number, told.seat)
            for other, seen in _seen_by(others, after, probes).items():
                if seen != quiet[other]:
                    raise where.error(SEALED, difference(quiet[other], seen), match.table.number, other)
    return 2 * len(seats)


def _seen_by(
    observers: list[Observer], match: ObservedTable, probes: dict[Observer, bytes]
) -> dict[Observer, bytes]:
    """Return each observer's view, followed by the answer to its probe."""
    seen: dict[Observer, bytes] = {}
    for observer in observers:
        seen[observer] = match.shown(observer)
        if observer is not None and observer in probes:
            seen[observer] += match.response(observer, probes[observer])
    return seen


def check_commuting(match: ObservedTable, chooser: Chooser, where: MatchPlace) -> int:
    """Answer an `asap` window in two orders, and compare the results.

    Returns:
        The number of answers.

    Raises:
        ConformanceError: the results differ.
    """
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


def check_forged(
    match: ObservedTable, forged: tuple[Deal, History], observer: Observer, chooser: Chooser, where: MatchPlace
) -> int:
    """Compare a forged history with the match: all events, views and answers that the observer receives.

    Events are compared as well: by the rules they are the same, so a game in which they differ reveals too much.

    Returns:
        The number of compared submissions.

    Raises:
        ConformanceError: something differs.
    """
    number = match.table.number
    other = _replayed(match, forged, observer, where)
    last = [b"\n".join(sitting.last.get(observer, ())) for sitting in (match, other)]
    if last[0] != last[1]:
        raise where.error(SECRET, difference(*last), number, observer)
    if match.told[observer] != other.told[observer]:
        raise where.error(SECRET, "the windows that are opened, or earlier events, differ", number, observer)
    return compare_shown(match, other, observer, chooser, where)


def _replayed(
    match: ObservedTable, forged: tuple[Deal, History], observer: Observer, where: MatchPlace
) -> ObservedTable:
    """Replay a forged history to its end. Raise ConformanceError if an action of the observer is illegal in it."""
    deal, history = forged
    other = ObservedTable(Table(match.table.game, deal))
    for chosen in history:
        if observer is not None and observer in chosen and (action := chosen[observer].action) is not None:
            said = other.response(observer, encode(action))
            if not said.startswith(b"accepted"):
                raise where.error(SECRET, f"its own action is {said.decode()}", other.table.number, observer)
        other.play(chosen)
    return other
