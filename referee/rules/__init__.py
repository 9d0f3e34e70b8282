"""The contract between games and referee. Pure."""

from referee.rules.contract import (
    DAY_MS,
    MINUTE_MS,
    SPECTATOR,
    Addressed,
    Announced,
    BadSetupError,
    Game,
    Illegal,
    Owed,
    Quoted,
    Retold,
    Step,
    Taken,
    TimeTerms,
    Variant,
    Window,
    read_given,
)
from referee.rules.reveal import Leak, audience, opened, shown
from referee.rules.rng import Luck
from referee.rules.table import Answered, Deal, Move, Table, WindowClosed

__all__ = [
    "DAY_MS",
    "MINUTE_MS",
    "SPECTATOR",
    "Addressed",
    "Announced",
    "Answered",
    "BadSetupError",
    "Deal",
    "Game",
    "Illegal",
    "Leak",
    "Luck",
    "Move",
    "Owed",
    "Quoted",
    "Retold",
    "Step",
    "Table",
    "Taken",
    "TimeTerms",
    "Variant",
    "Window",
    "WindowClosed",
    "audience",
    "opened",
    "read_given",
    "shown",
]
