"""Why a bot lost what it lost, in a match's own words. In virtual time."""

import msgspec
import pytest
import trio
import trio.testing

from protocol.messages import Opened
from referee.host.host import Host
from referee.match.policy import Policy
from referee.match.records import LARGEST
from referee.match.seat_report import Complaint, SeatReport, merged, percentile, sentences, spread_of, summed
from referee.sandbox.meter import NOTHING
from tests.referee.virtual import Bot, Played, after, answering, hear_out, mist, play, set_up, silent

C3, G7 = {"cells": ["C3"]}, {"cells": ["G7"]}


@pytest.fixture
def autojump_clock() -> trio.testing.MockClock:
    return trio.testing.MockClock(autojump_threshold=0)


def said(played: Played, seat: int = 0) -> list[str]:
    its = played.match.seats[seat]
    return sentences(its.report(), windows=its.windows, refused=its.refused.total())


async def test_of_a_bot_that_did_well_nothing_is_said(autojump_clock: object) -> None:
    played = await mist(after(1, C3), after(1, G7), max_turns=4, measure=lambda _: NOTHING)
    assert [[], []] == [said(played, seat) for seat in (0, 1)]
    assert 1_000_000 == played.match.seats[0].report().worst_us


async def test_late_answers_are_counted_and_the_worst_is_named(autojump_clock: object) -> None:
    policy = Policy(main_ms=500, reserve_ms=0)
    played = await mist(after(0.7, C3), after(0.1, G7), max_turns=6, policy=policy, measure=lambda _: NOTHING)
    assert ["3 of 3 windows late, worst 200 ms"] == said(played)


async def test_windows_without_an_answer_are_counted(autojump_clock: object) -> None:
    played = await mist(silent, after(0.1, G7), max_turns=4, measure=lambda _: NOTHING)
    assert ["2 of 2 windows unanswered"] == said(played)


@pytest.mark.parametrize(
    ("cpu_us", "how"),
    [
        (None, ""),
        (20_000, ": it waited (0.0 s of processor time)"),
        (29_800_000, ": it used its processor all the time (29.8 s)"),
        (9_000_000, ": it used 9.0 s of processor time in 29.9 s"),
    ],
)
def test_of_a_bot_that_did_not_answer_it_is_said_whether_it_computed(cpu_us: int | None, how: str) -> None:
    """A loop without end wants another remedy than a message that was never waited for."""
    hung = SeatReport(unanswered=3, cpu_us=cpu_us, spread=spread_of([10_000_000] * 3))
    assert [f"3 of 3 windows unanswered{how}"] == sentences(hung, windows=3, refused=0)


def test_of_a_bot_that_prints_more_than_is_kept_it_is_said_only_if_it_did_not_answer_in_time() -> None:
    printed = SeatReport(unlogged_bytes=3 << 19)
    hung = msgspec.structs.replace(printed, unanswered=3)
    assert [] == sentences(printed, windows=3, refused=0)
    assert ["it printed 1.5 MB more than its log keeps, and waited until that was read"] == sentences(
        hung, windows=3, refused=0
    )[1:]
    assert [] == sentences(msgspec.structs.replace(hung, unlogged_bytes=60_000), windows=3, refused=0)[1:]
    assert 3 << 20 == summed([hung, printed]).unlogged_bytes


def test_of_a_bot_that_asks_for_the_default_what_it_wrote_last_is_said() -> None:
    """With `on_error` the kit asks for it, and writes last what the bot raised."""
    error = "kit: the bot raised 9 times, at last KeyError: 'x'"
    asks = SeatReport(asked_default=9, last_line=error)
    quoted = ["asked for the default in 9 of 10 windows", f"last line: {error}"]
    assert quoted == sentences(asks, windows=10, refused=0)
    assert quoted == sentences(summed([asks, SeatReport(loss="killed", last_line="?")]), windows=10, refused=0)
    assert [] == sentences(asks, windows=100, refused=0)


def test_answers_that_come_after_their_windows_were_given_up_are_told_from_none() -> None:
    """A bot that is far too slow is not one that hangs."""
    slow = SeatReport(unanswered=21, refused_late=7)
    assert ["21 of 21 windows unanswered", "7 messages came later still"] == sentences(slow, windows=21, refused=7)
    mixed = SeatReport(late=2, worst_late_us=9_000, unanswered=1, refused_late=3)
    assert "1 message came later still" == sentences(mixed, windows=21, refused=3)[-1]


async def test_refusals_are_told_as_the_bot_was_told_them_the_most_frequent_first(autojump_clock: object) -> None:
    async def wrong(bot: Bot, window: Opened) -> None:
        for cell in ("J9", "J9", "C3"):
            bot.submit(window.id, {"cells": [cell] * (1 if cell == "J9" else 9)})
        bot.submit(window.id, None, final=True)

    played = await mist(answering(wrong), after(1, G7), max_turns=4)
    report = played.match.seats[0].report()
    assert 4 == report.complaints[0].times
    refused, asked = said(played)
    assert refused.startswith("6 messages refused: ")
    assert "J9" in refused
    assert "(4 times)" in refused
    assert "after a refusal the default in 2 of 2 windows" == asked


async def test_a_flood_of_other_refusals_does_not_hide_the_most_frequent(autojump_clock: object) -> None:
    """A bot that first names 150 wrong cells, each once, and then one of them 20 times."""

    async def wrong(bot: Bot, window: Opened) -> None:
        for name in [*(f"wrong{number}" for number in range(150)), *["J9"] * 20]:
            bot.submit(window.id, {"cells": [name]})
        bot.submit(window.id, None, final=True)

    policy = Policy(messages_per_window=1_000)
    played = await mist(answering(wrong), after(1, G7), max_turns=2, policy=policy)
    first = played.match.seats[0].report().complaints[0]
    assert "J9" in first.text
    assert 20 == first.times


async def test_a_default_that_is_chosen_after_an_illegal_action_counts_as_asked_for(
    autojump_clock: object,
) -> None:
    """So the kit plays on for a bot that is always wrong."""

    async def falls_back(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, {"cells": ["J9"]})
        bot.submit(window.id, window.default)

    async def likes_it(bot: Bot, window: Opened) -> None:
        bot.submit(window.id, window.default)

    played = await mist(answering(falls_back), answering(likes_it), max_turns=4)
    assert [2, 0] == [seat.report().asked_default for seat in played.match.seats]


@pytest.mark.parametrize(
    ("exit_code", "why", "text"),
    [(1, "killed: memory over 64 MB", "killed: memory over 64 MB"), (3, None, "it ended with exit code 3")],
)
async def test_a_lost_bot_has_its_cause(
    autojump_clock: object, exit_code: int, why: str | None, text: str
) -> None:
    async def dies(bot: Bot) -> None:
        bot.hello()
        await bot.hear_a(Opened)
        await (holder[0].left(0, exit_code) if why is None else holder[0].left(0, exit_code, why))

    holder: list[Host] = []
    played = set_up(2, options={"first": 0, "max_turns": 4})
    holder.append(played.host)
    await play(played, [dies, after(1, G7)])
    assert [text] == said(played)


async def test_who_says_no_hello_is_told_how_long_it_had(autojump_clock: object) -> None:
    played = await mist(hear_out, silent, policy=Policy(startup_ms=1_500))
    assert ["no hello in 1.5 s"] == said(played)


def test_percentiles_of_many_matches_are_right_to_five_percent() -> None:
    spread = merged([spread_of(range(1_000, 51_000, 10)), spread_of(range(51_000, 101_000, 10))])
    for share in (0.5, 0.99):
        assert share * 100_000 == pytest.approx(percentile(spread, share), rel=0.07)
    assert percentile({}, 0.5) is None


@pytest.mark.parametrize("key", ["", "abc", "-1", "1e5", "1000", "5\n", "\u0663", "9" * 5_000])
def test_a_forged_spread_is_no_report(key: str) -> None:
    """Or `percentile` would fail on it."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"spread": {key: 1}}, SeatReport)


def test_the_longest_and_the_shortest_time_are_in_a_report() -> None:
    report = SeatReport(spread=spread_of([0, LARGEST]))
    read = msgspec.json.decode(msgspec.json.encode(report), type=SeatReport)
    assert LARGEST == pytest.approx(percentile(read.spread, 1), rel=0.07)


def test_all_at_once_reads_in_the_order_of_weight() -> None:
    report = SeatReport(
        loss="it ended by itself, exit code 1",
        restarts=1,
        late=3,
        worst_late_us=406_000,
        complaints=(Complaint("illegal", "unknown cell J9", 1),),
        last_line="ValueError: J9 (bot.py:21)",
    )
    assert [
        "it ended by itself, exit code 1",
        "started again once",
        "3 of 19 windows late, worst 406 ms",
        "2 messages refused: unknown cell J9 (once); others (once)",
        "last line: ValueError: J9 (bot.py:21)",
    ] == sentences(report, windows=19, refused=2)
