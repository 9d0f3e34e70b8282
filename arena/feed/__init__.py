"""The live feed: its publishing process, one listening process per feed, and the arena's connections to them."""

from arena.feed.lines import FeedLine, Heard, Subscriber, inherited, is_endpoint, open_feed
