"""A server for each test."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.arena.submissions.servers import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with closing(Server(tmp_path / "server")) as server:
        yield server
