"""Attempts to outlive the match. Each leaves a process behind; the host checks that it exists, and that it ends.

They are made last, and exit after `STAY_SECONDS`, in case the machine cannot end them.
"""

import ctypes
import os
import signal
import sys
import time

from .attempt import AttemptVerdict, attacks
from .scene import Scene

STAY_SECONDS = 45
READY_SECONDS = 1.0
SET_NAME = 15


def _call_itself(name: str) -> None:
    """Set the name of this process, of which the host sees the first 15 letters."""
    ctypes.CDLL(None).prctl(SET_NAME, ctypes.c_char_p(name.encode()), 0, 0, 0)


def _stay(name: str) -> None:
    _call_itself(name)
    signal.alarm(STAY_SECONDS)
    while True:
        time.sleep(STAY_SECONDS)


def _left(child: int) -> AttemptVerdict:
    until = time.monotonic() + READY_SECONDS
    while os.getpgid(child) == os.getpgrp() and time.monotonic() < until:
        # While the child is in this process group, it would be killed with it.
        time.sleep(0.001)
    return AttemptVerdict("sent", f"process {child} was left behind")


@attacks("process namespace")
def outlives_by_a_double_fork(scene: Scene) -> AttemptVerdict:
    """Leaves behind a child's child, in a session of its own."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            _stay("outlives-by-a-double-fork")
        os._exit(0)
    os.waitpid(child, 0)
    return AttemptVerdict("sent", f"a child of process {child} was left behind")


@attacks("process namespace")
def outlives_as_a_daemon(scene: Scene) -> AttemptVerdict:
    """Leaves behind a daemon that has closed and forgotten everything it was started with, its environment too."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            os.umask(0)
            os.closerange(0, scene.files)
            name = "outlives-as-a-daemon"
            program = (
                "import ctypes, signal, time;"
                f"ctypes.CDLL(None).prctl({SET_NAME}, b'{name}', 0, 0, 0);"
                f"signal.alarm({STAY_SECONDS}); time.sleep({STAY_SECONDS})"
            )
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", program, scene.mark], {})
        os._exit(0)
    os.waitpid(child, 0)
    return AttemptVerdict("sent", f"a child of process {child} was left behind")


@attacks("process namespace")
def outlives_by_ignoring_signals(scene: Scene) -> AttemptVerdict:
    """Leaves behind a process that ignores every signal that can be ignored."""
    child = os.fork()
    if child == 0:
        os.setsid()
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
            signal.signal(number, signal.SIG_IGN)
        _stay("outlives-by-ignoring-signals")
    return _left(child)


@attacks("process namespace")
def outlives_by_being_stopped(scene: Scene) -> AttemptVerdict:
    """Leaves behind a process that is stopped, and could not end if it wanted to."""
    child = os.fork()
    if child == 0:
        os.setsid()
        _call_itself("outlives-by-being-stopped")
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    return _left(child)
