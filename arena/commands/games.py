"""`arena games` and `arena schema`: the installed games, their options, times, rules and words."""

import re
import sys
from collections.abc import Iterator
from random import SystemRandom
from typing import Any, Union

import click
import msgspec

from arena.errors import WrongUse
from arena.installation import rules_page
from arena.options import (
    clock_json,
    clock_text,
    complete_games,
    complete_variants,
    drawn_setup,
    game_named,
    variant_named,
)
from arena.schedule import SEED_BITS
from arena.terminal import Grid, print_json, results_console, say, show
from protocol.feed import FeedMessage
from protocol.games import problems
from protocol.messages import PROTOCOL, ClientMessage, ServerMessage
from protocol.text import GAME_TEXTS
from referee.games import ENCODERS, GAMES
from referee.rules import AnyGame

PAGE_COLUMNS = 100
"""Maximum width of a page of rules; longer lines are hard to read."""
_LINK = re.compile(r"\[([^\]\n]*(?:\n[^\]\n]+)?)\]\([^)\s]*\)")


@click.command("games")
@click.argument("game", shell_complete=complete_games, required=False)
@click.option(
    "--setup", is_flag=True, help="Print drawn secrets for GAME, to edit and give to `arena match --setup`."
)
@click.option(
    "--rules", is_flag=True, help="Print the rules of GAME, laid out at a terminal, as Markdown elsewhere."
)
@click.option("--clock", is_flag=True, help="Print the times of GAME's variant as a [clock] table, to edit.")
@click.option(
    "--variant",
    shell_complete=complete_variants,
    help="With --setup or --clock: one of the game's rule sets.  [default: the game's]",
)
@click.option("--seed", type=int, help="With --setup: seed of the match.  [default: drawn and printed]")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(game: str | None, as_json: bool, **asked: Any) -> None:
    """List the games, or describe GAME: its variants, their times, its options and windows."""
    setup, clock, variant, seed, rules = (asked[name] for name in ("setup", "clock", "variant", "seed", "rules"))
    if game is not None:
        game_named(game, "GAME")
    if setup + clock + rules > 1:
        raise WrongUse("--setup, --clock, --rules: give one of them")
    if rules:
        _print_rules(game, as_json=as_json)
        return
    if setup:
        _print_setup(game, variant, seed)
        return
    if seed is not None:
        raise WrongUse("--seed: has no effect without --setup")
    if clock:
        _print_clock(game, variant, as_json=as_json)
        return
    if variant is not None:
        raise WrongUse("--variant: has no effect without --setup or --clock")
    chosen = [describe(each) for name, each in GAMES.items() if game in (None, name)]
    if as_json:
        content = chosen if game is None else chosen[0]
        print_json(content)
    elif game is None:
        _list(chosen)
    else:
        _describe(chosen[0])


def describe(game: AnyGame) -> dict[str, Any]:
    """Return a game as plain values."""
    return {
        "game": game.name,
        "seats": game.seats(game.read_options(game.variants[0].name, None)),
        "variants": [
            {"variant": variant.name, "main_ms": variant.time.main_ms, "reserve_ms": variant.time.reserve_ms}
            for variant in game.variants
        ],
        "options": msgspec.to_builtins(game.read_options(game.variants[0].name, None)),
        "windows": {window: list(form.__struct_fields__) for window, form in game.actions.items()},
        "events": [event.__struct_config__.tag for event in game.events],
    }


def _print_setup(game: str | None, variant: str | None, seed: int | None) -> None:
    """Print the setup of a game as JSON, and the seed on standard error if it was drawn."""
    if game is None:
        raise WrongUse(f"--setup: of which game? There are {', '.join(GAMES)}")
    deal = SystemRandom().getrandbits(SEED_BITS) if seed is None else seed
    setup = drawn_setup(GAMES[game], variant_named(GAMES[game], variant), deal)
    if seed is None:
        say(f"seed {deal}")
    sys.stdout.write(f"{setup}\n")


def _print_clock(game: str | None, variant: str | None, *, as_json: bool) -> None:
    """Print the times of a variant as a `[clock]` table."""
    if game is None:
        raise WrongUse(f"--clock: of which game? There are {', '.join(GAMES)}")
    rules, name = GAMES[game], variant_named(GAMES[game], variant)
    sys.stdout.write(f"{clock_json(rules, name)}\n" if as_json else clock_text(rules, name))


def _print_rules(game: str | None, *, as_json: bool) -> None:
    """Print the page with a game's rules, whose links to other places are left out.

    Raises:
        WrongUse: no game is named, or it has no page.
    """
    if game is None:
        raise WrongUse(f"--rules: of which game? The games are {', '.join(GAMES)}")
    page = rules_page(game)
    if page is None:
        raise WrongUse(f"--rules: {game} has no page of rules here; see the package that it comes from")
    text = _LINK.sub(r"\1", page.read_text(encoding="utf-8"))
    screen = results_console()
    if as_json:
        print_json({"game": game, "rules": text})
    elif screen.is_terminal:
        # Imported late: the import takes longer than everything else here.
        from rich.markdown import Markdown  # noqa: PLC0415

        screen.print(Markdown(text, code_theme="ansi_light"), width=min(screen.width, PAGE_COLUMNS))
    else:
        sys.stdout.write(text)


def _list(games: list[dict[str, Any]]) -> None:
    table = Grid({"game": False, "seats": True, "variants, the default first": False})
    for game in games:
        variants = ", ".join(variant["variant"] for variant in game["variants"])
        table.add_row(game["game"], str(game["seats"]), variants)
    show(results_console(), table)
    for problem in problems(GAMES, GAME_TEXTS, ENCODERS):
        say(problem)


def _describe(game: dict[str, Any]) -> None:
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
    forms = [
        ClientMessage,
        ServerMessage,
        FeedMessage,
        *(form for game in GAMES.values() for form in _forms(game)),
    ]
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
