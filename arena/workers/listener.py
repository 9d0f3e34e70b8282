"""The port for remote bots on their authors' machines, with messages about connections to it."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct

from arena.errors import MachineCannot
from arena.terminal import Screen
from referee.host import RemoteBot
from referee.log import SILENT, Logger
from referee.wire import Address, KeyPair, Lobby, open_lobby, z85

TURNED_AWAY_SHOWN = 20
"""Maximum number of refused connections that are shown, so that strangers cannot fill the host's screen."""
LOGGED_CONNECTIONS = 200
"""Maximum number of reported connections and disconnections per bot, in case a bot reconnects all the time."""


class Hosting(Struct, frozen=True):
    """The address and keys of the port, and the time to wait for remote bots."""

    address: Address
    keys: KeyPair
    """The host's own keys."""
    wait_seconds: float


@asynccontextmanager
async def open_listener(
    hosting: Hosting,
    bots: Sequence[RemoteBot],
    screen: Screen,
    *,
    option: str,
    log: Logger = SILENT,
    barred: Collection[str] = (),
    stands: bool = False,
    came: Callable[[RemoteBot, bool], None] = lambda _bot, _is_here: None,
) -> AsyncIterator[Lobby]:
    """Open a port for remote bots, and close it when the context exits.

    Args:
        hosting: Address and keys of the port.
        bots: Bots that may connect.
        screen: Terminal for messages to people.
        option: Command-line option that sets another address; shown to people.
        log: Operator's log.
        barred: Keys of those bots that may no longer connect.
        stands: Whether a connection is used for match after match.
        came: Called when a bot connects (True) or disconnects (False), `LOGGED_CONNECTIONS` times per bot at most.

    Raises:
        MachineCannot: the port cannot be opened.
    """
    named = {bot.key: bot for bot in bots}
    shown = 0
    logged: Counter[str] = Counter()
    told: set[tuple[str, str]] = set()

    def turned_away(address: str, why: str) -> None:
        nonlocal shown
        if (address, why) in told:
            return  # An author whose key is not registered yet tries to connect again and again.
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
    async with AsyncExitStack() as stack:
        try:
            lobby = await stack.enter_async_context(opening)
        except OSError as error:
            where = address.endpoint(address.port)
            raise MachineCannot(f"{where}: cannot listen there: {error.strerror or error}") from None
        reach = f" (only from this machine: another {option} opens it)" if address.loopback else ""
        log.info("listening", endpoint=lobby.endpoint)
        screen.say(f"listening at {lobby.endpoint}{reach}, key {z85(hosting.keys.public)}")
        yield lobby
