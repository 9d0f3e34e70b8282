"""A bot that has ended is neither stopped nor let go on: its group is gone, and its number may be another's."""

from typing import Any

import pytest
import trio

from referee.bot_folder.manifest import Limits
from referee.sandbox.process import Process


class Box:
    """Of a bot whose program ends when told to."""

    pid = 0
    group = None
    lost = False

    def __init__(self) -> None:
        self.may_end = trio.Event()
        self.asked: list[str] = []

    def freeze(self) -> None:
        self.asked.append("freeze")

    def thaw(self) -> None:
        self.asked.append("thaw")

    def cpu_us(self) -> int:
        return 0

    async def exited(self) -> None:
        await self.may_end.wait()

    async def end(self) -> int:
        await trio.sleep(1)
        return 0


class Log:
    """Of nothing."""

    def finish(self) -> str:
        return ""


@pytest.mark.parametrize("by_itself", [True, False])
async def test_who_ends_is_let_be(autojump_clock: object, by_itself: bool) -> None:
    box: Any = Box()
    log: Any = Log()
    process = Process(box, log, Limits())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process._live)
        await trio.sleep(1)
        process.freeze()
        process.thaw()
        if by_itself:
            box.may_end.set()
        else:
            nursery.start_soon(process.kill)
        await trio.sleep(0.5)
        process.freeze()
        process.thaw()
    process.freeze()
    process.thaw()
    assert ["freeze", "thaw"] == box.asked
