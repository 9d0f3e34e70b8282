"""Real clusters of real processes: slow, but nothing in them depends on how fast they are."""
