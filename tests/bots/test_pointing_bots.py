"""The sample bots of Pointing: they reckon as the rules do, and the planner is the better one."""

from collections.abc import Sequence
from itertools import product
from random import Random
from time import process_time
from typing import cast

import pytest

from arena import simulation
from bots.pointing import Shape, arrangements, fates, final_place, shape, successions, with_target
from bots.pointing_planner.bot import Prospect, pointing_rate, prospect, was, worth
from bots.pointing_reader.bot import explained, second, third
from protocol.codec import encode
from protocol.games.pointing import PointingDetail, PointingView
from protocol.games.pointing.map import Targets, anonymous, connect, points
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed

SEATS = 13
A_TARGET = [None, *range(SEATS)]


def drawn(rng: Random) -> tuple[int | None, ...]:
    """Draw a round of any seats."""
    return tuple(rng.choice([target for target in A_TARGET if target != seat]) for seat in range(SEATS))


def test_sections_are_those_of_the_rules() -> None:
    rng = Random(1)
    for _ in range(300):
        targets = drawn(rng)
        connections, found = connect(targets), fates(targets)
        nodes = {seat for seat, fate in enumerate(found) if fate.node}
        assert connections.nodes() == nodes
        assert connections.ends() == {seat for seat, fate in enumerate(found) if fate.is_end}
        assert connections.starts() == {seat for seat, fate in enumerate(found) if fate.is_start}
        expected = [fate.points + fate.node for fate in found]
        assert expected == list(points(connections, been_node=frozenset()))


def test_a_seat_may_have_had_any_place_of_the_map_that_fits_its_action() -> None:
    rng = Random(2)
    for _ in range(100):
        targets = drawn(rng)
        found, sections = fates(targets), anonymous(connect(targets))
        for pointed in (True, False):
            seats = [fate for fate, target in zip(found, targets, strict=True) if (target is not None) is pointed]
            if seats:
                share = 1 / len(seats)
                expected = (
                    sum(share for fate in seats if fate.node),
                    sum(share for fate in seats if fate.is_end),
                    sum(share for fate in seats if fate.is_start),
                )
                thought = was(sections, pointed)
                assert pytest.approx(expected) == (thought.node, thought.end, thought.start)


def test_the_rate_of_pointing_is_read_from_the_maps() -> None:
    targets = (1, None, None, None, *[0] * 9)
    view = PointingView(
        seat=0, seats=SEATS, round=2, maps=(anonymous(connect(targets)),), targets=(1,),
        tied=(), may_vote=False, voted=None, rounds=(), scores=None,
    )  # fmt: skip
    assert (4 + 9) / (5 + 12) == pointing_rate(view)


def test_a_second_node_costs_and_a_start_in_all_rounds_too() -> None:
    node, start, end = Prospect(node=1.0), Prospect(start=1.0), Prospect(end=1.0)
    assert (1, -1, -3) == (worth([node]), worth([node, node]), worth([node, node, node]))
    assert (-2, 1, 0) == (worth([start] * 3), worth([end] * 3), worth([start, end, start]))


def test_the_reader_counts_points_as_the_rules_do() -> None:
    for seed in range(20):
        bots = [BOTS["pointing"]["random"]() for _ in range(5)]
        outcome = simulation.play("pointing", bots, seed=seed, options={"seats": 5}).outcome
        rounds = [tuple(each.targets.values()) for each in cast("PointingDetail", outcome.detail).rounds]
        totals = list((outcome.scores or {}).values())
        for seat, total in enumerate(totals):
            behind = sum((other < total) + (other == total) / 2 for other in totals) - 0.5
            assert pytest.approx(behind / 4) == final_place(rounds, seat)


def shown(rounds: Sequence[Targets]) -> PointingView:
    """Return the view of seat 0 after these rounds."""
    return PointingView(
        seat=0, seats=len(rounds[0]), round=len(rounds) + 1,
        maps=tuple(anonymous(connect(targets)) for targets in rounds), targets=tuple(each[0] for each in rounds),
        tied=(), may_vote=False, voted=None, rounds=(), scores=None,
    )  # fmt: skip


def best_third(
    rounds: Sequence[Targets], answers: Sequence[int | None], seed: int = 1
) -> tuple[int | None, int | None]:
    """Return the reader's answer in round 3, and the one that is best if the others repeat round 1."""
    worths = third(shown(rounds), Random(seed), answers)
    places = {answer: final_place([*rounds, with_target(rounds[0], 0, answer)], 0) for answer in answers}
    return max(answers, key=lambda answer: worths[answer]), max(answers, key=lambda answer: places[answer])


def test_shapes_are_those_of_the_map_and_count_the_ways_to_seat_them() -> None:
    """All rounds of four seats: equal shapes where equal maps, and each as often as it says."""
    found: dict[Shape, list[bytes]] = {}
    for targets in product([None, *range(4)], repeat=4):
        if all(target != seat for seat, target in enumerate(targets)):
            found.setdefault(shape(targets), []).append(encode(anonymous(connect(targets))))
    assert len(found) == len({each for maps in found.values() for each in maps})
    for each, maps in found.items():
        assert len(set(maps)) == 1
        assert arrangements(each) == len(maps)


@pytest.mark.parametrize("moved", [(3,), (0, 7), (5, 2)])
def test_successions_are_all_ways_to_the_next_map(moved: tuple[int, ...]) -> None:
    rng = Random(4)
    for _ in range(5):
        first = drawn(rng)
        options = [[place for place in A_TARGET if place != mover] for mover in moved]
        every = {first}
        for mover, new in zip(moved, options, strict=True):
            every = {with_target(targets, mover, target) for targets in every for target in new}
        after = rng.choice(sorted(every, key=str))
        seats = rng.sample(range(SEATS), SEATS)
        renamed = [None if (target := after[seat]) is None else seats.index(target) for seat in seats]
        expected = {targets for targets in every if shape(targets) == shape(after)}
        assert expected == set(successions(first, tuple(renamed), moved, options))


@pytest.mark.parametrize(("first", "second", "best"), [((1, 2, 3, 2), 2, 1), ((1, 2, 1, 1), 2, 3)])
def test_the_reader_finds_its_best_answer_if_all_others_repeat_themselves(
    first: tuple[int, ...], second: int, best: int
) -> None:
    """A chain of three to lead again; and a loop of which it hit both seats, so that the third seat is left."""
    assert (best, best) == best_third((first, with_target(first, 0, second)), (1, 2, 3, None))


A_CHAIN = (8, 2, 3, 4, 5, 6, 7, None, 9, 10, 8, 12, 11)
"""Seats 1 to 7 are a chain, 8 to 10 a loop that seat 0 hits, 11 and 12 a loop."""


def test_two_maps_of_a_full_table_tell_where_it_sits() -> None:
    """It hit a loop of three, and then led a chain of six from seat 3 on: nothing else is nearly as likely."""
    rounds = (A_CHAIN, with_target(A_CHAIN, 0, 3))
    guesses = explained(shown(rounds), Random(1))
    assert sum(guess.weight for guess in guesses) > 0.99
    sure = max(guesses, key=lambda guess: guess.weight)
    assert sure.weight > 0.8
    assert sure.changed == ()
    assert shape(A_CHAIN, (0, 8, 3)) == shape(sure.rounds[0], (sure.me, sure.named[8], sure.named[3]))
    assert (3, 3) == best_third(rounds, (8, 3, 5, None))


def test_one_seat_that_changes_its_target_does_not_hide_where_it_sits() -> None:
    """As before, but the lonely loop of 11 and 12 opens: 12 points at nobody."""
    then = with_target(with_target(A_CHAIN, 0, 3), 12, None)
    guesses = explained(shown((A_CHAIN, then)), Random(1))
    assert sum(guess.weight for guess in guesses) > 0.7
    assert all((3, 3) == best_third((A_CHAIN, then), (8, 3, None), seed) for seed in range(6))


def test_maps_of_which_nothing_is_left_are_not_trusted() -> None:
    ring = tuple((seat + 1) % SEATS for seat in range(SEATS))
    assert [] == explained(shown((A_CHAIN, ring)), Random(1))


@pytest.mark.parametrize("seats", [3, 4, 13, 26])
@pytest.mark.parametrize("own", [None, 1])
def test_the_reader_answers_at_every_table_in_time(seats: int, own: int | None) -> None:
    """Also where nearly all places are alike: all point at nobody, at the same seat, or in a ring."""
    rng = Random(seats)
    anybody = tuple((seat + rng.randrange(1, seats)) % seats for seat in range(seats))
    ring = tuple((seat + 1) % seats for seat in range(seats))
    for first in (anybody, ring, (1, 0, *[0] * (seats - 2)), (None,) * seats):
        begun = with_target(first, 0, own)
        for other in (2, None):
            moved = with_target(with_target(begun, 0, seats - 1), 1, other)
            for view in (shown((begun,)), shown((begun, moved))):
                started = process_time()
                worths = (second if view.round == 2 else third)(view, rng, (*{own, None, 2},))
                assert process_time() - started < 2.0
                assert all(-0.001 < worth < 1.001 for worth in worths.values())


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.8, 1.0])
def test_to_point_is_better_in_one_round_whatever_the_others_do(rate: float) -> None:
    point, rest = (
        worth([prospect(SEATS, rate, Random(3), points=points), *[Prospect()] * 2]) for points in (True, False)
    )
    assert point > rest


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_bots_are_always_legal(seed: int) -> None:
    rng = Random(seed)
    bots = [rng.choice(list(BOTS["pointing"].values())) for _ in range(SEATS)]
    assert play(tuple(bots), game="pointing", variant="tempo-up", seed=seed).outcome.reason == "finished"


@pytest.mark.slow
def test_the_planner_is_ranked_before_random_bots() -> None:
    """Equals would be at 0.5; over 208 matches it was 0.73."""
    matches = matches_of("pointing", "tempo-up", range(2))
    played = [
        (seat, one_match("pointing", ("planner", "random"), "tempo-up", (seed, seat))) for seed, seat in matches
    ]
    assert summed(iter(played)).points > 0.6
