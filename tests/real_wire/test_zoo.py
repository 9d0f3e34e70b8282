"""Bad bots, one by one: each is named rightly, and nobody but itself is the worse for it.

Each sits opposite a sample bot that plays the same match against any of them: nothing legal that a bad bot submits
differs from what would have been taken anyway.
"""

import ctypes
import gc
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from arena.stress import resident_bytes
from protocol.refusals import Conduct
from referee.bot_folder.manifest import find_bot
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import SandboxedBot
from referee.match.records import Ended
from referee.match.terms import Policy
from referee.sandbox.host_machine import Isolation
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from referee.wire.local import Wire, open_wire
from tests.builders.plans import mist_plan
from tests.real_wire import held_up, zoo
from tests.real_wire.zoo import HOGS, REFUSALS, TABLE, WINDOWS, bad_bot, processes_of, timeless

EXAMPLE = Path(__file__).parents[2] / "docs/examples/three-turns.jsonl"
MEGABYTE = 1_000_000
LEFT_BYTES = 8 * MEGABYTE
"""What a match may leave the referee's process larger by."""
PEAK_BYTES = 20 * MEGABYTE
"""And what it may take while it lasts."""
LEFT_BY_ALL_BYTES = 20 * MEGABYTE
"""What hundreds of matches, many at once, may leave it larger by."""
PEAK_OF_EACH_BYTES = 10 * MEGABYTE
"""What each of many at once may take: mostly what Python's collector has not come to yet."""
TRANSCRIPT_BYTES = 1_500_000
"""Of a match: a window's bytes, each spelled as two, of what is refused its beginning, and what is sent."""
LOG_BYTES = 300_000
"""What is kept of a bot's outputs, and the line that says what was left out."""
THINKS_US = 700_000
"""More than a sample bot thinks over a match, and less than one window that it lost would be charged."""
AT_ONCE = {"main_ms": 5_000, "startup_ms": 15_000}
"""Terms for matches that are all played at once: a hundred processes start, and share this machine's cores."""
AGAIN_AND_AGAIN, LONG = ("deaf", "reconnects"), {"main_ms": 2_400}
"""Bad bots that are hung up on for many hellos, and the terms of their matches."""
OF_EACH_KIND = ("never_hello", "wrong_token", "silent", "garbage", "flood", "crash_after_submitting", "orphans")
"""Of each kind in the table, one that the quick tests play, too."""
HONEST: dict[str, tuple[str, tuple[str, ...]]] = {
    "mist": ("heaven-and-hell", ("mist_tracker", "mist_hunter")),
    "hive-mind": ("gauntlet", ("hive_mind_counter", *["hive_mind_random"] * 4)),
}
"""Matches of sample bots, by game: the variant, and who plays. They draw from their own seeds only."""


def plan(isolation: Isolation, **policy: object) -> Plan:
    """Plan a short match in which the bad bot moves first."""
    terms = {"main_ms": 800, "startup_ms": 2_500, "refusals_per_match": REFUSALS, "unfair": "note"} | policy
    return mist_plan(2 * WINDOWS, policy=terms, isolation=isolation)


async def against(
    name: str, folder: Path, isolation: Isolation, wire: Wire | None = None, **policy: object
) -> AttemptResult:
    """Play a match of a bad bot against one of the samples."""
    folder.mkdir()
    players = [SandboxedBot(bad_bot(folder, name)), SandboxedBot(find_bot("mist_random"))]
    return await play(plan(isolation, **policy), players, transcript=folder / "match.jsonl", wire=wire)


@dataclass
class Memory:
    """This process's, over a while: in bytes."""

    before: int
    peak: int = 0
    after: int = 0


def give_back() -> None:
    """Lets go of what nobody uses any more: this process's memory is then what it needs."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # the GNU library's
        trim(0)


@asynccontextmanager
async def watched_memory() -> AsyncIterator[Memory]:
    """Watch this process's memory meanwhile."""
    give_back()
    memory = Memory(before=resident_bytes())

    async def look() -> None:
        while True:
            memory.peak = max(memory.peak, resident_bytes())
            await trio.sleep(0.005)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        yield memory
        nursery.cancel_scope.cancel()
    give_back()
    memory.after = resident_bytes()


def partners_share(result: AttemptResult) -> list[str]:
    """All that the sample bot said and heard."""
    return timeless(Path(result.transcript))[1]


def refused(result: AttemptResult) -> dict[str, int]:
    """How many of the bad bot's messages were, by `Refusal`."""
    records = read_transcript(Path(result.transcript))
    return next(record.refused[0] for record in records if isinstance(record, Ended))


def assert_as_expected(name: str, result: AttemptResult, silent: AttemptResult) -> None:
    """Assert that the match ended as it should, and that the bad bot's partner was not disturbed."""
    assert (None, Conduct.OK) == (result.void, result.conduct[1])
    assert TABLE[name].fits(result.conduct[0], refused(result)), (name, result.conduct[0], refused(result))
    assert partners_share(silent) == partners_share(result)
    assert silent.outcome == result.outcome
    assert (WINDOWS, 0) == (result.windows[1], result.defaults[1])
    assert replay(read_transcript(Path(result.transcript))).match.over
    assert [] == processes_of(Path(result.transcript).with_name(name))


@pytest.fixture(scope="session")
def silent(isolation: Isolation, tmp_path_factory: pytest.TempPathFactory) -> AttemptResult:
    """Play the match against a bot that says nothing: all others are compared to it. It also warms the process."""
    folder = tmp_path_factory.mktemp("zoo")
    for name in ("warm", "silent"):
        result = trio.run(against, "silent", folder / name, isolation)
    assert (WINDOWS, 0) == (result.windows[1], result.defaults[1])
    return result


def test_every_bad_bot_has_its_line_in_the_table() -> None:
    files = {file.stem for file in zoo.BAD_BOTS.glob("*.py")}
    assert files == {*TABLE, zoo.SHARED, held_up.NAME}


def test_differences_between_two_matches_other_than_times_are_seen(tmp_path: Path) -> None:
    """Else no comparison here would prove anything."""
    played = EXAMPLE.read_text()
    later, other = tmp_path / "later", tmp_path / "other"
    later.write_text(re.sub(r'"(at|opened|deadline|arrived)":\d+', r'"\1":9', played))
    other.write_text(re.sub(r'"(cells)":\["F4"\]', r'"\1":["F5"]', played))
    assert timeless(EXAMPLE) == timeless(later)
    assert timeless(EXAMPLE)[1] == timeless(other)[1], "nobody but its own seat was told of it"
    assert timeless(EXAMPLE) != timeless(other)


async def test_a_bot_that_still_runs_is_seen(isolation: Isolation, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(against, "forks", tmp_path / "match", isolation)
        with trio.fail_after(120):
            while len(processes_of(tmp_path / "match" / "forks")) < 10:  # noqa: ASYNC110 - they do not tell us
                await trio.sleep(0.01)
        nursery.cancel_scope.cancel()
    assert [] == processes_of(tmp_path / "match" / "forks")


@pytest.mark.parametrize(
    "name",
    [
        name if name in OF_EACH_KIND else pytest.param(name, marks=pytest.mark.slow)
        for name in TABLE
        if name not in AGAIN_AND_AGAIN
    ],
)
async def test_a_bad_bot_is_named_rightly_and_harms_no_other(
    name: str, isolation: Isolation, silent: AttemptResult, tmp_path: Path
) -> None:
    await assert_named_and_harmless(name, isolation, silent, tmp_path)


@pytest.mark.slow
async def test_a_bot_that_reconnects_again_and_again_is_named_rightly_and_harms_no_other(
    isolation: Isolation, tmp_path: Path
) -> None:
    """Twenty hellos and their answers take seconds beside busy processors."""
    silent = await against("silent", tmp_path / "silent", isolation, None, **LONG)
    assert 0 == silent.defaults[1]
    for name in AGAIN_AND_AGAIN:
        (tmp_path / name).mkdir()
        await assert_named_and_harmless(name, isolation, silent, tmp_path / name, **LONG)


async def assert_named_and_harmless(
    name: str, isolation: Isolation, silent: AttemptResult, tmp_path: Path, **terms: object
) -> None:
    """Its conduct and refusals are as the table says, and it cost neither its partner nor the referee anything."""
    with trio.fail_after(60):
        async with watched_memory() as memory:
            result = await against(name, tmp_path / "match", isolation, None, **terms)
    assert_as_expected(name, result, silent)
    assert result.charged_us[1] < THINKS_US
    assert memory.peak - memory.before < PEAK_BYTES
    assert memory.after - memory.before < LEFT_BYTES
    assert Path(result.transcript).stat().st_size < TRANSCRIPT_BYTES
    assert all(log.stat().st_size <= LOG_BYTES for log in (tmp_path / "match").glob("*.log"))


async def honest_match(game: str, folder: Path, isolation: Isolation, wire: Wire) -> dict[int | None, list[str]]:
    """Play a match that nobody spoils; return its transcript, apart from times."""
    folder.mkdir()
    variant, bots = HONEST[game]
    the_plan = Plan(
        match="honest", game=game, variant=variant, seed=5, policy=Policy(startup_ms=60_000), isolation=isolation
    )
    players = [SandboxedBot(find_bot(bot)) for bot in bots]
    result = await play(the_plan, players, transcript=folder / "match.jsonl", wire=wire)
    assert (None, {Conduct.OK}) == (result.void, set(result.conduct))
    return timeless(Path(result.transcript))


@pytest.mark.slow
@pytest.mark.alone
async def test_all_bad_bots_at_once_leave_honest_matches_beside_them_as_they_are(
    isolation: Isolation, silent: AttemptResult, tmp_path: Path
) -> None:
    """One referee plays them all; and each bad bot comes to the same as by itself."""
    results: dict[str, AttemptResult] = {}
    played = dict.fromkeys(HONEST, 0)

    async def bad(name: str) -> None:
        results[name] = await against(name, tmp_path / name, isolation, wire, **AT_ONCE)

    async def honest(game: str, undisturbed: dict[int | None, list[str]]) -> None:
        for _ in range(3):
            played[game] += 1
            beside = await honest_match(game, tmp_path / f"{game} {played[game]}", isolation, wire)
            assert undisturbed == beside

    with trio.fail_after(300):
        async with open_wire() as wire:
            alone = {game: await honest_match(game, tmp_path / game, isolation, wire) for game in HONEST}
            async with watched_memory() as memory, trio.open_nursery() as beside:
                for game in HONEST:
                    beside.start_soon(honest, game, alone[game])
                async with trio.open_nursery() as zoos:
                    for name in TABLE:
                        zoos.start_soon(bad, name)
    for name, result in results.items():
        assert_as_expected(name, result, results["silent"])
    assert silent.outcome == results["silent"].outcome
    assert all(count > 1 for count in played.values())
    assert memory.peak - memory.before < len(TABLE) * PEAK_OF_EACH_BYTES
    assert memory.after - memory.before < LEFT_BY_ALL_BYTES


async def against_hog(name: str, folder: Path, isolation: Isolation, main_ms: int, windows: int) -> AttemptResult:
    """Play a match of a hog, which moves first, under the default policy: by it a void match is played again."""
    plan = mist_plan(2 * windows, policy={"main_ms": main_ms, "startup_ms": 10_000}, isolation=isolation)
    players = [SandboxedBot(bad_bot(folder, name)), SandboxedBot(find_bot("mist_random"))]
    return await play(plan, players, transcript=folder / "match.jsonl")


@pytest.mark.parametrize(
    ("main_ms", "windows"), [(300, 2), (1_000, 2), pytest.param(8_000, 1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", HOGS)
async def test_only_the_bot_that_makes_the_referee_late_is_charged_for_it(
    name: str, main_ms: int, windows: int, isolation: Isolation, tmp_path: Path
) -> None:
    with trio.fail_after(120):
        result = await against_hog(name, tmp_path, isolation, main_ms, windows)
    assert result.void is None
    assert {"bot": windows} == result.verdicts[0]
    assert (windows, 0) == result.defaults
    assert ({}, Conduct.OK, 0) == (result.verdicts[1], result.conduct[1], result.refused[1])
    assert result.charged_us[1] < windows * 1_000 * main_ms / 2
    assert replay(read_transcript(Path(result.transcript))).match.over
