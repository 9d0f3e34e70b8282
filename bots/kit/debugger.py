"""Runs a Python bot under pdb. The bot stops in `decide` of chosen windows, and at an uncaught exception.

Run `python -P -m bots.kit.debugger WINDOWS FILE ARGUMENT…`, or `… WINDOWS -m MODULE ARGUMENT…`, with the windows'
numbers separated by commas. Ctrl-C stops the bot too. Only bots that use the kit can be debugged.
"""

import bdb
import pdb  # noqa: T100 - this is a debugger
import runpy
import signal
import sys
import traceback
from collections.abc import Collection
from pathlib import Path
from types import FrameType
from typing import Any

from bots import kit
from bots.kit import program
from protocol.messages import Hello


class Debugger(pdb.Pdb):
    """A pdb in which Ctrl-C clears the line at the prompt, and stops the bot while it runs."""

    def __init__(self) -> None:
        super().__init__(nosigint=True)
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Stop the bot at its current line."""
        if frame is not None:
            self.sigint_handler(signal.Signals(number), frame)

    def interaction(self, *state: Any) -> None:
        """See `pdb.Pdb`."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        super().interaction(*state)
        signal.signal(signal.SIGINT, self.interrupt)


def stop_in(bot: kit.Bot[Any, Any], windows: Collection[int], debugger: Debugger) -> None:
    """Make the bot stop at the start of `decide` in these windows, in its own code and not in the kit's."""
    decide = bot.function if isinstance(bot, kit.FunctionBot) else bot.decide

    def stopping(window: kit.Window[Any]) -> Any:
        return debugger.runcall(decide, window) if window.id in windows else decide(window)

    bot.decide = stopping  # type: ignore[method-assign]


def main() -> None:
    """Run the bot under the debugger."""
    windows = frozenset(map(int, sys.argv[1].split(",")))
    del sys.argv[:2]
    debugger = Debugger()
    play = program.play

    def played(
        bot: kit.Bot[Any, Any], line: kit.Transport, hello: Hello, watch: kit.CallWatch | None = None
    ) -> bool:
        del watch  # The author may spend any time on a window.
        stop_in(bot, windows, debugger)
        return play(bot, line, hello)

    program.play = played
    try:
        if sys.argv[0] == "-m":
            del sys.argv[0]
            sys.path.insert(0, str(Path.cwd()))
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            script = Path(sys.argv[0]).resolve()
            sys.path.insert(0, str(script.parent))
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit:
        raise
    except bdb.BdbQuit:
        sys.exit(1)
    except BaseException as error:  # noqa: BLE001 - any error may end the bot
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        pdb.post_mortem(error.__traceback__)
        sys.exit(1)


if __name__ == "__main__":
    main()
