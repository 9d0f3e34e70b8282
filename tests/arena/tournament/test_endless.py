"""A ladder without an end, played: killed, stopped, changed, idle; it goes on as if nothing had been between."""

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from click.testing import CliRunner

from arena.commands.main import main
from arena.commands.tournament import _time_limit
from arena.config.tournament_file import read_tournament
from arena.errors import DONE, WrongUse
from arena.pages.competition import Competition
from arena.pages.words import state_of
from arena.reports.tournament import results_json
from arena.schedule.contract import blocks_so_far
from arena.schedule.fields import FieldChange
from arena.schedule.formats import format_of
from arena.statistics.standings import CountedMatch
from arena.tournament import endless, run
from arena.tournament.endless import LadderBlocks, ladder_so_far
from arena.tournament.entries import copies_of_file
from arena.tournament.ledger import Ledger
from arena.tournament.notices import Notice, Notify, no_notices
from arena.tournament.results import load_results
from arena.tournament.results_folder import LADDER, LEDGER, PAGE, PERIODS
from arena.tournament.run import FinalResults
from arena.workers.api import PlayMatch
from referee.host.plan import AttemptResult as Attempted
from referee.host.plan import Plan
from tests.arena.cups import BOT, play_cup
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_entries import Command, Host, KilledError, change, dying_after, field
from tests.builders.tournaments import write_tournament
from tests.long import mostly_slow

LADDERS = {
    "two seats": ("accuracy = 75", "period = 30", "old_versions = 1"),
    "a house": ("accuracy = 75", 'fill = "filler"'),
    "five seats": ("accuracy = 40", 'fill = "filler"', "rotations = 2"),
}
CHANGES: dict[int, tuple[Command, ...]] = {
    13: (("add", "f", "--no-check"), ("update", "a", "f2", "--no-check")),
    30: (("withdraw", "b"),),
    47: (("update", "a", "f3", "--no-check"), ("withdraw", "f")),
}


@pytest.fixture(params=LADDERS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = field(tmp_path, "ladder", ("endless = true", *LADDERS[request.param]))
    if request.param == "five seats":
        file.write_text(file.read_text().replace('"mist"', '"hive-mind"'))
        for manifest in tmp_path.glob("*/bot.toml"):
            manifest.write_text(BOT.replace("mist", "hive-mind"))
    return file


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the messages of an idle ladder; its time is then up."""
    said = list[str]()

    def why_idle(ladder: LadderBlocks) -> str:
        said.append(ladder._waves.why_idle())
        return said[-1]

    monkeypatch.setattr(LadderBlocks, "why_idle", why_idle)
    monkeypatch.setattr(run, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(endless, "EVERY", 5)
    return said


def playing(
    file: Path, play: PlayMatch[str], idle: list[str], name: str = "cup", notify: Notify = no_notices
) -> FinalResults:
    tournament = read_tournament(file, copies_of_file(file.parent / "runs" / name, withdrawn_only=True))
    idle.clear()
    return play_cup(tournament, play, time_is_up=lambda: bool(idle), notify=notify)


def in_ledger(file: Path) -> tuple[list[CountedMatch], list[FieldChange]]:
    with closing(Ledger(file.parent / "runs/cup" / LEDGER)) as ledger:
        return ledger.results(), ledger.events()


def assert_pure(file: Path) -> None:
    """Check that the file, the seed, the events and the results determine all matches."""
    results, events = in_ledger(file)
    spec = msgspec.structs.replace(read_tournament(file).spec, changes=tuple(events))
    blocks = list(blocks_so_far(format_of(spec).schedule(spec).rounds(4), results))
    expected = [(match.block, match.seating, match.entrants) for block in blocks for match in block.matches]
    assert expected == [(match.block, match.seating, match.entrants) for match in results]


def test_it_ends_idle_and_its_report_and_page_have_its_ratings(
    file: Path, idle: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = playing(file, Host(file, CHANGES), idle)
    assert "no match would improve a rating now: ratings are known to ± " in capsys.readouterr().err
    assert_pure(file)
    assert all(event.block is not None for event in in_ledger(file)[1])
    ladder = json.loads(json.dumps(results_json(found.tournament, found)["ladder"]))
    assert len(found.tournament.labels) == len(ladder)
    report = load_results(file.parent / "runs/cup" / LEDGER)
    assert report.contest is not None
    assert found.contest == report.contest
    assert report.total == len(found.played) == report.digest.matches
    assert "By the ladder&#39;s rating" in (file.parent / "runs/cup" / PAGE).read_text()


@pytest.mark.slow
@pytest.mark.parametrize("after", mostly_slow(1, [True, False]), ids=["after the write", "before the write"])
def test_killed_at_every_few_writes_it_comes_out_the_same(
    file: Path, idle: list[str], after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dozens of kills in all, while bots enter and leave; sometimes the copy on disk is gone, or of long ago."""
    host, kills, old = Host(file, CHANGES), 0, b""
    copy = file.parent / "runs/cup" / LADDER
    found = None
    while found is None:
        with monkeypatch.context() as patched:
            patched.setattr(run, "CallThread", dying_after(8 + 2 * kills, after=after))
            try:
                found = playing(file, host, idle)
            except BaseExceptionGroup as group:
                assert group.split(KilledError)[1] is None
                kills += 1
                assert kills < 100
        if kills == 2 and copy.exists():
            old = copy.read_bytes()
        if kills == 3:
            copy.unlink(missing_ok=True)
        if kills == 5 and old:
            copy.write_bytes(old)
    assert kills > 5
    assert_pure(file)
    with closing(Ledger(file.parent / "runs/cup" / LEDGER)) as ledger:
        copy.unlink(missing_ok=True)
        waves = ladder_so_far(ledger, found.tournament.spec, 4)
    assert waves.ratings() == found.contest.running


def test_stopped_and_gone_on_with_it_plays_nothing_twice(file: Path, idle: list[str]) -> None:
    first, second = Ends(idle, 20), AtOnce()
    playing(file, first, idle)
    assert 20 <= len(first.played) < 80
    overview = Competition("cup", file.parent / "runs/cup").overview()
    coming, done = overview.coming, overview.found.digest.matches
    assert f"unfinished: {done} matches" == state_of(overview).words
    assert coming
    found = playing(file, second, idle)
    seats = {match.block: sorted(match.entrants) for match in in_ledger(file)[0]}
    assert all(sorted(block.entrants) == seats[block.number] for block in coming)
    names = [plan.match for plan in (*first.played, *second.played)]
    assert len(names) == len(set(names)) == len(in_ledger(file)[0])
    assert_pure(file)
    shutil.rmtree(file.parent / "runs")
    assert found.contest == playing(file, AtOnce(), idle).contest


class Ends(AtOnce):
    """Plays so many matches; then the time is up."""

    def __init__(self, idle: list[str], after: int) -> None:
        super().__init__()
        self._idle, self._after = idle, after

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        """See `referee.host.one_match.play`."""
        if len(self.played) >= self._after:
            self._idle.append("time is up")
        return await super().__call__(plan, players, transcript=transcript)


def test_an_idle_ladder_wakes_when_a_bot_enters(tmp_path: Path, idle: list[str]) -> None:
    file = field(tmp_path, "ladder", ("endless = true", "accuracy = 75"))
    before = playing(file, AtOnce(), idle)
    again = AtOnce()
    assert before == playing(file, again, idle)
    assert [] == again.played
    assert 0 == change(file, "add", "f", "--no-check").exit_code
    after = playing(file, again, idle)
    assert after.played[: len(before.played)] == before.played
    assert all(any(player == 5 for player in match.entrants) for match in after.played[len(before.played) :][:2])


def test_each_period_leaves_its_table_and_begins_a_new_one(tmp_path: Path, idle: list[str]) -> None:
    file = field(tmp_path, "ladder", ("endless = true", "accuracy = 40", "period = 30"))
    found = playing(file, Ends(idle, 150), idle)
    folder = tmp_path / "runs/cup" / PERIODS
    periods = [json.loads(path.read_text()) for path in sorted(folder.iterdir())]
    assert [1, 2] == [each["period"] for each in periods][:2]
    assert ["a", "b", "c", "d", "e"] == sorted(row["bot"] for row in periods[0]["ladder"])
    assert 60 == sum(row["blocks"] for row in periods[0]["ladder"])
    assert {match.block // 30 for match in found.played} == {len(periods)}
    assert sum(row.played for row in found.standings) == 2 * len(found.played)


def test_a_copy_that_does_not_fit_the_ledger_is_left_aside(tmp_path: Path, idle: list[str]) -> None:
    file = field(tmp_path, "ladder", ("endless = true", "accuracy = 75"))
    found = playing(file, AtOnce(), idle)
    copy = tmp_path / "runs/cup" / LADDER
    written = json.loads(copy.read_text())
    assert written["state"]["matches"] > 10
    forged: tuple[Any, ...] = (
        {},
        [],
        written | {"version": 0},
        written | {"key": "another"},
        written | {"state": written["state"] | {"matches": 3}},
        written | {"state": written["state"] | {"head": "another"}},
        written | {"state": written["state"] | {"means": [0.5]}},
        written | {"state": written["state"] | {"fields": 9}},
    )
    for forge in forged:
        copy.write_text(json.dumps(forge))
        assert found.contest == load_results(tmp_path / "runs/cup" / LEDGER).contest
    copy.write_text(json.dumps(written))
    with closing(Ledger(tmp_path / "runs/cup" / LEDGER)) as ledger:
        kept = endless._kept_state(ledger, found.tournament.spec, 4)
    assert kept is not None
    assert written["state"]["matches"] == kept.matches


@pytest.mark.parametrize(
    ("how_long", "until", "said"),
    [
        ("2", None, "--for: '2' is not a time; give a whole number with s, m, h or d, for example 2h"),
        ("2h", "2030-01-01", "--for, --until: give one of them"),
        (None, "tomorrow", "--until: 'tomorrow' is not a time; give one such as 2026-12-24T18:00"),
        (None, "2001-01-01", "--until: 2001-01-01 is in the past: it is 20"),
    ],
)
def test_a_time_that_is_none_is_refused(how_long: str | None, until: str | None, said: str) -> None:
    with pytest.raises(WrongUse, match=said.replace("(", r"\(")):
        _time_limit(how_long, until)


async def test_times_come(autojump_clock: object) -> None:
    limits: list[Any] = [_time_limit("0s", None), _time_limit("1h", None)]
    assert [True, False] == [each() for each in limits]
    assert not _time_limit(None, "9998-01-01T00:00+02:00")()  # type: ignore[misc]
    await trio.sleep(3599)
    assert not limits[1]()
    await trio.sleep(1)
    assert limits[1]()


def test_time_goes_on_from_one_loop_to_the_next_and_stands_between_them() -> None:
    is_up: Any = _time_limit("10s", None)

    async def sleeping(seconds: float) -> list[bool]:
        before = is_up()
        await trio.sleep(seconds)
        return [before, is_up()]

    def looped(seconds: float) -> list[bool]:
        return trio.run(sleeping, seconds, clock=trio.testing.MockClock(autojump_threshold=0))

    assert [[False, False], False] == [looped(6), is_up()]
    assert [[False, True], True] == [looped(5), is_up()]


def test_a_ladder_is_played_for_as_long_as_was_asked_for(tmp_path: Path) -> None:
    """Real workers play, and the limit is checked within the arena's loop and outside of it."""
    more = 'format = "ladder"', "endless = true", 'isolation = "none"'
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", "mist_cautious"], *more)
    words = ["tournament", str(file), "--for", "1s", "--no-check", "--results", str(tmp_path / "out")]
    done = CliRunner().invoke(main, words)
    assert DONE == done.exit_code, done.output


def test_other_formats_have_an_end_of_their_own(tmp_path: Path) -> None:
    file = field(tmp_path, "round_robin")
    done = CliRunner().invoke(main, ["tournament", str(file), "--for", "2h"])
    assert "--for, --until: are for a ladder without an end; other tournaments have one" in done.stderr


def test_a_host_is_told_that_its_time_is_up_and_a_backup_goes_on_where_it_stood(
    file: Path, idle: list[str]
) -> None:
    told = list[Notice]()
    played = playing(file, Ends(idle, 60), idle, notify=told.append)
    assert [("over", len(played.played))] == [(notice.event, notice.count) for notice in told]
    assert "its time is up after " in told[0].text
    results, to = file.parent / "runs/cup", file.parent / "backup"
    done = CliRunner().invoke(main, ["backup", str(results), str(to)])
    assert DONE == done.exit_code, done.stderr
    kept = [path.relative_to(results) for path in (results / LADDER, *results.glob(f"{PERIODS}/*.json"))]
    assert kept[1:] or "period" not in file.read_text()
    assert [(results / path).read_bytes() for path in kept] == [(to / path).read_bytes() for path in kept]
    shutil.rmtree(results)
    to.rename(results)
    again = playing(file, AtOnce(), idle)
    shutil.rmtree(results)
    assert again.contest == playing(file, AtOnce(), idle).contest


def test_a_copy_of_the_moment_at_which_a_bot_enters_is_gone_on_from(tmp_path: Path, idle: list[str]) -> None:
    file = field(tmp_path, "ladder", ("endless = true", "accuracy = 75"))
    playing(file, AtOnce(), idle)
    assert 0 == change(file, "add", "f", "--no-check").exit_code
    found = playing(file, AtOnce(), idle)
    copy = tmp_path / "runs/cup" / LADDER
    written, states = json.loads(copy.read_text()), dict[int, Any]()
    with closing(Ledger(tmp_path / "runs/cup" / LEDGER)) as ledger:
        (entered,) = ledger.events()
        copy.unlink()
        ladder_so_far(
            ledger,
            found.tournament.spec,
            4,
            before_wave=lambda state: states.update({state.first: msgspec.to_builtins(state)}),
        )
        assert entered.block is not None
        copy.write_text(json.dumps(written | {"state": states[entered.block]}))
        kept = endless._kept_state(ledger, found.tournament.spec, 4)
        assert kept is not None
        assert entered.block == kept.first
        assert found.contest.running == ladder_so_far(ledger, found.tournament.spec, 4).ratings()
