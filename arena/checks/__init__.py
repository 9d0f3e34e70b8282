"""Checks that bots start and play, in matches that do not count."""

from arena.checks.field import (
    REFUSED,
    BotCheck,
    FieldCheck,
    Forecast,
    RefusedCheck,
    check_asked,
    check_field,
    exclude_broken_bots,
    forecast,
    forget_refusal,
    never_started,
    read_refusal,
    write_refusal,
)
from arena.checks.trials import (
    GameCheck,
    Trial,
    TrialMatch,
    TrialSummary,
    check_bot,
    only_void,
    order,
    play_trials,
    players_at,
    summarise_trials,
)
