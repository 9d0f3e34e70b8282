"""What the action runs: `play` plays `arena regress` and tells GitHub what came of it, `comment` comments on it.

Only the standard library: `comment` runs where nothing is installed. `play` never has a token. What bots wrote is
in what it prints, so that GitHub is told not to take commands meanwhile, and what is told to it is escaped.
"""

import json
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

MOST_SUMMARY = 900_000
"""Bytes of a job's summary, of which GitHub shows 1 MiB."""
MOST_COMMENT = 60_000
"""Characters of a comment, which GitHub takes up to 65,536 of."""
MOST_ANNOTATIONS = 10
"""GitHub shows so many of a step."""
MOST_TEXT = 1_000
PAGES, PER_PAGE = 10, 100
SECONDS = 30
UNDECIDED = 3
SECRET = ("GITHUB_", "ACTIONS_", "RUNNER_")
"""Variables of the runner: a bot without a sandbox would read them."""


def play(env: Mapping[str, str]) -> int:
    """Play the test and tell GitHub. Return the job's exit code."""
    folder = Path(env["RUNNER_TEMP"]) / "arena-regress"
    folder.mkdir(exist_ok=True)
    found, code = _played(env, folder)
    verdict = str(found.get("verdict", ""))
    summary = _read(folder / "summary.md") or f"## arena regress: no answer (exit code {code})\n"
    with Path(env["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as page:
        page.write(summary.encode()[:MOST_SUMMARY].decode(errors="ignore"))
    (folder / "comment.md").write_text(_marker(env) + summary[:MOST_COMMENT], encoding="utf-8")
    for line in annotations(found, code):
        _say(line)
    outputs = {"verdict": verdict, "headline": str(found.get("headline", "")), "folder": str(folder)}
    with Path(env["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={' '.join(value.split())}\n" for name, value in outputs.items())
    if verdict == "undecided" and env.get("UNDECIDED") != "fail":
        return 0
    return code


def _played(env: Mapping[str, str], folder: Path) -> tuple[dict[str, Any], int]:
    """Run `arena regress`. Return what it found, and its exit code."""
    for name in ("summary.md", "junit.xml"):
        (folder / name).unlink(missing_ok=True)
    token = secrets.token_hex(16)
    words = [str(Path(env["RUNNER_TEMP"]) / "arena/bin/python"), "-m", "arena", *arguments(env), "--json"]
    words += ["--markdown", str(folder / "summary.md"), "--junit", str(folder / "junit.xml")]
    clean = {name: value for name, value in env.items() if not name.startswith(SECRET)}
    _say(f"::stop-commands::{token}")
    _say(shlex.join(words[2:]))
    with (folder / "regression.json").open("wb") as output:
        code = subprocess.run(words, stdout=output, env=clean, check=False).returncode  # noqa: S603 - our own words
    _say(f"\n::{token}::")
    try:
        found = json.loads(_read(folder / "regression.json"))
    except ValueError:
        found = {}
    return (found if isinstance(found, dict) else {}), code


def arguments(env: Mapping[str, str]) -> list[str]:
    """Return the words of `arena regress` that the inputs ask for."""
    bot = env["BOT"]
    words = ["regress", env["GAME"], "--base", env.get("BASE") or f"{bot}@{_base_commit(env)}", "--head", bot]
    for name in ("question", "slower", "larger", "blocks", "isolation"):
        if value := env.get(name.upper(), "").strip():
            words += [f"--{name}", value]
    more = shlex.split(env.get("ARGUMENTS", ""))
    if any(word.partition("=")[0] in ("--elo0", "--elo1", "--low", "--high") for word in more):
        # Numbers are a question of their own.
        place = words.index("--question") if "--question" in words else len(words)
        del words[place : place + 2]
    for opponent in env.get("FIELD", "").split("\n"):
        if opponent.strip():
            words += ["--field", opponent.strip()]
    return words + more


def _base_commit(env: Mapping[str, str]) -> str:
    """Return the commit that a pull request would be merged into, or else the one before."""
    pull_request = _event(env).get("pull_request")
    return str(pull_request["base"]["sha"]) if pull_request else "HEAD~1"


def _event(env: Mapping[str, str]) -> dict[str, Any]:
    path = env.get("GITHUB_EVENT_PATH", "")
    event = json.loads(_read(Path(path)) or "{}") if path else {}
    return event if isinstance(event, dict) else {}


def annotations(found: Mapping[str, Any], code: int) -> Iterator[str]:
    """Yield GitHub's commands that mark the lines of a bot's files, and say how the test came out."""
    problems = found.get("problems", [])
    for each in problems[:MOST_ANNOTATIONS]:
        place = {"title": f"arena: {each['bot']}"}
        if each.get("file"):
            place |= {"file": each["file"], "line": str(each.get("line") or 1)}
        yield command("error", each["text"], place)
    verdict, title = found.get("verdict"), {"title": "arena regress"}
    said = f"{found.get('headline', '')} {found.get('answer', '')}".strip()
    if verdict == "accepted":
        yield command("notice", said, title)
    elif verdict == "undecided":
        yield command("warning", f"undecided: {said or 'base and head have the same content'}", title)
    elif verdict == "rejected" and not problems:
        yield command("error", said, title)
    elif verdict is None:
        yield command("error", f"arena regress gave no answer (exit code {code}); see its last line", title)


def command(name: str, text: str, properties: Mapping[str, str]) -> str:
    """Return a command for GitHub of which no text can make another one."""
    given = ",".join(
        f"{key}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in properties.items()
    )
    return f"::{name} {given}::{_escaped(text[:MOST_TEXT])}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def comment(env: Mapping[str, str]) -> int:
    """Write this test's comment, or the one that is there anew. A comment that cannot be made is no failure."""
    event, repository = _event(env), env["GITHUB_REPOSITORY"]
    text, why = _text(env, event, repository)
    if why:
        return _skip(why)
    try:
        api = _Api(env)
        number = event["pull_request"]["number"] if "pull_request" in event else _number(api, repository, event)
        if number is None:
            return _skip("no open pull request has this commit")
        _write(api, f"/repos/{repository}/issues", number, _marker(env), text)
    except HTTPError as error:
        return _skip(f"GitHub refused the comment ({error.code}): does the job have `pull-requests: write`?")
    except (URLError, TimeoutError) as error:
        return _skip(f"GitHub could not be reached for the comment: {error}")
    return 0


def _text(env: Mapping[str, str], event: Mapping[str, Any], repository: str) -> tuple[str, str]:
    """Return the comment's text, or why there is none."""
    body = env.get("BODY") or str(Path(env["RUNNER_TEMP"]) / "arena-regress/comment.md")
    text = _read(Path(body))[:MOST_COMMENT]
    if not text:
        return "", f"there is no comment to make: {body} is empty or not there"
    if "pull_request" in event:
        head = event["pull_request"]["head"].get("repo") or {}
        if head.get("full_name") != repository:
            return "", "a pull request from a fork gets no token that may comment; see the job's summary"
        return text, ""
    if "workflow_run" in event:
        # Another run wrote it, with code that nobody has read: it shall call nobody.
        return text.replace("@", "@\u200b"), ""
    return "", "this is no pull request: nothing to comment on"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _skip(why: str) -> int:
    _say(command("notice", why, {"title": "arena regress"}))
    return 0


class _Api:
    """GitHub's REST API, as far as comments need it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._url = env.get("GITHUB_API_URL", "https://api.github.com")
        self._token = env.get("TOKEN", "")

    def __call__(self, method: str, path: str, content: object = None) -> Any:
        """Send a request. Return the answer's JSON."""
        data = None if content is None else json.dumps(content).encode()
        headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {self._token}"}
        request = Request(f"{self._url}{path}", data=data, headers=headers, method=method)  # noqa: S310 - GitHub's
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - as above
            return json.load(answer)


def _number(api: _Api, repository: str, event: Mapping[str, Any]) -> int | None:
    """Return the open pull request that a workflow run was of, by what GitHub says of it, not by its files."""
    run = event["workflow_run"]
    head = f"{run['head_repository']['owner']['login']}:{run['head_branch']}"
    found = api("GET", f"/repos/{repository}/pulls?{urlencode({'state': 'open', 'head': head})}")
    return next((each["number"] for each in found if each["head"]["sha"] == run["head_sha"]), None)


def _write(api: _Api, issues: str, number: int, marker: str, text: str) -> None:
    body = {"body": text if text.startswith(marker) else marker + text}
    for page in range(1, PAGES + 1):
        comments = api("GET", f"{issues}/{quote(str(number))}/comments?per_page={PER_PAGE}&page={page}")
        for each in comments:
            # Somebody may have copied the marker: a comment of a person is not ours.
            if each["user"]["type"] == "Bot" and each["body"].startswith(marker):
                api("PATCH", f"{issues}/comments/{each['id']}", body)
                return
        if len(comments) < PER_PAGE:
            break
    api("POST", f"{issues}/{number}/comments", body)


def _marker(env: Mapping[str, str]) -> str:
    """Return the first line of a comment: an invisible one that says which test it is of."""
    test = " ".join([env["GAME"], env["BOT"]])
    return f"<!-- arena regress {sha256(test.encode()).hexdigest()[:16]} -->\n"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit({"play": play, "comment": comment}[sys.argv[1]](os.environ))
