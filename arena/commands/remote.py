"""`arena remote` and `arena keys`: play with a bot on this machine in matches that another machine hosts."""

import secrets
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import click
import trio
from msgspec import Struct

from arena.errors import AnswerIsNo, WrongUse, as_wrong_use, writing
from arena.options import MAX_PORT, complete_bots, option, options
from arena.terminal import results_console, say
from referee.bot_folder import BotFolderError, find_bot, read_bot_name
from referee.wire import KeyFileError, new_pair, write_pair, z85

SECONDS_PER_HOUR = 3_600
BROWSER = "browser"
"""Name of a person at a page of this machine, in place of a bot."""
MOST_HOURS = 100_000


@click.command("keys", short_help="Make a pair of keys for a host or a remote bot.")
@click.argument("name", type=click.Path(path_type=Path))
def keys_command(name: Path) -> None:
    """Make a pair of keys: NAME.key to send to the other side, and NAME.key_secret to keep private.

    A bot's author sends NAME.key to the host, and a host sends its own to all authors. The public key is also
    printed.
    """
    if not name.name:
        raise WrongUse(f"NAME: {str(name)!r} is not the name of a file")
    if not name.parent.is_dir():
        raise WrongUse(f"{name}: there is no folder {name.parent}")
    pair = new_pair()
    with as_wrong_use(KeyFileError), writing(name):
        public, secret = write_pair(name, pair)
    results_console().say(z85(pair.public))
    say(f"send {public} to the other side: a host to all authors, an author to the host")
    say(f"keep {secret} private")


@click.group("remote")
def command() -> None:
    """Play with a bot on this machine in matches that another machine hosts (`arena host`, `arena tournament`)."""


command.add_command(keys_command)


class JoinOptions(Struct, frozen=True, kw_only=True):
    """Options of a bot that joins a host."""

    host_key: Annotated[
        str,
        option("The host's public key: its file, HOST.key, or the key itself.", required=True, metavar="KEY"),
    ]
    key: Annotated[str, option("This bot's secret key file, NAME.key_secret.", required=True, metavar="FILE")]
    transcripts: Annotated[
        Path,
        option(
            "Folder for the bot's own transcripts, which a tournament's host sends after each match.",
            type=click.Path(path_type=Path, file_okay=False),
            show_default=True,
        ),
    ] = Path("transcripts")
    port: Annotated[
        int,
        option(
            "With BOT browser, the port of the page.",
            type=click.IntRange(1, MAX_PORT),
            show_default=True,
        ),
    ] = 8000
    patience: Annotated[
        float,
        option(
            "How long to wait for a host that does not answer.",
            metavar="HOURS",
            type=click.FloatRange(0, MOST_HOURS, min_open=True, max_open=True),
            show_default=True,
        ),
    ] = 168


@command.command("join", short_help="Connect a bot to the host of a match or tournament.")
@click.argument("endpoint", metavar="tcp://ADDRESS:PORT")
@click.argument("bot", metavar="BOT", shell_complete=complete_bots)
@options(JoinOptions)
def join_command(endpoint: str, bot: str, *, asked: JoinOptions) -> int:
    """Connect BOT (a folder or a sample bot's name) to the host that listens at tcp://ADDRESS:PORT.

    The bot is started for each match as a program of this user, not in a sandbox. In a tournament the command goes
    on from match to match, and ends when the host says that the tournament is over. With BOT "browser", a person
    plays on a page of this machine.
    """
    # Imported late, because ZeroMQ is slow to import.
    from bots.remote.relay import Joining  # noqa: PLC0415

    if bot == BROWSER:
        return _join_in_browser(endpoint, asked)
    name = read_bot_name(bot)
    if not name.is_folder:
        raise WrongUse(_no_folder(bot))
    with as_wrong_use(SystemExit):
        joining = Joining(endpoint, name.path, host_key=asked.host_key, key=asked.key)
    try:
        return joining.play(transcripts=asked.transcripts, patience=asked.patience * SECONDS_PER_HOUR)
    except SystemExit as error:
        if isinstance(error.code, str):
            raise AnswerIsNo(error.code) from None
        raise


def _no_folder(bot: str) -> str:
    """Return why a name is not a bot's folder on this machine."""
    try:
        find_bot(bot)
    except BotFolderError as error:
        return str(error)
    return f"{bot}: names a git revision; a remote bot plays from a folder"


def _join_in_browser(endpoint: str, asked: JoinOptions) -> int:
    """Let a person at a page of this machine play in a host's matches; return the relay's exit code.

    Raises:
        WrongUse: a key cannot be used, or the endpoint is no address.
        MachineCannot: the port is in use.
    """
    from arena import event_loop  # noqa: PLC0415 - other uses need none of it
    from arena.practice import write_pipe_bot  # noqa: PLC0415 - as above
    from bots.remote.relay import Joining  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory(prefix="arena-") as place:
        seat, bot = Path(place) / "practice" / secrets.token_hex(6), Path(place) / "bot"
        seat.mkdir(0o700, parents=True)
        write_pipe_bot(bot, seat)
        with as_wrong_use(SystemExit):
            Joining(endpoint, bot, host_key=asked.host_key, key=asked.key)
        relay = [sys.executable, "-P", "-m", "bots.remote", endpoint, str(bot)]
        relay += ["--host-key", asked.host_key, "--key", asked.key, "--transcripts", str(asked.transcripts)]
        relay += ["--patience", f"{asked.patience}"]
        return event_loop.run(partial(_serve_seat, seat, asked.port, relay))


async def _serve_seat(folder: Path, port: int, relay: Sequence[str]) -> int:
    """Serve the page of a person's seat until the relay ends; return its exit code."""
    from arena.practice import RemoteSeat  # noqa: PLC0415 - see above
    from arena.web import Serving, demand_port, play_of, serve  # noqa: PLC0415 - see above
    from referee.log import SILENT  # noqa: PLC0415 - see above

    practice = folder.parent
    # The person and the relay play: a server with a low priority would make them late.
    serving = Serving(places=(practice.parent,), port=port, practice=True, niceness=0)
    await demand_port(serving.host, port)
    async with trio.open_nursery() as nursery:
        seat = RemoteSeat(folder)
        await nursery.start(seat.run)
        nursery.start_soon(partial(serve, serving, SILENT, [play_of(serving, practice, SILENT)]))
        say(f"your seat, for this browser alone: http://127.0.0.1:{port}/play/{folder.name}/join#{seat.key}")
        ended = await trio.run_process(relay, check=False)
        await seat.end()
        nursery.cancel_scope.cancel()
    return ended.returncode
