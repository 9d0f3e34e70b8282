"""Whose fault it was, under budgets and clocks of processor time: what a bot did itself is its own fault."""

import pytest

from protocol.messages import ClockTerms
from referee.match.records import BotIdentity, Used
from referee.match.seat import Seat
from referee.match.terms import MatchTerms, Policy
from referee.match.verdicts import OpenCases
from referee.match.window import Account, SeatClock, SeatWindow
from tests.referee.toy import Bid

SECOND = 1_000_000
LONG = 100 * SECOND
"""More than anybody can be short of."""


def verdicts(clock: SeatClock, ends: int, *, answered: bool = False, withheld: int = LONG) -> list[str]:
    """Of a part that ends at that reading, in which the machine withheld so much from the bot."""
    identity = BotIdentity(name="b", version="1", content="", seed=0, token="")
    terms = MatchTerms(match="", clock=ClockTerms(main_ms={}), policy=Policy(), bots=(identity,))
    court = OpenCases([Seat(0, identity, terms)])
    part = SeatWindow(0)
    part.clock, part.account = clock, clock.account
    if answered:
        part.submit(Bid(amount=1), final=True, reading=ends)
    part.pass_time(ends)
    assert part.settled
    court.close(0, part, 0)
    used = Used(at=ends, seat=0, number=0, cpu=0, waited=withheld, withheld=withheld, throttled=0, behind=0)
    court.used(used)
    return [judged.verdict.value for judged in (*court.due(ends), *court.judge(0, ends))]


def processor(main: int, *, used: int, at: int) -> SeatClock:
    """Return a clock of processor time with this much used at the reading."""
    account = Account()
    account.read(0, 0, 1)
    account.read(at, used, 1)
    return SeatClock(opened=0, main=main, reserve=0, wall_factor=10, account=account)


def test_a_seat_without_time_left_is_itself_at_fault() -> None:
    assert ["bot"] == verdicts(SeatClock(opened=0, main=0, reserve=0), 0)


def test_a_seat_with_budget_left_may_be_held_up_by_the_host() -> None:
    assert ["host"] == verdicts(SeatClock(opened=0, main=0, reserve=SECOND), SECOND)


def test_using_a_budget_is_what_it_is_for_and_gets_no_verdict() -> None:
    assert [] == verdicts(SeatClock(opened=0, main=0, reserve=SECOND), SECOND // 2, answered=True)
    assert ["host"] == verdicts(SeatClock(opened=0, main=1_000, reserve=SECOND), SECOND // 2, answered=True)


@pytest.mark.parametrize(("used", "ends", "wanted"), [(SECOND, 2 * SECOND, "bot"), (0, 10 * SECOND, "host")])
def test_a_seat_that_used_all_its_processor_time_is_itself_at_fault(used: int, ends: int, wanted: str) -> None:
    assert [wanted] == verdicts(processor(SECOND, used=used, at=ends), ends)


@pytest.mark.parametrize(("withheld", "wanted"), [(5 * SECOND // 2, "host"), (5 * SECOND // 2 - 1, "bot")])
def test_waits_are_compared_with_the_wall_time_that_a_clock_of_processor_time_allows(
    withheld: int, wanted: str
) -> None:
    """A second of processor time may take ten of wall time: a quarter of these excuses a bot."""
    clock = processor(SECOND, used=0, at=10 * SECOND)
    assert [wanted] == verdicts(clock, 10 * SECOND, withheld=withheld)
