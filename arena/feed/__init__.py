"""The live feed: a process that publishes it, and the arena's end of the line to that process."""

from arena.feed.publisher import FeedLine, inherited, open_feed

__all__ = ["FeedLine", "inherited", "open_feed"]
