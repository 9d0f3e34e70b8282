"""The live feed: a process that publishes it, one that hears each, and the arena's end of the line to each."""

from arena.feed.publisher import FeedLine, inherited, open_feed
from arena.feed.subscriber import Heard, Subscriber, is_endpoint

__all__ = ["FeedLine", "Heard", "Subscriber", "inherited", "is_endpoint", "open_feed"]
