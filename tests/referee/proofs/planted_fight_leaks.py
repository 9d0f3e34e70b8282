"""The Fight For a Name with a leak planted in each: `LEAKS` says which promise each one breaks."""

from typing import cast

from msgspec.structs import replace

from protocol.games.fight_for_a_name import FightView, Move, PillarAnswer, Standing, Vote
from protocol.words import Action
from referee.games.fight_for_a_name.game import FightForAName
from referee.games.fight_for_a_name.state import FightSeat, FightState
from referee.rules.contract import Addressed, AnyGame, Transition
from referee.rules.rng import MatchRandom
from tests.referee.proofs.planting import (
    AUDIENCE,
    SEALED,
    SECRET,
    Look,
    defaults,
    rejects,
    says_in_reasons,
    shows,
    tells_all,
)


def next_to(seat: int | None) -> int:
    return 0 if seat is None else (seat + 1) % 13


def neighbour(state: FightState, seat: int | None) -> FightSeat:
    return state.players[next_to(seat)]


def by_mp(state: FightState, seat: int | None) -> dict[str, object]:
    """Positions in the order of MP."""
    shown = FightForAName().view(state, seat).positions
    return {key: shown[key] for key in sorted(shown, key=lambda key: state.players[int(key)].mp)}


def named(state: FightState) -> Vote:
    """A seat that only the host knows."""
    return Vote(seat=min(state.candidates, key=lambda seat: (state.players[seat].mp, seat)))


class OrderOfSet(FightForAName):
    """Positions come in the order of a set of strings."""

    def view(self, state: FightState, seat: int | None) -> FightView:
        view = super().view(state, seat)
        return replace(view, positions={key: view.positions[key] for key in set(view.positions)})


class ToldToAll(FightForAName):
    """What a pillar answers is told to all."""

    def answer(self, state: FightState, seat: int, action: Action, rng: MatchRandom) -> Transition[FightState]:
        step = super().answer(state, seat, action, rng)
        return Transition(step.state, tuple(Addressed(each.event) for each in step.told))


class AnswerToNeighbour(FightForAName):
    """What a pillar answers is told to the next seat too."""

    def answer(self, state: FightState, seat: int, action: Action, rng: MatchRandom) -> Transition[FightState]:
        step = super().answer(state, seat, action, rng)
        return Transition(step.state, (*step.told, Addressed(step.told[0].event, next_to(seat))))


class AnswerInOrder(FightForAName):
    """What a pillar draws depends on how many were answered before."""

    def answer(self, state: FightState, seat: int, action: Action, rng: MatchRandom) -> Transition[FightState]:
        before = sum(player.visits[-1].asked is not None for player in state.players if player.visits)
        step = super().answer(state, seat, action, rng)
        answer = replace(cast("PillarAnswer", step.told[0].event), body=before % 2 == 1)
        return Transition(step.state, (Addressed(answer, seat),))


SHOWN: dict[str, Look] = {
    "the next seat's MP": lambda state, seat: neighbour(state, seat).mp,
    "its strength": lambda state, seat: sum(neighbour(state, seat).strengths.values()),
    "its crests": lambda state, seat: tuple(neighbour(state, seat).crests),
    "a banner, by size": lambda state, _: " " * len(state.setup.titles["Hope"].body),
    "a title of a pillar": lambda state, _: state.setup.pillars["xi"][0],
    "who is best in the timed game": lambda state, _: state.challenge[0] if state.challenge else 0,
    "how many are at pillars before the round's end tells": lambda state, _: len(state.visitors),
    "what it will be given, by who else is on Start": lambda state, seat: (
        0 if seat is None else state.players[seat].income
    ),
    "which window is open": lambda state, _: state.phase,
}
LEAKS: dict[str, tuple[type[AnyGame], str]] = {
    **{name: (shows(FightForAName, more=look), SECRET) for name, look in SHOWN.items()},
    "who stands in a vote": (shows(FightForAName, candidates=lambda state, _: state.candidates), SECRET),
    "positions in the order of MP": (shows(FightForAName, positions=by_mp), SECRET),
    "a reason by the next seat's MP": (
        rejects(
            FightForAName,
            lambda state, seat, move: (
                isinstance(move, Move) and bool(move.path) and neighbour(state, seat).mp > len(move.path) + 3
            ),
        ),
        SECRET,
    ),
    "a banner in reasons": (
        says_in_reasons(FightForAName, lambda state, _: state.setup.titles["Faith"].parting),
        SECRET,
    ),
    "a default by MP": (defaults(FightForAName, "elimination_vote", named), SECRET),
    "answers told to all": (ToldToAll, AUDIENCE),
    "standings told to all": (tells_all(FightForAName, Standing), AUDIENCE),
    "answers told to the next seat": (AnswerToNeighbour, SEALED),
    "answers by their order": (AnswerInOrder, "answers of an `asap` window commute"),
    "positions in the order of a set": (OrderOfSet, "two PYTHONHASHSEEDs"),
}
