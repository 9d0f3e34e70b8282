"""A bot to start from, for any game: it takes the default of every window."""

from typing import Any

from bots.kit import Window, run


def decide(window: Window[Any]) -> Any:
    """The action for an open window, as `arena schema` describes it; None takes the default.

    `window.name` says which window it is, `window.view` holds everything this seat may know now.
    """
    return window.default


if __name__ == "__main__":
    run(decide)
