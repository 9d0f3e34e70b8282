"""Starts, limits and ends a bot's processes."""

from referee.sandbox.build import BuildError, built, discard_build, is_built, log_of
from referee.sandbox.bwrap_args import BOT, SHARED_MEMORY
from referee.sandbox.host_machine import PROJECT, Isolation, ends_with_login, environment, is_in_use, this_machine
from referee.sandbox.meter import NOTHING, Meter, Reading
from referee.sandbox.process import Process, start
from referee.sandbox.unconfined import Terminal
from referee.sandbox.walls import SandboxError, Wall, demand, find_isolation, find_walls, kept_from, missing
