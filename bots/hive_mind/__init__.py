"""Helpers that bots of Hive Mind share."""
