"""Checks that bots start and play, in matches that do not count."""

from arena.checks.bot import GameCheck, check_bot
from arena.checks.field import BotCheck, FieldCheck, check_field, settled
from arena.checks.refused import REFUSED, RefusedCheck, forget_refusal, read_refusal, write_refusal
from arena.checks.tally import Tally, only_void
from arena.checks.time_forecast import Forecast, forecast
from arena.checks.trials import Trial

__all__ = [
    "REFUSED",
    "BotCheck",
    "FieldCheck",
    "Forecast",
    "GameCheck",
    "RefusedCheck",
    "Tally",
    "Trial",
    "check_bot",
    "check_field",
    "forecast",
    "forget_refusal",
    "only_void",
    "read_refusal",
    "settled",
    "write_refusal",
]
