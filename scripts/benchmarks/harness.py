"""Names, options and exit codes of the benchmarks, and the environment of the programs that they compare with."""

import argparse
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

SCRIPTS = Path(__file__).resolve().parents[1]
HOUSE = SCRIPTS.parent
LOCK = SCRIPTS / "bench-requirements.lock"
ENVIRONMENT = HOUSE / ".venv-bench"
YARDSTICKS = Path(__file__).with_name("yardsticks.py")
BEYOND, NOT_COMPARED = 1, 3
"""Exit codes: slower or larger than promised; nothing to compare with."""

Judgement = bool | None
"""True: within its bounds. False: beyond one. None: there was nothing to compare with."""
MODULES = {
    "rules": ("rules", "play", "worlds", "learning", "adjudicate"),
    "wire": ("decision", "wire", "transcript"),
    "processes": ("start", "idle", "seats", "load"),
    "matches": ("matches", "peers"),
    "schedules": ("schedule", "ladder", "ratings", "questions"),
    "tournaments": ("scale", "site", "serve", "cluster"),
    "submissions": ("submissions",),
    "portal": ("portal",),
}
"""Names of the benchmarks, by the module of this package that has them. Importing one takes time and memory."""
MODULE_OF = {name: module for module, names in MODULES.items() for name in names}
ON_REQUEST = frozenset({"questions"})
"""Benchmarks that run only if they are named, because they measure no speed."""


class Option(Struct, frozen=True):
    """An option of a benchmark, as arguments of `argparse`."""

    flag: str
    settings: dict[str, Any]


class Benchmark(Struct, frozen=True):
    """A benchmark with its options."""

    name: str
    measure: Callable[[argparse.Namespace], Judgement]
    options: tuple[Option, ...]


BENCHMARKS: dict[str, Benchmark] = {}
"""The benchmarks of the modules that are imported, by name."""


def option(flag: str, **settings: Any) -> Option:
    """Return an option; the settings are those of `argparse`."""
    return Option(flag, settings)


def bench(
    name: str, *options: Option
) -> Callable[[Callable[[argparse.Namespace], Judgement]], Callable[[argparse.Namespace], Judgement]]:
    """Register a function that measures, prints what it measured against its bounds, and returns the verdict.

    Every benchmark has the option `quick`.
    """

    def register(measure: Callable[[argparse.Namespace], Judgement]) -> Callable[[argparse.Namespace], Judgement]:
        BENCHMARKS[name] = Benchmark(name, measure, options)
        return measure

    return register


def run(name: str, words: list[str]) -> int:
    """Run one benchmark in this process. Return its exit code."""
    import_module(f"benchmarks.{MODULE_OF[name]}")
    benchmark = BENCHMARKS[name]
    parser = argparse.ArgumentParser(f"scripts/bench {name}", description=benchmark.measure.__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, for a look")
    for each in benchmark.options:
        parser.add_argument(each.flag, **each.settings)
    verdict = benchmark.measure(parser.parse_args(words))
    if verdict is None:
        return NOT_COMPARED
    return 0 if verdict else BEYOND


def processor_seconds(act: Callable[[], object]) -> float:
    """Return the processor time that a call takes: what else the machine does is not counted."""
    began = time.process_time()
    act()
    return time.process_time() - began


def yardstick_python() -> Path | None:
    """Return the Python of .venv-bench, which is made if it is missing or its lock has changed.

    Prints a reason and returns None if that fails.
    """
    found, made_from = ENVIRONMENT / "bin/python", ENVIRONMENT / ".made-from"
    wanted = str(zlib.crc32(LOCK.read_bytes()))
    if made_from.is_file() and made_from.read_text() == wanted:
        return found
    print("bench: making .venv-bench from bench-requirements.lock", file=sys.stderr)
    make = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(ENVIRONMENT)]
    install = [
        "python3",
        "-m",
        "pip",
        "--python",
        str(found),
        "install",
        "--quiet",
        "--require-hashes",
        "-r",
        str(LOCK),
    ]
    try:
        subprocess.run(make, check=True, stdout=sys.stderr)
        (ENVIRONMENT / ".gitignore").write_text("*\n")
        subprocess.run(install, check=True, stdout=sys.stderr)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"bench: nothing to compare with, it could not be installed: {error}", file=sys.stderr)
        return None
    made_from.write_text(wanted)
    return found


def yardstick(python: Path, name: str, *arguments: object) -> list[float]:
    """Run a yardstick (see `yardsticks.py`) in another environment. Return the numbers that it prints."""
    output = subprocess.run(
        [python, YARDSTICKS, name, *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYGAME_HIDE_SUPPORT_PROMPT": "1"},
    ).stdout
    return [float(word) for word in output.splitlines()[-1].split()]  # Earlier lines are the library's own.
