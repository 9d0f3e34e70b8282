"""Checks that bots start and play, in matches that do not count."""

from arena.checks.field import (
    REFUSED,
    BotCheck,
    FieldCheck,
    Forecast,
    RefusedCheck,
    check_field,
    exclude_broken_bots,
    forecast,
    forget_refusal,
    read_refusal,
    write_refusal,
)
from arena.checks.trials import GameCheck, Trial, TrialSummary, check_bot, only_void
