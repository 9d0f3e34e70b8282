"""Command lines, run in this process."""

from click.testing import CliRunner, Result

from arena.commands.main import main
from arena.errors import WRONG_USE


def arena(*words: object, stdin: bytes | None = None) -> Result:
    """Run a command line in this process."""
    return CliRunner().invoke(main, list(map(str, words)), input=stdin)


def refused(*words: object) -> str:
    """Return the one line with which a command line is refused as wrong use."""
    result = arena(*words)
    assert (WRONG_USE, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("arena: ")
    assert 1 == result.stderr.count("\n")
    return result.stderr.removeprefix("arena: ").rstrip("\n")
