"""Options are declared as fields of Structs: types, defaults, groups, and what the command receives."""

from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
from click.testing import CliRunner
from msgspec import Meta, Struct

from arena.struct_options import Seconds, option, options


class Inner(Struct, frozen=True, kw_only=True):
    level: Annotated[Annotated[int, Meta(ge=1, le=3)] | None, option("Level of it.")] = None
    warm: Annotated[bool, option("Kind of start.", "--warm/--cold", show_default=True)] = True


class Outer(Struct, frozen=True, kw_only=True):
    bot: Annotated[str, option("A bot.", required=True, metavar="BOT")]
    pacing: Annotated[Literal["prompt", "fixed"], option("Pacing.")] = "prompt"
    inner: Inner = Inner()
    share: Annotated[Annotated[float, Meta(ge=0, le=1)], option("A share.")] = 0.5
    games: Annotated[tuple[str, ...], option("A game.", "--game")] = ()
    out: Annotated[Path | None, option("A file.")] = None
    as_json: Annotated[bool, option("As JSON.", "--json")] = False
    patience: Annotated[float, option("A time.", type=Seconds(), default="10m")] = 600
    plan: str = "not an option"


class Other(Struct, frozen=True, kw_only=True):
    last: Annotated[int | None, option("The last.")] = None


RECEIVED: list[Any] = []


@click.command()
@click.argument("file")
@options(Outer)
@options(Other, "other")
@click.option("--plain", is_flag=True)
def command(file: str, *, asked: Outer, other: Other, plain: bool) -> None:
    """Do nothing."""
    RECEIVED[:] = [file, asked, other, plain]


def received(*words: str) -> list[Any]:
    result = CliRunner().invoke(command, ["x", "--bot", "anna", *words])
    assert result.exit_code == 0, result.output
    return RECEIVED


def test_without_options_a_command_receives_the_defaults() -> None:
    assert ["x", Outer(bot="anna"), Other(), False] == received()


def test_each_option_fills_its_field() -> None:
    words = ["--pacing", "fixed", "--share", "1", "--game", "a", "--game", "b", "--out", "f", "--json"]
    expected = Outer(bot="anna", pacing="fixed", share=1.0, games=("a", "b"), out=Path("f"), as_json=True)
    assert ["x", expected, Other(last=4), True] == received(*words, "--last", "4", "--plain")


def test_a_group_is_a_struct_within_the_other() -> None:
    assert Inner(level=3, warm=False) == received("--level", "3", "--cold")[1].inner


def test_a_field_that_is_no_option_keeps_its_default() -> None:
    assert received()[1].plan == "not an option"
    assert CliRunner().invoke(command, ["x", "--bot", "anna", "--plan", "y"]).exit_code == 2


def test_settings_take_the_place_of_what_the_field_says() -> None:
    assert 600 == received()[1].patience
    assert 7200 == received("--patience", "2h")[1].patience


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--level", "4"), "4 is not in the range 1<=x<=3"),
        (("--share", "1.5"), "1.5 is not in the range 0<=x<=1"),
        (("--pacing", "slow"), "'slow' is not one of 'prompt', 'fixed'"),
        (("--patience", "soon"), "'soon' is not a time"),
    ],
)
def test_values_are_checked_against_the_field(words: tuple[str, ...], what: str) -> None:
    result = CliRunner().invoke(command, ["x", "--bot", "anna", *words])
    assert result.exit_code == 2
    assert what in result.output


def test_a_required_option_is_demanded() -> None:
    assert "Missing option '--bot'" in CliRunner().invoke(command, ["x"]).output


def test_help_lists_options_in_the_order_of_fields_with_groups_in_their_place() -> None:
    lines = CliRunner().invoke(command, ["--help"]).output.split("Options:\n")[1].splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  --")]
    order = ["--bot", "--pacing", "--level", "--warm", "--share", "--game", "--out", "--json", "--patience"]
    assert [*order, "--last", "--plain", "--help"] == named
