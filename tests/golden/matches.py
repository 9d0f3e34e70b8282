"""Golden matches: one whole match of each game and variant with all that came of it, kept so that a change shows.

`scripts/golden` rewrites the results, and plays a match where none is kept; whoever reviews a change reads the
diff. To have another match played, delete its file first.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from protocol.codec import decode_json, encode
from referee.adjudication.adjudicate import Games, adjudicate_line
from referee.games import GAMES
from referee.proofs.conformance.sitting import Chooser, ObservedTable
from referee.rules.contract import AnyGame
from referee.rules.table import Deal, Table

FOLDER = Path(__file__).parent
SEEDS = range(40)
"""The matches from which one is chosen."""
UNTIDY = 1 / 8
"""How often a seat submits something unchecked, or out of turn."""
NO_ACTION = {"no_such_field": True}
"""No game's action: it is rejected also where every action of the right form is legal."""

Golden = dict[str, Any]


def path(game: str, variant: str) -> Path:
    """Where the golden match of that variant is kept."""
    return FOLDER / f"{game}.{variant}.json"


def variants() -> list[tuple[str, str]]:
    """Every game and variant there is."""
    return [(game.name, variant.name) for game in GAMES.values() for variant in game.variants]


def adjudicated(scenario: Any, games: Games = GAMES) -> Any:
    """Return the present result of a scenario."""
    return json.loads(adjudicate_line(json.dumps(scenario).encode(), games))


def played(game: AnyGame, variant: str) -> Any:
    """Return a scenario with a rejection, if possible, and the most types of events; the shortest of all seeds."""
    scenarios = [random_match(game, variant, seed) for seed in SEEDS]
    games = {game.name: game}

    def worth(scenario: Any) -> tuple[bool, int, int]:
        result = adjudicated(scenario, games)
        rejects = any(step["rejected"] for step in result["steps"])
        return rejects, len(_event_types(result)), -len(result["steps"])

    return max(scenarios, key=worth)


def written(golden: Golden) -> str:
    """Return a golden match as it is stored: one line per step, so that diffs name the step."""
    return "{" + ",\n\n".join(f"{json.dumps(part)}: {_by_lines(golden[part])}" for part in golden) + "}\n"


def rewrite() -> None:
    """Rewrites every golden match as the rules now have it."""
    for name, variant in variants():
        file = path(name, variant)
        scenario = json.loads(file.read_bytes())["scenario"] if file.exists() else played(GAMES[name], variant)
        file.write_text(written({"scenario": scenario, "result": adjudicated(scenario)}), encoding="utf-8")


def random_match(
    game: AnyGame, variant: str, seed: int, look: Callable[[ObservedTable], object] = lambda _: None
) -> Any:
    """Play a match at random, and return it as a scenario. `look` is called before each window and at the end."""
    rng = Random(seed)
    sitting = ObservedTable(Table(game, Deal(variant, seed)))
    chooser = Chooser(rng)
    steps = []
    while sitting.table.window is not None:
        look(sitting)
        steps.append(_random_step(sitting, chooser, rng))
    look(sitting)
    return {"game": game.name, "variant": variant, "seed": seed, "steps": steps}


def _random_step(sitting: ObservedTable, chooser: Chooser, rng: Random) -> Any:
    """Plays one window. What is untidy is rejected, or ignored, and leaves its seat with the default."""
    table = sitting.table
    chosen = chooser.choose_all(table)
    step: dict[str, Any] = {}
    for seat in range(table.seats):
        part = chosen.get(seat)
        if part and not part.by_default:
            step[str(seat)] = decode_json(encode(part.action))
        elif rng.random() < UNTIDY:
            guess = chooser.guess(table, seat)
            legal = part and sitting.response(seat, guess).startswith(b"accepted")
            step[str(seat)] = NO_ACTION if legal else decode_json(guess)
    if table.window and table.window.timed:
        step["elapsed_ms"] = {str(seat): part.elapsed_ms for seat, part in chosen.items()}
    sitting.play(chosen)
    return step


def _event_types(result: Any) -> set[str]:
    steps = [result["start"], *result["steps"]]
    told = (event for step in steps for events in (step["public"], *step["told"].values()) for event in events)
    return {event["type"] for event in told}


def _by_lines(value: Any) -> str:
    return "{\n" + ",\n".join(_lines(value)) + "\n}"


def _lines(value: dict[str, Any]) -> Iterator[str]:
    for key, entry in value.items():
        if key == "steps":
            steps = ",\n".join(json.dumps(step, separators=(",", ":"), ensure_ascii=False) for step in entry)
            yield f"{json.dumps(key)}: [\n{steps}\n]"
        else:
            yield f"{json.dumps(key)}: {json.dumps(entry, separators=(',', ':'), ensure_ascii=False)}"


if __name__ == "__main__":
    rewrite()
