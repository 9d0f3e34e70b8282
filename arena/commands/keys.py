"""`arena keys`: a pair of keys, by which a host and a bot on another machine know each other."""

from pathlib import Path

import click

from arena.errors import WrongUse, cannot_write
from arena.terminal import results_console, say
from referee.wire import KeyFileError, new_pair, write_pair, z85


@click.command("keys")
@click.argument("name", type=click.Path(path_type=Path))
def command(name: Path) -> None:
    """Make a pair of keys: NAME.key to give away, and NAME.key_secret to keep.

    A bot's author gives NAME.key to the host, and a host gives it to all authors. The public key is printed, too.
    """
    if not name.name:
        raise WrongUse(f"NAME: is no name of a file: {str(name)!r}")
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
    say(f"{public} is to be given away; keep {secret} to yourself")
