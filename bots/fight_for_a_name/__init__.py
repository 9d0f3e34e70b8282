"""Helpers that bots of The Fight For a Name share."""
