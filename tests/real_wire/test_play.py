"""Whole matches as they are really played: bots in their sandbox, over ZeroMQ, in real time; then proved."""

import gc
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import trio
from msgspec import Raw

from protocol.codec import encode
from protocol.refusals import Conduct
from referee.bot_folder.manifest import BUILT_IN, find_bot
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import LocalSeat, Player, SandboxedBot, WrongPlayersError
from referee.match.records import In, Left
from referee.sandbox import prefork
from referee.sandbox.host_machine import Isolation
from referee.transcript.chain import TranscriptError
from referee.transcript.replayer import replay
from referee.wire.line import MemoryLine
from referee.wire.local import open_wire
from tests.bots.in_process import MIST_VARIANTS
from tests.builders.bots import write_bot
from tests.builders.plans import actions_of, mist_plan, records_of
from tests.builders.programs import start_program
from tests.docs_pages import blocks
from tests.real_wire.zoo import bad_bot


def plan(
    variant: str = "contractual-obligation",
    *,
    max_turns: int = 400,
    isolation: Isolation = "strict",
    **policy: object,
) -> Plan:
    return mist_plan(max_turns, variant=variant, policy={"unfair": "note"} | policy, isolation=isolation)


def sandboxed(*names: str) -> list[Player]:
    return [SandboxedBot(find_bot(name)) for name in names]


async def played(the_plan: Plan, players: Sequence[Player], folder: Path) -> AttemptResult:
    with trio.fail_after(120):
        return await play(the_plan, players, transcript=folder / "match.jsonl")


@pytest.mark.parametrize("variant", ["contractual-obligation", "heaven-and-hell"])
@pytest.mark.parametrize("isolation", ["strict", "none"])
async def test_a_match_of_sample_bots_is_played_and_its_transcript_proves_it(
    variant: str, isolation: Isolation, tmp_path: Path
) -> None:
    result = await played(plan(variant, isolation=isolation), sandboxed("mist_random", "mist_cautious"), tmp_path)
    assert ((Conduct.OK, Conduct.OK), None) == (result.conduct, result.void)
    replayed = replay(records_of(result))
    assert replayed.match.ended is not None
    assert encode(result.outcome) == encode(replayed.match.ended.outcome)


async def test_the_same_plan_with_bots_that_use_only_their_own_seed_gives_the_same_match(tmp_path: Path) -> None:
    moves = []
    for attempt in ("one", "two"):
        (tmp_path / attempt).mkdir()
        result = await played(plan(), sandboxed("mist_random", "mist_random"), tmp_path / attempt)
        moves.append(actions_of(result))
    assert moves[0] == moves[1]
    assert len(moves[0]) > 10


async def test_a_match_whose_bots_end_with_what_they_were_forked_from_is_void(tmp_path: Path) -> None:
    """No bot is to blame for it, and the next match has another one."""

    async def end_it() -> None:
        while not (tmp_path / "match.jsonl.part").exists():  # noqa: ASYNC110 - the match makes it
            await trio.sleep(0.01)
        await trio.sleep(1)
        prefork._living_starter()._popen.kill()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_it)
        result = await played(plan(main_ms=20_000), [SandboxedBot(bad_bot(tmp_path, "silent"))] * 2, tmp_path)
    assert "the process that warm bots are forked from has ended" == result.void
    assert (Conduct.OK, Conduct.OK) == result.conduct
    (tmp_path / "next").mkdir()
    assert (await played(plan(), sandboxed("mist_random", "mist_random"), tmp_path / "next")).void is None


async def test_output_of_a_bot_is_stored_beside_the_transcript_and_bounded(tmp_path: Path) -> None:
    players = [SandboxedBot(bad_bot(tmp_path, "talker")), SandboxedBot(bad_bot(tmp_path, "crash"))]
    result = await played(plan(max_turns=6, main_ms=500), players, tmp_path)
    assert result.reports[0].unlogged_bytes > 0 == result.reports[1].unlogged_bytes
    assert 1_000 < (tmp_path / "match.seat-0.log").stat().st_size < 300_000
    assert "RuntimeError: fell over" in (tmp_path / "match.seat-1.log").read_text()


async def test_a_crashing_bot_is_started_again_under_the_policy_restart(tmp_path: Path) -> None:
    players = [SandboxedBot(bad_bot(tmp_path, "crash")), *sandboxed("mist_random")]
    the_plan = plan(max_turns=4, main_ms=2_000, fault="restart", restarts=2)
    result = await played(the_plan, players, tmp_path)
    heard = [record for record in records_of(result) if isinstance(record, In)]
    hellos = [record.seat for record in heard if '"hello"' in record.frame]
    assert (Conduct.CRASHED, 3) == (result.conduct[0], hellos.count(0))
    logs = ["match.seat-0.log", "match.seat-0.start-2.log", "match.seat-0.start-3.log"]
    assert logs == sorted(path.name for path in tmp_path.glob("match.seat-0.*"))


@pytest.fixture
def circles() -> Iterator[Callable[[], set[str]]]:
    """Names the kinds of our objects that only a collector of garbage frees, of those given up since the start."""
    gc.collect()
    gc.freeze()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)

    def found() -> set[str]:
        gc.collect()
        return {type(each).__name__ for each in gc.garbage if type(each).__module__.startswith("referee.")}

    yield found
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()
    gc.unfreeze()


async def test_an_ended_match_leaves_nothing_for_the_garbage_collector(
    tmp_path: Path, circles: Callable[[], set[str]]
) -> None:
    """It would come late: what long matches leave is old by then."""
    async with open_wire() as wire:
        with trio.fail_after(120):
            await play(plan(), sandboxed("mist_random", "mist_random"), transcript=tmp_path / "m.jsonl", wire=wire)
        assert set() == circles()


async def test_a_match_of_local_seats_needs_no_sandbox(tmp_path: Path) -> None:
    async def person(line: MemoryLine) -> None:
        line.say(b'{"type":"hello","token":"","name":"me","version":"1","protocol":1}')
        while True:
            try:
                frame = await line.hear()
            except trio.EndOfChannel:
                return
            if b'"type":"window"' in frame:
                line.say(b'{"type":"submit","window":0,"action":{"cells":["C3"]}}')

    result = await played(plan(max_turns=2), [LocalSeat("a", person), LocalSeat("b", person)], tmp_path)
    assert ((Conduct.OK, Conduct.OK), (0, 0)) == (result.conduct, result.defaults)


async def test_too_few_players_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongPlayersError, match="2 seats"):
        await played(plan(), sandboxed("mist_random"), tmp_path)


async def test_a_transcript_that_is_there_already_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "match.jsonl").write_text("mine")
    with pytest.raises(TranscriptError):
        await played(plan(), sandboxed("mist_random", "mist_random"), tmp_path)
    assert "mine" == (tmp_path / "match.jsonl").read_text()


async def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="nowhere"):
        await played(plan(), sandboxed("mist_random", "mist_random"), tmp_path / "nowhere")


async def test_a_bot_that_the_kernel_kills_for_memory_has_that_in_its_report(tmp_path: Path) -> None:
    program = "held = []\nwhile True:\n    held.append(bytearray(10_000_000))\n"
    folder = write_bot(tmp_path / "hog", program, "[limits]\nmemory_mb = 64\naddress_space_mb = 100000")
    bots = [SandboxedBot(find_bot(str(folder))), *sandboxed("mist_random")]
    result = await played(plan(), bots, tmp_path)
    hog, other = result.reports
    assert "killed: memory over 64 MB" == hog.loss
    assert "" == other.loss
    assert hog.peak_bytes is not None
    assert 64 * 2**20 <= hog.peak_bytes
    assert other.peak_bytes is not None
    assert 0 < other.peak_bytes < hog.peak_bytes
    assert other.cpu_us is not None
    assert 1_000 < other.cpu_us < 10_000_000
    assert other.start_cpu_us is not None
    assert 0 < other.start_cpu_us <= other.cpu_us
    left = [record for record in records_of(result) if isinstance(record, Left)]
    assert ["killed: memory over 64 MB"] == [record.why for record in left]


ROOMY = "[limits]\naddress_space_mb = 8_000"


async def test_a_report_has_the_processes_and_the_scratch_that_a_bot_used(tmp_path: Path) -> None:
    more = """
import tempfile, threading, time
for _ in range(20):
    threading.Thread(target=time.sleep, args=(1_000,), daemon=True).start()
kept = tempfile.TemporaryFile()
kept.write(bytes(5_000_000))
kept.flush()
"""
    folder = write_bot(tmp_path / "user", more + (BUILT_IN / "mist_random/bot.py").read_text(), ROOMY)
    bots = [SandboxedBot(find_bot(str(folder))), *sandboxed("mist_random")]
    user, other = (await played(plan(max_turns=2), bots, tmp_path)).reports
    assert 0 == other.scratch_bytes
    assert 5_000_000 <= (user.scratch_bytes or 0) < 6_000_000
    if user.peak_processes is not None:  # Kernels before Linux 6.11 have no peak.
        assert 20 < user.peak_processes < 40


def shown_bot(info: str, folder: Path) -> SandboxedBot:
    """Make the bot of a page as its reader would make it."""
    folder.mkdir()
    (folder / "bot.py").write_text(blocks(info)[0].text)
    (folder / "bot.toml").write_text(next(toml.text for toml in blocks("toml bot") if "bot.py" in toml.text))
    return SandboxedBot(find_bot(str(folder)))


@pytest.mark.parametrize("variant", MIST_VARIANTS)
async def test_the_ten_line_bot_and_the_one_without_the_kit_play_a_match(variant: str, tmp_path: Path) -> None:
    players = [shown_bot(f"python {name} bot", tmp_path / name.replace("-", "_")) for name in ("ten-line", "bare")]
    plan = Plan(match="docs", game="mist", variant=variant, seed=3, options=Raw(b'{"max_turns":10}'))
    with trio.fail_after(120):
        result = await play(plan, players, transcript=tmp_path / "match.jsonl")
    assert ((Conduct.OK, Conduct.OK), (0, 0)) == (result.conduct, result.defaults)
    assert 10 <= sum(result.windows)


PROGRAMS = 8


@pytest.mark.slow
def test_eight_matches_begin_at_once_from_an_empty_home(tmp_path: Path) -> None:
    # Eight matches with forty bots are more than two cores carry in time; that is not the question here.
    words = [
        "match",
        "hive-mind",
        "hive_mind_counter",
        "--fill",
        "hive_mind_random",
        "--isolation",
        "none",
        "--unfair",
        "note",
    ]
    words += ["--main-ms", "20000", "--transcripts", str(tmp_path / "transcripts")]
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    matches = [
        start_program("arena", *words, env=home, cwd=tmp_path, stderr=subprocess.STDOUT) for _ in range(PROGRAMS)
    ]
    said = [match.communicate()[0] for match in matches]
    assert [0] * PROGRAMS == [match.returncode for match in matches], said
    assert PROGRAMS == len(list((tmp_path / "transcripts").glob("*.jsonl")))
    contents = tmp_path / ".cache/mist-arena/contents"
    assert [] == list(contents.glob("making-*"))
    assert 2 == len([path for path in contents.iterdir() if path.is_dir()])
