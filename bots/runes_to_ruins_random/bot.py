"""Plays Runes to Ruins at random: a guess, a belief, a vote and, if it can pay, often a vision each round."""

from bots.kit import Window, run
from protocol.games.runes_to_ruins import ChooseSymbol, Has, Learned, PlayRound, RunesView, Visions
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES


def decide(window: Window[RunesView]) -> ChooseSymbol | PlayRound | None:
    """Return a random legal action. The symbol is the default, which is random too."""
    view, rng = window.view, window.rng
    if window.name == "symbol":
        return None
    others = [seat for seat in (0, 1, 2, 3, 4) if seat != view.seat]
    visions = Visions()
    if view.insight and rng.choice((True, False)):
        one = rng.choice((Visions(divine=rng.choice(DIVINE)), Visions(mundane=rng.choice(MUNDANE))))
        runes = rng.sample(NAMES, len(others))
        visions = rng.choice((one, Visions(assign=dict(zip(map(str, others), runes, strict=True)))))
    return PlayRound(
        votes={str(rng.randint(1, 15)): 1},
        visions=visions,
        learned=(Learned(has=Has(seat=rng.choice(others), rune=rng.choice(NAMES))),),
        guesses=(tuple(rng.sample(NAMES, 6)),),
    )


if __name__ == "__main__":
    run(decide)
