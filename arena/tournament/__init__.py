"""Plays tournaments: ledger, runner and what a result depends on."""
