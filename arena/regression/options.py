"""Options of a regression test, and the test that they describe."""

from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.config import BotCaps, Tournament, TournamentFile, called, find_entry, random_bot, say_link
from arena.errors import WrongUse, as_wrong_use
from arena.options import (
    ClockOption,
    OptionsOption,
    VariantOption,
    WarmOption,
    complete_bots,
    option,
    read_clock,
    rules_asked,
)
from arena.quantities import pluralise
from arena.regression.model import (
    BASE,
    DEFAULT,
    HEAD,
    MOST_SEATINGS,
    QUESTIONS,
    QuestionName,
    Regression,
    Test,
)
from arena.schedule import MOST_BLOCKS, TWO
from arena.statistics import Anytime, EloModel, Resource, Sprt, UsageLimit
from referee.bot_folder import BotFolder, BotFolderError, read_bot_name
from referee.display_text import printable_name
from referee.match import Policy
from referee.sandbox import Isolation

SHOWN = len("sha256:") + 12
"""Number of characters shown of a content hash."""
OF_TWO = ("elo0", "elo1", "model")
"""Options of head-to-head tests only: games of two seats without a field."""
OF_FIELD = ("low", "high")
"""Options of tests against a field only."""
Blocks = Annotated[int, Meta(ge=1, le=MOST_BLOCKS)]
LIMITS: dict[str, Resource] = {"slower": "time", "larger": "memory"}
"""Options that limit head's resource use, with the resource."""
MOST_FIELD = 100


class RegressionOptions(Struct, frozen=True, kw_only=True):
    """Options of a regression test; None or empty if not given."""

    game: str = ""
    base: Annotated[str, option("The old version.", required=True, metavar="BOT", shell_complete=complete_bots)]
    head: Annotated[str, option("The new version.", required=True, metavar="BOT", shell_complete=complete_bots)]
    variant: VariantOption = None
    options: OptionsOption = None
    question: Annotated[
        QuestionName | None,
        option("What is asked: is head better, not worse, or much better?  [default: better]"),
    ] = None
    slower: Annotated[
        float | None,
        option("Also fail head if its processor time per move is more than RATIO times base's.", metavar="RATIO"),
    ] = None
    larger: Annotated[
        float | None,
        option("Also fail head if its peak memory is more than RATIO times base's.", metavar="RATIO"),
    ] = None
    field: Annotated[
        tuple[str, ...],
        option(
            "A fixed opponent: base and head each play against the field; repeatable."
            "  [default with two seats: base and head meet; with more: a random bot]",
            metavar="BOT",
            shell_complete=complete_bots,
        ),
    ] = ()
    elo0: Annotated[float | None, option("In place of --question: head's advantage in Elo under H0.")] = None
    elo1: Annotated[float | None, option("In place of --question: head's advantage in Elo under H1.")] = None
    model: Annotated[EloModel | None, option("[default: normalized]", "--elo-model")] = None
    low: Annotated[
        float | None,
        option("In place of --question, with a field: advantage in points a match under H0."),
    ] = None
    high: Annotated[
        float | None,
        option("In place of --question, with a field: advantage in points a match under H1."),
    ] = None
    alpha: Annotated[float, option("Bound on the rate of accepting head wrongly.", show_default=True)] = 0.05
    beta: Annotated[float, option("Bound on the rate of rejecting head wrongly.", show_default=True)] = 0.05
    rotations: Annotated[Blocks | None, option("More seats: number of seatings of a deal.  [default: all]")] = None
    blocks: Annotated[Blocks, option("Limit on blocks; then the test is undecided.", show_default=True)] = 40_000
    same_content: Annotated[
        bool,
        option("Test even if base and head have the same content, for example to check the test itself."),
    ] = False
    seed: Annotated[int | None, option("Seed of all deals.  [default: drawn, and kept with the results]")] = None
    clock: ClockOption = None
    isolation: Annotated[Isolation, option(show_default=True)] = "strict"
    warm: WarmOption = True
    keep_bots: Annotated[bool, option("Keep bots that can stay for the next match: quicker, less strict.")] = False
    policy: Policy = Policy()
    caps: BotCaps = BotCaps()
    """Maximum resources that a bot may request."""


def regression_of(chosen: RegressionOptions) -> Regression:
    """Find the bots and return the test. The caller fills in its results folder.

    Raises:
        WrongUse: one line that names the wrong option and what would be right.
    """
    rules, variant, options = rules_asked(chosen.game, chosen.variant, chosen.options)
    seats = rules.seats(options)
    _check_for_seats(chosen, seats)
    opponents = chosen.field
    if seats > TWO and not opponents:
        opponents = (random_bot(chosen.game),)
    bots = [_bot("--base", chosen.base, chosen), _bot("--head", chosen.head, chosen)]
    labels = ["base", "head"]
    for name in opponents:
        bot = _bot("--field", name, chosen)
        bots.append(bot)
        labels.append(f"field {printable_name(called(bot.given))}")
    policy = chosen.policy
    if chosen.keep_bots:
        policy = replace(policy, processes="kept")
    clock = None
    if chosen.clock is not None:
        clock = read_clock(chosen.clock, rules, variant, policy)
    form = TournamentFile(
        game=chosen.game,
        bots=tuple(map(attrgetter("given"), bots)),
        variant=variant,
        rotations=chosen.rotations,
        seed=chosen.seed,
        policy=policy,
        clock=clock,
        isolation=chosen.isolation,
        warm=chosen.warm,
    )
    arena = Tournament(
        file=Path(),
        form=form,
        variant=variant,
        options=options,
        seats=seats,
        bots=tuple(bots),
        labels=tuple(labels),
        results=Path(),
    )
    is_head_to_head = seats == TWO and not chosen.field
    return Regression(arena=arena, test=_test(chosen, is_head_to_head), limit=chosen.blocks, usage=_limits(chosen))


def same_content_text(regression: Regression) -> str | None:
    """Return why a test is pointless if base and head have the same content, or None if they differ."""
    base, head = regression.arena.folders[BASE], regression.arena.folders[HEAD]
    if base.content != head.content:
        return None
    both = f"base ({printable_name(called(base.given))}) and head ({printable_name(called(head.given))})"
    matches = pluralise(regression.limit * regression.seatings, "match", ",")
    return (
        f"undecided: {both} have the same content, {head.content[:SHOWN]}…:"
        f" nothing is played, because up to {matches} would find no difference; --same-content plays anyway"
    )


def _check_for_seats(chosen: RegressionOptions, seats: int) -> None:
    """Refuse options that do not apply to this number of seats."""
    _check_question(chosen, seats)
    if len(chosen.field) > MOST_FIELD:
        raise WrongUse(f"--field: {len(chosen.field)} are too many; at most {MOST_FIELD} bots")
    if chosen.rotations is not None and seats == TWO:
        raise WrongUse(f"--rotations: is for games of more than two seats; {chosen.game} has two")
    if chosen.rotations is not None and chosen.rotations > seats:
        raise WrongUse(f"--rotations: {chosen.rotations} are too many; {chosen.game} has {seats} seats")
    if seats > TWO and 2 * (chosen.rotations or seats) > MOST_SEATINGS:
        raise WrongUse(f"--rotations: a block would be too long; at most {MOST_SEATINGS // 2} can be")
    for index, name in enumerate(chosen.field):
        if printable_name(name) in map(printable_name, chosen.field[:index]):
            raise WrongUse(f"--field: {name!r} is given twice")


def _check_question(chosen: RegressionOptions, seats: int) -> None:
    """Refuse hypotheses of the other kind of test, or combined with a question."""
    numbers = [name for name in (*OF_TWO, *OF_FIELD) if getattr(chosen, name) is not None]
    meet = seats == TWO and not chosen.field
    for name in numbers:
        flag = f"--{name}"
        if name == "model":
            flag = "--elo-model"
        if meet and name in OF_FIELD:
            raise WrongUse(f"{flag}: is for play against a field; {chosen.game} has two seats: add --field BOT")
        if not meet and name in OF_TWO:
            why = "with --field there are --low and --high"
            if seats > TWO:
                why = f"{chosen.game} has {seats}"
            raise WrongUse(f"{flag}: is for games of two seats without a field; {why}")
        if chosen.question is not None and name != "model":
            raise WrongUse(f"{flag}: cannot be combined with --question; leave one of them out")


def _bot(flag: str, name: str, chosen: RegressionOptions) -> BotFolder:
    bot = read_bot_name(name)
    say_link(bot)
    with as_wrong_use(BotFolderError, about=flag):
        return find_entry(bot, chosen.game, chosen.caps)


def _test(chosen: RegressionOptions, is_head_to_head: bool) -> Test:
    question = QUESTIONS[chosen.question or DEFAULT]
    names = ("elo0", "elo1") if is_head_to_head else OF_FIELD
    given: dict[str, Any] = {"alpha": chosen.alpha, "beta": chosen.beta}
    for name in names:
        given[name] = getattr(chosen, name)
        if given[name] is None:
            given[name] = getattr(question, name)
    if is_head_to_head and chosen.model is not None:
        given["model"] = chosen.model
    with as_wrong_use(ValueError):
        if is_head_to_head:
            return msgspec.convert(given, Sprt)
        return msgspec.convert(given, Anytime)


def _limits(chosen: RegressionOptions) -> tuple[UsageLimit, ...]:
    """Return the limits on head's resource use."""
    if chosen.larger is not None and chosen.isolation == "none":
        raise WrongUse("--larger: memory is not measured with --isolation none")
    limits = []
    for name, resource in LIMITS.items():
        most = getattr(chosen, name)
        if most is not None:
            with as_wrong_use(ValueError, about=f"--{name}"):
                limits.append(UsageLimit(resource=resource, most=most, alpha=chosen.alpha, beta=chosen.beta))
    return tuple(limits)
