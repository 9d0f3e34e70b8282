"""The judge: rules, clocks, secrets, sandboxes and proofs. Depends on protocol."""
