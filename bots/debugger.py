"""Runs a Python bot under pdb. The bot stops where it decides certain windows, and where an exception ends it.

Run as `python -P -m bots.debugger WINDOWS FILE ARGUMENT…`, or `… WINDOWS -m MODULE ARGUMENT…`, with the numbers of
the windows and commas between. Ctrl-C stops the bot where it is, too. Only the kit knows where a bot decides.
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
from protocol.messages import Hello


class Debugger(pdb.Pdb):
    """At its prompt, Ctrl-C clears the line; while the bot runs, Ctrl-C stops it there."""

    def __init__(self) -> None:
        super().__init__(nosigint=True)
        signal.signal(signal.SIGINT, self.interrupt)

    def interrupt(self, number: int, frame: FrameType | None) -> None:
        """Stops where the bot is."""
        if frame is not None:
            self.sigint_handler(signal.Signals(number), frame)

    def interaction(self, *state: Any) -> None:
        """See `pdb.Pdb`."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        super().interaction(*state)
        signal.signal(signal.SIGINT, self.interrupt)


def stop_in(bot: kit.Bot[Any, Any], windows: Collection[int], debugger: Debugger) -> None:
    """From now on the bot stops where it decides one of these windows: in its own code, not in the kit's."""
    decide = bot.function if isinstance(bot, kit.FunctionBot) else bot.decide

    def stopping(window: kit.Window[Any]) -> Any:
        return debugger.runcall(decide, window) if window.id in windows else decide(window)

    bot.decide = stopping  # type: ignore[method-assign]


def main() -> None:
    """Runs the bot; its exit code."""
    windows = frozenset(map(int, sys.argv[1].split(",")))
    del sys.argv[:2]
    debugger = Debugger()
    play = kit.play

    def played(bot: kit.Bot[Any, Any], line: kit.Line, hello: Hello, watch: kit.Watch | None = None) -> bool:
        del watch  # The author may look at a window for as long as he likes.
        stop_in(bot, windows, debugger)
        return play(bot, line, hello)

    kit.play = played
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
    except BaseException as error:  # noqa: BLE001 - whatever ends the bot
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        pdb.post_mortem(error.__traceback__)
        sys.exit(1)


if __name__ == "__main__":
    main()
