"""A stand-in for playing matches: who wins is decided by the plan alone, like a match of deterministic bots."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from random import Random

import trio
from msgspec.structs import replace

from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.host.plan import AttemptResult, Plan


def outcome(*ranking: tuple[int, ...]) -> Outcome:
    """Return an outcome with this ranking and nothing else."""
    return Outcome(ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="played")


def result(plan: Plan, players: Sequence[str], transcript: Path) -> AttemptResult:
    """Return the result of a plan, the same whenever these bots play it."""
    draw = sha256(f"{plan.seed}/{players}".encode()).digest()
    others = len(players) - 2
    rankings = (outcome((0,), (1,)), outcome((1,), (0,)), outcome((0, 1)))
    return AttemptResult(
        match=plan.match,
        outcome=_of_many(draw, len(players)) if others else rankings[draw[0] % 3],
        conduct=(Conduct.OK, Conduct.CRASHED if draw[1] % 8 == 0 else Conduct.OK) + (Conduct.OK,) * others,
        void=None,
        charged_us=(draw[2], draw[3]) + (7,) * others,
        windows=(5, 4) + (1,) * others,
        defaults=(0, draw[4] % 2) + (0,) * others,
        refused=(0,) * len(players),
        transcript=str(transcript),
        head=draw.hex(),
    )


def _of_many(draw: bytes, seats: int) -> Outcome:
    """All seats in an order that is drawn, the last two tied."""
    order = sorted(range(seats), key=lambda seat: draw[seat])
    return outcome(*((seat,) for seat in order[:-2]), tuple(sorted(order[-2:])))


class StandIn:
    """Plays matches in a time drawn for each, so that they end in another order than they began."""

    def __init__(self, *, void: Sequence[str] = (), order: int = 0) -> None:
        """`void`: reasons why the first attempts are void. `order`: another number, another order of ending."""
        self.played: list[Plan] = []
        self.transcripts: list[str] = []
        self.at_once = 0
        self.most_at_once = 0
        self._void = list(void)
        self._rng = Random(order)

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        await trio.sleep(self._rng.random())
        self.at_once -= 1
        self.played.append(plan)
        self.transcripts.append(transcript.name)
        done = result(plan, players, transcript)
        return replace(done, outcome=None, void=self._void.pop(0)) if self._void else done


class AtOnce:
    """Plays matches in no time. After so many it fails, if asked to."""

    def __init__(self, *, fails_after: int | None = None, failure: Exception | None = None) -> None:
        self.played: list[Plan] = []
        self._fails_after = fails_after
        self._failure = failure

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        """See `referee.host.one_match.play`."""
        await trio.lowlevel.checkpoint()
        if self._failure is not None and len(self.played) == self._fails_after:
            raise self._failure
        self.played.append(plan)
        return result(plan, players, transcript)
