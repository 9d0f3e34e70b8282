"""Attempts to escape from the sandbox, and the doctor that makes them.

`inside` is the program that makes the attempts: it is started exactly as a bot is. The rest is the host's side: it
prepares secrets to find and addresses to reach (`fixture`), runs the program and checks the results
(`examination`), detects which layers are in force (`host_snapshot`), and lists what each level of isolation
guarantees (`guarantees`).
"""

from referee.proofs.escapes.examination import QUIET_SECONDS, examine
from referee.proofs.escapes.guarantees import EscapeFinding, ExaminationReport, How
from referee.proofs.escapes.target_bot import ExaminationError

__all__ = ["QUIET_SECONDS", "EscapeFinding", "ExaminationError", "ExaminationReport", "How", "examine"]
