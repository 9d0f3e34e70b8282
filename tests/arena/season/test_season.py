"""A season: stopped anywhere it comes out the same, each field follows from the table before, and nothing else."""

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from hashlib import shake_128
from pathlib import Path
from typing import Any

import pytest

from arena.config.season_file import read_season
from arena.errors import WRONG_USE, WrongUse
from arena.season import remote_bots, season_in
from arena.season import run as season_run
from arena.season.run import begin_anew
from arena.tournament import run
from arena.tournament.changes import close
from arena.tournament.ledger import Ledger
from arena.tournament.results_folder import LEDGER
from referee.host.plan import AttemptResult as Attempted
from referee.host.plan import Plan
from referee.wire.keys import new_pair, write_pair
from tests.arena.season.seasons import STAGES, field_of, league, playing, table_of, told
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_entries import KilledError, dying_after
from tests.builders.command_line import arena
from tests.builders.tournaments import write_tournament
from tests.long import mostly_slow

STEPS = {step: getattr(season_run, step) for step in ("write_book", "close", "copies_of_file", "part_in")}
"""Steps of a season between matches, at which it may be killed."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return league(tmp_path)


def folder_of(file: Path, part: str = "") -> Path:
    return file.parent / "runs/league" / part


def undisturbed(file: Path, events: bool = False) -> Any:
    """The same season played in one go, elsewhere; with the `events` that came meanwhile."""
    other = file.parent / "other"
    if events:
        shutil.copytree(folder_of(file), other / "runs/league")
        for ledger in other.glob(f"runs/league/*/{LEDGER}"):
            with closing(sqlite3.connect(ledger)) as book:
                book.execute("DELETE FROM results")
                book.execute("DELETE FROM attempts")
                book.execute("DELETE FROM events WHERE kind = 'closed'")
                book.commit()
    else:
        other.mkdir()
    for name in file.parent.iterdir():
        if name.is_dir() and (name / "bot.py").exists():
            shutil.copytree(name, other / name.name)
    shutil.copy(file, other)
    return playing(other / file.name)


class Host(AtOnce):
    """Plays matches in no time; after so many, a bot leaves and another enters the group that is played."""

    def __init__(self, file: Path, after: int) -> None:
        super().__init__()
        self._file, self._after = file, after

    async def __call__(self, plan: Plan, players: Any, *, transcript: Path) -> Attempted:
        """See `AtOnce`."""
        self._after -= 1
        if not self._after:
            group, bot = transcript.parents[1], self._file.parent / "x"
            with pytest.MonkeyPatch.context() as patched:  # It is the arena that is killed, not the command.
                for step, real in STEPS.items():
                    patched.setattr(season_run, step, real)
                done = arena("entry", "add", self._file, bot, "--results", group, "--no-check")
                assert 0 == done.exit_code, done.stderr
                assert 0 == arena("entry", "withdraw", group, players[0]).exit_code
        return await super().__call__(plan, players, transcript=transcript)


def test_stages_follow_one_another_and_a_second_run_plays_nothing(file: Path) -> None:
    found, again = playing(file), AtOnce()
    assert found == playing(file, again)
    assert [] == again.played
    assert found["finished"]
    a, b = table_of(found, "groups-a"), table_of(found, "groups-b")
    assert [set("adeh"), set("bcfg")] == [set(a), set(b)]
    assert [a[0], b[0], a[1], b[1]] == field_of(found, "final")
    assert [a[2], b[2], a[3], b[3]] == field_of(found, "plate")
    assert sorted("".join(field_of(found, "final") + field_of(found, "plate"))) == list("abcdefgh")
    goes_on = {row["bot"]: row["goes_on_to"] for part in found["stages"][0]["parts"] for row in part["table"]}
    assert {a[0]: ["final"], a[3]: ["plate"]} == {bot: goes_on[bot] for bot in (a[0], a[3])}


def test_a_stage_that_has_begun_keeps_the_words_in_which_a_tie_was_decided(file: Path) -> None:
    found, words = playing(file), ["so it was said when the stage began"]
    with closing(sqlite3.connect(folder_of(file, "plate") / LEDGER)) as book:
        book.execute("UPDATE terms SET value = ? WHERE key = 'stage.cut'", [json.dumps(words)])
        assert 1 == book.total_changes
        book.execute("DELETE FROM results WHERE block % 2")
        book.execute("DELETE FROM attempts WHERE block % 2")
        book.execute("DELETE FROM events WHERE kind = 'closed'")
        book.commit()
    play = AtOnce()
    again = playing(file, play)
    assert play.played
    assert [table_of(again, part) for part in ("plate", "final")] == [
        table_of(found, part) for part in ("plate", "final")
    ]
    assert words == season_in(folder_of(file)).stages[-1].cut


def test_stages_and_groups_have_deals_of_their_own(file: Path) -> None:
    play = AtOnce()
    playing(file, play)
    seeds = [plan.seed for plan in play.played]
    assert len(seeds) == 2 * len(set(seeds))


@pytest.mark.slow
@pytest.mark.parametrize("after", mostly_slow(1, [False, True]), ids=["before the write", "after the write"])
def test_killed_at_any_moment_it_comes_out_the_same(
    file: Path, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are over 40 kills, each at another write of a ledger or another step between stages."""
    host, kills, found = Host(file, 7), 0, None
    while found is None:
        with monkeypatch.context() as patched:
            patched.setattr(run, "CallThread", dying_after(9 + kills // 3, after=after))
            for step in STEPS:
                patched.setattr(season_run, step, dying_step(step, 1 + kills // 2, after=after))
            try:
                found = playing(file, host)
            except KilledError:
                kills += 1
            except BaseExceptionGroup as group:
                assert group.split(KilledError)[1] is None
                kills += 1
        assert kills < 200
    assert kills > 20
    assert "x" in table_of(found, "groups-a")
    assert found == undisturbed(file, events=True)


def dying_step(step: str, calls: int, *, after: bool) -> Callable[..., Any]:
    """Return a step of the season whose process is killed before or after its last call."""
    real, left = STEPS[step], [calls]

    def killing(*given: Any, **more: Any) -> Any:
        left[0] -= 1
        if not left[0] and not after:
            raise KilledError
        answer = real(*given, **more)
        if not left[0]:
            raise KilledError
        return answer

    return killing


def test_a_season_without_a_seed_draws_one_and_keeps_it(tmp_path: Path) -> None:
    file = league(tmp_path, more=())
    found = playing(file, last="groups")
    assert table_of(found, "groups-a") == table_of(playing(file), "groups-a")
    assert 0o600 == (folder_of(file) / "season.json").stat().st_mode & 0o777
    seeds = [seed_of(folder_of(file) / "season.json"), *map(stage_seed, (folder_of(file)).glob(f"*/{LEDGER}"))]
    assert seeds[0] >= 2**53 < max(seeds[1:]), "none can be found by trying all"
    assert len(seeds) == len(set(seeds)) > 3


def seed_of(book: Path) -> int:
    return int(json.loads(book.read_text())["seed"])


def stage_seed(ledger: Path) -> int:
    with closing(Ledger(ledger)) as opened:
        return int(opened.terms()["seed"])


def test_from_a_short_seed_follows_what_older_arenas_drew(file: Path) -> None:
    playing(file, last="groups")
    drawn = shake_128(b"4/groups-a").digest(8)
    assert int.from_bytes(drawn) % 2**53 == stage_seed(folder_of(file, "groups-a") / LEDGER)


@pytest.mark.parametrize(("vacant", "left"), [("next", 4), ("empty", 3)])
def test_between_stages_a_bot_withdraws_and_the_next_moves_up_or_its_place_stays_empty(
    tmp_path: Path, vacant: str, left: int
) -> None:
    file = league(tmp_path, STAGES.replace("each_group = 2", f'each_group = 2\nvacant = "{vacant}"'))
    before = playing(file, last="groups")
    assert [] == field_of(before, "final")
    first = table_of(before, "groups-a")[0]
    assert 0 == arena("entry", "withdraw", folder_of(file, "groups-a"), first).exit_code
    after = playing(file)
    assert left == len(field_of(after, "final"))
    assert first not in field_of(after, "final") + field_of(after, "plate")
    assert first == table_of(after, "groups-a")[-1]
    assert (table_of(before, "groups-a")[2] in field_of(after, "final")) == (vacant == "next")


def test_an_author_gets_nothing_of_a_bot_that_is_called_the_same_in_another_group(file: Path) -> None:
    found = playing(file, last="groups")
    one, there = table_of(found, "groups-a")[0], folder_of(file, "groups-b")
    new = file.parent / "x"
    assert 0 == arena("entry", "add", file, new, "--label", one, "--results", there, "--no-check").exit_code
    refused = arena("package", file, one, "--out", file.parent / "a.zip")
    assert WRONG_USE == refused.exit_code
    assert f"{one}: groups-a and groups-b have different bots of this name" in refused.stderr
    assert 0 == arena("package", folder_of(file, "groups-a"), one, "--out", file.parent / "a.zip").exit_code


def test_a_stage_whose_table_was_used_takes_in_no_change(file: Path) -> None:
    found = playing(file)
    for command in (
        ("entry", "withdraw", folder_of(file, "groups-a"), "a"),
        ("extend", folder_of(file, "groups-b"), "--blocks", 9),
        ("entry", "add", file, file.parent / "x", "--results", folder_of(file, "groups-a"), "--no-check"),
    ):
        refused = arena(*command)
        assert WRONG_USE == refused.exit_code
        assert "no further change is accepted: final was drawn from its table" in refused.stderr
    assert found == playing(file)


def test_a_stage_does_not_go_on_if_the_table_before_it_is_another(file: Path) -> None:
    playing(file, last="final")
    with closing(sqlite3.connect(folder_of(file, "groups-b") / LEDGER)) as book:
        book.execute("UPDATE attempts SET played = replace(played, '[[0],[1]]', '[[1],[0]]') WHERE block = 1")
        book.commit()
    with pytest.raises(
        WrongUse, match=r"final were begun: .*table of groups-b was sha256:\w{12}, is sha256:\w{12}"
    ):
        playing(file)


def test_a_change_that_comes_as_a_stage_ends_is_taken_in_before_the_next_is_drawn(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[int] = []

    def close_later(ledger: Ledger, *given: Any) -> bool:
        if not late:
            late.append(arena("entry", "withdraw", ledger.path.parent, "a").exit_code)
        return close(ledger, *given)

    monkeypatch.setattr(season_run, "close", close_later)
    found = playing(file)
    assert [0] == late
    assert "a" not in field_of(found, "final") + field_of(found, "plate")
    assert found == playing(file)


def test_killed_while_it_closes_a_stage_the_next_arena_closes_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change comes between the line that closes the stage and the line that names its first block."""

    def die(*_: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "take_in", die)
        with pytest.raises(KilledError):
            playing(file)
    refused = arena("entry", "withdraw", folder_of(file, "groups-a"), "a")
    assert "no further change is accepted: final was drawn from its table" in refused.stderr
    assert playing(file) == undisturbed(file)
    listed = arena("entry", "list", folder_of(file, "groups-a"), "--json").stdout
    assert '"text":"closed: final was drawn from its table","block":6' in listed


def test_bots_play_on_as_they_were_or_as_they_are_when_a_stage_begins(tmp_path: Path) -> None:
    file = league(tmp_path, STAGES.replace("rest = true", 'rest = true\nversions = "new"'))
    playing(file, last="groups")
    for name in "abcdefgh":
        (tmp_path / name / "bot.py").write_text("better")
    with pytest.raises(WrongUse, match=r"content of \w was .*arena entry update .*--results .*/groups-a\)"):
        playing(file)
    for name in "abcdefgh":
        (tmp_path / name / "bot.py").write_text(f"# {name}")
    playing(file, last="final")
    for name in "abcdefgh":
        (tmp_path / name / "bot.py").write_text("better")
    found = playing(file)
    old = contents(file, "groups-a") | contents(file, "groups-b")
    assert contents(file, "final").items() <= old.items()
    assert {contents(file, "plate")[label] for label in field_of(found, "plate")}.isdisjoint(old.values())


def contents(file: Path, part: str) -> dict[str, str]:
    with closing(Ledger(folder_of(file, part) / LEDGER)) as ledger:
        terms = ledger.terms()
    return {label: terms[f"content of {label}"] for label in terms["bots"]}


def test_remote_bots_go_on_with_the_key_that_they_have_played_with(tmp_path: Path) -> None:
    file = league(tmp_path)
    (tmp_path / "keys").mkdir()
    for name in ("alice", "bob"):
        write_pair(tmp_path / "keys" / name, new_pair())
    keys = [f"'remote:keys/{name}.key'" for name in ("alice", "bob")]
    file.write_text(file.read_text().replace('"a", "b"', ", ".join(keys)))
    found = playing(file, last="final")
    assert {"alice", "bob"} == {bot.name for bot in remote_bots(read_season(file))}
    left = {"alice", "bob"} - set(field_of(found, "final"))
    known = contents(file, "groups-a") | contents(file, "groups-b")
    assert all(known[name].startswith("key:") for name in ("alice", "bob"))
    assert left, "one of them plays the plate"
    name = min(left)
    key = tmp_path / "keys" / f"{name}.key"
    was = key.read_bytes()
    write_pair(tmp_path / "keys/other", new_pair())
    (tmp_path / "keys/other.key").replace(key)
    with pytest.raises(WrongUse, match=rf"{name}.key: is another key than {name} has played with"):
        playing(file)
    key.write_bytes(was)
    assert playing(file)["finished"]


def test_a_copy_that_is_not_as_it_was_made_goes_on_nowhere(file: Path) -> None:
    first = table_of(playing(file, last="groups"), "groups-a")[0]
    copy = folder_of(file, "groups-a") / "entries" / contents(file, "groups-a")[first].removeprefix("sha256:")
    (copy / "bot.py").chmod(0o600)
    (copy / "bot.py").write_text("other")
    with pytest.raises(WrongUse, match=rf"stages\[1\]: .*: the copy of {first} is not as it was made"):
        playing(file)


@pytest.mark.slow
def test_bots_of_two_groups_that_are_called_the_same_are_told_apart_to_the_last_stage(tmp_path: Path) -> None:
    last = '[[stages]]\nname = "last"\nfrom = "groups"\n[[stages]]\nname = "very-last"\nversions = "new"\n'
    file = league(tmp_path, STAGES + last)
    playing(file, last="groups")
    for group, bot, label in (("a", "x", "x"), ("b", "y", "x"), ("a", "y", "c")):
        words = ("--results", folder_of(file, f"groups-{group}"), "--no-check", "--label", label)
        assert 0 == arena("entry", "add", file, tmp_path / bot, *words).exit_code
    found = playing(file)
    assert {*"abcdefgh", "x", "x (groups-b)", "c (groups-a)"} == set(field_of(found, "last"))
    assert field_of(found, "very-last") == table_of(found, "last")
    played = contents(file, "very-last")
    assert played["x (groups-b)"] == played["c (groups-a)"] != played["x"]
    assert played == contents(file, "last")
    assert found == playing(file)


@pytest.mark.parametrize("place", ["x", "mended/x"])
def test_a_bot_that_is_mended_and_enters_a_stage_is_left_out_no_longer(file: Path, place: str) -> None:
    if place != "x":
        (file.parent / "mended").mkdir()
        shutil.copytree(file.parent / "x", file.parent / place)
    file.write_text(file.read_text().replace("bots = ['a'", "bots = ['x', 'a'"))
    found = playing(file, check=lambda _: {"x": "has no program"}, last="groups")
    assert {"x": "has no program"} == found["left_out"]
    folder = folder_of(file, "groups-a")
    done = arena("entry", "add", file, file.parent / place, "--results", folder, "--no-check")
    assert 0 == done.exit_code, done.stderr
    found = playing(file)
    assert "x" in table_of(found, "groups-a")
    assert {} == found["left_out"]


def test_bots_that_cannot_start_are_left_out_of_the_draw(file: Path) -> None:
    found = playing(file, check=lambda _: {"b": "has no program"})
    assert {"b": "has no program"} == found["left_out"]
    assert set("acdefgh") == {row for group in "ab" for row in table_of(found, f"groups-{group}")}
    assert found == playing(file)


def test_a_backup_between_stages_goes_on_as_the_season_would_have(file: Path) -> None:
    season, to = file.parent / "runs/league", file.parent / "backup"
    playing(file, last="groups")
    for _ in range(2):
        done = arena("backup", file, to, "--json")
        assert 0 == done.exit_code, done.stderr
    made = json.loads(done.stdout)
    stages = [(Path(each["folder"]).name, each["copied"]) for each in made["stages"]]
    assert [("groups-a", 0), ("groups-b", 0)] == stages
    undisturbed = playing(file)
    refused = arena("backup", file, season / "inside")
    assert "a backup goes to another folder" in refused.stderr
    shutil.rmtree(season)
    to.rename(season)
    assert undisturbed == playing(file)
    (to / "another").mkdir(parents=True)
    refused = arena("backup", file, to)
    assert "is not empty and holds no backup" in refused.stderr


def test_the_check_of_a_backup_looks_through_all_its_stages(file: Path) -> None:
    playing(file)
    done = arena("backup", "--check", file, "--json")
    found = json.loads(done.stdout)
    # Stand-ins write no transcripts.
    assert {"groups-a", "groups-b", "final", "plate"} == {line.partition("/")[0] for line in found["wrong"]}
    assert found["matches"] == found["transcripts"] == len(found["wrong"])


def test_an_archive_for_an_author_has_all_stages_in_which_his_bot_plays(file: Path, tmp_path: Path) -> None:
    played = playing(file)
    winner = table_of(played, "groups-a")[0]
    done = arena("package", file, winner, "--out", tmp_path / "a.zip", "--json")
    assert 0 == done.exit_code, done.stderr
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        folders = {name.split("/")[1] for name in archive.namelist()}
        rows = [archive.read(f"{winner}/{folder}/results.csv").count(b"\n") for folder in sorted(folders)]
    assert {"groups-a", "final"} == folders
    packed = json.loads(done.stdout)
    assert packed["matches"] == packed["in_all"] == sum(rows) // 2 - 1
    assert 2 == len({line.partition(": ")[0] for line in packed["missing"]})
    nobody = arena("package", file, "nobody")
    assert "arena: no bot is called nobody; the bots are " in nobody.stderr
    everybody = arena("package", file, "--all", tmp_path / "all", "--json")
    assert 0 == everybody.exit_code, everybody.stderr
    assert (tmp_path / "all" / f"{winner}.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()
    assert len(json.loads(everybody.stdout)["packed"]) == len(list((tmp_path / "all").iterdir()))


def test_a_stage_and_the_later_ones_start_again_and_earlier_ones_stay(file: Path) -> None:
    before = playing(file)
    begin_anew(read_season(file), "final")
    assert [[], []] == [stage["parts"] for stage in told(folder_of(file))["stages"]][1:]
    again = AtOnce()
    assert before == playing(file, again)
    assert len(again.played) == sum(part["matches"] for stage in before["stages"][1:] for part in stage["parts"])
    begin_anew(read_season(file), None)
    assert before == playing(file)
    assert 1 == len(list(folder_of(file).glob("before-*.json")))


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("seed = 4", "seed = 5", "seed was 4, is 5"),
        ('name = "groups"', 'name = "pools"', "groups-a has results, but is not one of its stages or groups"),
        (
            "each_group = 2",
            "each_group = 1",
            "stage.rule was the top two of each group, is the winner of",
        ),
        ('"g", "h"', '"h", "g"', 'bots was ["a","d","e","h"], is ["a","d","e","g"]'),
    ],
)
def test_a_file_that_was_changed_does_not_go_on(file: Path, was: str, becomes: str, said: str) -> None:
    playing(file, last="final")
    file.write_text(file.read_text().replace(was, becomes).replace('from = "groups"', 'from = "pools"')
                    if "pools" in becomes else file.read_text().replace(was, becomes))  # fmt: skip
    with pytest.raises(WrongUse) as caught:
        playing(file)
    assert said in caught.value.format_message()


def test_a_season_that_is_being_played_keeps_a_second_arena_out(file: Path) -> None:
    class Second(AtOnce):
        async def __call__(self, plan: Plan, players: Any, *, transcript: Path) -> Attempted:
            if transcript.parents[1].name == "groups-b":
                with pytest.raises(WrongUse, match="another arena"):
                    playing(file)
            return await super().__call__(plan, players, transcript=transcript)

    assert playing(file, Second())["finished"]


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        (
            "groups = 2",
            "groups = 5",
            "7: stages[0].groups: a tournament needs at least two bots; it would",
        ),
        ("groups = 2", "groups = 2\ntop = 3", "8: stages[0].top: the first stage has all bots of the file"),
        ("each_group = 2", "each_group = 5", "11: stages[1].each_group: a group has 4 bots"),
        ("each_group = 2", "top = 9", "11: stages[1].top: groups has 8 bots"),
        (
            "each_group = 2",
            "each_group = 2\ntop = 1",
            "11: stages[1].each_group: a stage takes one of top, each_group and rest; this",
        ),
        ("each_group = 2", "rest = true", "11: stages[1].rest: no stage before it takes bots from groups"),
        ('"knockout"', '"ladder"', "9: stages[1].rounds: is missing: a ladder has no end of its own"),
        ('"knockout"', '"ladder"\nendless = true', "13: stages[1].endless: a stage has an end"),
        ("blocks = 2", "blocks = 0", "13: stages[1].blocks: 0: Expected `int` >= 1"),
        ("blocks = 2", "policy.main_ms = 0", "13: stages[1].policy.main_ms: 0: Expected `int` >= 1"),
        (
            "blocks = 2",
            "colour = 2",
            "13: stages[1].colour: is not a known field; the fields are name, from,",
        ),
        ("blocks = 2", 'game = "mist"', "13: stages[1].game: is not a known field"),
        ('"plate"', '"final"', "16: stages[2].name: 'final' is the name of stages[1], too"),
        ('"plate"', '"groups-a"', "16: stages[2].name: the folder groups-a is another's"),
        ('"plate"', '"../x"', "16: stages[2].name: '../x': Expected `str` matching regex"),
        ('from = "groups"', 'from = "plate"', "17: stages[2].from: no stage before it is called 'plate'"),
        ('from = "groups"', 'from = "final"', "18: stages[2].rest: no stage before it takes bots from final"),
        ('"a", ', '"nobody", ', "2: bots[0]: nobody: no folder and no sample bot is called that"),
    ],
)
def test_errors_in_a_file_name_line_and_field_before_any_match(
    file: Path, was: str, becomes: str, said: str
) -> None:
    file.write_text(file.read_text().replace(was, becomes))
    with pytest.raises(WrongUse) as caught:
        playing(file)
    assert f"{file}:{said}" in caught.value.format_message()
    assert not list(folder_of(file).glob(f"*/{LEDGER}"))


def test_a_file_says_which_command_plays_it_if_another_is_given(file: Path) -> None:
    names_a_folder = (
        f"is a season's: give the results folder of one of its stages, such as {folder_of(file, 'groups-a')}\n"
    )
    cup = write_tournament(file.with_name("cup.toml"), ["mist_random", "mist_hunter"])
    of_cup = f"{cup}: is the file of a tournament, not of a season; play it with: arena tournament {cup}\n"
    for words, said in (
        (("season", cup), of_cup),
        (
            ("tournament", file),
            f"not of a tournament; play it with: arena season {file}\n",
        ),
        (("entry", "add", file, "x"), "is a season's"),
        (("results", file), names_a_folder),
        (("entry", "list", file), names_a_folder),
    ):
        refused = arena(*words)
        assert WRONG_USE == refused.exit_code
        assert said in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "[]", '{"seed": 1}', "[" * 100_000, '{"schema":9,"seed":1,"stages":[]}'])
def test_a_strange_book_is_refused_in_a_line(file: Path, text: str) -> None:
    playing(file)
    (folder_of(file) / "season.json").write_text(text)
    for words in (("report", folder_of(file)), ("report", file, "--json")):
        refused = arena(*words)
        assert WRONG_USE == refused.exit_code
        assert "season.json: not as an arena writes it" in refused.stderr


def test_a_book_names_no_folder_elsewhere(file: Path) -> None:
    playing(file)
    book = folder_of(file) / "season.json"
    book.write_text(book.read_text().replace('"final"', '"../final"'))
    assert "not as an arena writes it" in arena("report", folder_of(file)).stderr


def test_more_than_two_seats_are_played_in_groups_too(tmp_path: Path) -> None:
    stages = '[[stages]]\nname = "g"\ngroups = 2\n[[stages]]\nname = "final"\ntop = 6\nblocks = 2\n'
    file = league(tmp_path, stages, bots="abcdefghijk", more=("seed = 4", 'fill = "x"'))
    file.write_text(file.read_text().replace('"mist"', '"hive-mind"'))
    for manifest in tmp_path.glob("*/bot.toml"):
        manifest.write_text(manifest.read_text().replace("mist", "hive-mind"))
    found = playing(file)
    assert 6 == len(field_of(found, "final"))
    assert found["finished"]
