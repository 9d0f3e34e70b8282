"""`arena match`: one match, shown as it goes."""

import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from math import isfinite
from pathlib import Path
from random import SystemRandom
from typing import Any, get_args

import click
from msgspec import Raw
from msgspec.structs import replace

from arena.commands.completion import complete_bots, complete_games, complete_variants
from arena.commands.options import (
    adding,
    cap_option,
    caps_given,
    clock_option,
    feed_asked,
    feed_option,
    log_option,
    open_log,
    policy_options,
    read_policy,
    usage_option,
    warm_option,
)
from arena.config import BotCaps, find_entry, find_remote, labels_of, say_link
from arena.errors import AnswerIsNo, WrongUse
from arena.feed import open_feed
from arena.game_options import read_clock, read_setup, rules_asked
from arena.live import ChatHere, Eyes, Watcher, at_terminal, in_place, person_here, play_match, presses, read_eyes
from arena.output_folders import default_folder, refuse_in_bot
from arena.quantities import pluralise
from arena.reports import match_json, show_match
from arena.schedule import SEED_BITS
from arena.terminal import print_json, progress_console, say
from arena.workers import demand_room, ready
from bots.language_model.settings import Settings
from protocol.refusals import Conduct
from protocol.words import Options
from referee.bot_folder import CONSOLE, BotFolder, BotFolderError, is_remote, read_bot_name
from referee.host import LocalSeat, Plan, Player, RemoteBot, Result, SandboxedBot, cannot_play, play
from referee.rules import Game
from referee.sandbox import Isolation

LONGEST_DELAY = 60
CHAT = "chat"
"""The sample bot that a language model plays: in this process, because the sandbox has no network."""
NO_ENDPOINT = (
    "bots in the sandbox get no variables and no network; set CHAT_URL and CHAT_MODEL, so that it plays in this"
    " process, or use play() or a remote seat: docs/language-models.md"
)
PlayIt = Callable[..., Result]
"""Plays a match of a plan and players, its transcript in a folder, told who watches: as `play_match`."""

match_options = adding(
    click.argument("game", shell_complete=complete_games),
    click.argument("bots", nargs=-1, metavar="BOT BOT ...", shell_complete=complete_bots),
    click.option(
        "--variant", shell_complete=complete_variants, help="Variant of the game.  [default: the game's]"
    ),
    click.option("--seed", type=int, help="Seed of the match.  [default: drawn and printed]"),
    click.option(
        "--fill",
        metavar="BOT",
        shell_complete=complete_bots,
        help="Bot for the remaining seats, such as a sample bot.",
    ),
    click.option("--options", help="The game's options, as a JSON object."),
    click.option(
        "--setup",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="JSON file with the game's secrets; `arena games GAME --setup` prints one.  [default: drawn]",
    ),
    clock_option,
    click.option(
        "--watch",
        metavar="[spectator|host|SEAT]",
        is_flag=False,
        flag_value="spectator",
        help="Show the board during the match, as seen by a spectator, the host or a seat.",
    ),
    click.option(
        "--delay",
        type=click.FloatRange(0, LONGEST_DELAY),
        default=0.0,
        metavar="SECONDS",
        help="With --watch, show each step for at least this long; the match itself does not wait.",
    ),
    click.option("--isolation", type=click.Choice(get_args(Isolation)), default="strict", show_default=True),
    warm_option,
    click.option(
        "--transcripts",
        type=click.Path(path_type=Path),
        help="Folder for the transcript.  [default: transcripts; never in a bot's folder]",
    ),
    feed_option,
    log_option,
    usage_option,
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    policy_options,
    cap_option,
)
"""Which match is to be played, and how it is shown."""


@click.command("match")
@match_options
@click.option(
    "--debug",
    metavar="SEAT",
    type=click.IntRange(min=0),
    help="Run the bot of SEAT at this terminal, outside the sandbox and without a clock, for a debugger.",
)
def command(
    game: str,
    bots: tuple[str, ...],
    *,
    transcripts: Path | None,
    as_json: bool,
    feed: str | None,
    log: str | None,
    **given: Any,
) -> None:
    """Play one match of GAME: one BOT for each seat, from seat 0 on; --fill gives one to the rest.

    A BOT is a folder, FOLDER@REVISION, a sample bot's name, or "console" for a person at this terminal. The sample
    bot "chat" plays in this process, with the language model that CHAT_URL names. SIGUSR1 pauses the match,
    SIGUSR2 lets it go on.

    Exit codes: 0 the match was played; 1 a bot never started, took the default or returned nothing in all of its
    windows, or got no action from its language model; 2 wrong use or bad input; 3 this machine cannot do it.
    """
    for name in (*bots, given["fill"] or ""):
        if is_remote(name):
            raise WrongUse(f"{name}: a bot on another machine comes to `arena host`")
    folder = transcripts_folder(transcripts)
    with open_log(log) as events, open_feed(feed_asked(feed, folder)) as line:
        publish = None if line is None else line.publish
        play_it = partial(play_match, play=partial(play, publish=publish, log=events.logger))
        play_asked(game, bots, given, play_it, transcripts=folder, as_json=as_json)


def transcripts_folder(asked: Path | None) -> Path:
    """Return the folder for the transcript; without `--transcripts`, one that lies in no bot's folder.

    Raises:
        WrongUse: the folder that was asked for lies in a bot's.
    """
    if asked is None:
        return default_folder("transcripts")
    refuse_in_bot(asked, "--transcripts")
    return asked


def play_asked(
    game: str, bots: tuple[str, ...], given: dict[str, Any], play_it: PlayIt, *, transcripts: Path, as_json: bool
) -> None:
    """Plays the match that a command line asks for, and prints what came of it.

    Raises:
        WrongUse: there is no such match.
    """
    rules, variant, in_force = rules_asked(game, given["variant"], given["options"])
    bots = _filled(game, bots, rules.seats(in_force), given["fill"])
    plan = replace(_plan(rules, variant, in_force, given), labels=tuple(labels_of(bots)))
    if bots.count(CONSOLE) > 1:
        raise WrongUse(f"{CONSOLE}: there is one terminal, for one person")
    caps = caps_given(given["caps"])
    players = [_player(name, game, caps) for name in bots]
    awaited = [player for player in players if isinstance(player, RemoteBot)]
    if conflict := cannot_play(plan, awaited, {bot.key for bot in awaited}):
        raise WrongUse(str(conflict))
    folders = [player.folder for player in players if isinstance(player, SandboxedBot)]
    demand_room(folders, plan.isolation, seats=len(players), shares=[1], of_worker=False)
    players = [_built(player, given["isolation"]) for player in players]
    debug = given.get("debug")
    bot = None if debug is None else _to_debug(debug, players)
    eyes = _eyes(given, len(players))
    of_whom = " (of bots on this machine)" if awaited else ""
    say(f"match {plan.match}, seed {plan.seed}, isolation {plan.isolation}{of_whom}")
    with ExitStack() as stack:
        if bot is not None and debug is not None:
            say(f"seat {debug} is debugged: its clock is stopped, and the result must not be rated")
            players[debug] = SandboxedBot(bot, stack.enter_context(at_terminal(bot, as_json=as_json)))
            play_it = partial(play_it, ctrl_c=presses(bot))
        names = [_name(label, player) for label, player in zip(plan.labels, players, strict=True)]
        watch = None
        if eyes is not None:
            # Where somebody types, steps are shown one below the other.
            typed = bot is not None or CONSOLE in bots
            watcher = Watcher(progress_console(), eyes, names, delay=given["delay"], in_place=not typed)
            watch = stack.enter_context(watcher)
        result = play_it(plan, players, transcripts, watch=watch)
    if as_json:
        print_json(match_json(result))
    else:
        show_match(result, names, usage=given["usage"])
    if why := _no_match(result, names, players):
        raise AnswerIsNo(why)


def _no_match(result: Result, names: Sequence[str], players: Sequence[Player]) -> str:
    """Return which bots did not take part, in words, such as those that never started. Empty: none."""
    said: list[str] = []
    for seat, player in enumerate(players):
        windows = result.windows[seat]
        if result.conduct[seat] is Conduct.NEVER_STARTED:
            said.append(f"{names[seat]} (seat {seat}) never started")
        elif windows and _is_silent_model(player):
            said.append(f"{names[seat]} (seat {seat}) got no action from its model in {_all_of(windows)}")
        elif windows and result.defaults[seat] == windows and not _is_person(player):
            said.append(f"{names[seat]} (seat {seat}) took the default in {_all_of(windows)}")
        elif windows and result.report(seat).returned_nothing == windows:
            said.append(f"{names[seat]} (seat {seat}): decide returned nothing in {_all_of(windows)}")
    return "; ".join(said)


def _all_of(windows: int) -> str:
    return f"all of its {pluralise(windows, 'window')}"


def _is_person(player: Player) -> bool:
    return isinstance(player, LocalSeat) and player.name == CONSOLE


def _is_silent_model(player: Player) -> bool:
    """Return whether a language model of this process gave no action: the seat chose the defaults itself."""
    seat = getattr(player.play, "__self__", None) if isinstance(player, LocalSeat) else None
    return isinstance(seat, ChatHere) and seat.actions == 0


def _to_debug(seat: int, players: Sequence[Player]) -> BotFolder:
    """The bot at the seat that `--debug` names."""
    if seat >= len(players):
        raise WrongUse(f"--debug: there is no seat {seat}; the seats are 0 to {len(players) - 1}")
    player = players[seat]
    if not isinstance(player, SandboxedBot):
        raise WrongUse(f"--debug: no bot of this machine sits in seat {seat}")
    if any(isinstance(other, LocalSeat) for other in players):
        raise WrongUse(f"--debug: the bot and {CONSOLE} cannot both have this terminal")
    return in_place(player.folder)


def _eyes(given: dict[str, Any], seats: int) -> Eyes | None:
    """Whose eyes watch the match; None: nobody's."""
    if not isfinite(given["delay"]):
        raise WrongUse("--delay: give a number of seconds")
    if given["watch"] is None and given["delay"]:
        raise WrongUse("--delay: has no effect without --watch")
    return None if given["watch"] is None else read_eyes("--watch", given["watch"], seats)


def _filled(game: str, bots: tuple[str, ...], seats: int, fill: str | None) -> tuple[str, ...]:
    """A bot for each seat."""
    if fill is not None and len(bots) < seats:
        return bots + (fill,) * (seats - len(bots))
    if len(bots) != seats:
        are = "is" if len(bots) == 1 else "are"
        more = "" if len(bots) > seats else "; --fill BOT gives one to the others"
        raise WrongUse(f"BOT: {game} has {seats} seats, and {pluralise(len(bots), 'bot')} {are} named{more}")
    return bots


def _plan(rules: Game[Any], variant: str, in_force: Options, given: dict[str, Any]) -> Plan:
    """The match that was asked for, checked as far as the rules go."""
    policy = read_policy(given)
    return Plan(
        match=f"{rules.name}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}",
        game=rules.name,
        variant=variant,
        seed=SystemRandom().getrandbits(SEED_BITS) if given["seed"] is None else given["seed"],
        options=None if given["options"] is None else Raw(given["options"]),
        setup=None if given["setup"] is None else read_setup(given["setup"], rules, variant, in_force),
        policy=policy,
        clock=None if given["clock"] is None else read_clock(given["clock"], rules, variant, policy),
        isolation=given["isolation"],
        warm=given["warm"],
    )


def _player(text: str, game: str, caps: BotCaps) -> Player:
    """The player of a seat; a bot that needs a build is not built yet."""
    name = read_bot_name(text)
    if name.kind == "console":
        return LocalSeat(CONSOLE, person_here().play)
    if name.kind == "sample" and name.path.name == CHAT and name.revision is None:
        return _chat(game)
    if not name.is_remote:
        say_link(name)
    try:
        if name.is_remote:
            return find_remote(name)
        return SandboxedBot(find_entry(name, game, caps, f"{text}:"))
    except BotFolderError as error:
        raise WrongUse(str(error)) from None


def _chat(game: str) -> LocalSeat:
    """A seat for the language model whose endpoint our variables name.

    Raises:
        WrongUse: they name none, or the bot does not play the game.
    """
    try:
        find_entry(CHAT, game, BotCaps())
        settings = Settings.read()
    except BotFolderError as error:
        raise WrongUse(str(error)) from None
    except SystemExit as error:
        what = str(error) if os.environ.get("CHAT_URL") else NO_ENDPOINT
        raise WrongUse(f"{CHAT}: {what}") from None
    return LocalSeat(CHAT, ChatHere(CHAT, settings).play)


def _built(player: Player, isolation: Isolation) -> Player:
    if isinstance(player, SandboxedBot):
        (folder,) = ready([player.folder], isolation)
        return SandboxedBot(folder)
    return player


def _name(label: str, player: Player) -> str:
    """Return what the tables of the match call a player: its label, and where it runs if that is not here."""
    if isinstance(player, RemoteBot):
        return f"{label} (remote)"
    if isinstance(player, SandboxedBot) and player.terminal is not None:
        return f"{label} (debugged)"
    return label
