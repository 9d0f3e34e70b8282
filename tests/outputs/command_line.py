"""What the commands say of themselves: their helps, the games, the schema, and what the doctor tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click

from arena.commands.main import main
from arena.commands.new_bot import LANGUAGES
from protocol.text import GAME_TEXTS, InputTerms, explain
from referee.games import GAMES
from referee.proofs.escapes.examination import guaranteed
from referee.proofs.escapes.host_snapshot import LAYERS
from referee.proofs.escapes.inside.running import IN_ORDER
from referee.sandbox import Isolation
from tests.outputs.running import arena, output, own_folder


def parts() -> list[str]:
    """Return the parts of this group."""
    return ["help", "games", "schema", "doctor", "new-bot"]


def record(part: str, folder: Path) -> None:
    """Record one part."""
    with own_folder():
        for name, text in _TEXTS[part]():
            file = folder / part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def _helps() -> Iterator[tuple[str, str]]:
    for words in _commands(main, ()):
        yield f"{'.'.join(('arena', *words))}.txt", arena(*words, "--help")


def _commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and of all that are below it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _commands(below, (*words, name))


def _games() -> Iterator[tuple[str, str]]:
    yield "games.txt", arena("games")
    yield "games.json", output("games", "--json")
    for game in GAMES:
        yield f"{game}.txt", arena("games", game)
        yield f"{game}.json", output("games", game, "--json")
        yield f"{game}.rules.md", output("games", game, "--rules")
        for variant in (each.name for each in GAMES[game].variants):
            yield f"{game}.{variant}.clock.txt", arena("games", game, "--clock", "--variant", variant)
            yield (
                f"{game}.{variant}.setup.txt",
                arena("games", game, "--setup", "--variant", variant, "--seed", "1"),
            )
            if game in GAME_TEXTS:
                terms = InputTerms(variant, {}, 0)
                fields = "".join(f"{name}: {what}\n" for name, what in GAME_TEXTS[game].fields(terms).items())
                text = f"{GAME_TEXTS[game].rules(variant)}\n\n{fields}\n{explain(game, terms)}\n"
                yield f"{game}.{variant}.text.txt", text


def _schema() -> Iterator[tuple[str, str]]:
    yield "schema.json", output("schema")


def _doctor() -> Iterator[tuple[str, str]]:
    """Return what the doctor tests and promises, without its findings, which depend on the machine."""
    yield "layers.txt", "".join(f"{layer}\n" for layer in LAYERS)
    yield "attempts.txt", "".join(f"{each.layer}: {each.name}: {each.what}\n" for each in IN_ORDER)
    for isolation in get_args(Isolation):
        for has_filter in (True, False):
            names = sorted(guaranteed(isolation, has_filter=has_filter))
            said = "with" if has_filter else "without"
            yield f"promised.{isolation}.{said}-filter.txt", "".join(f"{name}\n" for name in names)


def _new_bots() -> Iterator[tuple[str, str]]:
    """Return the files of each bot that `arena new-bot` writes."""
    for game in GAMES:
        for language in LANGUAGES:
            bot = Path(f"{game}-{language}")
            said = arena("new-bot", str(bot), "--game", game, "--language", language)
            # The recorded messages for its test are the same in all languages.
            kept = [file for file in bot.rglob("*") if language == "python" or file.parent.name != "recorded"]
            files = sorted(file for file in kept if file.is_file())
            text = "".join(f"== {file}\n{file.read_text(encoding='utf-8')}\n" for file in files)
            yield f"{bot}.txt", f"{said}\n{text}"


_TEXTS = {"help": _helps, "games": _games, "schema": _schema, "doctor": _doctor, "new-bot": _new_bots}
