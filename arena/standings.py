"""What a tournament's results come to: a line for each bot, and who did how against whom. Pure."""

from collections.abc import Iterable, Sequence
from itertools import permutations

from msgspec import Struct

from protocol.refusals import Conduct
from protocol.words import Outcome


class Played(Struct, frozen=True, kw_only=True):
    """One match that counts."""

    block: int
    seating: int
    entrants: tuple[int, ...]
    """By seat."""
    outcome: Outcome
    conduct: tuple[Conduct, ...]
    charged_us: tuple[int, ...]
    windows: tuple[int, ...]
    defaults: tuple[int, ...]
    head: str = ""
    """Hash of the last line of the match's transcript."""


class Score(Struct, kw_only=True):
    """Matches of one bot, all or against one other. Where a bot takes several seats, each counts."""

    played: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    points: float = 0

    @property
    def mean(self) -> float | None:
        """Points a match; None before there was one."""
        return self.points / self.played if self.played else None


class Line(Score, kw_only=True):
    """One bot's part in a tournament."""

    entrant: int
    house: bool = False
    """It fills seats that are left over, and does not compete."""
    faults: int = 0
    """Matches in which its conduct was not `ok`."""
    defaults: int = 0
    """Windows in which the default was taken for it."""
    windows: int = 0
    charged_us: int = 0
    against: dict[int, Score] = {}
    """By the other's entrant number."""

    @property
    def mean_us(self) -> float | None:
        """Charged time a window, in microseconds; None before there was a window."""
        return self.charged_us / self.windows if self.windows else None


def standings(entrants: int, played: Iterable[Played], house: int | None = None) -> list[Line]:
    """Lines of all entrants, best first; equal ones in the order of the file.

    `house` is the number of the one that fills seats: its line is the last.
    """
    lines = [Line(entrant=entrant, house=entrant == house, against={}) for entrant in range(entrants)]
    for match in played:
        _count(lines, match)
    return sorted(lines, key=lambda line: (line.house, -(line.mean or 0), line.faults, line.entrant))


def points(outcome: Outcome, seat: int) -> float:
    """Share of the other seats that this one is ranked before, ties as a half: with two seats 1, 0.5 or 0."""
    place = _places(outcome)
    others = [other for other in place if other != seat]
    return sum(_worth(place[seat], place[other]) for other in others) / len(others)


def _count(lines: Sequence[Line], match: Played) -> None:
    """Adds one match to the lines of those who played it."""
    place = _places(match.outcome)
    best = min(place.values())
    for seat, entrant in enumerate(match.entrants):
        line = lines[entrant]
        share = points(match.outcome, seat)
        tied = sum(other == place[seat] for other in place.values()) > 1
        _add(line, share, won=place[seat] == best and not tied, tied=place[seat] == best and tied)
        line.faults += match.conduct[seat] is not Conduct.OK
        line.defaults += match.defaults[seat]
        line.windows += match.windows[seat]
        line.charged_us += match.charged_us[seat]
    for seat, other in permutations(range(len(match.entrants)), 2):
        if match.entrants[seat] == match.entrants[other]:
            continue
        worth = _worth(place[seat], place[other])
        score = lines[match.entrants[seat]].against.setdefault(match.entrants[other], Score())
        _add(score, worth, won=worth == 1, tied=worth == 0.5)  # noqa: PLR2004 - half a point is a tie


def _add(score: Score, share: float, *, won: bool, tied: bool) -> None:
    score.played += 1
    score.points += share
    score.wins += won
    score.ties += tied
    score.losses += not won and not tied


def _places(outcome: Outcome) -> dict[int, int]:
    """Seat to its group in the ranking, 0 the best."""
    return {seat: place for place, group in enumerate(outcome.ranking) for seat in group}


def _worth(mine: int, other: int) -> float:
    return 1.0 if mine < other else 0.5 if mine == other else 0.0
