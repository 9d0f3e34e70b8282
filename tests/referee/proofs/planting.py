"""Plants leaks in a game, for the test of the tests: conformance must catch each and name the broken promise."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import defstruct
from msgspec.structs import asdict, replace

from protocol.words import Action, Event
from referee.proofs.conformance import ConformanceError, check_game
from referee.proofs.conformance.swaps import Forge
from referee.rules.contract import Addressed, AnyGame, Illegal, ResolvedActions, Transition
from referee.rules.rng import MatchRandom

SECRET = "secret swap: told the same"  # noqa: S105 - a promise, not a password
SEALED = "sealed swap"
AUDIENCE = "events keep to their audience"

Look = Callable[[Any, int | None], Any]
"""What a leak makes of a state and a seat; None is a spectator."""


def assert_caught(planted: type[AnyGame], promise: str, seeds: Sequence[int], forge: Forge | None = None) -> None:
    """Conformance finds what is planted, and names the promise that it breaks."""
    with pytest.raises(ConformanceError, match=re.escape(promise)):
        check_game(planted(), seeds, forge)


def shows(game: type[AnyGame], **looks: Look) -> type[AnyGame]:
    """Every view has these fields as well, or these values in its own fields."""
    view_type: Any = game.view_type
    more = [(name, Any) for name in looks if name not in view_type.__struct_fields__]
    form: Any = view_type
    if more:
        form = defstruct(view_type.__name__, more, bases=(view_type,), frozen=True, kw_only=True)

    def view(self: AnyGame, state: Any, seat: int | None) -> Any:
        shown = asdict(game.view(self, state, seat))
        return form(**shown | {name: look(state, seat) for name, look in looks.items()})

    return type(f"{game.__name__}Shows", (game,), {"view_type": form, "view": view})


def says_in_reasons(game: type[AnyGame], look: Look) -> type[AnyGame]:
    """What is rejected in any case is rejected with a reason that ends with this."""

    def check(self: AnyGame, state: Any, seat: int, action: Action) -> Action:
        try:
            return game.check(self, state, seat, action)
        except Illegal as illegal:
            raise Illegal(f"{illegal.reason}{look(state, seat)}") from None

    return type(f"{game.__name__}SaysInReasons", (game,), {"check": check})


def rejects(game: type[AnyGame], when: Callable[[Any, int, Any], bool]) -> type[AnyGame]:
    """A legal action is rejected when this holds of the state, its seat and it."""

    def check(self: AnyGame, state: Any, seat: int, action: Action) -> Action:
        checked = game.check(self, state, seat, action)
        if when(state, seat, checked):
            raise Illegal("that would be too good")
        return checked

    return type(f"{game.__name__}Rejects", (game,), {"check": check})


def tells_all(game: type[AnyGame], *events: type[Event]) -> type[AnyGame]:
    """When a window closes, these events are told to all."""

    def close(self: AnyGame, state: Any, taken: ResolvedActions, rng: MatchRandom) -> Transition[Any]:
        step = game.close(self, state, taken, rng)
        told = tuple(Addressed(each.event) if isinstance(each.event, events) else each for each in step.told)
        return Transition(step.state, told)

    return type(f"{game.__name__}TellsAll", (game,), {"close": close})


def defaults(game: type[AnyGame], window: str, look: Callable[[Any], Action]) -> type[AnyGame]:
    """The default of a window of this name is what `look` makes of the state."""

    def opened(self: AnyGame, state: Any) -> Any:
        found = game.window(self, state)
        if found is None or found.name != window:
            return found
        return replace(found, owed=tuple(replace(owed, default=look(state)) for owed in found.owed))

    return type(f"{game.__name__}Defaults", (game,), {"window": opened})
