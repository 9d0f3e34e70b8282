"""The live feed: its publishing process, one listening process per feed, and the arena's connections to them."""

from arena.feed.publisher import FeedLine, inherited, open_feed
from arena.feed.subscriber import Heard, Subscriber, is_endpoint

__all__ = ["FeedLine", "Heard", "Subscriber", "inherited", "is_endpoint", "open_feed"]
