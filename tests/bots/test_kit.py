"""The kit over a line of memory: what it says, when, and that it always comes to an end."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest
import zmq
from msgspec import UNSET
from msgspec.structs import replace

from bots import kit
from bots.kit import Bot, FunctionBot, MessageTooLargeError, Window, play, program, run
from bots.kit import bot as kit_bot
from bots.kit import session as kit_session
from bots.wire import WireLine
from protocol.codec import decode_client_message, decode_json, encode
from protocol.games.mist import MistEvent, MistView, OpponentPlaced
from protocol.messages import (
    MAX_FRAME_BYTES,
    PROTOCOL,
    Accepted,
    ClientMessage,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Note,
    Opened,
    Over,
    Paused,
    Rejected,
    ServerMessage,
    Submit,
    Undo,
    Welcome,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Outcome
from referee.sandbox.bot_files import stuck_at
from tests.builders import messages
from tests.builders.messages import welcome

HELLO = Hello(token="secret", name="me", version="2", protocol=PROTOCOL)
OUTCOME = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=1, scores=None, reason="full")
PLACED = {"type": "opponent_placed", "spotted": ["A1"], "destroyed": [], "visible": {"A1": "opponent"}}
VIEW = {
    "seat": 1,
    "turn": 2,
    "mover": 1,
    "pieces": [1, 3],
    "forbidden": [],
    "may_swap": False,
    "first_move": ["A1"],
    "swapped": False,
    "visible": {},
    "spotted": [],
    "destroyed": [],
    "placed": [],
    "lost": [],
}


class FakeLine:
    """A referee that says what it was given, whatever it hears."""

    def __init__(self, frames: Iterable[bytes | ServerMessage]) -> None:
        self.waiting = [frame if isinstance(frame, bytes) else encode(frame) for frame in frames]
        self.heard: list[ClientMessage] = []

    def send(self, frame: bytes) -> None:
        self.heard.append(decode_client_message(frame))

    def receive(self) -> bytes | None:
        return self.waiting.pop(0) if self.waiting else None


def opened(number: int = 0, view: Any = None) -> Opened:
    return messages.opened(number, view=view or {"turn": number}, default={"cells": ["E5"]}, reserve_ms=7)


def illegal(number: int) -> Rejected:
    return Rejected(number, Refusal.ILLEGAL, "no")


def conversation(bot: Bot[Any, Any], *frames: bytes | ServerMessage) -> list[ClientMessage]:
    """All that a bot says, hello first, to a referee that says this."""
    line = FakeLine((welcome(), *frames))
    play(bot, line, HELLO)
    return line.heard


def actions(said: list[ClientMessage]) -> list[tuple[int, Any, bool]]:
    return [(one.window, decode_json(one.action), one.final is True) for one in said if isinstance(one, Submit)]


def constant(action: Any) -> FunctionBot:
    return FunctionBot(lambda _window: action, Any)


class TestAnswers:
    def test_the_first_word_is_hello(self) -> None:
        assert HELLO == conversation(constant({}))[0]

    def test_each_window_is_answered_by_its_id_and_finally(self) -> None:
        said = conversation(constant({"cells": ["C3"]}), opened(4), opened(9))
        assert [(4, {"cells": ["C3"]}, True), (9, {"cells": ["C3"]}, True)] == actions(said)

    def test_returning_nothing_submits_the_default(self) -> None:
        assert [(0, {"cells": ["E5"]}, True)] == actions(conversation(constant(None), opened()))

    def test_an_early_submission_is_not_final_and_nothing_returned_makes_it_so(self) -> None:
        def decide(window: Window[Any]) -> None:
            window.submit({"cells": ["A1"]})
            window.submit({"cells": ["A2"]})

        said = actions(conversation(FunctionBot(decide, Any), opened()))
        assert [(0, {"cells": ["A1"]}, False), (0, {"cells": ["A2"]}, False), (0, {"cells": ["A2"]}, True)] == said

    def test_a_bot_may_say_the_rest_of_the_protocol_too(self) -> None:
        def decide(window: Window[Any]) -> None:
            window.say(Note("thinking"))
            window.say(Undo(window.id))

        assert [Note("thinking"), Undo(3)] == conversation(FunctionBot(decide, Any), opened(3))[1:3]


class TestWhatABotIsGiven:
    def test_a_window_carries_time_match_and_luck(self, monkeypatch: pytest.MonkeyPatch) -> None:
        windows: list[Window[Any]] = []
        monkeypatch.setattr(kit_bot, "monotonic", lambda: 100.0)
        conversation(FunctionBot(windows.append, Any), opened(2))
        window = windows[0]
        assert ("turn", 60_000, 7, 160.0) == (window.name, window.main_ms, window.reserve_ms, window.deadline)
        monkeypatch.setattr(kit_bot, "monotonic", lambda: 130.0)
        assert window.left_ms() == 30_000
        assert (1, "contractual-obligation") == (window.match.seat, window.match.variant)
        assert Random(5).random() == window.rng.random()

    def test_views_and_events_are_decoded_into_the_games_words(self) -> None:
        seen: list[Any] = []

        class Typed(Bot[MistView, MistEvent]):
            view_type = MistView
            event_type = MistEvent

            def event(self, event: MistEvent) -> None:
                seen.append(event)

            def decide(self, window: Window[MistView]) -> Any:
                seen.append(window.view)

        conversation(Typed(), EventMessage(0, PLACED), opened(view=VIEW))
        assert OpponentPlaced(spotted=("A1",), destroyed=(), visible={"A1": "opponent"}) == seen[0]
        assert isinstance(seen[1], MistView)
        assert ((1, 3), ("A1",)) == (seen[1].pieces, seen[1].first_move)

    def test_without_types_they_are_plain_values(self) -> None:
        views: list[Any] = []
        conversation(FunctionBot(lambda window: views.append(window.view), Any), opened(view=VIEW))
        assert [VIEW] == views

    def test_after_a_new_start_the_events_told_so_far_are_heard_again(self) -> None:
        heard: list[Any] = []

        class Listener(Bot[Any, Any]):
            def welcome(self) -> None:
                heard.append("welcome")

            def event(self, event: Any) -> None:
                heard.append(event["n"])

        line = FakeLine((welcome(told=({"n": 0}, {"n": 1})), EventMessage(2, {"n": 2})))
        play(Listener(), line, HELLO)
        assert ["welcome", 0, 1, 2] == heard

    def test_the_closing_of_a_window_and_the_outcome_reach_the_bot(self) -> None:
        heard: list[Any] = []

        class Listener(Bot[Any, Any]):
            def closed(self, closed: Closed) -> None:
                heard.append(closed.charged_ms)

            def over(self, outcome: Outcome) -> None:
                heard.append(outcome.winners)

        closed = Closed(0, None, by_default=True, charged_ms=60_000, reserve_ms=0)
        conversation(Listener(), closed, Over(OUTCOME))
        assert [60_000, (0,)] == heard


class TestRejected:
    def test_an_illegal_action_is_replaced_by_the_default_and_then_left(self) -> None:
        said = actions(conversation(constant({"cells": ["Z9"]}), opened(), illegal(0), illegal(0)))
        assert [(0, {"cells": ["Z9"]}, True), (0, None, True)] == said

    def test_a_bot_may_name_another_action_once(self) -> None:
        class Second(Bot[Any, Any]):
            def decide(self, window: Window[Any]) -> Any:
                del window
                return {"cells": ["Z9"]}

            def rejected(self, rejected: Rejected) -> Any:
                del rejected
                return {"cells": ["Z8"]}

        said = actions(conversation(Second(), opened(), illegal(0), illegal(0), illegal(0)))
        # It gives up the window then: else this would last until the window's end.
        assert [(0, {"cells": ["Z9"]}, True), (0, {"cells": ["Z8"]}, True), (0, None, True)] == said

    def test_an_action_accepted_before_is_used_rather_than_the_default(self) -> None:
        def decide(window: Window[Any]) -> Any:
            window.submit({"cells": ["A1"]})
            return {"cells": ["Z9"]}

        said = conversation(FunctionBot(decide, Any), opened(), Accepted(0, {"cells": ["A1"]}), illegal(0))
        assert (0, {"cells": ["A1"]}, True) == actions(said)[-1]

    def test_an_early_illegal_action_that_was_replaced_does_not_matter(self) -> None:
        def decide(window: Window[Any]) -> Any:
            window.submit({"cells": ["Z9"]})
            return {"cells": ["A1"]}

        said = conversation(FunctionBot(decide, Any), opened(), illegal(0), Accepted(0, {"cells": ["A1"]}))
        assert [{"cells": ["Z9"]}, {"cells": ["A1"]}] == [action for _, action, _ in actions(said)]

    @pytest.mark.parametrize(
        "rejected",
        [Rejected(0, Refusal.LATE, ""), Rejected(7, Refusal.ILLEGAL, ""), Rejected(None, Refusal.MALFORMED, "")],
    )
    def test_other_refusals_are_not_answered(self, rejected: Rejected) -> None:
        assert len(actions(conversation(constant({}), opened(), rejected))) == 1

    def test_answers_of_the_kit_are_logged_the_first_few_times_and_then_counted(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rounds = [message for window in range(5) for message in (opened(window), illegal(window))]
        conversation(constant({}), *rounds, Rejected(3, Refusal.LATE, "late"), Over(OUTCOME))
        said = capsys.readouterr().err.splitlines()
        assert "kit: window 2: rejected: no; the default is taken" == said[2]
        assert ["kit: window 3: the answer came too late", "kit: 5 windows answered by the kit in all"] == said[3:]

    def test_text_of_the_referee_cannot_control_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        conversation(constant({}), opened(), Rejected(0, Refusal.ILLEGAL, "\x1b[2J" + "x" * 1_000))
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("kit: window 0: rejected: \\x1b[2Jxxx")
        assert len(line) < 400

    def test_each_window_may_fall_back_again(self) -> None:
        said = actions(conversation(constant({}), opened(0), illegal(0), opened(1), illegal(1)))
        assert [0, 0, 1, 1] == [window for window, _, _ in said]


class TestNothing:
    def test_a_missing_return_is_told_the_referee_and_the_log(self, capsys: pytest.CaptureFixture[str]) -> None:
        default = {"cells": ["E5"]}
        rounds = [message for window in range(5) for message in (opened(window), Accepted(window, default))]
        said = conversation(constant(None), *rounds, Over(OUTCOME))
        assert ["returned-nothing"] * 5 == [each.because for each in said if isinstance(each, Submit)]
        assert [(window, default, True) for window in range(5)] == actions(said)
        assert [
            *(f"kit: window {window}: decide returned nothing; the default is taken" for window in range(3)),
            "kit: decide returned nothing in 5 of 5 windows",
        ] == capsys.readouterr().err.splitlines()

    def test_returning_nothing_after_a_submission_leaves_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        def decide(window: Window[Any]) -> None:
            window.submit({"cells": ["A1"]})

        said = conversation(FunctionBot(decide, Any), opened(), Over(OUTCOME))
        assert (0, {"cells": ["A1"]}, True) == actions(said)[-1]
        assert [UNSET, UNSET] == [each.because for each in said if isinstance(each, Submit)]
        assert "" == capsys.readouterr().err

    def test_returning_nothing_is_no_mistake_if_the_default_is_none(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = conversation(constant(None), replace(opened(), default=None), Over(OUTCOME))
        assert [UNSET] == [each.because for each in said if isinstance(each, Submit)]
        assert "" == capsys.readouterr().err

    def test_an_error_is_told_from_a_missing_return(self, capsys: pytest.CaptureFixture[str]) -> None:
        class Fails(Bot[Any, Any]):
            on_error = "default"

            def decide(self, window: Window[Any]) -> Any:
                raise KeyError(window.id)

        said = conversation(Fails(), opened(), Over(OUTCOME))
        assert ["raised"] == [each.because for each in said if isinstance(each, Submit)]
        assert "returned nothing" not in capsys.readouterr().err


WIDE = {"cells": ["C3"] * 20_000}
"""An action of more bytes than a message may have."""


class TestTooLarge:
    """The referee would refuse it, or cut the line, and the author would not know where it came from."""

    def test_an_invalid_result_of_decide_is_refused_with_the_place_of_decide(self) -> None:
        def decide(window: Window[Any]) -> Any:
            return WIDE

        line = FakeLine((welcome(), opened()))
        place = rf"decide \(test_kit\.py:{decide.__code__.co_firstlineno}\)"
        said = rf"^a message of 100,0\d\d bytes; 65,536 are allowed, returned by {place}$"
        with pytest.raises(MessageTooLargeError, match=said):
            play(FunctionBot(decide, Any), line, HELLO)
        assert 1 == len(line.heard)

    @pytest.mark.parametrize("how", ["submit", "say"])
    def test_an_invalid_message_of_the_bot_itself_is_refused_with_its_own_line(self, how: str) -> None:
        def decide(window: Window[Any]) -> Any:
            window.submit(WIDE) if how == "submit" else window.say(Note("x" * 100_000))

        number = decide.__code__.co_firstlineno + 1
        line = FakeLine((welcome(), opened()))
        with pytest.raises(MessageTooLargeError, match=rf"65,536 are allowed \(test_kit\.py:{number}\)$"):
            play(FunctionBot(decide, Any), line, HELLO)
        assert 1 == len(line.heard)

    def test_a_bot_that_goes_on_after_errors_takes_the_default(self, capsys: pytest.CaptureFixture[str]) -> None:
        bot = constant(WIDE)
        bot.on_error = "default"
        said = conversation(bot, opened(), Over(OUTCOME))
        assert [(0, None, True)] == actions(said)
        assert ["raised"] == [each.because for each in said if isinstance(each, Submit)]
        first, last = capsys.readouterr().err.splitlines()
        assert first.startswith("decide of window 0 'turn': a message of 100,")
        assert last.startswith("kit: the bot raised once MessageTooLargeError: a message of 100,")

    def test_the_largest_message_goes_out(self) -> None:
        head = len(encode(Note("")))
        line = FakeLine((welcome(), opened()))
        play(FunctionBot(lambda window: window.say(Note("x" * (MAX_FRAME_BYTES - head))), Any), line, HELLO)
        assert MAX_FRAME_BYTES in [len(encode(each)) for each in line.heard]


HANGS = """
import sys, time
from typing import Any
from bots.kit import FunctionBot, CallWatch, play
from bots.wire import WireLine
from protocol.messages import PROTOCOL, Hello

def decide(window):
    if window.id >= int(sys.argv[2]):
        {how}
    return window.default

line = WireLine(sys.argv[1])
play(FunctionBot(decide, Any), line, Hello(token="t", name="n", version="1", protocol=PROTOCOL), CallWatch(2))
line.close()
"""


class TestWhereItHangs:
    """The log names the bot's line at the end of a window's time."""

    @pytest.mark.parametrize("how", ["time.sleep(0.3)", "sum(range(60_000_000))"])
    def test_the_calls_are_in_the_log_at_the_deadline(self, how: str, tmp_path: Path) -> None:
        program = tmp_path / "bot.py"
        program.write_text(HANGS.format(how=how))
        log = self._log(program, [replace(opened(n), main_ms=50, reserve_ms=20) for n in range(2)], hangs_from=1)
        assert log.startswith("Timeout (0:00:00.070000)!\n")
        assert "bot.py:10" == stuck_at(log)
        assert 1 == log.count("Timeout (")

    def test_the_log_names_three_late_windows_of_a_bot(self, tmp_path: Path) -> None:
        program = tmp_path / "bot.py"
        program.write_text(HANGS.format(how="time.sleep(0.1)"))
        log = self._log(program, [replace(opened(n), main_ms=20, reserve_ms=0) for n in range(5)], hangs_from=0)
        assert 3 == log.count("Timeout (")

    def test_a_welcome_that_takes_a_window_is_in_the_log(self, tmp_path: Path) -> None:
        program = tmp_path / "bot.py"
        heard = "class Slow(FunctionBot):\n    def welcome(self):\n        time.sleep(0.3)\n\nline ="
        text = HANGS.format(how="pass").replace("line =", heard, 1).replace("play(FunctionBot(", "play(Slow(")
        program.write_text(text)
        clock = replace(welcome().clock, main_ms={"first": 90, "turn": 40}, reserve_ms=20)
        log = self._log(program, [opened()], hangs_from=9, greeting=replace(welcome(), clock=clock))
        assert log.startswith("Timeout (0:00:00.060000)!\n")
        assert "bot.py:15" == stuck_at(log)

    def test_a_clock_of_processor_time_runs_for_longer_on_the_wall(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = replace(welcome().clock, kind="cpu", wall_factor=4)
        reader, writer = os.pipe()
        watch = kit.CallWatch(writer)
        watch.begin(replace(opened(), main_ms=10, reserve_ms=5), clock)
        assert os.read(reader, 10_000).startswith(b"Timeout (0:00:00.060000)!\n")
        os.close(reader)
        os.close(writer)

    def test_the_log_names_no_window_that_ended_in_time(self) -> None:
        reader, writer = os.pipe()
        watch = kit.CallWatch(writer)
        for main_ms in (60, 30, 5_000):
            watch.begin(replace(opened(), main_ms=main_ms, reserve_ms=0), welcome().clock)
            watch.end()
        time.sleep(0.1)
        os.set_blocking(reader, False)
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
        watch.begin(replace(opened(), main_ms=20, reserve_ms=0), welcome().clock)  # Shorter than the one before.
        os.set_blocking(reader, True)
        assert os.read(reader, 8) == b"Timeout "
        os.close(reader)
        os.close(writer)

    def test_a_bot_that_may_have_no_threads_plays_without(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(_thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", refused)
        watch = kit.CallWatch(2)
        for _ in range(2):
            watch.begin(opened(), welcome().clock)
            watch.end()

    def test_a_window_that_ends_while_the_watch_looks_is_not_told_of(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The next window is watched: its own end is told."""
        reader, writer = os.pipe()
        watch = kit.CallWatch(writer)
        seconds, overtaken = time.monotonic, threading.Event()

        def overtake() -> float:
            if threading.current_thread().name == "kit: watch" and not overtaken.is_set():
                overtaken.set()
                watch.end()
                watch.begin(replace(opened(1), main_ms=50, reserve_ms=0), welcome().clock)
                return seconds() + 1_000
            return seconds()

        monkeypatch.setattr(kit_session, "monotonic", overtake)
        began = seconds()
        watch.begin(replace(opened(), main_ms=20, reserve_ms=0), welcome().clock)
        assert os.read(reader, 10_000).startswith(b"Timeout (0:00:00.050000)!\n")
        assert seconds() - began >= 0.05
        os.close(reader)
        os.close(writer)

    def test_a_bot_that_closes_standard_error_finds_no_calls_in_its_files(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        reader, writer = os.pipe()
        with os.fdopen(writer, "w") as log, Path(os.devnull).open() as nothing:
            monkeypatch.setattr(sys, "stderr", log)
            monkeypatch.setattr(sys, "stdin", nothing)
            watch = program._watch_windows()
            assert watch is not None
            own = os.open(tmp_path / "own", os.O_WRONLY | os.O_CREAT)
            os.dup2(own, writer)  # The bot's file has the number of standard error now.
            watch.begin(replace(opened(), main_ms=20, reserve_ms=0), welcome().clock)
            assert os.read(reader, 8) == b"Timeout "
            assert (tmp_path / "own").read_bytes() == b""
            os.close(own)
        os.close(reader)

    def _log(
        self, program: Path, windows: list[Opened], *, hangs_from: int, greeting: Welcome | None = None
    ) -> str:
        with zmq.Context() as context, context.socket(zmq.PAIR) as referee:
            referee.linger, referee.sndtimeo = 0, 20_000
            endpoint = f"tcp://127.0.0.1:{referee.bind_to_random_port('tcp://127.0.0.1')}"
            words = [sys.executable, str(program), endpoint, str(hangs_from)]
            with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as bot:  # noqa: S603 - as below
                for message in (greeting or welcome(), *windows, Over(OUTCOME)):
                    referee.send(encode(message))
                assert bot.stderr is not None
                return bot.stderr.read()


class TestTheEnd:
    @pytest.mark.parametrize("last", [Over(OUTCOME), Faulted(Fault.MISBEHAVED, "too many")])
    def test_nothing_is_read_after_over_or_a_fault(self, last: ServerMessage) -> None:
        line = FakeLine((welcome(), last, opened()))
        play(constant({}), line, HELLO)
        assert [encode(opened())] == line.waiting

    def test_a_fault_is_shown_to_the_author(self, capsys: pytest.CaptureFixture[str]) -> None:
        conversation(constant({}), Faulted(Fault.WRONG_TOKEN, "not yours"))
        assert "wrong-token: not yours" in capsys.readouterr().err

    def test_a_closed_line_ends_it(self) -> None:
        assert [HELLO] == conversation(constant({}))

    def test_words_of_a_later_referee_are_passed_over(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = conversation(constant({}), b'{"type":"weather","sun":true}', Paused("operator"), opened(1))
        assert [1] == [window for window, _, _ in actions(said)]
        assert "not understood" in capsys.readouterr().err


class TestStarting:
    def test_without_a_referee_it_says_how_to_start_a_bot(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ARENA_ENDPOINT", raising=False)
        with pytest.raises(SystemExit, match=r"start me with `arena match"):
            run(constant({}))

    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            (None, r"bot\.toml: not found in .*; start the bot in its own folder"),
            ("name = ", r"bot\.toml: Invalid value \(at"),
            ('name = "a"', r"bot\.toml: 'version' is missing"),
        ],
    )
    def test_a_bot_without_a_name_says_which_file_lacks_it(
        self, content: str | None, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if content is not None:
            (tmp_path / "bot.toml").write_text(content)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("ARENA_ENDPOINT", "inproc://nobody")
        monkeypatch.setenv("ARENA_TOKEN", "t")
        with pytest.raises(SystemExit, match=complaint):
            run(constant({}))

    @pytest.mark.parametrize(("seconds", "lines"), [(0.2, 0), (0.9, 1)])
    def test_a_slow_start_is_in_the_log(
        self, seconds: float, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        class Ending(FakeLine):
            def close(self) -> None:
                """Nothing to be closed."""

        monkeypatch.setenv("ARENA_ENDPOINT", "inproc://nobody")
        monkeypatch.setenv("ARENA_TOKEN", "t")
        monkeypatch.setattr(program, "WireLine", lambda _: Ending(()))
        monkeypatch.setattr(program, "_seconds_running", lambda: seconds)
        run(constant({}), name="b", version="1")
        assert lines == capsys.readouterr().err.count("kit: 0.9 s from the start to hello (")

    def test_the_age_of_a_process_counts_from_its_start(self) -> None:
        code = "import time; time.sleep(0.05); from bots.kit import program; print(program._seconds_running())"
        before = monotonic()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - this interpreter, our text
        tick = 0.01
        assert 0.05 - tick <= float(done.stdout) <= monotonic() - before + tick

    def test_the_kit_loads_nothing_that_it_does_not_need(self) -> None:
        """Start-up counts: a bot must be able to say hello soon."""
        heavy = ("asyncio", "trio", "structlog", "click", "rich", "dataclasses", "unittest", "logging")
        code = f"import sys, bots.kit; print([name for name in {heavy} if name in sys.modules])"
        env = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)  # noqa: S603 - this interpreter, our text
        assert done.stdout.strip() == "[]"


def test_the_line_over_zeromq_carries_frames_and_ends_when_the_referee_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bots.wire.SILENCE_MS", 10)
    with zmq.Context() as context:
        referee: zmq.Socket[bytes] = context.socket(zmq.PAIR)
        referee.setsockopt(zmq.RCVTIMEO, 5_000)
        referee.bind(f"ipc://{tmp_path}/line")
        line = WireLine(f"ipc://{tmp_path}/line")
        line.send(b"hello")
        assert referee.recv() == b"hello"
        referee.send(b"over")
        assert line.receive() == b"over"
        referee.close(linger=0)
        assert line.receive() is None
        line.close()
