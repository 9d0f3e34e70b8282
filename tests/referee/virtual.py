"""A match over memory lines, for tests under trio's virtual clock: the unchanged host, match, window and clock."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

import trio
from msgspec import UNSET, Raw

from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, Closed, Hello, Note, Opened, Pause, ServerMessage, Submit, Undo, Welcome
from referee.games import GAMES
from referee.host.host import Host, MatchHooks
from referee.host.observers import Feed, FeedTerms, MatchLog
from referee.match.match import Match
from referee.match.records import BotIdentity, Record
from referee.match.terms import ClockTable, MatchTerms, Policy, clock_terms
from referee.rules.contract import AnyGame
from referee.rules.table import Deal, Table
from referee.sandbox.meter import Reading
from referee.wire.line import Bell, MemoryLine

RULES = Policy()
"""Time as the variant's rules give it."""


class Bot:
    """The bot's end of a line, and all it has heard with the (virtual) time it heard it."""

    def __init__(self, line: MemoryLine, token: str) -> None:
        self.line = line
        self.token = token
        self.heard: list[tuple[float, ServerMessage]] = []

    def hello(self, token: str | None = None, protocol: int = PROTOCOL) -> None:
        self.say(Hello(token=self.token if token is None else token, name="test", version="1", protocol=protocol))

    def say(self, message: Any) -> None:
        self.line.say(encode(message))

    def submit(self, window: int, action: Any, *, final: bool = True) -> None:
        self.say(Submit(window=window, action=Raw(encode(action)), final=final))

    def undo(self, window: int) -> None:
        self.say(Undo(window=window))

    def pause(self) -> None:
        self.say(Pause())

    def note(self, text: str) -> None:
        self.say(Note(text=text))

    async def hear(self) -> ServerMessage:
        message = decode_server_message(await self.line.hear())
        self.heard.append((trio.current_time(), message))
        return message

    async def hear_a(self, kind: type[Any]) -> Any:
        while not isinstance(message := await self.hear(), kind):
            pass
        return message

    def all_of(self, kind: type[Any]) -> list[Any]:
        return [message for _, message in self.heard if isinstance(message, kind)]


Play = Callable[[Bot], Awaitable[None]]
Script = Callable[[Bot, Opened], Awaitable[None]]


def answering(script: Script) -> Play:
    """Return a bot that sends hello and runs the script in every window, and reads on meanwhile."""

    async def play(bot: Bot) -> None:
        bot.hello()
        async with trio.open_nursery() as nursery:
            while True:
                try:
                    message = await bot.hear()
                except trio.EndOfChannel:
                    nursery.cancel_scope.cancel()
                    return
                if isinstance(message, Opened):
                    nursery.start_soon(script, bot, message)

    return play


def after(seconds: float, action: Any) -> Play:
    """Return a bot that answers every window with this action, these seconds after its arrival."""

    async def script(bot: Bot, window: Opened) -> None:
        await trio.sleep(seconds)
        bot.submit(window.id, action)

    return answering(script)


async def silent(bot: Bot) -> None:
    """Send hello and nothing more."""
    bot.hello()
    await hear_out(bot)


async def hear_out(bot: Bot) -> None:
    """Hears until the referee hangs up."""
    while True:
        try:
            await bot.hear()
        except trio.EndOfChannel:
            return


class Played:
    """A match that was played: its bots' ends, the records, and the match itself."""

    def __init__(
        self,
        match: Match,
        host: Host,
        bots: list[Bot],
        records: list[Record],
        policy: Policy = RULES,
        *,
        fed: list[tuple[float, bytes]] | None = None,
    ) -> None:
        self.match = match
        self.policy = policy
        self.host = host
        self.bots = bots
        self.records = records
        self.fed = [] if fed is None else fed
        """Messages of the feed with their virtual times; empty without a feed."""

    def closed(self, seat: int) -> list[Closed]:
        return self.bots[seat].all_of(Closed)

    def welcome(self, seat: int) -> Welcome:
        welcome: Welcome = self.bots[seat].all_of(Welcome)[0]
        return welcome


def set_up(
    players: int,
    *,
    game: AnyGame = GAMES["mist"],
    variant: str = "contractual-obligation",
    options: Any = None,
    policy: Policy = RULES,
    restart: Callable[[int], None] | None = None,
    let_run: Callable[[int, bool], None] | None = None,
    clock: ClockTable | None = None,
    cpu: Callable[[int], tuple[int, int]] | None = None,
    measure: Callable[[int], Reading] | None = None,
    behind: Callable[[float], float] | None = None,
    stopped: Callable[[float], float] | None = None,
    worked: Callable[[], float] | None = None,
    fed: bool = False,
    log: MatchLog | None = None,
    debugged: Collection[int] = (),
    credit_us: int | None = None,
) -> Played:
    """A match ready to run; measured, if there is something to measure it with; with a feed, if it is `fed`."""
    table = Table(game, Deal(variant, 7, Raw(encode(options)) if options else None))
    bell, records = Bell(), list[Record]()
    bots = [Bot(MemoryLine(bell), f"token-{seat}") for seat in range(players)]
    terms = clock_terms(game, variant, policy, clock)
    published: list[tuple[float, bytes]] = []
    told = FeedTerms(match="test", players=tuple("abcdefgh"[:players]), clock=terms, started="")

    def publish(topic: str, message: bytes) -> None:
        assert topic == "match/test"
        published.append((trio.current_time(), message))

    feed = Feed(table, told, publish, lambda: match.now) if fed else None
    io = MatchHooks(bell, [bot.line for bot in bots])
    io.record, io.feed, io.log = records.append, feed, log
    io.ponder, io.counts_cpu, io.measured = let_run is None, cpu is not None, measure is not None
    given: dict[str, Any] = {
        "restart": restart,
        "let_run": let_run,
        "cpu_time": cpu,
        "measure": measure,
        "behind": behind,
    }
    given |= {"stopped": stopped, "worked": worked}
    vars(io).update({name: does for name, does in given.items() if does is not None})
    host = Host(io)
    identities = tuple(
        BotIdentity(
            name=f"bot-{seat}",
            version="1",
            content="",
            seed=seat,
            token=bot.token,
            debugged=True if seat in debugged else UNSET,
            credit_us=UNSET if credit_us is None or seat else credit_us,
        )
        for seat, bot in enumerate(bots)
    )
    match_terms = MatchTerms(
        match="test", clock=terms, policy=policy, bots=identities, measured=measure is not None
    )
    match = Match(table, match_terms, io=host)
    return Played(match, host, bots, records, policy, fed=published)


async def play(played: Played, players: Sequence[Play], *extra: Callable[[], Awaitable[None]]) -> Played:
    """Run the match with these bots, and anything else beside it, to its end."""
    async with trio.open_nursery() as nursery:
        for player, bot in zip(players, played.bots, strict=True):
            nursery.start_soon(player, bot)
        for task in extra:
            nursery.start_soon(task)
        await played.host.run(played.match)
        # What was sent last is heard before the test looks.
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    return played


async def mist(*players: Play, variant: str = "contractual-obligation", **settings: Any) -> Played:
    """Play a match of Mist, seat 0 first, which ends after `max_turns` (2 unless set)."""
    options = {"first": 0, "max_turns": settings.pop("max_turns", 2)}
    return await play(set_up(2, variant=variant, options=options, **settings), players)
