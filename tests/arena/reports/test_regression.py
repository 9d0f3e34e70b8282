"""Reports of regression tests: lines, a table, Markdown and JSON."""

from io import StringIO
from math import inf
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.regression.model import Regression, State, UsageFinding
from arena.regression.options import RegressionOptions, regression_of
from arena.regression.run import Finding
from arena.reports.files import escaped
from arena.reports.regression import (
    elo,
    finding_json,
    finding_lines,
    finding_markdown,
    finding_table,
    head_lost,
    headline_of,
    hypotheses_text,
    usage_text,
    verdict_text,
)
from arena.statistics.anytime import AnytimeProgress, UsageLimit, UsageState
from arena.statistics.sprt import SprtState, SprtVerdict
from arena.statistics.standings import Score, StandingsRow
from arena.statistics.summary import BotReport, Loss
from arena.terminal import Screen, json_line, show
from referee.match.terms import Policy

WON = SprtState(SprtVerdict.ACCEPTED, 10, 3.1, (0, 1, 2, 3, 4))
"""Each block has 1.5 of 2 points: a mean difference of half a point per match."""
ALL_LOST = SprtState(SprtVerdict.REJECTED, 4, -3.0, (4, 0, 0, 0, 0))
ERROR = "SyntaxError: invalid syntax (bot.py:21)"
NEVER = BotReport(
    matches=14,
    lost=14,
    losses=(Loss(cause=ERROR, never_started=True, matches=14, last_line=ERROR, log="m.log"),),
    log="m.log",
)
LEVEL = AnytimeProgress(SprtVerdict.UNDECIDED, 7, -0.00001, 1.5, 0.25)


def two(**given: Any) -> Regression:
    return regression_of(
        RegressionOptions(game="mist", base="mist_random", head="mist_hunter", policy=Policy(), **given)
    )


def many(**given: Any) -> Regression:
    bots: dict[str, Any] = {"base": "any_random", "head": "runes_to_ruins_seeker"}
    return regression_of(RegressionOptions(game="runes-to-ruins", policy=Policy(), **bots, **given))


def found(state: State, entrants: int = 2, **given: Any) -> Finding:
    lines = tuple(
        StandingsRow(entrant=entrant, played=20, wins=10, ties=4, losses=6, points=12, windows=4, charged_us=8_000)
        for entrant in range(entrants)
    )
    whole: dict[str, Any] = {
        "blocks": state.blocks,
        "mean": 0.5,
        "interval": (0.25, 0.75),
        "standings": lines,
        "reports": (BotReport(),) * entrants,
        "voids": [],
        "lost": [],
        "seconds": 2.0,
        "seed": 9,
    }
    return Finding(state=state, **whole | given)


def table(regression: Regression, finding: Finding) -> list[str]:
    screen = Screen(file=StringIO(), width=200)
    show(screen, finding_table(regression, finding))
    assert isinstance(screen.file, StringIO)
    return [" ".join(line.split()) for line in screen.file.getvalue().splitlines()]


class TestLines:
    def test_with_two_seats_they_show_verdict_hypotheses_evidence_counts_and_elo(self) -> None:
        assert [
            "head wins 10 of 20 and draws 4; between +89 and +338 Elo",
            "accepted: head is better, after 20 of at most 80,000 matches",
            "H0: +0 Elo, H1: +20 Elo (normalized); alpha 0.05, beta 0.05",
            "LLR 3.10 (-2.94 to 2.94), 15 of 20 points",
            "blocks with 0, 0.5, 1, 1.5 and 2 points: 0, 1, 2, 3, 4",
            "Elo +190.8 (95 % interval: +88.7 to +338.0, logistic)",
        ] == finding_lines(two(), found(WON))

    def test_with_more_seats_they_show_a_difference_of_points(self) -> None:
        assert [
            "head gets 0.600 points a match, base 0.600; between +0.250 and +0.750",
            "undecided, after 70 of at most 300 matches",
            "H0: a mean difference of at most +0 points a match, H1: of at least +0.05; alpha 0.05, beta 0.1",
            "e-values 1.5 for (accepted at 20) and 0.25 against (rejected at 10), mean difference +0.000",
            "difference +0.000 points a match (95 % interval: +0.250 to +0.750)",
        ] == finding_lines(many(blocks=30, beta=0.1), found(LEVEL, 3, mean=-0.00001))

    def test_elo_has_no_number_if_everything_was_lost(self) -> None:
        said = finding_lines(two(), found(ALL_LOST, interval=(-1.0, 1.0), mean=-1.0))
        assert "head wins 10 of 20 and draws 4; too few matches to say how much Elo that is" == said[0]
        assert "rejected: head is not better, after 8 of at most 80,000 matches" == said[1]
        assert "Elo -inf (95 % interval: -inf to +inf, logistic)" == said[-1]

    def test_bots_that_were_kept_are_named(self) -> None:
        kept = Policy(processes="kept")
        regression = regression_of(
            RegressionOptions(game="mist", base="any_random", head="mist_hunter", policy=kept)
        )
        assert (
            "bots kept from match to match, so they may remember earlier ones: head"
            == (finding_lines(regression, found(WON))[-1])
        )

    def test_a_head_that_never_starts_is_said_behind_the_verdict(self) -> None:
        why = f"head: never started in 14 of 14 matches: {ERROR}"
        lines = finding_lines(two(), found(WON, reports=(BotReport(matches=14), NEVER)))
        assert why == lines[2]
        assert f"; {why}" == head_lost(found(WON, reports=(BotReport(), NEVER)))
        assert "" == head_lost(found(WON))
        markdown = finding_markdown(two(), found(WON, reports=(BotReport(matches=14), NEVER)))
        assert f"- {escaped(why)}\n" in markdown
        content = as_json(two(), found(WON, reports=(BotReport(matches=14), NEVER)))
        assert (0, 14) == (content["reports"]["base"]["lost"], content["reports"]["head"]["lost"])

    def test_one_match_is_one_match(self) -> None:
        lines = finding_lines(two(blocks=1), found(replace(WON, blocks=1)))
        assert "accepted: head is better, after 2 of at most 2 matches" == lines[1]


class TestTimeAndMemory:
    SLOW = UsageFinding(
        UsageLimit(resource="time", most=1.2), UsageState(verdict=SprtVerdict.REJECTED, blocks=9), (1.5, 1.4, 1.6)
    )
    SMALL = UsageFinding(
        UsageLimit(resource="memory", most=2.0),
        UsageState(verdict=SprtVerdict.ACCEPTED, blocks=7, unmeasured=2),
        (1.1, 0.0, inf),
    )
    UNKNOWN = UsageFinding(UsageLimit(resource="memory", most=2.0), UsageState(unmeasured=8), None)

    def test_each_is_said_with_its_interval_its_limit_and_its_answer(self) -> None:
        assert [
            (
                "time: head uses 1.50 times base's processor time per move (95 % interval: 1.40 to 1.60);"
                " limit 1.2: above the limit after 9 blocks"
            ),
            (
                "memory: head uses 1.10 times base's peak memory (too few blocks for an interval);"
                " limit 2: within the limit after 7 blocks; 2 blocks without a measurement"
            ),
            "memory: not measured; 8 blocks without a measurement",
        ] == list(map(usage_text, (self.SLOW, self.SMALL, self.UNKNOWN)))

    def test_the_verdict_is_that_of_all(self) -> None:
        test = two().test
        assert "accepted: head is better, within its memory limit" == verdict_text(
            test, found(WON, usage=(self.SMALL,))
        )
        fast = replace(self.SMALL, limit=UsageLimit(resource="time", most=2.0))
        assert "accepted: head is better, within its time and memory limits" == verdict_text(
            test, found(WON, usage=(fast, self.SMALL))
        )
        assert "rejected: head uses more than 1.2 times base's processor time per move" == verdict_text(
            test, found(WON, usage=(self.SMALL, self.SLOW))
        )
        assert "undecided" == verdict_text(test, found(WON, usage=(self.UNKNOWN,)))

    def test_the_json_has_each_and_no_infinity(self) -> None:
        content = as_json(two(), found(WON, usage=(self.SLOW, self.SMALL)))
        assert ("rejected", "accepted", 1.5, None) == (
            content["verdict"],
            content["strength"],
            content["time"]["ratio"],
            content["memory"]["high"],
        )

    def test_the_report_names_the_decision_on_strength_if_that_on_time_came_later(self) -> None:
        lines = finding_lines(two(slower=1.2), found(WON, blocks=12, usage=(self.SLOW,)))
        assert "strength was decided after 20 matches" in lines


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.2, 1.0), "head wins 3 of 4; at least +70 Elo"),
        ((-1.0, -0.2), "head wins 3 of 4; at most -70 Elo"),
        ((-0.2, 0.2), "head wins 3 of 4; between -70 and +70 Elo"),
        ((-1.0, 1.0), "head wins 3 of 4; too few matches to say how much Elo that is"),
    ],
)
def test_the_headline_says_which_side_is_bounded(interval: tuple[float, float], said: str) -> None:
    assert said == headline_of(two().test, (Score(), Score(played=4, wins=3, points=3)), interval)


def test_hypotheses_name_the_model_of_elo() -> None:
    assert "H0: -10 Elo, H1: +2.5 Elo (logistic); alpha 0.01, beta 0.05" == hypotheses_text(
        two(elo0=-10.0, elo1=2.5, alpha=0.01, model="logistic").test
    )


class TestTable:
    def test_two_seats_have_wins_ties_and_losses(self) -> None:
        head, _, *rows = table(two(), found(WON))
        assert "bot played W-T-L mean points faults defaults time per move" == head
        assert [
            "base (mist_random) 20 10-4-6 0.600 0 0 2.0 ms",
            "head (mist_hunter) 20 10-4-6 0.600 0 0 2.0 ms",
        ] == rows

    def test_more_seats_have_wins_and_a_row_for_each_of_the_field(self) -> None:
        head, _, *rows = table(many(), found(LEVEL, 3))
        assert "bot played wins mean points faults defaults time per move" == head
        assert "field runes_to_ruins_random 20 10 0.600 0 0 2.0 ms" == rows[2]

    def test_an_unplayed_test_has_no_mean(self) -> None:
        assert (
            "base (mist_random) 0 0-0-0 - 0 0 -"
            == (table(two(), found(WON, standings=(StandingsRow(entrant=0), StandingsRow(entrant=1))))[2])
        )

    def test_refused_messages_have_a_column_where_there_are_some(self) -> None:
        lines = (StandingsRow(entrant=0, refused=3), StandingsRow(entrant=1))
        assert "faults defaults refused time per move" in table(two(), found(WON, standings=lines))[0]


def test_markdown_escapes_what_it_shows_and_says_what_was_void() -> None:
    page = finding_markdown(two(), found(WON, voids=[(0, 1, "the disk is full")]))
    assert page.startswith("## mist (contractual-obligation): accepted: head is better\n\n- head wins 10 of 20")
    assert "- 1 void attempt replayed; 2.0 s of play; seed 9\n" in page
    assert "| head (mist_hunter) | 20 | 10-4-6 | 0.600 | 0 | 0 | 2.0 ms |\n" in page


class TestJson:
    def test_json_has_counts_and_elo_with_two_seats(self) -> None:
        found_json = as_json(two(), found(WON, voids=[(0, 1, "full")], lost=[(2, 0, "killed")]))
        assert ("accepted", "mist", 10, 40_000, 20, 9) == tuple(
            found_json[key] for key in ("verdict", "game", "blocks", "limit", "matches", "seed")
        )
        assert {"mean": 0.5, "low": 0.25, "high": 0.75} == found_json["difference"]
        assert ([0, 1, 2, 3, 4], 3.1) == (found_json["counts"], found_json["llr"])
        assert pytest.approx([-2.944, 2.944], abs=1e-3) == found_json["bounds"]
        assert 190.8 == pytest.approx(found_json["elo"]["elo"], abs=0.1)
        assert ["base", "head"] == [found_json[which]["label"] for which in ("base", "head")]
        assert ([], "full", "killed") == (
            found_json["field"],
            found_json["void"][0]["reason"],
            found_json["lost"][0]["reason"],
        )
        assert (20, 0.6, 2_000) == tuple(
            found_json["bots"][1][key] for key in ("played", "mean_points", "us_per_window")
        )

    def test_json_has_differences_of_points_with_more_seats(self) -> None:
        found_json = as_json(many(), found(LEVEL, 3))
        assert (1.5, 0.25) == (found_json["against_h0"], found_json["against_h1"])
        assert ["field runes_to_ruins_random"] == [bot["label"] for bot in found_json["field"]]
        assert not {"counts", "llr", "bounds", "elo"} & found_json.keys()
        assert 7 * many().seatings == found_json["matches"]

    def test_there_is_no_number_where_there_is_none(self) -> None:
        lines = (StandingsRow(entrant=0), StandingsRow(entrant=1))
        found_json = as_json(two(), found(ALL_LOST, interval=(-1.0, 1.0), mean=-1.0, standings=lines))
        assert {"elo": None, "low": None, "high": None} == found_json["elo"]
        assert (None, None) == (found_json["bots"][0]["mean_points"], found_json["bots"][0]["us_per_window"])


def as_json(regression: Regression, finding: Finding) -> Any:
    """Return a finding as another program reads it."""
    return msgspec.json.decode(json_line(finding_json(regression, finding)))


@pytest.mark.parametrize(
    ("difference", "expected"), [(0.0, 0.0), (0.5, 190.8), (-0.5, -190.8), (1.0, None), (-1.0, None)]
)
def test_logistic_elo_of_a_mean_difference(difference: float, expected: float | None) -> None:
    got = elo(difference)
    assert (expected is None) == (got is None)
    assert expected is None or pytest.approx(expected, abs=0.1) == got
