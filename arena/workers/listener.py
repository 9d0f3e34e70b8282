"""The port for bots on their authors' own machines, and what people read of who comes and goes there."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack

from msgspec import Struct

from arena.errors import MachineCannot
from arena.terminal import Screen
from referee.host import RemoteBot
from referee.log import SILENT, Logger
from referee.wire import Address, KeyPair, Lobby, open_lobby, z85

TURNED_AWAY_SHOWN = 20
"""The most refused connections that are shown: strangers may not fill the host's screen."""
LOGGED_CONNECTIONS = 200
"""The most connections and disconnections of one bot that are told: a bot may do nothing else."""


class Hosting(Struct, frozen=True):
    """Where and how long bots are waited for."""

    address: Address
    keys: KeyPair
    """The host's own."""
    wait_seconds: float


async def open_listener(
    hosting: Hosting,
    bots: Sequence[RemoteBot],
    screen: Screen,
    stack: AsyncExitStack,
    *,
    option: str,
    log: Logger = SILENT,
    barred: Collection[str] = (),
    stands: bool = False,
    came: Callable[[RemoteBot, bool], None] = lambda _bot, _is_here: None,
) -> Lobby:
    """Listens for bots.

    Args:
        hosting: where.
        bots: who may come.
        screen: for people.
        stack: ends it.
        option: that names another address.
        log: the operator's.
        barred: keys of those bots that may not come any more.
        stands: whether match after match is played over a line.
        came: told of bots that come (True) or leave, of each the first `LOGGED_CONNECTIONS`.

    Raises:
        MachineCannot: the port cannot be had.
    """
    named = {bot.key: bot for bot in bots}
    shown = 0
    logged: Counter[str] = Counter()
    told: set[tuple[str, str]] = set()

    def turned_away(address: str, why: str) -> None:
        nonlocal shown
        if (address, why) in told:
            return  # An author whose key is not known yet knocks again and again.
        shown += 1
        if shown <= TURNED_AWAY_SHOWN:
            screen.say(f"refused {address}: {why}{'; further ones are not shown' * (shown == TURNED_AWAY_SHOWN)}")
            log.warning("turned_away", address=address, reason=why)
            told.add((address, why))

    def tell_came(key: str, is_here: bool) -> None:
        logged[key] += 1
        if logged[key] <= LOGGED_CONNECTIONS:
            log.info("remote_connected" if is_here else "remote_disconnected", bot=named[key].name)
            came(named[key], is_here)

    address = hosting.address
    opening = open_lobby(address, hosting.keys, named, turned_away, tell_came, barred=barred, stands=stands)
    try:
        lobby = await stack.enter_async_context(opening)
    except OSError as error:
        where = address.endpoint(address.port)
        raise MachineCannot(f"{where}: cannot listen there: {error.strerror or error}") from None
    reach = f" (only from this machine: another {option} opens it)" if address.loopback else ""
    log.info("listening", endpoint=lobby.endpoint)
    screen.say(f"listening at {lobby.endpoint}{reach}, key {z85(hosting.keys.public)}")
    return lobby
