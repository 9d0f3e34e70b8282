"""A tournament's standings on the feed: of blocks that are complete, those of an earlier run among them."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec
import trio

from arena.config.tournament_file import Tournament, TournamentFile, with_changes
from arena.schedule.blocks import ScheduledMatch
from arena.schedule.fields import Entered, FieldChange
from arena.tournament.ledger import Ledger
from arena.tournament.observers import AGAIN_SECONDS, LOOK_SECONDS, FedStandings, Observers
from protocol.feed import FeedMessage, FeedStandings
from protocol.refusals import Conduct
from protocol.words import Options
from referee.bot_folder.manifest import find_bot
from referee.host.plan import AttemptResult
from tests.arena.cups import play_cup
from tests.arena.stand_in import AtOnce, outcome
from tests.arena.tournament.test_entries import change, field, playing

AnswerT = TypeVar("AnswerT")


def match(block: int, seating: int, *entrants: int) -> ScheduledMatch:
    return ScheduledMatch(f"{block}/{seating}", block, seating, entrants, 1)


def result(*ranking: tuple[int, ...], ill: bool = False) -> AttemptResult:
    """`ill`: seat 0 crashed, and took a default."""
    return AttemptResult(
        match="",
        outcome=outcome(*ranking),
        conduct=(Conduct.CRASHED if ill else Conduct.OK, Conduct.OK),
        void=None,
        charged_us=(1, 1),
        windows=(2, 2),
        defaults=(int(ill), 0),
        refused=(0, 0),
        transcript="",
        head="",
    )


class Book:
    """A ledger, and the standings that follow it."""

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        self.ledger = ledger
        self.folder = folder
        self.said: list[FeedStandings] = []
        bot = find_bot("mist_random")
        cup = Tournament(
            file=folder,
            form=TournamentFile(game="mist", bots=("a", "b"), fill="house"),
            variant="v",
            options=Options(),
            seats=2,
            bots=(bot, bot, bot),
            labels=("a", "b", "house"),
            results=folder,
        )
        self.cup = cup
        self.fed = FedStandings(cup, self._publish)

    def _publish(self, topic: str, message: bytes) -> None:
        assert topic == "standings"
        said = msgspec.json.decode(message, type=FeedMessage)
        assert isinstance(said, FeedStandings)
        self.said.append(said)

    def played(self, match: ScheduledMatch, result: AttemptResult) -> None:
        attempt = self.ledger.try_match(match, self.folder, match.name.replace("/", "-"))
        self.ledger.finish(match, attempt, result, 2)
        self.fed.ended(match, result)

    async def write(self, call: Callable[[], AnswerT]) -> AnswerT:
        await trio.lowlevel.checkpoint()
        return call()

    def row(self, bot: str) -> tuple[int, int, int, int, float, int, int]:
        """Of the last that was said."""
        (row,) = [row for row in self.said[-1].rows if row.bot == bot]
        return row.played, row.wins, row.ties, row.losses, row.points, row.faults, row.defaults


async def test_blocks_count_once_they_are_complete(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        book = Book(ledger, tmp_path)
        book.played(match(0, 0, 0, 1), result((0,), (1,)))
        book.played(match(0, 1, 1, 0), result((0, 1), ill=True))
        nursery.start_soon(book.fed.keep, ledger, book.write, 1)
        await trio.sleep(0.1)
        (first,) = book.said
        assert (2, False, ["a", "b", "house"]) == (first.played, first.final, [row.bot for row in first.rows])
        assert [(2, 1, 1, 0, 1.5, 0, 0), (2, 0, 1, 1, 0.5, 1, 1)] == [book.row("a"), book.row("b")]

        book.played(match(1, 0, 1, 2), result((0,), (1,)))
        await trio.sleep(2 * LOOK_SECONDS)
        assert [first] == book.said
        book.played(match(1, 1, 2, 1), result((1,), (0,)))
        await trio.sleep(2 * LOOK_SECONDS)
        assert [2, 4] == [said.played for said in book.said]
        assert [(4, 2, 1, 1, 2.5, 1, 1), (2, 0, 0, 2, 0.0, 0, 0)] == [book.row("b"), book.row("house")]
        assert ["house"] == [row.bot for row in book.said[-1].rows if row.house]
        nursery.cancel_scope.cancel()


async def test_after_a_change_of_the_field_they_have_the_new_rows_and_count_nothing_twice(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        book = Book(ledger, tmp_path)
        book.played(match(0, 0, 0, 1), result((0,), (1,)))
        book.played(match(0, 1, 1, 0), result((1,), (0,)))
        with trio.move_on_after(0.1):
            await book.fed.keep(ledger, book.write, 1)
        entry = Entered(label="a v2", folder="a", content=f"sha256:{0:064}", version="2", predecessor=0)
        change = FieldChange(id=1, at="now", block=1, what=entry)
        book.fed.change(with_changes(book.cup, [find_bot("mist_random")], [change]))
        book.played(match(1, 0, 3, 1), result((0,), (1,)))
        book.played(match(1, 1, 1, 3), result((1,), (0,)))
        with trio.move_on_after(0.1):
            await book.fed.keep(ledger, book.write, 2)
        assert ["a v2", "b", "a (withdrawn)", "house"] == [row.bot for row in book.said[-1].rows]
        assert [2, 4] == [said.played for said in book.said]
        assert [(2, 2, 0, 0, 2.0, 0, 0)] * 2 == [book.row("a (withdrawn)"), book.row("a v2")]
        assert (4, 0, 0, 4, 0.0, 0, 0) == book.row("b")


async def test_they_are_told_again_for_who_comes_late_and_numbered(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    with closing(Ledger(tmp_path / "ledger")) as ledger:
        book = Book(ledger, tmp_path)
        nursery.start_soon(book.fed.keep, ledger, book.write, 0)
        await trio.sleep(3.5 * AGAIN_SECONDS)
        assert [0, 1, 2, 3] == [said.n for said in book.said]
        assert {0} == {said.played for said in book.said}
        nursery.cancel_scope.cancel()


def test_other_observers_are_notified_of_matches_as_before(tmp_path: Path) -> None:
    heard: list[str] = []

    class Progress:
        def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
            heard.append(f"ended {match.name}")

        def lost(self, match: ScheduledMatch, reason: str) -> None:
            heard.append(f"lost {match.name} {reason}")

        def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
            heard.append(f"void {match.name} {reason} {set_aside}")

    with closing(Ledger(tmp_path / "ledger")) as ledger:
        followed = Observers((Progress(), Book(ledger, tmp_path).fed))
        one = match(0, 0, 0, 1)
        followed.ended(one, result((0,), (1,)))
        followed.lost(one, "gone")
        followed.void(one, "void", 1)
    assert ["ended 0/0", "lost 0/0 gone", "void 0/0 void 1"] == heard


def test_a_tournament_with_a_changed_field_publishes_the_new_rows_from_the_first_message(tmp_path: Path) -> None:
    file = field(tmp_path, "round_robin")
    playing(file, AtOnce())
    assert 0 == change(file, "add", "f", "--no-check").exit_code
    said: list[FeedStandings] = []
    play_cup(file, publish=lambda _, message: said.append(msgspec.json.decode(message, type=FeedMessage)))
    assert said
    assert all("f" in [row.bot for row in each.rows] for each in said)
