"""Proofs of the arena: conformance of games, attempts to escape, fuzzing of the timing rules."""
