"""What this process holds in memory, for whoever measures: stress tests and benchmarks."""

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
