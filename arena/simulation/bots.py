"""Bots that callers pass to `play`: functions, `Bot` objects and classes, sample bots and folders."""

import runpy
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from msgspec import Struct

from bots import kit
from bots.kit import Bot, FunctionBot, Window

BotGiven = Callable[[Window[Any]], Any] | Bot[Any, Any] | type[Bot[Any, Any]] | str | Path
"""A function from window to action, a `Bot`, a subclass of it, or a bot as named on the command line."""
_LOADING = Lock()


class Source(Struct, frozen=True):
    """Source of the bots of one seat."""

    name: str
    version: str
    content: str
    """Hash of the bot's folder; empty for an object."""
    make: Callable[[], Bot[Any, Any]]
    """Returns the bot for a match."""


def sources_of(game: str, given: Sequence[BotGiven], seats: int) -> list[Source]:
    """Return the sources of the bots by seat.

    Raises:
        ValueError: the number of bots is wrong, one does not play this game, or one object has two seats.
        TypeError: one is not a bot, or `given` is not a list.
    """
    check_number(game, given, seats)
    objects = [id(each) for each in given if isinstance(each, Bot)]
    if len(set(objects)) < len(objects):
        raise ValueError("bots: one Bot object sits in two seats; give its class, or one object for each")
    return [source_of(game, each) for each in given]


def check_number(game: str, given: Any, seats: int) -> None:
    """Raise TypeError if `given` is not a list, and ValueError if the number of bots is wrong."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError(
            f"bots: {given!r:.100} is not a list; give one bot for each of the {seats} seats of {game}"
        )
    if len(given) != seats:
        raise ValueError(f"bots: {len(given)} for the {seats} seats of {game}")


def source_of(game: str, given: BotGiven, *, fresh: bool = False) -> Source:
    """Return the source of one bot; with `fresh`, an object is copied for each match. Raise as `sources_of`."""
    if isinstance(given, str | Path):
        return _from_folder(game, str(given))
    if isinstance(given, Bot):
        name = type(given).__name__
        return Source(name, "", "", partial(_copied, name, given) if fresh else lambda: given)
    if isinstance(given, type):
        if issubclass(given, Bot):
            return Source(given.__name__, "", "", given)
        raise TypeError(f"bots: {given.__name__} is not derived from bots.kit.Bot")
    if callable(given):
        return Source(str(getattr(given, "__name__", type(given).__name__)), "", "", lambda: FunctionBot(given))
    raise TypeError(f"bots: {given!r} is not a function, a Bot or a bot's folder")


def _from_folder(game: str, given: str) -> Source:
    """Load a bot's folder once; copy its bot for each match unless bot.toml has `keeps`."""
    from arena.config import label_of  # noqa: PLC0415 - what is given as an object need not wait
    from referee.bot_folder import PYTHON, find_bot  # noqa: PLC0415 - as above

    folder = find_bot(given)
    if not folder.plays(game):
        raise ValueError(f"{given}: does not play {game}; bot.toml says so")
    program, *words = folder.command
    if program != PYTHON or not words or words[0].startswith("-") or folder.transport != "zmq":
        raise ValueError(f"{given}: only a Python bot that uses the kit plays in this process: python FILE")
    if not (folder.folder / words[0]).resolve().is_relative_to(folder.folder.resolve()):
        raise ValueError(f"{given}: {words[0]} lies outside of the folder")
    try:
        bot = _loaded(folder.folder, words)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{given}: {words[0]} ended before it called bots.kit.run: {error!r}") from error
    if bot is None:
        raise ValueError(f"{given}: {words[0]} does not call bots.kit.run")
    make = (lambda: bot) if folder.keeps else partial(_copied, given, bot)
    return Source(label_of(given), folder.version, folder.content, make)


def _copied(name: str, bot: Bot[Any, Any]) -> Bot[Any, Any]:
    """Return a copy of a bot for one match."""
    try:
        return deepcopy(bot)
    except Exception as error:
        raise ValueError(f"{name}: this bot cannot be copied for each match: {error}") from error


def _loaded(folder: Path, words: list[str]) -> Bot[Any, Any] | None:
    """Run a program with its arguments, and return the bot that it passes to `bots.kit.run`, or None.

    Later errors of the program are ignored, because at the referee the match would be over by then. Modules in its
    folder are removed from `sys.modules`, so that another bot does not import them by the same name.
    """
    found: list[Bot[Any, Any]] = []

    def take(bot: Any, *, view_type: Any = None, on_error: kit.OnError | None = None, **_: Any) -> None:
        player = bot if isinstance(bot, Bot) else FunctionBot(bot, view_type)
        if on_error is not None:
            player.on_error = on_error
        found.append(player)

    with _LOADING:
        run, path, argv, known = kit.run, sys.path[:], sys.argv, set(sys.modules)
        kit.run = take
        sys.argv = words
        sys.path.insert(0, str(folder))
        try:
            runpy.run_path(str(folder / words[0]), run_name="__main__")
        except (Exception, SystemExit):
            if not found:
                raise
        finally:
            kit.run, sys.path[:], sys.argv = run, path, argv
            for name in set(sys.modules) - known:
                if (getattr(sys.modules[name], "__file__", None) or "").startswith(f"{folder}/"):
                    del sys.modules[name]
    return found[0] if found else None
