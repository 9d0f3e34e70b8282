"""Hive Mind with a leak planted in each, for the test of the tests: `LEAKS` says which promise each one breaks."""

from collections.abc import Callable

from msgspec.structs import replace

from protocol.games.hive_mind import Blocks, Doubles, Hint, HiveMindEvent, HiveMindView, Round, RoundResult
from protocol.words import Action
from referee.games.hive_mind import HiveMind
from referee.games.hive_mind.hive import CELLS, total
from referee.games.hive_mind.scoring import values_now
from referee.games.hive_mind.state import (
    ROUNDS,
    SEATS,
    HiveMindState,
    play_on,
    rounds_on,
    seats_that,
    turn,
    wallet,
)
from referee.proofs.conformance.reseating import ANONYMOUS
from referee.rules.contract import Addressed, Game, Illegal, Owed, Step, Taken, Window
from referee.rules.rng import Luck


def retold(
    step: Step[HiveMindState], before: HiveMindState, change: Callable[[HiveMindEvent], HiveMindEvent]
) -> Step[HiveMindState]:
    """A step whose events are changed, in what is told as in what is remembered as told."""
    told = tuple(
        (*was, *(change(event) for event in now[len(was) :]))
        for was, now in zip(before.told, step.state.told, strict=True)
    )
    changed = tuple(Addressed(change(each.event), each.seat) for each in step.told)  # type: ignore[arg-type]
    return Step(replace(step.state, told=told), changed)


def neighbour(seat: int | None) -> int:
    return 0 if seat is None else (seat + 1) % SEATS


class HintOfCurrentValues(HiveMind):
    """A hint sums up what the hexes are worth now, not what they were worth at first."""

    def close(self, state: HiveMindState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[HiveMindState]:
        step = super().close(state, taken, luck)

        def current(event: HiveMindEvent) -> HiveMindEvent:
            if not isinstance(event, Hint):
                return event
            values = values_now(state.values[event.hive], play_on(state, event.hive))
            return replace(event, total=total(values, event.looks))

        return retold(step, state, current)


class MapInOrderOfSeats(HiveMind):
    """The counts stand in the order in which the seats' shapes lie over the hexes."""

    def close(self, state: HiveMindState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[HiveMindState]:
        step = super().close(state, taken, luck)

        def in_order(event: HiveMindEvent) -> HiveMindEvent:
            if not isinstance(event, RoundResult):
                return event
            hives = {}
            for hive, result in event.hives.items():
                placed = [cells or "" for cells in play_on(step.state, hive).placements[-1]]
                cells = dict.fromkeys("".join(placed) + CELLS)
                hives[hive] = replace(result, counts={cell: result.counts[cell] for cell in cells})
            return RoundResult(hives=hives)

        return retold(step, state, in_order)


class ReasonTellsOfAnother(HiveMind):
    """A shape that another has placed on that Hive is rejected."""

    def check(self, state: HiveMindState, seat: int, action: Action) -> Action:
        checked = super().check(state, seat, action)
        if isinstance(checked, Round):
            for hive, cells in checked.place.items():
                if any(cells == placed[neighbour(seat)] for placed in play_on(state, hive).placements):
                    raise Illegal("somebody has placed that")
        return checked


class ReasonTellsValue(HiveMind):
    """What is rejected in any case is rejected with a reason that depends on a hidden value."""

    def check(self, state: HiveMindState, seat: int, action: Action) -> Action:
        try:
            return super().check(state, seat, action)
        except Illegal as illegal:
            raise Illegal(illegal.reason + "." * int(next(iter(state.values.values()))[0])) from None


class HintToAll(HiveMind):
    """Hints are told to all."""

    def close(self, state: HiveMindState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[HiveMindState]:
        step = super().close(state, taken, luck)
        return Step(step.state, tuple(Addressed(each.event) for each in step.told))


class BlocksTooEarly(HiveMind):
    """Blocks are told together with Doubles."""

    def close(self, state: HiveMindState, taken: tuple[Taken | None, ...], luck: Luck) -> Step[HiveMindState]:
        step = super().close(state, taken, luck)
        if not isinstance(step.told[-1].event, Doubles):
            return step
        by_hive = {hive: seats_that("block", rounds_on(step.state, hive), hive) for hive in state.values}
        blocks = Blocks(hives={hive: seats for hive, seats in by_hive.items() if seats})
        told = tuple((*events, blocks) for events in step.state.told)
        return Step(replace(step.state, told=told), (*step.told, Addressed(blocks)))


class DefaultIsRight(HiveMind):
    """Who submits nothing in round 3 is taken to have guessed everything right."""

    def window(self, state: HiveMindState) -> Window | None:
        window, now = super().window(state), turn(state)
        if window is None or now is None or now.number != ROUNDS:
            return window
        right = Round(guess={hive: state.values[hive] for hive in now.hives})
        return Window("round", tuple(Owed(seat, right) for seat in range(SEATS)))


class ViewOfAnother(HiveMind):
    """A view shows what its seat's neighbour has submitted; a spectator's, what seat 0 has."""

    def view(self, state: HiveMindState, seat: int | None) -> HiveMindView:
        theirs = tuple(actions[neighbour(seat)] for actions in state.rounds)
        return replace(super().view(state, seat), submitted=theirs)


class WalletOfAnother(HiveMind):
    """A view tells what its seat's neighbour has left, and so whether it blocks."""

    def view(self, state: HiveMindState, seat: int | None) -> HiveMindView:
        return replace(super().view(state, seat), wallet=wallet(state, neighbour(seat)))


class ViewInSize(HiveMind):
    """Every view is longer by a hidden value."""

    def view(self, state: HiveMindState, seat: int | None) -> HiveMindView:
        first = int(next(iter(state.values.values()))[0])
        return replace(super().view(state, seat), tied=(0,) * first)


SECRET = "secret swap: told the same"  # noqa: S105 - a promise, not a password

LEAKS: dict[type[Game], str] = {  # type: ignore[type-arg]
    HintOfCurrentValues: SECRET,
    MapInOrderOfSeats: ANONYMOUS,
    ReasonTellsOfAnother: SECRET,
    ReasonTellsValue: SECRET,
    HintToAll: "events keep to their audience",
    BlocksTooEarly: SECRET,
    DefaultIsRight: SECRET,
    ViewOfAnother: SECRET,
    WalletOfAnother: SECRET,
    ViewInSize: SECRET,
}
