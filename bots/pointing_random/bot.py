"""Plays Pointing at random: at no seat half of the time, otherwise at any seat with equal probability."""

from bots.kit import Window, run
from protocol.games.pointing import Point, PointingView, Vote


def decide(window: Window[PointingView]) -> Point | Vote:
    """Return a random legal action."""
    view, rng = window.view, window.rng
    if window.name == "vote":
        return Vote(seat=rng.choice([None, *view.tied]))
    others = [seat for seat in range(view.seats) if seat != view.seat]
    return Point(target=rng.choice([None, rng.choice(others)]))


if __name__ == "__main__":
    run(decide)
