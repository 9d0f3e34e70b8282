"""Programs in any language, that speak by lines: each a whole match in its sandbox, behind the bridge."""

import shutil
from pathlib import Path

import pytest
import trio

from protocol.refusals import Conduct, Refusal
from referee.bot_folder.manifest import BotFolder, find_bot
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import SandboxedBot
from referee.match.records import Ended
from referee.match.seat_report import sentences
from referee.sandbox.build import built
from referee.sandbox.host_machine import Isolation
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from tests.builders.bots import write_bot
from tests.builders.plans import mist_plan

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
PYTHON = """
import json, os, sys, time
def answer(message):
    if message["type"] == "window":
        submit = {"type": "submit", "window": message["id"], "action": message["default"]}
        print(json.dumps(submit))
%s
for line in sys.stdin:
    message = json.loads(line)
    %s
"""
PLACES = """echo '{"type":"submit","window":'"${id%%,*}"',"action":{"cells":["E5"]}}'"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is built here nowhere else."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def shell_bot(folder: Path, answer: str) -> BotFolder:
    """Write a bot that is a shell script; `answer` is run at a window whose number is in $id."""
    return find_bot(str(write_bot(folder, SHELL % answer, 'transport = "stdio"', file="bot.sh", run="sh")))


def python_bot(folder: Path, at_message: str, *, first: str = "") -> BotFolder:
    """Write a bot in Python without the kit; `at_message` is run at a `message`, `first` before all."""
    return find_bot(str(write_bot(folder, PYTHON % (first, at_message), 'transport = "stdio"')))


def short_plan(isolation: Isolation = "strict", **policy: object) -> Plan:
    """Six windows a seat."""
    return mist_plan(12, seed=5, policy={"unfair": "note"} | policy, isolation=isolation)


async def against_random(
    bot: BotFolder, folder: Path, *, isolation: Isolation = "strict", **policy: object
) -> AttemptResult:
    """Play a short match of the bot, in seat 0."""
    plan = short_plan(isolation=isolation, **policy)
    with trio.fail_after(60):
        players = [SandboxedBot(built(bot, isolation)), SandboxedBot(find_bot("mist_random"))]
        return await play(plan, players, transcript=folder / "match.jsonl")


def said(result: AttemptResult) -> list[str]:
    """Return what the bot is told of what it did wrong."""
    return sentences(result.reports[0], windows=result.windows[0], refused=result.refused[0])


def refused(result: AttemptResult) -> dict[str, int]:
    """How many of the bot's messages were turned down."""
    ended = next(record for record in read_transcript(Path(result.transcript)) if isinstance(record, Ended))
    return ended.refused[0]


@pytest.mark.parametrize("isolation", ["strict", "none"])
async def test_a_shell_script_plays_a_match(tmp_path: Path, isolation: Isolation) -> None:
    result = await against_random(shell_bot(tmp_path / "sh", PLACES), tmp_path, isolation=isolation)
    assert (Conduct.OK, Conduct.OK) == result.conduct
    assert (0, 6) == (result.defaults[0], result.windows[0])
    assert {} == refused(result)


async def test_lines_that_are_no_messages_go_to_the_log_and_count_once_per_window(tmp_path: Path) -> None:
    bot = shell_bot(tmp_path / "sh", f"echo garbage; head -c 300000 /dev/zero | tr '\\0' x; echo; {PLACES}")
    result = await against_random(bot, tmp_path)
    assert (Conduct.OK, 0) == (result.conduct[0], result.defaults[0])
    assert {Refusal.NO_MESSAGE.value: 6} == refused(result)
    log = (tmp_path / "match.seat-0.log").read_bytes()
    assert log.startswith(b"[stdout] garbage\n[stdout] xxx")


async def test_a_message_that_is_wrong_is_refused_by_name_as_over_zeromq(tmp_path: Path) -> None:
    long = """printf '{"type":"note","text":"'; head -c 300000 /dev/zero | tr '\\0' x; echo"""
    bot = shell_bot(tmp_path / "sh", f"""echo '{{"type":"submit"}}'; {long}; {PLACES}""")
    result = await against_random(bot, tmp_path)
    assert (Conduct.OK, 0) == (result.conduct[0], result.defaults[0])
    assert {Refusal.MALFORMED.value: 6, Refusal.OVERSIZED.value: 6} == refused(result)


async def test_a_beginners_print_for_each_message_is_explained_and_costs_nothing(tmp_path: Path) -> None:
    """Each answer to such a line would be read and printed again."""
    bot = python_bot(tmp_path / "py", 'print("got", message["type"]); answer(message)')
    result = await against_random(bot, tmp_path)
    assert (Conduct.OK, 0) == (result.conduct[0], result.defaults[0])
    assert result.refused[0] <= result.windows[0] + 1
    assert any(
        sentence.startswith(
            'it printed something to standard output that is not a message, first "got welcome": '
            "print to standard error"
        )
        for sentence in said(result)
    )


async def test_output_that_is_not_flushed_is_explained(tmp_path: Path) -> None:
    buffered = 'sys.stdout = open(1, "w", buffering=1_000_000, closefd=False)'
    bot = python_bot(tmp_path / "py", 'answer(message)\n    if message["type"] == "over": break', first=buffered)
    result = await against_random(bot, tmp_path, main_ms=300)
    assert (Conduct.OK, 6) == (result.conduct[0], result.defaults[0])
    assert "all its answers arrived when it ended: does it flush its output?" in said(result)


async def test_it_is_explained_of_a_program_that_ends_with_its_input_too(tmp_path: Path) -> None:
    buffered = 'sys.stdout = open(1, "w", buffering=1_000_000, closefd=False)'
    bot = python_bot(tmp_path / "py", "answer(message)", first=buffered)
    result = await against_random(bot, tmp_path, main_ms=300)
    assert "all its answers arrived when it ended: does it flush its output?" in said(result)


@pytest.mark.parametrize(
    "first",
    [
        'sys.exit("cannot load model weights")',
        "sys.exit(0)",
        "os.kill(os.getpid(), 9)",
        "os.close(1); sys.stdin.read()",
        'print("loading"); sys.exit("cannot load model weights")',
        "sys.stdin.readline(); sys.exit(3)",
    ],
    ids=["error", "exit 0", "killed", "closes its output", "prints before", "after the welcome"],
)
async def test_a_program_that_ends_before_its_first_message_never_started_and_two_such_have_no_winner(
    first: str, tmp_path: Path
) -> None:
    bots = [python_bot(tmp_path / name, "answer(message)", first=first) for name in ("a", "b")]
    plan = short_plan(fault="forfeit")
    with trio.fail_after(60):
        result = await play(plan, [SandboxedBot(bot) for bot in bots], transcript=tmp_path / "match.jsonl")
    assert result.outcome is not None
    assert ((Conduct.NEVER_STARTED,) * 2, ()) == (result.conduct, result.outcome.winners)
    assert ((0, 1),) == result.outcome.ranking
    if "weights" in first:
        assert ["cannot load model weights"] * 2 == [report.last_line for report in result.reports]
    assert replay(read_transcript(Path(result.transcript))).match.over


async def test_one_that_plays_wins_against_one_that_never_started(tmp_path: Path) -> None:
    dead = python_bot(tmp_path / "dead", "pass", first='sys.exit("cannot load model weights")')
    bots = [dead, python_bot(tmp_path / "good", "answer(message)")]
    with trio.fail_after(60):
        plan = short_plan(fault="forfeit")
        result = await play(plan, [SandboxedBot(bot) for bot in bots], transcript=tmp_path / "match.jsonl")
    assert result.outcome is not None
    assert ((Conduct.NEVER_STARTED, Conduct.OK), (1,)) == (result.conduct, result.outcome.winners)


async def test_one_that_is_started_again_and_dies_again_never_started(tmp_path: Path) -> None:
    bot = python_bot(tmp_path / "py", "pass", first="sys.exit(1)")
    result = await against_random(bot, tmp_path, fault="restart", restarts=2)
    assert (Conduct.NEVER_STARTED, 2) == (result.conduct[0], result.reports[0].restarts)


async def test_a_process_that_it_leaves_behind_does_not_speak_for_it(tmp_path: Path) -> None:
    bot = python_bot(tmp_path / "py", "pass", first="os.fork() and sys.exit(1); time.sleep(60)")
    result = await against_random(bot, tmp_path)
    assert Conduct.NEVER_STARTED is result.conduct[0]


async def test_a_line_may_begin_with_a_byte_order_mark_and_end_as_on_windows(tmp_path: Path) -> None:
    windows = 'sys.stdout = open(1, "w", encoding="utf-8-sig", newline="\\r\\n", closefd=False)'
    bot = python_bot(tmp_path / "py", "answer(message); sys.stdout.flush()", first=windows)
    result = await against_random(bot, tmp_path)
    assert ((Conduct.OK, 0), {}) == ((result.conduct[0], result.defaults[0]), refused(result))


@pytest.mark.parametrize(("ends", "conduct"), [("exit 3", Conduct.CRASHED), ("kill -9 $$", Conduct.CRASHED)])
async def test_the_bridge_ends_as_its_program_does(tmp_path: Path, ends: str, conduct: Conduct) -> None:
    result = await against_random(shell_bot(tmp_path / "sh", f"{PLACES}; {ends}"), tmp_path)
    assert (conduct, Conduct.OK) == result.conduct


async def test_a_program_that_closes_its_output_and_its_input_has_said_its_last(tmp_path: Path) -> None:
    result = await against_random(shell_bot(tmp_path / "sh", "exec >&- <&-; sleep 60"), tmp_path, main_ms=1_000)
    assert Conduct.OK == result.conduct[1]
    assert 12 == sum(result.windows)


async def test_a_program_that_writes_and_never_reads_stops_no_other(tmp_path: Path) -> None:
    bot = shell_bot(tmp_path / "sh", "while :; do echo x; done")
    result = await against_random(bot, tmp_path, main_ms=2_000)
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
