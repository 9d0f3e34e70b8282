"""Secret swap against forged histories: they have other secrets, but send one observer the same messages.

Random play seldom finds two histories that look alike to a seat if all seats are sent totals of everyone's
actions. A forger knows from the rules which changes of the secrets leave them alike. It must not use the game's
own code, or it would make the same mistakes.
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
"""The actions that each closed window took, in order of the windows."""
Forge = Callable[[Deal, History, Observer, Random], tuple[Deal, History] | None]
"""A function that returns another deal and a history of the same length, in which the rules send the observer the
same messages. It returns None if it finds none."""


def check_forged(
    match: Sitting, forged: tuple[Deal, History], observer: Observer, chooser: Chooser, where: Where
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
    """Replay a forged history to its end. Raise ConformanceError if an action of the observer is illegal in it."""
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
