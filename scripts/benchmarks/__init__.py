"""The benchmarks: `scripts/bench NAME`."""
