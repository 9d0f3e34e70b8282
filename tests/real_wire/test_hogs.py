"""Bots that keep the referee as busy as they can: they alone pay for it, and no match is void by them."""

from pathlib import Path

import pytest
import trio

from protocol.refusals import Conduct
from referee.bot_folder.manifest import find_bot
from referee.host.one_match import play
from referee.host.plan import Result
from referee.host.players import SandboxedBot
from referee.sandbox.host_machine import Isolation
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from tests.builders.plans import mist_plan
from tests.real_wire.zoo import HOGS, bad_bot


async def against(name: str, folder: Path, isolation: Isolation, main_ms: int, windows: int) -> Result:
    """A match of a hog, which moves first, under the default policy: by it a void match is played again."""
    plan = mist_plan(2 * windows, policy={"main_ms": main_ms, "startup_ms": 10_000}, isolation=isolation)
    players = [SandboxedBot(bad_bot(folder, name)), SandboxedBot(find_bot("mist_random"))]
    return await play(plan, players, transcript=folder / "match.jsonl")


@pytest.mark.parametrize(
    ("main_ms", "windows"), [(300, 2), (1_000, 2), pytest.param(8_000, 1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", HOGS)
async def test_who_makes_the_referee_late_pays_for_it_and_nobody_else_does(
    name: str, main_ms: int, windows: int, isolation: Isolation, tmp_path: Path
) -> None:
    with trio.fail_after(120):
        result = await against(name, tmp_path, isolation, main_ms, windows)
    assert result.void is None
    assert {"bot": windows} == result.verdicts[0]
    assert (windows, 0) == result.defaults
    assert ({}, Conduct.OK, 0) == (result.verdicts[1], result.conduct[1], result.refused[1])
    assert result.charged_us[1] < windows * 1_000 * main_ms / 2
    assert replay(read_transcript(Path(result.transcript))).match.over
