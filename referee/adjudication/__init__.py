"""Plays scenarios: a match that is written down, without a bot or a clock. Pure."""
