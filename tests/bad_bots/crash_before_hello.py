"""Connects, and falls over before it says hello."""

from raw import Bare

Bare()
raise RuntimeError("fell over")
