"""The order of jobs: fair between competitions and between teams, and submissions before scrimmages. Pure.

Who has used the least processor time in the last hour is next, and then who has waited longest. But a team that
was served while another waited does not come again before the other: so a team with hundreds of jobs in the queue
delays another one by the job that is under way, and by no more.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Literal, TypeVar

from msgspec import Struct

JobKind = Literal["submission", "scrimmage"]
PartyT = TypeVar("PartyT", bound=Hashable)


class WaitingJob(Struct, frozen=True, kw_only=True):
    """A job in the queue."""

    id: int
    kind: JobKind
    team: int
    competition: str
    created: str
    """Time in ISO 8601, as all times here."""


class Share(Struct, frozen=True):
    """What a team or a competition got lately."""

    last: str = ""
    """End of its latest job, or the beginning of one that has not ended; empty: it never had one."""
    cpu_ms: int = 0
    """Processor time charged to it in the last hour."""


NOTHING = Share()
EXACT = 50
LATEST = "~"
"""A text that sorts behind all times."""


def next_job(
    waiting: Iterable[WaitingJob], teams: Mapping[int, Share], competitions: Mapping[str, Share]
) -> WaitingJob | None:
    """Return the job that is next; None if none waits.

    Args:
        waiting: the jobs in the queue.
        teams: what each team got; a missing one got nothing.
        competitions: the same for each competition.
    """
    found = list(waiting)
    if submissions := [job for job in found if job.kind == "submission"]:
        found = submissions
    if not found:
        return None
    # The dicts keep the last value: the oldest job of each.
    found.sort(key=_age, reverse=True)
    competition = _next_party({job.competition: job for job in found}, competitions)
    by_team = {job.team: job for job in found if job.competition == competition}
    return by_team[_next_party(by_team, teams)]


def in_order(
    waiting: Iterable[WaitingJob],
    teams: Mapping[int, Share],
    competitions: Mapping[str, Share],
    *,
    now: str,
    cpu_ms: int,
) -> list[WaitingJob]:
    """Return jobs in the order in which they are done if no more arrive and each takes `cpu_ms`.

    That is exact for the first `EXACT` jobs; behind them it is by rounds, in which each team has one job.
    """
    rest = {job.id: job for job in waiting}
    teams, competitions = dict(teams), dict(competitions)
    found: list[WaitingJob] = []
    while len(found) < EXACT and (job := next_job(rest.values(), teams, competitions)) is not None:
        del rest[job.id]
        found.append(job)
        # This sorts behind `now`, and each behind the one before it.
        after = f"{now}/{len(found):03}"
        teams[job.team] = Share(after, teams.get(job.team, NOTHING).cpu_ms + cpu_ms)
        share = competitions.get(job.competition, NOTHING)
        competitions[job.competition] = Share(after, share.cpu_ms + cpu_ms)
    turns = Counter[tuple[str, int]]()
    ranks: list[tuple[bool, int, int, WaitingJob]] = []
    for job in sorted(rest.values(), key=_age):
        turn = turns[job.kind, job.team]
        turns[job.kind, job.team] += 1
        ranks.append((job.kind != "submission", turn, teams.get(job.team, NOTHING).cpu_ms, job))
    ranks.sort(key=lambda rank: (*rank[:3], *_age(rank[3])))
    found += [job for *_, job in ranks]
    return found


def _age(job: WaitingJob) -> tuple[str, int]:
    return job.created, job.id


def _next_party(oldest: Mapping[PartyT, WaitingJob], shares: Mapping[PartyT, Share]) -> PartyT:
    """Return the team or competition that is next; `oldest` has the oldest job of each that waits."""
    by_last: dict[str, list[PartyT]] = {}
    for party in oldest:
        by_last.setdefault(shares.get(party, NOTHING).last, []).append(party)
    candidates: list[tuple[int, str, int, PartyT]] = []
    waits_since = LATEST
    """Arrival of the oldest job of all that were served longer ago."""
    for last, parties in sorted(by_last.items()):
        if last < waits_since:
            candidates += [(shares.get(party, NOTHING).cpu_ms, *_age(oldest[party]), party) for party in parties]
        waits_since = min(waits_since, *(oldest[party].created for party in parties))
    # There is always one: those that were served longest ago are held back by none.
    return min(candidates, key=lambda each: each[:3])[3]
