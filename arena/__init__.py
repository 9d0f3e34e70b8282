"""The arena around the referee: command line, tournaments, ledger, reports. Its Python API: docs/python.md."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.simulation import BotError, IllegalActionError, Match, Result, Results, play, play_many

__all__ = ["BotError", "IllegalActionError", "Match", "Result", "Results", "play", "play_many"]


def __getattr__(name: str) -> Any:
    """Imports the API when it is asked for: the command line does not wait for it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from arena import simulation  # noqa: PLC0415 - see above

    return getattr(simulation, name)
