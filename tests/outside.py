"""Games of other packages in tests: Kuhn poker as pip would install it, and packages that are wrong."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from tests.docs_pages import HOUSE

KUHN = HOUSE / "docs/examples/kuhn-poker"


def install_package(project: Path, folder: Path) -> Path:
    """Build a project's wheel, and unpack it into a new folder below, as `pip install --target` does."""
    site, wheels = folder / "site", folder / "wheels"
    subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def entry_points_of(project: Path) -> dict[str, str]:
    """Return the games that a project's pyproject.toml names, with the places of their entries."""
    points: dict[str, str] = tomllib.loads((project / "pyproject.toml").read_text())["project"]["entry-points"][
        "mist_arena.games"
    ]
    return points


def install(site: Path, package: str, points: str, code: str = "") -> None:
    """Write a package with these lines of entry points, and one module, into a folder of packages."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[mist_arena.games]\n{points}\n")
    (site / f"{package}.py").write_text(code)


def python(
    site: Path, *arguments: str | Path, here: Path, said: str = "", house: Path = HOUSE
) -> subprocess.CompletedProcess[str]:
    """Run Python where the packages of `site` are installed."""
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, *map(str, arguments)],
        cwd=here,
        env={**os.environ, "PYTHONPATH": f"{site}:{house}"},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )


def arena(site: Path, *arguments: str | Path, here: Path, said: str = "", code: int = 0) -> str:
    """Run a command of the arena; return standard output, or the error if `code` is not 0."""
    done = python(site, "-m", "arena", *arguments, here=here, said=said)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout
