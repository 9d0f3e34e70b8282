"""A bot is called by the competition's label wherever people read of it, whatever name its bot.toml has."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import Result

from arena.errors import DONE, WRONG_USE
from referee.bot_folder import BUILT_IN
from referee.match import Header, SeatHeader
from referee.transcript import read_transcript
from tests.builders.programs import invoke

WARNING = 'its bot.toml says name = "chiara"; tables and replays call it mallory'


def arena(*words: object) -> Result:
    ended = invoke(*words)
    assert DONE == ended.exit_code, ended.stderr
    return ended


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a tournament in which mallory's bot.toml has the name of her opponent."""
    place = tmp_path_factory.mktemp("cup")
    for label, sample in (("chiara", "mist_random"), ("mallory", "mist_hunter")):
        shutil.copytree(BUILT_IN / sample, place / label)
        manifest = place / label / "bot.toml"
        text = re.sub('^name = ".*"$', 'name = "chiara"', manifest.read_text(), flags=re.MULTILINE)
        manifest.write_text(text)
    file = place / "cup.toml"
    file.write_text(
        'game = "mist"\nbots = ["chiara", "mallory"]\nblocks = 2\nseed = 1\nisolation = "none"\n'
        "options.max_turns = 30\n"
    )
    arena("tournament", file, "--log", place / "cup.log")
    return file


def transcripts(cup: Path) -> list[Path]:
    return sorted(cup.parent.glob("runs/cup/transcripts/*.jsonl"))


def test_transcripts_have_the_label_and_behind_it_the_name_in_bot_toml(cup: Path) -> None:
    for transcript in transcripts(cup):
        header = next(read_transcript(transcript))
        assert isinstance(header, Header)
        assert {"chiara", "mallory"} == {bot.name for bot in header.bots}
        assert {"chiara": "", "mallory": "chiara 1.0"} == {bot.name: bot.manifest_text for bot in header.bots}
        seat = [bot.name for bot in header.bots].index("mallory")
        own = transcript.with_suffix(f".{seat}.own")
        own.write_text(arena("replay", "--seat", seat, transcript).stdout)
        header = next(read_transcript(own))
        assert isinstance(header, SeatHeader)
        assert ("mallory", "chiara 1.0") == (header.bot.name, header.bot.manifest_text)
        assert f"the file of seat {seat} alone (mallory (manifest: chiara 1.0))" in arena("replay", own).stdout


def test_the_table_and_each_replay_name_the_same_winner(cup: Path, tmp_path: Path) -> None:
    standings = json.loads(arena("report", cup, "--json").stdout)["bots"]
    assert ["mallory", "chiara"] == [bot["bot"] for bot in standings]
    places: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(arena("results", cup, "--csv").stdout.splitlines()):
        places.setdefault(row["transcript"], {})[row["bot"]] = row["place"]
    assert len(transcripts(cup)) == len(places)
    for transcript in transcripts(cup):
        said = arena("replay", transcript).stdout
        assert "mallory (manifest: chiara 1.0)" in said
        first, second = sorted(places[transcript.name], key=places[transcript.name].__getitem__)
        tied = (f": {first} and {second}\n", f": {second} and {first}\n")
        assert said.endswith((f": {first}, then {second}\n", *tied))
        page = tmp_path / "page.html"
        arena("replay", "--html", page, transcript)
        data = json.loads(page.read_text().split('type="application/json">')[1].split("</script>")[0])
        assert places[transcript.name] == {
            name: str(place) for name, place in zip(data["names"], data["places"], strict=True)
        }
        manifests = dict(zip(data["names"], data["manifests"], strict=True))
        assert {"mallory": "chiara 1.0", "chiara": ""} == manifests
        seat = data["names"].index("mallory")
        assert f"seat {seat} (mallory)" in arena("replay", "--boards", "host", transcript).stdout


def test_results_and_the_operators_log_have_the_label(cup: Path) -> None:
    rows = list(csv.DictReader(arena("results", cup, "--bot", "mallory", "--csv").stdout.splitlines()))
    assert 8 == len(rows)
    assert {"mallory", "chiara"} == {row["bot"] for row in rows}
    assert all("mallory" in row["transcript"] for row in rows)
    begun = [json.loads(line) for line in (cup.parent / "cup.log").read_text().splitlines()]
    bots = {tuple(line["bots"]) for line in begun if line["event"] == "match_begun"}
    assert {("chiara", "mallory"), ("mallory", "chiara")} == bots


def test_a_check_says_where_a_bot_calls_itself_otherwise(cup: Path, tmp_path: Path) -> None:
    said = arena("check", cup, "--results", tmp_path / "field").stdout
    assert f"{cup}:2: bots[1]: mallory: {WARNING}" in said
    assert "bots[0]: chiara: its bot.toml" not in said
    words = ("--game", "mist", "--matches", 1, "--isolation", "none")
    said = arena("check", cup.parent / "mallory", *words, "--results", tmp_path / "bot").stdout
    assert f"mallory: {WARNING}" in said
    header = next(read_transcript(tmp_path / "bot" / "mist-01.jsonl"))
    assert ["mallory", "mist_random"] == [bot.name for bot in header.bots]  # type: ignore[union-attr]
    found = json.loads(arena("check", "mist_random", *words, "--results", tmp_path / "sample", "--json").stdout)
    assert ("mist_random", "mist_random") == (found["bot"], found["name"])


def test_entry_add_says_it_too_and_refuses_a_label_that_looks_like_another(cup: Path) -> None:
    shutil.copytree(cup.parent / "mallory", cup.parent / "late" / "mallory")
    late = cup.parent / "late" / "mallory"
    refused = invoke("entry", "add", cup, late, "--label", "Ma11ory")
    assert WRONG_USE == refused.exit_code
    assert "Ma11ory: looks like mallory: they differ in letters of the same shape; give another --label" in (
        refused.stderr
    )
    added = arena("entry", "add", cup, late, "--label", "zoe")
    assert 'check: zoe: its bot.toml says name = "chiara"; tables and replays call it zoe' in added.stderr
    assert "zoe will enter at block 3 or later" in added.stderr


def test_a_match_is_told_by_the_folders_names(cup: Path, tmp_path: Path) -> None:
    words = ("match", "mist", cup.parent / "mallory", cup.parent / "chiara", "--isolation", "none")
    said = arena(*words, "--transcripts", tmp_path, "--options", '{"max_turns": 10}').stdout
    assert re.search(r"^ *0 +mallory ", said, re.MULTILINE)
    (transcript,) = tmp_path.glob("*.jsonl")
    assert "mallory (manifest: chiara 1.0), chiara; seed" in arena("replay", transcript).stdout
