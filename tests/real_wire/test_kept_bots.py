"""Bots that stay: each match is told, timed, logged and judged by itself, and their folders are empty at first."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec import UNSET, Raw

from protocol.codec import encode
from protocol.refusals import Conduct
from referee.bot_folder.manifest import BotFolder, built_in, find_bot
from referee.games import GAMES
from referee.host.host import Host
from referee.host.kept_bots import KeptBots, Kind, open_kept_bots
from referee.host.observers import MatchLog
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import ProcessSeat, SandboxedBot
from referee.match.records import BotIdentity, Header, In
from referee.match.terms import Policy
from referee.sandbox.bot_files import MOST_DEEP, MOST_ENTRIES, Scratch, empty, is_empty
from referee.sandbox.host_machine import Isolation
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from referee.wire.local import Wire, open_wire
from tests.builders.bots import write_bot
from tests.builders.plans import mist_plan

THOROUGH = (
    "mist_search",
    "mist_tracker",
    "mist_planner",
    "runes_to_ruins_seeker",
    "runes_to_ruins_veiler",
    "fight_for_a_name_herald",
    "fight_for_a_name_scout",
    "pointing_planner",
    "hive_mind_counter",
    "hive_mind_reader",
)
"""Sample bots that think for long."""
BOT = """
import os, sys, threading
from pathlib import Path
from bots.kit import Bot, run
from protocol.messages import Note, Submit

HOME = Path(os.environ["HOME"])
PROCESS = os.urandom(8).hex()

class Keeper(Bot):
    matches = 0

    def welcome(self):
        self.matches += 1
        print("match", self.matches, self.match.match, flush=True)
        self.told = False

    def decide(self, window):
        if not self.told:
            self.told = True
            left = os.listdir(HOME) + ([] if HOME.name.startswith("scratch-") else os.listdir("/dev/shm"))
            window.say(Note(f"{{PROCESS}} {{self.matches}} {{left}}"))
        {deciding}
        return {{"cells": ["E5"]}}

    def over(self, outcome):
        {over}

run(Keeper())
"""


LEAVES = """(HOME / 'left').write_text('x')
        HOME.name.startswith('scratch-') or Path('/dev/shm', PROCESS).write_text('x')"""


BY_LINES = 'transport = "stdio"\nkeeps = true'


def keeper(folder: Path, *, deciding: str = "pass", over: str = "pass", about: str = "keeps = true") -> BotFolder:
    """Write a bot that notes at a match's first window its process, matches so far, and folders' content."""
    return find_bot(str(write_bot(folder, BOT.format(deciding=deciding, over=over), about)))


class Series:
    """Matches one after the other, in which bots may stay."""

    def __init__(self, folder: Path, wire: Wire, kept: KeptBots) -> None:
        self.kept = kept
        self._folder = folder
        self._wire = wire
        self._played = 0

    async def play(
        self, *bots: BotFolder, isolation: Isolation = "strict", warm: bool = True, **policy: object
    ) -> "Played":
        """One match of six windows for each of two seats; mist_random has the second if only one bot is named."""
        self._played += 1
        plan = mist_plan(
            12,
            match=f"match-{self._played}",
            seed=self._played,
            policy={"processes": "kept", **policy},
            isolation=isolation,
            warm=warm,
        )
        players = [SandboxedBot(bot) for bot in (*bots, find_bot("mist_random"))[:2]]
        with trio.fail_after(60):
            return Played(await self.one(plan, players, self._folder / f"{self._played}.jsonl"))

    async def one(self, plan: Plan, players: list[SandboxedBot], transcript: Path) -> AttemptResult:
        """Any match."""
        return await play(plan, players, transcript=transcript, wire=self._wire, kept=self.kept)

    @property
    def idle(self) -> int:
        """How many bots wait."""
        return len(self.kept.idle)


class Played:
    """One match."""

    def __init__(self, result: AttemptResult) -> None:
        self.result = result
        self.path = Path(result.transcript)
        self.records = list(read_transcript(self.path))

    @property
    def bots(self) -> Sequence[BotIdentity]:
        """By seat."""
        header = self.records[0]
        assert isinstance(header, Header)
        return header.bots

    @property
    def kept(self) -> list[object]:
        """By seat: how many matches its process had played before."""
        return [bot.kept for bot in self.bots]

    def note(self, seat: int = 0) -> list[str]:
        """Process, match, and what was in its scratch."""
        said = [msgspec.json.decode(r.frame) for r in self.records if isinstance(r, In) and r.seat == seat]
        text: str = next(each["text"] for each in said if each["type"] == "note")
        return text.split(" ", 2)

    def log(self, seat: int = 0) -> str:
        """Return what the bot printed."""
        lines = self.path.with_suffix(f".seat-{seat}.log").read_text().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("kit: "))  # A slow start has one.


@pytest.fixture
async def series(tmp_path: Path) -> "object":
    """Open a wire over which matches are played one after the other."""
    async with open_wire() as wire, open_kept_bots(wire) as kept:
        yield Series(tmp_path, wire, kept)


@pytest.mark.parametrize(
    ("isolation", "warm"), [("strict", True), ("strict", False), ("standard", True), ("none", False)]
)
async def test_a_bot_plays_match_after_match_in_one_process(
    tmp_path: Path, series: Series, isolation: Isolation, *, warm: bool
) -> None:
    bot = keeper(tmp_path / "bot", deciding=LEAVES)
    matches = [await series.play(bot, isolation=isolation, warm=warm) for _ in range(3)]
    assert [(Conduct.OK, Conduct.OK)] * 3 == [each.result.conduct for each in matches]
    assert [[UNSET, UNSET], [1, 1], [2, 2]] == [each.kept for each in matches]
    assert 1 == len({each.note()[0] for each in matches})
    assert ["1", "2", "3"] == [each.note()[1] for each in matches]
    assert ["[]"] * 3 == [each.note()[2] for each in matches]
    # Tokens, seeds and logs are each match's own.
    assert 3 == len({each.bots[0].token for each in matches}) == len({each.bots[0].seed for each in matches})
    assert [f"match {n} match-{n}\n" for n in (1, 2, 3)] == [each.log() for each in matches]
    for each in matches:
        replay(each.records)
        assert (0, 0) == each.result.refused
        assert (6, 6) == each.result.windows


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in THOROUGH else name
        for name in built_in()
        if find_bot(name).keeps
    ],
)
async def test_sample_bots_play_a_match_again_as_they_played_it(tmp_path: Path, series: Series, name: str) -> None:
    bot = find_bot(name)
    if "--ms" in bot.command:  # It thinks as long as the machine lets it, and is told how much to think.
        at = bot.command.index("--ms")
        bot = msgspec.structs.replace(bot, command=(*bot.command[:at], "--simulations", "20"))
    assert bot.games is not None
    game = GAMES[bot.games[0]]
    variant = game.variants[0].name
    options = Raw(encode({"max_turns": 24})) if game.name == "mist" else None
    seats = game.seats(game.read_options(variant, options))
    others = [SandboxedBot(find_bot(f"{game.name.replace('-', '_')}_random"))] * (seats - 1)
    said = []
    for number in range(2):
        policy = Policy(processes="kept")
        plan = Plan(match="again", game=game.name, variant=variant, seed=7, options=options, policy=policy)
        transcript = tmp_path / f"{number}.jsonl"
        with trio.fail_after(240):
            await series.one(plan, [SandboxedBot(bot), *others], transcript)
        records = list(read_transcript(transcript))
        assert [number or UNSET] * seats == [each.kept for each in records[0].bots]  # type: ignore[union-attr]
        said.append([(r.seat, r.frame) for r in records if isinstance(r, In) and '"hello"' not in r.frame])
    assert sorted(said[0]) == sorted(said[1])


async def test_a_policy_of_fresh_processes_keeps_none(tmp_path: Path, series: Series) -> None:
    bot = keeper(tmp_path / "bot")
    assert [[UNSET, UNSET]] * 2 == [(await series.play(bot, processes="fresh")).kept for _ in range(2)]
    assert 0 == series.idle


@pytest.mark.parametrize("about", ["", "keeps = true\n[limits]\ncpu_seconds = 60"], ids=["silent", "budget"])
async def test_bots_without_keeps_or_with_a_total_budget_are_started_for_each_match(
    tmp_path: Path, series: Series, about: str
) -> None:
    bot = keeper(tmp_path / "bot", about=about)
    assert [[UNSET, UNSET], [UNSET, 1]] == [(await series.play(bot)).kept for _ in range(2)]


@pytest.mark.parametrize("ponder", [True, False])
async def test_both_seats_may_be_the_same_bots(tmp_path: Path, series: Series, *, ponder: bool) -> None:
    bot = keeper(tmp_path / "bot")
    matches = [await series.play(bot, bot, ponder=ponder) for _ in range(2)]
    assert [[UNSET, UNSET], [1, 1]] == [each.kept for each in matches]
    assert 2 == len({each.note(seat)[0] for each in matches for seat in (0, 1)})


async def test_bots_of_other_content_or_name_or_walls_have_their_own(tmp_path: Path, series: Series) -> None:
    one, other = keeper(tmp_path / "one"), keeper(tmp_path / "other")
    first = await series.play(one)
    assert UNSET is (await series.play(other)).bots[0].kept
    assert UNSET is (await series.play(one, isolation="standard")).bots[0].kept
    assert 1 == (await series.play(one)).bots[0].kept
    assert "one" == first.bots[0].name


@pytest.mark.parametrize(
    ("deciding", "conduct"),
    [
        ("os._exit(3)", Conduct.CRASHED),
        ("exit(0)", Conduct.DISCONNECTED),
        ("[window.say(Note('x')) for _ in range(2_000)]", Conduct.MISBEHAVED),
    ],
)
async def test_a_bot_that_dies_or_misbehaves_is_started_afresh(
    tmp_path: Path, series: Series, deciding: str, conduct: Conduct
) -> None:
    bot = keeper(tmp_path / "bot", deciding=f"if self.match.match == 'match-2': {deciding}")
    matches = [await series.play(bot) for _ in range(4)]
    assert [Conduct.OK, conduct, Conduct.OK, Conduct.OK] == [each.result.conduct[0] for each in matches]
    assert [UNSET, 1, UNSET, 1] == [each.bots[0].kept for each in matches]
    one, another, again = (matches[number].note()[0] for number in (0, 2, 3))
    assert one != another == again


async def test_the_cause_of_an_end_quotes_nothing_of_an_earlier_match(tmp_path: Path, series: Series) -> None:
    """A match of the same block has the same deal, and its page is public."""
    speaks = "if self.matches == 1: print('secret', flush=True)"
    bot = keeper(tmp_path / "bot", deciding=f"{speaks}\n        if self.matches == 2: os._exit(3)")
    program = tmp_path / "bot" / "bot.py"
    program.write_text(program.read_text().replace("        print(", "        self.matches == 1 and print("))
    bot = find_bot(bot.given)
    matches = [await series.play(bot) for _ in range(2)]
    assert [UNSET, 1] == [each.bots[0].kept for each in matches]
    assert "secret" in matches[0].log()
    report = matches[1].result.reports[0]
    assert ("it exited with code 3", "") == (report.loss, report.last_line)


async def test_a_bot_that_dies_before_its_end_is_waited_for_is_not_started_again(
    tmp_path: Path, series: Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that crashed in its first window, beside a busy machine, got a second life in the same match."""
    run = ProcessSeat.run

    async def later(player: ProcessSeat, host: Host, log: MatchLog) -> None:
        await trio.sleep(0.5)
        await run(player, host, log)

    monkeypatch.setattr(ProcessSeat, "run", later)
    bot = keeper(tmp_path / "bot", deciding="if self.matches == 2: os._exit(3)")
    matches = [await series.play(bot) for _ in range(2)]
    assert [Conduct.OK, Conduct.CRASHED] == [each.result.conduct[0] for each in matches]
    hellos = [each for each in matches[1].records if isinstance(each, In) and '"hello"' in str(each.frame)]
    assert [0, 1] == [each.seat for each in hellos]


async def test_the_most_memory_of_a_match_is_its_own(tmp_path: Path, series: Series) -> None:
    bot = keeper(tmp_path / "bot", deciding="if self.matches == 1: len(bytearray(100_000_000))")
    matches = [await series.play(bot) for _ in range(2)]
    assert [UNSET, 1] == [each.bots[0].kept for each in matches]
    first, second = (each.result.reports[0].peak_bytes for each in matches)
    assert first is not None
    assert first > 100_000_000
    assert second is None or second < 100_000_000


async def test_a_childs_limit_in_an_earlier_match_ends_no_later_one(tmp_path: Path, series: Series) -> None:
    child = "subprocess.run([sys.executable, '-c', 'len(bytes(10**9) + bytes(10**9))'])"
    bot = keeper(
        tmp_path / "bot",
        deciding=f"import subprocess\n        self.matches == 1 and not window.id and {child}\n"
        "        if self.matches == 2: os._exit(3)",
    )
    matches = [await series.play(bot) for _ in range(2)]
    assert [UNSET, 1] == [each.bots[0].kept for each in matches]
    assert "it exited with code 3" == matches[1].result.reports[0].loss


async def test_a_bot_that_was_started_again_in_a_match_does_not_stay(tmp_path: Path, series: Series) -> None:
    bot = keeper(tmp_path / "bot", deciding="if self.matches == 2: os._exit(3)")
    matches = [await series.play(bot, fault="restart") for _ in range(3)]
    assert [UNSET, 1, UNSET] == [each.bots[0].kept for each in matches]
    assert [0, 0, 0] == [each.result.defaults[0] for each in matches]


@pytest.mark.parametrize(
    "over",
    [
        "exit(0)",
        "threading.Event().wait()",
        "[open(HOME / str(n), 'w') for n in range(200)], [os.mkdir(HOME / str(n)) for n in range(1_000, 1_900)]",
        "os.makedirs(HOME.joinpath(*'abcdefghijklmnopqr'))",
        "[self.session.say(Note('x')) for _ in range(3_000)]",  # The match's end may take many of them.
    ],
    ids=["leaves", "does not come back", "leaves too much", "leaves too deep", "says too much"],
)
async def test_a_bot_that_has_changed_its_state_is_started_again(
    tmp_path: Path, series: Series, over: str
) -> None:
    bot = keeper(
        tmp_path / "bot", deciding="self.session = window", over=over, about="keeps = true\n[limits]\nfiles = 512"
    )
    matches = [await series.play(bot) for _ in range(2)]
    assert [Conduct.OK] * 2 == [each.result.conduct[0] for each in matches]
    assert [UNSET] * 2 == [each.bots[0].kept for each in matches]
    assert ["[]"] * 2 == [each.note()[2] for each in matches]


@pytest.mark.parametrize("warm", [True, False])
async def test_a_bot_that_reconnects_and_leaves_at_once_harms_no_match(
    tmp_path: Path, series: Series, *, warm: bool
) -> None:
    """Its process has ended, and its log is closed, while the other's end is waited for."""
    back = """
        import gc
        from bots.kit import program
        line = next(each for each in gc.get_objects() if isinstance(each, program.WireLine))
        while not isinstance(said := program._next(line), program.Invited):
            pass
        hello = program.Hello(token=said.token, name="bot", version="1", protocol=program.PROTOCOL)
        line.send(program.encode(hello))
        line.close()
        os._exit(0)
    """
    bot = keeper(tmp_path / "bot", over=back)
    slow = keeper(tmp_path / "slow", over="__import__('time').sleep(0.4)")
    for _ in range(3):
        # Where it is frozen before it has left, it leaves in the next match.
        assert (await series.play(bot, slow, warm=warm)).result.void is None


async def test_the_place_of_a_bot_that_does_not_stay_is_removed(
    tmp_path: Path, series: Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = tmp_path / "places"
    places.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(places))
    bot = keeper(tmp_path / "bot", over="exit(0)")
    for _ in range(3):
        await series.play(bot)
    with trio.fail_after(60):
        while series.idle != len(list(places.glob("arena-*/referee.sock"))):  # noqa: ASYNC110 - the kernel ends it
            await trio.sleep(0.01)


async def test_messages_after_the_end_of_a_match_count_in_no_match(tmp_path: Path, series: Series) -> None:
    over = "[self.session.say(Note(str(n))) for n in range(150)], self.session.say(Submit(window=5, action=None))"
    bot = keeper(tmp_path / "bot", deciding="self.session = window", over=over)
    matches = [await series.play(bot) for _ in range(3)]
    assert [UNSET, 1, 2] == [each.bots[0].kept for each in matches]
    assert [0] * 3 == [each.result.refused[0] for each in matches]


async def test_a_waiting_bot_is_frozen(tmp_path: Path, series: Series) -> None:
    spin = "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"
    bot = keeper(tmp_path / "bot", deciding=f"if self.matches == 1: {spin}")
    await series.play(bot)
    process = next(each.process for each in series.kept.idle if each.kind.folder.name == "bot")
    assert process is not None
    await trio.sleep(0.1)
    before = process.cpu_us()
    await trio.sleep(0.5)
    assert process.cpu_us() - before < 1_000
    assert 1 == (await series.play(bot)).bots[0].kept


async def test_processor_time_is_each_match_s_own(tmp_path: Path, series: Series) -> None:
    spin = "[None for _ in range(3_000_000)]"
    bot = keeper(tmp_path / "bot", deciding=f"if self.matches == 1: {spin}")
    matches = [await series.play(bot, main_ms=60_000) for _ in range(2)]
    used = [each.result.charged_us[0] for each in matches]
    assert used[1] < used[0] / 4


async def test_a_program_that_speaks_by_lines_stays_too(tmp_path: Path, series: Series) -> None:
    program = (
        "while read -r line; do case $line in "
        """'{"type":"window"'*) id=${line#*'"id":'};"""
        """ echo '{"type":"submit","window":'"${id%%,*}"',"action":{"cells":["E5"]}}' ;; esac; done\n"""
    )
    folder = write_bot(tmp_path / "sh", program, BY_LINES, file="bot.sh", run="sh")
    matches = [await series.play(find_bot(str(folder))) for _ in range(3)]
    assert [UNSET, 1, 2] == [each.bots[0].kept for each in matches]
    assert [0] * 3 == [each.result.defaults[0] for each in matches]


async def test_a_program_by_lines_that_ends_before_it_spoke_in_a_later_match_never_started_in_that(
    tmp_path: Path, series: Series
) -> None:
    program = (
        "import json, sys\nmatches = 0\nfor line in sys.stdin:\n    message = json.loads(line)\n"
        '    matches += message["type"] == "welcome"\n    if matches == 2:\n        sys.exit(3)\n'
        '    if message["type"] == "window":\n'
        '        print(json.dumps({"type": "submit", "window": message["id"], "action": message["default"]}))\n'
    )
    bot = find_bot(str(write_bot(tmp_path / "py", program, BY_LINES)))
    first, second, third = [await series.play(bot, fault="forfeit") for _ in range(3)]
    assert [UNSET, 1, UNSET] == [each.bots[0].kept for each in (first, second, third)]
    assert [Conduct.OK, Conduct.NEVER_STARTED, Conduct.OK] == [
        each.result.conduct[0] for each in (first, second, third)
    ]


@pytest.mark.slow
async def test_only_so_many_wait_and_those_go_that_have_waited_longest(
    tmp_path: Path, series: Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.host.kept_bots.MOST_IDLE", 4)
    bots = [keeper(tmp_path / f"bot-{number}") for number in range(5)]

    async def one(bot: BotFolder) -> None:
        await series.play(bot, isolation="none", startup_ms=50_000)

    async with trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(one, bot)
    assert 4 == series.idle


async def test_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    bot = keeper(tmp_path / "bot")
    async with open_wire() as wire, open_kept_bots(wire) as kept:
        series = Series(tmp_path, wire, kept)
        await series.play(bot)
        processes = [each.process for each in kept.idle]
        assert 2 == len(processes)
    assert all(process is not None and process.has_ended for process in processes)


async def test_one_that_was_killed_while_it_waited_is_not_given_out(tmp_path: Path, series: Series) -> None:
    bot = keeper(tmp_path / "bot")
    await series.play(bot)
    for each in series.kept.idle:
        assert each.process is not None
        await each.process.kill()
    assert [UNSET, UNSET] == (await series.play(bot)).kept


async def test_a_place_that_was_taken_is_given_back_when_the_match_cannot_begin(
    tmp_path: Path, series: Series
) -> None:
    bot = keeper(tmp_path / "bot")
    await series.play(bot)
    (tmp_path / "2.jsonl").mkdir()
    with pytest.raises(Exception, match=r"2\.jsonl"):
        await series.play(bot)
    assert 0 == series.idle
    assert isinstance(Kind(bot, "strict", True), Kind)


def test_no_link_is_followed_when_a_folder_is_emptied(tmp_path: Path) -> None:
    scratch, outside = tmp_path / "scratch", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (scratch / "a" / "b").mkdir(parents=True)
    (scratch / "a" / "b" / "link").symlink_to(outside)
    (scratch / "file").symlink_to(outside / "kept")
    os.mkfifo(scratch / "a" / "pipe")
    assert empty(Scratch(scratch))
    assert is_empty(Scratch(scratch))
    assert "kept" == (outside / "kept").read_text()
    # Not even where the folder itself is one.
    (tmp_path / "link").symlink_to(outside)
    assert not empty(Scratch(tmp_path / "link"))
    assert (outside / "kept").is_file()


def test_the_machine_s_own_folder_is_never_emptied(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    # As it would be if the bot had ended, and its number were another process's.
    seen = Path(f"/proc/{os.getpid()}/root{tmp_path}")
    assert not empty(Scratch(seen, but_not=tmp_path))
    assert (tmp_path / "kept").exists()
    assert empty(Scratch(seen, but_not=tmp_path.parent))


def test_a_folder_is_emptied_up_to_a_bound(tmp_path: Path) -> None:
    most, more = tmp_path / "most", tmp_path / "more"
    for folder, entries in ((most, MOST_ENTRIES), (more, MOST_ENTRIES + 1)):
        folder.mkdir()
        for number in range(entries):
            (folder / str(number)).touch()
    assert (True, False) == (empty(Scratch(most)), empty(Scratch(more)))
    deep, deeper = tmp_path / "deep", tmp_path / "deeper"
    deep.joinpath(*"a" * MOST_DEEP).mkdir(parents=True)
    deeper.joinpath(*"a" * (MOST_DEEP + 1)).mkdir(parents=True)
    assert (True, False) == (empty(Scratch(deep)), empty(Scratch(deeper)))
    assert not is_empty(Scratch(tmp_path / "nowhere"))
    assert not empty(Scratch(tmp_path / "nowhere"))
