"""Runes to Ruins with a leak planted in each: `LEAKS` says which promise of conformance each one breaks.

`LeakOfUnasked` is of another kind: an answer is told on purpose, so that conformance takes it as told; that it
depends on nobody who was not asked is for `test_runes_secrets`.
"""

from typing import cast

from msgspec.structs import replace

from protocol.games.runes_to_ruins import PlayRound, Purse, VisionAnswer
from protocol.words import Event
from referee.games.runes_to_ruins import RunesToRuins
from referee.games.runes_to_ruins.state import RunesState, Standing
from referee.rules.contract import Addressed, AnyGame, ResolvedAction, Transition
from referee.rules.rng import MatchRandom
from tests.referee.proofs.planting import (
    AUDIENCE,
    SECRET,
    rejects,
    says_in_reasons,
    shows,
    tells_all,
)


def neighbour(state: RunesState, seat: int | None) -> Standing:
    """The affairs of the next seat; to a spectator, of seat 0."""
    return state.standings[0 if seat is None else (seat + 1) % 5]


def begins_with_a_used_rune(state: RunesState, seat: int, action: object) -> bool:
    """Whether a guess begins with a rune of the next seat's symbol."""
    symbol = neighbour(state, seat).symbol or ()
    return isinstance(action, PlayRound) and any(guess[0] in symbol for guess in action.guesses)


class LeakOfUnasked(RunesToRuins):
    """An answer to `pattern` counts all other seats, not only those named."""

    def close(
        self, state: RunesState, taken: tuple[ResolvedAction | None, ...], rng: MatchRandom
    ) -> Transition[RunesState]:
        step = super().close(state, taken, rng)
        told = tuple(replace(each, event=self.counted(state, each)) for each in step.told)
        return Transition(step.state, told)

    def counted(self, state: RunesState, told: Addressed) -> Event:
        event = told.event
        if isinstance(event, VisionAnswer) and event.kind == "pattern":
            boxes = sum("Box" in symbol[0] for symbol in state.symbols)
            return replace(event, answer=(boxes, *cast("tuple[int, ...]", event.answer)[1:]))
        return event


LEAKS: dict[str, tuple[type[AnyGame], str]] = {
    "a rune of the next seat": (
        shows(RunesToRuins, more=lambda state, seat: (neighbour(state, seat).symbol or ())[:1]),
        SECRET,
    ),
    "its mantra": (shows(RunesToRuins, more=lambda state, seat: neighbour(state, seat).mantra), SECRET),
    "seats in the order of insight": (
        shows(
            RunesToRuins,
            more=lambda state, _: tuple(sorted(range(5), key=lambda seat: -state.standings[seat].insight)),
        ),
        SECRET,
    ),
    "mantra received, by size": (
        shows(RunesToRuins, more=lambda state, seat: " " * neighbour(state, seat).received),
        SECRET,
    ),
    "a reason by a rune": (rejects(RunesToRuins, begins_with_a_used_rune), SECRET),
    "a rune in reasons": (
        says_in_reasons(RunesToRuins, lambda state, seat: (neighbour(state, seat).symbol or ("",))[0][:1]),
        SECRET,
    ),
    "purses told to all": (tells_all(RunesToRuins, Purse), AUDIENCE),
}
