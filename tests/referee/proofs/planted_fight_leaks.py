"""The Fight For a Name with a leak planted in each: `LEAKS` says which promise each one breaks."""

from typing import ClassVar, cast

from msgspec.structs import asdict, replace

from protocol.games.fight_for_a_name import FightView, Move, PillarAnswer, Seat, Standing, Vote
from protocol.words import Action
from referee.games.fight_for_a_name.game import FightForAName
from referee.games.fight_for_a_name.state import FightState
from referee.rules.contract import Addressed, Game, Illegal, Owed, Step, Taken, Window
from referee.rules.rng import Luck


class FightViewWithMore(FightView, frozen=True, kw_only=True):
    more: int | str | tuple[str, ...]


class More(FightForAName):
    """Views have something more."""

    view_type: ClassVar[type[FightView]] = FightViewWithMore

    def view(self, state: FightState, seat: int | None) -> FightView:
        return FightViewWithMore(**asdict(super().view(state, seat)), more=self.more(state, seat))

    def more(self, state: FightState, seat: int | None) -> int | str | tuple[str, ...]:
        del state, seat
        return 0


def next_to(seat: int | None) -> int:
    return 0 if seat is None else (seat + 1) % 13


class LeakOfMp(More):
    """Every view has the MP of the next seat."""

    def more(self, state: FightState, seat: int | None) -> int:
        return state.players[next_to(seat)].mp


class LeakOfStrengths(More):
    """Every view names the hexes on which the next seat has strength."""

    def more(self, state: FightState, seat: int | None) -> int:
        return sum(state.players[next_to(seat)].strengths)


class LeakOfCrests(More):
    """Every view has the next seat's crests."""

    def more(self, state: FightState, seat: int | None) -> tuple[str, ...]:
        return tuple(state.players[next_to(seat)].crests)


class LeakOfBanner(More):
    """Every view is as long as the name of a body's colour."""

    def more(self, state: FightState, seat: int | None) -> str:
        del seat
        return " " * len(state.setup.titles["Hope"].body)


class LeakOfPillar(More):
    """Every view has a title that a pillar shows."""

    def more(self, state: FightState, seat: int | None) -> str:
        del seat
        return state.setup.pillars["xi"][0]


class LeakOfRank(More):
    """Every view has who did best in the timed game."""

    def more(self, state: FightState, seat: int | None) -> int:
        del seat
        return state.challenge[0] if state.challenge else 0


class LeakOfVisitors(More):
    """Every view has how many seats are at pillars, before the round's end tells."""

    def more(self, state: FightState, seat: int | None) -> int:
        del seat
        return len(state.visitors)


class LeakOfIncome(More):
    """A view has what the seat will be given, before it is told: it depends on who else is on Start."""

    def more(self, state: FightState, seat: int | None) -> int:
        return 0 if seat is None else state.players[seat].income


class LeakOfPhase(More):
    """Everyone sees which window is open."""

    def more(self, state: FightState, seat: int | None) -> str:
        del seat
        return state.phase


class LeakOfCandidates(FightForAName):
    """Everyone sees who stands in a vote."""

    def view(self, state: FightState, seat: int | None) -> FightView:
        return replace(super().view(state, seat), candidates=state.candidates)


class LeakInOrder(FightForAName):
    """Positions come in the order of MP."""

    def view(self, state: FightState, seat: int | None) -> FightView:
        view = super().view(state, seat)
        by_mp = sorted(view.positions, key=lambda key: state.players[int(key)].mp)
        return replace(view, positions={key: view.positions[key] for key in by_mp})


class OrderOfSet(FightForAName):
    """Positions come in the order of a set of strings."""

    def view(self, state: FightState, seat: int | None) -> FightView:
        view = super().view(state, seat)
        return replace(view, positions={key: view.positions[key] for key in set(view.positions)})


class LeakInReason(FightForAName):
    """A path onto a hex on which another has strength is rejected."""

    def check(self, state: FightState, seat: int, action: Action) -> Action:
        checked = super().check(state, seat, action)
        if isinstance(checked, Move) and checked.path and state.players[next_to(seat)].mp > len(checked.path) + 3:
            raise Illegal("the next seat could do better")
        return checked


class LeakInReasonText(FightForAName):
    """What is rejected in any case is rejected with a reason that depends on a banner."""

    def check(self, state: FightState, seat: int, action: Action) -> Action:
        try:
            return super().check(state, seat, action)
        except Illegal as illegal:
            raise Illegal(f"{illegal.reason}, {state.setup.titles['Faith'].parting}") from None


class LeakInDefault(FightForAName):
    """The default of a vote is a seat that only the host knows."""

    def window(self, state: FightState) -> Window | None:
        window = super().window(state)
        if window is None or window.name != "elimination_vote":
            return window
        named = min(state.candidates, key=lambda seat: (state.players[seat].mp, seat))
        default = Vote(seat=cast("Seat", named))
        return Window(window.name, tuple(Owed(each.seat, default, shown=each.shown) for each in window.owed))


class ToldToAll(FightForAName):
    """What a pillar answers is told to all."""

    def answer(self, state: FightState, seat: int, action: Action, luck: Luck) -> Step[FightState]:
        step = super().answer(state, seat, action, luck)
        return Step(step.state, tuple(Addressed(each.event) for each in step.told))


class StandingToAll(FightForAName):
    """A seat's standing is told to all."""

    def close(self, state: FightState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[FightState]:
        step = super().close(state, taken, luck)
        told = tuple(Addressed(each.event) if isinstance(each.event, Standing) else each for each in step.told)
        return Step(step.state, told)


class AnswerToNeighbour(FightForAName):
    """What a pillar answers is told to the next seat too."""

    def answer(self, state: FightState, seat: int, action: Action, luck: Luck) -> Step[FightState]:
        step = super().answer(state, seat, action, luck)
        return Step(step.state, (*step.told, Addressed(step.told[0].event, next_to(seat))))


class AnswerInOrder(FightForAName):
    """What a pillar draws depends on how many were answered before."""

    def answer(self, state: FightState, seat: int, action: Action, luck: Luck) -> Step[FightState]:
        before = sum(player.visits[-1].asked is not None for player in state.players if player.visits)
        step = super().answer(state, seat, action, luck)
        answer = replace(cast("PillarAnswer", step.told[0].event), body=before % 2 == 1)
        return Step(step.state, (Addressed(answer, seat),))


SECRET = "secret swap: told the same"  # noqa: S105 - a promise, not a password
AUDIENCE = "events keep to their audience"

LEAKS: dict[type[Game], str] = {  # type: ignore[type-arg]
    LeakOfMp: SECRET,
    LeakOfStrengths: SECRET,
    LeakOfCrests: SECRET,
    LeakOfBanner: SECRET,
    LeakOfPillar: SECRET,
    LeakOfRank: SECRET,
    LeakOfVisitors: SECRET,
    LeakOfIncome: SECRET,
    LeakOfPhase: SECRET,
    LeakOfCandidates: SECRET,
    LeakInOrder: SECRET,
    LeakInReason: SECRET,
    LeakInReasonText: SECRET,
    LeakInDefault: SECRET,
    ToldToAll: AUDIENCE,
    StandingToAll: AUDIENCE,
    AnswerToNeighbour: "sealed swap",
    AnswerInOrder: "answers of an `asap` window commute",
    OrderOfSet: "two PYTHONHASHSEEDs",
}
