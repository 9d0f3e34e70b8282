"""The judge: rules, clocks, secrets, sandboxes and proofs. Depends on protocol."""

__version__ = "0.1.0"
"""The version of the whole package, as in pyproject.toml: to look it up among installed packages takes 40 ms."""
