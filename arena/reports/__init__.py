"""What people read: tables, pages, plots and files."""

from arena.reports.asked import all_compared, compared_lines
from arena.reports.bots import field_usage, notes, reports_json, usage_table
from arena.reports.checks import (
    CheckedGame,
    field_json,
    field_table,
    forecast_text,
    game_json,
    game_table,
    said_lines,
)
from arena.reports.divergence import (
    decisions_table,
    explained_json,
    explained_lines,
    explained_markdown,
    explained_rows,
    outcomes_table,
    rows_left_out,
)
from arena.reports.files import matches_text, terms_told, write_beside, write_csv, write_page
from arena.reports.html import html_text
from arena.reports.match import match_json, show_match
from arena.reports.regression import (
    broken_markdown,
    finding_json,
    finding_lines,
    finding_markdown,
    finding_table,
    head_lost,
)
from arena.reports.tables import conduct_table, digest_json, ratings_table, seats_table
from arena.reports.tournament import attempts_text, crosstable, left_out_json, print_result, results_json

__all__ = [
    "CheckedGame",
    "all_compared",
    "attempts_text",
    "broken_markdown",
    "compared_lines",
    "conduct_table",
    "crosstable",
    "decisions_table",
    "digest_json",
    "explained_json",
    "explained_lines",
    "explained_markdown",
    "explained_rows",
    "field_json",
    "field_table",
    "field_usage",
    "finding_json",
    "finding_lines",
    "finding_markdown",
    "finding_table",
    "forecast_text",
    "game_json",
    "game_table",
    "head_lost",
    "html_text",
    "left_out_json",
    "match_json",
    "matches_text",
    "notes",
    "outcomes_table",
    "print_result",
    "ratings_table",
    "reports_json",
    "results_json",
    "rows_left_out",
    "said_lines",
    "seats_table",
    "show_match",
    "terms_told",
    "usage_table",
    "write_beside",
    "write_csv",
    "write_page",
]
