"""`arena match` and `arena host`: play one match, and show it while it is played."""

import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from math import isfinite, isnan
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import click
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from arena.commands.options import (
    CapsOption,
    FeedOption,
    LogOption,
    PolicyOptions,
    UsageOption,
    caps_given,
    feed_asked,
    host_keys,
    open_log,
    read_policy,
)
from arena.config import BotCaps, find_entry, find_remote, labels_of, say_link
from arena.errors import AnswerIsNo, WrongUse, as_wrong_use
from arena.feed import open_feed
from arena.live import (
    Eyes,
    LanguageModelSeat,
    Watcher,
    at_terminal,
    console_seat,
    in_place,
    play_hosted,
    play_match,
    presses,
    read_eyes,
)
from arena.options import (
    ClockOption,
    CommandT,
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
    read_setup,
    refuse_in_bot,
    rules_asked,
)
from arena.quantities import pluralise
from arena.reports import match_json, show_match
from arena.schedule import SEED_BITS
from arena.terminal import print_json, progress_console, say
from arena.workers import Hosting, demand_room, ready
from bots.language_model.settings import Settings
from protocol.refusals import Conduct
from protocol.words import Options
from referee.bot_folder import CONSOLE, REMOTE, BotFolder, BotFolderError, is_remote, read_bot_name
from referee.host import AttemptResult, LocalSeat, Plan, Player, RemoteBot, SandboxedBot, cannot_play, play
from referee.rules import AnyGame
from referee.sandbox import Isolation
from referee.wire import BadAddressError, read_address

LONGEST_DELAY = 60
MAX_WAIT_SECONDS = 365 * 86_400
CHAT = "chat"
"""Sample bot of a language model. It runs in this process, because the sandbox has no network."""
NO_ENDPOINT = (
    "bots in the sandbox get no variables and no network; set CHAT_URL and CHAT_MODEL, so that it plays in this"
    " process, or use play() or a remote seat: docs/language-models.md"
)
PlayIt = Callable[..., AttemptResult]
"""Function that plays a match, with the arguments of `play_match`."""


class MatchOptions(Struct, frozen=True, kw_only=True):
    """Options of a match, and of its display."""

    variant: VariantOption = None
    seed: Annotated[int | None, option("Seed of the match.  [default: drawn and printed]")] = None
    fill: Annotated[
        str | None,
        option("Bot for the remaining seats, such as a sample bot.", metavar="BOT", shell_complete=complete_bots),
    ] = None
    options: OptionsOption = None
    setup: Annotated[
        Path | None,
        option(
            "JSON file with the game's secrets; `arena games GAME --setup` prints one.  [default: drawn]",
            metavar="FILE",
        ),
    ] = None
    clock: ClockOption = None
    watch: Annotated[
        str | None,
        option(
            "Show the board during the match, as seen by a spectator, the host or a seat.",
            metavar="[spectator|host|SEAT]",
            is_flag=False,
            flag_value="spectator",
        ),
    ] = None
    delay: Annotated[
        Annotated[float, Meta(ge=0, le=LONGEST_DELAY)],
        option(
            "With --watch, show each step for at least this long; the match itself does not wait.",
            metavar="SECONDS",
        ),
    ] = 0.0
    isolation: Annotated[Isolation, option(show_default=True)] = "strict"
    warm: WarmOption = True
    transcripts: Annotated[
        Path | None,
        option("Folder for the transcript.  [default: transcripts; never in a bot's folder]"),
    ] = None
    feed: FeedOption = None
    log: LogOption = None
    usage: UsageOption = False
    as_json: JsonOption = False
    policy: PolicyOptions = PolicyOptions()
    caps: CapsOption = ()


def match_arguments(command: CommandT) -> CommandT:
    """Add the arguments and options of a match to a command."""
    for add in (
        options(MatchOptions),
        click.argument("bots", nargs=-1, metavar="BOT BOT ...", shell_complete=complete_bots),
        click.argument("game", shell_complete=complete_games),
    ):
        command = add(command)
    return command


@click.command("match")
@match_arguments
@click.option(
    "--debug",
    metavar="SEAT",
    type=click.IntRange(min=0),
    help="Run the bot of SEAT at this terminal, outside the sandbox and without a clock, for a debugger.",
)
def command(game: str, bots: tuple[str, ...], *, asked: MatchOptions, debug: int | None) -> None:
    """Play one match of GAME: one BOT for each seat, from seat 0 on; --fill gives one to the rest.

    A BOT is a folder, FOLDER@REVISION, a sample bot's name, or "console" for a person at this terminal. The sample
    bot "chat" plays in this process, with the language model that CHAT_URL names. SIGUSR1 pauses the match,
    SIGUSR2 lets it go on.

    Exit codes: 0 the match was played; 1 a bot never started, took the default or returned nothing in all of its
    windows, or got no action from its language model; 2 wrong use or bad input; 3 this machine cannot do it.
    """
    for name in (*bots, asked.fill or ""):
        if is_remote(name):
            raise WrongUse(f"{name}: a bot on another machine comes to `arena host`")
    folder = transcripts_folder(asked.transcripts)
    with open_log(asked.log) as events, open_feed(feed_asked(asked.feed, folder)) as line:
        publish = None if line is None else line.publish
        play_it = partial(play_match, play=partial(play, publish=publish, log=events.logger))
        play_asked(game, bots, asked, play_it, folder, debug=debug)


def transcripts_folder(asked: Path | None) -> Path:
    """Return the folder for the transcript; without `--transcripts`, one outside all bots' folders.

    Raises:
        WrongUse: the requested folder is in a bot's folder.
    """
    if asked is None:
        return default_folder("transcripts")
    refuse_in_bot(asked, "--transcripts")
    return asked


def play_asked(
    game: str,
    bots: tuple[str, ...],
    asked: MatchOptions,
    play_it: PlayIt,
    transcripts: Path,
    *,
    debug: int | None = None,
) -> None:
    """Play the match that a command line requests, and print its result.

    Raises:
        WrongUse: the options do not describe a valid match.
    """
    rules, variant, in_force = rules_asked(game, asked.variant, asked.options)
    bots = _filled(game, bots, rules.seats(in_force), asked.fill)
    plan = replace(_plan(rules, variant, in_force, asked), labels=tuple(labels_of(bots)))
    if bots.count(CONSOLE) > 1:
        raise WrongUse(f"{CONSOLE}: there is one terminal, for one person")
    caps = caps_given(asked.caps)
    players = [_player(name, game, caps) for name in bots]
    awaited = [player for player in players if isinstance(player, RemoteBot)]
    if conflict := cannot_play(plan, awaited, {bot.key for bot in awaited}):
        raise WrongUse(str(conflict))
    folders = [player.folder for player in players if isinstance(player, SandboxedBot)]
    demand_room(folders, plan.isolation, seats=len(players), shares=[1], of_worker=False)
    players = [_built(player, asked.isolation) for player in players]
    bot = _to_debug(debug, players) if debug is not None else None
    eyes = _eyes(asked, len(players))
    scope = " (of bots on this machine)" if awaited else ""
    say(f"match {plan.match}, seed {plan.seed}, isolation {plan.isolation}{scope}")
    with ExitStack() as stack:
        if bot is not None and debug is not None:
            say(f"seat {debug} is debugged: its clock is stopped, and the result must not be rated")
            players[debug] = SandboxedBot(bot, stack.enter_context(at_terminal(bot, as_json=asked.as_json)))
            play_it = partial(play_it, ctrl_c=presses(bot))
        names = [_name(label, player) for label, player in zip(plan.labels, players, strict=True)]
        watch = None
        if eyes is not None:
            # If a person types at this terminal, each step is printed below the one before.
            typed = bot is not None or CONSOLE in bots
            watcher = Watcher(progress_console(), eyes, names, delay=asked.delay, in_place=not typed)
            watch = stack.enter_context(watcher)
        result = play_it(plan, players, transcripts, watch=watch)
    if asked.as_json:
        print_json(match_json(result))
    else:
        show_match(result, names, usage=asked.usage)
    if why := _no_match(result, names, players):
        raise AnswerIsNo(why)


def _no_match(result: AttemptResult, names: Sequence[str], players: Sequence[Player]) -> str:
    """Describe the bots that did not take part, such as those that never started; "" if all did."""
    absent: list[str] = []
    for seat, player in enumerate(players):
        windows = result.windows[seat]
        if result.conduct[seat] is Conduct.NEVER_STARTED:
            absent.append(f"{names[seat]} (seat {seat}) never started")
        elif windows and _is_silent_model(player):
            absent.append(f"{names[seat]} (seat {seat}) got no action from its model in {_all_of(windows)}")
        elif windows and result.defaults[seat] == windows and not _is_person(player):
            absent.append(f"{names[seat]} (seat {seat}) took the default in {_all_of(windows)}")
        elif windows and result.report(seat).returned_nothing == windows:
            absent.append(f"{names[seat]} (seat {seat}): decide returned nothing in {_all_of(windows)}")
    return "; ".join(absent)


def _all_of(windows: int) -> str:
    return f"all of its {pluralise(windows, 'window')}"


def _is_person(player: Player) -> bool:
    return isinstance(player, LocalSeat) and player.name == CONSOLE


def _is_silent_model(player: Player) -> bool:
    """Return True for a language model of this process that gave no action, so that the seat chose defaults."""
    if not isinstance(player, LocalSeat):
        return False
    seat = getattr(player.play, "__self__", None)
    return isinstance(seat, LanguageModelSeat) and seat.actions == 0


def _to_debug(seat: int, players: Sequence[Player]) -> BotFolder:
    """Return the bot in the seat of `--debug`."""
    if seat >= len(players):
        raise WrongUse(f"--debug: there is no seat {seat}; the seats are 0 to {len(players) - 1}")
    player = players[seat]
    if not isinstance(player, SandboxedBot):
        raise WrongUse(f"--debug: no bot of this machine sits in seat {seat}")
    if any(isinstance(other, LocalSeat) for other in players):
        raise WrongUse(f"--debug: the bot and {CONSOLE} cannot both have this terminal")
    return in_place(player.folder)


def _eyes(asked: MatchOptions, seats: int) -> Eyes | None:
    """Return the viewpoint of `--watch`, or None."""
    if not isfinite(asked.delay):
        raise WrongUse("--delay: give a number of seconds")
    if asked.watch is None and asked.delay:
        raise WrongUse("--delay: has no effect without --watch")
    if asked.watch is None:
        return None
    return read_eyes("--watch", asked.watch, seats)


def _filled(game: str, bots: tuple[str, ...], seats: int, fill: str | None) -> tuple[str, ...]:
    """Return one bot per seat."""
    if fill is not None and len(bots) < seats:
        return bots + (fill,) * (seats - len(bots))
    if len(bots) != seats:
        are, more = "are", ""
        if len(bots) == 1:
            are = "is"
        if len(bots) < seats:
            more = "; --fill BOT gives one to the others"
        raise WrongUse(f"BOT: {game} has {seats} seats, and {pluralise(len(bots), 'bot')} {are} named{more}")
    return bots


def _plan(rules: AnyGame, variant: str, in_force: Options, asked: MatchOptions) -> Plan:
    """Return the plan of the requested match, after checking its clock and setup."""
    policy = read_policy(asked.policy)
    seed, game_options, setup, clock = asked.seed, None, None, None
    if seed is None:
        seed = SystemRandom().getrandbits(SEED_BITS)
    if asked.options is not None:
        game_options = Raw(asked.options)
    if asked.setup is not None:
        setup = read_setup(asked.setup, rules, variant, in_force)
    if asked.clock is not None:
        clock = read_clock(asked.clock, rules, variant, policy)
    return Plan(
        match=f"{rules.name}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(2)}",
        game=rules.name,
        variant=variant,
        seed=seed,
        options=game_options,
        setup=setup,
        policy=policy,
        clock=clock,
        isolation=asked.isolation,
        warm=asked.warm,
    )


def _player(text: str, game: str, caps: BotCaps) -> Player:
    """Return the player of a name; its bot is not built yet."""
    name = read_bot_name(text)
    if name.kind == "console":
        return LocalSeat(CONSOLE, console_seat().play)
    if name.kind == "sample" and name.path.name == CHAT and name.revision is None:
        return _chat(game)
    if not name.is_remote:
        say_link(name)
    with as_wrong_use(BotFolderError):
        if name.is_remote:
            return find_remote(name)
        return SandboxedBot(find_entry(name, game, caps, f"{text}:"))


def _chat(game: str) -> LocalSeat:
    """Return a seat for the language model that the environment's variables name.

    Raises:
        WrongUse: they name none, or the bot does not play the game.
    """
    with as_wrong_use(BotFolderError):
        find_entry(CHAT, game, BotCaps())
    try:
        settings = Settings.read()
    except SystemExit as error:
        what = str(error) if os.environ.get("CHAT_URL") else NO_ENDPOINT
        raise WrongUse(f"{CHAT}: {what}") from None
    return LocalSeat(CHAT, LanguageModelSeat(CHAT, settings).play)


def _built(player: Player, isolation: Isolation) -> Player:
    if isinstance(player, SandboxedBot):
        (folder,) = ready([player.folder], isolation)
        return SandboxedBot(folder)
    return player


def _name(label: str, player: Player) -> str:
    """Return a player's name for tables: its label, and a note if it is remote or debugged."""
    if isinstance(player, RemoteBot):
        return f"{label} (remote)"
    if isinstance(player, SandboxedBot) and player.terminal is not None:
        return f"{label} (debugged)"
    return label


class HostOptions(Struct, frozen=True, kw_only=True):
    """Options for the connections of bots on other machines."""

    at: Annotated[
        str,
        option(
            "Address for bots, in numbers: 127.0.0.1 for this machine alone, 0.0.0.0 for all its networks.",
            metavar="ADDRESS:PORT",
            show_default=True,
        ),
    ] = "127.0.0.1:5555"
    key: Annotated[
        Path | None,
        option("The host's own key, NAME.key_secret.  [default: made for this match and printed]", metavar="FILE"),
    ] = None
    wait: Annotated[
        Annotated[float, Meta(ge=1, le=MAX_WAIT_SECONDS)],
        option("Time to wait for bots.", metavar="SECONDS", show_default=True),
    ] = 600


@click.command("host")
@match_arguments
@options(HostOptions, "hosted")
def host_command(game: str, bots: tuple[str, ...], *, asked: MatchOptions, hosted: HostOptions) -> None:
    """Play one match of GAME with bots on their authors' own machines.

    A BOT is as for `arena match`, or remote:NAME.key for a bot with that key. The match begins when all bots are
    connected. A connection without one of the keys does not get in.
    """
    if not any(is_remote(name) for name in (*bots, asked.fill or "")):
        raise WrongUse(f"BOT: none is {REMOTE}NAME.key; for bots on this machine use `arena match`")
    if isnan(hosted.wait):
        raise WrongUse("--wait: nan is not a time")
    with as_wrong_use(BadAddressError, about="--at"):
        hosting = Hosting(read_address(hosted.at), host_keys(hosted.key), hosted.wait)
    folder = transcripts_folder(asked.transcripts)
    with open_log(asked.log) as events, open_feed(feed_asked(asked.feed, folder)) as line:
        publish = None if line is None else line.publish
        play_it = partial(play_match, play=partial(play_hosted, hosting, publish=publish, log=events.logger))
        play_asked(game, bots, asked, play_it, folder)
