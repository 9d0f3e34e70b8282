"""What keys do to somebody's place in a match; and the same at a real terminal."""

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

import pytest

from arena.replay import recording_of
from arena.replay.recording import SECONDS, Player
from arena.terminal import Screen

MATCH = Path("docs/examples/three-turns.jsonl")
WIDTH, HEIGHT = 80, 24


@pytest.fixture
def player() -> Player:
    return Player(recording_of(MATCH), "host")


def shown(player: Player, *, height: int = HEIGHT) -> list[str]:
    return [line.plain for line in player.lines(Screen(width=WIDTH, height=height), WIDTH, height)]


def places(player: Player, keys: str) -> list[int]:
    found = []
    for key in keys:
        player.press(key)
        found.append(player.at)
    return found


def test_keys_step_forward_and_back_and_not_beyond_the_ends(player: Player) -> None:
    assert [1, 2, 3, 2, 3, 4, 4] == places(player, "n \npnnn")
    assert [3, 2, 1, 0, 0] == places(player, "p\x7fppp")
    for key, at in (("\x1b[C", 1), ("\x1b[D", 0), ("\x1b[F", 4), ("\x1b[H", 0), ("x", 0)):
        player.press(key)
        assert at == player.at


def test_a_turn_is_typed_and_gone_to(player: Player) -> None:
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


def test_it_plays_by_itself_at_a_speed_stops_at_the_end_and_begins_anew(player: Player) -> None:
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


def test_what_does_not_fit_is_scrolled_to(player: Player) -> None:
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


def test_help_lists_the_keys_and_any_key_leaves_it(player: Player) -> None:
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
        """What is shown until that has been."""
        give_up = time.monotonic() + 60
        said = ""
        while text not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said):
            assert time.monotonic() < give_up, said
            if select.select([self.fd], [], [], 1)[0]:
                said += os.read(self.fd, 65536).decode(errors="replace")
        return said

    def press(self, keys: str) -> None:
        os.write(self.fd, keys.encode())


def test_at_a_terminal_keys_are_heeded_at_once_and_the_terminal_is_as_before() -> None:
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
