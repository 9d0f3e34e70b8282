"""`arena new-bot`: write a folder with a bot that plays legally, its test, and a README."""

import importlib
import re
import shlex
import shutil
from itertools import takewhile
from pathlib import Path
from string import Template
from typing import Annotated

import click
import msgspec
from msgspec import Struct

from arena.config import random_bot
from arena.errors import WrongUse, writing
from arena.options import complete_bots, complete_games, game_named, option, options
from arena.schedule import TWO
from arena.simulation import BotGiven, messages_to_seats
from arena.terminal import command_line, results_console
from protocol.codec import decode_server_message
from protocol.games import package_of
from protocol.messages import Opened
from referee.bot_folder import BUILT_IN, FILE, PATH, BotFolder, built_in, find_bot
from referee.display_text import did_you_mean
from referee.games import GAMES

TEMPLATES = Path(__file__).parent.parent / "templates"
"""One folder per language, with the program and one file per game with `decide`."""
TEST, RECORDS = "test_bot.py", "recorded"
ROOMY = "\n[limits]\nmemory_mb = 512\naddress_space_mb = 65536  # its runtime reserves far more than it uses\n"


class Language(Struct, frozen=True, kw_only=True):
    """Files and commands of a bot in one language."""

    decide: str
    """File with the function `decide`, which the author changes."""
    files: tuple[str, ...]
    """The other files of its program."""
    command: tuple[str, ...]
    build: tuple[str, ...] = ()
    limits: str = ""
    """Further tables of bot.toml."""


CHAT = "chat"
"""The sample that asks a language model."""
KIT = ("kit", "wire", "stdio_bridge")
"""Modules and packages of `bots` that every bot can import."""
_IMPORT = re.compile(rf"^(\s*)from bots\.(?!(?:{'|'.join(KIT)})\b)([\w.]+) import", re.MULTILINE)
"""An import of a module that sample bots share: its indentation, and the module's name below `bots`."""
_RUN = re.compile(r"^    run\((\w+)", re.MULTILINE)
_NAMED = re.compile(r"^(?:name|version) = .*\n", re.MULTILINE)
FIRST_STEPS = ("mist", "fight-for-a-name", "hive-mind", "pointing", "runes-to-ruins")
"""Games whose page has a section about a first improvement of the bot."""
LANGUAGES = {
    "python": Language(decide="bot.py", files=(), command=("python", "bot.py")),
    "node": Language(decide="decide.js", files=("bot.js",), command=("node", "bot.js"), limits=ROOMY),
    "c": Language(
        decide="decide.c",
        files=("bot.c", "bot.h"),
        command=("./bot",),
        build=("gcc", "-O2", "-Wall", "-o", "bot", "bot.c", "decide.c"),
    ),
    "rust": Language(
        decide="decide.rs",
        files=("bot.rs", "json.rs"),
        command=("./bot",),
        build=("rustc", "--edition", "2021", "-O", "-o", "bot", "bot.rs"),
    ),
    "go": Language(
        decide="decide.go",
        files=("bot.go",),
        command=("./bot",),
        build=("go", "build", "-o", "bot", "bot.go", "decide.go"),
        limits=ROOMY + "\n[build_limits]\naddress_space_mb = 65536\n",
    ),
}


class NewBotOptions(Struct, frozen=True, kw_only=True):
    """Options of a new bot."""

    game: Annotated[
        str | None,
        option(
            f"Game of the bot.  [default: {next(iter(GAMES))}, or the sample's]", shell_complete=complete_games
        ),
    ] = None
    language: Annotated[
        str | None,
        option("Language of the bot.  [default: python]", type=click.Choice(list(LANGUAGES))),
    ] = None
    sample: Annotated[
        str | None,
        option(
            "Copy this sample bot, with the modules that it needs.",
            "--from",
            metavar="SAMPLE",
            shell_complete=complete_bots,
        ),
    ] = None


@click.command("new-bot")
@click.argument("folder", type=click.Path(path_type=Path))
@options(NewBotOptions)
def command(folder: Path, *, asked: NewBotOptions) -> None:
    """Write a bot to start from into FOLDER, which must be new or empty.

    It plays legal random moves, or as SAMPLE does, and has a test that runs without an arena. In a game of another
    package it takes the defaults.
    """
    game, language, sample = asked.game, asked.language, asked.sample
    if game is not None:
        game_named(game, "--game")
    if sample is None:
        game, language = game or next(iter(GAMES)), language or "python"
        files = _files(folder.resolve().name, game, language)
    else:
        if language not in {None, "python"}:
            raise WrongUse("--language: sample bots are in Python")
        copied = _sample_named(sample, game)
        game, language = game or (copied.games or tuple(GAMES))[0], "python"
        files = _files_from(folder.resolve().name, copied, game)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise WrongUse(f"{folder} exists and is not empty; choose another name")
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
    made = LANGUAGES[language]
    screen = results_console()
    if sample == CHAT:
        screen.say("It asks a language model, for which the sandbox has no network: docs/language-models.md.")
    else:
        screen.say(f"It plays already. Try it: {_first_match(folder, game)}")
    change = "edit `decide` in" if sample is None else "edit"
    screen.say(f"To change how it plays, {change} {folder / made.decide}.")
    screen.say(f"What to do next is in {folder / 'README.md'}.")
    program = (made.build or made.command)[0]
    if language != "python" and shutil.which(program, path=PATH) is None:
        screen.say(f"{program} is not in {PATH.replace(':', ', ')}: this machine cannot play it")


def _first_match(folder: Path, game: str, *, in_readme: bool = False) -> str:
    """Return the command of a match against the game's random sample bot, which takes all other seats."""
    rules, other = GAMES[game], random_bot(game)
    seats = rules.seats(rules.read_options(rules.variants[0].name, None))
    words = ["match", game, str(folder), "--fill", other]
    if seats == TWO:
        words.remove("--fill")
    if in_readme:
        return shlex.join(("arena", *words))
    return command_line(*words)


def _sample_named(name: str, game: str | None) -> BotFolder:
    """Return a sample bot.

    Raises:
        WrongUse: there is none of this name, or it does not play the game.
    """
    if name not in built_in():
        raise WrongUse(f"--from: no sample bot is called {name}; {did_you_mean(name, built_in(), 'sample bots')}")
    bot = find_bot(name)
    if game is not None and not bot.plays(game):
        raise WrongUse(f"--game: {name} does not play {game}")
    return bot


def _files_from(name: str, sample: BotFolder, game: str) -> dict[str, bytes]:
    """Return all files of a copy of a sample bot, by their path in its folder.

    Modules that it shares with other samples are copied next to it and imported from there, except the kit.
    """
    files = {each.name: each.read_bytes() for each in (BUILT_IN / sample.given).iterdir() if each.is_file()}
    program = files["bot.py"].decode()
    files["bot.py"] = _beside(program).encode()
    for module, text in _helpers(program).items():
        files[f"{_name_beside(module)}.py"] = _beside(text).encode()
    manifest = _NAMED.sub("", files[FILE].decode())
    files[FILE] = f'name = {_quoted(name)}\nversion = "0.1"\n{manifest}'.encode()
    readme = _readme(name, game)
    readme["intro"] = (
        f"A copy of the sample bot {sample.given}, for {game}. Its program begins in `bot.py`. The modules beside"
        " it came with it:\nchange them as you like. `bots.kit` is the arena's, as for every bot."
    )
    player = _RUN.search(program)
    if player is None or sample.given == CHAT:
        readme["test"] = ""
    else:
        files[TEST] = _test(game, "python", player[1])
        files |= _records(game)
    files["README.md"] = _filled("README", readme)
    return files


def _helpers(program: str) -> dict[str, str]:
    """Return the modules of `bots`, without the kit, that a program and these modules import, by name."""
    found: dict[str, str] = {}
    waiting = [program]
    while waiting:
        for _, module in _IMPORT.findall(waiting.pop()):
            if module not in found:
                file = BUILT_IN.joinpath(*module.split(".")).with_suffix(".py")
                found[module] = file.read_text(encoding="utf-8")
                waiting.append(found[module])
    return found


def _beside(program: str) -> str:
    """Return a program that imports shared modules from its own folder."""
    return _IMPORT.sub(lambda found: f"{found[1]}from {_name_beside(found[2])} import", program)


def _name_beside(module: str) -> str:
    """Return the name of a copied module: `mist_search` for `bots.mist.search`."""
    return module.replace(".", "_")


def _records(game: str) -> dict[str, bytes]:
    """Return the messages to one seat in a match of each variant, by path in a bot's folder."""
    return {f"{RECORDS}/{each.name}.jsonl": recorded(game, each.name) for each in GAMES[game].variants}


def _files(name: str, game: str, language: str) -> dict[str, bytes]:
    """Return all files of a new bot, by path in its folder."""
    made = LANGUAGES[language]
    readme = _readme(name, game)
    if game in FIRST_STEPS:
        readme["first"] = f" A first improvement is in {_rules(game)}#a-first-improvement."
    plays = "takes the default of every window" if package_of(game) else "plays at random"
    readme["intro"] = f"A bot for {game} that {plays}. {_needs(language)}Change `decide` in `{made.decide}`."
    readme["end"] = f"\n`{RECORDS}/` holds what one seat heard in a match of each variant, a message a line.\n"
    files = {
        made.decide: _decide(game, language).read_bytes(),
        FILE: _bot_toml(name, game, made).encode(),
        "README.md": _filled("README", readme),
        TEST: _test(game, language, "decide"),
    }
    for file in made.files:
        files[file] = (TEMPLATES / language / file).read_bytes()
    return files | _records(game)


def _decide(game: str, language: str) -> Path:
    """Return the template with `decide`; in Python, the game's random sample bot.

    Raises:
        WrongUse: the language has no template for the game.
    """
    module = game.replace("-", "_")
    if language == "python":
        sample = BUILT_IN / f"{module}_random" / "bot.py"
        if sample.exists():
            return sample
        return TEMPLATES / "any" / "bot.py"
    template = TEMPLATES / language / f"{module}{Path(LANGUAGES[language].decide).suffix}"
    if not template.exists():
        raise WrongUse(f"--language: there is no template for {game} in {language}; there is one in python")
    return template


def _bot_toml(name: str, game: str, language: Language) -> str:
    lines = [f"name = {_quoted(name)}", 'version = "0.1"']
    if language.build:
        lines.append(f"build = [{_quoted(language.build)}]")
    lines += [f"command = {_quoted(language.command)}", f"games = {_quoted([game])}"]
    if language.command[0] != "python":
        lines.append('transport = "stdio"')
    return "\n".join(lines) + "\n" + language.limits


def _quoted(value: object) -> str:
    """Return text or a list of texts as TOML, which writes them as JSON does."""
    return msgspec.json.encode(value).decode().replace('","', '", "')


def _needs(language: str) -> str:
    """Return what a bot of this language needs on the machine, as a sentence; "" if nothing."""
    if language == "python":
        return ""
    if language == "node":
        return "It needs Node in /usr/bin. "
    return f"`build` in {FILE} compiles it with {LANGUAGES[language].build[0]}, which must lie in /usr. "


def _rules(game: str) -> str:
    """Return where the rules of a game are."""
    if (package := package_of(game)) is not None:
        return f"the package {package} (`arena games {game} --rules` prints the rules)"
    return f"docs/games/{game.replace('-', '_')}.md"


def _readme(name: str, game: str) -> dict[str, str]:
    """Return the values of a README that all bots have."""
    return {
        "name": name,
        "rules": _rules(game),
        "first": "",
        "test": f"pytest {TEST}           # it answers the recorded windows; no match is played\n",
        "match": _first_match(Path(), game, in_readme=True),
        "end": "",
    }


def _test(game: str, language: str, player: str) -> bytes:
    """Return a bot's test; `player`: the name of the function or class that plays, in its program."""
    forms = GAMES[game].actions
    values = {"own": f"from bot import {player}\n", "answers": "answers", "subject": f"{player}()"}
    if language != "python":
        values = {"own": "", "answers": "program_answers", "subject": "FOLDER"}
    elif player == "decide":
        values["subject"] = player
    values["words"] = next(iter(forms.values())).__module__
    values["names"] = ", ".join(sorted({form.__name__ for form in forms.values()}))
    values["table"] = "\n".join(f'    "{window}": {form.__name__},' for window, form in forms.items())
    return _filled("test_bot", values)


def _filled(template: str, values: dict[str, str]) -> bytes:
    """Return the text of a template for all languages, with these values."""
    text = (TEMPLATES / "any" / f"{template}.template").read_text(encoding="utf-8")
    return Template(text).substitute(values).encode()


SEED = 7
MOST_WINDOWS = 40
"""Maximum windows in a record: enough for a test, and still a small file."""


def recorded(game: str, variant: str) -> bytes:
    """Return the messages to one seat in a match of random bots, one per line.

    The seat is the one with most kinds of windows.

    Without a random sample bot, all seats take the defaults.
    """
    rules = GAMES[game]
    seats = rules.seats(rules.read_options(variant, None))
    records = map(_record, messages_to_seats(game, [_random_player(game)] * seats, variant=variant, seed=SEED))
    best, _ = max(records, key=lambda each: len(each[1]))
    return b"".join(line + b"\n" for line in best)


def _record(frames: list[bytes]) -> tuple[list[bytes], set[str]]:
    """Return the first messages to a seat, and the names of the windows in them."""
    opened = [message.window for message in map(decode_server_message, frames) if isinstance(message, Opened)]
    short = takewhile(lambda frame: _number(frame) < MOST_WINDOWS, frames)
    return list(short), set(opened[:MOST_WINDOWS])


def _number(frame: bytes) -> int:
    """Return the number of the window that a message opens; 0 for other messages."""
    message = decode_server_message(frame)
    return message.id if isinstance(message, Opened) else 0


def _random_player(game: str) -> BotGiven:
    try:
        decide: BotGiven = importlib.import_module(f"bots.{game.replace('-', '_')}_random.bot").decide
    except ModuleNotFoundError:
        return lambda window: window.default
    return decide
