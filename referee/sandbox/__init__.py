"""Starts, limits and ends a bot's processes."""

from referee.sandbox.bot_environment import PROJECT, environment, this_machine
from referee.sandbox.build import BuildError, built, is_built, log_of
from referee.sandbox.bwrap_args import BOT, SHARED_MEMORY
from referee.sandbox.levels import Isolation, ends_with_login, is_in_use
from referee.sandbox.meter import NOTHING, Meter, Reading
from referee.sandbox.process import Process, SandboxError, demand, find_isolation, missing, start
from referee.sandbox.unconfined import Terminal
from referee.sandbox.walls import Wall, find_walls, kept_from

__all__ = [
    "BOT",
    "NOTHING",
    "PROJECT",
    "SHARED_MEMORY",
    "BuildError",
    "Isolation",
    "Meter",
    "Process",
    "Reading",
    "SandboxError",
    "Terminal",
    "Wall",
    "built",
    "demand",
    "ends_with_login",
    "environment",
    "find_isolation",
    "find_walls",
    "is_built",
    "is_in_use",
    "kept_from",
    "log_of",
    "missing",
    "start",
    "this_machine",
]
