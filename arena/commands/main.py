"""The command line: the list of commands, their exit codes and errors.

Results go to standard output, everything else to standard error; an error is one line there. A command's module is
imported when it is run, so that `--help` is quick.
"""

import errno
import os
import select
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from arena.errors import CANNOT, DONE, SIGNALLED, WRONG_USE, Stopped, WrongUse, reason_of
from arena.installation import commit, manual
from referee import __version__
from referee.display_text import printable

COMMANDS = {
    "match": ("match", "Play one match and write its transcript."),
    "check": ("check", "Check that a bot starts and plays, or that a tournament's bots do."),
    "host": ("match:host_command", "Play one match with bots on their authors' own machines."),
    "remote": ("remote", "Join matches on another machine with a bot on this one: join, keys."),
    "keys": ("remote:keys_command", "Make a pair of keys for a host or a remote bot."),
    "tournament": ("tournament", "Play a tournament from a file, or go on with it."),
    "entry": ("entry", "Change the bots of a tournament that has begun: add, update, sync, withdraw, list."),
    "decide": ("extend:decide_command", "Decide what becomes of a block that was set aside."),
    "extend": ("extend", "Give a tournament that has begun more blocks or rounds, or a later deadline."),
    "judge": ("judge", "Judge what teams submit to a competition."),
    "season": ("season", "Play a season from a file: stages, each drawn from the table of the one before."),
    "regress": ("regress", "Test whether a bot's new version is better; the exit code is for CI."),
    "serve": ("serve", "Serve competitions as a website, with matches as they are played."),
    "team": ("team", "Make teams for a season's server, and invite people: add, invite, host, close, list."),
    "submit": ("submit", "Hand a bot in to a season's server, and wait for the verdict."),
    "report": ("report", "Show ratings with intervals and plots of a tournament."),
    "results": ("results", "List a tournament's matches, as a table, CSV or JSON."),
    "package": (
        "backup:package",
        "Pack a bot's own transcripts, logs, results and faults for its author.",
    ),
    "backup": ("backup", "Back up a tournament while it is played, or check a backup."),
    "site": ("serve:site_command", "Write pages of tournaments as files, for any web server or bucket."),
    "stress": ("stress", "Attack the timing rules, and find how many matches at once this machine can play."),
    "replay": ("replay", "Verify a transcript, step through it, or extract one seat's."),
    "ask": ("ask", "Put a recorded decision to a bot again, in a debugger if you like."),
    "adjudicate": ("adjudicate", "Play scenarios without bots or clock."),
    "games": ("games", "List the games, or describe one."),
    "schema": ("games:schema_command", "Print the JSON Schema of the protocol and of all games' words."),
    "doctor": ("doctor", "Test this machine's sandbox by trying to escape from it."),
    "new-bot": ("new_bot", "Write a bot to start from."),
}
"""Module in `arena.commands`, and function if it is not `command`, with the line in the help, by command."""
INTERRUPTED = SIGNALLED + signal.SIGINT
CLEAR_LINE = "\r\N{ESCAPE}[K"
"""Text that clears the line in which a terminal shows `^C` after a Ctrl-C."""


class Arena(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all commands, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"arena.commands.{module}"), function or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command and suggest from all commands; click would suggest imported ones only."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return completions from the table, without importing commands."""
        named = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = "arena",
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and exit with its code."""
        del standalone_mode
        if isinstance(sys.stdout, TextIOWrapper):
            # A terminal without UTF-8 shows escapes for characters that it lacks.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            _check_text(sys.argv[1:] if args is None else args)
            code = super().main(
                args,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
            sys.stdout.flush()
        except BaseException as error:  # noqa: BLE001 - every way a command can end is told in one line here
            _leave(error)
        sys.exit(code if isinstance(code, int) else DONE)


def _check_text(args: Sequence[str]) -> None:
    """Check that arguments and the current folder are UTF-8, because they are written to transcripts and JSON.

    Raises:
        WrongUse: one of them is not UTF-8, or the current folder was deleted.
    """
    try:
        here = str(Path.cwd())
    except FileNotFoundError:
        raise WrongUse("the current folder was deleted: change into one that is there") from None
    for word in (*args, here):
        if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
            raise WrongUse(f"{word}: is not UTF-8")


def _leave(error: BaseException) -> NoReturn:
    """End the process after an error, with its exit code and one line on standard error."""
    reason = reason_of(error)
    if os.environ.get("ARENA_TRACEBACK") and not isinstance(reason, SystemExit | click.ClickException):
        raise error
    # Rich converts a broken pipe to an exit with code 1, which would mean that the answer is no.
    if (_is_pipe(reason) and _nobody_reads()) or (isinstance(reason, SystemExit) and _is_pipe(reason.__context__)):
        # The reader has closed the pipe. Without this, Python would fail again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(SIGNALLED + signal.SIGPIPE)
    if isinstance(reason, SystemExit):
        raise reason
    if isinstance(reason, click.exceptions.NoArgsIsHelpError):
        reason.show()
        sys.exit(WRONG_USE)
    code, text = _verdict(reason)
    wiped = CLEAR_LINE if code >= SIGNALLED and sys.stderr.isatty() else ""
    click.echo(f"{wiped}arena: {printable(' '.join(text.split()))}", err=True)  # noqa: TID251 - no error waits for rich
    sys.exit(code)


def _is_pipe(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _nobody_reads() -> bool:
    """Return True if the reader of standard output has closed it."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def _verdict(reason: BaseException) -> tuple[int, str]:
    """Return the exit code and the text for an error."""
    if isinstance(reason, Stopped):
        return SIGNALLED + reason.signal, reason.format_message()
    if isinstance(reason, click.ClickException):
        return reason.exit_code, reason.format_message()
    if isinstance(reason, KeyboardInterrupt | click.Abort):
        return INTERRUPTED, "stopped"
    # Imported late, because `arena --help` waits for this module.
    from referee.linux.shortage import shortage_in, shortage_text  # noqa: PLC0415

    short = shortage_in(reason)
    if short is not None and not short.filename:
        return CANNOT, shortage_text(short)
    if isinstance(reason, OSError):
        where = f"{reason.filename}: " if reason.filename else ""
        return CANNOT, f"{where}{reason.strerror or reason}"
    return CANNOT, _fault(reason)


def _fault(reason: BaseException) -> str:
    """Return the text for an unexpected error, which names the package of a game if the error is in one."""
    from protocol.games import GameLoadError, fault_of_package  # noqa: PLC0415 - see `_verdict`

    if isinstance(reason, GameLoadError):
        return str(reason)
    what = fault_of_package(reason) or f"a fault of the arena itself: {type(reason).__name__}: {reason}"
    return f"{what} (set ARENA_TRACEBACK=1 to see where)"


def _show_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    """Print version and commit, and exit."""
    del option
    if not asked or context.resilient_parsing:
        return
    text = f"arena, version {__version__}"
    click.echo(f"{text}, commit {made_from}" if (made_from := commit()) else text)  # noqa: TID251 - both are ours
    context.exit()


@click.group(
    "arena",
    cls=Arena,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"\b\nDocumentation: {manual() / 'README.md'}\nRules of a game: arena games GAME --rules",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show version and commit.",
)
def main() -> None:
    """Play games with hidden information between programs.

    Exit codes: 0 done; 1 the answer is no; 2 wrong use or bad input; 3 this machine cannot do it, or `regress` is
    undecided; 128 plus the signal's number after a signal, 130 for Ctrl-C.
    """
