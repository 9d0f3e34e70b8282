"""Ledgers that tests look into: closed when the test has ended, as Python 3.13 warns of those that are not."""

from collections.abc import Callable
from pathlib import Path

from arena.tournament.ledger import Ledger

OpenLedger = Callable[[Path], Ledger]
"""The fixture `open_ledger`."""
