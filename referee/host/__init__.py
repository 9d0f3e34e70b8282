"""Plays a match from plan to result: the host, its players and what they are asked."""

from referee.host.feed import Feed, FeedTerms, Publish
from referee.host.host import Host, HostIO
from referee.host.kept_bots import can_stay, open_kept_bots
from referee.host.one_match import LocalSeat, Player, SandboxedBot, play
from referee.host.plan import Plan, Result
from referee.host.reask import Asked, Interviewed, ask
from referee.host.remote_bot import RemoteBot, cannot_play

__all__ = [
    "Asked",
    "Feed",
    "FeedTerms",
    "Host",
    "HostIO",
    "Interviewed",
    "LocalSeat",
    "Plan",
    "Player",
    "Publish",
    "RemoteBot",
    "Result",
    "SandboxedBot",
    "ask",
    "can_stay",
    "cannot_play",
    "open_kept_bots",
    "play",
]
