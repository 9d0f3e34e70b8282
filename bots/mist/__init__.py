"""Helpers that bots of Mist share."""
