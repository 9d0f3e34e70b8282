"""The set-up of a script's match, over memory lines; and its game, which consists of windows only.

The options of the game list its windows, with their kinds and seats. There are three kinds: `turn` and `sealed`
windows close on the submitted actions, `asked` windows answer at once. An action is a number; negative ones are
illegal.
"""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games.mist import MistOptions, Turn
from protocol.words import Action, Audience, Event, Options, Outcome, Setup, View
from referee.games import Mist
from referee.host import Host, MatchHooks
from referee.match import BotIdentity, Match, MatchTerms, Policy, Record, clock_terms
from referee.proofs.fuzzing.script import Script, Submits
from referee.rules import (
    Addressed,
    AnyGame,
    Deal,
    Game,
    Illegal,
    MatchRandom,
    PendingSeat,
    ResolvedActions,
    Table,
    TimeTerms,
    Transition,
    Variant,
    Window,
)
from referee.wire import Bell, MemoryLine

KINDS = ("turn", "sealed", "asked")
NOTHING = -1
"""Number that represents the default in an event."""
NO_LIMIT = 1_000_000_000


class DrillOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Number of seats, and the list of windows."""

    seats: int = 2
    windows: tuple[tuple[str, tuple[int, ...]], ...] = (("turn", (0,)),)


class Choose(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A choice of a number that is at least 0."""

    choice: int


class Chosen(Event, frozen=True, kw_only=True, tag="chosen"):
    """A closed window, with the choices indexed by seat."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    choices: tuple[int, ...]


class DrillAnswer(Event, frozen=True, kw_only=True, tag="answer"):
    """The answer to a seat in an `asked` window."""

    choice: int


class DrillView(View, frozen=True, kw_only=True):
    """The number of closed windows, the only visible fact."""

    number: int


class DrillState(Struct, frozen=True):
    """Options and number of closed windows."""

    options: DrillOptions
    number: int = 0


class Drill(Game[DrillState, DrillOptions, Setup, DrillView]):
    """A game that consists of windows only."""

    name = "drill"
    variants = (Variant("plain", TimeTerms(dict.fromkeys(KINDS, 1000))),)
    actions = dict.fromkeys(KINDS, Choose)
    events = (Chosen, DrillAnswer)
    options = DrillOptions
    view_type = DrillView

    def seats(self, options: DrillOptions) -> int:
        """See `Game.seats`."""
        return options.seats

    def deal(self, variant: str, options: DrillOptions, setup: Setup, rng: MatchRandom) -> Transition[DrillState]:
        """Start before the first window, without events."""
        return Transition(DrillState(options))

    def window(self, state: DrillState) -> Window | None:
        """Return the next window of the options."""
        if state.number == len(state.options.windows):
            return None
        kind, seats = state.options.windows[state.number]
        return Window(kind, tuple(PendingSeat(seat, None) for seat in seats), asap=kind == "asked")

    def check(self, state: DrillState, seat: int, action: Action) -> Action:
        """Accept numbers that are at least 0."""
        if cast("Choose", action).choice < 0:
            raise Illegal("a choice is a number from 0 on")
        return action

    def answer(self, state: DrillState, seat: int, action: Action, rng: MatchRandom) -> Transition[DrillState]:
        """Send the choice back to its seat."""
        return Transition(state, (Addressed(DrillAnswer(choice=cast("Choose", action).choice), seat),))

    def close(self, state: DrillState, taken: ResolvedActions, rng: MatchRandom) -> Transition[DrillState]:
        """Send the choices to everyone."""
        choices = [NOTHING] * state.options.seats
        for seat, part in enumerate(taken):
            if part and part.action is not None:
                choices[seat] = cast("Choose", part.action).choice
        return Transition(replace(state, number=state.number + 1), (Addressed(Chosen(choices=tuple(choices))),))

    def view(self, state: DrillState, seat: int | None) -> DrillView:
        """Return the same view to everyone."""
        return DrillView(number=state.number)

    def host_view(self, state: DrillState) -> View:
        """Return the view that players get, since there are no secrets."""
        return DrillView(number=state.number)

    def outcome(self, state: DrillState) -> Outcome | None:
        """Return a draw once all windows are closed."""
        if state.number < len(state.options.windows):
            return None
        return Outcome(
            ranking=(tuple(range(state.options.seats)),),
            winners=(),
            eliminated=None,
            scores=None,
            reason="finished",
        )


DRILL, MIST = Drill(), Mist()


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
    clock = replace(
        clock_terms(table.game, table.deal.variant, terms),
        main_ms={window.kind: script.main_ms for window in script.windows},
        reserve_ms=script.reserve_ms,
        increment_ms=script.increment_ms or UNSET,
        bronstein_ms=script.bronstein_ms or UNSET,
    )
    match = Match(table, MatchTerms(match="fuzz", clock=clock, policy=terms, bots=bots), io=host)
    return match, host, lines


def action(script: Script, submits: Submits) -> Raw:
    """Return a submission as JSON of the game."""
    if script.game == "mist":
        cells = () if submits.legal else ("Z9",)
        return Raw(encode(Turn(cells=cells)))
    return Raw(encode(Choose(choice=submits.choice if submits.legal else -1)))


def taken(script: Script, choice: int | None) -> Any:
    """Return the action that the record of a window should contain for a choice of the script."""
    if script.game == "mist":
        return Turn(cells=())
    return None if choice is None else Choose(choice=choice)


def _table(script: Script) -> Table:
    game: AnyGame
    if script.game == "mist":
        game, variant = MIST, "heaven-and-hell"
        options = encode(MistOptions(first=0, max_turns=len(script.windows)))
    else:
        game, variant = DRILL, "plain"
        windows = tuple((window.kind, window.seats) for window in script.windows)
        options = encode(DrillOptions(seats=script.seats, windows=windows))
    return Table(game, Deal(variant, 1, Raw(options)))
