"""Notices to a host: what is worth one, and that none holds a secret."""

import json
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from arena.commands.main import main
from arena.commands.tournament import _without_secret
from arena.config.tournament_file import read_tournament
from arena.errors import WRONG_USE, MachineCannot, Stopped, WrongUse
from arena.schedule.round_robin import round_robin
from arena.tournament.notices import Notice, NoticeObserver
from arena.tournament.observers import Observers
from arena.tournament.results_folder import held
from protocol.refusals import Conduct
from referee.host.plan import AttemptResult, Plan
from tests.arena.cups import play_cup
from tests.arena.stand_in import AtOnce, result
from tests.arena.tournament.test_run import TEXT
from tests.arena.tournament.test_runner import Heard

MATCHES = 12


class Badly(AtOnce):
    """A player crashes in every match; the first attempts are void."""

    def __init__(self, *, crashes: str = "", voids: Sequence[str] = (), **more: Any) -> None:
        super().__init__(**more)
        self._crashes = crashes
        self._voids = list(voids)

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> AttemptResult:
        done = await super().__call__(plan, players, transcript=transcript)
        if self._voids:
            return replace(done, outcome=None, void=self._voids.pop(0))
        return replace(
            done, conduct=tuple(Conduct.CRASHED if each == self._crashes else Conduct.OK for each in players)
        )


def told(folder: Path, play: AtOnce, table: str = "", text: str = TEXT) -> list[Notice]:
    """Return the notices of a tournament that is played to its end, or until it stops."""
    found: list[Notice] = []
    try:
        play_cup(_file(folder, table, text), play, notify=found.append)
    except* (MachineCannot, Stopped, WrongUse):
        pass
    return found


def _file(folder: Path, table: str, text: str = TEXT) -> Path:
    file = folder / "cup.toml"
    file.write_text(text + table)
    return file


def texts(found: list[Notice]) -> list[tuple[str, str]]:
    return [(one.event, one.text) for one in found]


def test_the_end_is_told_once(tmp_path: Path) -> None:
    (over,) = told(tmp_path, AtOnce())
    assert ("over", "cup", MATCHES) == (over.event, over.tournament, over.count)
    assert re.fullmatch("cup: all 12 matches are played; first is mist_[a-z]+", over.text)
    assert [] == told(tmp_path, AtOnce())


def test_a_failing_bot_is_reported_after_a_number_of_matches_and_each_time_it_doubles(tmp_path: Path) -> None:
    found = told(tmp_path, Badly(crashes="mist_hunter"), "[notices]\nfailing_after = 2\n")
    assert [2, 4, 8] == [one.count for one in found if one.event == "failing"]
    assert (
        "cup: mist_hunter has failed in 2 matches, most recently: crashed",
        "mist_hunter",
        Conduct.CRASHED,
    ) == (
        found[0].text,
        found[0].bot,
        found[0].conduct,
    )


def test_failures_before_a_stop_still_count(tmp_path: Path) -> None:
    table = "[notices]\nfailing_after = 2\n"
    stopped = Badly(crashes="mist_hunter", fails_after=9, failure=Stopped(signal.SIGTERM))
    first, second = told(tmp_path, stopped, table), told(tmp_path, Badly(crashes="mist_hunter"), table)
    assert "stopped" == first[-1].event
    counts = [one.count for found in (first, second) for one in found if one.event == "failing"]
    assert [2, 4, 8] == counts


def test_a_second_arena_that_is_refused_sends_no_notice(tmp_path: Path) -> None:
    """The first one plays on."""
    with held(tmp_path / "runs/cup"):
        assert [] == told(tmp_path, AtOnce())


def test_void_attempts_in_a_row_are_told_of_and_no_folder_is_named(tmp_path: Path) -> None:
    reason = f"{tmp_path}/runs/cup/transcripts/00001a.jsonl: cannot be written: No space left on device"
    found = told(tmp_path, Badly(voids=[reason]), "[notices]\nvoid_after = 1\n")
    why = "…/00001a.jsonl: cannot be written: No space left on device"
    assert [("void", f"cup: a block was void once, most recently because {why}")] == texts(found)[:1]


def test_a_series_of_void_blocks_ends_with_a_match_that_is_not(tmp_path: Path) -> None:
    tournament = read_tournament(_file(tmp_path, "[notices]\nvoid_after = 2\n"))
    found: list[Notice] = []
    watch = NoticeObserver(tournament, found.append)
    match = next(iter(round_robin(2, 1, 1))).matches[0]
    done = result(Plan(match="m", game="g", variant="v", seed=1), ("a", "b"), Path("t"))
    for voids in (1, 3, 8):
        for _ in range(voids):
            watch.void(match, "no memory", 0)
        watch.ended(match, done)
    assert [2, 2, 4, 8] == [one.count for one in found]
    assert "cup: a block was void 4 times in a row, most recently because no memory" == found[2].text


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (Stopped(signal.SIGTERM), "cup: stopped: by signal 15"),
        (
            MachineCannot("/a/b/c.sqlite: database or disk is full"),
            "cup: stopped: …/c.sqlite: database or disk is full; kept: 2 matches that count",
        ),
        (WrongUse("seed was 815, is 4711"), "cup: stopped: the arena's last line says why"),
    ],
)
def test_a_notice_of_a_stop_names_the_cause(tmp_path: Path, failure: Exception, said: str) -> None:
    assert [("stopped", said)] == texts(told(tmp_path, AtOnce(fails_after=3, failure=failure)))


def test_terms_that_have_changed_are_told_of_without_the_seed(tmp_path: Path) -> None:
    told(tmp_path, AtOnce())
    found = told(tmp_path, AtOnce(), text=TEXT.replace("seed = 4", "seed = 4711"))
    assert [("stopped", "cup: stopped: the arena's last line says why")] == texts(found)


def test_only_the_chosen_events_are_sent(tmp_path: Path) -> None:
    table = '[notices]\nevents = ["stopped"]\nfailing_after = 1\n'
    assert [] == told(tmp_path, Badly(crashes="mist_hunter"), table)


@pytest.mark.parametrize("name", ["<!channel>", "@everyone", "[x](http:)", "&lt;"])
def test_a_name_is_no_mention_and_no_link_in_a_chat(tmp_path: Path, name: str) -> None:
    (found,) = told(tmp_path, AtOnce(), f'results = "runs/{name}"\n')
    assert name == found.tournament
    assert not set("<>&@[]") & set(found.text)


def test_notices_are_no_term_of_a_tournament(tmp_path: Path) -> None:
    """So they may be changed under way, and the ledger has nothing of them."""
    told(tmp_path, AtOnce(fails_after=3, failure=Stopped(2)), '[notices]\nurl = "https://chat/hook/S3CRET"\n')
    assert ["over"] == [one.event for one in told(tmp_path, AtOnce())]
    for file in (tmp_path / "runs").rglob("*"):
        assert file.is_dir() or b"S3CRET" not in file.read_bytes()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('url = "ftp://host/S3CRET"', "notices.url: is not a URL of the form https://HOST/PATH"),
        ('url = "https:///S3CRET"', "notices.url: is not a URL of the form https://HOST/PATH"),
        ('url = "https://[S3CRET"', "notices.url: is not a URL of the form https://HOST/PATH"),
        ('url = "https://host:S3CRET/"', "notices.url: is not a URL of the form https://HOST/PATH"),
        ('url = "https://host/S3\\nCRET"', "notices.url: holds what no URL holds"),
        (f'url = "https://host/{"S3CRET" * 999}"', "notices.url: is longer than 2000 characters"),
    ],
)
def test_a_url_that_is_none_is_refused_by_its_place_and_not_named(tmp_path: Path, table: str, said: str) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(f"{TEXT}[notices]\n{table}\n")
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    assert f"{file}:6: {said}" == caught.value.format_message()


def test_the_option_is_refused_as_well_and_not_named(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(TEXT)
    for how in ({"args": ["--notify", "ftp://S3CRET"]}, {"args": [], "env": {"ARENA_NOTIFY": "ftp://S3CRET"}}):
        words: Any = ["tournament", str(tmp_path / "cup.toml"), *how["args"]]
        done = CliRunner().invoke(main, words, env=how.get("env"))  # type: ignore[arg-type]
        assert (WRONG_USE, "arena: --notify: is not a URL of the form https://HOST/PATH\n") == (
            done.exit_code,
            done.stderr,
        )


def test_the_command_to_go_on_is_said_without_the_url() -> None:
    words = ["tournament", "--notify", "https://h/S3CRET", "cup.toml"]
    assert ["tournament", "--notify", "URL", "cup.toml"] == _without_secret(words)
    assert ["--notify=URL", "a=b"] == _without_secret(["--notify=https://h/S3CRET=x", "a=b"])


def test_a_posted_notice_is_one_flat_object() -> None:
    notice = Notice(
        event="failing", tournament="cup", at="now", text="t", bot="b", conduct=Conduct.CRASHED, count=5
    )
    assert {
        "event": "failing",
        "tournament": "cup",
        "at": "now",
        "text": "t",
        "bot": "b",
        "conduct": "crashed",
        "count": 5,
    } == json.loads(msgspec.json.encode(notice))


def test_other_observers_are_notified_as_before(tmp_path: Path) -> None:
    watch, heard = NoticeObserver(read_tournament(_file(tmp_path, "")), list[Notice]().append), Heard()
    (first, _) = next(iter(round_robin(2, 1, 1))).matches
    watched = Observers((heard, watch))
    watched.void(first, "no memory", 0)
    watched.lost(first, "exit code 3")
    watched.ended(first, result(Plan(match="m", game="g", variant="v", seed=0), ("a", "b"), tmp_path / "t"))
    assert (["no memory"], [(0, 0, "exit code 3")], [first]) == (heard.voids, heard.losses, heard.done)
