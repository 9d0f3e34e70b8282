"""The live feed: a process that publishes it, and the arena's end of the line to that process."""
