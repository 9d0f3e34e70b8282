"""The arena around the referee: command line, tournaments, ledger, reports. Its Python API: docs/python.md."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.simulation import BotError, IllegalActionError, Match, Result, Results, play, play_many

__all__ = ["BotError", "IllegalActionError", "Match", "Result", "Results", "play", "play_many"]


def __getattr__(name: str) -> Any:
    """Import the API at its first use, so that the command line starts faster."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from arena import simulation  # noqa: PLC0415 - see above

    return getattr(simulation, name)


def __dir__() -> list[str]:
    """List the API without importing it, and the submodules that are imported."""
    return sorted({*__all__, *(name for name, value in globals().items() if isinstance(value, ModuleType))})
