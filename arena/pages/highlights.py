"""Matches worth watching: cards on first pages, and a page with more.

Results choose them (`arena.statistics.highlights`). The stories of the chosen ones, and of no others, then tell
whether a match was a comeback or was decided late.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from arena.pages.competition import Competition, Overview
from arena.pages.contents import NoReplayError
from arena.pages.matches import TranscriptLinks, headline, match_file, name_of
from arena.pages.tables import Cell, in_line
from arena.pages.template import Page, PageMaker
from arena.schedule import TWO
from arena.statistics import CountedMatch, Digest, Reported, best_scores, is_close, upset_in

if TYPE_CHECKING:
    from arena.replay import Story

FEW = 3
"""Number of matches on a first page."""
FEW_READ = 8
"""Number of matches whose stories are read for a first page."""
PARTS = 4
"""Number of a season's tournaments, the latest ones, from which its matches are."""
LEAST_BEHIND = 2
"""Least number of points by which the winner of a comeback was behind."""
MUCH = 0.2
"""Least share of the winner's points by which it was behind."""
LATE = 0.9
"""Share of the steps after which a match was decided late."""
LEAST_CHANGES = 3
"""Least number of changes of the lead that are worth a word."""
LAST_INTEREST = 0.6
MOST_REASONS = 2


class Reason(Struct, frozen=True):
    """A reason to watch a match."""

    kind: str
    words: Cell
    interest: float
    """Weight, at most 1."""


class Highlight(Struct, frozen=True, kw_only=True):
    """A match worth watching, as a card shows it."""

    name: str
    result: Cell
    reasons: tuple[Reason, ...]
    """The weightiest reasons, the weightiest first."""
    href: str
    """Link to the match's page."""
    replay: str
    """Link to the replay; empty if there is none."""
    picture: str
    """Address of the picture of the last position; empty if there is none."""
    part: str = ""
    """Name of its tournament within a season."""


def highlights_page(maker: PageMaker, competition: Competition) -> Page:
    """Return the page of matches worth watching."""
    overview = competition.overview()
    keys = overview.highlights
    found = _highlights(maker, competition, overview, keys, top="../", here="")
    return maker.of_competition(
        competition, overview, "watch", "watch.html", title="Worth watching", highlights=_best(found, len(keys))
    )


def first_highlights(maker: PageMaker, competition: Competition, overview: Overview) -> list[Highlight]:
    """Return the matches worth watching that a competition's first page shows, the best first."""
    keys = overview.highlights[:FEW_READ]
    return _varied(_highlights(maker, competition, overview, keys, top="../", here=""))


def season_highlights(maker: PageMaker, parts: Sequence[tuple[Competition, Overview]]) -> list[Highlight]:
    """Return the matches worth watching of a season. `parts`: its tournaments, in the order of the stages."""
    found: list[Highlight] = []
    for competition, overview in parts[-PARTS:][::-1]:
        keys = overview.highlights[: FEW_READ // PARTS]
        here = f"../{competition.slug}/"
        found += _highlights(maker, competition, overview, keys, top="../", here=here, part=competition.name)
    return _varied(found)


def _varied(found: Sequence[Highlight]) -> list[Highlight]:
    """Return the best few matches, if possible with different first reasons."""
    first: dict[str, Highlight] = {}
    best = _best(found, len(found))
    for each in best:
        first.setdefault(each.reasons[0].kind, each)
    chosen = [*first.values(), *(each for each in best if each not in first.values())]
    return chosen[:FEW]


def _best(found: Iterable[Highlight], most: int) -> list[Highlight]:
    """Return the best matches for which there is a reason; `found` has those with the best results first."""
    with_reasons = [each for each in found if each.reasons]
    order = sorted(with_reasons, key=lambda each: -sum(reason.interest for reason in each.reasons))
    return order[:most]


def _highlights(
    maker: PageMaker,
    competition: Competition,
    overview: Overview,
    keys: Sequence[tuple[int, int]],
    *,
    top: str,
    here: str,
    part: str = "",
) -> list[Highlight]:
    """Return these matches as cards show them.

    Args:
        maker: the site's settings, and its stories.
        competition: the tournament of the matches.
        overview: its state.
        keys: block and seating of each match.
        top: path to the site's root.
        here: path to the competition's folder.
        part: name of the tournament within a season.
    """
    digest, links = overview.found.digest, TranscriptLinks(maker, competition, top)
    matches: Mapping[tuple[int, int], Reported] = {
        (match.played.block, match.played.seating): match for match in competition.some(keys)
    }
    found = []
    for key in keys:
        if key not in matches:
            continue
        match = matches[key]
        reasons = reasons_of(match.played, digest, _story(maker, competition, match))
        shown = Highlight(
            name=name_of(match),
            result=headline(match.played, digest),
            reasons=tuple(reasons[:MOST_REASONS]),
            href=f"{here}match/{match_file(*key)}",
            replay=links.replay(match),
            picture=links.picture(match),
            part=part,
        )
        found.append(shown)
    return found


def _story(maker: PageMaker, competition: Competition, match: Reported) -> "Story | None":
    if maker.story is None:
        return None
    try:
        return maker.story(competition, match)
    except NoReplayError:
        return None


def reasons_of(played: CountedMatch, digest: Digest, story: "Story | None") -> list[Reason]:
    """Return the reasons to watch a match, the weightiest first."""
    found = []
    upset, scores, first = upset_in(played, digest), best_scores(played), played.outcome.ranking[0]
    if upset is not None:
        winner, loser = Cell(digest.labels[upset.winner]), Cell(digest.labels[upset.loser])
        words = in_line("upset: ", winner, f" is rated {upset.gap:.0f} points lower than ", loser)
        found.append(Reason("upset", words, min(1.0, upset.gap / 400)))
    if scores is not None and is_close(scores):
        how = "a close finish"
        if len(played.entrants) > TWO:  # With two seats, the result names both scores.
            how = f"{how}, {scores[0]} to {scores[1]}"
        found.append(Reason("close", in_line(how), 1 - (scores[0] - scores[1]) / (1 + abs(scores[0]) / 5)))
    if story is not None and len(first) == 1:
        found += _told_by(story, first[0], Cell(digest.labels[played.entrants[first[0]]]))
    return sorted(found, key=lambda reason: -reason.interest)


def _told_by(story: "Story", winner: int, name: Cell) -> list[Reason]:
    """Return the reasons that the scores after each step give; none if they do not show the winner ahead."""
    by_time = list(zip(*story.scores, strict=True))
    if winner >= len(story.scores) or len(by_time) <= 1 or len(story.scores) <= 1:
        return []
    ahead = [scores[winner] - max(scores[:winner] + scores[winner + 1 :]) for scores in by_time]
    if ahead[-1] <= 0:
        return []
    found = []
    last, final = story.times[-1], by_time[-1][winner]
    behind = max(-each for each in ahead)
    if behind >= max(LEAST_BEHIND, MUCH * abs(final)):
        step = story.times[ahead.index(-behind)]
        words = in_line("comeback: ", name, f" was {behind} behind at step {step} of {story.steps}")
        found.append(Reason("comeback", words, min(1.0, 2 * behind / max(1, abs(final)))))
    decided = next(at + 1 for at in reversed(range(-1, len(ahead))) if at < 0 or ahead[at] <= 0)
    if decided == len(ahead) - 1:
        found.append(Reason("late", in_line("decided in the last step"), LAST_INTEREST))
    elif story.times[decided] > LATE * last:
        words = in_line(f"decided at step {story.times[decided]} of {story.steps}")
        found.append(Reason("late", words, LAST_INTEREST * story.times[decided] / last))
    changes = _changes(by_time)
    if changes >= LEAST_CHANGES:
        found.append(Reason("lead", in_line(f"the lead changed {changes} times"), min(0.5, changes / 20)))
    return found


def _changes(by_time: Sequence[Sequence[int]]) -> int:
    """Return how often another seat alone took the lead."""
    changes, leader = 0, -1
    for scores in by_time:
        best = max(scores)
        if list(scores).count(best) > 1:
            continue
        changes += leader not in (-1, scores.index(best))
        leader = scores.index(best)
    return changes
