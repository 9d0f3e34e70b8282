"""Makes a regression test of what was asked for on the command line, or says what is wrong with it."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.config import BotCaps, Tournament, TournamentFile, called, find_entry, random_bot, say_link
from arena.errors import WrongUse
from arena.game_options import read_clock, rules_asked
from arena.quantities import counted
from arena.regression.model import BASE, FIELD, HEAD, MOST_SEATINGS, Regression, Test
from arena.regression.questions import DEFAULT, QUESTIONS, QuestionName
from arena.schedule import TWO
from arena.statistics import Anytime, EloModel, Resource, Sprt, UsageLimit
from referee.bot_folder import BotFolder, BotFolderError, read_bot_name
from referee.match import Policy
from referee.printable import printable_name
from referee.sandbox import Isolation

SHOWN = len("sha256:") + 12
"""Characters of a content's hash that a message shows."""
OF_TWO = ("elo0", "elo1", "model")
"""What is asked only if base and head meet: in games of two seats without a field."""
OF_FIELD = ("low", "high")
"""What is asked only of play against a field."""
LIMITS: dict[str, Resource] = {"slower": "time", "larger": "memory"}
"""Options that limit what head may use."""
MOST_FIELD = 100


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
    question: QuestionName | None = None
    elo0: float | None = None
    elo1: float | None = None
    model: EloModel | None = None
    low: float | None = None
    high: float | None = None
    slower: float | None = None
    larger: float | None = None
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
        labels=("base", "head", *(f"field {printable_name(called(bot.given))}" for bot in bots[FIELD:])),
        results=Path(),
    )
    is_head_to_head = seats == TWO and not asked.field
    return Regression(arena=arena, test=_test(asked, is_head_to_head), limit=asked.blocks, usage=_limits(asked))


def same_content_text(regression: Regression) -> str | None:
    """Return why a test of these two has no answer: they have the same content. None: they have not."""
    base, head = regression.arena.folders[BASE], regression.arena.folders[HEAD]
    if base.content != head.content:
        return None
    both = f"base ({printable_name(called(base.given))}) and head ({printable_name(called(head.given))})"
    matches = counted(regression.limit * regression.seatings, "match", ",")
    return (
        f"undecided: {both} have the same content, {head.content[:SHOWN]}…:"
        f" nothing is played, because up to {matches} would find no difference; --same-content plays anyway"
    )


def _check_for_seats(asked: Asked, seats: int) -> None:
    """Options that the game's number of seats leaves no use for, or limits."""
    _check_question(asked, seats)
    if len(asked.field) > MOST_FIELD:
        raise WrongUse(f"--field: {len(asked.field)} are too many; at most {MOST_FIELD} bots")
    if asked.rotations is not None and seats == TWO:
        raise WrongUse(f"--rotations: is for games of more than two seats; {asked.game} has two")
    if asked.rotations is not None and asked.rotations > seats:
        raise WrongUse(f"--rotations: {asked.rotations} are too many; {asked.game} has {seats} seats")
    if seats > TWO and 2 * (asked.rotations or seats) > MOST_SEATINGS:
        raise WrongUse(f"--rotations: a block would be too long; at most {MOST_SEATINGS // 2} can be")
    for index, name in enumerate(asked.field):
        if printable_name(name) in map(printable_name, asked.field[:index]):
            raise WrongUse(f"--field: {name!r} is given twice")


def _check_question(asked: Asked, seats: int) -> None:
    """Hypotheses that are not of this kind of test, or beside a question."""
    numbers = [name for name in (*OF_TWO, *OF_FIELD) if getattr(asked, name) is not None]
    meet = seats == TWO and not asked.field
    for name in numbers:
        flag = "--elo-model" if name == "model" else f"--{name}"
        if meet and name in OF_FIELD:
            raise WrongUse(f"{flag}: is for play against a field; {asked.game} has two seats: add --field BOT")
        if not meet and name in OF_TWO:
            why = f"{asked.game} has {seats}" if seats > TWO else "with --field there are --low and --high"
            raise WrongUse(f"{flag}: is for games of two seats without a field; {why}")
        if asked.question is not None and name != "model":
            raise WrongUse(f"{flag}: cannot be combined with --question; leave one of them out")


def _bot(flag: str, name: str, asked: Asked) -> BotFolder:
    bot = read_bot_name(name)
    say_link(bot)
    try:
        return find_entry(bot, asked.game, asked.caps)
    except BotFolderError as error:
        raise WrongUse(f"{flag}: {error}") from None


def _test(asked: Asked, is_head_to_head: bool) -> Test:
    question = QUESTIONS[asked.question or DEFAULT]
    names = ("elo0", "elo1") if is_head_to_head else OF_FIELD
    given: dict[str, Any] = {"alpha": asked.alpha, "beta": asked.beta}
    for name in names:
        number = getattr(asked, name)
        given[name] = getattr(question, name) if number is None else number
    if is_head_to_head and asked.model is not None:
        given["model"] = asked.model
    try:
        return msgspec.convert(given, Sprt) if is_head_to_head else msgspec.convert(given, Anytime)
    except ValueError as error:
        raise WrongUse(str(error)) from None


def _limits(asked: Asked) -> tuple[UsageLimit, ...]:
    """What head may use beside base."""
    if asked.larger is not None and asked.isolation == "none":
        raise WrongUse("--larger: memory is not measured with --isolation none")
    found = []
    for option, resource in LIMITS.items():
        most = getattr(asked, option)
        if most is not None:
            try:
                found.append(UsageLimit(resource=resource, most=most, alpha=asked.alpha, beta=asked.beta))
            except ValueError as error:
                raise WrongUse(f"--{option}: {error}") from None
    return tuple(found)
