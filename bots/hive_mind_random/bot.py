"""Plays Hive Mind at random: a shape on every Hive, sometimes a Double or a Block, any digits as guess."""

from bots.kit import Window, run
from protocol.games.hive_mind import (
    BUYING_ROUND,
    LAST_ROUND,
    BreakTie,
    GiveToken,
    HiveMindView,
    Kind,
    Round,
    Scores,
)
from protocol.games.hive_mind.board import KINDS
from protocol.games.hive_mind.layouts import BY_KIND
from protocol.words import Action

DIGITS = "111112222333"
HIGHEST_GUESS = 20


def decide(window: Window[HiveMindView]) -> Action | None:
    """Return a random legal action."""
    view, rng = window.view, window.rng
    others = [seat for seat in (0, 1, 2, 3, 4) if seat != view.seat]
    match window.name:
        case "scores":
            return Scores(scores={str(seat): rng.randrange(HIGHEST_GUESS) for seat in others})
        case "give_token":
            return GiveToken(seat=rng.choice(others))
        case "break_tie":
            return BreakTie(seat=rng.choice(view.tied))
        case _:
            pass
    kinds: dict[str, Kind] = {hive: rng.choice(left) for hive, left in view.unused.items()}
    if view.round == 1:
        kinds = dict(zip(view.hives, rng.sample(KINDS, len(view.hives)), strict=True))
    purse = view.wallet
    free = view.round == BUYING_ROUND and purse is not None
    return Round(
        place={hive: rng.choice(BY_KIND[kind]).cells for hive, kind in kinds.items()},
        double=(rng.choice(view.hives),) if free and purse and purse.free_doubles else (),
        block=(rng.choice(view.hives),) if free and purse and purse.free_blocks else (),
        guess={hive: "".join(rng.sample(DIGITS, len(DIGITS))) for hive in view.hives}
        if view.round == LAST_ROUND
        else {},
    )


if __name__ == "__main__":
    run(decide)
