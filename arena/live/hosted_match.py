"""Lets bots on other machines connect, waits until all are connected, and plays their match."""

from collections.abc import Sequence
from pathlib import Path

import trio

from arena.errors import AnswerIsNo
from arena.live.single_match import Watch
from arena.terminal import Screen, progress_console
from arena.workers import Hosting, open_listener
from referee.host import Plan, Player, Publish, RemoteBot, Result, play
from referee.linux.shortage import unwrapped
from referee.log import SILENT, Logger
from referee.wire import Lobby

LOOK_SECONDS = 1.0


async def play_hosted(
    hosting: Hosting,
    plan: Plan,
    players: Sequence[Player],
    *,
    transcript: Path,
    watch: Watch | None,
    operator: trio.MemoryReceiveChannel[bool] | None,
    publish: Publish | None = None,
    log: Logger = SILENT,
) -> Result:
    """Play a match as `referee.host.one_match.play` does, once the bots of remote seats are connected.

    Raises:
        AnswerIsNo: a bot did not connect in time.
        MachineCannot: the port is not available.
    """
    screen = progress_console()
    awaited = [player for player in players if isinstance(player, RemoteBot)]
    with unwrapped():
        async with open_listener(hosting, awaited, screen, option="--at", log=log) as lobby:
            await _gather(lobby, awaited, hosting.wait_seconds, screen)
            return await play(
                plan,
                players,
                transcript=transcript,
                watch=watch,
                operator=operator,
                remote=lobby.lines,
                publish=publish,
                log=log,
            )


async def _gather(lobby: Lobby, bots: Sequence[RemoteBot], seconds: float, screen: Screen) -> None:
    """Wait until all bots are connected at the same time."""
    until = trio.current_time() + seconds
    here: set[str] = set()
    with screen.status("") as status:
        while missing := [bot for bot in bots if not lobby.lines[bot.key].connected]:
            here = _tell_changes(here, {bot.name for bot in bots if bot not in missing}, screen)
            names = ", ".join(bot.name for bot in missing)
            left = until - trio.current_time()
            if left <= 0:
                raise AnswerIsNo(f"{names} did not connect within {seconds:.0f} s")
            status.update(screen.render_str(f"waiting for {names}: {left:.0f} s left"))
            with trio.move_on_after(min(LOOK_SECONDS, left)):
                await lobby.lines[missing[0].key].present()
    _tell_changes(here, {bot.name for bot in bots}, screen)


def _tell_changes(before: set[str], now: set[str], screen: Screen) -> set[str]:
    for name in sorted(now - before):
        screen.say(f"{name} is connected")
    for name in sorted(before - now):
        screen.say(f"{name} is disconnected")
    return now
