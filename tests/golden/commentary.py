"""Golden commentary: the remarks on each golden match, kept so that a change of a sentence shows.

`scripts/golden` rewrites them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Raw

from protocol.codec import encode
from protocol.text import COMMENTARIES, Scene, remarks_on
from referee.games import GAMES
from referee.rules import Addressed, Deal, Table
from tests.golden.matches import path, variants

NAMES = ("anna", "bob", "carl", "dora", "emil", "fee", "gina", "hugo", "ida", "jan", "kim", "lea", "max")


def commentary_path(game: str, variant: str) -> Path:
    """Return where the commentary on the golden match of that variant is kept."""
    return path(game, variant).with_suffix(".commentary.txt")


def scenes(result: dict[str, Any]) -> Iterator[Scene]:
    """Yield the scenes of an adjudicated match: the deal, then one for each window."""
    game = GAMES[result["game"]]
    table = Table(game, Deal(result["variant"], result["seed"], _raw(result["options"]), _raw(result["setup"])))
    names = NAMES[: table.seats]
    before = game.host_view(table.state)
    yield Scene(before=None, after=before, told=_told(table.start), names=names)
    for step in result["steps"]:
        told: list[Addressed] = []
        for seat, action in step["taken"].items():
            if action is not None:
                told += table.submit(int(seat), table.read(int(seat), encode(action)))
        told += table.close(table.results())
        after = game.host_view(table.state)
        yield Scene(before=before, after=after, told=_told(told), names=names)
        before = after


def commented(result: dict[str, Any]) -> str:
    """Return the remarks on an adjudicated match, a line each: step, a star for each grade of weight, text."""
    commentary = COMMENTARIES[result["game"]]
    lines: list[str] = []
    for number, scene in enumerate(scenes(result)):
        remarks = remarks_on(commentary, scene)
        lines += [f"{number:3} {'*' * remark.weight:3} {remark.text}\n" for remark in remarks]
    return "".join(lines)


def _raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def _told(told: Any) -> list[tuple[Any, int | None]]:
    return [(each.event, each.seat) for each in told]


def rewrite() -> None:
    """Rewrite the commentary on every golden match."""
    for game, variant in variants():
        result = json.loads(path(game, variant).read_bytes())["result"]
        commentary_path(game, variant).write_text(commented(result), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
