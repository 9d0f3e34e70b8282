"""`arena host`: play one match with bots on their authors' own machines."""

import math
from functools import partial
from pathlib import Path

import click

from arena.commands.match import MatchOptions, match_arguments, play_asked, transcripts_folder
from arena.commands.options import feed_asked, host_keys, open_log
from arena.errors import WrongUse
from arena.feed import open_feed
from arena.live import play_hosted, play_match
from arena.workers import Hosting
from referee.bot_folder import REMOTE, is_remote
from referee.wire import BadAddressError, read_address

MAX_WAIT_SECONDS = 365 * 86_400


@click.command("host")
@match_arguments
@click.option(
    "--at",
    metavar="ADDRESS:PORT",
    default="127.0.0.1:5555",
    show_default=True,
    help="Address for bots, in numbers: 127.0.0.1 for this machine alone, 0.0.0.0 for all its networks.",
)
@click.option(
    "--key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The host's own key, NAME.key_secret.  [default: made for this match and printed]",
)
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(1, MAX_WAIT_SECONDS),
    default=600,
    show_default=True,
    help="Time to wait for bots.",
)
def command(
    game: str, bots: tuple[str, ...], *, asked: MatchOptions, at: str, key: Path | None, wait: float
) -> None:
    """Play one match of GAME with bots on their authors' own machines.

    A BOT is as for `arena match`, or remote:NAME.key for a bot with that key. The match begins when all bots are
    connected. A connection without one of the keys does not get in.
    """
    if not any(is_remote(name) for name in (*bots, asked.fill or "")):
        raise WrongUse(f"BOT: none is {REMOTE}NAME.key; for bots on this machine use `arena match`")
    if math.isnan(wait):
        raise WrongUse("--wait: nan is not a time")
    try:
        hosting = Hosting(read_address(at), host_keys(key), wait)
    except BadAddressError as error:
        raise WrongUse(f"--at: {error}") from None
    folder = transcripts_folder(asked.transcripts)
    with open_log(asked.log) as events, open_feed(feed_asked(asked.feed, folder)) as line:
        publish = None if line is None else line.publish
        hosted = partial(play_hosted, hosting, publish=publish, log=events.logger)
        play_it = partial(play_match, play=hosted)
        play_asked(game, bots, asked, play_it, folder)
