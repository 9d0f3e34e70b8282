"""Processor time under trio's virtual clock: bots that work and rest when a test says so."""

import trio

MICROSECONDS = 1_000_000


class Cores:
    """What each seat's bot has used; `read` is what a host is given."""

    def __init__(self, seats: int, cores: int = 1) -> None:
        self._cores = cores
        self._used = [0] * seats
        self._threads = [0] * seats
        self._since = [0] * seats

    def work(self, seat: int, threads: int = 1) -> None:
        """From now on it uses so many cores."""
        self._used[seat] = self.read(seat)[0]
        self._since[seat] = _now()
        self._threads[seat] = threads

    def rest(self, seat: int) -> None:
        """From now on it uses none."""
        self.work(seat, threads=0)

    def read(self, seat: int) -> tuple[int, int]:
        """As `Host` wants it: microseconds so far, and how many cores there are."""
        return self._used[seat] + (_now() - self._since[seat]) * self._threads[seat], self._cores


def _now() -> int:
    return round(trio.current_time() * MICROSECONDS)
