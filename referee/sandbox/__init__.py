"""Starts, limits and ends a bot's processes."""
