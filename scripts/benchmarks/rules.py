"""The rules and what plays in one process: `rules`, `play`, `worlds`, `learning`, `adjudicate`."""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median

import numpy as np

from arena import play
from benchmarks.harness import (
    HOUSE,
    Judgement,
    bench,
    option,
    processor_seconds,
    yardstick,
    yardstick_python,
)
from bots.kit import Window
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD
from protocol.words import Event
from referee.adjudication import adjudicate_line
from referee.games import GAMES
from referee.rules import Addressed, Deal, ResolvedAction, Table, audience, choice, shown
from tests.referee.adjudication.examples import SCENARIOS, examples

BASELINE = "948309b"
RULES_ROUNDS, RULES_SECONDS = 5, 2.0
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
"""Matches per second that are promised, by game and variant."""
TIMES = {"mist": 1.5, "fight-for-a-name": 2.5, "runes-to-ruins": 2.3, "pointing": 2.0, "hive-mind": 2.0}
"""Minimum ratio to the baseline, by game. The goals of some were higher: see docs/performance.md."""
TURNS_A_SECOND = 15_000
"""Promised turns of Mist per second, on a machine where connect_four makes 15,000 steps per second."""

Measured = tuple[float, float, float]
"""Matches and windows per second, and the ratio of the first to the baseline (0: without one)."""


@bench("rules")
def rules(options: argparse.Namespace) -> Judgement:
    """Measure random matches of each game per second, in ratio to an older version of the rules.

    `random_matches.py` says what is counted. The baseline is the rules at commit `BASELINE`, before they were made
    fast for search and learning. Old and new play the same matches in turn, and the median of the ratios counts,
    since other load slows down both. Mist is compared with PettingZoo's connect_four, too.
    """
    rounds = 1 if options.quick else RULES_ROUNDS
    python = yardstick_python()
    steps: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        before = baseline(Path(folder))
        found: dict[tuple[str, str], list[Measured]] = {each: [] for each in MATCHES_A_SECOND}
        for number in range(rounds):
            for (game, variant), measured in found.items():
                matches, windows = measure_rules(HOUSE, game, variant, number)
                old = measure_rules(before, game, variant, number)[0] if before and game in TIMES else 0.0
                measured.append((matches, windows, matches / old if old else 0.0))
            if python:
                steps += yardstick(python, "connect_four", RULES_SECONDS)
    verdicts = [is_promised(*each, measured) for each, measured in found.items()]
    turns = max(windows for (game, _), measured in found.items() if game == "mist" for _, windows, _ in measured)
    good = all(verdicts) and turns >= TURNS_A_SECOND
    if not steps or before is None:
        return None if good else False
    ratio = turns / max(steps)
    print(f"PettingZoo connect_four: {max(steps):,.0f} steps/s; Mist's turns to them: {ratio:.2f} (at least 1)")
    return good and ratio >= 1


def baseline(folder: Path) -> Path | None:
    """Extract the older version from git into the folder. If git lacks it, print why and return None."""
    archive = subprocess.run(
        ["git", "-C", HOUSE, "archive", BASELINE, "protocol", "referee"], capture_output=True, check=False
    )
    if archive.returncode:
        print(f"bench: no baseline: {archive.stderr.decode().strip()}", file=sys.stderr)
        return None
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def measure_rules(tree: Path, game: str, variant: str, seed: int) -> tuple[float, float]:
    """Return random matches and windows per second of processor time, by the rules in a folder."""
    told = subprocess.run(
        [
            sys.executable,
            Path(__file__).with_name("random_matches.py"),
            game,
            variant,
            str(seed),
            str(RULES_SECONDS),
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tree)},
    ).stdout
    matches, windows = map(float, told.split())
    return matches, windows


def is_promised(game: str, variant: str, measured: list[Measured]) -> bool:
    """Print the measurements of one game. Return whether they are as promised."""
    matches, windows, _ = max(measured)
    promised = MATCHES_A_SECOND[game, variant]
    found = f"{windows:8,.0f} windows/s {matches:8,.0f} matches/s (at least {promised})"
    times = median(ratio for _, _, ratio in measured)
    compared = f", {times:.2f} times {BASELINE} (at least {TIMES[game]})" if times else ""
    print(f"{game + ' ' + variant:30} {found}{compared}")
    return matches >= promised and (not times or times >= TIMES[game])


PLAY_ROUNDS, PLAY_SECONDS = 5, 2.0
PLAY_VARIANT = "contractual-obligation"
PLAY_MATCHES = 400
"""Promised matches per second."""
PLAY_SHARE = 0.45
"""Minimum share of the rules' own rate."""
NOT_WITH = {name: set(BOARD.cells(BOARD.ball(bit, 1))) for name, bit in BOARD.bit.items()}
"""Cells that no turn may name with a cell, by that cell."""


def chosen(name: str, view: MistView, rng: Random) -> ChooseFirst | Turn:
    """Return a random legal action."""
    return ChooseFirst(first=0) if name == "first" else Turn(cells=tuple(random_cells(view, rng)))


def random_cells(view: MistView, rng: Random) -> list[str]:
    """Return one to three random legal cells of a turn."""
    cells: list[str] = []
    number, names, forbidden = min(choice(rng, (1, 1, 2, 3)), view.pieces[1]), BOARD.names, view.forbidden
    while len(cells) < number:
        cell = choice(rng, names)
        if cell in forbidden:
            continue
        for other in cells:
            if cell in NOT_WITH[other]:
                break
        else:
            cells.append(cell)
    return cells


def decide(window: Window[MistView]) -> ChooseFirst | Turn:
    """Return a random legal action, as a bot."""
    return chosen(window.name, window.view, window.rng)


def by_play(seed: int) -> None:
    """Play a match by `play`."""
    play("mist", [decide, decide], variant=PLAY_VARIANT, seed=seed)


def by_rules(seed: int) -> None:
    """Play the same match on the rules' table."""
    table, rng = Table(GAMES["mist"], Deal(PLAY_VARIANT, seed)), Random(seed)
    while table.window is not None:
        (owed,) = table.owed
        action = chosen(table.window.name, shown(table.game, table.state, owed.seat), rng)  # type: ignore[arg-type]
        taken = ResolvedAction(table.game.check(table.state, owed.seat, action))
        table.close((taken, None) if owed.seat == 0 else (None, taken))


def play_rate(play_one: Callable[[int], None]) -> float:
    """Return the matches per second of processor time."""
    began, matches = time.process_time(), 0
    while time.process_time() - began < PLAY_SECONDS:
        play_one(matches)
        matches += 1
    return matches / (time.process_time() - began)


@bench("play")
def play_alone(options: argparse.Namespace) -> Judgement:
    """Measure matches of Mist per second by `arena.play` in one process, against the rules alone.

    The baseline plays the same matches on the rules' table, with the same choices, without bots, messages and
    results. Both are measured in turn, several times; processor time counts, and the best of each.
    """
    rounds = 1 if options.quick else PLAY_ROUNDS
    found = [(play_rate(by_rules), play_rate(by_play)) for _ in range(rounds)]
    alone, played = (max(column) for column in zip(*found, strict=True))
    print(f"rules alone: {alone:,.0f} matches of Mist a second")
    share = played / alone
    print(
        f"play:        {played:,.0f} (at least {PLAY_MATCHES}); to the rules {share:.2f} (at least {PLAY_SHARE})"
    )
    return bool(played >= PLAY_MATCHES and share >= PLAY_SHARE)


WORLDS_A_SECOND = {
    "mist": 10_000,
    "hive-mind": 1_000,
    "runes-to-ruins": 1_000,
    "pointing": 1_000,
    "fight-for-a-name": 1_000,
}
"""Worlds per second that are promised, by game."""
SHARES = {"early": 0.15, "middle": 0.5, "late": 0.9}
"""Moments at which worlds are drawn, as shares of a match's windows."""
WORLDS, WORLDS_MATCHES = 400, 3


@bench("worlds", option("--games", nargs="*", choices=[*WORLDS_A_SECOND], help="games to measure; all by default"))
def worlds(options: argparse.Namespace) -> Judgement:
    """Measure how many states per second are drawn that fit what a seat was told.

    Matches are played with random legal actions. Early, in the middle and late, the worlds of one seat are drawn.
    The time until the first one is not counted, but printed; so are rates by processor time, which other load
    changes less. The best of some matches is printed, and the number of matches without a world.
    """
    good = True
    matches = 1 if options.quick else WORLDS_MATCHES
    for name in options.games or WORLDS_A_SECOND:
        for variant in GAMES[name].variants:
            good = are_drawn(name, variant.name, matches) and good
    return good


def are_drawn(name: str, variant: str, matches: int) -> bool:
    """Print one variant's rates. Return whether they are as promised."""
    promised, good = WORLDS_A_SECOND[name], True
    found = [worlds_by_time(name, variant, seed) for seed in range(matches)]
    for when in SHARES:
        rates = [each[when] for each in found if when in each]
        drawn = [each for each in rates if each is not None]
        if not drawn:
            print(f"{name:17} {variant:21} {when:6}  none was drawn")
            good = False
            continue
        wall, used, first = max(one for one, _, _ in drawn), max(one for _, one, _ in drawn), drawn[0][2]
        failed = f"; none was found in {len(rates) - len(drawn)} of {len(rates)} matches" * (
            len(drawn) < len(rates)
        )
        print(
            f"{name:17} {variant:21} {when:6} {wall:8,.0f} worlds/s, {wall / promised:5.2f} of {promised:,}; "
            f"{used:8,.0f} a second of processor time; the first takes {first:.2f} s{failed}"
            f" (load {os.getloadavg()[0]:.0f})"
        )
        good = good and wall >= promised and not failed
    return good


WorldRate = tuple[float, float, float]
"""Worlds per second of wall time and of processor time; processor seconds until the first."""


def worlds_by_time(name: str, variant: str, seed: int) -> dict[str, WorldRate | None]:
    """Return the rates of one match, by moment; None if no world was found."""
    windows = play_and_draw(name, variant, seed, set())[0]
    at = {when: max(1, int(share * windows)) for when, share in SHARES.items()}
    rates = play_and_draw(name, variant, seed, {*at.values()})[1]
    return {when: rates[number] for when, number in at.items()}


def play_and_draw(name: str, variant: str, seed: int, at: set[int]) -> tuple[int, dict[int, WorldRate | None]]:
    """Play a match. Return its number of windows, and the rates in the windows numbered in `at`."""
    rng, table = Random(seed), Table(GAMES[name], Deal(variant, seed))
    told: list[list[Event]] = [[] for _ in range(table.seats)]
    rates: dict[int, WorldRate | None] = {}
    number = 0
    while table.window is not None:
        if number in at:
            rates[number] = world_rate(table, told, variant, Random(seed))
        play_window(table, told, rng)
        number += 1
    return number, rates


def world_rate(table: Table, told: list[list[Event]], variant: str, rng: Random) -> WorldRate | None:
    """Return the rate of one seat's worlds at this point of a match."""
    seat = rng.choice(table.owed).seat
    began = time.process_time()
    view = table.game.view(table.state, seat)
    worlds = table.game.worlds(view, told[seat], seat, rng, variant=variant, options=table.options)
    try:
        next(worlds)
        first, clock = time.process_time(), time.perf_counter()
        drawn = sum(1 for _ in islice(worlds, WORLDS))
    except ValueError:
        return None
    return drawn / (time.perf_counter() - clock), drawn / (time.process_time() - first), first - began


def play_window(table: Table, told: list[list[Event]], rng: Random) -> None:
    """Play one window at random, and add its events to those of each seat."""
    taken: list[ResolvedAction | None] = [None] * table.seats
    events: list[Addressed] = []
    for owed in table.owed:
        action = table.game.legal_actions(table.state, owed.seat).sample(rng)
        taken[owed.seat] = ResolvedAction(action)
        if table.window is not None and table.window.asap:
            events += table.answer(owed.seat, action)
    for addressed in (*events, *table.close(tuple(taken))):
        for seat in audience(addressed, table.seats):
            told[seat].append(addressed.event)


LEARNING_ROUNDS, LEARNING_SECONDS = 5, 2.0


@bench("learning")
def learning(_options: argparse.Namespace) -> Judgement:
    """Measure steps per second of the environments for learning, with observation and mask.

    A step is a random choice of the selected agent, with `last()` before it, as in PettingZoo's loop. Mist is
    compared with PettingZoo's connect_four. All are measured several times, in turn, and the best of each counts,
    since other load can only slow them down.
    """
    python = yardstick_python()
    rates: dict[str, list[float]] = {game: [] for game in GAMES}
    steps: list[float] = []
    for number in range(LEARNING_ROUNDS):
        for game, found in rates.items():
            found.append(steps_per_second(game, number))
        if python:
            steps += yardstick(python, "connect_four", LEARNING_SECONDS)
    for game, found in rates.items():
        print(f"{game:20} {max(found):8,.0f} steps/s")
    if not steps:
        return None
    ratio = max(rates["mist"]) / max(steps)
    print(f"PettingZoo connect_four: {max(steps):,.0f} steps/s; Mist's steps to them: {ratio:.2f} (at least 1)")
    return ratio >= 1


def steps_per_second(game: str, seed: int) -> float:
    """Return the steps per second in random matches of the default variant."""
    from arena.learning import aec_env  # noqa: PLC0415 - no other benchmark needs its libraries

    env, rng, steps = aec_env(game), Random(seed), 0
    start = time.perf_counter()
    while time.perf_counter() - start < LEARNING_SECONDS:
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(rng.choice(np.flatnonzero(observation["action_mask"])))
            steps += 1
    return steps / (time.perf_counter() - start)


SCENARIO_COUNT = 500
MOST_SCENARIO_SECONDS = 10.0
"""Maximum seconds for `SCENARIO_COUNT` scenarios."""


def _adjudicated(lines: list[bytes]) -> None:
    for line in lines:
        adjudicate_line(line)


def _bare(lines: list[bytes], results: list[object]) -> None:
    for line, result in zip(lines, results, strict=True):
        json.loads(line)
        json.dumps(result)


@bench("adjudicate")
def adjudicate(_options: argparse.Namespace) -> Judgement:
    """Measure `arena adjudicate` on whole scenarios of each game, against reading and writing their JSON alone."""
    good = True
    for game in sorted(file.stem for file in SCENARIOS.glob("*.jsonl")):
        found = examples(game)
        chosen = [found[number % len(found)] for number in range(SCENARIO_COUNT)]
        scenarios = [json.dumps(each["scenario"]).encode() for each in chosen]
        results = [each["result"] for each in chosen]
        ours = processor_seconds(partial(_adjudicated, scenarios))
        bare = processor_seconds(partial(_bare, scenarios, results))
        good = good and ours <= MOST_SCENARIO_SECONDS
        bound = f"at most {MOST_SCENARIO_SECONDS:.0f}"
        print(f"{game}: {SCENARIO_COUNT} in {ours:.2f} s ({bound}), {ours / bare:.1f} times their JSON")
    return good
