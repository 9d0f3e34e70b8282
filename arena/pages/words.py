"""What pages say of a competition: how far it is, its times, and its terms. Pure."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import assert_never

from msgspec import Struct

from arena.config import entrant_label
from arena.pages.competition import Overview
from arena.quantities import counted
from arena.reports import interval, terms_told, verdict_text
from arena.schedule import fields_of, match_name, withdrawn
from arena.statistics import Digest, Rating
from arena.tournament import Again, BlockSetAside, LeftOut, entries_until, left_out_now

FEW = 4
"""With fewer results than these nobody can tell how long the rest will take."""
LONG = 20
"""A gap between two results that is so many times the usual one was a stop, not play."""
MINUTE, HOUR, DAY = 60, 3600, 86400


class State(Struct, frozen=True):
    """How far a competition is."""

    kind: str
    """`finished`, `running` or `stopped`."""
    words: str
    share: float | None = None
    """How much of it counts, from 0 to 1; None: nobody knows."""


def state_of(overview: Overview) -> State:
    """How far it is, in words. An unfinished one says so."""
    if overview.history is not None:
        return _state_of_test(overview)
    done, total = overview.found.digest.matches, overview.total or 0
    if overview.finished:
        return State("finished", f"finished: {counted(done, 'match')}", 1.0)
    share = done / total if total else None
    far = f"{done} of {counted(total, 'match')}" if total else counted(done, "match")
    if not overview.running:
        return State("stopped", f"unfinished: {far}", share)
    left = time_left(overview.times.ended, total - done) if total else ""
    return State("running", f"{far}, {left} left" if left else f"{far}, being played now", share)


def _state_of_test(overview: Overview) -> State:
    history = overview.history
    assert history is not None  # noqa: S101 - by the caller
    digest = overview.found.digest
    after = f"after {counted(len(history.differences) * (digest.matches // max(1, digest.blocks)), 'match')}"
    if history.decided:
        return State("finished", f"{verdict_text(history.test, history)}, {after}", 1.0)
    if overview.running:
        return State("running", f"undecided {after}, being played now")
    return State("stopped", f"stopped {after}: undecided")


def time_left(ended: Sequence[str], matches: int) -> str:
    """Return about how long so many matches will take, in words; empty: too little is known.

    `ended`: when the latest matches ended, the last at the end.
    """
    times = [when for each in ended if (when := moment(each)) is not None]
    if len(times) < FEW:
        return ""
    gaps = [(after - before).total_seconds() for before, after in pairwise(times)]
    usual = max(median(gaps), sum(sorted(gaps)[: len(gaps) * 9 // 10]) / len(gaps))
    played = [gap for gap in gaps if gap <= LONG * usual] or gaps
    return span(timedelta(seconds=sum(played) / len(played) * matches))


def span(time: timedelta) -> str:
    """`less than a minute`, `about 14 minutes`, `about 3 hours`, `about 2 days`."""
    seconds = time.total_seconds()
    if seconds < MINUTE:
        return "less than a minute"
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= 2 * unit or unit == MINUTE:
            return f"about {counted(round(seconds / unit), name)}"
    raise AssertionError


def moment(text: str | None) -> datetime | None:
    """A time from a ledger; None: it is not a time."""
    try:
        found = datetime.fromisoformat(text or "")
        return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


MOST_FACTS = 100
"""Of one list: a page has room for no more."""


class Fact(Struct, frozen=True):
    """Something that a page says of a competition."""

    name: str
    text: str
    at: str = ""
    """A time for programs, ISO 8601."""


def facts(overview: Overview) -> list[Fact]:
    """What was played, when, and with which arena."""
    found, digest = overview.found, overview.found.digest
    said = [Fact(name, text) for name, text in terms_told(found.terms).items()]
    if isinstance(rule := found.terms.get("stage.rule"), str):
        said.append(Fact("stage", rule))
    said += [
        Fact("bots", bots_text(overview)),
        Fact("matches", f"{digest.matches} of {overview.total}" if overview.total else str(digest.matches)),
    ]
    said += _time("entries until", entries_until(found.terms, found.events))
    said += _time("begun", overview.times.begun)
    said += _time("last result", overview.times.ended[-1] if overview.times.ended else None)
    said.append(Fact("arena", str(found.terms.get("arena", "unknown"))))
    if found.voids:
        said.append(Fact("void attempts", f"{len(found.voids)}, played again"))
    said += [Fact("set aside", _aside_text(each, digest.labels)) for each in found.asides.blocks]
    said += [
        Fact("no longer excused", f"{digest.labels[each.entrant]} causes its hold-ups itself: {each.evidence}")
        for each in found.asides.own_doing
        if each.entrant < len(digest.labels)
    ]
    if found.lost:
        said.append(Fact("attempts lost with a referee process", f"{len(found.lost)}, played again"))
    left_out = left_out_now(found.terms, found.events)
    said += [Fact("left out", f"{label}: {why}") for label, why in left_out.items()]
    return said[:MOST_FACTS]


def bots_text(overview: Overview) -> str:
    """Return how many bots there are: `4 bots, 1 of them withdrawn`; the house bot is named and not counted."""
    digest, spec = overview.found.digest, overview.found.spec
    bots = counted(competitors(digest), "bot")
    gone = 0 if spec is None else len(withdrawn(spec))
    bots = f"{bots}, {gone} of them withdrawn" if gone else bots
    return bots if digest.house is None else f"{bots} and a house bot"


def competitors(digest: Digest) -> int:
    """Return how many bots have a place: all but the house bot."""
    return len(digest.labels) - (digest.house is not None)


def _aside_text(aside: BlockSetAside, labels: Sequence[str]) -> str:
    match aside.decision:
        case None:
            state = "the host has not decided yet"
        case Again():
            state = "played again"
        case LeftOut():
            state = "left out by the host"
        case _ as unreachable:
            assert_never(unreachable)
    bot = aside.set_aside.entrant
    name = entrant_label(labels, bot)
    attempts = counted(len(aside.set_aside.evidence), "attempt")
    match_ = match_name(aside.block, 0)
    return f"{match_} and the other matches from its deal: {state}; {name} alone was held up in {attempts}"


def last_result(overview: Overview) -> Fact | None:
    """When the last match that counts ended."""
    ended = overview.times.ended
    return next(iter(_time("last result", ended[-1])), None) if ended else None


def terms_line(overview: Overview) -> str:
    """Game, variant and format in a line."""
    told = terms_told(overview.found.terms)
    words = [told[name].replace("_", " ") for name in ("game", "variant", "format") if name in told]
    if overview.history is not None:
        words.append("regression test")
    return ", ".join([*words, bots_text(overview)])


def _time(name: str, text: str | None) -> list[Fact]:
    when = moment(text)
    if when is None:
        return []
    return [Fact(name, f"{when.day} {when:%B %Y, %H:%M} UTC", when.isoformat(timespec="seconds"))]


def terms(overview: Overview) -> list[tuple[str, list[tuple[str, str]]]]:
    """Clock, policy, options and test as they were agreed, each with its fields. Never the seed."""
    found = []
    for title in ("clock", "policy", "options", "test"):
        fields = [
            (key.removeprefix(f"{title}."), "set by the variant" if value is None else str(value).lower())
            for key, value in overview.found.terms.items()
            if key.startswith(f"{title}.")
        ]
        if fields:
            found.append((title, fields[:MOST_FACTS]))
    schedule = [("deals" if key == "blocks" else key, str(value)) for key, value in _schedule(overview)]
    return [*found, *([("schedule", schedule)] if schedule else [])]


def _schedule(overview: Overview) -> Iterable[tuple[str, object]]:
    spec = overview.found.spec
    for key in ("blocks", "rounds", "heads", "rotations"):
        value = overview.found.terms.get(key)
        if spec is not None and key in {"blocks", "rounds"}:  # More may be played than was begun.
            value = getattr(fields_of(spec)[-1], key)
        if value is not None:
            yield key, value


def rating_text(rating: Rating) -> str:
    """A rating with its interval."""
    return f"{rating.elo:+z.0f}, {interval(rating)}"
