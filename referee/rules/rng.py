"""Luck: the only source of chance in a match, made from its seed, so that the same match can be had again.

Streams are named by window and seat, never by order of arrival: no bot can reroll anyone's luck with traffic.
"""

from random import Random


class Luck:
    """The chance of one window (or, with no window, of the deal). Streams are made when asked for."""

    __slots__ = ("_key",)

    def __init__(self, seed: int, window: int | None = None) -> None:
        self._key = f"{seed}/deal" if window is None else f"{seed}/{window}"

    def shared(self) -> Random:
        """The stream of the window itself. Each call starts it anew: ask once and keep it."""
        return Random(self._key)

    def seat(self, seat: int, k: int = 0) -> Random:
        """The k-th stream of one seat in this window, whatever others do."""
        return Random(f"{self._key}/{seat}/{k}")
