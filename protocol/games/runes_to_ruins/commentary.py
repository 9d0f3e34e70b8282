"""Commentary on Runes to Ruins: guesses that come close, symbols that are found, and debts of mantra."""

from collections.abc import Iterator, Sequence
from typing import cast

from protocol.games.runes_to_ruins import (
    Discovered,
    Resubmit,
    Reveal,
    Revealed,
    RunesHostView,
    SymbolSet,
)
from protocol.text import Commentary, Remark, Scene, Weight, verb
from protocol.words import View

ALL = 6
"""Positions of a symbol."""
CLOSE = 4
"""Right positions from which on a guess is a turning point."""
DEBT = 10
"""Mantra with which a seat gets no token at the end."""


def scores(view: View) -> Sequence[int]:
    """Return for each seat the most positions that one of its guesses had right in another's symbol, 0 to 6."""
    return [
        _found(cast("RunesHostView", view), seat)[0] for seat in range(len(cast("RunesHostView", view).holdings))
    ]


def _found(view: RunesHostView, seat: int) -> tuple[int, int | None]:
    """Return the most right positions of a seat's guesses, and whose symbol that is."""
    best: tuple[int, int | None] = (0, None)
    for guess in view.holdings[seat].guesses:
        for other, holding in enumerate(view.holdings):
            if other == seat or holding.symbol is None:
                continue
            right = sum(mine == theirs for mine, theirs in zip(guess, holding.symbol, strict=True))
            if right > best[0]:
                best = right, other
    return best


def remarks(scene: Scene) -> list[Remark]:
    """Return the remarks on a round."""
    found: list[Remark] = []
    if any(isinstance(event, SymbolSet) for event, _ in scene.told):
        found.append(Remark("all have chosen their symbols"))
    for event, _ in scene.told:
        if isinstance(event, Resubmit):
            found.append(Remark(f"two symbols were the same: all choose anew, attempt {event.attempt}", (), 1))
        elif isinstance(event, Revealed):
            where = "" if event.position is None else f", in position {event.position}"
            found.append(
                Remark(
                    f"{scene.names[event.seat]} shows all a rune of the symbol: {event.rune}{where}",
                    (event.seat,),
                    1,
                )
            )
        elif isinstance(event, Discovered):
            found += [_discovery(scene, seat) for seat in event.seats]
        elif isinstance(event, Reveal):
            found += _end(scene)
    return [*found, *_closer(scene), *_debts(scene)]


def _discovery(scene: Scene, seat: int) -> Remark:
    """Return a remark on the seats that discovered this one."""
    view = cast("RunesHostView", scene.after)
    symbol = view.holdings[seat].symbol
    finders = [other for other, holding in enumerate(view.holdings) if symbol in holding.guesses and other != seat]
    text = f"{scene.series(finders)} {verb(finders, 'discovers', 'discover')} {scene.names[seat]}"
    return Remark(text, (*finders, seat), 2)


def _closer(scene: Scene) -> Iterator[Remark]:
    """Yield a remark for each seat whose guesses came closer to a symbol than before."""
    before, after = cast("RunesHostView | None", scene.before), cast("RunesHostView", scene.after)
    for seat in range(len(after.holdings)):
        had = 0 if before is None else _found(before, seat)[0]
        right, other = _found(after, seat)
        if right > max(had, 1) and right < ALL and other is not None:
            weight: Weight = 2 if right >= CLOSE else 0
            text = f"{scene.names[seat]} has {right} of {ALL} positions of {scene.names[other]}'s symbol right"
            yield Remark(text, (seat, other), weight)


def _debts(scene: Scene) -> Iterator[Remark]:
    """Yield a remark for each seat that enters or leaves a debt of mantra that would cost the token."""
    if scene.before is None:
        return
    before, after = cast("RunesHostView", scene.before), cast("RunesHostView", scene.after)
    for seat, (old, new) in enumerate(zip(before.holdings, after.holdings, strict=True)):
        if old.mantra < DEBT <= new.mantra:
            yield Remark(f"{scene.names[seat]} owes {new.mantra} mantra: that would cost the token", (seat,), 1)
        elif new.mantra < DEBT <= old.mantra:
            yield Remark(f"{scene.names[seat]} is out of debt", (seat,))


def _end(scene: Scene) -> Iterator[Remark]:
    """Yield remarks on the seats that were never discovered, and on the first ones that were."""
    view = cast("RunesHostView", scene.after)
    hidden = [seat for seat, holding in enumerate(view.holdings) if holding.discovered is None]
    if len(hidden) == 1:
        yield Remark(f"{scene.names[hidden[0]]} wins: the only one never discovered", tuple(hidden), 3)
    elif hidden:
        yield Remark(f"{scene.series(hidden)} were never discovered", tuple(hidden), 3)
    first = min((holding.discovered for holding in view.holdings if holding.discovered is not None), default=None)
    found = [
        seat for seat, holding in enumerate(view.holdings) if first is not None and holding.discovered == first
    ]
    if found:
        text = f"{scene.series(found)} {verb(found, 'is', 'are')} last: discovered first, in round {first}"
        yield Remark(text, tuple(found), 3)


COMMENTARY = Commentary(
    remarks=remarks, scores=scores, unit="Positions right in the best guess", from_score=ALL + 1
)
"""No seat leads here: a close guess and a discovery are remarks of their own."""
