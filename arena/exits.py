"""How a command ends other than well: the exit codes, and the one line that says why."""

import click

DONE = 0
NO = 1
WRONG_USE = 2
CANNOT = 3
UNDECIDED = 3
"""Of a regression: neither yes nor no. Its line, and `verdict` in its JSON, tell it from `CANNOT`."""
SIGNALLED = 128
"""Of a program that was stopped by a signal: this and the signal's number, 130 for Ctrl-C."""


class AnswerIsNo(click.ClickException):
    """The command did what it was asked to, and the answer is no: a verification failed."""

    exit_code = NO


class Undecided(click.ClickException):
    """The command did what it was asked to, and that was not enough for an answer."""

    exit_code = UNDECIDED


class WrongUse(click.ClickException):
    """Wrong use or bad input. The text names the file, line and field, as far as there are any."""

    exit_code = WRONG_USE


class MachineCannot(click.ClickException):
    """The machine cannot do it: no sandbox, no space, too many failed attempts."""

    exit_code = CANNOT


class Stopped(click.ClickException):
    """A signal asked the command to stop, and it did, in order. The text may say what is left of it."""

    def __init__(self, signal: int, text: str = "stopped") -> None:
        super().__init__(text)
        self.signal = signal
