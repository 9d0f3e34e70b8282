"""The policy of a match: its treatment of time and faults. Pure."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from referee.match.clock_config import AnyOrNone, Some

MOST = 2**63 - 1
"""A bound that is as good as none, and that every parser accepts."""
NotNegative = Annotated[int, Meta(ge=0, le=MOST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)]


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The treatment of time and faults in a match."""

    main_ms: Some | None = None
    """Main time of every window; None: that of the variant's rules."""
    reserve_ms: AnyOrNone | None = None
    """Reserve of each seat per match; None: that of the variant's rules."""
    startup_ms: Some = 10_000
    """The most time from a bot's start to its `hello`. It is not charged to the bot's clock."""
    pauses: AnyOrNone = 0
    pause_ms: AnyOrNone = 10_000
    pacing: Literal["prompt", "fixed"] = "prompt"
    ponder: bool = True
    """Whether a bot may think while it owes nothing. If not, it is frozen then, and during pauses."""
    processes: Literal["fresh", "kept"] = "fresh"
    """Whether a bot that supports it (`keeps` in its bot.toml) keeps its process for the next matches of its
    tournament. If not, it is started for each."""
    fault: Literal["default", "forfeit", "restart"] = "default"
    """The cost of a fault: defaults in all further windows, the match, or a restart."""
    unfair: Literal["void", "note"] = "void"
    """The treatment of a match in which a default was used by a fault of the referee or the machine."""
    restarts: NotNegative = 3
    """With `restart`: the number of restarts of a seat, after which `default` applies."""
    messages_per_window: Positive = 100
    """A bot's messages from one window to the next. Further ones are refused as a flood."""
    bytes_per_window: Positive = 262_144
    """Bytes of these messages. Further ones are refused as a flood too. They suffice for a hundred notes, four of
    the longest frames, or some thirty times the longest legal action of any game."""
    transcript_bytes_per_match: Positive = 3 * 1024 * 1024
    """Bytes that a bot may add to the match's transcript. Further messages are refused. A transcript of 13 seats
    that use all of it can still be shown. They suffice for a note of 2,000 characters in each of 1,000 windows."""
    refusals_per_match: Positive = 1_000
    """Refused messages per match. With one more, the bot is disconnected."""
