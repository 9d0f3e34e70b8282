"""Plays tournaments: ledger, runner and what a result depends on."""

from arena.tournament.found import Found, found_in, ledger_of
from arena.tournament.ledger import Ledger
from arena.tournament.progress import Gauge
from arena.tournament.provenance import Terms, begin_or_go_on, terms_of
from arena.tournament.results_folder import EXPLAINED, LEDGER, PAGE, TABLE, TRANSCRIPTS, held, open_ledger
from arena.tournament.run import Results, play_tournament, say_kept, try_out
from arena.tournament.runner import MatchSetup, play_blocks

__all__ = [
    "EXPLAINED",
    "LEDGER",
    "PAGE",
    "TABLE",
    "TRANSCRIPTS",
    "Found",
    "Gauge",
    "Ledger",
    "MatchSetup",
    "Results",
    "Terms",
    "begin_or_go_on",
    "found_in",
    "held",
    "ledger_of",
    "open_ledger",
    "play_blocks",
    "play_tournament",
    "say_kept",
    "terms_of",
    "try_out",
]
