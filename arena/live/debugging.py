"""A bot at its author's terminal, outside the sandbox, so that a debugger can be used."""

import sys
import termios
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from msgspec.structs import replace

from arena.errors import WrongUse
from arena.event_loop import TWICE_SECONDS
from arena.terminal import say
from referee.bot_folder import PYTHON, BotFolder, read_bot_name
from referee.sandbox import Terminal

STDERR = 2
DEBUGGER = "bots.kit.debugger"


def presses(bot: BotFolder) -> int:
    """Return how many Ctrl-C end the command: see `event_loop.run`. A bot without standard input receives none."""
    return 2 if bot.transport == "zmq" else 1


def in_place(bot: BotFolder) -> BotFolder:
    """Return the bot, run from its author's folder and not from a copy: a debugger knows files by their paths."""
    name = read_bot_name(bot.given)
    is_here = name.kind == "folder" and name.is_folder
    return replace(bot, folder=name.path.resolve()) if is_here and not bot.build else bot


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
