"""Lets bots on other machines connect, waits until all are connected, and plays their match."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import trio
from msgspec import Struct

from arena.errors import AnswerIsNo, MachineCannot
from arena.live.single_match import Watch
from arena.terminal import Screen, progress_console
from referee.host import Plan, Player, Publish, RemoteBot, Result, play
from referee.log import SILENT, Logger
from referee.unwrapped import unwrapped
from referee.wire import Address, KeyPair, Lobby, open_lobby, z85

TURNED_AWAY_SHOWN = 20
"""The most refused connections that are shown: strangers may not fill the host's screen."""
LOGGED_CONNECTIONS = 200
"""The most connections and disconnections of bots that are logged: a bot may do nothing else."""
LOOK_SECONDS = 1.0


class Hosting(Struct, frozen=True):
    """Where and how long bots are waited for."""

    address: Address
    keys: KeyPair
    """The host's own."""
    wait_seconds: float


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
    """Plays a match with all that `referee.host.one_match.play` does, once the bots of remote seats are here.

    Raises:
        AnswerIsNo: somebody did not come in time.
        MachineCannot: the port cannot be had.
    """
    screen = progress_console()
    awaited = [player for player in players if isinstance(player, RemoteBot)]
    with unwrapped():
        async with AsyncExitStack() as stack:
            lobby = await _open(hosting, awaited, screen, stack, log)
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


async def _open(
    hosting: Hosting, bots: Sequence[RemoteBot], screen: Screen, stack: AsyncExitStack, log: Logger
) -> Lobby:
    names = {bot.key: bot.name for bot in bots}
    shown = logged = 0

    def turned_away(address: str, why: str) -> None:
        nonlocal shown
        shown += 1
        if shown <= TURNED_AWAY_SHOWN:
            screen.say(f"turned away {address}: {why}{'; more are not told' * (shown == TURNED_AWAY_SHOWN)}")
            log.warning("turned_away", address=address, reason=why)

    def came(key: str, is_here: bool) -> None:
        nonlocal logged
        logged += 1
        if logged <= LOGGED_CONNECTIONS:
            log.info("remote_connected" if is_here else "remote_disconnected", bot=names[key])

    address = hosting.address
    try:
        lobby = await stack.enter_async_context(open_lobby(address, hosting.keys, names, turned_away, came))
    except OSError as error:
        where = address.endpoint(address.port)
        raise MachineCannot(f"{where}: cannot listen there: {error.strerror or error}") from None
    reach = " (only from this machine: another --at opens it)" if address.loopback else ""
    log.info("listening", endpoint=lobby.endpoint)
    screen.say(f"listening at {lobby.endpoint}{reach}, key {z85(hosting.keys.public)}")
    return lobby


async def _gather(lobby: Lobby, bots: Sequence[RemoteBot], seconds: float, screen: Screen) -> None:
    """Returns when all are connected at once."""
    until = trio.current_time() + seconds
    here: set[str] = set()
    with screen.status("") as status:
        while missing := [bot for bot in bots if not lobby.lines[bot.key].connected]:
            here = _tell_changes(here, {bot.name for bot in bots if bot not in missing}, screen)
            names = ", ".join(bot.name for bot in missing)
            left = until - trio.current_time()
            if left <= 0:
                raise AnswerIsNo(f"{names} did not come within {seconds:.0f} s")
            status.update(screen.render_str(f"waiting for {names}: {left:.0f} s left"))
            with trio.move_on_after(min(LOOK_SECONDS, left)):
                await lobby.lines[missing[0].key].present()
    _tell_changes(here, {bot.name for bot in bots}, screen)


def _tell_changes(before: set[str], now: set[str], screen: Screen) -> set[str]:
    for name in sorted(now - before):
        screen.say(f"{name} is here")
    for name in sorted(before - now):
        screen.say(f"{name} has left again")
    return now
