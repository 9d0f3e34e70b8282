"""A check of anonymity: an event that is declared anonymous is the same for every arrangement of the seats.

Secret swap cannot detect a violation, because an event is sent on purpose. Therefore the match is played once more
with the players in other seats: each submits the same action, with the seats in it renamed (`Game.reseat`).
"""

from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from referee.proofs.conformance.finding import difference
from referee.proofs.conformance.promises import Where
from referee.proofs.conformance.sitting import Chosen, Observer, Sitting
from referee.rules import Game

ANONYMOUS = "anonymous events are the same, whoever sits where"


def anonymous_tags(game: Game[Any]) -> set[str]:
    """Return the JSON tags of the events that the game declares anonymous."""
    return {str(event.__struct_config__.tag) for event in game.events if event.anonymous}


def reseat(game: Game[Any], chosen: Chosen, seat_of: tuple[int, ...]) -> Chosen:
    """Return the actions of a window after each player has moved from seat `s` to `seat_of[s]`."""
    moved = {
        seat_of[seat]: part if part.action is None else replace(part, action=game.reseat(part.action, seat_of))
        for seat, part in chosen.items()
    }
    return dict(sorted(moved.items()))


class Reseated:
    """A copy of a match in which the players sit in other seats."""

    def __init__(self, match: Sitting, luck: Random) -> None:
        self._sitting = match.fork()
        self._seat_of = tuple(luck.sample(range(match.table.seats), match.table.seats))
        self._tags = anonymous_tags(match.table.game)
        self._alike = bool(self._tags)
        """Whether the copy still follows the match, and the game has anonymous events."""
        self.compared = 0

    def follow(self, chosen: Chosen, after: Sitting, where: Where) -> None:
        """Close the window as the match did. Raise ConformanceError if an anonymous event differs."""
        table = self._sitting.table
        moved = reseat(table.game, chosen, self._seat_of)
        # Random draws may differ in the copy; from then on it is another match.
        self._alike = self._alike and list(moved) == [owed.seat for owed in table.owed]
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

    def _anonymous(self, sitting: Sitting, observer: Observer) -> list[bytes]:
        return [event for event in sitting.last[observer] if msgspec.json.decode(event)["type"] in self._tags]
