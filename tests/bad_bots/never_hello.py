"""Connects, and never says hello."""

from raw import Connection

Connection().wait()
