"""A ladder without an end: pure, fair, and idle when nothing is to be learnt."""

from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import combinations
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from arena.schedule.blocks import Block
from arena.schedule.contract import Contest, blocks_so_far
from arena.schedule.fields import Extended, ScheduleSpec, What, Withdrawn
from arena.schedule.formats import complaint, format_of, refusal
from arena.schedule.waves import (
    FEWEST_TABLES,
    NEW_PERIOD,
    Choice,
    EndlessLadderState,
    LadderState,
    StrangeResultError,
)
from arena.statistics.ratings import ELO
from arena.statistics.running import START_ERROR, RunningRating
from arena.statistics.standings import CountedMatch, standings_of
from tests.arena.schedule.test_changes import at, changed, enters
from tests.arena.simulated import result

SEED = 3


def ladder(entrants: int, seats: int = 2, **more: Any) -> ScheduleSpec:
    given: dict[str, Any] = {"format": "ladder", "blocks": 1, "endless": True, "filled": False} | more
    return ScheduleSpec(entrants=entrants, seats=seats, **given)


def played(blocks: Sequence[Block], gap: float = 0.3, charged: int = 0) -> list[CountedMatch]:
    """Entrants with lower numbers are better, by so much log-strength each; chance is the match's own."""
    found = []
    for match in (match for block in blocks for match in block.matches):
        rng = np.random.default_rng(int(match.name, 16))
        form = rng.gumbel(size=len(match.entrants)) - gap * np.array(match.entrants)
        ranking = [[int(seat)] for seat in np.argsort(-form)]
        us = (charged,) * len(match.entrants)
        found.append(result(match.block, match.seating, match.entrants, ranking, charged_us=us))
    return found


def wave_after_wave(
    spec: ScheduleSpec, most: int, **how: Any
) -> tuple[EndlessLadderState, list[Block], list[CountedMatch]]:
    """At least so many blocks, or until it is idle; each wave's results are heard one wave late."""
    waves, blocks, results, late = (
        EndlessLadderState(spec, SEED),
        list[Block](),
        list[CountedMatch](),
        list[CountedMatch](),
    )
    while len(blocks) < most:
        wave = waves.next()
        if wave == []:
            break
        waves.hear(late)
        late = [] if wave is None else played(wave, **how)
        blocks += wave or []
        results += late
    waves.hear(late)
    return waves, blocks, results


SPECS = [
    ladder(2),
    ladder(7),
    ladder(40),
    ladder(3, filled=True),
    ladder(20, seats=5),
    ladder(4, seats=5, filled=True, rotations=2),
    ladder(26, seats=13, rotations=2),
    replace(changed(ladder(6), (9, enters()), (17, enters("y", 6)), (30, Withdrawn(entrant=0))), period=25),
    replace(changed(ladder(6), (9, enters("y", 2)), (12, enters("z", 6))), old_versions=2, period=11),
]


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_results_give_the_same_blocks_whenever_they_were_heard(spec: ScheduleSpec) -> None:
    waves, blocks, results = wave_after_wave(spec, 60)
    assert list(range(len(blocks))) == [block.number for block in blocks]
    again = list(blocks_so_far(format_of(spec).schedule(spec).rounds(SEED), results))
    assert blocks == again[: len(blocks)]
    shuffled = EndlessLadderState(spec, SEED)
    shuffled.replay(lambda first, end: Random(1).sample(mine := between(results, first, end), len(mine)))
    assert waves.ratings() == shuffled.ratings()


def between(results: Sequence[CountedMatch], first: int, end: int) -> list[CountedMatch]:
    return [each for each in results if first <= each.block < end]


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_it_goes_on_from_what_it_noted_before_any_wave(spec: ScheduleSpec) -> None:
    """Through JSON, and as if nothing had been between."""
    states = list[bytes]()
    waves = EndlessLadderState(spec, SEED)
    waves.before_wave = lambda state: states.append(msgspec.json.encode(state))
    _, _, results = wave_after_wave(spec, 40)
    waves.replay(lambda first, end: between(results, first, end))
    for text in states[:: max(1, len(states) // 5)]:
        state = msgspec.json.decode(text, type=LadderState)
        assert state.fits(spec.numbers, spec.seats)
        resumed = EndlessLadderState(spec, SEED, state)
        resumed.replay(lambda first, end: between(results, first, end))
        assert waves.ratings() == resumed.ratings()
        assert list(waves.pending()) == list(resumed.pending())


def test_a_change_leaves_alone_what_was_begun_and_no_later_event_is_foreseen() -> None:
    spec = ladder(6)
    _, before, _ = wave_after_wave(spec, 40)
    for block in (7, 8, 9, 10):
        _, after, _ = wave_after_wave(changed(spec, (block, enters())), 40)
        assert before[:block] == after[:block]
        assert 6 in {bot for each in after[block : block + 4] for bot in each.entrants}


def test_all_bots_have_their_share_and_no_pair_meets_too_often() -> None:
    waves, blocks, _ = wave_after_wave(ladder(30, accuracy=1), 900)
    counts = Counter(bot for block in blocks for bot in block.entrants)
    assert min(counts.values()) > 0.6 * 60
    assert max(counts.values()) < 2 * 60
    last = dict[frozenset[int], int]()
    turns = Counter[int]()
    for block in blocks:
        one, other = block.entrants
        pair = frozenset(block.entrants)
        if pair in last:
            # One of the two met at least so many others in between.
            assert max(turns[one], turns[other]) - last[pair] > 7
        turns.update(block.entrants)
        last[pair] = min(turns[one], turns[other])
    assert sum(each.blocks for each in waves.ratings()) == 2 * len(blocks)


def test_it_ranks_bots_rightly_and_says_how_sure_it_is() -> None:
    waves, _, _ = wave_after_wave(ladder(10, accuracy=1), 600, gap=0.4)
    ratings = waves.ratings()
    assert sum(one.rating > other.rating for one, other in combinations(ratings, 2)) >= 43
    gaps = [
        (one.rating - other.rating - 0.4 * ELO * (place - number)) / np.hypot(one.error, other.error)
        for (number, one), (place, other) in combinations(enumerate(ratings), 2)
    ]
    assert np.sqrt(np.mean(np.square(gaps))) < 2.5


@pytest.mark.parametrize("seats", [2, 5, 13])
def test_bots_of_about_the_same_rating_meet(seats: int) -> None:
    """Nearer than by chance, whatever the number of seats."""
    _, blocks, _ = wave_after_wave(ladder(52, seats, accuracy=1, rotations=2), 300, gap=0.3)
    gaps = [abs(one - other) for block in blocks[150:] for one, other in combinations(block.entrants, 2)]
    assert np.mean(gaps) < 0.8 * (52 / 3)


def test_a_new_version_begins_at_its_predecessors_rating_with_a_wider_error() -> None:
    spec = changed(ladder(6), (80, enters("y", 5)), (80, enters("z")))
    before, _, _ = wave_after_wave(ladder(6), 80)
    waves = EndlessLadderState(spec, SEED)
    _, _, results = wave_after_wave(ladder(6), 80)
    waves.replay(lambda first, end: between(results, first, min(end, 80)))
    known, version, new = before.ratings()[5], *waves.ratings()[6:8]
    assert (known.rating, 1500) == pytest.approx((version.rating, new.rating))
    assert known.error < version.error < new.error == pytest.approx(START_ERROR)


@pytest.mark.parametrize("stay", [None, 1])
def test_old_versions_stay_as_opponents_if_the_file_says_so(stay: int | None) -> None:
    spec = changed(ladder(4, accuracy=1, old_versions=stay), (40, enters("y", 0)), (80, enters("z", 4)))
    _, blocks, _ = wave_after_wave(spec, 200)
    late = {bot for block in blocks[100:] for bot in block.entrants}
    assert {1, 2, 3, 5} | ({4} if stay else set()) == late


@pytest.mark.parametrize("of_file", [True, False])
def test_an_old_version_of_a_remote_bot_does_not_stay_for_its_key_is_not_let_in(of_file: bool) -> None:
    new_key = replace(enters("y", 0), content=f"key:{'0' * 64}")
    newer = (80, enters("z", 4))
    spec = changed(ladder(4, accuracy=1, old_versions=1), (40, new_key), newer)
    if of_file:
        spec = changed(ladder(4, accuracy=1, old_versions=1, remote=(0,)), (40, enters("y", 0)))
    _, blocks, _ = wave_after_wave(spec, 200)
    late = {bot for block in blocks[100:] for bot in block.entrants}
    assert {1, 2, 3, 4 if of_file else 5} == late


def test_a_new_period_widens_what_is_known_and_tells_how_it_stood() -> None:
    periods = dict[int, tuple[RunningRating, ...]]()
    spec = ladder(5, period=40)
    waves = EndlessLadderState(spec, SEED, None, periods.__setitem__)
    _, _, results = wave_after_wave(spec, 79)
    waves.replay(lambda first, end: between(results, first, min(end, 40)))
    assert [1] == list(periods)
    for was, now in zip(periods[1], waves.ratings(), strict=True):
        assert was.rating == now.rating
        assert np.hypot(was.error, NEW_PERIOD) == pytest.approx(now.error)
    assert (40, 16) == (waves.period_first, sum(each.blocks for each in periods[1]) // 5)


def test_it_is_idle_when_all_is_known_until_a_bot_enters() -> None:
    waves, blocks, _ = wave_after_wave(ladder(6, accuracy=60), 10_000, gap=0)
    assert 6 < len(blocks) < 200
    assert "± 60" in waves.why_idle()
    assert all(each.error <= 60 for each in waves.ratings())
    spec = changed(ladder(6, accuracy=60), (len(blocks), enters()))
    _, more, _ = wave_after_wave(spec, 10_000, gap=0)
    assert more[: len(blocks)] == blocks
    assert all(6 in block.entrants for block in more[len(blocks) :][:2])


def test_a_bot_rests_that_has_used_its_budget_until_the_next_period() -> None:
    """Some more than its budget: what is charged in a match is known at its end."""
    waves, blocks, _ = wave_after_wave(ladder(4, budget_s=20), 10_000, charged=1_000_000)
    assert 20 <= len(blocks) <= 20 + 2 * 8
    assert "4 bots have used their budgets" == waves.why_idle()


def test_a_bot_far_above_all_others_does_not_keep_the_ladder_busy() -> None:
    _, blocks, _ = wave_after_wave(ladder(5, accuracy=40), 3_000, gap=12.0)
    assert len(blocks) < 3_000


@pytest.mark.parametrize(
    "forged",
    [
        lambda each: replace(each, entrants=each.entrants[:1] * 2),
        lambda each: replace(each, outcome=replace(each.outcome, ranking=((0,), (7,)))),
        lambda each: replace(each, conduct=()),
    ],
)
def test_results_of_other_matches_are_refused(forged: Callable[[CountedMatch], CountedMatch]) -> None:
    waves = EndlessLadderState(ladder(4), SEED)
    blocks = waves.next() or []
    waves.next()
    waves.hear([forged(each) for each in played(blocks)])
    with pytest.raises(StrangeResultError, match="block 1 was not played by the bots that the ladder chose"):
        waves.next()


def test_the_table_has_ratings_with_their_errors() -> None:
    spec = ladder(4)
    waves, _, results = wave_after_wave(spec, 60, gap=0.8)
    contest = Contest(spec=spec, labels=tuple("abcd"), house=None, seed=SEED, played=results)
    format_ = format_of(spec)
    rows = format_.in_order(contest, standings_of(4, results))
    table = format_.table(contest, rows)
    assert table is not None
    assert ("#", "bot", "rating", "±", "played") == table.headings[:5]
    assert ["a", "b", "c", "d"] == [row[1] for row in table.cells()]
    found = format_.as_json(contest)["ladder"]
    assert [f"{each['rating']:.0f}" for each in found] == [row[2] for row in table.cells()]
    by_name = sorted(found, key=lambda each: str(each["bot"]))
    assert [(round(each.rating, 1), each.blocks) for each in waves.ratings()] == [
        (each["rating"], each["blocks"]) for each in by_name
    ]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (ladder(4, format="swiss"), "endless: is for format = 'ladder', not 'swiss'"),
        (ladder(4, rounds=3), "rounds: is not for a ladder without an end"),
        (ladder(4, blocks=2), "blocks: is not for a ladder without an end, which chooses each block by itself"),
        (ladder(4, seats=5), '4 bots cannot fill 5 seats; a bot of the house takes the others: fill = "BOT"'),
        (ladder(4, endless=False, rounds=2, period=9), "period: is for a ladder without an end: endless = true"),
    ],
)
def test_fields_that_do_not_fit_are_refused(spec: ScheduleSpec, said: str) -> None:
    found = complaint(spec, "mist")
    assert found is not None
    assert said in f"{found[0]}: {found[1]}"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (Extended(rounds=9), "a ladder without an end cannot be extended"),
        (Withdrawn(entrant=0), "bots: a tournament needs at least two bots; it would have one"),
        (enters(), None),
    ],
)
def test_which_changes_it_takes(what: What, said: str | None) -> None:
    assert said == refusal(ladder(2), at(7, what), "mist")


def test_a_forged_state_does_not_fit() -> None:
    state = LadderState()
    waves = EndlessLadderState(ladder(4), SEED, state)
    waves.next()
    assert state.fits(4, 2)
    for forged in (
        {"means": [0.0]},
        {"pending": [[(0, 9)]]},
        {"pending": [[(0, 1, 2)]]},
        {"first": 0},
    ):
        copy = deepcopy(state)
        for name, value in forged.items():
            setattr(copy, name, value)
        assert not copy.fits(4, 2), forged


def choice_of(blocks: Sequence[int]) -> Choice:
    """Return a choice among bots of which only the numbers of played blocks are known."""
    size = len(blocks)
    state = LadderState(
        means=[0.0] * size, variances=[0.5] * size, blocks=list(blocks), charged_us=[0] * size, met=[[]] * size
    )
    return Choice(ladder(size, accuracy=1), state, range(size), frozenset(range(size)), 2)


def test_bots_that_keep_up_with_each_other_may_all_play_on() -> None:
    """The bound on a bot's share grows with what all have played, also within one wave."""
    assert 30 == len(list(choice_of([0, 0]).tables(30)))
    assert 30 == len(list(choice_of([0] * 4).tables(15)))


def test_no_bot_is_next_in_turn_that_is_far_ahead_of_the_others() -> None:
    ahead = 2 * np.mean([0, 0, 0, 100]) + 10
    assert 100 > ahead
    first = [table[0] for table in choice_of([0, 0, 0, 100]).tables(10)]
    assert first
    assert 3 not in first


def test_a_match_of_two_equals_tells_a_quarter_of_each_and_a_match_of_five_more() -> None:
    """Plackett and Luce's information about one of equals, per match; each rotation is a match."""
    for seats, told in ((2, 1 / 4), (5, (5 - 137 / 60) / 5)):
        size = 6
        state = LadderState(
            means=[0.0] * size,
            variances=[1e-9] * size,
            blocks=[0] * size,
            charged_us=[0] * size,
            met=[[]] * size,
        )
        choice = Choice(ladder(size, seats), state, range(size), frozenset(range(size)), 3)
        assert [3 * told] * (size - 1) == pytest.approx(choice._told(0, slice(1, size)).tolist())


def test_the_first_wave_has_the_fewest_tables_that_a_wave_may_have_also_of_two_bots() -> None:
    wave = EndlessLadderState(ladder(2), SEED).next()
    assert wave is not None
    assert FEWEST_TABLES == len(wave)


def test_it_notes_how_many_matches_are_in_the_ratings_and_the_head_of_the_last() -> None:
    waves = EndlessLadderState(ladder(4), SEED)
    rated = list[CountedMatch]()
    for _ in range(4):
        wave = waves.next()
        results = [replace(each, head=f"{each.block}/{each.seating}") for each in played(wave or [])]
        waves.hear(results[::-1])
        rated += results
    state = waves._state
    rated = [each for each in rated if each.block < state.rated]
    assert rated
    assert (len(rated), rated[-1].head) == (state.matches, state.head)


def test_one_match_of_a_block_that_others_played_is_enough_to_refuse_it() -> None:
    waves = EndlessLadderState(ladder(4), SEED)
    blocks = waves.next()
    assert blocks
    *others, last = played(blocks)
    stranger = next(bot for bot in range(4) if bot not in last.entrants)
    with pytest.raises(StrangeResultError, match="was not played by the bots that the ladder chose"):
        waves.hear([*others, replace(last, entrants=(stranger, *last.entrants[1:]))])
        waves.next()
        waves.next()


def test_a_block_may_have_as_many_rotations_as_seats() -> None:
    assert complaint(ladder(9, seats=5, rotations=5), "g") is None
    found = complaint(ladder(9, seats=5, rotations=6), "g")
    assert ("rotations", "6 are too many; g has 5 seats") == found


@pytest.mark.parametrize("bots", [1, 2, 3, 4])
def test_a_bot_of_the_house_takes_the_seats_for_which_there_are_too_few_bots(bots: int) -> None:
    blocks = EndlessLadderState(ladder(bots, 5, filled=True), SEED).next()
    assert blocks
    expected = Counter(dict.fromkeys(range(bots), 1) | {bots: 5 - bots})
    assert all(expected == Counter(block.entrants) for block in blocks)
