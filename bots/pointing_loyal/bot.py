"""Plays Pointing like people who do not change their minds: at one seat, drawn at first, in all rounds."""

from bots.kit import Window, run
from protocol.games.pointing import Point, PointingView, Vote


def decide(window: Window[PointingView]) -> Point | Vote:
    """The target it began with."""
    view, luck = window.view, window.luck
    if window.name == "vote":
        return Vote(seat=luck.choice(view.tied))
    others = [seat for seat in range(view.seats) if seat != view.seat]
    return Point(target=view.targets[0] if view.targets else luck.choice(others))


if __name__ == "__main__":
    run(decide)
