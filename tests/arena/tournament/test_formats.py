"""Each format from its file to its table: stopped and gone on with, with byes or a house, and as JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from arena.config.tournament_file import read_tournament
from arena.errors import MachineCannot
from arena.reports.tournament import print_result, results_json
from arena.schedule.blocks import Block
from arena.schedule.contract import Contest, Format, Rounds, advanced, next_round, rounds_of
from arena.schedule.fields import Extended, FieldChange, ScheduleSpec, fields_of
from arena.schedule.formats import TABLE_FORMATS, format_of, refusal
from arena.schedule.swiss import Swiss
from arena.schedule.tables import shifts_of
from arena.statistics.standings import CountedMatch, StandingsRow, points
from arena.terminal import Screen
from arena.tournament.results import load_results
from arena.tournament.results_folder import LEDGER, PAGE, TABLE
from arena.tournament.run import FinalResults
from referee.transcript.chain import TranscriptError
from tests.arena.cups import bot_folders, play_cup
from tests.arena.schedule.paired import spec
from tests.arena.simulated import result
from tests.arena.stand_in import AtOnce
from tests.builders.tournaments import write_tournament
from tests.long import mostly_slow

FORMATS = {
    "round_robin": ("round_robin", ()),
    "gauntlet": ("gauntlet", ("heads = 2", "blocks = 2")),
    "swiss": ("swiss", ()),
    "swiss with a house": ("swiss", ('fill = "filler"', "rounds = 4")),
    "knockout": ("knockout", ("blocks = 2",)),
    "ladder": ("ladder", ("rounds = 6",)),
    "ladder with a house": ("ladder", ("rounds = 3", 'fill = "filler"')),
}


@pytest.mark.parametrize(
    ("entrants", "seats", "fields"),
    [
        (5, 2, {"format": "round_robin"}),
        (6, 2, {"format": "gauntlet", "heads": 2}),
        (7, 2, {"format": "swiss", "rounds": 3}),
        (7, 2, {"format": "ladder", "rounds": 3, "filled": True}),
        (6, 2, {"format": "knockout"}),
        (7, 5, {"format": "round_robin"}),
        (7, 5, {"format": "round_robin", "filled": True, "rotations": 3}),
        (26, 13, {"format": "round_robin", "rotations": 2}),
    ],
)
def test_the_number_of_matches_is_known_in_advance(entrants: int, seats: int, fields: dict[str, Any]) -> None:
    given: dict[str, Any] = dict.fromkeys(("rounds", "heads", "rotations")) | {"filled": False} | fields
    spec = ScheduleSpec(entrants=entrants, seats=seats, blocks=3, **given)
    schedule, played = format_of(spec).schedule(spec), list[CountedMatch]()
    for number, blocks in enumerate(
        rounds_of(schedule.rounds(1), lambda first, end: played[-2 * (end - first) :])
    ):
        assert number < 9
        for block in blocks():
            for match in block.matches:
                winner = match.entrants.index(min(match.entrants))
                ranking = [[winner], [seat for seat in range(seats) if seat != winner]]
                played.append(result(block.number, match.seating, match.entrants, ranking))
    assert len(played) == schedule.matches


@pytest.fixture(params=FORMATS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return cup(tmp_path, *FORMATS[request.param])


def cup(folder: Path, format_: str, more: tuple[str, ...] = (), bots: str = "abcde", game: str = "mist") -> Path:
    """A tournament's file; each letter of `bots` is one."""
    bot_folders(folder, (*bots, "filler"), game=game)
    return write_tournament(folder / "cup.toml", bots, "seed = 4", f'format = "{format_}"', *more, game=game)


def shown(file: Path, results: FinalResults) -> list[str]:
    """Bracket and table, as they are printed."""
    seats = read_tournament(file).seats
    screen = Screen(width=120)
    with screen.capture() as capture:
        print_result(screen, results.contest, results.standings, seats)
    return [line.rstrip() for line in capture.get().splitlines()]


def format_table(contest: Contest, rows: Sequence[StandingsRow]) -> list[tuple[str, ...]] | None:
    table = format_of(contest.spec).table(contest, rows)
    return None if table is None else [table.headings, *table.cells()]


def told(file: Path, results: FinalResults) -> Any:
    return msgspec.json.decode(msgspec.json.encode(results_json(read_tournament(file), results)))


@pytest.mark.slow
@pytest.mark.parametrize("after", mostly_slow(1, [5, 9]))
def test_stopped_and_run_again_it_is_the_same_tournament(file: Path, after: int) -> None:
    """The same matches with the same deals, and the same table; what was played is not played again."""
    full = TranscriptError("cannot be written: No space left on device", Path("/t/x.jsonl"))
    first, second, whole = AtOnce(fails_after=after, failure=full), AtOnce(), AtOnce()
    with pytest.raises(MachineCannot):
        play_cup(file, first)
    resumed = play_cup(file, second)
    undisturbed = play_cup(file, whole, fresh=True)
    assert shown(file, undisturbed) == shown(file, resumed)
    assert undisturbed.played == resumed.played
    assert sorted((plan.match, plan.seed) for plan in whole.played) == sorted(
        (plan.match, plan.seed) for plan in (*first.played, *second.played)
    )


def test_the_table_has_a_row_for_each_bot_and_the_json_the_format_and_its_design(file: Path) -> None:
    results = play_cup(file)
    rows = [line for line in shown(file, results) if line.endswith((" µs", " -"))]
    found = told(file, results)
    assert len(found["bots"]) == len(rows)
    assert results.design.matches == found["design"]["matches"] == len(results.played)
    assert read_tournament(file).form.format == found["format"]


def test_a_report_has_the_order_of_the_tournaments_own_table_in_all_of_its_tables(file: Path) -> None:
    results = play_cup(file)
    folder = read_tournament(file).results
    found = load_results(folder / LEDGER)
    assert results.standings == found.digest.standings
    assert found.contest is not None
    assert format_table(results.contest, results.standings) == format_table(found.contest, found.digest.standings)
    rows = [row.split(",")[1] for row in (folder / TABLE).read_text().splitlines()[1:]]
    assert rows == [found.digest.labels[line.entrant] for line in found.digest.standings]
    if found.contest.spec.format != "gauntlet":  # which has its heads first, in a column of their own
        own = [line.split()[1] for line in shown(file, results) if line.endswith((" µs", " -"))]
        assert [row.split()[0] for row in rows] == own


@pytest.mark.parametrize("after", [3, 7])
def test_a_report_can_be_had_of_a_tournament_that_was_stopped_half_way(file: Path, after: int) -> None:
    full = TranscriptError("cannot be written: No space left on device", Path("/t/x.jsonl"))
    with pytest.raises(MachineCannot):
        play_cup(file, AtOnce(fails_after=after, failure=full))
    found = load_results(read_tournament(file).results / LEDGER)
    assert found.contest is not None
    table = format_table(found.contest, found.digest.standings)
    assert table is None or len(table) - 1 == len(found.digest.standings) == len(found.digest.labels)


def test_the_page_has_a_knockouts_bracket_and_a_swiss_tournaments_points(tmp_path: Path) -> None:
    for format_, facts in (
        ("knockout", ("<h2>Bracket</h2>", "<h3>Final</h3>")),
        ("swiss", ("<h2>Result</h2>", ">Buchholz</th>")),
    ):
        folder = tmp_path / format_
        folder.mkdir()
        file = cup(folder, format_)
        play_cup(file)
        page = (read_tournament(file).results / PAGE).read_text()
        assert all(fact in page for fact in facts)
    assert "<h2>Bracket</h2>" not in page


def test_a_swiss_table_has_points_with_byes_and_buchholz(tmp_path: Path) -> None:
    file = cup(tmp_path, "swiss")
    results = play_cup(file)
    heading, _, first, *_ = shown(file, results)
    assert ["#", "bot", "points", "Buchholz", "W-T-L", "byes", "faults", "defaults"] == heading.split()[:8]
    best = told(file, results)["swiss"][0]
    assert [best["bot"], f"{best['points']:g}", f"{best['buchholz']:g}"] == first.split()[1:4]


def test_a_gauntlet_has_its_heads_first_and_what_each_did_against_them(tmp_path: Path) -> None:
    file = cup(tmp_path, "gauntlet", ("heads = 2",))
    heading, _, *rows = shown(file, play_cup(file))
    assert heading.split()[5:9] == ["against", "a", "against", "b"]
    assert ["head", "head", "1", "2", "3"] == [row.split()[0] for row in rows]
    assert all(row.count(" of 2") == 2 for row in rows[2:])
    assert all("of" not in row for row in rows[:2])


def test_a_ladder_has_ratings_best_first(tmp_path: Path) -> None:
    file = cup(tmp_path, "ladder", ("rounds = 5", 'fill = "filler"'))
    results = play_cup(file)
    _, _, *rows = shown(file, results)
    ratings = [int(row.split()[2]) for row in rows[:5]]
    assert sorted(ratings, reverse=True) == ratings
    assert rows[5].startswith("h  filler (house)")
    assert 6 == len(told(file, results)["ladder"])


def test_a_knockout_has_its_bracket_above_the_table_and_in_the_json(tmp_path: Path) -> None:
    file = cup(tmp_path, "knockout")
    results = play_cup(file)
    bracket = told(file, results)["bracket"]
    assert [4, 2, 1] == [len(round_) for round_ in bracket]
    assert {"bots": ["a"], "winner": "a"} == bracket[0][0]
    (final,) = bracket[2]
    assert any(line.endswith(f"|- {final['winner']}") for line in shown(file, results))


def test_a_swiss_tournament_has_as_many_rounds_as_a_knockout_unless_it_says() -> None:
    assert [1, 2, 2, 3, 3, 4, 7] == [Swiss(spec("swiss", bots)).turns for bots in (2, 3, 4, 5, 8, 9, 100)]


def test_a_house_that_is_not_needed_does_not_play(tmp_path: Path) -> None:
    file = cup(tmp_path, "swiss", ('fill = "filler"',), bots="abcd")
    assert 0 == play_cup(file).standings[-1].played


@pytest.mark.parametrize("format_", ["gauntlet", "swiss", "knockout", "ladder"])
def test_formats_of_pairs_are_refused_for_more_seats(tmp_path: Path, format_: str) -> None:
    bots = ["hive_mind_random", "any_random"]
    file = write_tournament(tmp_path / "cup.toml", bots, f'format = "{format_}"', game="hive-mind")
    with pytest.raises(
        Exception, match=f"cup.toml:3: format: '{format_}' is for games of two seats; hive-mind has 5"
    ):
        read_tournament(file)


def test_a_changed_number_of_rounds_is_noticed(tmp_path: Path) -> None:
    file = cup(tmp_path, "ladder", ("rounds = 2",))
    play_cup(file)
    file.write_text(file.read_text().replace("rounds = 2", "rounds = 3"))
    with pytest.raises(Exception, match="were begun: rounds was 2, is 3"):
        play_cup(file)


class TablesByPoints(Format):
    """A format for tables of many seats whose rounds depend on results: bots of about as many points meet."""

    name = "swiss"
    for_tables = True
    uses = ("rounds",)
    grows = "rounds"

    def schedule(self, spec: ScheduleSpec) -> "ScheduleByPoints":
        return ScheduleByPoints(spec)


class ScheduleByPoints(Struct, frozen=True):
    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        return (fields_of(self.spec)[-1].rounds or 1) * (self.spec.entrants // self.spec.seats) * self.spec.seats

    def change_at(self, begun: int) -> int:
        tables = self.spec.entrants // self.spec.seats
        return -(-begun // tables) * tables

    def rounds(self, seed: int) -> "RoundsByPoints":
        return RoundsByPoints(self.spec, seed)


class RoundsByPoints(Rounds):
    def __init__(self, spec: ScheduleSpec, seed: int) -> None:
        self.points = [0.0] * spec.numbers
        self._spec, self._seed, self._turn = spec, seed, 0
        self._begin()

    def advance(self, results: Sequence[CountedMatch]) -> None:
        for played in results:
            for seat, entrant in enumerate(played.entrants):
                self.points[entrant] += points(played.outcome, seat)
        self._turn += 1
        self._begin()

    def _begin(self) -> None:
        self.blocks = None
        if self._turn < (fields_of(self._spec)[-1].rounds or 1):
            seats = self._spec.seats
            order = sorted(range(self._spec.entrants), key=lambda bot: -self.points[bot])
            tables = enumerate(zip(*[iter(order)] * seats, strict=True), self._turn * (len(order) // seats))
            shifts = shifts_of(seats, seats)
            self.blocks = [Block(n, self._turn, table, shifts, self._seed) for n, table in tables].__iter__


def test_a_format_may_be_for_tables_of_many_seats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays rounds that depend on results, is stopped and gone on with, is read again, and may be extended."""
    monkeypatch.setitem(TABLE_FORMATS, "swiss", TablesByPoints())
    file = cup(tmp_path, "swiss", ("rounds = 3",), bots="abcdefghij", game="hive-mind")
    with pytest.raises(MachineCannot):
        play_cup(file, AtOnce(fails_after=17, failure=TranscriptError("no disk", Path("t"))))
    results = play_cup(file)
    rounds = TablesByPoints().schedule(results.spec or spec("swiss", 2)).rounds(4)
    assert [0, 1, 2, 3, 4] == list(next_round(rounds, ())[0].entrants)
    assert 30 == len(results.played) == results.design.matches
    assert advanced(rounds, results.played).blocks is None
    by_points = sorted(results.standings, key=lambda row: (-row.points, row.entrant))
    assert by_points[0].points == max(rounds.points)
    found = load_results(read_tournament(file).results / LEDGER)
    assert found.contest is not None
    assert (results.played, 30) == (found.contest.played, found.total)
    assert len(shown(file, results)) > 10
    longer = FieldChange(id=1, at="", block=6, what=Extended(rounds=4))
    assert refusal(found.contest.spec, longer, "hive-mind") is None
    shorter = FieldChange(id=1, at="", block=6, what=Extended(rounds=2))
    assert "rounds: 2 is not more than the present total" == refusal(found.contest.spec, shorter, "hive-mind")
