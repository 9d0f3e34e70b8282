"""Transcripts of the golden matches, and how `arena replay` shows them to the host, a spectator and each seat."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from arena.simulation import play
from bots.kit import Window
from referee.match import Header, Record
from referee.transcript import read_transcript, verify_transcript, write_transcript
from tests.golden import transcripts
from tests.golden.matches import path, variants
from tests.outputs.running import arena, output, own_folder

STARTED = "2026-11-01T12:00:00.000+00:00"


def parts() -> list[str]:
    """Return the parts of this group: the golden matches and the golden transcripts."""
    golden = [f"{game}.{variant}" for game, variant in variants()]
    return golden + [transcripts.path(fault).stem for fault in transcripts.FAULTS]


def record(part: str, folder: Path) -> None:
    """Record what is said of one transcript."""
    with own_folder():
        file = Path(f"{part}.jsonl")
        game, variant = part.split(".")
        if game == "fault":
            file.write_bytes(transcripts.path(variant).read_bytes())
        else:
            _write_golden(game, variant, file)
            (folder / file).write_bytes(file.read_bytes())
        header = verify_transcript(file).header
        assert isinstance(header, Header)
        said = [arena("replay", str(file)), arena("replay", str(file), "--json"), arena("replay", ".")]
        (folder / f"{part}.replay.txt").write_text("\n".join(said), encoding="utf-8")
        for eyes in ("host", "spectator", *map(str, range(len(header.bots)))):
            text = output("replay", str(file), "--boards", eyes)
            (folder / f"{part}.boards.{eyes}.txt").write_text(text, encoding="utf-8")
        seat = output("replay", str(file), "--seat", "0")
        (folder / f"{part}.seat-0.jsonl").write_text(seat, encoding="utf-8")
        output("replay", str(file), "--html", "page.html")
        page = Path("page.html").read_text(encoding="utf-8")
        (folder / f"{part}.html").write_text(page, encoding="utf-8")


def write_again(played: Path, file: Path, labels: Sequence[str] = ()) -> None:
    """Write a transcript again with nothing in its header that depends on the clock, the machine or chance.

    The bots' contents and the arena's version are left out as well: they change with the code, whatever a match
    comes to.
    """
    header, *records, _ = read_transcript(played)
    assert isinstance(header, Header)
    names = labels or tuple(bot.name for bot in header.bots)
    write_transcript(
        file,
        replace(
            header,
            arena="outputs",
            bots=tuple(
                replace(bot, name=name, content="", version="1")
                for bot, name in zip(header.bots, names, strict=True)
            ),
            machine="none",
            started=STARTED,
            salts=tuple(f"{seat:032x}" for seat in range(len(header.bots))),
        ),
        cast("list[Record]", records),
    )


def _write_golden(game: str, variant: str, file: Path) -> None:
    """Play a golden match in virtual time, and write its transcript."""
    golden = json.loads(path(game, variant).read_bytes())
    scenario, result = golden["scenario"], golden["result"]
    by_seat: dict[int, list[dict[str, Any]]] = {}
    for submitted, step in zip(scenario["steps"], result["steps"], strict=True):
        for seat in step["seats"]:
            elapsed = submitted.get("elapsed_ms", {}).get(str(seat), 40 * seat)
            by_seat.setdefault(seat, []).append({"action": submitted.get(str(seat)), "ms": elapsed})
    seats = len(result["steps"][0]["told"])
    play(
        game,
        [_submitting(seat, [step["action"] for step in by_seat.get(seat, ())]) for seat in range(seats)],
        variant=variant,
        seed=scenario["seed"],
        options=scenario.get("options"),
        setup=scenario.get("setup"),
        on_illegal="default",
        transcript=f"{file}.played",
        think_ms=lambda seat, opened: by_seat[seat][opened.id]["ms"],
    )
    write_again(Path(f"{file}.played"), file)


def _submitting(seat: int, actions: list[Any]) -> Callable[[Window[Any]], Any]:
    """Return a bot that submits these actions, one per window; None leaves its window to the default."""

    def decide(window: Window[Any]) -> Any:
        return actions[window.id]

    decide.__name__ = f"golden_{seat}"
    return decide
