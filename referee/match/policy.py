"""How a match treats time and faults. Pure."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from referee.match.clock_config import AnyOrNone, Some

MOST = 2**63 - 1
"""As good as no bound, and a number that every reader takes."""
NotNegative = Annotated[int, Meta(ge=0, le=MOST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)]


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a match treats time and faults."""

    main_ms: Some | None = None
    """Main time of every window; None: as the variant's rules give it."""
    reserve_ms: AnyOrNone | None = None
    """Reserve a match of each seat; None: as the variant's rules give it."""
    startup_ms: Some = 10_000
    """From a bot's start to its `hello`; on no clock."""
    pauses: AnyOrNone = 0
    pause_ms: AnyOrNone = 10_000
    pacing: Literal["prompt", "fixed"] = "prompt"
    ponder: bool = True
    """Whether a bot may think while it owes nothing; else it is frozen whenever it does not, and during pauses."""
    processes: Literal["fresh", "kept"] = "fresh"
    """Whether a bot that can (`keeps` in its bot.toml) stays, in the process it has, for the next matches of its
    tournament; else it is started for each."""
    fault: Literal["default", "forfeit", "restart"] = "default"
    """What a fault costs: the rest of its windows take defaults; the match; or a new start, with `told`."""
    unfair: Literal["void", "note"] = "void"
    """What becomes of a match in which a default was taken by the referee's or the machine's fault."""
    restarts: NotNegative = 3
    """Under `restart`: how many a seat has, before `default` applies."""
    messages_per_window: Positive = 100
    """A bot's messages from one window to the next; more are refused as a flood."""
    bytes_per_window: Positive = 262_144
    """Bytes of these messages; more are refused as a flood, too. A hundred notes, four of the longest frames, or
    some thirty times the longest legal action of any game."""
    transcript_bytes_per_match: Positive = 3 * 1024 * 1024
    """Bytes that a bot may add to the match's transcript; all that follows is refused. A transcript of 13 seats
    that use all of it can still be shown. It is room for a note of 2,000 characters in each of 1,000 windows."""
    refusals_per_match: Positive = 1_000
    """Refused messages a match; more, and the bot is hung up on."""
