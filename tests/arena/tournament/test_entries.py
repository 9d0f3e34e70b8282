"""The field changes under way: nothing is lost, and the same events give the same table whatever was stopped."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from arena.commands.main import main
from arena.config.tournament_file import read_tournament
from arena.errors import WRONG_USE, WrongUse
from arena.event_loop import CallThread
from arena.reports.tournament import results_json
from arena.schedule.fields import Entered, FieldChange, ScheduleSpec
from arena.tournament import entries, run
from arena.tournament.entries import copies_of_file
from arena.tournament.ledger import Ledger
from arena.tournament.results import load_results
from arena.tournament.results_folder import ENTRIES, LEDGER, held
from arena.tournament.run import FinalResults
from arena.workers.api import PlayMatch
from referee.host.plan import AttemptResult as Attempted
from referee.host.plan import Plan
from tests.arena.cups import BOT, play_cup
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_formats import FORMATS, cup

Command = tuple[str, ...]
CHANGES: dict[int, tuple[Command, ...]] = {
    3: (("add", "f", "--no-check"), ("update", "a", "f2", "--no-check")),
    6: (("withdraw", "b"),),
    9: (("update", "a", "f3", "--no-check"), ("withdraw", "f")),
}
"""Commands of the host, by the number of matches before them. `a` has three versions."""
KNOCK_OUT: dict[int, tuple[Command, ...]] = {3: (("withdraw", "b"),), 7: (("withdraw", "a"),)}
LONGER = {"swiss": ("--rounds", "5"), "ladder": ("--rounds", "8")}
ALL = {
    **FORMATS,
    "many seats": ("round_robin", ("blocks = 7", 'fill = "filler"', "rotations = 2")),
}


class KilledError(BaseException):
    """A stand-in for `kill -9`, with the same effect on the ledger."""


class Host(AtOnce):
    """Plays matches in no time, while somebody changes the field after so many of them."""

    def __init__(self, file: Path, changes: dict[int, tuple[Command, ...]]) -> None:
        super().__init__()
        self._file, self._changes, self._done = file, dict(changes), 0

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        """See `referee.host.one_match.play`."""
        self._done += 1
        for command in self._changes.pop(self._done, ()):
            done = change(self._file, *command)
            assert 0 == done.exit_code, done.stderr
        return await super().__call__(plan, players, transcript=transcript)


def change(file: Path, name: str, *words: str) -> Result:
    """`arena entry NAME FILE …` or `arena extend FILE …`; bots are folders beside the file."""
    if name == "extend":
        return CliRunner().invoke(main, ["extend", str(file), *words])
    bots = [str(file.parent / word) if (file.parent / word / "bot.py").exists() else word for word in words]
    first = [words[0]] if name in {"update", "withdraw"} else bots[:1]
    return CliRunner().invoke(main, ["entry", name, str(file), *first, *bots[1:]])


def playing(file: Path, play: PlayMatch[str]) -> FinalResults:
    """Play a tournament as `arena tournament`, with stand-ins for matches."""
    copies = copies_of_file(file.parent / "runs/cup", withdrawn_only=True)
    return play_cup(read_tournament(file, copies), play)


def undisturbed(file: Path) -> FinalResults:
    """The same tournament with the same events, played from its beginning in one go."""
    copy = file.parent / "again"
    shutil.copytree(file.parent / "runs/cup", copy)
    with closing(sqlite3.connect(copy / LEDGER)) as book:
        book.execute("DELETE FROM results")
        book.execute("DELETE FROM attempts")
        book.commit()
    shutil.rmtree(copy / "transcripts")
    file.with_name("again.toml").write_text(file.read_text() + f'results = "{copy}"\n')
    copies = copies_of_file(copy, withdrawn_only=True)
    return play_cup(read_tournament(file.with_name("again.toml"), copies))


def told(results: FinalResults) -> Any:
    found = msgspec.json.decode(msgspec.json.encode(results_json(results.tournament, results)))
    for key in ("results", "set_aside", "void", "lost", "reports"):
        del found[key]
    return found


@pytest.fixture(params=ALL)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A tournament's file, with folders for bots that are to enter."""
    file = field(tmp_path, *ALL[request.param])
    if request.param == "many seats":
        file.write_text(file.read_text().replace('"mist"', '"hive-mind"'))
        for manifest in file.parent.glob("*/bot.toml"):
            manifest.write_text(BOT.replace("mist", "hive-mind"))
    return file


def field(folder: Path, format_: str, more: tuple[str, ...] = ()) -> Path:
    file = cup(folder, format_, more)
    for number, name in enumerate(("f", "f2", "f3")):
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(f"# {number}")
        (folder / name / "bot.toml").write_text(BOT)
    return file


def changes_of(file: Path) -> dict[int, tuple[Command, ...]]:
    form = read_tournament(file).form
    if form.format == "knockout":
        return KNOCK_OUT
    longer = LONGER.get(form.format, ("--blocks", str(form.blocks + 1)))
    return CHANGES | {7: (("extend", *longer),)}


@pytest.mark.slow
def test_a_running_arena_takes_changes_in_and_ends_as_if_it_had_known_them(file: Path) -> None:
    found = playing(file, Host(file, changes_of(file)))
    assert {event.block is not None for event in events(file)} == {True}
    assert sum(map(len, changes_of(file).values())) == len(events(file))
    assert told(found) == told(undisturbed(file))
    report = load_results(file.parent / "runs/cup" / LEDGER)
    assert (report.digest.standings, report.digest.labels) == (found.standings, found.digest.labels)
    assert report.total == len(found.played) == report.digest.matches


def events(file: Path) -> list[Any]:
    with closing(Ledger(file.parent / "runs/cup" / LEDGER)) as ledger:
        return ledger.events()


@pytest.mark.parametrize(
    ("file", "after"),
    [
        pytest.param(format_, bool(number % 2), marks=[pytest.mark.slow] if number > 1 else [])
        for number, format_ in enumerate(sorted(ALL))
    ],
    indirect=["file"],
    ids=lambda value: value if isinstance(value, str) else f"{'after' if value else 'before'} the write",
)
def test_killed_at_every_few_writes_it_comes_out_the_same(
    file: Path, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are over 100 kills, each at another write of the ledger, and changes between them."""
    host, kills = Host(file, changes_of(file)), 0
    found = None
    while found is None:
        with monkeypatch.context() as patched:
            patched.setattr(run, "CallThread", dying_after(4 + kills // 4, after=after))
            try:
                found = playing(file, host)
            except BaseExceptionGroup as group:
                assert group.split(KilledError)[1] is None
                kills += 1
                assert kills < 100
    assert kills > 5
    assert told(found) == told(undisturbed(file))


def dying_after(calls: int, *, after: bool) -> Callable[[], Any]:
    """Return a class for the ledger's calls that kills the process before or after the call with this number."""

    class Killing(CallThread):
        def __init__(self) -> None:
            super().__init__()
            self._left = calls

        async def __call__(self, call: Callable[[], Any]) -> Any:
            self._left -= 1
            if self._left < (-1 if after else 0):
                raise KilledError
            answer = await super().__call__(call)
            if self._left < 0:
                raise KilledError
            return answer

    return Killing


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A round robin that has been played."""
    file = field(tmp_path, "round_robin")
    playing(file, AtOnce())
    return file


def test_a_change_of_a_tournament_that_is_over_makes_it_go_on(pairs: Path) -> None:
    before = load_results(pairs.parent / "runs/cup" / LEDGER)
    assert 0 == change(pairs, "update", "a", "f2", "--no-check").exit_code
    again = AtOnce()
    found = playing(pairs, again)
    assert 2 * 4 == len(again.played)
    assert ("a (withdrawn)", "a v2") == (found.digest.labels[0], found.digest.labels[5])
    assert before.digest.by_bot_and_seat[0] == found.digest.by_bot_and_seat[0]


def test_an_author_may_go_on_with_a_folder_after_its_update(pairs: Path) -> None:
    """The update's content is played; the first version stays as it was at the start."""
    (pairs.parent / "a/bot.py").write_text("second")
    with pytest.raises(
        WrongUse, match=r"content of a was .* \(to take it in: arena entry update .*/cup.toml a\)\. U"
    ):
        playing(pairs, AtOnce())
    assert 0 == change(pairs, "update", "a", "--no-check").exit_code
    (pairs.parent / "a/bot.py").write_text("third")
    found = playing(pairs, AtOnce())
    contents = [bot.content for bot in found.tournament.bots]
    kept = pairs.parent / "runs/cup" / ENTRIES
    assert {content.removeprefix("sha256:") for content in contents} == {copy.name for copy in kept.iterdir()}
    assert "second" == (found.tournament.folders[5].folder / "bot.py").read_text()
    assert not (found.tournament.folders[0].folder / "bot.py").read_text()


def test_an_update_of_a_bot_that_came_later_looks_where_it_came_from(pairs: Path) -> None:
    assert 0 == change(pairs, "add", "f", "--no-check").exit_code
    (pairs.parent / "f/bot.py").write_text("second")
    assert 0 == change(pairs, "update", "f", "--no-check").exit_code
    labels = [event.what.label for event in events(pairs) if isinstance(event.what, Entered)]
    assert ["f", "f v2"] == labels
    assert 0 == change(pairs, "update", "f v2", "f3", "--no-check").exit_code
    assert "f v3" == events(pairs)[-1].what.label


def test_the_folder_of_a_withdrawn_bot_may_be_removed(pairs: Path) -> None:
    assert 0 == change(pairs, "withdraw", "c").exit_code
    shutil.rmtree(pairs.parent / "c")
    assert "c (withdrawn)" in playing(pairs, AtOnce()).digest.labels


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("withdraw", "x"), "no bot is called x; the bots are a, b, c, d, e"),
        (("update", "x", "f2", "--no-check"), "no bot is called x; the bots are a, b, c, d, e"),
        (("add", "a", "--no-check"), "a: another bot has this name; give --label"),
        (("add", "f", "--label=a", "--no-check"), "a: another bot has this name; give --label"),
        (
            ("add", "f", "--label=A", "--no-check"),
            "A: looks like a: only upper and lower case differ; give another",
        ),
        (("add", "f", "--label=\u0430", "--no-check"), "\u0430: looks like a: \u0430 has CYRILLIC SMALL LETTER A"),
        (("add", "f", "--label=\x1b[1m", "--no-check"), r"\x1b[1m: has characters that cannot be shown as"),
        (("add", "f", "--label=", "--no-check"), "'': a label has 1 to 900 characters"),
        (("add", "f", "--label=the arena", "--no-check"), "the arena: is the name of the arena's own content"),
        (("add", "f", "--label=e\u0301", "--no-check"), r"e\u0301: has characters that cannot be shown as"),
        (
            ("add", "nobody", "--no-check"),
            "nobody: no folder and no sample bot is called that;",
        ),
        (("update", "a", "a", "--no-check"), "/a has not changed since a, the version that is playing"),
        (("extend", "--blocks", "1"), "blocks: 1 is not more than the present total"),
        (("extend", "--rounds", "3"), "format = 'round_robin' is extended by its blocks"),
        (("extend",), "give a new total or a later time: --blocks, --rounds or --entries-until"),
        (
            ("extend", "--blocks", "2", "--rounds", "2"),
            "give a new total or a later time: --blocks, --rounds or --entries-until",
        ),
    ],
)
def test_impossible_changes_are_refused_and_nothing_is_written(pairs: Path, command: Command, said: str) -> None:
    refused = change(pairs, *command)
    assert WRONG_USE == refused.exit_code
    assert said in refused.stderr
    assert [] == events(pairs)


def test_a_replaced_version_keeps_its_label_from_others(pairs: Path) -> None:
    """The bot is still called by it: `a v2` answers to `entry update a`."""
    assert 0 == change(pairs, "update", "a", "f2", "--no-check").exit_code
    for label, said in (
        ("a", "a: another bot has this name; give --label"),
        ("A", "A: looks like a: only upper and lower case differ; give another --label"),
    ):
        refused = change(pairs, "add", "f", f"--label={label}", "--no-check")
        assert WRONG_USE == refused.exit_code
        assert said in refused.stderr
    assert 1 == len(events(pairs))


def test_a_bot_that_withdrew_may_come_back_and_none_that_looks_like_it(pairs: Path) -> None:
    assert 0 == change(pairs, "withdraw", "a").exit_code
    refused = change(pairs, "add", "f", "--label=A", "--no-check")
    assert "A: looks like a: only upper and lower case differ; give another --label" in refused.stderr
    assert 0 == change(pairs, "add", "f", "--label=a", "--no-check").exit_code


def test_no_name_can_block_the_next_version_of_a_bot(pairs: Path) -> None:
    for command in (("add", "f", "--label=a v2"), ("update", "a", "f2"), ("update", "a v2", "f3")):
        assert 0 == change(pairs, *command, "--no-check").exit_code
    assert ["a v2", "a v3", "a v2 v2"] == [event.what.label for event in events(pairs)]


def test_bots_are_held_to_the_files_caps(pairs: Path) -> None:
    pairs.write_text(pairs.read_text() + "limits.memory_mb = 512\n")
    refused = change(pairs, "add", "f", "--no-check")
    assert "limits.memory_mb: 1024, the default, is more than 512" in refused.stderr


@pytest.mark.usefixtures("all_walls")
def test_a_bot_that_cannot_start_does_not_enter(pairs: Path) -> None:
    pairs.write_text(pairs.read_text() + 'isolation = "none"\npolicy.startup_ms = 20000\n')
    refused = change(pairs, "add", "f")
    assert WRONG_USE == refused.exit_code
    assert "/f: never started: " in refused.stderr
    assert [] == events(pairs)


def test_a_tournament_that_has_not_begun_has_no_field_to_change(tmp_path: Path) -> None:
    file = field(tmp_path, "round_robin")
    refused = change(file, "add", "f", "--no-check")
    assert WRONG_USE == refused.exit_code
    assert "there is no such ledger" in refused.stderr


def test_one_whose_bots_are_being_checked_has_none_yet(tmp_path: Path) -> None:
    file = field(tmp_path, "round_robin")
    with held(tmp_path / "runs/cup"):
        Ledger(tmp_path / "runs/cup" / LEDGER).close()
        said = change(file, "add", "f", "--no-check").stderr
    assert f"{tmp_path}/runs/cup: not begun: its bots are being checked" in said


def test_a_knock_out_that_has_begun_refuses_waiting_bots_and_continues(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was begun yet when the bot entered; now something is."""
    file = field(tmp_path, "knockout")
    monkeypatch.setattr("arena.tournament.changes.resolve_changes", judged_at_start)
    found = playing(file, Host(file, {3: (("add", "f", "--no-check"), ("withdraw", "b"))}))
    assert "refused: f enters: no bot can enter a knock-out that has begun" in capsys.readouterr().err
    assert [None, None] == [event.block for event in events(file)]
    assert "an earlier change could not be made" == events(file)[1].refused
    assert 5 == len(found.digest.labels)
    monkeypatch.undo()
    assert told(found) == told(playing(file, AtOnce()))
    assert 0 == CliRunner().invoke(main, ["entry", "list", str(file)]).exit_code


def judged_at_start(spec: ScheduleSpec, game: str, events: Sequence[FieldChange], begun: int) -> list[FieldChange]:
    """Return the changes that a command finds before the first match."""
    return entries.resolve_changes(spec, game, events, 0 * begun)


def test_the_list_says_who_plays_since_when_and_what_waits(pairs: Path) -> None:
    change(pairs, "update", "a", "f2", "--no-check")
    change(pairs, "withdraw", "b")
    waiting = CliRunner().invoke(main, ["entry", "list", str(pairs)]).stdout
    assert 3 == waiting.count("waits")
    playing(pairs, AtOnce())
    shown = CliRunner().invoke(main, ["entry", "list", str(pairs)]).stdout
    assert 0 == shown.count("waits")
    listed = json.loads(CliRunner().invoke(main, ["entry", "list", str(pairs), "--json"]).stdout)
    assert [True, "a v2", 10, None, 0] == [
        listed["entrants"][5][key] for key in ("competes", "bot", "from_block", "until_block", "predecessor")
    ]
    assert [(0, 10), (0, 10), (0, None)] == [
        (each["from_block"], each["until_block"]) for each in listed["entrants"][:3]
    ]
    assert ["a v2 takes the place of a", "b withdraws"] == [each["text"] for each in listed["changes"]]


def test_a_file_may_have_the_total_that_was_asked_for_by_a_change(pairs: Path) -> None:
    change(pairs, "extend", "--blocks", "2")
    assert 40 == len(playing(pairs, AtOnce()).played)
    pairs.write_text(pairs.read_text() + "blocks = 2\n")
    assert 40 == len(playing(pairs, AtOnce()).played)


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('"e"]', '"e", "f"]', "undo it, then arena entry add {file} {folder}/f)"),
        (', "e"]', "]", "undo it, then arena entry withdraw {file} e)"),
        ("seed = 4", "seed = 4\nblocks = 7", "(to take it in: arena extend {file} --blocks 7)"),
    ],
)
def test_the_refusal_to_go_on_names_the_command_that_takes_the_change_in(
    pairs: Path, was: str, becomes: str, said: str
) -> None:
    pairs.write_text(pairs.read_text().replace(was, becomes))
    with pytest.raises(WrongUse) as caught:
        playing(pairs, AtOnce())
    assert said.format(file=pairs, folder=pairs.parent) in caught.value.format_message()


@pytest.mark.parametrize("damage", ["gone", "other"])
def test_a_copy_that_is_not_as_it_was_made_is_refused_by_name(pairs: Path, damage: str) -> None:
    change(pairs, "add", "f", "--no-check")
    copy = pairs.parent / "runs/cup" / ENTRIES / events(pairs)[0].what.content.removeprefix("sha256:")
    if damage == "gone":
        shutil.rmtree(copy)
    else:
        (copy / "bot.py").chmod(0o600)
        (copy / "bot.py").write_text("other")
    with pytest.raises(
        WrongUse, match=f"the copy of f.*{'no such folder' if damage == 'gone' else 'not as it was made'}"
    ):
        playing(pairs, AtOnce())


def test_labels_of_a_forged_change_act_on_no_terminal(pairs: Path) -> None:
    """A ledger may come from anybody."""
    change(pairs, "add", "f", "--no-check")
    playing(pairs, AtOnce())
    with closing(sqlite3.connect(pairs.parent / "runs/cup" / LEDGER)) as book:
        book.execute("""UPDATE events SET data = replace(data, '"label":"f"', '"label":"f\\u001b[2J<b>"')""")
        book.commit()
    for command in (["entry", "list"], ["report"]):
        shown = CliRunner().invoke(main, [*command, str(pairs)])
        assert 0 == shown.exit_code
        assert "\x1b" not in shown.stdout
        assert r"f\x1b[2J<b>" in shown.stdout


@pytest.mark.parametrize(
    "data", ['{"type":"withdrawn","entrant":9}', '{"type":"withdrawn","entrant":0}', '{"type":"extended"}']
)
def test_forged_changes_that_make_no_sense_are_refused_or_change_nothing(pairs: Path, data: str) -> None:
    kind = json.loads(data)["type"]
    with closing(sqlite3.connect(pairs.parent / "runs/cup" / LEDGER)) as book:
        row = ("now", 3, kind, data)
        book.executemany("INSERT INTO events (at, block, kind, data) VALUES (?, ?, ?, ?)", [row, row])
        book.commit()
    for command in (["entry", "list"], ["report"], ["extend", "--blocks", "2"], ["entry", "add"]):
        done = change(pairs, "add", "f", "--no-check") if "add" in command else None
        done = done or CliRunner().invoke(main, [*command[:2], str(pairs), *command[2:]])
        assert done.exit_code in {0, WRONG_USE}, done.output
        assert "fault of the arena" not in done.stderr
    if kind == "withdrawn":
        with pytest.raises(WrongUse, match=r"ledger\.sqlite: event \d concerns entrant"):
            playing(pairs, AtOnce())
