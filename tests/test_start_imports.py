"""What each process imports at its start: a match waits for it, and so does who asks for help."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from referee import __version__

HOUSE = Path(__file__).parents[1]
HEAVY = frozenset(
    {
        "asyncio",
        "distributed",
        "email",
        "httpx",
        "hypercorn",
        "importlib.metadata",
        "jinja2",
        "multiprocessing",
        "nacl",
        "numpy",
        "prompt_toolkit",
        "pygments",
        "starlette",
        "structlog",
        "xml",
        "zmq",
    }
)
"""Slow to import, and of no use to most matches."""
ROOMS_OF_A_WORKER = frozenset({"api", "protocol", "worker"})
"""Modules of `arena.workers` that a referee process needs."""


def imported(code: str) -> set[str]:
    """Return the names in `sys.modules` once a fresh interpreter has run some code."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    look = f"{code}\nimport sys\nsys.stderr.write('\\n'.join(sys.modules))"
    done = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-c", look], cwd=HOUSE, env=own, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_a_referee_process_imports_no_command_no_screen_and_no_game() -> None:
    names = imported("import arena.workers.worker")
    assert set() == names & (HEAVY | {"rich", "sqlite3", "zipfile", "statistics", "concurrent.futures.process"})
    of_arena = {name for name in names if name.startswith("arena.")}
    rooms = {f"arena.workers.{module}" for module in ROOMS_OF_A_WORKER}
    assert {"arena.errors", "arena.event_loop", "arena.processes", "arena.workers"} | rooms == of_arena
    games = ("referee.games.", "protocol.games.", "protocol.text", "bots")
    assert {"protocol.games.listing"} == {name for name in names if name.startswith(games)}


def test_a_referee_process_imports_the_game_that_it_plays_and_no_other() -> None:
    names = imported("import arena.workers.worker\nfrom referee.games import GAMES\nGAMES['mist']")
    games = {name.split(".")[2] for name in names if name.startswith("referee.games.")}
    assert {"mist"} == games
    assert {"hexes", "listing", "mist", "mist.board"} == {
        name.removeprefix("protocol.games.") for name in names if name.startswith("protocol.games.")
    }


def test_help_imports_no_loop_and_nothing_of_a_match() -> None:
    names = imported(
        "import arena.commands.main as m\ntry:\n    m.main(['--help'])\nexcept SystemExit:\n    pass\n"
    )
    assert set() == names & (HEAVY | {"trio", "rich", "msgspec", "sqlite3"})
    ours = {name for name in names if name.startswith(("arena.", "referee.", "bots", "protocol"))}
    assert {
        "arena.commands",
        "arena.commands.main",
        "arena.installation",
        "arena.errors",
        "referee.display_text",
    } == ours


@pytest.mark.parametrize("command", ["tournament", "match", "check"])
def test_a_command_that_plays_imports_nothing_slow_before_it_has_begun(command: str) -> None:
    names = imported(f"import arena.commands.main, arena.commands.{command}")
    assert set() == names & HEAVY
    assert set() == {name for name in names if name.startswith(("arena.web", "arena.learning"))}


def test_the_report_of_a_tournament_has_no_boards_and_imports_none() -> None:
    names = imported("import arena.pages")
    boards = ("arena.viewer", "arena.live", "arena.replay", "protocol.text", "protocol.games.", "numpy")
    assert {"protocol.games.listing"} == {name for name in names if name.startswith(boards)}


def test_ratings_import_no_masked_arrays() -> None:
    """`np.unique` would: a sixth of NumPy's import."""
    assert "numpy.ma" not in imported("from arena.arrays import distinct, np\ndistinct(np.array([2, 1, 2]))")


def test_the_version_in_the_code_is_the_packages() -> None:
    """The code does not look it up among installed packages: that import takes longer than a short match."""
    assert version("mist-arena") == __version__
