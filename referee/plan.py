"""What a match is to be: game, deal, policy, isolation; and what came of it. Plain data, for arena and referee."""

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct

from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.clock_table import AnyOrNone, ClockTable, Some

MOST = 2**63 - 1
"""As good as no bound, and a number that every reader takes."""
NotNegative = Annotated[int, Meta(ge=0, le=MOST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)]
Isolation = Literal["strict", "standard", "none"]
"""How bots are shut in; `sandbox` says what each level promises."""


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a match treats time and faults."""

    main_ms: Some | None = None
    """Main time of every window; None: as the variant's rules give it."""
    reserve_ms: AnyOrNone | None = None
    """Reserve a match of each seat; None: as the variant's rules give it."""
    startup_ms: Some = 10_000
    """From a bot's start to its `hello`; on no clock."""
    pauses: AnyOrNone = 0
    """Pauses each bot may ask for."""
    pause_ms: AnyOrNone = 10_000
    """How long a bot's pause lasts."""
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
    refusals_per_match: Positive = 1_000
    """Refused messages a match; more, and the bot is hung up on."""


class Plan(Struct, frozen=True, kw_only=True):
    """One match to be played."""

    match: str
    """A name for it, unique in its tournament; bots are told it."""
    game: str
    variant: str
    seed: int
    seating: NotNegative = 0
    """Counts the matches of one deal. Bots' own seeds follow from it as well, and so tell no bot that it has seen
    this deal before."""
    options: Raw | None = None
    """JSON object; None: all defaults."""
    setup: Raw | None = None
    """JSON object; None: drawn."""
    policy: Policy = Policy()
    clock: ClockTable | None = None
    """The match's times; None: as the variant's rules give them, but for what the policy sets."""
    isolation: Isolation = "strict"
    labels: tuple[str, ...] = ()
    """What spectators read of who sits where, by seat; none: the bots' own names. No bot is told."""
    warm: bool = True
    """Whether Python bots in a sandbox are forked from a process that holds the kit already: see `warm`."""


class Result(Struct, frozen=True, kw_only=True):
    """What came of one attempt at a match."""

    match: str
    outcome: Outcome | None
    """None: the attempt is void."""
    conduct: tuple[Conduct, ...]
    """By seat."""
    void: str | None
    """Why the attempt does not count: a fault of the referee or the machine."""
    charged_us: tuple[int, ...]
    """By seat: the time charged over all its windows, in microseconds: quick bots answer in a few hundred."""
    windows: tuple[int, ...]
    """By seat: how many windows it had."""
    defaults: tuple[int, ...]
    """By seat: how many of them took the default."""
    refused: tuple[int, ...] = ()
    """By seat: how many of its messages were refused."""
    transcript: str
    """Path of the transcript."""
    head: str
    """Hash of the transcript's last line: quote it, and nobody can change the file unseen."""
    remote: tuple[int, ...] = ()
    """The seats whose bots ran on their authors' own machines: nothing here shut them in."""
    verdicts: tuple[dict[str, int], ...] = ()
    """By seat: whose fault it was, of windows that took the default or used reserve; by `Verdict`."""
