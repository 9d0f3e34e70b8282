"""Compiled templates are kept for the next command, where no other user could put his own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemBytecodeCache

from arena.pages import template

Compile = Callable[[], int]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mist-arena/templates"


@pytest.fixture
def compile_one(monkeypatch: pytest.MonkeyPatch) -> Compile:
    """Get a template as a new command does, and return how many were compiled."""
    compiled: list[object] = []
    compiles = Environment.compile

    def counted(self: Environment, *given: Any, **more: Any) -> Any:
        compiled.append(given)
        return compiles(self, *given, **more)

    monkeypatch.setattr(Environment, "compile", counted)

    def get() -> int:
        before = len(compiled)
        template._environment.__wrapped__().get_template("glossary.html.jinja")
        return len(compiled) - before

    return get


def test_a_template_is_compiled_once(folder: Path, compile_one: Compile) -> None:
    assert [1, 0] == [compile_one(), compile_one()]
    assert 0o700 == folder.stat().st_mode & 0o777


def test_a_template_that_was_spoiled_is_compiled_again(folder: Path, compile_one: Compile) -> None:
    compile_one()
    (kept,) = folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:-20])
    assert [1, 0] == [compile_one(), compile_one()]


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_where_others_may_write_nothing_is_kept(folder: Path, compile_one: Compile, mode: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(mode)
    assert [1, 1] == [compile_one(), compile_one()]
    assert [] == list(folder.iterdir())


def test_without_room_nothing_is_kept(folder: Path, compile_one: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileSystemBytecodeCache, "dump_bytecode", full)
    assert [1, 1] == [compile_one(), compile_one()]
