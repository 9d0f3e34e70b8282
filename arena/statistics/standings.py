"""Standings of a tournament: one row per bot, with its scores against the others. Pure."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from arena.arrays import np
from arena.statistics.result_arrays import Table, table_of
from protocol.refusals import Conduct
from protocol.words import Outcome

Count = Annotated[int, Meta(ge=0, le=2**53)]


class Played(Struct, frozen=True, kw_only=True):
    """A finished match that counts."""

    block: Count
    seating: Count
    entrants: tuple[Count, ...]
    """Entrants' numbers, indexed by seat; so are the later tuples."""
    outcome: Outcome
    conduct: tuple[Conduct, ...]
    charged_us: tuple[Count, ...]
    windows: tuple[Count, ...]
    defaults: tuple[Count, ...]
    refused: tuple[Count, ...]
    """Number of refused messages of each seat."""
    head: str = ""
    """Hash of the last line of the match's transcript."""

    def fits(self, entrants: int) -> bool:
        """Return True if the match is consistent with `entrants` bots; ledgers are untrusted."""
        seats = range(len(self.entrants))
        by_seat = (self.conduct, self.charged_us, self.windows, self.defaults, self.refused)
        ranked = sorted(seat for group in self.outcome.ranking for seat in group)
        return (
            len(seats) > 1
            and all(len(each) == len(seats) for each in by_seat)
            and ranked == list(seats)
            and all(self.outcome.ranking)
            and set(self.outcome.winners) <= set(seats)
            and self.outcome.eliminated in (None, *seats)
            and max(self.entrants) < entrants
        )


class Score(Struct, kw_only=True):
    """Score of one bot, in all matches or against one other. Each seat counts if the bot takes several."""

    played: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    points: float = 0

    @property
    def mean(self) -> float | None:
        """Mean points per match; None without matches."""
        return self.points / self.played if self.played else None

    @property
    def record(self) -> str:
        """Wins, ties and losses as text, such as `3-0-1`."""
        return f"{self.wins}-{self.ties}-{self.losses}"


class StandingsRow(Score, kw_only=True):
    """One bot's row in the standings."""

    entrant: int
    house: bool = False
    """True for the bot that fills empty seats and does not compete."""
    faults: int = 0
    """Number of matches in which its conduct was not `ok`."""
    defaults: int = 0
    """Number of windows in which the default action was used."""
    refused: int = 0
    """Number of messages that the referee refused."""
    windows: int = 0
    charged_us: int = 0
    untimed: int = 0
    """Number of windows in matches in which the bot never started; no time was charged for them."""
    against: dict[int, Score] = {}
    """Scores against other bots, by entrant."""

    @property
    def mean_us(self) -> float | None:
        """Mean charged time per window in matches in which the bot started, in microseconds; None without any."""
        timed = self.windows - self.untimed
        return self.charged_us / timed if timed else None


def standings_of(entrants: int, played: Iterable[Played], house: int | None = None) -> list[StandingsRow]:
    """Return the rows of all entrants, best first; equal ones are in the order of the file.

    `house` is the number of the entrant that fills seats; its row is the last.
    """
    matches = list(played)
    table = table_of(matches)
    sums = _sums(entrants, table, matches)
    against = _against(entrants, table)
    rows = [
        StandingsRow(
            entrant=entrant,
            house=entrant == house,
            against=against[entrant],
            **{field: each[entrant] for field, each in sums.items()},
        )
        for entrant in range(entrants)
    ]
    return sorted(rows, key=lambda row: (row.house, -(row.mean or 0), row.faults, row.entrant))


def points(outcome: Outcome, seat: int) -> float:
    """Return the share of the other seats ranked below; a tie counts half. With two seats it is 1, 0.5 or 0."""
    sizes = [len(group) for group in outcome.ranking]
    place = next(place for place, group in enumerate(outcome.ranking) if seat in group)
    return (sum(sizes[place + 1 :]) + (sizes[place] - 1) / 2) / (sum(sizes) - 1)


def places_by_seat(outcome: Outcome) -> dict[int, int]:
    """Return each seat's place, from 1 for the best; tied seats have the same place."""
    places: dict[int, int] = {}
    for group in outcome.ranking:
        places |= dict.fromkeys(group, len(places) + 1)
    return places


def _sums(entrants: int, table: Table, matches: Sequence[Played]) -> dict[str, list[Any]]:
    """Return the fields of a row that are sums over matches, each indexed by entrant."""
    first, tied = table.places == 0, table.sizes > 1
    faults = [[conduct is not Conduct.OK for conduct in match.conduct] for match in matches]

    def total(values: Any) -> list[Any]:
        each = np.asarray(values).ravel()
        sums = np.bincount(table.entrants.ravel(), each, entrants)
        found: list[Any] = (sums if each.dtype == float else sums.astype(int)).tolist()
        return found

    return {
        "played": total(np.ones_like(table.places)),
        "wins": total(first & ~tied),
        "ties": total(first & tied),
        "losses": total(~first),
        "points": total(table.shares),
        "faults": total(faults),
        "defaults": total([match.defaults for match in matches]),
        "refused": total([match.refused for match in matches]),
        "windows": total([match.windows for match in matches]),
        "charged_us": total([match.charged_us for match in matches]),
        "untimed": total([_untimed(match) for match in matches]),
    }


def _untimed(match: Played) -> list[int]:
    """Return each seat's windows if its bot never started, otherwise 0."""
    return [
        windows if conduct is Conduct.NEVER_STARTED else 0
        for windows, conduct in zip(match.windows, match.conduct, strict=True)
    ]


def _against(entrants: int, table: Table) -> list[dict[int, Score]]:
    """Return each entrant's scores against the others that it met; a bot in two seats does not meet itself."""
    played, wins, ties = np.zeros((3, entrants * entrants), dtype=int)
    for seat in range(table.seats):
        cells = table.entrants[:, [seat]] * entrants + table.entrants
        mine = table.places[:, [seat]]
        played += np.bincount(cells.ravel(), minlength=entrants**2)
        wins += np.bincount(cells[mine < table.places], minlength=entrants**2)
        ties += np.bincount(cells[mine == table.places], minlength=entrants**2)
    return [
        {
            other: _score(int(played[cell]), int(wins[cell]), int(ties[cell]))
            for other in range(entrants)
            if played[cell := one * entrants + other] and other != one
        }
        for one in range(entrants)
    ]


def _score(played: int, wins: int, ties: int) -> Score:
    return Score(played=played, wins=wins, ties=ties, losses=played - wins - ties, points=wins + ties / 2)
