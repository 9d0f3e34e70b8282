"""Reports on a seat's bot: its use of time, its losses, their sentences, and the most frequent complaints."""

from collections import Counter
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from protocol.messages import NoAction, Opened, Submit
from referee.host.host import Host
from referee.match.match import MOST_CLOSED
from referee.match.records import LARGEST, In
from referee.match.seat_report import (
    Complaint,
    Frequent,
    SeatReport,
    merged,
    percentile,
    sentences,
    spread_of,
    summed,
)
from referee.match.terms import Policy
from referee.sandbox.meter import NOTHING
from tests.referee.virtual import Bot, Played, after, answering, hear_out, mist, play, set_up, silent

C3, G7 = {"cells": ["C3"]}, {"cells": ["G7"]}


@pytest.fixture
def autojump_clock() -> trio.testing.MockClock:
    return trio.testing.MockClock(autojump_threshold=0)


def said(played: Played, seat: int = 0) -> list[str]:
    its = played.match.seats[seat]
    return sentences(its.report(), windows=its.windows, refused=its.refused.total())


async def test_a_bot_without_problems_has_no_notes(autojump_clock: object) -> None:
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
        (20_000, ": it was waiting, not computing (0.0 s of processor time)"),
        (29_800_000, ": it was computing all the time (29.8 s of processor time)"),
        (9_000_000, ": it was computing for 9.0 s of 29.9 s"),
    ],
)
def test_the_note_on_missing_answers_names_whether_the_bot_computed(cpu_us: int | None, how: str) -> None:
    """A loop without end wants another remedy than a message that was never waited for."""
    hung = SeatReport(unanswered=3, cpu_us=cpu_us, spread=spread_of([10_000_000] * 3))
    assert [f"3 of 3 windows unanswered{how}"] == sentences(hung, windows=3, refused=0)


@pytest.mark.parametrize("unanswered", [0, 3])
def test_the_note_on_discarded_output_names_its_cost(unanswered: int) -> None:
    printed = SeatReport(unlogged_bytes=3 << 19, output_wait_us=5_440_000, unanswered=unanswered)
    (*_, cost) = sentences(printed, windows=3, refused=0)
    thrown_away = "it printed 1.5 MB more than its log keeps: they were thrown away"
    assert f"{thrown_away}, and it waited for that, up to 5.4 s of its own time" == cost
    (*_, cost) = sentences(msgspec.structs.replace(printed, output_wait_us=0), windows=3, refused=0)
    assert thrown_away == cost
    little = msgspec.structs.replace(printed, unlogged_bytes=60_000)
    assert bool(unanswered) == bool(sentences(little, windows=3, refused=0))
    both = summed([printed, printed])
    assert (3 << 20, 10_880_000) == (both.unlogged_bytes, both.output_wait_us)


def test_the_note_on_a_hanging_bot_names_the_line() -> None:
    hung = SeatReport(unanswered=3, cpu_us=20_000, spread=spread_of([10_000_000] * 3), stuck_at="bot.py:4")
    where = "3 of 3 windows unanswered: it was waiting, not computing, at bot.py:4 (0.0 s of processor time)"
    assert [where] == sentences(hung, windows=3, refused=0)
    unknown = msgspec.structs.replace(hung, cpu_us=None)
    assert ["3 of 3 windows unanswered, at bot.py:4"] == sentences(unknown, windows=3, refused=0)
    assert "bot.py:4" == summed([SeatReport(), hung]).stuck_at


def test_functions_that_return_nothing_or_raise_are_distinguished_from_a_choice() -> None:
    report = SeatReport(returned_nothing=42)
    assert ["decide returned nothing in 42 of 42 windows"] == sentences(report, windows=42, refused=0)
    mixed = SeatReport(asked_default=4, returned_nothing=1, raised=3, last_line="kit: the bot raised 3 times")
    assert [
        "decide returned nothing in 1 of 42 windows",
        "decide raised an error in 3 of 42 windows",
        "its last line of output: kit: the bot raised 3 times",
    ] == sentences(mixed, windows=42, refused=0)
    assert (2, 6) == ((both := summed([mixed, mixed])).returned_nothing, both.raised)


@pytest.mark.parametrize(
    ("action", "because", "counted"),
    [
        (None, "raised", (2, 0, 2)),
        ({"cells": ["E5"]}, "returned-nothing", (0, 2, 0)),
        ({"cells": ["E5"]}, None, (0, 0, 0)),
    ],
)
async def test_the_reasons_for_a_kits_missing_actions_are_counted(
    action: Any, because: NoAction | None, counted: tuple[int, int, int], autojump_clock: object
) -> None:
    async def nothing(bot: Bot, window: Opened) -> None:
        why = UNSET if because is None else because
        bot.say(Submit(window.id, Raw(msgspec.json.encode(action)), final=True, because=why))

    played = await mist(answering(nothing), after(1, G7), max_turns=4)
    report = played.match.seats[0].report()
    assert counted == (report.asked_default, report.returned_nothing, report.raised)


async def test_withdrawn_submissions_do_not_count(autojump_clock: object) -> None:
    async def nothing(bot: Bot, window: Opened) -> None:
        bot.say(Submit(window.id, Raw(b'{"cells": ["E5"]}'), final=False, because="returned-nothing"))
        bot.submit(window.id, C3)

    played = await mist(answering(nothing), after(1, G7), max_turns=4)
    assert 0 == played.match.seats[0].report().returned_nothing


def test_the_note_on_chosen_defaults_quotes_the_bots_last_line() -> None:
    """With `on_error` the kit asks for it, and writes last what the bot raised."""
    error = "kit: the bot raised 9 times, most recently KeyError: 'x'"
    asks = SeatReport(asked_default=9, last_line=error)
    quoted = ["it chose the default in 9 of 10 windows", f"its last line of output: {error}"]
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
    assert "it chose the default after a refusal in 2 of 2 windows" == asked


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
    [(1, "killed: memory over 64 MB", "killed: memory over 64 MB"), (3, None, "it exited with code 3")],
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


async def test_the_note_on_a_missing_hello_names_the_start_up_time(autojump_clock: object) -> None:
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
        loss="it exited with code 1",
        restarts=1,
        late=3,
        worst_late_us=406_000,
        complaints=(Complaint("illegal", "unknown cell J9", 1),),
        last_line="ValueError: J9 (bot.py:21)",
    )
    assert [
        "it exited with code 1",
        "started again once",
        "3 of 19 windows late, worst 406 ms",
        "2 messages refused: unknown cell J9 (once); others (once)",
        "its last line of output: ValueError: J9 (bot.py:21)",
    ] == sentences(report, windows=19, refused=2)


REASON = "a message of 300000 bytes, more than 262144"


async def test_the_reason_for_a_closed_connection_is_the_cause_of_later_defaults(autojump_clock: object) -> None:
    """It is no refused message: nothing was understood of it. A replay comes to the same."""

    async def is_cut_off(bot: Bot) -> None:
        bot.hello()
        await bot.hear_a(Opened)
        for _ in range(MOST_CLOSED + 10):
            played.host.cut_off(0, REASON)
        await played.host.left(0, 3)

    played = set_up(2, options={"first": 0, "max_turns": 4})
    await play(played, [is_cut_off, after(1, G7)])
    seat = played.match.seats[0]
    assert f"its connection was closed: {REASON}; it exited with code 3" == seat.report().loss
    assert 0 == seat.refused.total()
    recorded = [each for each in played.records if isinstance(each, In) and each.closed]
    assert MOST_CLOSED == len(recorded), "a bot that comes again and again does not fill the transcript"
    assert {(0, REASON, "")} == {(each.seat, each.closed, each.frame) for each in recorded}


def test_a_closed_connection_of_a_bot_that_stays_is_reported() -> None:
    report = SeatReport(closed_for=REASON, unanswered=2)
    assert [f"its connection was closed: {REASON}", "2 of 2 windows unanswered"] == sentences(
        report, windows=2, refused=0
    )
    assert REASON == summed([SeatReport(), report]).closed_for


MOST = 4
ADDED = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)))


@given(ADDED)
def test_frequent_items_are_never_lost_and_no_count_is_too_high(
    added: list[tuple[int, int]],
) -> None:
    counts: Counter[int] = Counter()
    frequent = Frequent[int](MOST)
    for item, times in added:
        counts[item] += times
        frequent.add(item, times)
    kept = dict(frequent.most_common())
    part = counts.total() / MOST
    assert len(kept) <= MOST
    assert all(item in kept for item in counts if counts[item] > part)
    assert all(counts[item] - part <= kept[item] <= counts[item] for item in kept)
    if len(counts) <= MOST:
        assert counts.most_common() == frequent.most_common()
