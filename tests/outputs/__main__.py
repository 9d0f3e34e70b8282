"""The program behind `scripts/outputs`."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from tests.outputs.comparison import compare


def main() -> int:
    """Run a command; return its exit code."""
    parser = ArgumentParser(
        "scripts/outputs", description="Record what the arena puts out, and compare recordings."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="record into a folder")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only", action="append", metavar="GROUP", help="only this group; repeatable")
    recording.add_argument("--jobs", type=int, default=2, help="number of processes (2)")
    comparing = commands.add_parser("compare", help="compare two recordings; exit code 1 if they differ")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    showing = commands.add_parser("scenario", help="print the whole text of one scenario")
    showing.add_argument("game")
    showing.add_argument("variant")
    showing.add_argument("seed", type=int)
    asked = parser.parse_args()
    if asked.command == "compare":
        for folder in (asked.before, asked.after):
            if not folder.is_dir():
                parser.error(f"{folder}: there is no such folder")
        report, is_same = compare(asked.before, asked.after)
        sys.stdout.write(report)
        return 0 if is_same else 1
    if asked.command == "scenario":
        from tests.outputs.scenarios import Played  # noqa: PLC0415 - a comparison needs none of the arena

        sys.stdout.write(Played(asked.game, asked.variant, asked.seed).whole())
        return 0
    from tests.outputs.groups import GROUPS, record  # noqa: PLC0415 - as above

    if unknown := set(asked.only or ()) - set(GROUPS):
        parser.error(
            f"--only: no group is called {', '.join(sorted(unknown))}; the groups are {', '.join(GROUPS)}"
        )
    names = [name for name in GROUPS if not asked.only or name in asked.only]
    record(asked.folder, names, asked.jobs, lambda line: sys.stderr.write(f"{line}\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
