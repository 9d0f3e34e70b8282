"""What the referee decides in one match: windows, clocks, verdicts. Pure."""
