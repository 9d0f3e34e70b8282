"""The end of Runes to Ruins, and what seats, spectators and the host see."""

from typing import Any

from protocol.words import Audience
from referee.rules.table import Table
from tests.referee.games.playing import Heard, close, host_view, outcome
from tests.referee.games.runes_to_ruins.play import GAME, SYMBOLS, UNUSED, holding, put, start, to_round


def discover(table: Table, *seats: int) -> Heard:
    """Lets each of these seats be discovered by the next seat in the ring."""
    finders: dict[int, Any] = {}
    for seat in seats:
        finder = (seat + 1) % 5
        finders.setdefault(finder, {"guesses": []})["guesses"].append(list(SYMBOLS[seat]))
    return close(table, finders)


def order(table: Table) -> list[int]:
    return [seat for (seat,) in outcome(table)["ranking"]]


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


def test_the_default_is_30_rounds() -> None:
    table = to_round(start(), 30)
    assert table.outcome is None
    close(table)
    assert "rounds" == outcome(table)["reason"]


def near_miss(seat: int, exact: int) -> list[str]:
    """Make a guess with so many runes of the seat's symbol in place, and foreign ones."""
    return [*SYMBOLS[seat][:exact], *UNUSED[exact:]]


def test_a_lower_sum_of_the_others_best_exact_hits_breaks_ties() -> None:
    """Seat 0 had 4 and 1 against it (two guesses by one seat count once, the better), seat 1 had 3 and 3."""
    table = start(rounds=2)
    actions = {
        2: {"guesses": [near_miss(0, 4), near_miss(0, 3)]},
        3: {"guesses": [near_miss(0, 1), near_miss(1, 3)]},
        4: {"guesses": [near_miss(1, 3)]},
    }
    close(table, actions)
    sums = [sum(best[0] for best in holding(table, seat).nearest) for seat in (0, 1)]
    assert [4 + 1, 3 + 3] == sums
    ranked = order(table)
    assert ranked.index(0) < ranked.index(1)
    assert 1 == ranked[-1]


def test_then_it_is_drawn() -> None:
    winners = set()
    for number in range(60):
        table = start(rounds=2)
        table.number = number + 1
        close(table)
        winners.add(order(table)[0])
        assert [0, 1, 2, 3, 4] == sorted(order(table))
    assert {0, 1, 2, 3, 4} == winners


def test_only_guesses_that_were_compared_with_the_seat_count() -> None:
    table = start(artefacts={"4": ["light"]})
    close(table, {4: {"light": True}, 0: {"guesses": [near_miss(4, 5)]}, 1: {"guesses": [list(SYMBOLS[3])]}})
    assert (0, 0, 0) == holding(table, 4).nearest[0]
    before = holding(table, 3).nearest
    close(table, {0: {"guesses": [near_miss(3, 5)]}})
    assert before == holding(table, 3).nearest


ASK = {
    "votes": {"3": 1},
    "visions": {"divine": "Box", "except": {"seat": 4, "runes": sorted(SYMBOLS[4][:5])}},
    "learned": [{"has": {"seat": 1, "rune": "Torn Box"}}],
    "guesses": [list(SYMBOLS[3])],
}


def played() -> Table:
    table = start(artefacts={"2": ["light"]})
    for seat in range(5):
        put(table, seat, insight=9)
    close(table, {0: ASK, 1: {"abstain": True}, 2: {"light": True}})
    close(table, {1: {"guesses": [list(UNUSED)]}})
    return table


def test_the_host_is_shown_everything() -> None:
    table = played()
    view = host_view(table)
    assert [list(symbol) for symbol in SYMBOLS] == [each["symbol"] for each in view["holdings"]]
    assert [None, None, None, 2, None] == [each["discovered"] for each in view["holdings"]]
    assert [3, 1] == view["conditions"]
    assert [1, 3] == view["used"]


def test_only_these_events_may_ever_be_public() -> None:
    public = {"resubmit", "insight", "revealed", "discovered", "reveal"}
    declared: dict[Any, Audience] = {event.__struct_config__.tag: event.audience for event in GAME.events}
    assert public == {tag for tag, audience in declared.items() if audience is Audience.PUBLIC}
