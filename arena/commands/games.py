"""`arena games` and `arena schema`: the installed games, their options, times, rules and words."""

import re
import sys
from collections.abc import Iterator
from itertools import chain
from random import SystemRandom
from typing import Annotated, Any, Union

import click
import msgspec
from msgspec import Struct

from arena.errors import WrongUse
from arena.installation import rules_page
from arena.options import (
    JsonOption,
    clock_json,
    clock_text,
    complete_games,
    complete_variants,
    drawn_setup,
    game_named,
    option,
    options,
    variant_named,
)
from arena.schedule import SEED_BITS
from arena.terminal import Grid, print_json, results_console, say, show
from protocol.feed import FeedMessage
from protocol.games import problems
from protocol.messages import PROTOCOL, ClientMessage, ServerMessage
from protocol.text import GAME_TEXTS, text_of
from referee.games import ENCODERS, GAMES
from referee.rules import AnyGame

PAGE_COLUMNS = 100
"""Maximum width of a page of rules; longer lines are hard to read."""
_LINK = re.compile(r"\[([^\]\n]*(?:\n[^\]\n]+)?)\]\([^)\s]*\)")


class GamesOptions(Struct, frozen=True, kw_only=True):
    """Options of the description of games."""

    setup: Annotated[bool, option("Print drawn secrets for GAME, to edit and give to `arena match --setup`.")] = (
        False
    )
    rules: Annotated[bool, option("Print the rules of GAME, laid out at a terminal, as Markdown elsewhere.")] = (
        False
    )
    clock: Annotated[bool, option("Print the times of GAME's variant as a [clock] table, to edit.")] = False
    variant: Annotated[
        str | None,
        option(
            "With --setup or --clock: one of the game's rule sets.  [default: the game's]",
            shell_complete=complete_variants,
        ),
    ] = None
    seed: Annotated[int | None, option("With --setup: seed of the match.  [default: drawn and printed]")] = None
    as_json: JsonOption = False


@click.command("games")
@click.argument("game", shell_complete=complete_games, required=False)
@options(GamesOptions)
def command(game: str | None, *, asked: GamesOptions) -> None:
    """List the games, or describe GAME: its variants, their times, its options and windows."""
    if game is not None:
        game_named(game, "GAME")
    if asked.setup + asked.clock + asked.rules > 1:
        raise WrongUse("--setup, --clock, --rules: give one of them")
    if asked.rules:
        _print_rules(game, as_json=asked.as_json)
    elif asked.setup:
        _print_setup(game, asked.variant, asked.seed)
    elif asked.seed is not None:
        raise WrongUse("--seed: has no effect without --setup")
    elif asked.clock:
        _print_clock(game, asked.variant, as_json=asked.as_json)
    elif asked.variant is not None:
        raise WrongUse("--variant: has no effect without --setup or --clock")
    elif game is not None:
        _describe(describe(GAMES[game]), as_json=asked.as_json)
    else:
        _list([describe(each) for each in GAMES.values()], as_json=asked.as_json)


def describe(game: AnyGame) -> dict[str, Any]:
    """Return a game as plain values."""
    options = game.read_options(game.variants[0].name, None)
    variants = []
    for variant in game.variants:
        time = variant.time
        variants.append({"variant": variant.name, "main_ms": time.main_ms, "reserve_ms": time.reserve_ms})
    return {
        "game": game.name,
        "seats": game.seats(options),
        "variants": variants,
        "options": msgspec.to_builtins(options),
        "windows": {window: list(form.__struct_fields__) for window, form in game.actions.items()},
        "events": [event.__struct_config__.tag for event in game.events],
    }


def _print_setup(game: str | None, variant: str | None, seed: int | None) -> None:
    """Print the setup of a game as JSON, and the seed on standard error if it was drawn."""
    if game is None:
        raise WrongUse(f"--setup: of which game? There are {', '.join(GAMES)}")
    is_drawn = seed is None
    if seed is None:
        seed = SystemRandom().getrandbits(SEED_BITS)
    setup = drawn_setup(GAMES[game], variant_named(GAMES[game], variant), seed)
    if is_drawn:
        say(f"seed {seed}")
    sys.stdout.write(f"{setup}\n")


def _print_clock(game: str | None, variant: str | None, *, as_json: bool) -> None:
    """Print the times of a variant as a `[clock]` table."""
    if game is None:
        raise WrongUse(f"--clock: of which game? There are {', '.join(GAMES)}")
    rules, name = GAMES[game], variant_named(GAMES[game], variant)
    if as_json:
        sys.stdout.write(f"{clock_json(rules, name)}\n")
    else:
        sys.stdout.write(clock_text(rules, name))


def _print_rules(game: str | None, *, as_json: bool) -> None:
    """Print the page with a game's rules, whose links to other places are left out.

    Of a game of another package, print the rules that its text gives to people and models.

    Raises:
        WrongUse: no game is named, or it has no rules to print.
    """
    if game is None:
        raise WrongUse(f"--rules: of which game? The games are {', '.join(GAMES)}")
    page = rules_page(game)
    if page is None:
        text = text_of(game).rules(GAMES[game].variants[0].name)
    else:
        text = _LINK.sub(r"\1", page.read_text(encoding="utf-8"))
    if not text:
        raise WrongUse(f"--rules: {game} has no rules to print; see the package that it comes from")
    screen = results_console()
    if as_json:
        print_json({"game": game, "rules": text})
    elif screen.is_terminal:
        # Imported late: the import takes longer than everything else here.
        from rich.markdown import Markdown  # noqa: PLC0415

        screen.print(Markdown(text, code_theme="ansi_light"), width=min(screen.width, PAGE_COLUMNS))
    else:
        sys.stdout.write(text)


def _list(games: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(games)
        return
    table = Grid({"game": False, "seats": True, "variants, the default first": False})
    for game in games:
        variants = ", ".join(variant["variant"] for variant in game["variants"])
        table.add_row(game["game"], str(game["seats"]), variants)
    show(results_console(), table)
    for problem in problems(GAMES, GAME_TEXTS, ENCODERS):
        say(problem)


def _describe(game: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(game)
        return
    screen = results_console()
    screen.say(f"{game['game']}: {game['seats']} seats")
    variants = Grid({"variant": False, "time of each window": False, "reserve": True})
    for variant in game["variants"]:
        times = ", ".join(f"{window} {main / 1000:g} s" for window, main in variant["main_ms"].items())
        variants.add_row(variant["variant"], times, f"{variant['reserve_ms'] / 1000:g} s")
    show(screen, variants)
    options = Grid({"option": False, "default": False})
    for name, value in game["options"].items():
        options.add_row(name, msgspec.json.encode(value).decode())
    show(screen, options)
    windows = Grid({"window": False, "keys of its actions": False})
    for window, keys in game["windows"].items():
        windows.add_row(window, ", ".join(keys))
    show(screen, windows)
    screen.say(f"events: {', '.join(game['events'])}")


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of the protocol and of all games' words.

    `says` has client messages, `hears` server messages, and `feed` the messages of the live feed. `games` has, for
    each game, the action of each window, the events, the view, the options and the host's setup.
    """
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(schema()), indent=2) + b"\n")


def schema() -> dict[str, Any]:
    """Return a JSON Schema document with every type under `$defs`."""
    forms = [ClientMessage, ServerMessage, FeedMessage, *chain.from_iterable(map(_forms, GAMES.values()))]
    schemas, words = msgspec.json.schema_components(forms, ref_template="#/$defs/{name}")
    given = iter(schemas)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Arena protocol {PROTOCOL}",
        "says": next(given),
        "hears": next(given),
        "feed": next(given),
        "games": {name: _words_of(game, given) for name, game in GAMES.items()},
        "$defs": words,
    }


def _forms(game: AnyGame) -> list[Any]:
    """Return the types of a game's words, in the order of `_words_of`."""
    return [
        *game.actions.values(),
        Union[game.events],  # noqa: UP007 - a tuple known at run time only
        game.view_type,
        game.options,
        game.setup,
    ]


def _words_of(game: AnyGame, given: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Return the references to a game's words, taken from `given` in order; their names may be qualified."""
    return {
        "variants": [variant.name for variant in game.variants],
        "actions": {window: next(given) for window in game.actions},
        "events": next(given),
        "view": next(given),
        "options": next(given),
        "setup": next(given),
    }
