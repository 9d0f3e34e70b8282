"""Commentary on Kuhn poker: bluffs, folds and showdowns."""

from collections.abc import Sequence
from typing import cast

from kuhn_poker import KuhnHostView, Moved, Shown
from kuhn_poker.text import CARDS, MEANINGS
from protocol.text import Commentary, Remark, Scene
from protocol.words import View

JACK = 1


def scores(view: View) -> Sequence[int]:
    """Return the chips that each seat has put into the pot."""
    moves = cast("KuhnHostView", view).moves
    return [1 + ("bet" in moves[seat::2]) for seat in (0, 1)]


def remarks(scene: Scene) -> list[Remark]:
    """Return the deal, a move or the showdown."""
    view = cast("KuhnHostView", scene.after)
    found: list[Remark] = []
    if scene.before is None:
        for seat, card in enumerate(view.cards):
            found.append(Remark(f"{scene.names[seat]} gets the {CARDS[card]}", (seat,)))
    for event, _ in scene.told:
        if isinstance(event, Moved):
            found.append(_move(scene, event))
        elif isinstance(event, Shown):
            best = view.cards.index(max(view.cards))
            text = f"{scene.names[best]} wins {scores(view)[1 - best]} with the {CARDS[view.cards[best]]}"
            found.append(Remark(text, (best, 1 - best), 3))
    return found


def _move(scene: Scene, event: Moved) -> Remark:
    """Return a move, and whether it is a bluff or gives away the better card."""
    view = cast("KuhnHostView", scene.after)
    before = view.moves[:-1]
    name, other = scene.names[event.seat], scene.names[1 - event.seat]
    card = view.cards[event.seat]
    if event.move == "bet" and "bet" not in before and card == JACK:
        return Remark(f"{name} bluffs with the jack", (event.seat,), 2)
    if event.move == "pass" and "bet" in before:
        if card > view.cards[1 - event.seat]:
            return Remark(f"{name} folds the better card: {other} wins 1", (event.seat, 1 - event.seat), 3)
        return Remark(f"{name} folds: {other} wins 1", (event.seat, 1 - event.seat), 3)
    return Remark(f"{name} {MEANINGS[event.move]['bet' in before]}s", (event.seat,))


COMMENTARY = Commentary(
    remarks=remarks, scores=scores, unit="Chips in the pot", outcome_unit="Chips won", from_score=3
)
"""Nobody leads before the end."""
