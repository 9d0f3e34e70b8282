"""The arena without a clone: what is packed, and that it plays from where pip installs it.

The environments are empty but for the wheel and what it needs, in the versions of requirements.lock; pip gets
these from the index that it is set up for.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import metadata
from pathlib import Path

import pytest

from arena.errors import MachineCannot
from arena.installation import commit
from referee.bot_folder.manifest import built_in
from referee.sandbox import SandboxError, find_isolation
from tests.docs_pages import HOUSE

ROOMS = ("protocol", "referee", "bots", "arena")
MACHINES = Path(sys.base_prefix, "bin/python3")
"""The Python that the project's own environment was made with; its pip is used, too."""
DEBIANS = Path("/usr/bin/python3")
OLDEST = (3, 11)
OF_A_CLONE = ("tests", "scripts", "bots", "arena", "referee", "protocol", "pyproject.toml", "requirements.lock")
"""What pages also link to, and a wheel has elsewhere or not at all."""
LINKS = re.compile(r"\]\(([^)]*)\)")


def run(*command: str | Path, cwd: Path, code: int | None = 0, env: dict[str, str] | None = None) -> str:
    """Return the output of a program that ends with this code (None: any), with errors if it is not 0."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ARENA", "COV"))}
    done = subprocess.run(  # noqa: S603 - our own programs
        command, cwd=cwd, env=bare | (env or {}), capture_output=True, text=True, check=False, timeout=250
    )
    assert code in (None, done.returncode), done.stdout + done.stderr
    return done.stdout + done.stderr * bool(code)


def build(what: str, source: Path, folder: Path) -> Path:
    """Make a wheel or an sdist of a folder, as `pip` and `build` would have it made."""
    code = f"from hatchling.build import build_{what}; print(build_{what}({str(folder)!r}))"
    return folder / run(sys.executable, "-c", code, cwd=source).splitlines()[-1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from this clone."""
    return build("wheel", HOUSE, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def wheel_of_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from an unpacked sdist, where there is no git to ask."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build("sdist", HOUSE, folder)) as archive:
        archive.extractall(folder, filter="data")
    (source,) = (path for path in folder.iterdir() if path.is_dir())
    return build("wheel", source, folder)


def packed(wheel: Path) -> dict[str, bytes]:
    """Its files, but for the list of them."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


class TestPacked:
    def test_the_wheel_has_every_file_of_the_packages_and_no_other(self, wheel: Path) -> None:
        ours = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *ROOMS, cwd=HOUSE).splitlines()
        there = {name for name in ours if (HOUSE / name).exists()}
        found = {
            name for name in packed(wheel) if not name.startswith("arena/manual/") and ".dist-info/" not in name
        }
        assert there | {"arena/commit.txt"} == found

    def test_the_wheel_has_the_pages_and_their_links_lead_to_each_other(self, wheel: Path) -> None:
        pages = {
            name.removeprefix("arena/manual/"): text for name, text in packed(wheel).items() if "/manual/" in name
        }
        docs = run("git", "ls-files", "docs", ":!docs/site", cwd=HOUSE).splitlines()
        assert {*docs, "README.md", "CHANGELOG.md", "LICENSE"} <= pages.keys()
        assert {name: (HOUSE / name).read_bytes() for name in pages} == pages
        for name in (name for name in pages if name.endswith(".md")):
            for target in LINKS.findall(pages[name].decode()):
                if re.match(r"\w+:|#", target) or target.startswith("<"):
                    continue
                there = os.path.normpath(Path(name).parent / target.partition("#")[0])
                if not there.startswith(OF_A_CLONE):
                    assert there in pages or any(page.startswith(f"{there}/") for page in pages), (name, target)

    def test_type_checkers_are_told_that_every_package_has_types(self, wheel: Path) -> None:
        assert {f"{room}/py.typed" for room in ROOMS} <= set(packed(wheel))

    @pytest.mark.slow
    def test_the_wheel_of_the_sdist_is_the_same_with_its_commit(self, wheel: Path, wheel_of_sdist: Path) -> None:
        assert packed(wheel) == packed(wheel_of_sdist)
        assert f"{commit()}\n" == packed(wheel)["arena/commit.txt"].decode()

    def test_no_link_of_its_page_leads_to_a_file_that_is_not_there(self, wheel: Path) -> None:
        """An index shows the page without the docs beside it."""
        (page,) = (text.decode() for name, text in packed(wheel).items() if name.endswith("/METADATA"))
        assert "\n## Two commands\n" in page
        assert {"https"} == {target.partition(":")[0] for target in LINKS.findall(page) if target[0] != "#"}

    def test_with_a_repository_its_links_lead_there(self) -> None:
        told = runpy.run_path(str(HOUSE / "hatch_build.py"))["standing_alone"]
        text = "![a](docs/a.svg)\n[b](docs/b.md#c) [d](#d) [e](https://e)\n"
        there = "https://github.com/o/r"
        assert (
            f"![a]({there}/raw/HEAD/docs/a.svg)\n[b]({there}/blob/HEAD/docs/b.md#c) [d](#d) [e](https://e)\n"
            == told(text, there)
        )

    def test_each_extra_that_is_no_developers_is_in_the_page_of_installing(self) -> None:
        extras = set(metadata("mist-arena").get_all("Provides-Extra") or ()) - {"dev", "docs"}
        assert extras == set(re.findall(r"mist_arena\S*\[(\w+)\]", (HOUSE / "docs/installing.md").read_text()))


def packages(environment: Path) -> Path:
    """Where an environment has its packages."""
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


def make_environment(python: Path, wheel: Path, folder: Path, others: list[Path]) -> Path:
    """An empty environment of this Python with the wheel; its folder of programs.

    What the wheel needs is taken from one of the others if its Python is of the same version: pip takes long.
    """
    run(python, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    pinned = re.findall(r"^(\S+==\S+(?: ; [^\\\n]+)?)", (HOUSE / "requirements.lock").read_text(), re.MULTILINE)
    (folder / "versions").write_text("\n".join(pinned))
    pip: list[str | Path] = [MACHINES, "-m", "pip", "--python", folder / "bin/python", "install"]
    pip += ["--quiet", "--no-compile"]
    for other in others:
        if packages(other).parent.name == packages(folder).parent.name:
            shutil.copytree(packages(other), packages(folder), copy_function=os.link, dirs_exist_ok=True)
            pip += ["--no-deps", "--force-reinstall"]
            break
    run(*pip, "--constraint", folder / "versions", wheel, cwd=folder)
    others.append(folder)
    return folder / "bin"


def why_not(python: Path) -> str | None:
    """Why the wheel cannot be tried on this Python."""
    if not python.exists():
        return f"there is no {python} on this machine"
    if python == DEBIANS and python.resolve() == MACHINES.resolve():
        return f"{python} is this machine's only Python, and was tried"
    told = run(python, "-c", "import sys; print(*sys.version_info[:2])", cwd=Path("/"))
    if tuple(map(int, told.split())) < OLDEST:
        return f"{python} is of {told.strip()}, older than {OLDEST}"
    return None


@pytest.fixture(scope="module")
def environments() -> list[Path]:
    """Those there are by now."""
    return []


@pytest.fixture(scope="module", params=[MACHINES, DEBIANS], ids=["machine", "debian"])
def programs(
    request: pytest.FixtureRequest, wheel: Path, environments: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Where `arena` is installed."""
    if reason := why_not(request.param):
        pytest.skip(reason)
    return make_environment(request.param, wheel, tmp_path_factory.mktemp("installed") / "here", environments)


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """Make a folder that is no clone's; root's bots run as others, who must be let in."""
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.fixture(scope="session")
def isolation() -> str:
    try:
        return find_isolation()
    except SandboxError as error:
        pytest.skip(str(error))


DOCTOR = """
from arena.commands.main import main
from referee.proofs.escapes import examination
examination.AGAIN = 0
main()
"""
INSIDE = """
import importlib
import bots.kit
import protocol
import referee.games

for module in (bots.kit, protocol, referee.games):
    assert module.__file__.startswith("/arena/code/"), module.__file__
for hidden in ("referee.host", "arena.tournament", "bots.mist_tracker.bot"):
    try:
        importlib.import_module(hidden)
    except ImportError:
        continue
    raise SystemExit(hidden)

"""


on_one_python = pytest.mark.parametrize("programs", [MACHINES], ids=["machine"], indirect=True)
"""What it would not do otherwise on another one."""


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
class TestInstalled:
    def test_it_tells_its_version_and_commit(self, programs: Path, away: Path) -> None:
        assert f", commit {commit()}\n" in run(programs / "arena", "--version", cwd=away)

    def test_it_has_the_rules_and_says_where_its_pages_are(self, programs: Path, away: Path) -> None:
        rules = run(programs / "arena", "games", "hive-mind", "--rules", cwd=away)
        assert rules.startswith("# Hive Mind\n")
        (place,) = re.findall(r"Documentation: (\S+)", run(programs / "arena", "--help", cwd=away))
        assert (HOUSE / "README.md").read_text(encoding="utf-8") == Path(place).read_text(encoding="utf-8")

    def test_every_sample_bot_is_there(self, programs: Path, away: Path) -> None:
        said = run(programs / "arena", "match", "mist", "nobody", "nobody", cwd=away, code=2)
        assert f"the bots are {', '.join(built_in())}\n" in said

    def test_a_new_bot_plays_in_the_sandbox_and_sees_rules_and_kit_alone(
        self, programs: Path, away: Path, isolation: str
    ) -> None:
        run(programs / "arena", "new-bot", "mine", cwd=away)
        program = away / "mine/bot.py"
        program.write_text(INSIDE + program.read_text())
        for warm in ("--warm", "--cold"):
            how = ("--isolation", isolation, warm, "--json")
            said = json.loads(run(programs / "arena", "match", "mist", "mine", "mist_random", *how, cwd=away))
            assert ["ok", "ok"] == said["conduct"]

    @on_one_python
    def test_a_tournament_is_played_and_reported(self, programs: Path, away: Path, isolation: str) -> None:
        (away / "cup.toml").write_text(
            f'game = "mist"\nblocks = 1\nisolation = "{isolation}"\nbots = ["mist_random", "mist_hunter"]\n'
        )
        run(programs / "arena", "tournament", "cup.toml", "--no-check", "--results", "out", cwd=away)
        assert "mist_hunter" in run(programs / "arena", "report", "out", cwd=away)
        (transcript, *_) = sorted((away / "out/transcripts").glob("*.jsonl"))
        assert "holds" in run(programs / "arena", "replay", transcript, cwd=away)

    def test_the_sandbox_holds(self, programs: Path, away: Path, isolation: str) -> None:
        # A busy machine cannot tell of some attempts: then the code is 1, and what could be told counts here. The
        # command would wait a minute and more for it to be less busy.
        said = run(
            *(programs / "python", "-c", DOCTOR, "doctor", "--isolation", isolation, "--warm", "--json"),
            cwd=away,
            code=None,
        )
        findings = json.loads(said)["reports"][0]["findings"]
        assert "held" in {finding["result"] for finding in findings}
        assert [] == [one["attempt"] for one in findings if one["promised"] and one["result"] == "escaped"]

    @on_one_python
    def test_without_bubblewrap_it_says_how_to_get_it(self, programs: Path, away: Path) -> None:
        (away / "bin").mkdir()
        lone = {"PATH": str(away / "bin")}
        words = ("match", "mist", "mist_random", "mist_random")
        said = run(programs / "arena", *words, cwd=away, code=MachineCannot.exit_code, env=lone)
        assert "install bubblewrap" in said
