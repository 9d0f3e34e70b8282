"""Plays tournaments: ledger, runner and what a result depends on."""

from arena.tournament.backup import Backup, Checked, Told, back_up, backup_place, check_backup
from arena.tournament.changes import Standing, close, enter, extend, standing_of, update, withdraw
from arena.tournament.entries import change_text, copies_of_file, copy_of_entry, keep_begun, keep_entry
from arena.tournament.ledger import Ledger, LedgerTimes, Reported
from arena.tournament.notices import Notice, Notify
from arena.tournament.progress import Gauge
from arena.tournament.provenance import Terms, begin_or_go_on, left_out_of, terms_of
from arena.tournament.results import Begun, Results, begun_in, ledger_of, results_in
from arena.tournament.results_folder import (
    CHECKS,
    DECISIONS,
    EXPLAINED,
    FEED_SOCKET,
    LEDGER,
    PAGE,
    TABLE,
    TRANSCRIPTS,
    feed_endpoint,
    held,
    is_held,
    open_ledger,
    set_aside,
)
from arena.tournament.run import (
    FinalResults,
    checks_folder,
    match_setup,
    play_tournament,
    say_going_on,
    say_kept,
    try_out,
)
from arena.tournament.runner import MatchSetup, play_blocks
from arena.tournament.webhook import open_notices

__all__ = [
    "CHECKS",
    "DECISIONS",
    "EXPLAINED",
    "FEED_SOCKET",
    "LEDGER",
    "PAGE",
    "TABLE",
    "TRANSCRIPTS",
    "Backup",
    "Begun",
    "Checked",
    "FinalResults",
    "Gauge",
    "Ledger",
    "LedgerTimes",
    "MatchSetup",
    "Notice",
    "Notify",
    "Reported",
    "Results",
    "Standing",
    "Terms",
    "Told",
    "back_up",
    "backup_place",
    "begin_or_go_on",
    "begun_in",
    "change_text",
    "check_backup",
    "checks_folder",
    "close",
    "copies_of_file",
    "copy_of_entry",
    "enter",
    "extend",
    "feed_endpoint",
    "held",
    "is_held",
    "keep_begun",
    "keep_entry",
    "ledger_of",
    "left_out_of",
    "match_setup",
    "open_ledger",
    "open_notices",
    "play_blocks",
    "play_tournament",
    "results_in",
    "say_going_on",
    "say_kept",
    "set_aside",
    "standing_of",
    "terms_of",
    "try_out",
    "update",
    "withdraw",
]
