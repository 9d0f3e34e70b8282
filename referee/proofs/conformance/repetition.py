"""A check that matches give the same bytes under each PYTHONHASHSEED, with two separate interpreters.

Separate interpreters are needed because Python fixes the order of sets of strings when it starts.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from random import Random

from referee.games import GAMES
from referee.proofs.conformance.playing import seat_match
from referee.proofs.conformance.promises import ConformanceError, MatchPlace
from referee.proofs.conformance.sitting import Chooser
from referee.rules import AnyGame

HASH_SEEDS = ("1", "2")
SAME = "same journal, same bytes, under two PYTHONHASHSEEDs"


def digests(game: AnyGame, seeds: Sequence[int]) -> Iterator[str]:
    """Yield one line per variant, seed, window and observer: a hash of all messages to it and of its view."""
    for variant in game.variants:
        for seed in seeds:
            match = seat_match(game, variant.name, seed)
            chooser = Chooser(Random(f"{seed}/repetition"))
            while True:
                for observer in match.observers:
                    seen = blake2b(match.told[observer] + match.shown(observer), digest_size=8).hexdigest()
                    name = "spectator" if observer is None else observer
                    yield f"{variant.name} {seed} {match.table.number} {name} {seen}"
                if match.table.window is None:
                    break
                match.play(chooser.choose_all(match.table))


def check_repetition(game: AnyGame, seeds: Sequence[int]) -> None:
    """Play the seeds in two interpreters with different hash seeds. Raise ConformanceError if they differ."""
    command = [sys.executable, "-m", "referee.proofs.conformance", "--digests", spelled(game), *map(str, seeds)]
    runs = []
    for hash_seed in HASH_SEEDS:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True))  # noqa: S603 - ours
    one, other = (run.communicate()[0].splitlines() for run in runs)
    if any(run.returncode for run in runs) or not one:
        raise ConformanceError(SAME, f"{' '.join(command)} failed", variant=game.name)
    for line, again in zip(one, other, strict=False):
        if line != again:
            variant, seed, window, observer, _ = line.split()
            seat = None if observer == "spectator" else int(observer)
            where = MatchPlace(variant, int(seed))
            raise where.error(SAME, "what it is told or shown differs", int(window), seat)
    if len(one) != len(other):
        raise ConformanceError(SAME, f"{len(one)} and {len(other)} positions", variant=game.name)


def spelled(game: AnyGame) -> str:
    """Return the text by which another interpreter finds this game: its name, or MODULE:CLASS."""
    if GAMES.get(game.name) is game:
        return game.name
    return f"{type(game).__module__}:{type(game).__qualname__}"


def found(spelling: str) -> AnyGame:
    """Return the game of that name, or a new instance of MODULE:CLASS.

    Raises:
        LookupError: there is none; the text lists the names or gives the reason.
    """
    if spelling in GAMES:
        return GAMES[spelling]
    module, _, name = spelling.partition(":")
    if not name:
        raise LookupError(f'there is no game "{spelling}"; there are {", ".join(GAMES)}, or name MODULE:CLASS')
    try:
        game: AnyGame = getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise LookupError(f"{spelling}: {error}") from None
    return game
