"""Each step says who acted, in what time, what was refused and why, and why a default was taken."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from click.testing import CliRunner
from msgspec import Raw

from arena.commands import main
from arena.replay import Recording, recorded, recording_of, recording_of_seat, steps
from arena.replay.recording import SECONDS, ReplayCursor, taken_text
from arena.terminal import Screen
from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, Hello, Opened, Over, Submit
from referee.host.one_match import play
from referee.host.plan import Plan
from referee.host.players import LocalSeat
from referee.match.terms import Policy
from referee.sandbox.meter import NOTHING
from referee.transcript import read_transcript, seat_lines
from referee.wire.line import MemoryLine
from tests.arena.live.local_bots import draws
from tests.referee.host.retold import whole
from tests.referee.transcript.forged import forged
from tests.referee.virtual import Bot, after, answering, mist

FAR = ("A1", "I5", "A3", "I3", "A5")


async def troubled(line: MemoryLine) -> None:
    """Play, by window: E5, three illegal actions and a legal one, the default, a late action, nothing."""
    line.say(encode(Hello(token="", name="troubled", version="1", protocol=PROTOCOL)))
    while True:
        match decode_server_message(await line.hear()):
            case Opened(id=number):
                await act(line, number)
                if number == 4:
                    return
            case Over():
                return
            case _:
                pass


async def act(line: MemoryLine, number: int) -> None:
    def submit(action: Any) -> None:
        line.say(encode(Submit(window=number, action=Raw(encode(action)), final=True)))

    if number == 1:
        for cell in ("J9", "J9", "<b>\x1b[2J"):
            submit({"cells": [cell]})
        await trio.sleep(2)
    if number == 3:
        await trio.sleep(60.25)
    submit(None if number == 2 else {"cells": [FAR[number]]})


@pytest.fixture
def autojump_clock() -> trio.testing.MockClock:
    return trio.testing.MockClock(autojump_threshold=0)


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("transcripts") / "m.jsonl"
    plan = Plan(
        match="m", game="mist", variant="contractual-obligation", seed=1,
        options=Raw(b'{"first":0,"max_turns":12}'), policy=Policy(fault="default"),
    )  # fmt: skip

    async def playing() -> None:
        await play(plan, (LocalSeat("troubled", troubled), draws("bob", 1)), transcript=path)

    trio.run(playing, clock=trio.testing.MockClock(autojump_threshold=0))
    return path


@pytest.fixture
def recording(transcript: Path) -> Recording:
    return recording_of(transcript)


def told(recording: Recording, number: int, eyes: Any = "host") -> str:
    return "\n".join(recording.lines(number, eyes))


def test_each_action_is_shown_with_its_seat_and_time(recording: Recording) -> None:
    assert "seat 0 (troubled): A1, in less than 1 ms" in told(recording, 1)
    assert "seat 1 (bob): " in told(recording, 2)
    assert ", in 1.0 s" in told(recording, 2)
    assert "step 2 of 13: window 0 (turn), over at 0:00.0" in told(recording, 1, "spectator")


def test_a_step_opens_with_its_remarks_for_the_host_alone(recording: Recording) -> None:
    lines = told(recording, 7).splitlines()
    assert ["step 8 of 13", "troubled misses the deadline: plays the default"] == lines[:2]
    assert "troubled gives up a piece in the centre" == lines[2]
    assert lines[3].startswith("window 6 (turn), over at 1:")
    for eyes in ("spectator", 0, 1):
        assert "misses" not in told(recording, 7, eyes)
        assert "gives up" not in told(recording, 7, eyes)


def test_refusals_are_shown_in_the_words_sent_to_the_bot(recording: Recording) -> None:
    text = told(recording, 3)
    assert "seat 0 (troubled): refused (illegal): 'J9' is no cell of this board (2 times)" in text
    assert "seat 0 (troubled): I5, in 2.0 s" in text


def test_the_reason_for_a_default_is_shown(recording: Recording) -> None:
    assert "seat 0 (troubled): E5, by default, after less than 1 ms: the bot asked for it" in told(recording, 5)
    late = told(recording, 7)
    assert "seat 0 (troubled): E5, by default, after 60 s: no answer in time" in late
    assert "seat 0 (troubled): the answer came 250 ms too late" in late
    assert "seat 0 (troubled): refused (late): this window is over for you" in told(recording, 8)
    gone = told(recording, 11)
    assert "seat 0 (troubled): E5, by default, after less than 1 ms: the bot is gone: " in gone


async def test_a_verdict_stands_at_the_window_that_it_is_of(autojump_clock: object) -> None:
    policy = Policy(main_ms=500, reserve_ms=0)
    played = await mist(
        after(0.7, {"cells": ["C3"]}), after(0.1, {"cells": ["G7"]}),
        max_turns=4, policy=policy, measure=lambda _: NOTHING,
    )  # fmt: skip
    recording = recorded(whole(played), Path("m.jsonl"))
    for number in (1, 3):
        assert "seat 0 (bot-0): the answer came 200 ms too late; verdict: bot" in told(recording, number)
    assert "too late" not in told(recording, 2)


async def test_refusals_without_an_answer_are_counted(autojump_clock: object) -> None:
    async def floods(bot: Bot, window: Opened) -> None:
        for _ in range(400):
            bot.submit(window.id, {"cells": ["J9"]})
        bot.submit(window.id, None, final=True)

    played = await mist(answering(floods), after(0.1, {"cells": ["G7"]}), max_turns=2)
    text = told(recorded(whole(played), Path("m.jsonl")), 1)
    refused = [line for line in text.splitlines() if "refused" in line]
    assert "seat 0 (bot-0): refused (illegal): 'J9' is no cell of this board (100 times)" == refused[0]
    assert "refused (flood)" in refused[1]
    untold = played.match.seats[0].refusals - 101
    assert f"seat 0 (bot-0): {untold} more messages refused" == refused[2]


def test_others_eyes_are_told_only_what_is_theirs(recording: Recording) -> None:
    for number in range(len(recording.steps)):
        for eyes in (1, "spectator"):
            assert "troubled" not in told(recording, number, eyes).replace("over (", "").split("turn limit")[0]
    assert "over (turn limit): " in told(recording, 12, "spectator")


def test_a_turn_is_found(recording: Recording) -> None:
    for turn in (1, 7, 12):
        step = recording.step_of_turn(turn)
        assert f"turn {turn}, " in recording.board(step, "host", plain=True).plain
    assert 12 == recording.step_of_turn(999_999_999)


def test_one_seats_file_tells_the_same_of_that_seat(transcript: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_bytes(b"".join(seat_lines(read_transcript(transcript), 0)))
    recording = recording_of_seat(own)
    text = "\n".join(told(recording, number, 0) for number in range(len(recording.steps)))
    for said in (
        "window 0: A1, in less than 1 ms",
        "your message: refused (illegal): 'J9' is no cell of this board (2 times)",
        "window 2: E5, by default, after less than 1 ms: the bot asked for it",
        "window 3: E5, by default, after 60 s: no answer in time",
        "the bot is gone: ",
    ):
        assert said in text


@pytest.fixture
def own(transcript: Path) -> bytes:
    """Seat 1's own file."""
    return b"".join(seat_lines(read_transcript(transcript), 1))


def with_frames(own: bytes, kind: str, change: Any) -> bytes:
    """A seat's own file in which somebody who knows the format changed the referee's messages of one kind."""

    def changed(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if line["kind"] == "out" and line["frame"]["type"] == kind:
                line["frame"] = {**line["frame"], **change}

    return forged(own, changed)


@pytest.mark.parametrize(
    "view",
    [
        None, 7, [], {}, {"turn": "x"}, {"turn": -1, "round": 2**70}, "\x1b[2J",
        {"seat": 9, "turn": 1, "mover": 7, "pieces": [1, 1], "forbidden": [], "may_swap": False,
         "first_move": None, "swapped": False,
         "visible": {"": "own", "Z99": "opponent"}, "spotted": [], "destroyed": [], "placed": [],
         "lost": []},
    ],
    ids=repr,
)  # fmt: skip
def test_a_forged_view_is_told_from_a_board(own: bytes, tmp_path: Path, view: Any) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(with_frames(own, "window", {"view": view}))
    result = CliRunner().invoke(main.main, ["replay", str(path), "--boards"])
    assert 0 == result.exit_code
    assert "what is shown here is not a board of mist: " in result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("closed", {"taken": {"cells": 7}}),
        ("closed", {"taken": {"cells": [["\x1b[2J"]]}}),
        ("closed", {"taken": "x" * 10_000}),
        ("closed", {"charged_ms": 10**300}),
        ("window", {"window": "\x1b[2J" * 999}),
        ("over", {"outcome": {"ranking": [[99], []], "reason": "\x1b[2J"}}),
    ],
)
def test_forged_words_of_one_seats_file_do_nothing(own: bytes, tmp_path: Path, kind: str, change: Any) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(with_frames(own, kind, change))
    result = CliRunner().invoke(main.main, ["replay", str(path), "--boards"])
    assert result.exit_code in (0, 1)
    assert "\x1b" not in result.stdout + result.stderr
    assert max(map(len, result.stdout.splitlines())) < 2_000
    assert result.stderr.count("\n") == result.exit_code


@pytest.mark.parametrize(
    ("kind", "change"),
    [("event", {"event": {"type": "unheard_of"}}), ("event", {"event": 7}), ("window", {"type": "unheard_of"})],
)
def test_a_message_that_is_none_of_the_games_is_named_with_its_line(
    own: bytes, tmp_path: Path, kind: str, change: Any
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(with_frames(own, kind, change))
    result = CliRunner().invoke(main.main, ["replay", str(path), "--boards"])
    assert 1 == result.exit_code
    assert re.match(rf"arena: {path}: line \d+: frame: no message of mist's: ", result.stderr)
    assert 1 == result.stderr.count("\n")


def test_a_recording_with_too_many_steps_is_not_stored(
    own: bytes, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(own)
    for shown, name in ((path, "MOST_STEPS"), (transcript, "MOST_STEPS"), (path, "MOST_BYTES")):
        with monkeypatch.context() as patched:
            patched.setattr(steps, name, 4)
            result = CliRunner().invoke(main.main, ["replay", str(shown), "--boards"])
        assert 2 == result.exit_code
        assert result.stderr.startswith(f"arena: {shown}: has more than 4 ")


def test_an_action_that_is_too_long_ends_with_dots() -> None:
    short, long = (taken_text("mist", {"cells": ["A1"] * cells}) for cells in (40, 400))
    assert "…" not in short
    assert long.startswith(short)
    assert "…" == long[-1]


MATCH = Path("docs/examples/three-turns.jsonl")
WIDTH, HEIGHT = 80, 24


@pytest.fixture
def player() -> ReplayCursor:
    return ReplayCursor(recording_of(MATCH), "host")


def shown(player: ReplayCursor, *, height: int = HEIGHT) -> list[str]:
    return [line.plain for line in player.lines(Screen(width=WIDTH, height=height), WIDTH, height)]


def places(player: ReplayCursor, keys: str) -> list[int]:
    found = []
    for key in keys:
        player.press(key)
        found.append(player.at)
    return found


def test_keys_step_forward_and_back_and_not_beyond_the_ends(player: ReplayCursor) -> None:
    assert [1, 2, 3, 2, 3, 4, 4] == places(player, "n \npnnn")
    assert [3, 2, 1, 0, 0] == places(player, "p\x7fppp")
    for key, at in (("\x1b[C", 1), ("\x1b[D", 0), ("\x1b[F", 4), ("\x1b[H", 0), ("x", 0)):
        player.press(key)
        assert at == player.at


def test_a_turn_is_typed_and_gone_to(player: ReplayCursor) -> None:
    places(player, "g3")
    assert shown(player)[-1].startswith("to turn: 3")
    player.press("\n")
    assert "turn 3, seat 1 to move" in shown(player)[0]
    places(player, "g1\x7f2\r")
    assert "turn 2, seat 0 to move" in shown(player)[0]
    assert 2 == places(player, "g9999999999999")[-1]
    player.press("\x1b")
    assert not shown(player)[-1].startswith("to turn")
    assert 2 == player.at


def test_a_recording_plays_at_a_speed_stops_at_the_end_and_can_start_again(player: ReplayCursor) -> None:
    player.press("a")
    player.press("+")
    assert (True, 0.5) == (player.playing, player.seconds)
    assert "playing, 0.5 s a step" in shown(player)[-1]
    for _ in range(4):
        player.play_on()
    assert (False, 4) == (player.playing, player.at)
    places(player, "a")
    assert (True, 0) == (player.playing, player.at)
    places(player, " ")
    assert (False, 0) == (player.playing, player.at)
    places(player, "-" * 99)
    assert SECONDS[0] == player.seconds


def test_a_step_that_does_not_fit_can_be_scrolled(player: ReplayCursor) -> None:
    player.press("\x1b[F")
    assert all(len(line) <= WIDTH for line in shown(player))
    top = shown(player, height=10)
    assert 10 == len(top)
    assert top[-1].rstrip().endswith("j more below")
    player.press("j")
    assert top[1] == shown(player, height=10)[0]
    places(player, "j" * 200)
    end = shown(player, height=10)
    assert "more below" not in end[-1]
    player.press("k")
    assert end[0] == shown(player, height=10)[1]


def test_help_lists_the_keys_and_any_key_leaves_it(player: ReplayCursor) -> None:
    player.press("?")
    assert "play by itself" in "\n".join(shown(player))
    player.press("n")
    assert "play by itself" not in "\n".join(shown(player))


class Terminal:
    """A pseudo-terminal with `arena replay --boards` in it."""

    def __init__(self) -> None:
        self.said = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [sys.executable, "-m", "arena", "replay", "--boards", str(MATCH)])  # noqa: S606
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))

    def until(self, text: str) -> str:
        """Return the output up to this text."""
        give_up = time.monotonic() + 60
        said = ""
        while text not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said):
            assert time.monotonic() < give_up, said
            if select.select([self.fd], [], [], 1)[0]:
                said += os.read(self.fd, 65536).decode(errors="replace")
        return said

    def press(self, keys: str) -> None:
        os.write(self.fd, keys.encode())


def test_keys_work_at_once_at_a_terminal_which_is_restored_afterwards() -> None:
    terminal = Terminal()
    try:
        before = terminal.until("1/5  n next")
        assert "\x1b[?1049h" in before
        for key, place in (("n", "2/5"), ("\x1b[C", "3/5"), ("p", "2/5"), ("g3\n", "4/5"), ("\x1b[H", "1/5")):
            terminal.press(key)
            terminal.until(f"{place}  n next")
        terminal.press("++++a")
        terminal.until("5/5  n next")
        terminal.press("q")
        terminal.until("")
        _, status = os.waitpid(terminal.pid, 0)
        assert 0 == status
    finally:
        os.close(terminal.fd)
