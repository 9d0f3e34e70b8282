"""A site on which people play."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.arena.practice.people import Room, open_room


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with open_room(tmp_path / "practice") as room:
        yield room
