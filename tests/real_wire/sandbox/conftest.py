"""What tests of the sandbox share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.sandbox import missing
from referee.sandbox.host_machine import SandboxWalls
from tests.real_wire.sandbox.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    with lab.socket:
        yield lab


@pytest.fixture(params=["all walls", "all walls, warm", "namespaces alone"])
def alone(request: pytest.FixtureRequest, sandboxed: None, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether filter, Landlock and control groups are left away: the walls behind them must hold without them."""
    lab.warm = request.param.endswith("warm")
    if request.param.startswith("all walls"):
        if missing():
            pytest.skip("; ".join(missing()))
        return False
    monkeypatch.setattr("referee.sandbox.bwrap.find_layers", lambda: SandboxWalls(no_filter="", no_groups=""))
    monkeypatch.setattr("referee.sandbox.host_machine.landlock_version", lambda: 0)
    monkeypatch.setattr("referee.sandbox.process.demand", lambda _: None)
    return True
