"""Plays one match for a person at the terminal, who may pause its clocks by a signal.

Bots on other machines may take seats once they are connected, and a bot may run at the terminal, outside the
sandbox, so that a debugger can be used.
"""

import sys
import termios
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import trio
from msgspec.structs import replace

from arena import event_loop
from arena.errors import AnswerIsNo, MachineCannot, Stopped, WrongUse, errors_as_exits, writing
from arena.event_loop import TWICE_SECONDS
from arena.processes import PAUSE, PAUSE_SIGNALS
from arena.terminal import Screen, progress_console, say
from arena.workers import Hosting, open_listener
from referee.bot_folder import PYTHON, BotFolder, read_bot_name
from referee.host import AttemptResult, Plan, Player, Publish, RemoteBot, play
from referee.linux.files import FOLDER_MODE
from referee.linux.shortage import unwrapped
from referee.log import SILENT, Logger
from referee.rules import Addressed, BadSetupError, Table
from referee.sandbox import Terminal
from referee.wire import Lobby

Watch = Callable[[Table, Sequence[Addressed]], None]
"""Callback for each step of a match, with the table and the step's events."""
PlayWatched = Callable[..., Awaitable[AttemptResult]]
"""Plays one match with a spectator: `referee.host.play`, or a substitute."""


def play_match(
    plan: Plan,
    players: Sequence[Any],
    transcripts: Path,
    *,
    play: PlayWatched,
    watch: Watch | None,
    ctrl_c: int = 1,
) -> AttemptResult:
    """Play a match that the operator may pause. `ctrl_c`: see `event_loop.run`.

    Raises:
        WrongUse: the transcript cannot be written there, or the setup breaks the game's rules.
        MachineCannot: the attempt is void. From within trio, both are in exception groups.
        Stopped: a signal arrived.
    """
    with writing(transcripts):
        transcripts.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    path = transcripts / f"{plan.match}.jsonl"
    try:
        result = event_loop.run(
            partial(_with_operator, plan, players, path, play=play, watch=watch), ctrl_c=ctrl_c
        )
    except Stopped as stopped:
        text, part = "stopped", path.with_name(f"{path.name}.part")
        if part.exists():
            text += f"; the match so far: {part}"
        raise Stopped(stopped.signal, text) from None
    if result.void is not None:
        raise MachineCannot(f"the attempt is void: {result.void}; transcript: {result.transcript}")
    return result


async def _with_operator(
    plan: Plan, players: Sequence[Any], path: Path, *, play: PlayWatched, watch: Watch | None
) -> AttemptResult:
    """Play while SIGUSR1 pauses the clocks, and SIGUSR2 resumes them."""
    orders, operator = trio.open_memory_channel[bool](1)
    async with trio.open_nursery() as nursery:
        await nursery.start(_pass_on_signals, orders)
        try:
            with errors_as_exits():
                result = await play(plan, players, transcript=path, watch=watch, operator=operator)
        except BadSetupError as error:
            raise WrongUse(f"--{error}") from None
        nursery.cancel_scope.cancel()
    return result


async def _pass_on_signals(orders: trio.MemorySendChannel[bool], task_status: trio.TaskStatus[None]) -> None:
    """Pass on each order that changes the state, so that a superfluous one does not end a bot's own pause."""
    paused = False
    with trio.open_signal_receiver(*PAUSE_SIGNALS) as signals:
        task_status.started()
        async for number in signals:
            pause = number == PAUSE
            if pause != paused:
                paused = pause
                say("paused by the operator" if paused else "resumed by the operator")
                await orders.send(paused)


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
) -> AttemptResult:
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
    everybody = {bot.name for bot in bots}
    here: set[str] = set()
    with screen.status("") as status:
        while missing := [bot for bot in bots if not lobby.lines[bot.key].connected]:
            absent = [bot.name for bot in missing]
            here = _tell_changes(here, everybody.difference(absent), screen)
            names = ", ".join(absent)
            left = until - trio.current_time()
            if left <= 0:
                raise AnswerIsNo(f"{names} did not connect within {seconds:.0f} s")
            status.update(screen.render_str(f"waiting for {names}: {left:.0f} s left"))
            with trio.move_on_after(min(LOOK_SECONDS, left)):
                await lobby.lines[missing[0].key].present()
    _tell_changes(here, everybody, screen)


def _tell_changes(before: set[str], now: set[str], screen: Screen) -> set[str]:
    for name in sorted(now - before):
        screen.say(f"{name} is connected")
    for name in sorted(before - now):
        screen.say(f"{name} is disconnected")
    return now


STDERR = 2
DEBUGGER = "bots.kit.debugger"


def presses(bot: BotFolder) -> int:
    """Return how many Ctrl-C end the command: see `event_loop.run`. A bot without standard input receives none."""
    return 2 if bot.transport == "zmq" else 1


def in_place(bot: BotFolder) -> BotFolder:
    """Return the bot, run from its author's folder and not from a copy: a debugger knows files by their paths."""
    name = read_bot_name(bot.given)
    is_here = name.kind == "folder" and name.is_folder
    if is_here and not bot.build:
        return replace(bot, folder=name.path.resolve())
    return bot


@contextmanager
def at_terminal(bot: BotFolder, *, as_json: bool) -> Iterator[Terminal]:
    """Yield the terminal for a bot and explain its use; restore the terminal's modes afterwards.

    Args:
        bot: the bot to debug.
        as_json: whether standard output is reserved for JSON; the bot then writes to standard error.
    """
    say(f"{bot.given} runs outside the sandbox and may do all that you may: only debug bots that you trust")
    if bot.transport == "stdio":
        say(
            f"{bot.given}: its messages use its standard input and output (transport stdio), so it has no prompt; "
            "print to standard error, or let a debugger connect to a port of the bot's"
        )
        how = "Ctrl-C ends it"
    else:
        how = f"two Ctrl-C within {TWICE_SECONDS:g} s end it"
        say(f"Ctrl-C goes to {bot.given}; two within {TWICE_SECONDS:g} s end everything")
    before = None
    with suppress(termios.error, ValueError, OSError):
        before = termios.tcgetattr(sys.stdin.fileno())
    try:
        yield Terminal(
            output=STDERR if as_json else sys.stdout.fileno(),
            still_runs=lambda: say(f"all is over, but {bot.given} still runs; {how}"),
        )
    finally:
        if before is not None:
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


def under_pdb(bot: BotFolder, windows: Collection[int]) -> BotFolder:
    """Return the bot, run by `bots.kit.debugger`, which stops at decisions in these windows and at errors.

    Raises:
        WrongUse: it cannot be run this way.
    """
    program, *arguments = bot.command
    if bot.transport == "stdio":
        raise WrongUse(f"--pdb: {bot.given} has no prompt: its transport is stdio")
    if program != PYTHON or not arguments or (arguments[0].startswith("-") and arguments[0] != "-m"):
        raise WrongUse(
            f'--pdb: {bot.given} is not started by ["{PYTHON}", "FILE"]; call breakpoint() in it, without --pdb'
        )
    numbers = ",".join(map(str, windows))
    return replace(bot, command=(PYTHON, "-P", "-m", DEBUGGER, numbers, *arguments))
