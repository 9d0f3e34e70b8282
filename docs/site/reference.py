"""The pages of the site that are made of the code: every command with its options, every message with its fields.

Nobody keeps these by hand, and they are not in the repository. They are Markdown, as the other pages are.
"""

import ast
import inspect
from collections.abc import Iterator
from enum import Enum
from types import ModuleType

import click
import msgspec

from arena.commands.main import main
from protocol import feed, messages, refusals, words
from referee.games import GAMES


def commands() -> str:
    """The command line: a section for each command."""
    context = click.Context(main, info_name="arena")
    lines = ["# The command line", "", "Made from the commands themselves: what `arena COMMAND --help` says.", ""]
    lines += [*_paragraphs(main.help or ""), ""]
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        own = click.Context(command, info_name=name, parent=context)
        lines += [f"## {name}", "", "```text", *command.get_usage(own).splitlines(), "```", ""]
        lines += _paragraphs(command.help or "")
        rows = [record for each in command.get_params(own) if (record := each.get_help_record(own)) and record[1]]
        lines += [
            "",
            "| option | |",
            "|---|---|",
            *(f"| `{_cell(what)}` | {_cell(_text(why))} |" for what, why in rows),
            "",
        ]
    return "\n".join(lines)


def protocol_words() -> str:
    """The messages between referee and bots, those of the feed, and the closed lists of reasons."""
    return _page(
        "Messages",
        "Every message between referee and bots, and of the live feed, made from the code. What they mean is in"
        " [the protocol](../docs/protocol.md) and in [the live feed](../docs/feed.md). What each game puts into"
        " `event`, `action`, `view`, `options` and `setup` is on a page of its own.",
        {
            "What a bot says, and hears": messages,
            "The live feed": feed,
            "Reasons": refusals,
            "Words of all games": words,
        },
    )


def game_words(name: str) -> str:
    """One game's options, actions, events and views."""
    module = inspect.getmodule(GAMES[name].view_type)
    assert module is not None
    about = (
        f"Every word of {name}, made from the code. The rules are in [its own page](../docs/games/{page(name)})."
    )
    return _page(f"Words of {name}", about, {"Options, actions, events, views": module})


def page(name: str) -> str:
    """The file of a game's page."""
    return f"{name.replace('-', '_')}.md"


def _page(title: str, about: str, parts: dict[str, ModuleType]) -> str:
    lines = [f"# {title}", "", about, ""]
    for heading, module in parts.items():
        lines += [f"## {heading}", "", *_module(module)]
    return "\n".join(lines)


def _module(module: ModuleType) -> Iterator[str]:
    """A section for each Struct and each closed list of a module, in its order."""
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        made = getattr(module, node.name)
        tag = made.__struct_config__.tag if issubclass(made, msgspec.Struct) else None
        yield from (f"### {node.name}" if tag is None else f"### `{tag}`: {node.name}", "")
        yield from (_text(inspect.getdoc(made) or ""), "")
        if issubclass(made, Enum):
            rows = [f"| `{made[name].value}` | {_cell(text)} |" for name, text in _enum_texts(node).items()]
            yield from ("| word | |", "|---|---|", *rows, "")
        elif issubclass(made, msgspec.Struct) and made.__struct_fields__:
            yield from ("| field | type | default | |", "|---|---|---|---|", *_fields(made), "")


def _fields(struct: type[msgspec.Struct]) -> Iterator[str]:
    """A row for each field, in the order of the wire; what a base says of a field holds for those derived."""
    said: dict[str, tuple[str, str]] = {}
    for each in reversed(struct.__mro__):
        if issubclass(each, msgspec.Struct) and each is not msgspec.Struct:
            (node,) = ast.parse(inspect.getsource(each)).body
            assert isinstance(node, ast.ClassDef)
            said |= _field_texts(node)
    for field in msgspec.structs.fields(struct):
        form, text = said[field.name]
        yield f"| `{field.encode_name}` | `{_cell(form)}` | {_default(field)} | {_cell(text)} |"


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default_factory()).decode()}`"
    if field.default is msgspec.NODEFAULT:
        return ""
    return "left out" if field.default is msgspec.UNSET else f"`{msgspec.json.encode(field.default).decode()}`"


def _field_texts(node: ast.ClassDef) -> dict[str, tuple[str, str]]:
    """Fields to their types and to what stands below them."""
    texts = {}
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            form = ast.unparse(one.annotation).removesuffix(" | UnsetType").replace("Raw", "Any")
            texts[one.target.id] = (form, _string(after))
    return texts


def _enum_texts(node: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            texts[one.targets[0].id] = _string(after)
    return texts


def _string(node: ast.stmt | None) -> str:
    """What a statement says that is only text."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return _text(node.value.value)
    return ""


def _text(words: str) -> str:
    """On one line."""
    return " ".join(words.split())


def _paragraphs(words: str) -> list[str]:
    return [line for each in inspect.cleandoc(words).split("\n\n") for line in (_text(each), "")]


def _cell(words: str) -> str:
    """Words for a cell of a table, in which a bar would end it."""
    return words.replace("|", "\\|")
