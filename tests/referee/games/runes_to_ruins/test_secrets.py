"""What must stay secret in Runes to Ruins does, and the checks of it would catch a leak.

That the game itself keeps the promises of conformance is shown, for every game, in `test_conformance_games`.
"""

from random import Random
from typing import Any, cast

import pytest
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games.runes_to_ruins import PlayRound, Purse, VisionAnswer
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from protocol.words import Event
from referee.games.runes_to_ruins import RunesToRuins
from referee.games.runes_to_ruins.state import RunesSeatState, RunesState
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.rules.contract import Addressed, AnyGame, ResolvedAction, ResolvedActions, Transition
from referee.rules.rng import MatchRandom
from tests.referee.games.playing import Json
from tests.referee.games.runes_to_ruins.play import GAME, put, start
from tests.referee.proofs.planting import (
    AUDIENCE,
    SECRET,
    assert_caught,
    rejects,
    says_in_reasons,
    shows,
    tells_all,
)


def neighbour(state: RunesState, seat: int | None) -> RunesSeatState:
    """Return the affairs of the next seat; for a spectator, of seat 0."""
    return state.standings[0 if seat is None else (seat + 1) % 5]


def begins_with_a_used_rune(state: RunesState, seat: int, action: object) -> bool:
    """Whether a guess begins with a rune of the next seat's symbol."""
    symbol = neighbour(state, seat).symbol or ()
    return isinstance(action, PlayRound) and any(guess[0] in symbol for guess in action.guesses)


class LeakOfUnasked(RunesToRuins):
    """An answer to `pattern` counts all other seats, not only those named."""

    def close(self, state: RunesState, taken: ResolvedActions, rng: MatchRandom) -> Transition[RunesState]:
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


FEW = range(12)


@pytest.mark.parametrize(("planted", "promise"), LEAKS.values(), ids=LEAKS)
def test_planted_faults_are_caught_and_named(planted: type[AnyGame], promise: str) -> None:
    """So the secret swap really varies symbols and purses."""
    assert_caught(planted, promise, FEW)


def question(rng: Random, named: list[int]) -> Json:
    """Draw an action that asks about these seats only."""
    one, other = rng.sample(named, 2)
    groups = rng.choices((*DIVINE, *MUNDANE), k=6)
    return {
        "visions": {
            "pattern": {"groups": groups, "seats": rng.sample(named, rng.randint(1, 3))},
            "except": {"seat": one, "runes": rng.sample(NAMES, 3)},
            "window": {"position": rng.randrange(6), "seat": other},
        },
        "learned": [
            {"count": {"seat": one, "group": groups[0], "number": 2}},
            {"has": {"seat": other, "rune": rng.choice(NAMES)}},
            {"shared": [one, other]},
        ],
    }


def answers(game: RunesToRuins, symbols: list[Any], actions: dict[int, Json], seat: int) -> list[bytes]:
    """Return what the seat is told in round 2."""
    table = start(symbols)
    put(table, seat, insight=20)
    state = table.state
    taken = [ResolvedAction(game.read_action(state, each, encode(actions.get(each, {})))) for each in range(5)]
    return [
        encode(told.event) for told in game.close(state, tuple(taken), MatchRandom(0, 1)).told if told.seat == seat
    ]


def answers_change(game: RunesToRuins, seed: int) -> bool:
    """Whether what a seat is told changes with the symbol of a seat it did not ask about."""
    rng = Random(f"unasked/{seed}")
    seat, unasked = rng.sample(range(5), 2)
    named = [other for other in range(5) if other not in (seat, unasked)]
    symbols = [draw_symbol(rng) for _ in range(5)]
    mirror = {"visions": {"mirror": {"rune": symbols[named[0]][0], "seat": seat}}}
    actions = {seat: question(rng, named), named[0]: mirror}
    swapped = [draw_symbol(rng) if each == unasked else symbol for each, symbol in enumerate(symbols)]
    changes = (answers(game, symbols, actions, each) != answers(game, swapped, actions, each) for each in actions)
    return any(changes)


def test_no_answer_changes_with_a_seat_that_was_not_asked_about() -> None:
    assert not any(answers_change(GAME, seed) for seed in range(100))


def test_and_an_answer_that_does_is_noticed() -> None:
    assert any(answers_change(LeakOfUnasked(), seed) for seed in range(100))


def test_draws_for_a_seat_do_not_depend_on_submissions_of_others() -> None:
    """Nobody can reroll another seat's luck: `except` draws the same, whoever else asks for what."""
    ask = {"visions": {"except": {"seat": 1, "runes": []}}}
    symbols = [draw_symbol(Random(seat)) for seat in range(5)]
    elsewhere: list[dict[int, Json]] = [
        {},
        {2: ask},
        {1: {"abstain": True}, 3: {"votes": {"3": 1}}},
        {4: ask, 3: ask},
    ]
    told = {tuple(answers(GAME, symbols, {0: ask} | others, 0)[:1]) for others in elsewhere}
    assert 1 == len(told)
