"""Checks the types of every block of Python of the pages by mypy and pyright, both strict.

`python -m tests.page_types` checks them against the wheel, installed where no clone is on the path, as an author
has it. Blocks that build on one another (`JOINED`) are one program for each page. Pyright also checks the
kit, the words of the games and the sample bots, which mypy checks with the rest of the code.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from tests.docs_pages import HOUSE, PAGES, Block, blocks, blocks_of, name

PYTHON = Path(sys.base_prefix, "bin/python3")
"""The Python that made `.venv`; its pip is used."""
TOOLS = HOUSE / ".venv/page-types"
"""An environment with pyright. It is no part of `.venv` itself: only this check needs its 300 MB."""
LOCK = HOUSE / "tests/page-types-requirements.lock"
CACHE = HOUSE / ".mypy_cache/pages"
JOINED = ("python runs", "python learns")
"""Blocks of a page that are run as one program, each after the one before."""
UNTYPED = ("open_spiel.*", "pyspiel")
"""Libraries without types, in which mypy finds nothing to check."""


class Program(Struct, frozen=True):
    """A file to check, made of blocks. Its lines have the numbers that they have in the page."""

    page: Path
    path: str
    """Where the file goes."""
    text: str


def programs() -> list[Program]:
    """All that the pages show in Python."""
    return [program for page in PAGES for program in _programs_of(page)]


def _programs_of(page: Path) -> Iterator[Program]:
    blocks = blocks_of(page, "python")
    stem = re.sub(r"\W", "_", name(page).removesuffix(".md"))
    joined = [block for block in blocks if block.info in JOINED]
    if joined:
        yield Program(page, f"{stem}.py", _placed(joined))
    for block in blocks:
        if block not in joined:
            before, after = _around(block)
            yield Program(page, f"{stem}_{block.line}.py", _placed([block], before) + after)


def _around(block: Block) -> tuple[str, str]:
    """Return what the reader has before and after a block, where the page says to put it into an existing file."""
    if block.info.startswith("python line "):
        return (HOUSE / block.info.split()[-1]).read_text(), ""
    if block.info == "python improves":
        new_bot = (HOUSE / f"bots/{block.page.stem}_random/bot.py").read_text()
        before, decide, after = new_bot.partition("\n\n\ndef decide")
        return before, decide + after
    return "", ""


def _placed(blocks: list[Block], before: str = "") -> str:
    """Blocks as one text in which each line stands where it stands in the page."""
    lines = before.splitlines()
    for block in blocks:
        assert len(lines) < block.line
        lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print each error with its page and line; return 1 if there is one, else 0."""
    _make_tools()
    with tempfile.TemporaryDirectory(prefix="page-types-") as made:
        folder = Path(made)
        python, packages = _install_wheel(folder)
        shown = folder / "pages"
        shown.mkdir()
        made_of = {}
        for block in blocks(r"python file .*"):
            file = packages / block.info.split()[-1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
            (file.parent / "py.typed").touch()
        for program in programs():
            (shown / program.path).write_text(program.text)
            made_of[program.path] = name(program.page)
        with ThreadPoolExecutor() as threads:
            checks = (_pyright_of_kit, _mypy, _pyright_of_pages)
            started = [threads.submit(check, shown, python) for check in checks]
            errors = [error for check in started for error in check.result()]
    for error in errors:
        path, rest = error.split(":", 1)
        print(f"{made_of.get(path, path)}:{rest}")  # noqa: T201
    print(f"{len(errors)} errors in {len(made_of)} programs of {len(PAGES)} pages")  # noqa: T201
    return int(bool(errors))


def _run(*command: str | Path, cwd: Path = HOUSE, codes: tuple[int, ...] = (0,)) -> str:
    """Return the standard output of a program of ours. Raises SystemExit: it failed."""
    bare = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MYPY"))}
    done = subprocess.run(command, cwd=cwd, env=bare, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def _make_tools() -> None:
    """Make the environment with pyright, unless it is there as its lock pins it."""
    wanted = LOCK.read_text()
    stamp = TOOLS / "made-from"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(TOOLS, ignore_errors=True)
    _run(PYTHON, "-m", "venv", "--without-pip", TOOLS)
    _run(*_pip(TOOLS), "--require-hashes", "--requirement", LOCK)
    stamp.write_text(wanted)


def _pip(environment: Path) -> list[str | Path]:
    pip: list[str | Path] = [PYTHON, "-m", "pip", "--python", environment / "bin/python"]
    return [*pip, "install", "--quiet", "--no-compile", "--disable-pip-version-check"]


def _install_wheel(folder: Path) -> tuple[Path, Path]:
    """Installs the wheel in a new environment that has what `.venv` has, but for the clone.

    Returns its Python and its folder of packages.
    """
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    wheel = folder / _run(sys.executable, "-c", code).splitlines()[-1]
    environment = folder / "environment"
    _run(PYTHON, "-m", "venv", "--without-pip", environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    # As a path: the links of an editable install, which lead to the clone, are followed in site folders only.
    (own,) = (HOUSE / ".venv").glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{own}\n")
    _run(*_pip(environment), "--no-deps", "--no-index", wheel)
    return environment / "bin/python", packages


def _mypy(shown: Path, python: Path) -> list[str]:
    config = shown / "mypy.ini"
    config.write_text(f"[mypy]\n[mypy-{','.join(UNTYPED)}]\nignore_missing_imports = true\n")
    told = _run(
        sys.executable,
        *("-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "--show-column-numbers"),
        *("--config-file", config, "--cache-dir", CACHE, "--python-executable", python),
        *sorted(path.name for path in shown.glob("*.py")),
        cwd=shown,
        codes=(0, 1),
    )
    return [f"{line}  (mypy)" for line in told.splitlines() if ": error: " in line]


def _pyright_of_pages(shown: Path, python: Path) -> list[str]:
    settings: dict[str, object] = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": ["*.py"]}
    settings["reportMissingTypeStubs"] = False  # of the libraries without types
    config = shown / "pyrightconfig.json"
    config.write_text(json.dumps(settings))
    return _pyright(config, "--pythonpath", python, files=len(list(shown.glob("*.py"))))


def _pyright_of_kit(shown: Path, python: Path) -> list[str]:
    """Check the kit, the words of the games and the sample bots, as `pyproject.toml` sets it."""
    del shown, python
    return _pyright(HOUSE / "pyproject.toml")


def _pyright(config: Path, *options: str | Path, files: int = 1) -> list[str]:
    """Errors of pyright, which must have found so many files at least."""
    told = _run(TOOLS / "bin/basedpyright", "--project", config, "--outputjson", *options, codes=(0, 1))
    report = json.loads(told)
    assert files <= report["summary"]["filesAnalyzed"]
    found = []
    for each in report["generalDiagnostics"]:
        start = each["range"]["start"]
        place = f"{Path(each['file']).relative_to(config.parent)}:{start['line'] + 1}:{start['character'] + 1}"
        text = each["message"].replace("\n", " ")
        found.append(f"{place}: {each['severity']}: {text} [{each.get('rule', '')}]  (pyright)")
    return found


if __name__ == "__main__":
    sys.exit(main())
