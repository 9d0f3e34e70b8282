"""Attempts to escape from the sandbox, and the doctor that makes them.

`inside` is the program that makes the attempts: it is started exactly as a bot is. The rest is the host's side: it
prepares secrets to find and addresses to reach, and starts the bots (`fixture`), checks the results against what
each level of isolation guarantees (`examination`), and detects which layers are in force (`host_snapshot`).
"""

from referee.proofs.escapes.examination import QUIET_SECONDS, EscapeFinding, ExaminationReport, examine
from referee.proofs.escapes.fixture import ExaminationError, How

__all__ = ["QUIET_SECONDS", "EscapeFinding", "ExaminationError", "ExaminationReport", "How", "examine"]
