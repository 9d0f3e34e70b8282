"""The order of jobs: no team and no competition starves another."""

from random import Random

import pytest

from arena.submissions.order import Share, WaitingJob, in_order, next_job


def at(second: int) -> str:
    return f"2026-11-29T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def job(id_: int, team: int, second: int = 0, *, kind: str = "submission", competition: str = "cup") -> WaitingJob:
    return WaitingJob(id=id_, kind=kind, team=team, competition=competition, created=at(second))  # type: ignore[arg-type]


def test_the_oldest_is_first_if_nobody_had_anything() -> None:
    assert next_job([], {}, {}) is None
    found = next_job([job(1, 1, 5), job(2, 2, 4), job(3, 3, 6)], {}, {})
    assert found is not None
    assert found.id == 2


def test_who_used_least_is_first_and_submissions_come_before_scrimmages() -> None:
    shares = {1: Share(at(1), 900), 2: Share(at(2), 100)}
    waiting = [job(1, 1, 5), job(2, 2, 6), job(3, 3, 4, kind="scrimmage")]
    assert [each.id for each in in_order(waiting, shares, {}, now=at(9), cpu_ms=1)] == [2, 1, 3]


def test_another_competition_does_not_wait_for_a_full_one() -> None:
    waiting = [
        *(job(number, number, competition="big") for number in range(100)),
        job(100, 1, 50, competition="small"),
    ]
    ordered = in_order(waiting, {}, {"big": Share(at(60), 10**6)}, now=at(60), cpu_ms=1)
    assert ordered[0].competition == "small"


def test_a_flood_of_one_team_delays_another_by_the_job_under_way() -> None:
    """Team 1 has 200 quick jobs, and team 2 has used far more processor time before."""
    flood = [job(number, 1) for number in range(200)]
    late = job(999, 2, 100)
    shares = {1: Share(at(101), 5), 2: Share(at(50), 10**6)}
    found = next_job([*flood, late], shares, {})
    assert found == late


@pytest.mark.parametrize("seed", range(20))
def test_while_a_team_waits_no_other_is_served_twice(seed: int) -> None:
    """Arrivals, lengths and charges are drawn; each job's end is the moment of the next choice."""
    rng = Random(seed)
    waiting: list[WaitingJob] = []
    shares: dict[int, Share] = {}
    served: list[tuple[int, str, str]] = []
    now = number = 0
    while len(served) < 300:
        for _ in range(rng.choice([0, 0, 1, 3, 40 if number < 40 else 0])):
            number += 1
            waiting.append(job(number, rng.choice([1, 1, 1, 2, 3, 4]), now))
        now += 1
        chosen = next_job(waiting, shares, {})
        if chosen is None:
            continue
        waiting.remove(chosen)
        begun = at(now)
        now += rng.randint(1, 9)
        before = shares.get(chosen.team, Share())
        shares[chosen.team] = Share(at(now), before.cpu_ms + rng.randint(1, 9_999))
        served.append((chosen.team, chosen.created, begun))
        for other in {each.team for each in waiting} - {chosen.team}:
            oldest = min(each.created for each in waiting if each.team == other)
            since = [team for team, _, begun_at in served if begun_at > oldest]
            last = max((place for place, team in enumerate(since) if team == other), default=-1)
            meanwhile = since[last + 1 :]
            assert all(meanwhile.count(team) <= 1 for team in meanwhile)


def test_an_order_of_many_jobs_is_found_quickly() -> None:
    waiting = [job(number, number % 500, number % 60) for number in range(5_000)]
    ordered = in_order(waiting, {}, {}, now=at(60), cpu_ms=1)
    assert sorted(each.id for each in ordered) == list(range(5_000))
    first = [each.team for each in ordered[:500]]
    assert len(set(first)) == 500
