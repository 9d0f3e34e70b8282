"""A tournament of more than two seats as a whole: its design, its house, going on with it, its table and JSON."""

from io import StringIO
from pathlib import Path

import msgspec
import pytest

from arena.config.tournament_file import read_tournament
from arena.errors import WrongUse
from arena.reports.tournament import crosstable, results_json
from arena.terminal import Screen, show
from arena.tournament.run import FinalResults
from tests.arena.cups import bot_folders, play_cup
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import AtOnce
from tests.builders.tournaments import write_tournament


@pytest.fixture
def file(tmp_path: Path) -> Path:
    bot_folders(tmp_path, (*"abcdef", "filler"), game='hive-mind", "pointing')
    return tmp_path / "cup.toml"


def cup(file: Path, bots: str, *more: str, game: str = "hive-mind") -> Path:
    """A tournament's file; each letter of `bots` is one."""
    return write_tournament(file, bots, "seed = 4", *more, game=game)


def complaint(file: Path) -> str:
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    return caught.value.format_message().removeprefix(f"{file}:")


def shown(file: Path, results: FinalResults) -> list[str]:
    tournament = read_tournament(file)
    screen = Screen(file=StringIO(), width=100)
    show(screen, crosstable(results.standings, tournament.labels, tournament.seats))
    assert isinstance(screen.file, StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_a_block_is_a_match_for_each_seat_unless_the_file_bounds_it(file: Path) -> None:
    full, bounded = AtOnce(), AtOnce()
    play_cup(cup(file, "abcde", "blocks = 3"), full)
    play_cup(cup(file, "abcde", "blocks = 3", "rotations = 2"), bounded, fresh=True)
    assert (15, 6) == (len(full.played), len(bounded.played))


def test_the_design_is_said_before_anything_is_played(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play_cup(cup(file, "abcdef", "blocks = 3", "rotations = 2"))
    assert (
        "3 blocks: each bot plays 2 to 3, each two bots meet in 1 to 3 (on average 2.0),"
        " each bot sits in each seat in 0 to 2 matches\n"
        "6 matches, isolation strict\n"
    ) == capsys.readouterr().err[: -len("6/6 matches\n")]


def test_another_number_of_rotations_or_another_house_is_noticed(file: Path) -> None:
    play_cup(cup(file, "abc", 'fill = "filler"'))
    with pytest.raises(WrongUse, match=r"were begun: rotations was 5, is 3\. Undo"):
        play_cup(cup(file, "abc", 'fill = "filler"', "rotations = 3"))
    with pytest.raises(
        WrongUse, match=r'were begun: bots was \["a","b","c","filler \(house\)"\], is \["a","b","c","d'
    ):
        play_cup(cup(file, "abc", 'fill = "d"'))


def test_transcripts_are_named_by_block_and_seating_alone(file: Path, open_ledger: OpenLedger) -> None:
    play_cup(cup(file, "abcde"))
    ledger = open_ledger(file.parent / "runs/cup/ledger.sqlite")
    names = [name for (name,) in ledger._db.execute("SELECT transcript FROM attempts ORDER BY transcript")]
    assert [f"00001{letter}.jsonl" for letter in "abcde"] == names


def test_the_table_has_means_shares_of_pairs_and_the_house_last(file: Path) -> None:
    results = play_cup(cup(file, "abc", 'fill = "filler"', "blocks = 2"))
    heading, _, *rows = shown(file, results)
    assert (
        "#  bot             mean points  played  wins    1    2    3    h  faults  defaults  time per move"
        == heading
    )
    assert ["1", "2", "3", "h"] == [row.split()[0] for row in rows]
    assert "filler (house)" in rows[-1]
    by_place = {row.split()[0]: row for row in rows}
    first, house = by_place["1"].split(), by_place["h"].split()
    assert (["10", "-"], ["20", "-"]) == ([first[3], first[5]], [house[4], house[9]])
    assert 100 == int(first[6].rstrip("%")) + int(by_place["2"].split()[5].rstrip("%"))


def test_the_json_has_the_design_the_house_and_the_means(file: Path) -> None:
    cup(file, "abc", 'fill = "filler"', "rotations = 4")
    results = play_cup(file)
    found = msgspec.json.decode(msgspec.json.encode(results_json(read_tournament(file), results)))
    assert (1, 4) == (found["design"]["blocks"], found["rotations"])
    assert {"least": 1, "most": 1} == found["design"]["met"]
    assert [False, False, False, True] == [bot["house"] for bot in found["bots"]]
    assert [False, False, False, True] == [line["house"] for line in found["standings"]]
    assert [line.mean for line in results.standings] == [line["mean_points"] for line in found["standings"]]
    assert "filler (house)" in found["standings"][0]["against"]


@pytest.mark.parametrize(
    ("bots", "more", "said"),
    [
        ("abc", (), '2: bots: 3 bots cannot fill 5 seats; a bot of the house takes the others: fill = "BOT"'),
        ("a", ('fill = "filler"',), "2: bots: a tournament needs at least two bots; it would have one"),
        ("abcde", ("rotations = 6",), "4: rotations: 6 are too many; hive-mind has 5 seats"),
        ("abcde", ("rotations = 0",), "4: rotations: 0: Expected `int` >= 1"),
        ("abc", ('fill = "console"',), "4: fill: a person plays single matches only: arena match"),
        (
            "abc",
            ('fill = "mist_random"',),
            "4: fill: 'mist_random' does not play hive-mind: its bot.toml has games",
        ),
        (
            "abc",
            ('fill = "nobody"',),
            "4: fill: nobody: no folder and no sample bot is called that;",
        ),
    ],
)
def test_errors_name_line_and_field(file: Path, bots: str, more: tuple[str, ...], said: str) -> None:
    assert said == complaint(cup(file, bots, *more))[: len(said)]


@pytest.mark.parametrize("more", ["rotations = 2", 'fill = "mist_random"'])
def test_pairs_have_both_seatings_and_need_no_house(file: Path, more: str) -> None:
    write_tournament(file, ["mist_random", "mist_hunter"], more)
    said = f"3: {more.split(maxsplit=1)[0]}: is for games of more than two seats; mist has two"
    assert said == complaint(file)[: len(said)]


def test_the_number_of_seats_may_be_an_option_of_the_game(file: Path) -> None:
    tournament = read_tournament(cup(file, "abcdef", "options.seats = 6", game="pointing"))
    assert (6, 6) == (tournament.seats, tournament.rotations)
