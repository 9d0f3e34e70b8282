"""Plays tournaments: ledger, runner and what a result depends on."""

from arena.tournament.aside import Again, Asides, BlockSetAside, LeftOut
from arena.tournament.backup import Backup, Checked, Told, back_up, backup_place, check_backup, copy_file
from arena.tournament.changes import (
    FieldState,
    close,
    decide,
    enter,
    extend,
    extend_entries,
    field_state_of,
    now,
    unchanged_text,
    update,
    withdraw,
)
from arena.tournament.entries import (
    change_text,
    change_to_come_text,
    copies_of_file,
    copy_of_entry,
    keep_begun,
    keep_entry,
)
from arena.tournament.ledger import AttemptCounts, Ledger, LedgerTimes
from arena.tournament.notices import Notify, no_notices, notice_of, open_notices
from arena.tournament.observers import Gauge
from arena.tournament.provenance import Terms, begin_or_go_on, drawn_seed, left_out_now, terms_of
from arena.tournament.results import (
    NotBegun,
    StartTerms,
    TournamentResults,
    entries_until,
    find_ledger,
    load_results,
    load_start_terms,
    results_folder_of,
)
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
    Run,
    TournamentRun,
    checks_folder,
    say_going_on,
    say_kept,
    try_out,
)
from arena.tournament.runner import BlockRunner, MatchSetup
