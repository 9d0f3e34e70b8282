"""A fuzzer of the referee in virtual time: it plays random scripts and checks them by a second set of rules."""

from referee.proofs.fuzzing.campaign import CampaignCounts, Violation, fuzz, judge_script
from referee.proofs.fuzzing.script import MAX_SCRIPT_BYTES, BadScriptError, Script, read_script, script_text

__all__ = [
    "MAX_SCRIPT_BYTES",
    "BadScriptError",
    "CampaignCounts",
    "Script",
    "Violation",
    "fuzz",
    "judge_script",
    "read_script",
    "script_text",
]
