"""Do bots start, and do they play? Tried in matches that count for nothing, before those that do."""

from arena.checks.bot import GameCheck, check_bot
from arena.checks.field import BotCheck, FieldCheck, check_field, settled
from arena.checks.tally import Tally
from arena.checks.time_forecast import Forecast, forecast
from arena.checks.trials import Trial

__all__ = [
    "BotCheck",
    "FieldCheck",
    "Forecast",
    "GameCheck",
    "Tally",
    "Trial",
    "check_bot",
    "check_field",
    "forecast",
    "settled",
]
