"""`arena team` and `arena serve --play`: teams, invitations that open them, and the server's processes."""

import json
import re
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arena.accounts import Accounts, Database
from arena.commands.main import main
from arena.commands.serve import ServeOptions, server_processes, serving_of_teams
from arena.submissions import Competition
from arena.workers import cores
from tests.builders.tournaments import write_tournament


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    return write_tournament(tmp_path / "cup.toml", ["mist_random", "mist_cautious"])


def run(*words: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["team", *map(str, words)])
    assert done.exit_code == code, done.output
    return done.output


def invited_to(cup: Path, said: str) -> list[str | None]:
    """Return the teams that the printed links lead to."""
    with closing(Database(Competition.read(cup).database)) as database:
        accounts = Accounts(database)
        return [accounts.invited_to(secret) for secret in re.findall(r"/join#(\S+)", said)]


def test_each_team_gets_a_link_of_its_own(cup: Path) -> None:
    said = run("add", cup, "Red Pandas", "Blue Herons", "--url", "https://arena.example/x/")
    assert said.count("https://arena.example/x/join#") == 2
    assert invited_to(cup, said) == ["Red Pandas", "Blue Herons"]
    assert invited_to(cup, run("invite", cup, "Red Pandas", "--uses", "3")) == ["Red Pandas"]
    assert invited_to(cup, run("host", cup)) == [""]


def test_teams_are_listed_closed_and_opened(cup: Path) -> None:
    run("add", cup, "Red Pandas")
    assert "Red Pandas is closed" in run("close", cup, "Red Pandas")
    assert [
        (team["name"], team["closed"] is None) for team in json.loads(run("list", cup, "--json"))["teams"]
    ] == [("Red Pandas", False)]
    run("close", cup, "Red Pandas", "--open")
    assert "open" in run("list", cup)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("add", "red pandas"), "looks like Red Pandas"),
        (("add", "x" * 61), "1 to 60 characters"),
        (("invite", "Nobody"), "there is no such team"),
        (("close", "Nobody"), "there is no such team"),
        (("host", "--url", "ftp://x"), "--url"),
    ],
)
def test_wrong_use_is_said_in_a_line(cup: Path, words: tuple[str, ...], text: str) -> None:
    run("add", cup, "Red Pandas")
    verb, *more = words
    assert text in run(verb, cup, *more, code=2)


@pytest.mark.parametrize(
    ("said", "option", "host", "expected"),
    [
        ("", None, "127.0.0.1", True),
        ("", None, "0.0.0.0", False),  # noqa: S104 - nothing listens
        ("true", None, "0.0.0.0", True),  # noqa: S104
        ("true", False, "127.0.0.1", False),
        ("false", None, "127.0.0.1", False),
        ("false", True, "127.0.0.1", True),
    ],
)
def test_people_may_play_as_the_command_line_says_else_the_file_else_where_it_listens(
    tmp_path: Path, said: str, option: bool | None, host: str, expected: bool
) -> None:
    lines = ["[server]", f"practice = {said}"] if said else []
    file = write_tournament(tmp_path / "cup.toml", ["mist_random", "mist_cautious"], *lines)
    asked = ServeOptions(practice=option, host=host, places=(file,))
    assert expected == serving_of_teams(asked, Competition.read(file)).has_practice


class TestProcesses:
    def test_each_process_of_the_server_understands_its_command_line(self, cup: Path, tmp_path: Path) -> None:
        key = tmp_path / "host.key_secret"
        asked = ServeOptions(
            play=True,
            port=8001,
            url="https://arena.example/",
            delay=None,
            practice=False,
            behind_proxy=True,
            embed=("https://example.org",),
            on="dask://127.0.0.1:8786",
            listen="127.0.0.1:5555",
            key=key,
            log="arena.log",
        )
        processes = server_processes(Competition.read(cup), asked)
        assert [each.name for each in processes] == ["play", "judge", "serve"]
        for process in processes:
            *_, module, name = process.command[:5]
            assert module == "arena"
            command = main.get_command(click.Context(main), name)
            assert command is not None
            context = command.make_context(name, list(process.command[5:]))
            if name == "serve":
                assert (context.params["teams"], context.params["url"]) == (True, "https://arena.example/")

    def test_a_season_is_played_as_one(self, tmp_path: Path) -> None:
        bots = ["mist_random", "mist_cautious"]
        file = write_tournament(tmp_path / "s.toml", bots, "[[stages]]", 'name = "groups"')
        assert "season" in server_processes(Competition.read(file), ServeOptions(play=True))[0].command

    def test_a_core_is_left_to_people_who_play_unless_the_host_says_otherwise(self, cup: Path) -> None:
        def at_once(competition: Competition, practice: bool | None = None) -> list[str]:
            command = server_processes(competition, ServeOptions(play=True, practice=practice))[0].command
            return [after for word, after in pairwise(command) if word == "--concurrency"]

        competition = Competition.read(cup)
        assert [str(max(1, cores() - 1))] == at_once(competition)
        assert [] == at_once(competition, practice=False)
        cup.write_text(f"concurrency = 7\n{cup.read_text()}")
        assert [] == at_once(Competition.read(cup))

    @pytest.mark.parametrize("words", [("--play",), ("--teams",), ("--play", "--port", "0")])
    def test_a_server_of_teams_has_one_file_and_one_port(self, cup: Path, words: tuple[str, ...]) -> None:
        files = [cup] if "0" in words else [cup, cup]
        done = CliRunner().invoke(main, ["serve", *map(str, files), *words])
        assert done.exit_code == 2
        assert f"{words[0]}: " in done.output
