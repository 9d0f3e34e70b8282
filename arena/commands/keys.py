"""`arena keys`: a pair of keys, by which a host and a bot on another machine know each other."""

from pathlib import Path

import click

from arena.errors import WrongUse, cannot_write
from arena.terminal import results_console, say
from referee.wire import KeyFileError, new_pair, write_pair, z85


@click.command("keys", short_help="Make a pair of keys for a host or a remote bot.")
@click.argument("name", type=click.Path(path_type=Path))
def command(name: Path) -> None:
    """Make a pair of keys: NAME.key to send to the other side, and NAME.key_secret to keep private.

    A bot's author sends NAME.key to the host, and a host sends its own to all authors. The public key is also
    printed.
    """
    if not name.name:
        raise WrongUse(f"NAME: {str(name)!r} is not the name of a file")
    if not name.parent.is_dir():
        raise WrongUse(f"{name}: there is no folder {name.parent}")
    pair = new_pair()
    try:
        public, secret = write_pair(name, pair)
    except KeyFileError as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        raise cannot_write(name, error) from None
    results_console().say(z85(pair.public))
    say(f"send {public} to the other side: a host to all authors, an author to the host")
    say(f"keep {secret} private")
