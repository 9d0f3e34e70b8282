"""The set-up of a script's match: the real table, terms, match and host, over memory lines."""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Raw
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games.mist import MistOptions, Turn
from referee.games import Mist
from referee.host import Host, MatchHooks
from referee.match import BotIdentity, Match, Policy, Record, clock_terms
from referee.proofs.fuzzing.drill import Choose, Drill, DrillOptions
from referee.proofs.fuzzing.script import Script, Submits
from referee.rules import Deal, Game, Table
from referee.wire import Bell, MemoryLine

DRILL, MIST = Drill(), Mist()
NO_LIMIT = 1_000_000_000
_PLACE_NOTHING = encode(Turn(cells=()))
_NO_SUCH_CELL = encode(Turn(cells=("Z9",)))


def policy(script: Script) -> Policy:
    """Return the policy that a script sets."""
    return Policy(
        startup_ms=script.startup_ms,
        pauses=script.pauses,
        pause_ms=script.pause_ms,
        pacing=script.pacing,
        fault=script.fault,
        restarts=script.restarts,
        messages_per_window=NO_LIMIT,
        bytes_per_window=NO_LIMIT,
        transcript_bytes_per_match=NO_LIMIT,
        refusals_per_match=NO_LIMIT,
    )


def tokens(script: Script) -> list[str]:
    """Return the token that each bot sends in its `hello`, indexed by seat."""
    return [f"token-{seat}" for seat in range(script.seats)]


def set_up(
    script: Script, record: Callable[[Record], None], step_done: Callable[[], None], restart: Callable[[int], None]
) -> tuple[Match, Host, list[MemoryLine]]:
    """Return the match, its host, and the bots' ends of its lines, indexed by seat."""
    terms = policy(script)
    bell = Bell()
    lines = [MemoryLine(bell) for _ in range(script.seats)]
    io = MatchHooks(bell, lines)
    io.record, io.catch_up, io.restart = record, step_done, restart  # type: ignore[method-assign,assignment]
    host = Host(io)
    bots = tuple(
        BotIdentity(name=f"bot-{seat}", version="1", content="", seed=seat, token=token)
        for seat, token in enumerate(tokens(script))
    )
    table = _table(script)
    match = Match(
        "fuzz",
        table,
        terms=replace(
            clock_terms(table.game, table.deal.variant, terms),
            main_ms={window.kind: script.main_ms for window in script.windows},
            reserve_ms=script.reserve_ms,
            increment_ms=script.increment_ms or UNSET,
            bronstein_ms=script.bronstein_ms or UNSET,
        ),
        policy=terms,
        bots=bots,
        io=host,
    )
    return match, host, lines


def action(script: Script, submits: Submits) -> Raw:
    """Return a submission as JSON of the game."""
    if script.game == "mist":
        return Raw(_PLACE_NOTHING if submits.legal else _NO_SUCH_CELL)
    return Raw(encode(Choose(choice=submits.choice if submits.legal else -1)))


def taken(script: Script, choice: int | None) -> Any:
    """Return the action that the record of a window should contain for a choice of the script."""
    if script.game == "mist":
        return Turn(cells=())
    return None if choice is None else Choose(choice=choice)


def _table(script: Script) -> Table:
    game: Game[Any]
    if script.game == "mist":
        game, variant = MIST, "heaven-and-hell"
        options = encode(MistOptions(first=0, max_turns=len(script.windows)))
    else:
        game, variant = DRILL, "plain"
        windows = tuple((window.kind, window.seats) for window in script.windows)
        options = encode(DrillOptions(seats=script.seats, windows=windows))
    return Table(game, Deal(variant, 1, Raw(options)))
