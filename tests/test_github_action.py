"""The composite GitHub Action, run without GitHub: its steps' own scripts, a made-up environment and a server."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.docs_pages import blocks, page

ROOT = Path(__file__).parent.parent
ACTION = ROOT / ".github/actions/regress"
PLAY, COMMENT = "Is head better than base?", "Comment on the pull request"
HOSTILE = "x\r\n::error file=/etc/passwd,line=1::owned\n::set-output name=verdict::accepted%0A::add-mask::a,b:c"
WON = {"verdict": "accepted", "headline": "head wins 34 of 34", "answer": "head is better", "problems": []}


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text())
    return found


def step(action: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in action["runs"]["steps"] if each.get("name") == name)
    return found


class GitHub:
    """A runner's folder and variables, and the API of a server that knows one pull request."""

    def __init__(self, action: dict[str, Any], folder: Path, url: str) -> None:
        self.action, self.folder = action, folder
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "RUNNER_TEMP": str(folder),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_REPOSITORY": "me/bots",
            "GITHUB_API_URL": url,
            "ACTIONS_RUNTIME_TOKEN": "secret",
        }
        self.event(pull_request={"number": 7, "head": {"repo": {"full_name": "me/bots"}}, "base": {"sha": "b4se"}})

    def event(self, **content: Any) -> None:
        (self.folder / "event.json").write_text(json.dumps(content))

    def arena(self, script: str) -> None:
        """Put a program in the place of the installed arena's Python; of `regress.py` it runs the real one."""
        python = self.folder / "arena/bin/python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(
            f'#!/bin/sh\nif [ "$1" != -m ]; then exec {shlex.quote(sys.executable)} "$@"; fi\n{script}\n'
        )
        python.chmod(0o755)

    def run(self, name: str, **inputs: str) -> "subprocess.CompletedProcess[str]":
        """Run a step as a runner does: its `env` with inputs filled in, its `run` by bash."""
        given = {key: str(value.get("default", "")) for key, value in self.action["inputs"].items()}
        given |= {"game": "mist", "bot": "my_bot", "token": "t0ken", **inputs}
        values = {f"inputs.{key}": value for key, value in given.items()} | {"github.action_path": str(ACTION)}
        found = step(self.action, name)
        env = {
            key: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda each: values[each[1]], value)
            for key, value in found["env"].items()
        }
        return subprocess.run(  # noqa: S603 - the action's own words
            ["bash", "-eo", "pipefail", "-c", found["run"]],  # noqa: S607 - as a runner does
            cwd=self.folder, env=self.env | env, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip


@pytest.fixture
def api() -> Iterator[tuple[str, list[tuple[str, str, Any]], list[dict[str, Any]]]]:
    """Run a server; yield its address, the requests that change something, and its comments."""
    changed: list[tuple[str, str, Any]] = []
    comments: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self, content: Any, code: int = 200) -> None:
            body = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            if self.path.startswith("/repos/me/bots/pulls?"):
                self._answer([{"number": 9, "head": {"sha": "old"}}, {"number": 8, "head": {"sha": "sh4"}}])
            else:
                self._answer(comments)

        def _change(self) -> None:
            if self.headers["Authorization"] != "Bearer t0ken":
                self._answer({}, 403)
                return
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            changed.append((self.command, self.path, content))
            self._answer({})

        do_POST = do_PATCH = _change  # noqa: N815 - the library's

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", changed, comments
    server.shutdown()
    server.server_close()


@pytest.fixture
def github(action: dict[str, Any], tmp_path: Path, api: Any) -> GitHub:
    return GitHub(action, tmp_path, api[0])


def says(found: Any, code: int = 0) -> str:
    """Write a fake arena that prints this, adds a summary, and records its words and variables."""
    return (
        'echo "$@" > "$HOME/words"; env > "$HOME/variables"\n'
        'while [ $# -gt 0 ]; do if [ "$1" = --markdown ]; then echo "## the summary" >> "$2"; fi; shift; done\n'
        f"echo '::error::from a bot' >&2; printf '%s' {shlex.quote(json.dumps(found))}; exit {code}"
    )


def commands(output: str) -> list[str]:
    """Return the commands that a runner would take: not those between `stop-commands` and its token."""
    taken, token = [], None
    for line in output.splitlines():
        if token is not None:
            token = None if line.strip() == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.lstrip().startswith("::"):
            taken.append(line)
    assert token is None
    return taken


class TestTheFile:
    def test_it_is_a_composite_action_whose_steps_name_their_shell(self, action: dict[str, Any]) -> None:
        assert {"name", "description", "inputs", "outputs", "runs"} <= action.keys()
        assert "composite" == action["runs"]["using"]
        for each in action["runs"]["steps"]:
            assert ("uses" in each) != ("run" in each)
            assert "uses" in each or "bash" == each["shell"]

    def test_paths_that_it_refers_to_exist(self, action: dict[str, Any]) -> None:
        text = (ACTION / "action.yml").read_text()
        assert set(re.findall(r"inputs\.(\w+)", text)) == set(action["inputs"])
        ids = {each["id"] for each in action["runs"]["steps"] if "id" in each}
        assert set(re.findall(r"steps\.(\w+)\.", text)) <= ids
        assert all(
            each["description"].strip() for each in (*action["inputs"].values(), *action["outputs"].values())
        )

    def test_no_input_becomes_part_of_a_script_and_the_bots_step_has_no_token(
        self, action: dict[str, Any]
    ) -> None:
        assert not any("${{" in each.get("run", "") for each in action["runs"]["steps"])
        assert "TOKEN" not in step(action, PLAY)["env"]
        assert ["TOKEN"] == [key for key, value in step(action, COMMENT)["env"].items() if "token" in value]

    @pytest.mark.parametrize("name", ["regression.yml", "regression-comment.yml"])
    def test_the_examples_use_it_as_it_is(self, action: dict[str, Any], name: str) -> None:
        workflow = yaml.safe_load((ROOT / "docs/examples" / name).read_text())
        (job,) = workflow["jobs"].values()
        (used,) = [each for each in job["steps"] if "/.github/actions/regress@" in each.get("uses", "")]
        assert used["with"].keys() <= action["inputs"].keys()
        assert {"game", "bot"} <= used["with"].keys()
        # YAML reads the key `on` as true.
        assert "pull_request_target" not in workflow[True]

    def test_pages_use_the_actions_as_they_are(self, action: dict[str, Any]) -> None:
        used = {}
        for block in blocks("yaml step"):
            (one,) = yaml.safe_load(block.text)
            name = one["uses"].removeprefix("OWNER/ARENA/.github/actions/").removesuffix("@main")
            inputs = yaml.safe_load((ROOT / ".github/actions" / name / "action.yml").read_text())["inputs"]
            required = {key for key, value in inputs.items() if value.get("required")}
            assert required <= one["with"].keys() <= inputs.keys()
            used[name] = block.page.name
        assert {"regress": "regression.md", "submit": "server.md"} == used
        told = page("docs/regression.md").split("| input | |")[1].split("\n\n")[0]
        assert action["inputs"].keys() <= set(re.findall(r"`(\w+)`", told))

    def test_the_installed_versions_are_those_of_the_lock_without_the_development_ones(self) -> None:
        script = (ACTION / "install").read_text()
        pattern = re.search(r"sed -n '(.+)'", script)
        assert pattern is not None
        made = subprocess.run(  # noqa: S603 - as above
            ["sed", "-n", pattern[1], str(ROOT / "requirements.lock")],  # noqa: S607 - as the script does
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        assert (ROOT / "requirements.lock").read_text().count("==") >= len(made) > 100
        assert all(re.match(r"[\w.-]+==[\w.]+( ; .+)?$", line) for line in made)
        assert "[dev]" not in script


class TestPlay:
    def test_a_test_that_is_accepted_ends_well_and_tells_everything(self, github: GitHub) -> None:
        github.arena(says(WON))
        done = github.run(PLAY, question="not-worse", slower="1.2", field="mist_random\n  mist_hunter\n")
        assert 0 == done.returncode, done.stderr
        words = (github.folder / "words").read_text().split()
        assert "-m arena regress mist --base my_bot@b4se --head my_bot" == " ".join(words[:8])
        assert ["--question", "not-worse", "--slower", "1.2"] == words[8:12]
        assert ["--field", "mist_random", "--field", "mist_hunter"] == words[words.index("--field") :][:4]
        assert "## the summary\n" == (github.folder / "summary").read_text()
        outputs = dict(line.split("=", 1) for line in (github.folder / "output").read_text().splitlines())
        assert ("accepted", "head wins 34 of 34") == (outputs["verdict"], outputs["headline"])
        assert ["::notice title=arena regress::head wins 34 of 34 head is better"] == commands(done.stdout)

    def test_a_summary_of_wide_letters_has_as_many_bytes_as_github_shows(self, github: GitHub) -> None:
        prints = f"{sys.executable} -c \"print('\N{EURO SIGN}' * 400_000)\""
        github.arena(says(WON).replace('echo "## the summary"', prints))
        done = github.run(PLAY)
        assert 0 == done.returncode, done.stderr
        summary = (github.folder / "summary").read_bytes()
        assert 800_000 < len(summary) <= 2**20
        assert {"\N{EURO SIGN}"} == set(summary.decode())

    def test_the_arena_and_its_bots_see_nothing_of_the_runner(self, github: GitHub) -> None:
        github.arena(says(WON))
        github.run(PLAY)
        variables = (github.folder / "variables").read_text()
        assert not re.search(r"^(GITHUB|ACTIONS|RUNNER)_", variables, re.MULTILINE)
        assert "t0ken" not in variables

    def test_a_failure_of_head_is_marked_in_its_file(self, github: GitHub) -> None:
        place = {
            "bot": "head",
            "text": "SyntaxError: invalid syntax (bot.py:21)",
            "file": "my_bot/bot.py",
            "line": 21,
        }
        github.arena(says({"verdict": "rejected", "broken": "…", "problems": [place]}, code=1))
        done = github.run(PLAY)
        assert 1 == done.returncode
        assert [
            "::error title=arena%3A head,file=my_bot/bot.py,line=21::SyntaxError: invalid syntax (bot.py:21)"
        ] == commands(done.stdout)

    def test_output_of_bots_makes_no_command(self, github: GitHub) -> None:
        place = {"bot": HOSTILE, "text": HOSTILE * 99, "file": HOSTILE, "line": 1}
        found = {"verdict": "rejected", "headline": HOSTILE, "answer": HOSTILE, "problems": [place] * 99}
        github.arena(f"echo {shlex.quote(HOSTILE)} >&2\n{says(found, code=1)}")
        done = github.run(PLAY)
        taken = commands(done.stdout + done.stderr.replace("::error::from a bot", ""))
        assert 10 == len([line for line in taken if line.startswith("::error title=arena%3A x")])
        assert all(len(line) < 5_000 for line in taken)
        outputs = (github.folder / "output").read_text().splitlines()
        assert ["verdict", "headline", "folder"] == [line.partition("=")[0] for line in outputs]

    @pytest.mark.parametrize(("undecided", "code"), [("pass", 0), ("fail", 3)])
    def test_an_undecided_test_warns_and_fails_only_if_asked_to(
        self, github: GitHub, undecided: str, code: int
    ) -> None:
        github.arena(says({"verdict": "undecided", "headline": "head wins 5 of 9"}, code=3))
        done = github.run(PLAY, undecided=undecided)
        assert code == done.returncode
        assert ["::warning title=arena regress::undecided: head wins 5 of 9"] == commands(done.stdout)

    def test_no_answer_is_an_error_with_the_arenas_exit_code(self, github: GitHub) -> None:
        github.arena("echo 'arena: no such game' >&2; exit 2")
        done = github.run(PLAY)
        assert 2 == done.returncode
        assert "no answer (exit code 2)" in (github.folder / "summary").read_text()
        assert 1 == len(commands(done.stdout))

    def test_numbers_take_the_place_of_the_question(self, github: GitHub) -> None:
        github.arena(says(WON))
        github.run(PLAY, arguments="--elo0 0 --elo1 '5' --seed 3", base="main bot")
        words = (github.folder / "words").read_text()
        assert "--question" not in words
        assert "--base main bot --head" in words
        assert words.rstrip().split(" --json")[0].endswith("--elo0 0 --elo1 5 --seed 3")

    def test_the_real_arena_names_the_line_of_a_head_that_cannot_start(self, github: GitHub) -> None:
        bot = github.folder / "my_bot"
        bot.mkdir()
        settings = ['name = "m"', 'version = "1"', 'command = ["python", "bot.py"]', 'games = ["mist"]']
        (bot / "bot.toml").write_text("\n".join(settings))
        (bot / "bot.py").write_text("import os\n\ndef decide(:\n")
        github.arena(f'exec {shlex.quote(sys.executable)} "$@"')
        done = github.run(PLAY, base="mist_random", arguments="--startup-ms 60000")
        assert 1 == done.returncode, done.stderr
        (marked,) = commands(done.stdout)
        assert marked.startswith("::error title=arena%3A head,file=my_bot/bot.py,line=3::rejected: head (my_bot)")
        assert b"<failure" in (github.folder / "arena-regress/junit.xml").read_bytes()
        assert "(bot.py:3)" in (github.folder / "arena-regress/comment.md").read_text()


class TestComment:
    @pytest.fixture(autouse=True)
    def played(self, github: GitHub) -> None:
        github.arena(says(WON))
        github.run(PLAY)

    def test_the_first_one_is_new_and_the_next_one_the_same(self, github: GitHub, api: Any) -> None:
        _, changed, comments = api
        assert 0 == github.run(COMMENT).returncode
        ((method, path, content),) = changed
        assert ("POST", "/repos/me/bots/issues/7/comments") == (method, path)
        assert content["body"].endswith("## the summary\n")
        person = {"id": 1, "user": {"type": "User"}, "body": content["body"]}
        other = {"id": 2, "user": {"type": "Bot"}, "body": "<!-- arena regress 0123456789abcdef -->\n"}
        comments += [person, other, {"id": 3, "user": {"type": "Bot"}, "body": content["body"]}]
        github.run(COMMENT)
        assert ("PATCH", "/repos/me/bots/issues/comments/3", content) == changed[-1]
        github.run(COMMENT, bot="another_bot")
        assert "POST" == changed[-1][0]

    @pytest.mark.parametrize("repository", [{"full_name": "them/bots"}, None])
    def test_a_fork_has_the_summary_only(self, github: GitHub, api: Any, repository: Any) -> None:
        github.event(pull_request={"number": 7, "head": {"repo": repository}, "base": {"sha": "b4se"}})
        done = github.run(COMMENT)
        assert (0, []) == (done.returncode, api[1])
        assert "a pull request from a fork gets no token that may comment" in done.stdout

    def test_without_the_right_to_write_it_says_which_is_missing(self, github: GitHub, api: Any) -> None:
        done = github.run(COMMENT, token="wrong")
        assert (0, []) == (done.returncode, api[1])
        assert "GitHub refused the comment (403): does the job have `pull-requests: write`?" in done.stdout

    def test_a_server_that_is_gone_fails_nothing(self, github: GitHub) -> None:
        github.env["GITHUB_API_URL"] = "http://127.0.0.1:9"
        done = github.run(COMMENT)
        assert 0 == done.returncode
        assert "GitHub could not be reached" in done.stdout

    def test_a_run_without_rights_is_commented_on_by_one_that_has_them(self, github: GitHub, api: Any) -> None:
        """The pull request is found by what GitHub says, and the text calls nobody."""
        run = {"head_sha": "sh4", "head_branch": "better", "head_repository": {"owner": {"login": "them"}}}
        github.event(workflow_run=run)
        body = github.folder / "theirs.md"
        body.write_text("<!-- arena regress x -->\n@everyone" + "x" * 70_000)
        done = github.run(COMMENT, play="false", body=str(body))
        assert 0 == done.returncode, done.stderr
        ((method, path, content),) = api[1]
        assert ("POST", "/repos/me/bots/issues/8/comments") == (method, path)
        assert "@everyone" not in content["body"]
        assert len(content["body"]) < 65_536

    def test_without_a_pull_request_there_is_none(self, github: GitHub, api: Any) -> None:
        github.event(ref="refs/heads/main")
        assert "this is no pull request" in github.run(COMMENT).stdout
        assert [] == api[1]
