"""Plays tournaments: ledger, runner and what a result depends on."""

from arena.tournament.ledger import Ledger, LedgerTimes
from arena.tournament.progress import Gauge
from arena.tournament.provenance import Terms, begin_or_go_on, left_out_of, terms_of
from arena.tournament.results import Results, ledger_of, results_in
from arena.tournament.results_folder import (
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

__all__ = [
    "DECISIONS",
    "EXPLAINED",
    "FEED_SOCKET",
    "LEDGER",
    "PAGE",
    "TABLE",
    "TRANSCRIPTS",
    "FinalResults",
    "Gauge",
    "Ledger",
    "LedgerTimes",
    "MatchSetup",
    "Results",
    "Terms",
    "begin_or_go_on",
    "checks_folder",
    "feed_endpoint",
    "held",
    "is_held",
    "ledger_of",
    "left_out_of",
    "match_setup",
    "open_ledger",
    "play_blocks",
    "play_tournament",
    "results_in",
    "say_going_on",
    "say_kept",
    "terms_of",
    "try_out",
]
