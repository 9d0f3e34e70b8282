"""Which matches of a tournament are worth watching, by their results alone. Pure."""

from collections.abc import Sequence
from heapq import nlargest
from itertools import groupby
from operator import attrgetter

from msgspec import Struct

from arena.statistics.standings import CountedMatch
from arena.statistics.summary import Digest
from protocol.refusals import Conduct

UPSET = 100
"""Least difference of ratings, in Elo, with which a win of the lower rated bot is an upset."""
GREAT_UPSET = 400
"""Difference of ratings, in Elo, from which on an upset counts as most interesting."""
CLOSE = 0.2
"""Greatest distance of the second score from the best one, as a share of the best, of a close match."""
STRONG = 400
"""Mean rating, in Elo, from which stronger bots make a match no more interesting."""
MOST_SEARCHED = 2_000
"""Number of matches, the latest ones, among which upsets and highlights are searched for."""
MOST_HIGHLIGHTS = 24


class Upset(Struct, frozen=True, kw_only=True):
    """A win over a bot that is rated much higher."""

    block: int
    seating: int
    winner: int
    """Entrant that was alone in the first place."""
    loser: int
    """Entrant of the match that is rated highest."""
    gap: float
    """Difference of their ratings now, in Elo."""


def latest_upset(digest: Digest, played: Sequence[CountedMatch]) -> Upset | None:
    """Return the latest upset among matches in schedule order; None if there is none. House bots do not count."""
    upsets = (upset_in(match, digest) for match in reversed(played[-MOST_SEARCHED:]))
    return next(filter(None, upsets), None)


def upset_in(match: CountedMatch, digest: Digest) -> Upset | None:
    """Return the upset of a match; None if it is none."""
    ratings = digest.ratings.ratings
    first = match.outcome.ranking[0]
    rivals = {entrant for entrant in match.entrants if entrant != digest.house}
    winner = match.entrants[first[0]]
    if len(first) > 1 or winner not in rivals:
        return None
    loser = max(rivals, key=lambda entrant: ratings[entrant].elo)
    gap = ratings[loser].elo - ratings[winner].elo
    if gap < UPSET:
        return None
    return Upset(block=match.block, seating=match.seating, winner=winner, loser=loser, gap=gap)


def best_scores(match: CountedMatch) -> tuple[int, int] | None:
    """Return the best two scores, the best first; None if the game has no scores."""
    best = nlargest(2, (match.outcome.scores or {}).values())
    return None if len(best) < 2 else (best[0], best[1])  # noqa: PLR2004 - a pair


def is_close(scores: tuple[int, int]) -> bool:
    """Return whether the best two scores make a match close."""
    best, second = scores
    return best - second <= CLOSE * abs(best)


def choose_highlights(digest: Digest, played: Sequence[CountedMatch]) -> tuple[tuple[int, int], ...]:
    """Return block and seating of the matches that are most worth watching, the best first.

    Upsets, close matches and matches of strong bots are. There is one match of each block, because the others have
    the same deal. Matches with faults are not worth watching.

    Args:
        digest: the numbers of the tournament.
        played: its matches in schedule order, of which the latest are searched.
    """
    found = []
    for _, block in groupby(played[-MOST_SEARCHED:], attrgetter("block")):
        rated = [(_interest(match, digest), match.block, match.seating) for match in block if _is_fair(match)]
        found += sorted(rated)[-1:]
    return tuple((block, seating) for _, block, seating in nlargest(MOST_HIGHLIGHTS, found))


def _is_fair(match: CountedMatch) -> bool:
    return set(match.conduct) == {Conduct.OK}


def _interest(match: CountedMatch, digest: Digest) -> float:
    """Return how much a match is worth watching, from about -1 to 3."""
    ratings = digest.ratings.ratings
    rivals = [ratings[entrant].elo for entrant in match.entrants if entrant != digest.house]
    mean = sum(rivals) / max(1, len(rivals))
    interest = max(-1.0, min(1.0, mean / STRONG))
    upset, scores = upset_in(match, digest), best_scores(match)
    if upset is not None:
        interest += min(1.0, upset.gap / GREAT_UPSET)
    if scores is not None and is_close(scores):
        interest += 1 - (scores[0] - scores[1]) / (1 + CLOSE * abs(scores[0]))
    return interest
