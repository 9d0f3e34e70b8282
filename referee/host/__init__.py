"""Plays a match from plan to result: the host, its players and what they are asked."""
