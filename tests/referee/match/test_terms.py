"""The `[clock]` table: published times as tables, and what each kind of table comes to."""

import re

import msgspec
import pytest

from referee.games import GAMES
from referee.match.terms import BadClockError, ClockTable, Policy, clock_terms, table_of
from tests.games import with_variants

MIST = GAMES["mist"]
HEAVEN = "heaven-and-hell"
VARIANTS = with_variants(GAMES)


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_the_published_times_of_every_variant_can_be_said_in_a_table(game: str, variant: str) -> None:
    policy = Policy(pauses=2, pause_ms=5_000, pacing="fixed")
    table = table_of(GAMES[game].variant(variant).time)
    assert clock_terms(GAMES[game], variant, policy) == clock_terms(GAMES[game], variant, policy, table)


def test_mists_minute_and_reserve() -> None:
    """mist.md R11."""
    table = ClockTable(main_ms=60_000, reserve_ms=300_000)
    assert clock_terms(MIST, HEAVEN, Policy()) == clock_terms(MIST, "contractual-obligation", Policy(), table)


def test_a_day_a_round() -> None:
    """hive_mind.md, pointing.md, runes_to_ruins.md: a day for each window."""
    for game in ("hive-mind", "pointing"):
        variant = GAMES[game].variants[0].name
        table = ClockTable(main_ms=86_400_000)
        assert clock_terms(GAMES[game], variant, Policy()) == clock_terms(GAMES[game], variant, Policy(), table)


def test_times_that_the_table_omits_do_not_come_from_the_variant() -> None:
    assert 0 == clock_terms(MIST, HEAVEN, Policy(), ClockTable(main_ms=1_000)).reserve_ms


@pytest.mark.parametrize(
    ("table", "policy", "field", "what"),
    [
        (ClockTable(), Policy(), "clock", "needs main_ms, the time of a window, or budget_ms"),
        (ClockTable(kind="cpu"), Policy(), "clock", "needs main_ms"),
        (ClockTable(budget_ms=1, main_ms=1), Policy(), "clock.main_ms", "budget_ms stands in place of"),
        (ClockTable(budget_ms=1, reserve_ms=1), Policy(), "clock.reserve_ms", "budget_ms stands in place of"),
        (ClockTable(main_ms=1, wall_factor=2), Policy(), "clock.wall_factor", 'is for kind = "cpu"'),
        (ClockTable(budget_ms=1, delay="simple"), Policy(), "clock.delay", "how long? delay_ms is missing"),
        (ClockTable(main_ms=1, delay_ms=1), Policy(), "clock.delay_ms", "main_ms is such a delay already"),
        (ClockTable(main_ms=1, delay="bronstein", delay_ms=1), Policy(), "clock.delay_ms", "there is no reserve"),
        (
            ClockTable(main_ms={"turn": 1}),
            Policy(),
            "clock.main_ms",
            "first is missing; the windows are first, turn",
        ),
        (
            ClockTable(main_ms={"first": 1, "turn": 1, "trun": 1}),
            Policy(),
            "clock.main_ms.trun",
            "there is no such window; there are first, turn",
        ),
        (ClockTable(main_ms=0), Policy(), "clock.main_ms", "no time at all for first"),
        (ClockTable(main_ms={"first": 1, "turn": 0}), Policy(), "clock.main_ms.turn", "no time at all for turn"),
        (ClockTable(main_ms=1), Policy(main_ms=1), "policy.main_ms", "the [clock] table says the times"),
        (ClockTable(main_ms=1), Policy(reserve_ms=1), "policy.reserve_ms", "the [clock] table says the times"),
        (
            ClockTable(budget_ms=1),
            Policy(pacing="fixed"),
            "policy.pacing",
            "a window without main time has no fixed",
        ),
    ],
)
def test_a_table_that_makes_no_clock_is_told_by_its_field(
    table: ClockTable, policy: Policy, field: str, what: str
) -> None:
    with pytest.raises(BadClockError, match=re.escape(f"{field}: {what}")) as caught:
        clock_terms(MIST, HEAVEN, policy, table)
    assert field == caught.value.field


def test_a_budget_that_a_delay_precedes_may_be_played_at_a_fixed_pace() -> None:
    table = ClockTable(budget_ms=10_000, delay_ms=500)
    assert {"first": 500, "turn": 500} == clock_terms(MIST, HEAVEN, Policy(pacing="fixed"), table).main_ms


@pytest.mark.parametrize("field", ["restarts", "messages_per_window", "refusals_per_match"])
def test_a_count_in_a_policy_may_be_as_great_as_every_reader_takes(field: str) -> None:
    greatest = 2**63 - 1
    assert greatest == getattr(msgspec.convert({field: greatest}, Policy), field)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({field: greatest + 1}, Policy)
