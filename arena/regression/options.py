"""Makes a regression test of what was asked for on the command line, or says what is wrong with it."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.config import BotCaps, Tournament, TournamentFile, find_entry, random_bot, say_link
from arena.errors import WrongUse
from arena.game_options import read_clock, rules_asked
from arena.regression.model import FIELD, MOST_SEATINGS, Regression, Test
from arena.schedule import TWO
from arena.statistics import Anytime, EloModel, Sprt
from referee.bot_folder import BotFolder, BotFolderError
from referee.match import Policy
from referee.printable import printable_name
from referee.sandbox import Isolation

OF_TWO = ("elo0", "elo1", "model")
"""What only games of two seats are asked."""
OF_MORE = ("low", "high", "field", "rotations")


class Asked(Struct, frozen=True, kw_only=True):
    """The command line. None, or nothing: not given."""

    game: str
    base: str
    head: str
    policy: Policy
    variant: str | None = None
    options: str | None = None
    """A JSON object."""
    clock: Path | None = None
    """A file with a `[clock]` table."""
    elo0: float | None = None
    elo1: float | None = None
    model: EloModel | None = None
    low: float | None = None
    high: float | None = None
    alpha: float = 0.05
    beta: float = 0.05
    field: tuple[str, ...] = ()
    rotations: int | None = None
    blocks: int = 40_000
    seed: int | None = None
    isolation: Isolation = "strict"
    warm: bool = True
    caps: BotCaps = BotCaps()
    """The most that any of the bots may ask for."""


def regression_of(asked: Asked) -> Regression:
    """What was asked for, its bots found. Where its results go is not filled in.

    Raises:
        WrongUse: one line that names the option, and says what would be right.
    """
    rules, variant, options = rules_asked(asked.game, asked.variant, asked.options)
    seats = rules.seats(options)
    _check_for_seats(asked, seats)
    names = asked.field or ((random_bot(asked.game),) if seats > TWO else ())
    flags = ("--base", "--head", *("--field" for _ in names))
    bots = tuple(
        _bot(flag, name, asked) for flag, name in zip(flags, (asked.base, asked.head, *names), strict=True)
    )
    form = TournamentFile(
        game=asked.game,
        bots=tuple(bot.given for bot in bots),
        variant=variant,
        rotations=asked.rotations,
        seed=asked.seed,
        policy=asked.policy,
        clock=None if asked.clock is None else read_clock(asked.clock, rules, variant, asked.policy),
        isolation=asked.isolation,
        warm=asked.warm,
    )
    arena = Tournament(
        file=Path(),
        form=form,
        variant=variant,
        options=options,
        seats=seats,
        bots=bots,
        labels=("base", "head", *(f"field {printable_name(bot.given)}" for bot in bots[FIELD:])),
        results=Path(),
    )
    return Regression(arena=arena, test=_test(asked, seats), limit=asked.blocks)


def _check_for_seats(asked: Asked, seats: int) -> None:
    """Options that the game's number of seats leaves no use for, or limits."""
    for option in OF_MORE if seats == TWO else OF_TWO:
        if getattr(asked, option) not in (None, ()):
            flag = "--elo-model" if option == "model" else f"--{option}"
            which = "more than two seats" if seats == TWO else "two seats"
            raise WrongUse(f"{flag}: is for games of {which}; {asked.game} has {seats}")
    if len(asked.field) >= seats > TWO:
        raise WrongUse(f"--field: {len(asked.field)} are too many; {asked.game} has {seats - 1} other seats")
    if asked.rotations is not None and asked.rotations > seats:
        raise WrongUse(f"--rotations: {asked.rotations} are too many; {asked.game} has {seats} seats")
    if seats > TWO and 2 * (asked.rotations or seats) > MOST_SEATINGS:
        raise WrongUse(f"--rotations: a block would be too long; at most {MOST_SEATINGS // 2} can be")
    for index, name in enumerate(asked.field):
        if printable_name(name) in map(printable_name, asked.field[:index]):
            raise WrongUse(f"--field: {name!r} is there twice")


def _bot(flag: str, name: str, asked: Asked) -> BotFolder:
    say_link(name)
    try:
        return find_entry(name, asked.game, asked.caps)
    except BotFolderError as error:
        raise WrongUse(f"{flag}: {error}") from None


def _test(asked: Asked, seats: int) -> Test:
    given: dict[str, Any] = {
        name: getattr(asked, name)
        for name in ("alpha", "beta", *(OF_TWO if seats == TWO else ("low", "high")))
        if getattr(asked, name) is not None
    }
    try:
        return msgspec.convert(given, Sprt) if seats == TWO else msgspec.convert(given, Anytime)
    except ValueError as error:
        raise WrongUse(str(error)) from None
