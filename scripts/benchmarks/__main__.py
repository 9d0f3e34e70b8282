"""`scripts/bench [NAME...] [OPTION...]`: runs benchmarks, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.harness import MODULE_OF, ON_REQUEST, run  # noqa: E402 - the line above lets it be found

ALL = tuple(name for name in MODULE_OF if name not in ON_REQUEST)
USAGE = f"""usage: scripts/bench [NAME...] [--quick] [OPTION...]
Measures against bounds; --quick is a look, where a benchmark has one. Without NAME all of:
{" ".join(ALL)}
Only if named: {" ".join(sorted(ON_REQUEST))}"""
ONE = "--one"
"""First word of the command that runs one benchmark in its own process."""


def names_and_options(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of benchmarks and the options among words, which may be in any order.

    A word that is no benchmark's name is the value of the option before it.

    Raises:
        SystemExit: a word is neither.
    """
    names: list[str] = []
    options: list[str] = []
    before = ""
    for word in words:
        if word.startswith("-"):
            options.append(word)
        elif word in MODULE_OF:
            names.append(word)
        elif before.startswith("-") and before != "--quick":
            options.append(word)
        else:
            print(f"scripts/bench: there is no benchmark {word}; there are {' '.join(MODULE_OF)}", file=sys.stderr)
            raise SystemExit(2)
        before = word
    return names, options


def main(words: list[str]) -> int:
    """Run the named benchmarks, or all. Return the exit code."""
    if "-h" in words or "--help" in words:
        print(USAGE)
        return 0
    names, options = names_and_options(words)
    from arena.installation import interpreter  # noqa: PLC0415 - help and mistakes need no arena

    print(interpreter())
    failed: list[str] = []
    for name in names or ALL:
        load = " ".join(Path("/proc/loadavg").read_text().split()[:3])
        print(f"== {name} (load before: {load}, {len(os.sched_getaffinity(0))} cores)", flush=True)
        command = [sys.executable, str(Path(__file__).parent), ONE, name, *options]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"over its bound, or not measured: {' '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == [ONE]:
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    sys.exit(main(sys.argv[1:]))
