"""What tests of the sandbox share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.sandbox import SandboxError, find_isolation
from tests.real_wire.sandbox.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A place to start bots from."""
    lab = Lab(tmp_path)
    with lab.socket:
        yield lab


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skips where this machine has no sandbox, with its reason."""
    try:
        find_isolation()
    except SandboxError as error:
        pytest.skip(str(error))
