"""Whole matches as they are really played: bots in their sandbox, over ZeroMQ, in real time; then proved."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio
from msgspec import Raw

from protocol.codec import encode
from protocol.refusals import Conduct
from referee.bot_folder import BotFolder, find_bot
from referee.line import MemoryLine
from referee.plan import Isolation, Plan, Policy, Result
from referee.play import LocalSeat, Player, SandboxedBot, WrongPlayersError, play
from referee.records import Header, In, WindowTime
from referee.replay import replay
from referee.transcript_chain import TranscriptError
from referee.transcript_reading import read_transcript

BAD_BOTS = Path(__file__).parents[1] / "bad_bots"


def bad_bot(folder: Path, name: str) -> BotFolder:
    """The bot of one of tests/bad_bots, in a folder of its own."""
    bot = folder / name
    bot.mkdir()
    shutil.copy(BAD_BOTS / f"{name}.py", bot / "bot.py")
    shutil.copy(BAD_BOTS / "raw.py", bot)
    (bot / "bot.toml").write_text(
        f'name = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
    )
    return find_bot(str(bot))


def plan(
    variant: str = "contractual-obligation",
    *,
    max_turns: int = 400,
    isolation: Isolation = "strict",
    **policy: object,
) -> Plan:
    return Plan(
        match="test",
        game="mist",
        variant=variant,
        seed=11,
        options=Raw(encode({"first": 0, "max_turns": max_turns})),
        policy=Policy(**policy),  # type: ignore[arg-type]
        isolation=isolation,
    )


def sandboxed(*names: str) -> list[Player]:
    return [SandboxedBot(find_bot(name)) for name in names]


async def played(the_plan: Plan, players: Sequence[Player], folder: Path) -> Result:
    with trio.fail_after(30):
        return await play(the_plan, players, transcript=folder / "match.jsonl")


def taken(result: Result) -> list[object]:
    """What was taken at every window, in order."""
    records = read_transcript(Path(result.transcript))
    return [part.taken for record in records if isinstance(record, WindowTime) for part in record.seats]


def tokens(result: Result) -> list[str]:
    """What the match's bots had in their environment, and no other process of this machine."""
    header = next(iter(read_transcript(Path(result.transcript))))
    assert isinstance(header, Header)
    assert all(len(bot.token) > 20 for bot in header.bots)
    return [bot.token for bot in header.bots]


def processes_with(text: str) -> list[str]:
    """Command lines and environments on this machine that hold a text."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            about = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in about and int(process.name) != os.getpid():
            found.append(process.name)
    return found


@pytest.mark.parametrize("variant", ["contractual-obligation", "heaven-and-hell"])
@pytest.mark.parametrize("isolation", ["strict", "none"])
async def test_a_match_of_sample_bots_is_played_and_its_transcript_proves_it(
    variant: str, isolation: Isolation, tmp_path: Path
) -> None:
    result = await played(plan(variant, isolation=isolation), sandboxed("mist_random", "mist_cautious"), tmp_path)
    assert ((Conduct.OK, Conduct.OK), None) == (result.conduct, result.void)
    replayed = replay(read_transcript(Path(result.transcript)))
    assert replayed.match.ended is not None
    assert encode(result.outcome) == encode(replayed.match.ended.outcome)


async def test_the_same_plan_with_bots_that_use_only_their_own_seed_gives_the_same_match(tmp_path: Path) -> None:
    moves = []
    for attempt in ("one", "two"):
        (tmp_path / attempt).mkdir()
        result = await played(plan(), sandboxed("mist_random", "mist_random"), tmp_path / attempt)
        moves.append(taken(result))
    assert moves[0] == moves[1]
    assert len(moves[0]) > 10


@pytest.mark.parametrize(
    ("name", "conduct"),
    [
        ("never_hello", Conduct.NEVER_STARTED),
        ("never_connects", Conduct.NEVER_STARTED),
        ("wrong_token", Conduct.MISBEHAVED),
        ("wrong_protocol", Conduct.NEVER_STARTED),
        ("crash_at_start", Conduct.NEVER_STARTED),
        ("garbage", Conduct.MISBEHAVED),
        ("too_much", Conduct.OK),
        ("out_of_turn", Conduct.OK),
        ("illegal", Conduct.OK),
        ("silent", Conduct.OK),
        ("crash", Conduct.CRASHED),
        ("killed_by_signal", Conduct.CRASHED),
        ("leaves", Conduct.DISCONNECTED),
        ("flood", Conduct.MISBEHAVED),
        ("deaf", Conduct.MISBEHAVED),
        ("orphans", Conduct.OK),
        ("talker", Conduct.OK),
    ],
)
async def test_a_bad_bot_is_named_rightly_and_the_match_ends_properly(
    name: str, conduct: Conduct, tmp_path: Path
) -> None:
    """And nothing of it is left, and the other seat takes no default."""
    players = [SandboxedBot(bad_bot(tmp_path, name)), *sandboxed("mist_random")]
    the_plan = plan(max_turns=6, main_ms=300, startup_ms=1_500, refusals_per_match=100)
    result = await played(the_plan, players, tmp_path)
    assert ((conduct, Conduct.OK), None) == (result.conduct, result.void)
    assert (3, 0) == (result.windows[1], result.defaults[1])
    assert replay(read_transcript(Path(result.transcript))).match.over
    assert [] == [left for token in tokens(result) for left in processes_with(token)]


async def test_what_a_bot_writes_is_kept_beside_the_transcript_and_bounded(tmp_path: Path) -> None:
    players = [SandboxedBot(bad_bot(tmp_path, "talker")), SandboxedBot(bad_bot(tmp_path, "crash"))]
    await played(plan(max_turns=2, main_ms=500), players, tmp_path)
    assert 1_000 < (tmp_path / "match.seat-0.log").stat().st_size < 300_000
    assert "RuntimeError: fell over" in (tmp_path / "match.seat-1.log").read_text()


async def test_a_crashing_bot_is_started_again_under_the_policy_restart(tmp_path: Path) -> None:
    players = [SandboxedBot(bad_bot(tmp_path, "crash")), *sandboxed("mist_random")]
    the_plan = plan(max_turns=4, main_ms=2_000, fault="restart", restarts=2)
    result = await played(the_plan, players, tmp_path)
    heard = [record for record in read_transcript(Path(result.transcript)) if isinstance(record, In)]
    hellos = [record.seat for record in heard if '"hello"' in record.frame]
    assert (Conduct.CRASHED, 3) == (result.conduct[0], hellos.count(0))
    logs = ["match.seat-0.log", "match.seat-0.start-2.log", "match.seat-0.start-3.log"]
    assert logs == sorted(path.name for path in tmp_path.glob("*.log"))


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
