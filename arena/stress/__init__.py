"""Stress tests of the timing rules over the real wire."""

from arena.stress.campaign import Level, Load, resident_bytes, run_load
from arena.stress.report import stress_page, stress_table
from arena.stress.virtual import Campaign, play_campaign

__all__ = [
    "Campaign",
    "Level",
    "Load",
    "play_campaign",
    "resident_bytes",
    "run_load",
    "stress_page",
    "stress_table",
]
