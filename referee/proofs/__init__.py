"""What proves the rest: conformance of games, attempts to escape, fuzzing of the timing rules."""
