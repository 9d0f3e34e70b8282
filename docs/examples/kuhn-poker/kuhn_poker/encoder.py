"""Observations of Kuhn poker."""

from kuhn_poker import KuhnView
from referee.encoding import Filling, VectorEncoder


class KuhnEncoder(VectorEncoder):
    """The own card, and each move so far."""

    choices = 2
    one_choice = True
    parts = (("own seat", 2), ("own card", 3), ("moves 1 to 3: pass or bet", 6))

    def fill(self, row: Filling, view: KuhnView) -> None:
        """See `VectorEncoder.fill`."""
        if view.seat is not None:
            row.put("own seat", view.seat)
        if view.card is not None:
            row.put("own card", view.card - 1)
        for number, move in enumerate(view.moves):
            row.put("moves 1 to 3: pass or bet", 2 * number + (move == "bet"))
