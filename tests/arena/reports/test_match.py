"""What `arena match` says of a match: refused messages, and where to read what a bot wrote."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.reports.matches import match_json, show_match
from protocol.refusals import Conduct
from referee.host.plan import AttemptResult, Plan
from referee.match.seat_report import SeatReport, spread_of
from tests.arena.stand_in import outcome, result

PLAN = Plan(match="m", game="mist", variant="contractual-obligation", seed=1)
NAMES = ("anna", "ben")


def ended(folder: Path) -> AttemptResult:
    """Ben has crashed, and both wrote something."""
    for log in ("m.seat-0.log", "m.seat-1.log", "m.seat-1.start-2.log"):
        (folder / log).write_text("hm")
    return replace(
        result(PLAN, NAMES, folder / "m.jsonl"),
        outcome=outcome((0,), (1,)),
        conduct=(Conduct.OK, Conduct.CRASHED),
        refused=(0, 3),
        reports=(SeatReport(), SeatReport(loss="killed: memory over 64 MB", last_line="[red]building")),
    )


def test_the_table_tells_how_many_messages_were_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_match(ended(tmp_path), NAMES)
    heading, _, *rows = capsys.readouterr().out.splitlines()
    place = heading.split().index("refused")
    assert ["0", "3"] == [row.split()[place] for row in rows[:2]]


def test_the_reason_for_a_lost_bot_is_shown_with_its_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_match(ended(tmp_path), NAMES)
    logs = "; ".join(f"log: {tmp_path}/{log}" for log in ("m.seat-1.log", "m.seat-1.start-2.log"))
    why = "killed: memory over 64 MB; 3 messages refused; its last line of output: [red]building"
    assert f"ben, seat 1: {why}; {logs}" in capsys.readouterr().out.splitlines()


def test_the_json_names_every_log_by_seat(tmp_path: Path) -> None:
    found = match_json(ended(tmp_path))
    assert [["m.seat-0.log"], ["m.seat-1.log", "m.seat-1.start-2.log"]] == [
        [Path(log).name for log in logs] for logs in found["logs"]
    ]
    assert (0, 3) == tuple(found["refused"])


def test_scores_and_prizes_of_a_game_have_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    detail = {"claims": {"Mercy": {"seat": 1, "round": 3}}, "connected": {"0": 4, "1": 5}, "rounds": [1], "9": {}}
    its_outcome = replace(outcome((1,), (0,)), scores={"0": 3}, tokens={"1": 2}, detail=detail)
    show_match(replace(ended(tmp_path), outcome=its_outcome), NAMES)
    heading, _, first, second = capsys.readouterr().out.splitlines()[:4]
    assert ["seat", "bot", "place", "score", "tokens", "connected", "title", "conduct"] == heading.split()[:8]
    assert ["0", "anna", "2", "3", "-", "4", "-", "ok"] == first.split()[:8]
    assert ["1", "ben", "1", "-", "2", "5", "Mercy", "crashed"] == second.split()[:8]


def test_usage_of_bots_is_shown_on_demand_and_always_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    used = SeatReport(spread=spread_of([2_000]), worst_us=2_100, cpu_us=3_000, peak_bytes=34 << 20)
    match = replace(ended(tmp_path), reports=(used, SeatReport()))
    show_match(match, NAMES)
    assert "peak memory" not in capsys.readouterr().out
    show_match(match, NAMES, usage=True)
    rows = [line.split() for line in capsys.readouterr().out.split("peak memory")[1].splitlines()[2:4]]
    assert [["anna", "2.0", "ms", "2.0", "ms", "2.1", "ms", "3.0", "ms", "34", "MB"], ["ben", *"-----"]] == rows
    assert [34 << 20, None] == [seat["peak_bytes"] for seat in match_json(match)["usage"]]


def test_the_json_says_what_went_wrong_in_words(tmp_path: Path) -> None:
    why = ["killed: memory over 64 MB", "3 messages refused", "its last line of output: [red]building"]
    assert [[], why] == match_json(ended(tmp_path))["said"]
