"""Where the programs live that benchmarks measure against: .venv-bench, made as bench-requirements.lock says."""

import os
import subprocess
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = HERE / "bench-requirements.lock"
ENVIRONMENT = HERE.parent / ".venv-bench"


def python() -> Path | None:
    """Its Python, made when it is missing or its lock has changed; None, with a reason printed, if that fails."""
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


def numbers(python: Path, script: str, seconds: float) -> list[float]:
    """What a script beside this one measures in so many seconds, and prints."""
    told = subprocess.run(
        [python, HERE / script, str(seconds)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYGAME_HIDE_SUPPORT_PROMPT": "1"},
    ).stdout
    # Some say other things first.
    return [float(word) for word in told.splitlines()[-1].split()]
