"""The matches of a bot, for its team's pages, as they begin to count."""

from contextlib import closing
from pathlib import Path

from arena.pages.competition import MatchesOfBots
from arena.schedule.round_robin import round_robin
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger
from arena.tournament.ledger import Attempt
from tests.arena.tournament.test_ledger import result_of


def test_the_matches_of_bots_are_those_that_count_whenever_they_are_read(tmp_path: Path) -> None:
    """The first match of a block may end long before the others, and after those of later blocks."""
    (tmp_path / TRANSCRIPTS).mkdir()
    blocks = list(round_robin(2, 3, 1))
    index = MatchesOfBots()
    with closing(Ledger(tmp_path / LEDGER)) as ledger:
        ledger.begin({"bots": ["a", "b"]})

        def begin(block: int, seating: int) -> Attempt:
            match = blocks[block].matches[seating]
            return ledger.try_match(match, tmp_path / TRANSCRIPTS, f"{block}{seating}")

        def end(block: int, seating: int, attempt: Attempt) -> None:
            match = blocks[block].matches[seating]
            ledger.finish(match, attempt, result_of(match), seatings=2)

        early, late = begin(0, 0), begin(0, 1)
        end(0, 0, early)
        for block in (1, 2):
            for seating in (0, 1):
                end(block, seating, begin(block, seating))
            assert [key for key in ((1, 0), (1, 1), (2, 0), (2, 1)) if key[0] <= block] == index.keys(ledger, [0])
        end(0, 1, late)
        everything = [(block, seating) for block in range(3) for seating in (0, 1)]
        for entrants in ([0], [1], [0, 1]):
            assert everything == index.keys(ledger, entrants)
        assert [] == index.keys(ledger, [2])
