"""Attempts to escape from the sandbox, and the doctor that makes them.

`inside` is the program that makes them: it is started exactly as a bot is. All else is the host's side: it lays
out what there is to find and to reach (`stage`), lets the program try and looks at what came of it
(`examination`), sees which layers stand (`standing`), and says what each level of isolation promises
(`promises`).
"""

from referee.proofs.escapes.examination import QUIET_SECONDS, examine
from referee.proofs.escapes.finding import Finding, How, Report
from referee.proofs.escapes.subject import ExaminationError

__all__ = ["QUIET_SECONDS", "ExaminationError", "Finding", "How", "Report", "examine"]
