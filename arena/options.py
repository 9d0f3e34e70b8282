"""Options of commands, each declared once as a field of a Struct; games and folders that command lines name.

The field's name, type and default are those of the option, and `option` in its annotation has the help. A command
that is decorated with `options` receives one object with all values.
"""

import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import click
import msgspec
from click import Context, Parameter
from click.shell_completion import CompletionItem
from msgspec import NODEFAULT, Meta, Raw, Struct
from msgspec.structs import FieldInfo, fields

from arena.errors import WrongUse
from arena.quantities import seconds_in
from protocol.codec import RepeatedKeyError, refuse_repeated_keys
from protocol.words import Options, Setup
from referee.bot_folder import FILE, TomlError, built_in, cache_folder, line_of, read_toml_with_text
from referee.display_text import did_you_mean, with_known_options
from referee.games import GAMES
from referee.linux.files import read_regular
from referee.match import BadClockError, ClockTable, Policy, clock_terms, table_of
from referee.rules import AnyGame, BadSetupError, MatchRandom

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
FormT = TypeVar("FormT", bound=Struct)
Settings = dict[str, Any]
"""Keyword arguments of `click.option`."""
Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[int, Meta(ge=0)]
MAX_PORT = 65_535


class Seconds(click.ParamType[int]):
    """A time such as `90s` or `2h`, converted to seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType`."""
        seconds = seconds_in(value)
        if seconds is None:
            self.fail(
                f"{value!r} is not a time; give a whole number with s, m, h or d, for example 2h", param, ctx
            )
        return seconds


def option(text: str | None = None, flag: str | None = None, **settings: Any) -> Meta:
    """Return the annotation that makes a field an option.

    Args:
        text: the help.
        flag: the option's name, if it is not that of the field, such as `--json` or `--warm/--cold`.
        settings: further arguments of `click.option`, which override those derived from the field.
    """
    return Meta(extra={"help": text, "flag": flag, "settings": settings})


def options(form: type[Struct], name: str = "asked") -> Callable[[CommandT], CommandT]:
    """Add the options of a Struct to a command, which receives them as one argument.

    Fields whose type is a Struct with options add these in their place. Other fields without `option` keep their
    defaults.
    """

    def add(command: CommandT) -> CommandT:
        @wraps(command)
        def receive(*arguments: Any, **values: Any) -> Any:
            chosen = _filled(form, values)
            return command(*arguments, **values, **{name: chosen})

        for each in reversed(list(_options(form))):
            each(receive)
        return receive  # type: ignore[return-value]  # click calls it with all options, and it passes them on

    return add


def _filled(form: type[FormT], values: dict[str, Any]) -> FormT:
    """Return the Struct of the values of its options, which are removed from `values`."""
    found: dict[str, Any] = {}
    for field in fields(form):
        kind, meta = _read(field.type)
        if meta is not None:
            found[field.name] = values.pop(field.name)
        elif _is_group(kind):
            found[field.name] = _filled(kind, values)
    return form(**found)


def _options(form: type[Struct]) -> Iterator[Callable[[Any], Any]]:
    """Yield click's decorator for each option, in order."""
    for field in fields(form):
        kind, meta = _read(field.type)
        if meta is not None:
            yield _option(field, kind, meta)
        elif _is_group(kind):
            yield from _options(kind)


def _option(field: FieldInfo, kind: Any, meta: dict[str, Any]) -> Callable[[Any], Any]:
    settings = _settings(kind)
    if field.default is not NODEFAULT:
        settings["default"] = field.default
    settings["help"] = meta["help"]
    settings |= meta["settings"]
    flag = meta["flag"] or f"--{field.name.replace('_', '-')}"
    return click.option(flag, field.name, **settings)


def _settings(kind: Any) -> Settings:
    """Return what a field's type says of its option."""
    if kind is bool:
        return {"is_flag": True}
    if get_origin(kind) is tuple:
        return _settings(get_args(kind)[0]) | {"multiple": True}
    return {"type": _click_type(kind)}


def _click_type(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return click.Path(path_type=Path)
    if get_origin(kind) is not Annotated:
        return kind
    number, bounds = get_args(kind)
    if number is int:
        return click.IntRange(bounds.ge, bounds.le)
    return click.FloatRange(bounds.ge, bounds.le)


def _read(kind: Any) -> tuple[Any, dict[str, Any] | None]:
    """Return a field's type without `None` and `option`, and what `option` has; None if it is not an option."""
    found = None
    if get_origin(kind) is Annotated:
        base, *metas = get_args(kind)
        bounds = []
        for meta in metas:
            if meta.extra is None:
                bounds.append(meta)
            else:
                found = meta.extra
        kind = Annotated[base, *bounds] if bounds else base
    if get_origin(kind) in (UnionType, Union):
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    return kind, found


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct) and any(_options(kind))


MAX_SETUP_BYTES = 1024 * 1024
"""Far above the longest setup of any game."""
_PLACE = re.compile(r" \(byte (\d+)\)$")
"""Pattern of the byte offset in msgspec's messages about invalid JSON."""


def variant_named(game: AnyGame, name: str | None) -> str:
    """Return the requested variant's name; the game's default if it is None.

    Raises:
        WrongUse: the game has no such variant.
    """
    names = [variant.name for variant in game.variants]
    if name is not None and name not in names:
        raise WrongUse(f"--variant: {game.name} has no {name!r}; {did_you_mean(name, names, 'variants')}")
    return name or names[0]


def game_named(name: str, option: str) -> AnyGame:
    """Return the game of this name; `option`: where the command line names it.

    Raises:
        WrongUse: there is no such game.
    """
    if name not in GAMES:
        raise WrongUse(f"{option}: there is no {name!r}; {did_you_mean(name, GAMES, 'games')}")
    return GAMES[name]


def rules_asked(game: str, variant: str | None, options: str | None) -> tuple[AnyGame, str, Options]:
    """Return the game, variant and complete options that a command line requests; `options` is JSON.

    Raises:
        WrongUse: there is no such game, or it has no such variant or options.
    """
    rules = game_named(game, "GAME")
    chosen, raw = variant_named(rules, variant), None
    if options is not None:
        raw = Raw(os.fsencode(options))
    try:
        return rules, chosen, rules.read_options(chosen, raw)
    except BadSetupError as error:
        raise WrongUse(f"--{with_known_options(str(error), rules.options)}") from None


class ClockFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file with nothing but the table."""

    clock: ClockTable


def clock_text(game: AnyGame, variant: str) -> str:
    """Return a variant's published times as a `[clock]` table in TOML."""
    table = table_of(game.variant(variant).time)
    assert isinstance(table.main_ms, dict)  # noqa: S101 - a variant names its windows
    return "\n".join(
        (
            f"# {game.name} {variant}, as its rules have it; all times in milliseconds",
            "[clock]",
            f'kind = "{table.kind}"',
            f"reserve_ms = {table.reserve_ms}",
            "",
            "[clock.main_ms]",
            *(f"{window} = {main_ms}" for window, main_ms in table.main_ms.items()),
            "",
        )
    )


def read_clock(path: Path, game: AnyGame, variant: str, policy: Policy) -> ClockTable:
    """Read the table in a file and validate it against the variant's windows and the policy.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    try:
        form, text = read_toml_with_text(path, ClockFile)
        table = form.clock
        clock_terms(game, variant, policy, table)
    except TomlError as error:
        raise WrongUse(str(error)) from None
    except BadClockError as error:
        if error.field.startswith("policy."):
            option = error.field.removeprefix("policy.").replace("_", "-")
            raise WrongUse(f"--{option}: {error.what}: {path}") from None
        line = line_of(text, error.field)
        raise WrongUse(f"{path}:{line}: {error}") from None
    return table


def clock_json(game: AnyGame, variant: str) -> str:
    """Return a variant's `[clock]` table as one line of JSON."""
    return msgspec.json.encode(ClockFile(table_of(game.variant(variant).time))).decode()


def drawn_setup(game: AnyGame, variant: str, seed: int) -> str:
    """Return the setup that a match draws from this seed, as indented JSON.

    Raises:
        WrongUse: the game has no secrets.
    """
    setup = game.read_setup(variant, game.read_options(variant, None), None, MatchRandom(seed))
    if type(setup) is Setup:
        raise WrongUse(f"{game.name}: has no setup: its host has no secrets to give")
    return msgspec.json.format(msgspec.json.encode(setup), indent=2).decode()


def read_setup(path: Path, game: AnyGame, variant: str, options: Options) -> Raw:
    """Read the setup in a file and validate it against the game's rules.

    Raises:
        WrongUse: one line with the file and what is wrong: the line on which it is no JSON, or the count or place
            that is off.
    """
    try:
        content = read_regular(path, MAX_SETUP_BYTES).removeprefix(BOM_UTF8)
        content.decode()
        msgspec.json.decode(content)
        refuse_repeated_keys(content)
        # Checked here so that errors name the file. The seed is only used for values that the file leaves out.
        game.read_setup(variant, options, Raw(content), MatchRandom(0))
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise WrongUse(f"{path}:{_line(content, error.start)}: is not UTF-8 text") from None
    except RecursionError:
        raise WrongUse(f"{path}: nested too deeply") from None
    except BadSetupError as error:
        raise WrongUse(f"{path}: {error}") from None
    except RepeatedKeyError as error:
        raise WrongUse(f"{path}: {error}") from None
    except msgspec.DecodeError as error:
        found = _PLACE.search(str(error))
        place = len(content.rstrip())
        if found:
            place = int(found[1])
        line = _line(content, place)
        raise WrongUse(f"{path}:{line}: {_PLACE.sub('', str(error))}") from None
    return Raw(content)


def _line(content: bytes, at: int) -> int:
    """Return the line number, from 1, of a byte offset."""
    return content.count(b"\n", 0, at) + 1


def complete_games(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Return the games whose names begin with the typed text."""
    del context, parameter
    return [name for name in GAMES if name.startswith(incomplete)]


def complete_variants(context: Context, parameter: Parameter, incomplete: str) -> list[str]:
    """Return the matching variants of the game that the command line names, or of all games if it names none."""
    del parameter
    # If an option still lacks its value, click does not recognise which word is the game.
    words = {context.params.get("game"), *context.args}
    found: list[str] = []
    for game in list(filter(words.__contains__, GAMES)) or GAMES:
        found += [variant.name for variant in GAMES[game].variants if variant.name.startswith(incomplete)]
    return found


def complete_bots(context: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the built-in bots whose names begin with the typed text, and folders."""
    del context, parameter
    # Folders are first, because bash forgets what was offered before them.
    folders = CompletionItem(incomplete, type="dir")
    return [folders, *(CompletionItem(name) for name in built_in() if name.startswith(incomplete))]


JsonOption = Annotated[bool, option("Print the result as JSON.", "--json")]
VariantOption = Annotated[
    str | None,
    option("Variant of the game.  [default: the game's]", shell_complete=complete_variants),
]
OptionsOption = Annotated[str | None, option("The game's options, as a JSON object.")]
ClockOption = Annotated[
    Path | None,
    option(
        "File with a [clock] table of all times; `arena games GAME --clock` prints one.  [default: the rules']",
        metavar="FILE",
    ),
]
"""File with a `[clock]` table."""
WarmOption = Annotated[
    bool,
    option(
        "Fork Python bots from a process with the kit, or start each in a new one.",
        "--warm/--cold",
        show_default=True,
    ),
]


def default_folder(wanted: str, start: Path = Path()) -> Path:
    """Return the default folder for results: `wanted` below `start`.

    If `start` is a bot's folder or inside one, the results go next to that folder, or into the arena's cache if
    that place is not writable.

    Args:
        wanted: a relative path.
        start: the folder to which `wanted` is relative.
    """
    bot = bot_folder_around(start)
    if bot is None:
        return start / wanted
    if os.access(bot.parent, os.W_OK | os.X_OK):
        return Path(os.path.relpath(bot.parent / wanted))
    return cache_folder() / wanted


def refuse_in_bot(folder: Path, field: str) -> None:
    """Check that a requested folder is not a bot's folder or inside one.

    Args:
        folder: the folder for results; it need not exist.
        field: name of the option or field for the error.

    Raises:
        WrongUse: the folder is a bot's folder or inside one.
    """
    if bot := bot_folder_around(folder):
        raise WrongUse(
            f"{field}: {folder} lies in the folder of a bot, {bot}: what is written there would make it another"
            " bot; choose a place outside"
        )


def bot_folder_around(folder: Path) -> Path | None:
    """Return the outermost bot's folder that is or holds `folder`, as a path without links, or None."""
    try:
        place = Path(os.path.realpath(folder))
    except (OSError, ValueError):  # Opening the folder reports the error later.
        return None
    for folder_around in reversed((place, *place.parents)):
        if os.path.lexists(folder_around / FILE):
            return folder_around
    return None
