"""A results folder of real matches of Mist, in virtual time, in which each seat tells its transcript a secret."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import trio
import trio.testing
from msgspec import Raw

from arena.schedule.round_robin import round_robin
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger
from protocol.codec import encode
from referee.host.one_match import play
from referee.host.plan import Plan
from referee.host.players import LocalSeat
from referee.match.seat_report import SeatReport
from referee.match.terms import Policy
from tests.arena.pages.folders import TERMS
from tests.arena.viewer.matches import VARIANTS, bot


def secret(label: str, block: int, seating: int) -> str:
    """What a bot notes in a match, and writes to its log."""
    return f"secret of {label.encode().hex()} in {block}-{seating}"


def played_folder(path: Path, labels: Sequence[str], blocks: int, *, begun: int = 0) -> Path:
    """Two bots play each other.

    Args:
        path: of the folder.
        labels: the bots'.
        blocks: that count.
        begun: blocks after them of which the first match only was played.
    """
    (path / TRANSCRIPTS).mkdir(parents=True)

    async def play_all(ledger: Ledger) -> None:
        for block in round_robin(2, blocks + begun, 1):
            for match in block.matches[: 2 if block.number < blocks else 1]:
                attempt = ledger.try_match(
                    match, path / TRANSCRIPTS, f"{match.block + 1:05d}{'ab'[match.seating]}"
                )
                plan = Plan(
                    match=match.name,
                    game="mist",
                    variant=VARIANTS["mist"],
                    seed=match.seed,
                    seating=match.seating,
                    options=Raw(encode({"first": 0, "max_turns": 4})),
                    policy=Policy(fault="default"),
                )
                names = [labels[entrant] for entrant in match.entrants]
                said = [secret(name, match.block, match.seating) for name in names]
                seats = tuple(LocalSeat(name, bot(note)) for name, note in zip(names, said, strict=True))
                result = await play(plan, seats, transcript=attempt.transcript)
                for seat, words in enumerate(said):
                    log = attempt.transcript.with_suffix(f".seat-{seat}.log")
                    log.write_text(f"{words}\nin {path}/bots/bot.py and in {Path.home()}/x\n")
                reports = tuple(SeatReport(loss=f"it lost by {words}") for words in said)
                ledger.finish(match, attempt, msgspec.structs.replace(result, reports=reports), seatings=2)

    with closing(Ledger(path / LEDGER)) as ledger:
        ledger.begin(TERMS | {"bots": list(labels), "variant": VARIANTS["mist"], "blocks": blocks + begun})
        trio.run(play_all, ledger, clock=trio.testing.MockClock(autojump_threshold=0))
    return path
