"""Programs in any language, that speak by lines: each a whole match in its sandbox, behind the bridge."""

import shutil
from pathlib import Path

import pytest
import trio
from msgspec import Raw

from protocol.codec import encode
from protocol.refusals import Conduct, Refusal
from referee.bot_folder.manifest import BotFolder, find_bot
from referee.host.one_match import play
from referee.host.plan import Plan, Result
from referee.host.players import SandboxedBot
from referee.match.policy import Policy
from referee.match.records import Ended
from referee.sandbox.build import built
from referee.sandbox.levels import Isolation
from referee.transcript.reader import read_transcript

SAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "bots"
SHELL = """
read -r welcome
while read -r line; do
    case $line in
        '{"type":"window"'*) id=${line#*'"id":'}; %s ;;
        '{"type":"over"'*) exit 0 ;;
    esac
done
"""
PLACES = """echo '{"type":"submit","window":'"${id%%,*}"',"action":{"cells":["E5"]}}'"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is built here is kept nowhere else."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def shell_bot(folder: Path, answer: str) -> BotFolder:
    """A bot that is a shell script; `answer` is what it does at a window whose number is in $id."""
    folder.mkdir()
    (folder / "bot.sh").write_text(SHELL % answer)
    (folder / "bot.toml").write_text(
        'name = "sh"\nversion = "1"\ncommand = ["sh", "bot.sh"]\ntransport = "stdio"\ngames = ["mist"]\n'
    )
    return find_bot(str(folder))


async def against_random(
    bot: BotFolder, folder: Path, *, isolation: Isolation = "strict", **policy: object
) -> Result:
    """A short match of the bot, in seat 0."""
    plan = Plan(
        match="stdio",
        game="mist",
        variant="contractual-obligation",
        seed=5,
        options=Raw(encode({"first": 0, "max_turns": 12})),
        policy=Policy(**{"unfair": "note"} | policy),  # type: ignore[arg-type]
        isolation=isolation,
    )
    with trio.fail_after(60):
        players = [SandboxedBot(built(bot, isolation)), SandboxedBot(find_bot("mist_random"))]
        return await play(plan, players, transcript=folder / "match.jsonl")


def refused(result: Result) -> dict[str, int]:
    """How many of the bot's messages were turned down."""
    ended = next(record for record in read_transcript(Path(result.transcript)) if isinstance(record, Ended))
    return ended.refused[0]


@pytest.mark.parametrize("isolation", ["strict", "none"])
async def test_a_shell_script_plays_a_match(tmp_path: Path, isolation: Isolation) -> None:
    result = await against_random(shell_bot(tmp_path / "sh", PLACES), tmp_path, isolation=isolation)
    assert (Conduct.OK, Conduct.OK) == result.conduct
    assert (0, 6) == (result.defaults[0], result.windows[0])
    assert {} == refused(result)


async def test_what_is_no_message_is_refused_by_name_as_over_zeromq(tmp_path: Path) -> None:
    bot = shell_bot(tmp_path / "sh", f"echo garbage; head -c 300000 /dev/zero | tr '\\0' x; echo; {PLACES}")
    result = await against_random(bot, tmp_path)
    assert (Conduct.OK, 0) == (result.conduct[0], result.defaults[0])
    assert {Refusal.MALFORMED.value: 6, Refusal.OVERSIZED.value: 6} == refused(result)


@pytest.mark.parametrize(("ends", "conduct"), [("exit 3", Conduct.CRASHED), ("kill -9 $$", Conduct.CRASHED)])
async def test_the_bridge_ends_as_its_program_does(tmp_path: Path, ends: str, conduct: Conduct) -> None:
    result = await against_random(shell_bot(tmp_path / "sh", ends), tmp_path)
    assert (conduct, Conduct.OK) == result.conduct


async def test_a_program_that_closes_its_output_and_its_input_has_said_its_last(tmp_path: Path) -> None:
    result = await against_random(shell_bot(tmp_path / "sh", "exec >&- <&-; sleep 60"), tmp_path, main_ms=1_000)
    assert Conduct.OK == result.conduct[1]
    assert 12 == sum(result.windows)


async def test_a_program_that_writes_and_never_reads_stops_nobody(tmp_path: Path) -> None:
    bot = shell_bot(tmp_path / "sh", "while :; do echo x; done")
    result = await against_random(bot, tmp_path, main_ms=500)
    assert (Conduct.MISBEHAVED, Conduct.OK) == result.conduct


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
async def test_the_sample_in_c_is_built_and_plays(tmp_path: Path) -> None:
    result = await against_random(find_bot(str(SAMPLES / "c")), tmp_path)
    assert (Conduct.OK, 0) == (result.conduct[0], result.defaults[0])


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
async def test_the_sample_in_node_plays(tmp_path: Path) -> None:
    result = await against_random(find_bot(str(SAMPLES / "node")), tmp_path)
    assert ((Conduct.OK, 0), {}) == ((result.conduct[0], result.defaults[0]), refused(result))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_the_sample_in_node_that_speaks_zeromq_plays(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    shutil.copytree(SAMPLES / "node-zeromq", folder)
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
    done = await trio.run_process(install, cwd=folder, check=False, capture_stdout=True, capture_stderr=True)
    if done.returncode != 0:
        pytest.skip(f"npm install: {done.stderr.decode()[-200:]}")
    result = await against_random(find_bot(str(folder)), tmp_path)
    assert ((Conduct.OK, 0), {}) == ((result.conduct[0], result.defaults[0]), refused(result))
