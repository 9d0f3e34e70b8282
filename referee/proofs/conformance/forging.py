"""Secret swap against histories that a game's author forges: other secrets, of which a seat is told the same.

Playing on at random seldom finds two histories that look alike from a seat where all are told sums of what
everyone did. A forger knows by the rules how secrets may be changed so that they do. It must not be made with the
game's own code, or it would make the same mistakes.
"""

from collections.abc import Callable
from random import Random

from protocol.codec import encode
from referee.proofs.conformance.finding import difference
from referee.proofs.conformance.promises import Where
from referee.proofs.conformance.sitting import Chooser, Chosen, Observer, Sitting
from referee.proofs.conformance.swaps import PROBES, SECRET
from referee.rules import Deal, Table

History = tuple[Chosen, ...]
"""By closed window: what it took of each seat."""
Forge = Callable[[Deal, History, Observer, Random], tuple[Deal, History] | None]
"""Another deal and history of as many windows in which, by the rules, the observer is told the same; or None."""


def check_forged(
    match: Sitting, forged: tuple[Deal, History], observer: Observer, chooser: Chooser, where: Where
) -> int:
    """Compares a forged history with the match, in all that the observer is told, shown and answered.

    Events are compared as well: they tell the same by the rules, so a game that tells them apart tells too much.
    Returns how many submissions were compared. Raises ConformanceError where something differs.
    """
    number = match.table.number
    other = _replayed(match, forged, observer, where)
    last = [b"\n".join(sitting.last.get(observer, ())) for sitting in (match, other)]
    if last[0] != last[1]:
        raise where.error(SECRET, difference(*last), number, observer)
    if match.told[observer] != other.told[observer]:
        raise where.error(SECRET, "the windows that are opened, or earlier events, differ", number, observer)
    one, two = match.shown(observer), other.shown(observer)
    if one != two:
        raise where.error(SECRET, difference(one, two), number, observer)
    if observer is None or not match.owes(observer):
        return 0
    for _ in range(PROBES):
        action = chooser.guess(match.table, observer)
        one, two = match.response(observer, action), other.response(observer, action)
        if one != two:
            raise where.error(SECRET, f"{action.decode()}: {difference(one, two)}", number, observer)
    return PROBES


def _replayed(match: Sitting, forged: tuple[Deal, History], observer: Observer, where: Where) -> Sitting:
    """The forged history's end, if all that the observer itself submitted is legal there too."""
    deal, history = forged
    other = Sitting(Table(match.table.game, deal))
    for chosen in history:
        part = chosen.get(observer) if observer is not None else None
        if observer is not None and part and part.action is not None:
            said = other.response(observer, encode(part.action))
            if not said.startswith(b"accepted"):
                raise where.error(SECRET, f"its own action is {said.decode()}", other.table.number, observer)
        other.play(chosen)
    return other
