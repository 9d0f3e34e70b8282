"""Plays Pointing with a constant target: one seat, drawn in the first round, in all rounds."""

from bots.kit import Window, run
from protocol.games.pointing import Point, PointingView, Vote


def decide(window: Window[PointingView]) -> Point | Vote:
    """Return the target of the first round."""
    view, rng = window.view, window.rng
    if window.name == "vote":
        return Vote(seat=rng.choice(view.tied))
    others = [seat for seat in range(view.seats) if seat != view.seat]
    return Point(target=view.targets[0] if view.targets else rng.choice(others))


if __name__ == "__main__":
    run(decide)
