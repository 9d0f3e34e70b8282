"""What a format has beyond the standings, as programs read it: Swiss points, a ladder's ratings, a bracket."""

from collections.abc import Callable
from typing import Any

from arena.schedule import Contest, Knockout, Ladder, Swiss, Tie, bracket_of, final_ratings, swiss_lines
from arena.tables import rounded


def format_json(contest: Contest) -> dict[str, Any]:
    """The key of the format and its content, as plain values; nothing where the standings say it all."""
    schedule, labels = contest.schedule, contest.labels
    match schedule:
        case Swiss():
            places = swiss_lines(schedule, contest.seed, contest.played)
            return {
                "swiss": [
                    {
                        "bot": labels[line.entrant],
                        "points": line.points,
                        "buchholz": line.buchholz,
                        "byes": line.byes,
                    }
                    for line in places
                ]
            }
        case Ladder():
            ratings = final_ratings(schedule, contest.seed, contest.played)
            # Without a house nobody plays under the last number, and no label belongs to it.
            found = sorted(zip(labels, ratings, strict=False), key=lambda one: -one[1])
            return {"ladder": [{"bot": bot, "rating": rounded(rating, 1)} for bot, rating in found]}
        case Knockout():
            bracket = bracket_of(schedule, contest.seed, contest.played)
            return {"bracket": [[_tie_json(tie, labels.__getitem__) for tie in round_] for round_ in bracket]}
        case _:
            return {}


def _tie_json(tie: Tie, label: Callable[[int], str]) -> dict[str, Any]:
    """A tie without an opponent has no points."""
    if tie.other is None:
        return {"bots": [label(tie.one)], "winner": label(tie.one)}
    return {
        "bots": [label(tie.one), label(tie.other)],
        "points": tie.points,
        "tie_breaks": tie.tie_breaks if any(tie.tie_breaks) else None,
        "winner": None if tie.winner is None else label(tie.winner),
    }
