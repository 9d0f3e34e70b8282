"""The sample bots of Pointing: they reckon as the rules do, and the planner is the better one."""

from random import Random
from typing import cast

import pytest

from arena import simulation
from bots.pointing_planner.bot import Prospect, pointing_rate, prospect, was, worth
from bots.pointing_reader.bot import place, third, with_answer
from bots.pointing_sections import fates
from protocol.games.pointing import PointingDetail, PointingView
from protocol.games.pointing_map import anonymous, connect, points
from tests.bots.in_process import BOTS, play
from tests.bots.strength import matches_of, one_match, summed

SEATS = 13
A_TARGET = [None, *range(SEATS)]


def drawn(luck: Random) -> tuple[int | None, ...]:
    """A round of any seats."""
    return tuple(luck.choice([target for target in A_TARGET if target != seat]) for seat in range(SEATS))


def test_sections_are_those_of_the_rules() -> None:
    luck = Random(1)
    for _ in range(300):
        targets = drawn(luck)
        connections, found = connect(targets), fates(targets)
        nodes = {seat for seat, fate in enumerate(found) if fate.node}
        assert connections.nodes() == nodes
        assert connections.ends() == {seat for seat, fate in enumerate(found) if fate.is_end}
        assert connections.starts() == {seat for seat, fate in enumerate(found) if fate.is_start}
        expected = [fate.points + fate.node for fate in found]
        assert expected == list(points(connections, been_node=frozenset()))


def test_what_a_seat_was_is_any_place_of_the_map_that_goes_with_what_it_did() -> None:
    luck = Random(2)
    for _ in range(100):
        targets = drawn(luck)
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


def test_how_often_others_point_is_read_from_the_maps() -> None:
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
            assert pytest.approx(behind / 4) == place(rounds, seat)


@pytest.mark.parametrize(("first", "second", "best"), [((1, 2, 3, 2), 2, 1), ((1, 2, 1, 1), 2, 3)])
def test_where_all_others_repeat_themselves_the_reader_finds_its_best_answer(
    first: tuple[int, ...], second: int, best: int
) -> None:
    """A chain of three to lead again; and a loop of which it hit both seats, so that the third seat is left."""
    rounds = (first, with_answer(first, 0, second))
    view = PointingView(
        seat=0, seats=4, round=3, maps=tuple(anonymous(connect(each)) for each in rounds),
        targets=(first[0], second), tied=(), may_vote=False, voted=None, rounds=(), scores=None,
    )  # fmt: skip
    answers = (1, 2, 3, None)
    worths = third(view, Random(1), answers)
    places = {answer: place([*rounds, with_answer(first, 0, answer)], 0) for answer in answers}
    assert best == max(answers, key=lambda answer: worths[answer])
    assert places[best] == max(places.values())


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.8, 1.0])
def test_to_point_is_better_in_one_round_whatever_the_others_do(rate: float) -> None:
    point, rest = (
        worth([prospect(SEATS, rate, Random(3), points=points), *[Prospect()] * 2]) for points in (True, False)
    )
    assert point > rest


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_bots_are_always_legal(seed: int) -> None:
    luck = Random(seed)
    bots = [luck.choice(list(BOTS["pointing"].values())) for _ in range(SEATS)]
    assert play(tuple(bots), game="pointing", variant="tempo-up", seed=seed).outcome.reason == "finished"


@pytest.mark.slow
def test_the_planner_is_ranked_before_random_bots() -> None:
    """Equals would be at 0.5; over 208 matches it was 0.73."""
    matches = matches_of("pointing", "tempo-up", range(2))
    played = [
        (seat, one_match("pointing", ("planner", "random"), "tempo-up", (seed, seat))) for seed, seat in matches
    ]
    assert summed(iter(played)).points > 0.6
