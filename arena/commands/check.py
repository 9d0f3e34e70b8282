"""`arena check`: check that a bot, or a tournament's bots, start and play. The exit code is for CI."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import filterfalse
from pathlib import Path
from typing import Annotated, Any

import click
from msgspec import Meta, Raw, Struct
from msgspec.structs import asdict, replace

from arena.checks import FieldCheck, GameCheck, check_bot, check_field, forecast, only_void
from arena.commands.options import (
    AtOnce,
    CapsOption,
    PolicyOptions,
    caps_given,
    read_policy,
)
from arena.config import (
    HOUSE_MARK,
    Tournament,
    affinity_place,
    called,
    entry_place,
    find_entry,
    is_season,
    label_of,
    other_name,
    random_bot,
    read_season,
    read_tournament,
    say_link,
    short_name,
)
from arena.errors import AnswerIsNo, MachineCannot, WrongUse, as_wrong_use
from arena.options import (
    ClockOption,
    JsonOption,
    OptionsOption,
    VariantOption,
    WarmOption,
    complete_bots,
    complete_games,
    default_folder,
    option,
    options,
    read_clock,
    refuse_in_bot,
    rules_asked,
)
from arena.quantities import duration, pluralise
from arena.reports import (
    CheckedGame,
    field_json,
    field_table,
    forecast_text,
    game_json,
    game_table,
    said_lines,
    strength_text,
)
from arena.schedule import blocks_so_far, design_of
from arena.season import all_bots
from arena.terminal import print_json, results_console, say, show
from arena.workers import LOCAL, Placement, PoolSetup, matches_at_once, workers_kept
from protocol.messages import ClockTerms
from protocol.refusals import Conduct
from referee.bot_folder import BotFolder, BotFolderError, find_bot, read_bot_name
from referee.display_text import did_you_mean, printable_name
from referee.games import GAMES
from referee.host import Plan
from referee.match import MICROSECONDS_PER_MS, ClockTable, Policy, clock_terms
from referee.sandbox import Isolation

MOST_MATCHES = 10_000
MOST_MS = 60_000
"""Default main time of a window, and reserve. Most games give a day, which is too long if a bot hangs."""
OF_ONE_BOT = ("games", "matches", "against", "variant", "options", "seed", "clock", "caps")
"""Options that do not apply to tournaments, like those of the policy; a tournament's file sets them."""


class CheckOptions(Struct, frozen=True, kw_only=True):
    """Options of a check."""

    games: Annotated[
        tuple[str, ...],
        option(
            "Game to play; repeatable.  [default: all of BOT]",
            "--game",
            shell_complete=complete_games,
        ),
    ] = ()
    matches: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_MATCHES)] | None, option("Matches of each game.  [default: 10]")
    ] = None
    against: Annotated[
        str | None,
        option(
            "Bot for all other seats.  [default: the game's random sample bot]",
            metavar="BOT",
            shell_complete=complete_bots,
        ),
    ] = None
    variant: VariantOption = None
    options: OptionsOption = None
    seed: Annotated[int | None, option("Seed of the first match; the others count on.  [default: drawn]")] = None
    clock: ClockOption = None
    isolation: Annotated[Isolation | None, option("[default: strict, or the tournament's]")] = None
    warm: WarmOption = True
    concurrency: Annotated[AtOnce | None, option("Number of matches at once.  [default: one for each core]")] = (
        None
    )
    results: Annotated[
        Path | None,
        option(
            "Folder for transcripts and logs.  [default: a new one in runs/check, never in a bot's folder]",
        ),
    ] = None
    as_json: JsonOption = False
    policy: PolicyOptions = PolicyOptions()
    caps: CapsOption = ()


@click.command("check")
@click.argument("target", metavar="BOT|FILE.toml", shell_complete=complete_bots)
@options(CheckOptions)
def command(target: str, *, asked: CheckOptions) -> None:
    """Check that a BOT starts and plays, or that all bots of a tournament's FILE.toml do.

    A BOT is a folder, FOLDER@REVISION or a sample bot's name. It plays matches of each of its games against the
    random sample bot, or the bot that --against names, and gets its mean points with a 95 % interval. Each bot of
    a tournament plays one, under the tournament's terms; no result is kept. Of a season's file, each bot plays one
    under the terms of the first stage.

    Exit codes: 0 all is well; 1 a bot cannot start, or BOT has a fault or lost a window by its own fault; 2 wrong
    use or bad input; 3 this machine cannot do it.
    """
    if asked.results is not None:
        refuse_in_bot(asked.results, "--results")
    started = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    folder = asked.results or default_folder(f"runs/check/{_short(target)}-{started}")
    with workers_kept():
        if target.endswith(".toml"):
            _check_tournament(Path(target), folder, asked)
        else:
            _check_bot(target, folder, asked)


def _check_bot(name: str, folder: Path, asked: CheckOptions) -> None:
    bot, games = _found(name, asked)
    checked = _played(name, bot, games, folder, asked)
    wrong = [each.game for each in checked if not each.tally.is_well]
    label, calls_itself = called(name), other_name(bot, label_of(name))
    if asked.as_json:
        about: dict[str, Any] = {"bot": label, "name": bot.name, "version": bot.version}
        about |= {"content": bot.content, "well": not wrong}
        print_json({**about, "games": [game_json(each, bot) for each in checked], "folder": str(folder)})
    else:
        screen = results_console()
        show(screen, game_table(checked, bot))
        for each in checked:
            for line in said_lines(each.game, each.tally, each.trials):
                screen.say(line)
            if each.tally.is_well and (strength := strength_text(label, each, MOST_MATCHES)):
                screen.say(strength)
        if calls_itself is not None:
            screen.say(f"{label}: {calls_itself}")
        screen.say(f"transcripts and logs: {folder}")
    if wrong and (why := only_void([(each.tally, each.trials) for each in checked])) is not None:
        raise MachineCannot(f"{label}: {why}")
    if wrong:
        text = f"{label} failed in {', '.join(wrong)}"
        if not asked.as_json:
            above = "the line above says" if len(wrong) == 1 else "the lines above say"
            text += f"; {above} why"
        raise AnswerIsNo(text)


def _played(
    name: str, bot: BotFolder, games: Sequence[str], folder: Path, asked: CheckOptions
) -> list[CheckedGame]:
    """Play the matches of a bot's check."""
    policy = read_policy(asked.policy)
    if asked.policy.unfair is None:
        # A check must also end on a busy machine.
        policy = replace(policy, unfair="note")
    plans = [_plan(game, policy, asked) for game in games]
    others: list[str] = []
    opponents: list[BotFolder] = []
    for game in games:
        others.append(asked.against or random_bot(game))
        with as_wrong_use(BotFolderError, about="--against"):
            opponents.append(find_entry(others[-1], game, caps_given(asked.caps)))
    failed: dict[int, str] = {}
    isolation, seats = plans[0].isolation, max(map(_seats, plans))
    setup = PoolSetup(where=_here(asked), isolation=isolation, seats=seats)
    players, pool = setup.pool_for((bot, *opponents), failed=failed)
    if 0 in failed:
        raise AnswerIsNo(f"{called(name)}: {failed[0]}")
    if failed:
        raise WrongUse(f"--against: {others[0]}: {next(iter(failed.values()))}")
    checks = [
        GameCheck(plan, asked.seed, _seats(plan), label_of(name), player)
        for plan, player in zip(plans, players[1:], strict=True)
    ]
    if asked.clock is None:
        _say_short(plans)
    found = check_bot(checks, players[0], asked.matches or 10, pool, folder)
    checked = [
        CheckedGame(plan.game, plan.variant, _clock(plan), tally, trials, called(other))
        for plan, (tally, trials), other in zip(plans, found, others, strict=True)
    ]
    if asked.against is not None:
        _demand_started(asked.against, checked)
    return checked


def _demand_started(name: str, checked: Sequence[CheckedGame]) -> None:
    """Check that the opponent started in all matches, because an absent one loses.

    Raises:
        WrongUse: it never started.
    """
    for each in checked:
        for trial in each.trials:
            if trial.result is None:
                continue
            others = list(trial.result.conduct)
            del others[trial.seat]
            if Conduct.NEVER_STARTED in others:
                raise WrongUse(
                    f"--against: {name} never started in {each.game}; check it first: arena check {name}"
                )


def _found(name: str, asked: CheckOptions) -> tuple[BotFolder, list[str]]:
    """Return the bot, and the games in which to check it."""
    caps = caps_given(asked.caps)
    for game in asked.games:
        rules_asked(game, None, None)
    read = read_bot_name(name)
    say_link(read)
    with as_wrong_use(BotFolderError):
        bot = find_bot(read)
        games = list(dict.fromkeys(asked.games)) or list(filter(bot.plays, GAMES))
        for game in games:
            find_entry(read, game, caps)
    if unknown := list(filterfalse(GAMES.__contains__, bot.games or ())):
        near = did_you_mean(unknown[0], GAMES, "games")
        say(f"{name}: bot.toml: games: there is no {', '.join(map(repr, unknown))}; {near}")
    if not games:
        raise WrongUse(f"{name}: bot.toml names no game that is installed here")
    if len(games) > 1:
        for option_name in ("variant", "options", "clock"):
            if getattr(asked, option_name) is not None:
                raise WrongUse(f"--{option_name}: applies to one game; choose it with --game: {', '.join(games)}")
    return bot, games


def _plan(game: str, policy: Policy, asked: CheckOptions) -> Plan:
    rules, variant, _ = rules_asked(game, asked.variant, asked.options)
    if asked.clock is not None:
        clock = read_clock(asked.clock, rules, variant, policy)
    elif policy.main_ms is None:
        clock, policy = _short_clock(clock_terms(rules, variant, policy), policy)
    else:
        clock = None
    raw = Raw(asked.options) if asked.options is not None else None
    return Plan(
        match="",
        game=game,
        variant=variant,
        seed=0,
        options=raw,
        policy=policy,
        clock=clock,
        isolation=asked.isolation or "strict",
        warm=asked.warm,
    )


def _short_clock(terms: ClockTerms, policy: Policy) -> tuple[ClockTable, Policy]:
    """Return a clock with times of at most `MOST_MS`, except a requested reserve, and the policy without one."""
    reserve = terms.reserve_ms if policy.reserve_ms is not None else min(terms.reserve_ms, MOST_MS)
    main = {window: min(main_ms, MOST_MS) for window, main_ms in terms.main_ms.items()}
    return ClockTable(main_ms=main, reserve_ms=reserve), replace(policy, reserve_ms=None)


def _say_short(plans: Sequence[Plan]) -> None:
    """Print the games whose windows are shorter than in their rules."""
    short = [
        plan.game
        for plan in plans
        if plan.clock is not None and max(GAMES[plan.game].variant(plan.variant).time.main_ms.values()) > MOST_MS
    ]
    if short:
        most = duration(MOST_MS * MICROSECONDS_PER_MS)
        whose = ", ".join(f"{game}'s" for game in short)
        say(f"This check cuts {whose} windows to {most}; --main-ms changes that")


def _seats(plan: Plan) -> int:
    rules = GAMES[plan.game]
    return rules.seats(rules.read_options(plan.variant, plan.options))


def _clock(plan: Plan) -> Any:
    return clock_terms(GAMES[plan.game], plan.variant, plan.policy, plan.clock)


def _check_tournament(file: Path, folder: Path, asked: CheckOptions) -> None:
    chosen = {name: getattr(asked, name) for name in OF_ONE_BOT} | asdict(asked.policy)
    for name, value in chosen.items():
        if value not in (None, ()):
            flag = {"games": "game", "caps": "cap"}.get(name, name).replace("_", "-")
            raise WrongUse(f"--{flag}: applies to a bot only; a tournament's file sets it")
    of_season = is_season(file)
    tournament = all_bots(read_season(file)) if of_season else read_tournament(file)
    form = tournament.form
    isolation, warm = asked.isolation or form.isolation, form.warm and asked.warm
    form = replace(form, isolation=isolation, warm=warm)
    tournament = replace(tournament, form=form)
    at_once = asked.concurrency or form.concurrency or matches_at_once()
    failed: dict[int, str] = {}
    bots = (*tournament.bots, find_bot(random_bot(form.game)))
    setup = PoolSetup(
        where=_here(asked),
        isolation=form.isolation,
        seats=tournament.seats,
        at_once=form.concurrency,
        affinity=affinity_place(tournament),
    )
    players, pool = setup.pool_for(bots, failed=failed)
    found = check_field(tournament, players[:-1], FieldCheck(players[-1], pool, failed), folder)
    design = expected = None
    ahead: tuple[str, ...] = ("a season: how long it takes depends on the tables of its stages",)
    if not of_season:
        schedule, seed = tournament.schedule, form.seed or 0
        blocks = list(blocks_so_far(schedule.rounds(seed), ()))
        design = design_of(blocks, range(len(form.bots)), tournament.seats)
        matches = max(design.matches, schedule.matches)
        times = {each.entrant: each.times for each in found if each.times is not None}
        expected = forecast(blocks, matches, times, at_once=at_once)
        ahead = (design.text, forecast_text(expected))
        if form.endless:
            ahead = ("a ladder without an end: it plays until it is stopped",)
    if asked.as_json:
        print_json({**field_json(found, tournament, design, expected), "folder": str(folder)})
    else:
        screen = results_console()
        show(screen, field_table(found, tournament))
        for each in found:
            for line in said_lines(each.label, each.tally, [each.trial] if each.trial else [], each.broken):
                screen.say(line)
        for line in (*_names(tournament), *ahead, f"transcripts and logs: {folder}"):
            screen.say(line)
    if broken := [each for each in found if each.broken]:
        places = ", ".join(f"{entry_place(tournament, each.entrant)} ({each.label})" for each in broken)
        raise AnswerIsNo(f"{pluralise(len(broken), 'bot')} cannot start: {places}")


def _names(tournament: Tournament) -> Sequence[str]:
    """Return a line for each name that is displayed differently, or differs from the one in its bot.toml."""
    lines = [
        f"{entry_place(tournament, index)}: its name is shown as {tournament.labels[index]}"
        for index, name in enumerate(tournament.form.bots)
        if printable_name(name) != name
    ]
    for index, (label, bot) in enumerate(zip(tournament.labels, tournament.bots, strict=True)):
        own = label.removesuffix(HOUSE_MARK) if index == tournament.house else label
        text = other_name(bot, own) if isinstance(bot, BotFolder) else None
        if text is not None:
            lines.append(f"{entry_place(tournament, index)}: {label}: {text}")
    return lines


def _here(asked: CheckOptions) -> Placement:
    return Placement(on=LOCAL, transcripts=None, concurrency=asked.concurrency, workers=None)


def _short(target: str) -> str:
    """Return the last part of a name, with characters that suit a file name."""
    name = short_name(target).removesuffix(".toml")[:60]
    return "".join(char if char.isalnum() or char in "._@+-" else "_" for char in name)
