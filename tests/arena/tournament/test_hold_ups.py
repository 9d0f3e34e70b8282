"""Bots that cause their own hold-ups: a cheat is found, an honest bot on a busy machine is not."""

from collections.abc import Callable
from random import Random
from statistics import median

import pytest

from arena.tournament.aside import Held, SeatTimes, VoidCounts, count_of, is_alone
from referee.match import HeldUp, Verdict
from tests.long import cases

ALLOWED = 1_000_000
Need = Callable[[Random], float]
"""Draws the share of a window's time that a bot needs, for each window."""


def quick(rng: Random) -> float:
    return rng.uniform(0.0005, 0.02)


def slow(rng: Random) -> float:
    return rng.uniform(0.6, 0.97)


def uneven(rng: Random) -> float:
    """Quick, but for one window in thirty, for which it takes nearly all of its time."""
    return rng.uniform(0.8, 0.97) if rng.random() < 1 / 30 else quick(rng)


def any_time(rng: Random) -> float:
    return min(0.98, rng.lognormvariate(-3, 1.5))


HONEST: list[Need] = [quick, slow, uneven, any_time]


OFTEN, MEANS = (0.002, 0.02, 0.2), (0.1, 0.3, 1.0, 3.0)


def hold_up(entrant: int, *present: int, alone: bool) -> Held:
    held_up = HeldUp(seat=present.index(entrant), verdict=Verdict.HOST, window=0, evidence="late", allowed=ALLOWED)
    return Held(entrant=entrant, held_up=held_up, redeals=False, present=present, alone=alone)


class Machine:
    """Stalls bots now and then: in what part of all windows, and for what part of a window's time on average."""

    def __init__(self, rng: Random, often: float, mean: float) -> None:
        self._rng, self._often, self._mean = rng, often, mean

    def stall(self) -> float:
        """Draw the share of a window's time that a stall takes."""
        return self._rng.expovariate(1 / self._mean) if self._rng.random() < self._often else 0.0


def found_guilty(
    needs: list[Need], rng: Random, machine: Machine, *, attempts: int, cheater: int | None = None
) -> dict[int, int]:
    """Play attempts of two seats; return which bots are found, and after how many void attempts.

    The cheater holds itself up in half of its attempts, in some window.
    """
    longest: dict[int, int] = {}
    hold_ups: list[Held] = []
    guilty: dict[int, int] = {}
    for _ in range(attempts):
        present = rng.sample(range(len(needs)), 2)
        cheats = rng.randrange(40) if cheater in present and rng.random() < 0.5 else None
        times: list[list[int]] = [[], []]
        held = None
        for window in range(rng.randrange(20, 80)):
            seat = window % 2
            need = needs[present[seat]](rng)
            is_cheat = present[seat] == cheater and cheats is not None and window >= cheats
            if is_cheat or need + machine.stall() > 1:
                times[seat].append(ALLOWED)
                held = seat
                break
            times[seat].append(round(need * ALLOWED))
        if held is None:
            for seat, entrant in enumerate(present):
                longest[entrant] = max(longest.get(entrant, 0), *times[seat])
            continue
        seats = [
            SeatTimes(windows=len(each), usual=round(median(each)) if each else None, held_up=seat == held)
            for seat, each in enumerate(times)
        ]
        entrant = present[held]
        alone = is_alone(seats, held, ALLOWED, longest.get(entrant))
        hold_ups.append(hold_up(entrant, *present, alone=alone))
        if entrant not in guilty and count_of(hold_ups, entrant).shows_own_doing(len(needs)):
            guilty[entrant] = sum(each.entrant == entrant for each in hold_ups)
    return guilty


def test_beside_a_busy_machine_no_honest_bot_is_found() -> None:
    """Whatever its way of using time, and its opponents'; the level is one tournament of a thousand."""
    wrong = 0
    for seed in range(cases(150, 1_000)):
        rng = Random(seed)
        needs = [rng.choice(HONEST) for _ in range(rng.choice([2, 2, 3, 6]))]
        machine = Machine(rng, rng.choice(OFTEN), rng.choice(MEANS))
        wrong += bool(found_guilty(needs, rng, machine, attempts=300))
    assert wrong <= cases(0, 2)


@pytest.mark.parametrize("bots", [2, 4])
def test_only_the_bot_that_delays_itself_is_found(bots: int) -> None:
    """It is quick otherwise. The machine stalls one window in 500, for a tenth of its time on average."""
    for seed in range(cases(25, 100)):
        rng = Random(seed)
        needs = [quick, *(rng.choice(HONEST) for _ in range(bots - 1))]
        machine = Machine(rng, OFTEN[0], MEANS[0])
        assert {0} == set(found_guilty(needs, rng, machine, attempts=400, cheater=0))


def test_it_is_not_found_on_a_very_busy_machine_and_neither_is_any_other() -> None:
    for seed in range(cases(25, 100)):
        rng = Random(seed)
        needs = [quick, rng.choice(HONEST)]
        machine = Machine(rng, OFTEN[-1], MEANS[-1])
        assert {0} >= set(found_guilty(needs, rng, machine, attempts=400, cheater=0))


def test_on_a_quiet_machine_twenty_void_attempts_are_enough_of_two_bots_and_more_of_many() -> None:
    assert not VoidCounts(alone=19, others=0).shows_own_doing(2)
    assert VoidCounts(alone=20, others=0).shows_own_doing(2)
    assert not VoidCounts(alone=20, others=0).shows_own_doing(10)
    assert VoidCounts(alone=24, others=0).shows_own_doing(10)
    assert not VoidCounts(alone=26, others=1).shows_own_doing(2)
    assert VoidCounts(alone=28, others=1).shows_own_doing(2)


class TestAlone:
    def seats(self, *usual: int | None, held: int = 0, windows: int = 10) -> list[SeatTimes]:
        return [
            SeatTimes(windows=windows, usual=each, held_up=number == held) for number, each in enumerate(usual)
        ]

    def test_a_quick_bot_is_compared_with_any_opponent(self) -> None:
        assert is_alone(self.seats(100, 100), 0, ALLOWED, ALLOWED // 20)

    def test_a_slow_one_with_one_that_usually_takes_as_long_as_it_ever_does(self) -> None:
        assert not is_alone(self.seats(100, 500_000), 0, ALLOWED, 500_001)
        assert is_alone(self.seats(100, 500_000), 0, ALLOWED, 500_000)

    def test_a_bot_without_counted_matches_gives_no_evidence(self) -> None:
        assert not is_alone(self.seats(100, 500_000), 0, ALLOWED, None)

    def test_no_bot_is_delayed_alone_if_another_is_delayed_too(self) -> None:
        seats = [*self.seats(100, 100), SeatTimes(windows=10, usual=100, held_up=True)]
        assert not is_alone(seats, 0, ALLOWED, 100)

    def test_an_opponent_without_as_many_windows_says_nothing(self) -> None:
        assert not is_alone([*self.seats(100), *self.seats(9, held=1, windows=8)], 0, ALLOWED, 100)
        assert not is_alone(self.seats(100, None), 0, ALLOWED, 100)


def test_hold_ups_of_others_count_only_where_the_bot_took_part() -> None:
    hold_ups = [
        hold_up(0, 0, 1, alone=True),
        hold_up(0, 0, 1, alone=False),
        hold_up(1, 1, 0, alone=True),
        hold_up(1, 1, 2, alone=True),
    ]
    assert VoidCounts(alone=1, others=1) == count_of(hold_ups, 0)
