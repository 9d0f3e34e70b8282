"""The bots that the documentation shows, in their sandboxes, over the real wire."""

from pathlib import Path

import pytest
import trio
from msgspec import Raw

from protocol.refusals import Conduct
from referee.bot_folder.manifest import find_bot
from referee.host.one_match import play
from referee.host.plan import Plan
from referee.host.players import SandboxedBot
from tests.bots.in_process import MIST_VARIANTS
from tests.docs_pages import blocks


def shown_bot(info: str, folder: Path) -> SandboxedBot:
    """The bot of a page, made as its reader would make it."""
    folder.mkdir()
    (folder / "bot.py").write_text(blocks(info)[0].text)
    (folder / "bot.toml").write_text(next(toml.text for toml in blocks("toml bot") if "bot.py" in toml.text))
    return SandboxedBot(find_bot(str(folder)))


@pytest.mark.parametrize("variant", MIST_VARIANTS)
async def test_the_ten_line_bot_and_the_one_without_the_kit_play_a_match(variant: str, tmp_path: Path) -> None:
    players = [shown_bot(f"python {name} bot", tmp_path / name.replace("-", "_")) for name in ("ten-line", "bare")]
    plan = Plan(match="docs", game="mist", variant=variant, seed=3, options=Raw(b'{"max_turns":10}'))
    with trio.fail_after(120):
        result = await play(plan, players, transcript=tmp_path / "match.jsonl")
    assert ((Conduct.OK, Conduct.OK), (0, 0)) == (result.conduct, result.defaults)
    assert 10 <= sum(result.windows)
