"""The ledger's times never go back, and it is said when the machine's clock did."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.schedule.fields import Extended, Withdrawn
from arena.sqlite_file import RecordClock, uptime
from arena.terminal import say
from arena.tournament.ledger import Ledger
from tests.arena.ledgers import OpenLedger

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


class Machine:
    """Its clock, and how long it runs."""

    def __init__(self) -> None:
        self.wall, self.up = NOON, timedelta(0)
        self.said: list[str] = []

    def clock(self, latest: str | None = None) -> RecordClock:
        return RecordClock(latest, wall=lambda: self.wall, elapsed=lambda: self.up, tell=self.said.append)

    def passes(self, seconds: float, *, set_by: float = 0) -> None:
        self.up += timedelta(seconds=seconds)
        self.wall += timedelta(seconds=seconds + set_by)


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_a_clock_that_is_set_back_is_told_once_and_times_go_on_at_their_pace(machine: Machine) -> None:
    clock = machine.clock()
    assert "2026-11-01T12:00:00.000+00:00" == clock.now()
    machine.passes(5, set_by=-7200)
    assert "2026-11-01T12:00:05.000+00:00" == clock.now()
    machine.passes(5)
    assert "2026-11-01T12:00:10.000+00:00" == clock.now()
    (said,) = machine.said
    assert said.startswith(
        "this machine's clock was set back: it shows 2026-11-01T10:00:05.000+00:00, and the ledger's last time is"
        " 2026-11-01T12:00:00.000+00:00; "
    )
    machine.passes(1, set_by=7200)
    assert "2026-11-01T12:00:11.000+00:00" == clock.now()
    machine.passes(1, set_by=-60)
    clock.now()
    assert 2 == len(machine.said)


def test_a_clock_that_is_set_back_a_little_stops_until_it_is_caught_up(machine: Machine) -> None:
    clock = machine.clock()
    clock.now()
    machine.passes(1, set_by=-3)
    assert "2026-11-01T12:00:00.000+00:00" == clock.now()
    machine.passes(4)
    assert ("2026-11-01T12:00:02.000+00:00", []) == (clock.now(), machine.said)


def test_a_clock_that_is_set_on_is_followed(machine: Machine) -> None:
    clock = machine.clock("2026-11-01T11:00:00.000+00:00")
    machine.passes(1, set_by=3600)
    assert ("2026-11-01T13:00:01.000+00:00", []) == (clock.now(), machine.said)


@pytest.mark.parametrize(
    "latest", ["yesterday", "", "2026-11-01T13:00:00", "9999-12-31T23:59:59.999+00:00", "x" * 10**6]
)
def test_the_clock_does_not_continue_from_an_unusable_time(machine: Machine, latest: str) -> None:
    assert "2026-11-01T12:00:00.000+00:00" == machine.clock(latest).now()


def test_a_ledger_goes_on_from_its_last_time_after_a_restart_with_a_wrong_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], open_ledger: OpenLedger
) -> None:
    """A machine whose battery is empty starts in 1970."""
    ledger = open_ledger(tmp_path / "l")
    first = ledger.change(lambda *_: Extended(blocks=3))
    ledger.close()
    monkeypatch.setattr(
        RecordClock.__init__,
        "__kwdefaults__",
        {
            "wall": lambda: datetime(1970, 1, 1, tzinfo=UTC),
            "elapsed": uptime,
            "tell": say,
        },
    )
    with closing(Ledger(tmp_path / "l")) as again:
        second = again.change(lambda *_: Withdrawn(entrant=1))
    assert first.at <= second.at
    assert "clock was set back: it shows 1970-01-01T00:00:00.000+00:00" in capsys.readouterr().err
