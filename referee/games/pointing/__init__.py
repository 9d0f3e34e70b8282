"""Pointing."""
