"""Boards in the terminal: one file a game, listed in `registry`."""
