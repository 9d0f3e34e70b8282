"""Helpers that bots of Pointing share."""
