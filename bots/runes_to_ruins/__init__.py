"""Helpers that bots of Runes to Ruins share."""
