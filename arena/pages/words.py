"""Texts about a competition for its pages: state, times and terms. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, starmap
from statistics import median
from typing import assert_never

from msgspec import Struct

from arena.config import entrant_label
from arena.pages.competition import Overview
from arena.quantities import pluralise
from arena.reports import interval, terms_told, verdict_text
from arena.schedule import fields_of, match_name, withdrawn
from arena.statistics import Digest, Rating
from arena.tournament import Again, BlockSetAside, LeftOut, entries_until, left_out_now

FEW = 4
"""Minimum number of results for an estimate of the remaining time."""
LONG = 20
"""Multiple of the usual gap between two results above which a gap counts as a stop of the arena."""
MINUTE, HOUR, DAY = 60, 3600, 86400


class State(Struct, frozen=True):
    """The state of a competition."""

    kind: str
    """`finished`, `running` or `stopped`."""
    words: str
    share: float | None = None
    """Share of matches that count, from 0 to 1; None if unknown."""


def state_of(overview: Overview) -> State:
    """Return the state of a competition."""
    if overview.history is not None:
        return _state_of_test(overview)
    done, total = overview.found.digest.matches, overview.total or 0
    if overview.finished:
        return State("finished", f"finished: {pluralise(done, 'match')}", 1.0)
    share, far, doing = None, pluralise(done, "match"), "being played now"
    if total:
        share, far = done / total, f"{done} of {pluralise(total, 'match')}"
        left = time_left(overview.times.ended, total - done)
        if left:
            doing = f"{left} left"
    if overview.running:
        return State("running", f"{far}, {doing}", share)
    return State("stopped", f"unfinished: {far}", share)


def _state_of_test(overview: Overview) -> State:
    history = overview.history
    assert history is not None  # noqa: S101 - by the caller
    digest = overview.found.digest
    after = f"after {pluralise(len(history.differences) * (digest.matches // max(1, digest.blocks)), 'match')}"
    if history.decided:
        return State("finished", f"{verdict_text(history.test, history)}, {after}", 1.0)
    if overview.running:
        return State("running", f"undecided {after}, being played now")
    return State("stopped", f"stopped {after}: undecided")


def time_left(ended: Sequence[str], matches: int) -> str:
    """Return the estimated time for this number of matches in words; empty if there are too few results.

    `ended` holds the end times of the latest matches, in ascending order.
    """
    times = list(filter(None, map(moment, ended)))
    if len(times) < FEW:
        return ""
    gaps = [(after - before).total_seconds() for before, after in pairwise(times)]
    usual = max(median(gaps), sum(sorted(gaps)[: len(gaps) * 9 // 10]) / len(gaps))
    played = [gap for gap in gaps if gap <= LONG * usual] or gaps
    return span(timedelta(seconds=sum(played) / len(played) * matches))


def ends_text(overview: Overview) -> str:
    """Return when all will be played, in words: `in about 14 minutes`; empty if nobody knows."""
    if overview.finished or not overview.running or not overview.total:
        return ""
    left = time_left(overview.times.ended, overview.total - overview.found.digest.matches)
    return f"in {left}" if left else ""


def span(time: timedelta) -> str:
    """Return a time in words: `less than a minute`, `about 14 minutes`, `about 3 hours`, `about 2 days`."""
    seconds = time.total_seconds()
    if seconds < MINUTE:
        return "less than a minute"
    for unit, name in ((DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")):
        if seconds >= 2 * unit or unit == MINUTE:
            return f"about {pluralise(round(seconds / unit), name)}"
    raise AssertionError


def moment(text: str | None) -> datetime | None:
    """Return a time of a ledger in UTC; None if the text is not a time."""
    try:
        found = datetime.fromisoformat(text or "")
        if found.tzinfo is None:
            return found.replace(tzinfo=UTC)
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


MOST_FACTS = 100
"""Maximum number of facts in one list."""


class CompetitionFact(Struct, frozen=True):
    """A named fact about a competition."""

    name: str
    text: str
    at: str = ""
    """The time in ISO 8601 for programs; empty for other facts."""


def facts(overview: Overview) -> list[CompetitionFact]:
    """Return the facts about a competition: terms, bots, matches, times and arena version."""
    found, digest = overview.found, overview.found.digest
    said = list(starmap(CompetitionFact, terms_told(found.terms).items()))
    if isinstance(rule := found.terms.get("stage.rule"), str):
        said.append(CompetitionFact("stage", rule))
    matches = str(digest.matches)
    if overview.total:
        matches = f"{matches} of {overview.total}"
    said += [CompetitionFact("bots", bots_text(overview)), CompetitionFact("matches", matches)]
    until = _time("entries until", entries_until(found.terms, found.events))
    said += filter(None, (until, _time("begun", overview.times.begun), last_result(overview)))
    said.append(CompetitionFact("arena", str(found.terms.get("arena", "unknown"))))
    if found.voids:
        said.append(CompetitionFact("void attempts", f"{len(found.voids)}, played again"))
    said += [CompetitionFact("set aside", _aside_text(each, digest.labels)) for each in found.asides.blocks]
    for each in found.asides.own_doing:
        if each.entrant < len(digest.labels):
            text = f"{digest.labels[each.entrant]} causes its hold-ups itself: {each.evidence}"
            said.append(CompetitionFact("no longer excused", text))
    if found.lost:
        said.append(CompetitionFact("attempts lost with a referee process", f"{len(found.lost)}, played again"))
    left_out = left_out_now(found.terms, found.events)
    said += [CompetitionFact("left out", f"{label}: {why}") for label, why in left_out.items()]
    return said[:MOST_FACTS]


def bots_text(overview: Overview) -> str:
    """Return the number of bots in words: `4 bots, 1 of them withdrawn`; a house bot is named separately."""
    digest, spec = overview.found.digest, overview.found.spec
    bots = pluralise(competitors(digest), "bot")
    if spec is not None and (gone := len(withdrawn(spec))):
        bots = f"{bots}, {gone} of them withdrawn"
    if digest.house is not None:
        bots = f"{bots} and a house bot"
    return bots


def competitors(digest: Digest) -> int:
    """Return the number of ranked bots: all except the house bot."""
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
    attempts = pluralise(len(aside.set_aside.evidence), "attempt")
    match_ = match_name(aside.block, 0)
    return f"{match_} and the other matches from its deal: {state}; {name} alone was held up in {attempts}"


def last_result(overview: Overview) -> CompetitionFact | None:
    """Return the end time of the last match that counts; None if there is none."""
    return _time("last result", next(reversed(overview.times.ended), None))


def terms_line(overview: Overview) -> str:
    """Return game, variant, format and number of bots on one line."""
    from arena.viewer import game_title  # noqa: PLC0415 - a tournament's report has no boards, which are slow to import

    told = terms_told(overview.found.terms)
    words = [told[name].replace("_", " ") for name in ("variant", "format") if name in told]
    if "game" in told:
        words.insert(0, game_title(told["game"]))
    if overview.history is not None:
        words.append("regression test")
    return ", ".join([*words, bots_text(overview)])


def _time(name: str, text: str | None) -> CompetitionFact | None:
    when = moment(text)
    if when is None:
        return None
    return CompetitionFact(name, f"{when.day} {when:%B %Y, %H:%M} UTC", when.isoformat(timespec="seconds"))


def terms(overview: Overview) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the fields of clock, policy, options, test and schedule. The seed is never included."""
    found: dict[str, list[tuple[str, str]]] = {title: [] for title in ("clock", "policy", "options", "test")}
    for key, value in overview.found.terms.items():
        title, dot, name = key.partition(".")
        if dot and title in found and len(found[title]) < MOST_FACTS:
            found[title].append((name, "set by the variant" if value is None else str(value).lower()))
    found["schedule"] = _schedule(overview)
    return [(title, fields) for title, fields in found.items() if fields]


def _schedule(overview: Overview) -> list[tuple[str, str]]:
    spec = overview.found.spec
    fields = []
    for key, name in (("blocks", "deals"), ("rounds", "rounds"), ("heads", "heads"), ("rotations", "rotations")):
        value = overview.found.terms.get(key)
        if spec is not None and key in {"blocks", "rounds"}:  # A running tournament can be extended.
            value = getattr(fields_of(spec)[-1], key)
        if value is not None:
            fields.append((name, str(value)))
    return fields


def rating_text(rating: Rating) -> str:
    """Return a rating with its interval."""
    return f"{rating.elo:+z.0f}, {interval(rating)}"
