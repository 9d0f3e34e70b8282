"""How a command ends other than well: the exit codes, and the one line that says why."""

import click

DONE = 0
NO = 1
WRONG_USE = 2
CANNOT = 3


class AnswerIsNo(click.ClickException):
    """The command did what it was asked to, and the answer is no: a verification failed."""

    exit_code = NO


class WrongUse(click.ClickException):
    """Wrong use or bad input. The text names the file, line and field, as far as there are any."""

    exit_code = WRONG_USE


class MachineCannot(click.ClickException):
    """The machine cannot do it: no sandbox, no space, too many failed attempts."""

    exit_code = CANNOT
