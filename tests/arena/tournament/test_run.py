"""A tournament as a whole: begun, stopped, changed, begun anew."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from arena.commands.main import main
from arena.config.tournament_file import read_tournament
from arena.errors import CANNOT, MachineCannot, WrongUse
from arena.pages.report import write_beside
from arena.reports.tournament import crosstable, results_json
from arena.tournament import provenance
from arena.tournament.results_folder import held
from arena.tournament.run import TournamentRun
from arena.workers.api import Worker
from arena.workers.machine import own_files
from referee.bot_folder.manifest import find_bot
from referee.sandbox import SandboxError
from tests.arena.cups import play_cup
from tests.arena.ledgers import OpenLedger
from tests.arena.stand_in import AtOnce

TEXT = """\
game = "mist"
bots = ["mist_random", "mist_cautious", "mist_hunter"]
blocks = 2
seed = 4
"""
MATCHES = 12


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cup.toml"
    path.write_text(TEXT)
    return path


def complaint(file: Path) -> str:
    with pytest.raises(WrongUse) as caught:
        play_cup(file)
    return caught.value.format_message()


def test_a_finished_tournament_is_not_played_again_and_shows_the_same_table(file: Path) -> None:
    first, second = AtOnce(), AtOnce()
    assert play_cup(file, first) == play_cup(file, second)
    assert (MATCHES, 0) == (len(first.played), len(second.played))


def test_a_changed_policy_is_noticed_and_named_with_the_ways_to_go_on(file: Path) -> None:
    play_cup(file)
    file.write_text(TEXT + "[policy]\nmain_ms = 77\n")
    assert complaint(file) == (
        f"{file}: has changed since its results in {file.parent}/runs/cup were begun:"
        " policy.main_ms was null, is 77. Undo that to go on,"
        " or begin anew: --fresh, or another folder with --results"
    )


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("blocks = 2", "blocks = 3", "blocks was 2, is 3"),
        ("seed = 4", "seed = 5", "seed was 4, is 5"),
        ('"mist_cautious", ', "", 'bots was ["mist_random","mist_cautious","mist_hunter"], is ["mist_random",'),
        (
            "seed = 4",
            'seed = 4\nvariant = "heaven-and-hell"',
            "variant was contractual-obligation, is heaven-and-",
        ),
        ("seed = 4", "seed = 4\noptions.max_turns = 3", "options.max_turns was 400, is 3"),
        ("seed = 4", 'seed = 4\nisolation = "none"', "isolation was strict, is none"),
    ],
)
def test_whatever_results_depend_on_is_noticed_when_it_changes(
    file: Path, was: str, becomes: str, said: str
) -> None:
    play_cup(file)
    file.write_text(TEXT.replace(was, becomes))
    assert f"were begun: {said}" in complaint(file)


def test_a_bot_whose_files_changed_is_named_with_both_hashes(file: Path) -> None:
    folder = file.parent / "mine"
    folder.mkdir()
    (folder / "bot.py").write_text("one")
    (folder / "bot.toml").write_text('name = "m"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n')
    file.write_text(TEXT.replace("mist_hunter", "mine"))
    before = find_bot(str(folder)).content
    play_cup(file)
    (folder / "bot.py").write_text("two")
    after = find_bot(str(folder)).content
    said = complaint(file)
    assert (
        f"were begun: content of mine was {before[:19]}, is {after[:19]} (bot.py changed) (to take it in:" in said
    )
    assert f"arena entry update {file} mine). Undo" in said


def test_files_of_the_arena_that_changed_are_named_a_few_of_them(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_cup(file)
    own = own_files()
    deciding = {"referee/match/verdicts.py", "arena/schedule/swiss.py", "arena/statistics/standings.py"}
    assert {
        "protocol/codec.py",
        "referee/host/one_match.py",
        "bots/kit/session.py",
        "arena/regression/model.py",
    } < set(own)
    assert deciding < set(own)
    gone = own.pop("bots/kit/session.py")
    changed = (
        own
        | {"referee/host/one_match.py": gone, "referee/a.py": gone}
        | {f"referee/z{n}.py": gone for n in range(4)}
    )
    monkeypatch.setattr(provenance, "own_files", lambda: changed)
    monkeypatch.setattr(provenance, "own_content", lambda: "sha256:0")
    assert (
        ", is sha256:0 (bots/kit/session.py is gone, referee/a.py is new, referee/host/one_match.py changed,"
        " referee/z0.py is new, referee/z1.py is new, 2 more). Undo" in complaint(file)
    )


def test_the_number_of_simultaneous_matches_may_change(file: Path) -> None:
    first = play_cup(file)
    file.write_text(TEXT + "concurrency = 1\n")
    again = play_cup(file)
    assert (first.contest, first.digest) == (again.contest, again.digest)


def test_fresh_starts_again_and_sets_the_earlier_results_aside(
    file: Path, capsys: pytest.CaptureFixture[str], open_ledger: OpenLedger
) -> None:
    play_cup(file)
    file.write_text(TEXT.replace("seed = 4", "seed = 5"))
    again = AtOnce()
    play_cup(file, again, fresh=True)
    (aside,) = (file.parent / "runs/cup").glob("before-*")
    assert MATCHES == len(again.played)
    assert MATCHES == len(open_ledger(aside / "ledger.sqlite").results())
    assert 3 == len([*(aside / "entries").iterdir()]) == len([*(aside.parent / "entries").iterdir()])
    assert f"earlier results are now in {aside}\n" in capsys.readouterr().err


def test_fresh_moves_nothing_where_nothing_could_be_played(file: Path, open_ledger: OpenLedger) -> None:
    @asynccontextmanager
    async def nobody(matches: int) -> AsyncIterator[list[Worker[str]]]:
        if matches:
            raise MachineCannot("there is no worker")
        yield []

    play_cup(file)
    results = file.parent / "runs/cup"
    before = sorted(results.iterdir())
    tournament = read_tournament(file)
    with pytest.RaisesGroup(MachineCannot, allow_unwrapped=True, flatten_subgroups=True):
        TournamentRun(tournament, tournament.labels, nobody, write_reports=write_beside).play(fresh=True)
    assert before == sorted(results.iterdir())
    assert MATCHES == len(open_ledger(results / "ledger.sqlite").results())


def test_fresh_is_refused_before_anything_is_moved_where_there_is_no_sandbox(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise SandboxError("no sandbox: bwrap is not installed")

    play_cup(file)
    before = sorted((file.parent / "runs/cup").iterdir())
    monkeypatch.setattr("referee.sandbox.find_isolation", none)
    refused = CliRunner().invoke(main, ["tournament", str(file), "--fresh", "--no-check"])
    assert (CANNOT, "arena: no sandbox: bwrap is not installed\n") == (refused.exit_code, refused.stderr)
    assert before == sorted((file.parent / "runs/cup").iterdir())


def test_the_number_of_matches_and_the_isolation_are_printed(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play_cup(file)
    assert f"{MATCHES} matches, isolation strict\n" in capsys.readouterr().err
    play_cup(file)
    assert f"{MATCHES} matches ({MATCHES} of them played before), isolation" in capsys.readouterr().err


def test_kept_bots_are_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text() + '\n[policy]\nprocesses = "kept"\n')
    play_cup(file)
    assert "bots kept from match to match: " in capsys.readouterr().err
    told = CliRunner().invoke(main, ["report", str(file)]).stdout.splitlines()[0]
    assert told.endswith(", round_robin, strict, kept processes")


def test_a_seed_that_is_left_out_is_drawn_once_and_kept(file: Path) -> None:
    file.write_text(TEXT.replace("seed = 4\n", ""))
    first, second = play_cup(file), play_cup(file)
    other = play_cup(file, fresh=True)
    assert first.contest.seed == second.contest.seed
    assert first.contest.seed != other.contest.seed
    assert first.contest.seed >= 2**53, (
        "a short one could be found by trying all: names of matches tell which it is"
    )
    file.write_text(TEXT.replace("seed = 4", f"seed = {first.contest.seed}"))
    assert first.contest.seed == read_tournament(file).form.seed, (
        "it can be published, and put into a copy of the file"
    )


def test_a_second_arena_on_the_same_results_is_refused(file: Path) -> None:
    with held(file.parent / "runs/cup"):
        assert f"{file.parent}/runs/cup: another arena is playing this tournament now" == complaint(file)


def test_results_that_cannot_be_written_are_named(file: Path) -> None:
    (file.parent / "runs").write_text("a file where a folder should be")
    assert f"{file.parent}/runs/cup: cannot be written: Not a directory" == complaint(file)


def test_a_folder_in_which_nothing_can_be_made_is_named(file: Path) -> None:
    """Not even root can make one in /proc."""
    file.write_text(TEXT + 'results = "/proc/cup"\n')
    assert "/proc/cup: cannot be written: No such file or directory" == complaint(file)


def test_the_json_has_what_the_table_has(file: Path) -> None:
    tournament = read_tournament(file)
    results = play_cup(file)
    found = msgspec.to_builtins(results_json(tournament, results))
    assert ["mist_random", "mist_cautious", "mist_hunter"] == [bot["bot"] for bot in found["bots"]]
    assert [line.points for line in results.standings] == [line["points"] for line in found["standings"]]
    assert 4 == found["standings"][0]["against"][found["standings"][1]["bot"]]["played"]
    assert 0 == len(found["void"])


def test_the_table_has_a_column_for_each_opponent_by_place(file: Path) -> None:
    table = crosstable(play_cup(file).standings, ("a", "b", "c"), 2)
    assert ["#", "bot", "mean points", "W-T-L", "1", "2", "3", "faults", "defaults", "time per move"] == [
        str(column.header) for column in table.drawn().columns
    ]
    first, second, third = zip(*(map(str, column.cells) for column in table.drawn().columns), strict=True)
    assert ("-", "-", "-") == (first[4], second[5], third[6])
    assert float(first[5]) + float(first[6]) == pytest.approx(8 * float(first[2]), abs=0.01)
    assert 4.0 == float(first[5]) + float(second[4])
    assert 8 == sum(map(int, first[3].split("-")))
    assert first[-1].endswith(" µs")
