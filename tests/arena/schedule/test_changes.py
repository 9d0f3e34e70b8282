"""Changes under way: a pure function of file, seed and events, which leaves alone what was begun before them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import combinations, count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.schedule.blocks import Block, ScheduledMatch
from arena.schedule.contract import Contest, blocks_so_far, next_round, rounds_of
from arena.schedule.fields import (
    BadChangeError,
    Entered,
    Extended,
    FieldChange,
    ScheduleSpec,
    What,
    Withdrawn,
    competing,
    fields_of,
    labels_now,
)
from arena.schedule.formats import format_of, refusal
from arena.schedule.ladder import START, final_ratings
from arena.schedule.swiss import swiss_rows
from arena.statistics.standings import CountedMatch, standings_of
from tests.arena.schedule.paired import by_lot, lower_wins, result, spec
from tests.arena.simulated import result as result_of_many
from tests.long import cases

SEED = 5
CONTENT = f"sha256:{0:064}"


def enters(label: str = "x", predecessor: int | None = None) -> Entered:
    return Entered(label=label, folder=label, content=CONTENT, version="1", predecessor=predecessor)


def at(block: int, what: What, number: int = 1) -> FieldChange:
    return FieldChange(id=number, at="", block=block, what=what)


def changed(of: ScheduleSpec, *changes: tuple[int, What]) -> ScheduleSpec:
    return replace(of, changes=tuple(at(block, what, n) for n, (block, what) in enumerate(changes, start=1)))


def ended(match: ScheduledMatch) -> CountedMatch:
    """Return a match whose result follows from its name."""
    if len(match.entrants) == 2:
        return result(match, by_lot)
    order = sorted(range(len(match.entrants)), key=lambda seat: match.name[seat:])
    return result_of_many(match.block, match.seating, match.entrants, [[seat] for seat in order])


@cache
def played_out(of: ScheduleSpec, seed: int = SEED) -> tuple[list[Block], list[CountedMatch]]:
    """All blocks and all results."""
    results, blocks = list[CountedMatch](), list[Block]()

    def results_between(first: int, end: int) -> list[CountedMatch]:
        return [each for each in results if first <= each.block < end]

    for coming in rounds_of(format_of(of).schedule(of).rounds(seed), results_between):
        new = list(coming())
        blocks += new
        results += [ended(match) for block in new for match in block.matches]
    return blocks, results


SPECS = [
    spec("round_robin", 4, blocks=2),
    spec("gauntlet", 5, blocks=2),
    replace(spec("gauntlet", 6), heads=2),
    spec("swiss", 6, rounds=4),
    spec("swiss", 5, rounds=3, blocks=2, filled=True),
    spec("ladder", 5, rounds=4),
    spec("ladder", 5, rounds=4, filled=True),
    spec("knockout", 6),
    ScheduleSpec(format="round_robin", blocks=4, entrants=7, seats=3, filled=False),
    ScheduleSpec(format="round_robin", blocks=4, rotations=2, entrants=4, seats=3, filled=True),
]


@st.composite
def tournaments(draw: st.DrawFn, specs: Sequence[ScheduleSpec] = SPECS) -> ScheduleSpec:
    """A tournament with changes, each at a block at which an arena could take it in."""
    of = draw(st.sampled_from(specs))
    begun = 0
    for number in count(1):
        blocks = played_out(of)[0]
        begun = draw(st.integers(begun, len(blocks)))
        what = draw(whats(of))
        if what is None or number > 4:
            return of
        block = max([format_of(of).schedule(of).change_at(begun), *(each.block or 0 for each in of.changes)])
        event = at(block, what, number)
        if refusal(of, event, "game") is None:
            of = replace(of, changes=(*of.changes, event))
    raise AssertionError


@st.composite
def whats(draw: st.DrawFn, of: ScheduleSpec) -> What | None:
    active = st.sampled_from(competing(of))
    label = f"new {len(of.changes)}"
    fields = fields_of(of)[-1]
    found: What | None = draw(
        st.one_of(
            st.none(),
            st.just(enters(label)),
            active.map(lambda before: enters(label, before)),
            active.map(lambda entrant: Withdrawn(entrant=entrant)),
            st.just(Extended(blocks=fields.blocks + 1)),
            st.just(Extended(rounds=(fields.rounds or 3) + 1)),
        )
    )
    return found


@settings(max_examples=cases(20, 40))
@given(tournaments())
def test_the_same_events_give_the_same_schedule_and_no_event_changes_a_block_before_it(of: ScheduleSpec) -> None:
    blocks, results = played_out(of)
    assert list(range(len(blocks))) == [block.number for block in blocks]
    assert blocks == list(blocks_so_far(format_of(of).schedule(of).rounds(SEED), results))
    for number, event in enumerate(of.changes):
        before = played_out(replace(of, changes=of.changes[:number]))[0]
        assert event.block is not None
        assert before[: event.block] == blocks[: event.block]


@settings(max_examples=cases(12, 20))
@given(tournaments())
def test_only_those_play_that_compete_then(of: ScheduleSpec) -> None:
    fields = fields_of(of)
    for block in played_out(of)[0]:
        field = [field for field in fields if field.first <= block.number][-1]
        if of.format == "knockout":
            continue  # A round is played to its end.
        assert set(block.entrants) <= {*field.active, of.house}


@settings(max_examples=cases(12, 20))
@given(tournaments())
def test_the_number_of_matches_is_known_in_advance(of: ScheduleSpec) -> None:
    if of.format != "knockout":
        assert len(played_out(of)[1]) == format_of(of).schedule(of).matches


@settings(max_examples=cases(12, 20))
@given(tournaments(), st.data())
def test_a_change_is_taken_in_where_nothing_is_begun_as_early_as_can_be(
    of: ScheduleSpec, data: st.DataObject
) -> None:
    blocks, _ = played_out(of)
    begun = data.draw(st.integers(0, len(blocks)))
    block = format_of(of).schedule(of).change_at(begun)
    assert begun <= block <= len(blocks)
    if of.seats > 2 or of.format in {"swiss", "ladder"}:
        starts = {
            *(number for number, one in enumerate(blocks) if number == 0 or one.round != blocks[number - 1].round)
        }
        starts |= {each.block or 0 for each in of.changes} | {len(blocks)}
        assert block in starts
        assert not any(begun <= start < block for start in starts)
    else:
        assert begun == block


@settings(max_examples=cases(12, 20))
@given(tournaments())
def test_tables_and_orders_have_all_entrants_and_those_that_withdrew_come_last(of: ScheduleSpec) -> None:
    _, results = played_out(of)
    labels = labels_now(of, [f"b{number}" for number in range(of.entrants + of.filled)])
    assert of.numbers == len(labels)
    contest = Contest(spec=of, labels=labels, house=of.house, seed=SEED, played=results)
    rows = format_of(of).in_order(contest, standings_of(of.numbers, results, of.house))
    assert sorted(row.entrant for row in rows) == list(range(of.numbers))
    if of.format != "knockout":
        assert {row.entrant for row in rows[: len(competing(of))]} == set(competing(of))
    table = format_of(of).table(contest, rows)
    assert table is None or len(table.rows) == of.numbers
    format_of(of).as_json(contest)


@settings(max_examples=cases(10, 20))
@given(tournaments(SPECS[:1]))
def test_every_two_that_compete_meet_as_often_as_asked_whenever_they_came(of: ScheduleSpec) -> None:
    blocks, _ = played_out(of)
    met = Counter(frozenset(block.entrants) for block in blocks)
    asked = fields_of(of)[-1].blocks
    assert {asked} == {met[frozenset(pair)] for pair in combinations(competing(of), 2)}
    assert max(met.values()) <= asked


AS_EVER = [
    (spec("round_robin", 5, blocks=3), "00db9cffb2d41122"),
    (replace(spec("gauntlet", 6, blocks=2), heads=2), "ccd4da3a3bf5e41c"),
    (spec("swiss", 9, blocks=2), "52c3e857d1c1140c"),
    (spec("swiss", 7, rounds=5, filled=True), "7b9ee069b9eca591"),
    (spec("ladder", 7, rounds=9), "8e48d665276d960d"),
    (spec("ladder", 7, blocks=2, rounds=9, filled=True), "ac2d213b7e307a9a"),
    (spec("knockout", 11), "11b11c4d3df6bafb"),
    (ScheduleSpec(format="round_robin", blocks=6, entrants=8, seats=5, filled=False), "4f46e49402bfce44"),
    (
        ScheduleSpec(format="round_robin", blocks=6, rotations=2, entrants=8, seats=5, filled=True),
        "63e1d175ab797c1c",
    ),
]
"""Schedules, and hashes of them from before there were any changes."""


@pytest.mark.parametrize(("of", "expected"), AS_EVER)
def test_without_changes_all_schedules_are_what_they_were_before_there_were_any(
    of: ScheduleSpec, expected: str
) -> None:
    """A tournament that an older arena began goes on with the same blocks."""
    found = sha256(str(format_of(of).schedule(of).matches).encode())
    for each in played_out(of, 1)[0]:
        found.update(f"{each.number} {each.round} {each.entrants} {each.shifts} {each.seed}\n".encode())
    assert expected == found.hexdigest()[:16]


def entrants_of(of: ScheduleSpec) -> list[tuple[int, ...]]:
    return [block.entrants for block in played_out(of)[0]]


def test_a_bot_that_enters_a_round_robin_later_catches_up_first() -> None:
    of = changed(spec("round_robin", 3, blocks=2), (4, enters()))
    assert [(0, 1), (0, 2), (1, 2), (0, 1)] == entrants_of(of)[:4]
    assert [(0, 3), (1, 3), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] == entrants_of(of)[4:]


def test_a_new_version_of_a_gauntlets_head_is_a_head_and_who_comes_later_is_not() -> None:
    of = changed(spec("gauntlet", 3, blocks=2), (1, enters("a v2", 0)), (1, enters("x")))
    assert [(0, 1), (3, 1), (3, 2), (3, 4)] == entrants_of(of)[:4]
    assert refusal(of, at(4, Withdrawn(entrant=3), 3), "g") == "no head would be left"
    two_heads = replace(spec("gauntlet", 4, blocks=2), heads=2)
    assert refusal(two_heads, at(4, Withdrawn(entrant=0), 0), "g") is None
    _, results = played_out(of)
    contest = Contest(spec=of, labels=tuple("abcde"), house=None, seed=SEED, played=results)
    table = format_of(of).table(contest, standings_of(5, results))
    assert table is not None
    assert ("head", "d") == table.cells()[0][:2]
    assert "against d" in table.headings


def test_a_new_version_begins_a_ladder_at_its_predecessors_rating_and_others_at_the_start() -> None:
    of = spec("ladder", 4, rounds=10)
    results = [result(match, lower_wins) for block in blocks_of(of, 10) for match in block.matches]
    before = final_ratings(of, SEED, results)
    assert before[0] > START
    after = final_ratings(changed(of, (10, enters("a v2", 0)), (10, enters())), SEED, results)
    assert [*before, before[0], START] == after


def blocks_of(of: ScheduleSpec, number: int) -> Iterator[Block]:
    """Return the first blocks, in which the better bot always wins."""
    schedule, results = format_of(of).schedule(of), list[CountedMatch]()
    found = list[Block]()
    while len(found) < number:
        new = next_round(schedule.rounds(SEED), results)
        found += new
        results += [result(match, lower_wins) for block in new for match in block.matches]
    return iter(found[:number])


def test_a_bot_that_enters_a_swiss_later_has_no_points_and_no_more_byes_than_the_rest() -> None:
    of = changed(spec("swiss", 4, rounds=7), (6, enters()))
    blocks, results = played_out(of)
    late = next(row for row in swiss_rows(of, SEED, results) if row.entrant == 4)
    assert 1 == late.byes
    assert all(4 not in block.entrants for block in blocks[:6])
    assert 3 == sum(4 in block.entrants for block in blocks)


def test_a_bot_that_withdraws_from_a_knock_out_loses_its_remaining_meetings() -> None:
    of = spec("knockout", 4)
    first = [block.entrants for block in played_out(of)[0] if block.round == 0]
    assert [(0, 3), (1, 2)] == first
    gone = changed(of, (2, Withdrawn(entrant=0)), (2, Withdrawn(entrant=3)))
    blocks, results = played_out(gone)
    assert [(0, 3), (1, 2)] == [block.entrants for block in blocks][:2]
    assert not any({0, 3} & set(block.entrants) for block in blocks[2:])
    contest = Contest(spec=gone, labels=tuple("abcd"), house=None, seed=SEED, played=results)
    (final,) = format_of(gone).bracket(contest)[-1]
    assert final.winner in {1, 2}


def test_a_knock_out_accepts_bots_only_before_it_begins() -> None:
    of = spec("knockout", 3)
    late = refusal(of, at(1, enters()), "g")
    assert late == "no bot can enter a knock-out that has begun; one may withdraw, and its opponent goes on"
    assert refusal(of, at(0, enters()), "g") is None
    assert [(0, 3), (1, 2)] == [block.entrants for block in played_out(changed(of, (0, enters())))[0]][:2]
    assert (0, 2) in entrants_of(changed(of, (0, enters("b v2", 1)), (0, Withdrawn(entrant=3))))
    assert refusal(of, at(0, Extended(rounds=3)), "g") == "the rounds of format = 'knockout' follow from its bots"


@pytest.mark.parametrize(
    ("of", "what", "said"),
    [
        (spec("round_robin", 2), Withdrawn(entrant=0), "bots: a tournament needs at least two bots"),
        (spec("round_robin", 3), Withdrawn(entrant=3), "event 1 concerns entrant 3, which does not compete then"),
        (spec("swiss", 3, filled=True), Withdrawn(entrant=3), "event 1 concerns entrant 3, which does not"),
        (spec("round_robin", 3), enters("x", 7), "event 1 concerns entrant 7, which does not compete then"),
        (spec("round_robin", 3, blocks=4), Extended(blocks=4), "blocks: 4 is not more than the present total"),
        (spec("round_robin", 3), Extended(rounds=4), "format = 'round_robin' is extended by its blocks"),
        (spec("ladder", 3, rounds=2), Extended(blocks=4), "format = 'ladder' is extended by its rounds"),
        (spec("ladder", 3, rounds=2), Extended(rounds=4, blocks=4), "format = 'ladder' is extended by its rounds"),
        (spec("swiss", 3), Extended(rounds=2), "rounds: 2 is not more than the present total"),
        (spec("swiss", 3), Extended(rounds=4), "rounds: 4 are too many; 3 bots have all met after 3"),
        (ScheduleSpec(format="round_robin", blocks=1, entrants=3, seats=3, filled=False), Withdrawn(entrant=1),
         'bots: 2 bots cannot fill 3 seats; a bot of the house takes the others: fill = "BOT"'),
        (replace(spec("gauntlet", 3), heads=2), Withdrawn(entrant=2), "heads: 2 are too many; of 2 bots at least"),
    ],
)  # fmt: skip
def test_impossible_changes_are_refused_with_a_text(of: ScheduleSpec, what: What, said: str) -> None:
    assert (refusal(of, at(0, what), "g") or "").startswith(said)


def test_a_swiss_may_lose_bots_until_some_meet_again() -> None:
    of = spec("swiss", 4, rounds=3)
    assert refusal(of, at(2, Withdrawn(entrant=0)), "g") is None
    assert 2 + 2 == len(played_out(changed(of, (2, Withdrawn(entrant=0))))[0])


def test_events_whose_blocks_go_back_are_refused() -> None:
    of = changed(spec("round_robin", 3), (2, enters()), (1, enters("y")))
    with pytest.raises(BadChangeError, match="event 2 concerns an earlier block"):
        fields_of(of)


def numbered(blocks: Sequence[Block]) -> list[int]:
    return [block.number for block in blocks]


@pytest.mark.parametrize("block", [99, 10_000_000])
def test_an_event_of_a_block_that_never_comes_leaves_no_gap(block: int) -> None:
    """A ledger may come from anybody."""
    for of in SPECS:
        blocks, _ = played_out(changed(of, (block, Withdrawn(entrant=1)), (block, enters())))
        assert list(range(len(blocks))) == numbered(blocks)


def test_a_game_of_many_seats_goes_on_with_the_rounds_that_are_left() -> None:
    of: Any = ScheduleSpec(format="round_robin", blocks=5, entrants=6, seats=3, filled=True)
    late = changed(of, (3, Withdrawn(entrant=0)), (3, enters()))  # In the midst of the second round.
    blocks, _ = played_out(late)
    assert blocks[:4] == played_out(of)[0][:4]
    assert [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] == [block.round for block in blocks]
    assert all({*block.entrants} <= {1, 2, 3, 4, 5, 7} for block in blocks[4:])


def test_after_a_change_the_rounds_that_are_left_are_even_among_themselves() -> None:
    """Eleven bots are left for eleven rounds of two tables of five: each has one bye, and meets all others."""
    of = ScheduleSpec(format="round_robin", blocks=16, entrants=12, seats=5, filled=False, rotations=2)
    of = changed(of, (10, Withdrawn(entrant=2)))
    left = [sorted(block.entrants) for block in played_out(of)[0] if block.number >= 10]
    assert dict.fromkeys([bot for bot in range(12) if bot != 2], 10) == Counter(
        bot for table in left for bot in table
    )
    met = Counter(pair for table in left for pair in combinations(table, 2))
    assert (55, 3, 5) == (len(met), min(met.values()), max(met.values()))


def test_a_field_names_only_the_bots_that_entered_with_it() -> None:
    of = changed(spec("swiss", 4), (4, enters("e")), (8, enters("f")))
    assert [(), ((4, None),), ((5, None),)] == [field.entered for field in fields_of(of)]
