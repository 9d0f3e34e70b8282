"""Stress tests of the timing rules: load over the real wire, and campaigns in virtual time."""

from arena.stress.campaign import Campaign, play_campaign
from arena.stress.load import Load, LoadResult, resident_bytes, run_load
from arena.stress.report import stress_context, stress_table

__all__ = [
    "Campaign",
    "Load",
    "LoadResult",
    "play_campaign",
    "resident_bytes",
    "run_load",
    "stress_context",
    "stress_table",
]
