"""Random play of every game and variant: what was submitted, refused, shown and told, and the results."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from protocol.codec import encode
from referee.adjudication import adjudicate_line
from referee.games import GAMES
from referee.proofs.conformance.sitting import ObservedTable
from tests.golden.matches import random_match, variants

SCENARIOS = 500
WHOLE, OF = 2, 30
"""How many scenarios are recorded with their whole text: the shortest of so many."""
HASH_BYTES = 6
HEADING = "seed steps submitted    refused      shown        told         result\n"
WRONG = (
    "not JSON",
    "[]",
    "{}",
    '{"game": "%s"}',
    '{"game": "no such game", "steps": []}',
    '{"game": "%s", "variant": "no such variant", "steps": []}',
    '{"game": "%s", "options": {"no_such_option": 1}, "steps": []}',
    '{"game": "%s", "options": [], "steps": []}',
    '{"game": "%s", "setup": {"no_such_secret": 1}, "steps": []}',
    '{"game": "%s", "seed": "7", "steps": []}',
    '{"game": "%s", "steps": [{"99": null}]}',
    '{"game": "%s", "steps": [{"0": null}, {"0": null}], "steps": []}',
    '{"game": "%s", "steps": [{"elapsed_ms": {"0": -1}}]}',
    '{"game": "%s", "steps": [{"0": {"no_such_field": true}}, {"1": []}, {"0": "a1"}, {"0": 1e400}]}',
)
"""Scenarios with an error, or of illegal actions alone."""


def parts() -> list[str]:
    """Return the parts of this group: every variant of every game."""
    return [f"{game}.{variant}" for game, variant in variants()]


def record(part: str, folder: Path) -> None:
    """Record the scenarios of one variant."""
    game, variant = part.split(".")
    lines, shortest = [HEADING], list[Played]()
    for seed in range(SCENARIOS):
        played = Played(game, variant, seed)
        lines.append(played.line())
        if seed < OF:
            shortest = sorted((*shortest, played), key=lambda each: each.size)[:WHOLE]
    (folder / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    for number, played in enumerate(shortest, 1):
        (folder / f"{part}.shortest-{number}.txt").write_text(played.whole(), encoding="utf-8")
    (folder / f"{part}.errors.txt").write_text("".join(_errors(game)), encoding="utf-8")


class Played:
    """One scenario of random play, and all that can be seen of it."""

    def __init__(self, game: str, variant: str, seed: int) -> None:
        """Play the scenario, and then adjudicate it: two ways through the rules."""
        self.game, self.variant, self.seed = game, variant, seed
        self.shown: list[str] = []
        """What each observer was shown before each window and at the end."""
        self._told: list[str] = []
        scenario = random_match(GAMES[game], variant, seed, self._look)
        self.submitted = [json.dumps(step) for step in scenario["steps"]]
        self.result: dict[str, Any] = json.loads(adjudicate_line(json.dumps(scenario).encode()))
        steps = self.result["steps"]
        self.refused = [json.dumps(step["rejected"], ensure_ascii=False) for step in steps]
        self.told = [
            *(json.dumps([step["public"], step["told"]], ensure_ascii=False) for step in steps),
            *self._told,
        ]

    @property
    def size(self) -> int:
        """Characters of what was shown: most of the text."""
        return sum(map(len, self.shown))

    def line(self) -> str:
        """Return the line of hashes: a difference shows in the column of what differs."""
        texts = (self.submitted, self.refused, self.shown, self.told, [json.dumps(self.result)])
        hashes = " ".join(blake2b("\n".join(text).encode(), digest_size=HASH_BYTES).hexdigest() for text in texts)
        return f"{self.seed:4} {len(self.submitted):5} {hashes}\n"

    def whole(self) -> str:
        """Return the whole text."""
        result = {key: value for key, value in self.result.items() if key != "steps"}
        taken = [json.dumps(step["taken"]) for step in self.result["steps"]]
        heading = f"{self.game} {self.variant}, seed {self.seed}\n"
        return heading + "".join(
            f"== {title}\n" + "".join(f"{line}\n" for line in lines)
            for title, lines in (
                ("submitted", self.submitted),
                ("refused", self.refused),
                ("taken", taken),
                ("told", self.told),
                ("shown", self.shown),
                ("result", [json.dumps(result, ensure_ascii=False)]),
            )
        )

    def _look(self, sitting: ObservedTable) -> None:
        number = sitting.table.number
        for observer in sitting.observers:
            who = "spectator" if observer is None else observer
            self.shown.append(f"{number} {who} {sitting.shown(observer).decode()}")
        if sitting.table.window is None:
            # Hashes of everything that an observer was told during the match, in its order.
            self._told += [encode([str(who), told.hex()]).decode() for who, told in sitting.told.items()]


def _errors(game: str) -> Iterator[str]:
    for wrong in WRONG:
        scenario = wrong.replace("%s", game)
        yield f"{scenario}\n{adjudicate_line(scenario.encode()).decode()}\n"
