"""Plays Pointing at random: nobody as often as somebody, and anybody alike."""

from bots.kit import Window, run
from protocol.games.pointing import Point, PointingView, Vote


def decide(window: Window[PointingView]) -> Point | Vote:
    """A legal action, drawn without a thought."""
    view, luck = window.view, window.luck
    if window.name == "vote":
        return Vote(seat=luck.choice([None, *view.tied]))
    others = [seat for seat in range(view.seats) if seat != view.seat]
    return Point(target=luck.choice([None, luck.choice(others)]))


if __name__ == "__main__":
    run(decide)
