"""`arena new-bot`: a folder with a bot that plays legally at once, its test, and what to do next."""

import shutil
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from arena.commands.completion import complete_games
from arena.commands.recorded import recorded
from arena.errors import WrongUse, cannot_write
from arena.terminal import command_line, results_console
from referee.bot_folder import BUILT_IN, FILE, PATH
from referee.games import GAMES

TEMPLATES = Path(__file__).parent.parent / "templates"
"""A folder a language: the program, and a file a game with its `decide`."""
TEST, RECORDS = "test_bot.py", "recorded"
ROOMY = "\n[limits]\nmemory_mb = 512\naddress_space_mb = 65536  # its runtime reserves far more than it uses\n"


class Language(Struct, frozen=True, kw_only=True):
    """What a bot in a language is made of."""

    decide: str
    """The file that its author changes."""
    files: tuple[str, ...]
    """The other files of its program."""
    command: tuple[str, ...]
    build: tuple[str, ...] = ()
    limits: str = ""
    """More of bot.toml."""


FIRST_STEPS = {"hive-mind": "a-first-improvement"}
"""Games whose page says how to improve the bot, and where."""
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


@click.command("new-bot")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--game", shell_complete=complete_games, default=next(iter(GAMES)), show_default=True, help="Game of the bot."
)
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default="python",
    show_default=True,
    help="Language of the bot.",
)
def command(folder: Path, game: str, language: str) -> None:
    """Write a bot to start from into FOLDER, which must be new or empty.

    It plays legal random moves, and has a test that runs without an arena.
    """
    if game not in GAMES:
        raise WrongUse(f"--game: there is no {game!r}; there are {', '.join(GAMES)}")
    files = _files(folder.resolve().name, game, language)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise WrongUse(f"{folder}: is not empty")
        (folder / RECORDS).mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise cannot_write(folder, error) from None
    made = LANGUAGES[language]
    results_console().say(f"edit `decide` in {folder / made.decide}; it plays already:")
    results_console().say(command_line("match", game, folder, "--fill", folder))
    results_console().say(f"{folder / 'README.md'} says what to do next")
    program = (made.build or made.command)[0]
    if language != "python" and shutil.which(program, path=PATH) is None:
        results_console().say(f"{program} is not in {PATH.replace(':', ', ')}: this machine cannot play it")


def _files(name: str, game: str, language: str) -> dict[str, bytes]:
    """All files of a new bot, by their path in its folder."""
    made = LANGUAGES[language]
    records = {f"{RECORDS}/{each.name}.jsonl": recorded(game, each.name) for each in GAMES[game].variants}
    texts = {
        FILE: _bot_toml(name, game, made),
        "README.md": _readme(name, game, language),
        TEST: _test(game, language),
        made.decide: _decide(game, language).read_text(encoding="utf-8"),
        **{each: (TEMPLATES / language / each).read_text(encoding="utf-8") for each in made.files},
    }
    return {**{path: text.encode() for path, text in texts.items()}, **records}


def _decide(game: str, language: str) -> Path:
    """The file to start from: in Python the sample that plays the game at random.

    Raises WrongUse where the language has none for the game.
    """
    module = game.replace("-", "_")
    if language == "python":
        sample = BUILT_IN / f"{module}_random" / "bot.py"
        return sample if sample.exists() else TEMPLATES / "any" / "bot.py"
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
    """Text or a list of texts as TOML, which spells them as JSON does."""
    return msgspec.json.encode(value).decode().replace('","', '", "')


def _readme(name: str, game: str, language: str) -> str:
    made, module = LANGUAGES[language], game.replace("-", "_")
    first = (
        f" A first improvement is in docs/games/{module}.md#{FIRST_STEPS[game]}." if game in FIRST_STEPS else ""
    )
    needs = {"python": "", "node": "It needs Node in /usr/bin. "}.get(
        language,
        f"`build` in {FILE} compiles it with {made.build[0] if made.build else ''}, which must lie in /usr. ",
    )
    return f"""# {name}

A bot for {game} that plays at random. {needs}Change `decide` in `{made.decide}`.

The game's rules and words are in docs/games/{module}.md, the kit and the sandbox in docs/writing-a-bot.md.{first}

```sh
pytest {TEST}           # it answers the recorded windows; no match is played
arena check .               # it starts and plays; time, memory and refusals
arena match --help          # one match; --watch=host shows it
arena ask . TRANSCRIPT      # a recorded decision again
```

In a clone of the arena, write `scripts/arena` for `arena` and `scripts/test` for `pytest`, with the paths as seen
from the clone. Without a clone, `pip install pytest` in the arena's environment comes first.

`{RECORDS}/` holds what one seat heard in a match of each variant, a message a line.
"""


def _test(game: str, language: str) -> str:
    forms = GAMES[game].actions
    module = next(iter(forms.values())).__module__
    program = language != "python"
    names = ", ".join(sorted({form.__name__ for form in forms.values()}))
    answers = "program_answers" if program else "answers"
    table = "\n".join(f'    "{window}": {form.__name__},' for window, form in forms.items())
    return f'''"""Without an arena: recorded windows are answered in the words of the game. None is the default."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
{"" if program else "from bot import decide" + chr(10)}
from bots.kit_testing import {answers}
from {module} import {names}

FOLDER = Path(__file__).parent
RECORDS = sorted((FOLDER / "{RECORDS}").glob("*.jsonl"))
FORMS: dict[str, Any] = {{
{table}
}}
"""Window to its action."""


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_each_window_is_answered_in_the_words_of_the_game(record: Path) -> None:
    answered = list({answers}({"FOLDER" if program else "decide"}, record))
    assert answered
    for opened, action in answered:
        if action is not None:
            msgspec.convert(action, FORMS[opened.window])
'''
