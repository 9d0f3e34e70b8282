"""The end of Runes to Ruins: when it comes, the order of the seats, tokens, the reveal."""

from typing import Any

from referee.rules.table import Table
from tests.referee.games.runes_play import SYMBOLS, UNUSED, Heard, Json, holding, plain, play, put, start, to_round


def discover(table: Table, *seats: int) -> Heard:
    """Lets each of these seats be discovered by the next seat in the ring."""
    finders: dict[int, Any] = {}
    for seat in seats:
        finder = (seat + 1) % 5
        finders.setdefault(finder, {"guesses": []})["guesses"].append(list(SYMBOLS[seat]))
    return play(table, finders)


def outcome(table: Table) -> Json:
    result: Json = plain(table.outcome)
    return result


def order(table: Table) -> list[int]:
    return [seat for (seat,) in outcome(table)["ranking"]]


def last_round(**by_seat: Json) -> Table:
    """A match whose only round is about to end, with these affairs of seats given as `s0`."""
    table = start(rounds=2)
    for seat, affairs in by_seat.items():
        put(table, int(seat[1:]), **affairs)
    return table


def test_the_match_ends_after_a_round_that_leaves_one_seat_undiscovered() -> None:
    table = start()
    discover(table, 0, 1)
    assert table.outcome is None
    discover(table, 2)
    assert table.outcome is None
    discover(table, 4)
    result = outcome(table)
    assert ("discovered", [3], None) == (result["reason"], result["winners"], result["scores"])
    assert table.window is None
    assert {"0": 2, "1": 2, "2": 3, "4": 4} == result["detail"]["discovered"]


def test_or_none() -> None:
    table = start()
    discover(table, 0, 1, 2, 3, 4)
    assert "discovered" == outcome(table)["reason"]


def test_the_match_ends_after_the_rounds_of_the_option() -> None:
    table = start(rounds=4)
    to_round(table, 4)
    assert table.outcome is None
    play(table)
    assert "rounds" == outcome(table)["reason"]
    assert {} == outcome(table)["detail"]["discovered"]


def test_the_default_is_30_rounds() -> None:
    table = to_round(start(), 30)
    assert table.outcome is None
    play(table)
    assert "rounds" == outcome(table)["reason"]


def test_when_both_hold_the_reason_is_discovered() -> None:
    table = start(rounds=2)
    discover(table, 0, 1, 2, 3)
    assert "discovered" == outcome(table)["reason"]


def test_earlier_discovered_is_worse_and_never_is_best() -> None:
    table = start()
    for seat in (2, 0, 4):
        discover(table, seat)
    discover(table, 1)
    assert [3, 1, 4, 0, 2] == order(table)
    assert 2 == outcome(table)["eliminated"]


def near_miss(seat: int, exact: int) -> list[str]:
    """A guess with so many runes of the seat's symbol in place, and foreign ones."""
    return [*SYMBOLS[seat][:exact], *UNUSED[exact:]]


def test_among_equals_the_less_is_better_of_the_sum_of_each_other_seats_best_exact() -> None:
    """Seat 0 had 4 and 1 against it (two guesses by one seat count once, the better), seat 1 had 3 and 3."""
    table = start(rounds=2)
    actions = {
        2: {"guesses": [near_miss(0, 4), near_miss(0, 3)]},
        3: {"guesses": [near_miss(0, 1), near_miss(1, 3)]},
        4: {"guesses": [near_miss(1, 3)]},
    }
    play(table, actions)
    sums = [sum(best[0] for best in holding(table, seat).nearest) for seat in (0, 1)]
    assert [4 + 1, 3 + 3] == sums
    ranked = order(table)
    assert ranked.index(0) < ranked.index(1)
    assert 1 == ranked[-1]


def test_then_of_their_best_moved_then_group_each_from_any_guess() -> None:
    nearest: Any = ((0, 0, 0),) * 5
    least = last_round(
        s0={"nearest": ((2, 1, 0), *nearest[1:])},
        s1={"nearest": ((1, 0, 3), (1, 0, 0), *nearest[2:])},
        s2={"nearest": ((2, 0, 4), *nearest[1:])},
        s3={"nearest": ((2, 2, 0), *nearest[1:])},
        s4={"nearest": ((3, 0, 0), *nearest[1:])},
    )
    play(least)
    assert [1, 2, 0, 3, 4] == order(least)


def test_the_best_of_each_figure_may_come_from_different_guesses() -> None:
    table = start()
    play(table, {1: {"guesses": [near_miss(3, 3)]}})
    turned = [*SYMBOLS[3][1:], SYMBOLS[3][0]]
    play(table, {1: {"guesses": [turned]}})
    assert (3, 6) == holding(table, 3).nearest[1][:2]


def test_then_less_mantra_received_in_the_match_is_better() -> None:
    table = last_round(
        s0={"received": 5}, s1={"received": 2}, s2={"received": 0}, s3={"received": 9}, s4={"received": 1}
    )
    play(table)
    assert [2, 4, 1, 0, 3] == order(table)


def test_then_it_is_drawn() -> None:
    winners = set()
    for number in range(60):
        table = start(rounds=2)
        table.number = number + 1
        play(table)
        winners.add(order(table)[0])
        assert [0, 1, 2, 3, 4] == sorted(order(table))
    assert {0, 1, 2, 3, 4} == winners


def test_seats_discovered_in_one_round_are_ordered_by_the_same_figures() -> None:
    """Four are found in one round: seat 3 by three others, seat 2 by two, seats 1 and 4 by one."""
    table = start()
    for seat in range(5):
        put(table, seat, insight=30)
    finders = {0: [1, 2, 3], 1: [2, 3], 2: [4, 3]}
    play(table, {by: {"guesses": [list(SYMBOLS[seat]) for seat in found]} for by, found in finders.items()})
    assert {"1": 2, "2": 2, "3": 2, "4": 2} == outcome(table)["detail"]["discovered"]
    ranked = order(table)
    assert (0, {1, 4}, [2, 3]) == (ranked[0], set(ranked[1:3]), ranked[3:])


def test_only_guesses_that_were_compared_with_the_seat_count() -> None:
    table = start(artefacts={"4": ["light"]})
    play(table, {4: {"light": True}, 0: {"guesses": [near_miss(4, 5)]}, 1: {"guesses": [list(SYMBOLS[3])]}})
    assert (0, 0, 0) == holding(table, 4).nearest[0]
    before = holding(table, 3).nearest
    play(table, {0: {"guesses": [near_miss(3, 5)]}})
    assert before == holding(table, 3).nearest


def test_the_best_seat_wins_2_tokens() -> None:
    table = last_round(s0={"received": 5}, s1={"received": 2}, s3={"received": 9}, s4={"received": 1})
    play(table)
    assert ({"2": 2}, [2], {}) == (outcome(table)["tokens"], outcome(table)["winners"], outcome(table)["garnets"])


def indebted(*mantra: int) -> Json:
    """An outcome in which seats 0, 1, … are ranked in this order and hold so much mantra at the end."""
    debts = {f"s{seat}": {"mantra": each + 6, "insight": 0, "received": seat} for seat, each in enumerate(mantra)}
    table = last_round(**debts)
    play(table)
    assert [0, 1, 2, 3, 4] == order(table)
    assert {str(seat): each for seat, each in enumerate(mantra)} == outcome(table)["detail"]["mantra"]
    return outcome(table)


def test_a_seat_with_10_mantra_or_more_at_the_end_gets_no_token_and_stays_the_winner() -> None:
    assert {"0": 2} == indebted(9, 0, 0, 0, 0)["tokens"]
    result = indebted(10, 0, 0, 0, 0)
    assert ({"1": 1}, [0]) == (result["tokens"], result["winners"])


def test_then_the_next_seat_of_the_ranking_that_may_gets_1_the_eliminated_included() -> None:
    assert {"2": 1} == indebted(50, 10, 9, 0, 0)["tokens"]
    result = indebted(50, 10, 11, 12, 0)
    assert ({"4": 1}, 4) == (result["tokens"], result["eliminated"])
    assert {} == indebted(10, 10, 10, 10, 10)["tokens"]


def test_the_reveal_is_the_last_event_and_tells_all_symbols_guesses_and_conditions() -> None:
    table = start(rounds=3)
    play(
        table,
        {0: {"guesses": [near_miss(1, 2)], "votes": {"4": 1}}, 2: {"guesses": [list(UNUSED), near_miss(3, 1)]}},
    )
    heard = play(table, {0: {"guesses": [near_miss(4, 1)]}})
    assert "reveal" == heard.public[-1]["type"]
    assert {
        "symbols": {str(seat): list(symbol) for seat, symbol in enumerate(SYMBOLS)},
        "guesses": {
            "0": [near_miss(1, 2), near_miss(4, 1)],
            "1": [],
            "2": [list(UNUSED), near_miss(3, 1)],
            "3": [],
            "4": [],
        },
        "conditions": [4, 1],
    } == heard.one(None, "reveal")


def test_a_round_that_goes_on_reveals_nothing_of_conditions_or_symbols() -> None:
    heard = play(start(), {0: {"votes": {"4": 1}}})
    assert ["insight"] == [event["type"] for event in heard.public]
