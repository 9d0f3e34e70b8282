"""Benchmark of the rules alone: random matches of each game a second in one process, in ratio to an older version.

`random_matches.py` says what is counted. The baseline is the rules as they were at `BASELINE`, before they were
made fast for search and learning; git has them. Old and new play the same matches in turn, and the median of the
ratios counts: what else the machine does slows down both. Mist is compared with PettingZoo's connect_four, too.
That lives in an environment of its own, .venv-bench, made when it is missing or its lock has changed. Exit code
1: slower than promised; 3: nothing to compare with.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from statistics import median

import bench_yardsticks

HERE = Path(__file__).resolve().parent
BASELINE = "948309b"
ROUNDS, SECONDS = 5, 2.0
MATCHES_A_SECOND = {
    ("mist", "contractual-obligation"): 150,
    ("mist", "heaven-and-hell"): 150,
    ("hive-mind", "recharged"): 150,
    ("hive-mind", "tempo-up"): 150,
    ("hive-mind", "gauntlet"): 150,
    ("pointing", "tempo-up"): 300,
    ("fight-for-a-name", "guardians"): 20,
    ("runes-to-ruins", "guardians"): 10,
}
"""What is promised, by game and variant."""
TIMES = {"mist": 1.5, "fight-for-a-name": 2.5, "runes-to-ruins": 2.3, "pointing": 2.0, "hive-mind": 2.0}
"""What is held in ratio to the baseline, by game. More was wanted of some: see docs/performance.md."""
TURNS_A_SECOND = 15_000
"""The same of Mist's turns, on a machine like the one where connect_four makes 15,000 steps a second."""

Measured = tuple[float, float, float]
"""Matches and windows a second, and the first in ratio to the baseline (0: without one)."""


def main() -> int:
    """Measures, prints, judges."""
    rounds = 1 if "--quick" in sys.argv else ROUNDS
    python = bench_yardsticks.python()
    steps: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        before = baseline(Path(folder))
        found: dict[tuple[str, str], list[Measured]] = {each: [] for each in MATCHES_A_SECOND}
        for number in range(rounds):
            for (game, variant), measured in found.items():
                matches, windows = measure(HERE.parent, game, variant, number)
                old = measure(before, game, variant, number)[0] if before and game in TIMES else 0.0
                measured.append((matches, windows, matches / old if old else 0.0))
            if python:
                steps += bench_yardsticks.numbers(python, "bench_connect_four.py", SECONDS)
    verdicts = [judge(*each, measured) for each, measured in found.items()]
    turns = max(windows for (game, _), measured in found.items() if game == "mist" for _, windows, _ in measured)
    good = all(verdicts) and turns >= TURNS_A_SECOND
    if not steps or before is None:
        return 3 if good else 1
    ratio = turns / max(steps)
    print(f"PettingZoo connect_four: {max(steps):,.0f} steps/s; Mist's turns to them: {ratio:.2f} (at least 1)")
    return 0 if good and ratio >= 1 else 1


def baseline(folder: Path) -> Path | None:
    """The older version, taken out of git into the folder; None, with a reason printed, where git lacks it."""
    archive = subprocess.run(
        ["git", "-C", HERE.parent, "archive", BASELINE, "protocol", "referee"], capture_output=True, check=False
    )
    if archive.returncode:
        print(f"bench: no baseline: {archive.stderr.decode().strip()}", file=sys.stderr)
        return None
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def measure(tree: Path, game: str, variant: str, seed: int) -> tuple[float, float]:
    """Random matches by the rules in that folder: matches and windows a second of processor time."""
    told = subprocess.run(
        [sys.executable, HERE / "random_matches.py", game, variant, str(seed), str(SECONDS)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tree)},
    ).stdout
    matches, windows = map(float, told.split())
    return matches, windows


def judge(game: str, variant: str, measured: list[Measured]) -> bool:
    """Prints what was measured of one game, against what is promised."""
    matches, windows, _ = max(measured)
    promised = MATCHES_A_SECOND[game, variant]
    found = f"{windows:8,.0f} windows/s {matches:8,.0f} matches/s (at least {promised})"
    times = median(ratio for _, _, ratio in measured)
    compared = f", {times:.2f} times {BASELINE} (at least {TIMES[game]})" if times else ""
    print(f"{game + ' ' + variant:30} {found}{compared}")
    return matches >= promised and (not times or times >= TIMES[game])


if __name__ == "__main__":
    sys.exit(main())
