"""Files with a host's secrets: writing a drawn setup, and reading an edited one."""

import re
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from arena.errors import WrongUse
from protocol.words import Options, Setup
from referee.linux.files import read_regular
from referee.repeated_keys import RepeatedKeyError, refuse_repeated_keys
from referee.rules import BadSetupError, Game, Luck

MAX_SETUP_BYTES = 1024 * 1024
"""Far above the longest setup of any game."""
_PLACE = re.compile(r" \(byte (\d+)\)$")
"""Pattern of the byte offset in msgspec's messages about invalid JSON."""


def drawn_setup(game: Game[Any], variant: str, seed: int) -> str:
    """Return the setup that a match draws from this seed, as indented JSON.

    Raises:
        WrongUse: the game has no secrets.
    """
    setup = game.read_setup(variant, game.read_options(variant, None), None, Luck(seed))
    if type(setup) is Setup:
        raise WrongUse(f"{game.name}: has no setup: its host has no secrets to give")
    return msgspec.json.format(msgspec.json.encode(setup), indent=2).decode()


def read_setup(path: Path, game: Game[Any], variant: str, options: Options) -> Raw:
    """Read the setup in a file and validate it against the game's rules.

    Raises:
        WrongUse: one line with the file and what is wrong: the line on which it is no JSON, or the count or place
            that is off.
    """
    try:
        content = read_regular(path, MAX_SETUP_BYTES).removeprefix(BOM_UTF8)
        content.decode()
        msgspec.json.decode(content)
        refuse_repeated_keys(content)
        # Checked here so that errors name the file. The seed is only used for values that the file leaves out.
        game.read_setup(variant, options, Raw(content), Luck(0))
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise WrongUse(f"{path}:{_line(content, error.start)}: is not UTF-8 text") from None
    except RecursionError:
        raise WrongUse(f"{path}: nested too deeply") from None
    except BadSetupError as error:
        raise WrongUse(f"{path}: {error}") from None
    except RepeatedKeyError as error:
        raise WrongUse(f"{path}: {error}") from None
    except msgspec.DecodeError as error:
        found = _PLACE.search(str(error))
        line = _line(content, int(found[1]) if found else len(content.rstrip()))
        raise WrongUse(f"{path}:{line}: {_PLACE.sub('', str(error))}") from None
    return Raw(content)


def _line(content: bytes, at: int) -> int:
    """Return the line number, from 1, of a byte offset."""
    return content.count(b"\n", 0, at) + 1
