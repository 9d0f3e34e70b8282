"""A tournament of ten remote bots over lines that are slow and cut, one of whom is shut out under way."""

import json
import os
import socket
import subprocess
import sys
import threading
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import zmq
from msgspec import Raw

from protocol.codec import decode_server_message, encode
from protocol.messages import PROTOCOL, Hello, Invited, Opened, Over, Submit, Welcome
from protocol.news import Dismissed, MatchReport, News, TranscriptPart, decode_news
from referee.match.records import Header
from referee.transcript import seat_lines, verify_transcript
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from referee.wire.keys import KeyPair, new_pair, write_pair, z85
from tests.real_wire.remote import CutLine
from tests.real_wire.seat import BotSocket

ROOT = Path(__file__).parents[2]
BOTS = 10
CUP = """\
game = "mist"
bots = [{bots}]
seed = 5
blocks = 2
concurrency = 5
isolation = "none"
[options]
max_turns = 6
[policy]
fault = "forfeit"
main_ms = 20000
[remote]
wait = 20
credit_ms = 30
"""


class Player:
    """One remote bot, in a thread: takes the default, and notes what its author is told."""

    def __init__(self, endpoint: str, host: KeyPair, keys: KeyPair) -> None:
        self.news: list[News] = []
        self.matches: set[str] = set()
        self.overs = 0
        self.refused = False
        self._over = threading.Event()
        self._context: zmq.Context[BotSocket] = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.curve_serverkey = z85(host.public).encode()
        self._socket.curve_publickey = z85(keys.public).encode()
        self._socket.curve_secretkey = z85(keys.secret).encode()
        for option, value in {
            zmq.LINGER: 0, zmq.RECONNECT_IVL: 100, zmq.HEARTBEAT_IVL: 500, zmq.HEARTBEAT_TIMEOUT: 5_000,
        }.items():  # fmt: skip
            self._socket.set(option, value)
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
        self._socket.connect(endpoint)

    def run(self) -> None:
        """Plays until it is dismissed, shut out or ended."""
        while not self._over.is_set():
            if self._monitor.poll(0):
                self.refused = True
                break
            if self._socket.poll(50) and not self._hear(self._socket.recv()):
                break
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=0)
        self._context.term()

    def end(self) -> None:
        self._over.set()

    def _hear(self, frame: bytes) -> bool:
        news = decode_news(frame)
        if news is None:
            self._play(decode_server_message(frame))
            return True
        self.news.append(news)
        return not isinstance(news, Dismissed)

    def _play(self, told: Any) -> None:
        match told:
            case Invited(token=token):
                self._socket.send(encode(Hello(token=token, name="remote", version="1", protocol=PROTOCOL)))
            case Welcome(match=match):
                self.matches.add(match)
            case Opened(id=number, default=default):
                self._socket.send(encode(Submit(window=number, action=Raw(encode(default)), final=True)))
            case Over():
                self.overs += 1

    @property
    def reports(self) -> list[MatchReport]:
        return [news for news in self.news if isinstance(news, MatchReport)]


DELAYS = [0.002 * number for number in range(BOTS)]
"""By bot, one way, in seconds."""
CUTS: dict[int, list[int]] = {3: [20_000, 40_000], 6: [30_000], 8: [15_000, 45_000]}
"""By bot: after how many bytes its line is cut."""
SHUT_OUT = 9
MATCHES_BEFORE = 4
"""Of the bot that is shut out."""
GOODBYE_SECONDS = 5
"""A player waits so long for its dismissal once the tournament is over: a cut line loses what is on its way."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "arena", *arguments]


async def ended(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a command of the arena to its end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return await trio.run_process(
        command(*arguments), cwd=folder, env=environment, capture_stdout=True, capture_stderr=True, check=False
    )


async def shut_out(folder: Path, player: Player) -> None:
    """Withdraws the bot when it has played some matches."""
    while len(player.reports) < MATCHES_BEFORE:  # noqa: ASYNC110 - it is told in a thread
        await trio.sleep(0.05)
    done = await ended(folder, "entry", "withdraw", "cup.toml", f"b{SHUT_OUT}")
    assert 0 == done.returncode, done.stderr


async def cup(folder: Path) -> tuple[dict[str, Any], list[Player], list[KeyPair]]:
    """Plays it, and what came of it."""
    host, keys = new_pair(), [new_pair() for _ in range(BOTS)]
    write_pair(folder / "host", host)
    for number, pair in enumerate(keys):
        write_pair(folder / f"b{number}", pair)
    (folder / "cup.toml").write_text(CUP.format(bots=", ".join(f'"remote:b{n}.key"' for n in range(BOTS))))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    players: list[Player] = []
    async with trio.open_nursery() as lines:
        for number in range(BOTS):
            line = CutLine(f"tcp://127.0.0.1:{port}", CUTS.get(number, []), DELAYS[number])
            await lines.start(line.run)
            players.append(Player(line.endpoint, host, keys[number]))
        try:
            async with trio.open_nursery() as nursery:
                for player in players:
                    nursery.start_soon(partial(trio.to_thread.run_sync, player.run, abandon_on_cancel=True))
                nursery.start_soon(shut_out, folder, players[SHUT_OUT])
                options = ("--listen", f"127.0.0.1:{port}", "--key", "host.key_secret", "--json")
                with trio.fail_after(240):
                    done = await ended(folder, "tournament", "cup.toml", *options)
                assert 0 == done.returncode, done.stderr
                nursery.cancel_scope.deadline = trio.current_time() + GOODBYE_SECONDS
        finally:
            for player in players:
                player.end()
        lines.cancel_scope.cancel()
    return json.loads(done.stdout), players, keys


def seat_file(player: Player, report: MatchReport) -> bytes:
    """Return the transcript that an author was sent of a match."""
    parts = [news for news in player.news if isinstance(news, TranscriptPart) and news.match == report.match]
    assert [part.parts for part in parts] == [len(parts)] * len(parts)
    return zlib.decompress(b"".join(part.data for part in parts))


@pytest.mark.slow
def test_ten_remote_bots_play_over_slow_lines_that_are_cut_while_one_is_shut_out(tmp_path: Path) -> None:
    found, players, keys = trio.run(cup, tmp_path)
    assert ["withdrawn"] == [change["change"] for change in found["changes"]]
    assert [0] * BOTS == [row["faults"] for row in found["standings"]]
    # Who was shut out played what had begun; all others met each other, and were told that it is over.
    assert [number == SHUT_OUT for number in range(BOTS)] == [player.refused for player in players]
    others = [player for number, player in enumerate(players) if number != SHUT_OUT]
    uncut = [player for number, player in enumerate(players) if number not in {SHUT_OUT, *CUTS}]
    assert all(isinstance(player.news[-1], Dismissed) for player in uncut)
    gone = len(players[SHUT_OUT].reports)
    assert MATCHES_BEFORE <= gone < 4 * (BOTS - 1)
    assert all(4 * (BOTS - 2) <= len(player.reports) <= 4 * (BOTS - 1) for player in others)
    # What is on its way when a line is cut is lost, and no more.
    played = {row["bot"].removesuffix(" (withdrawn)"): row["played"] for row in found["standings"]}
    lost = [
        played[f"b{number}"] - len({each.match for each in player.reports})
        for number, player in enumerate(players)
    ]
    assert all(0 <= lost[number] <= len(CUTS.get(number, ())) for number in range(BOTS))

    by_key = {z85(pair.public): number for number, pair in enumerate(keys)}
    for transcript in (tmp_path / "runs" / "cup" / "transcripts").glob("*.jsonl"):
        records = list(read_transcript(transcript))
        replay(records)
        head = verify_transcript(transcript).head
        header = records[0]
        assert isinstance(header, Header)
        for seat, bot in enumerate(header.bots):
            assert isinstance(bot.remote, str)
            number = by_key[bot.remote]
            # The network takes as long as its line, there and back; what is credited is bounded.
            assert isinstance(bot.delay_us, int)
            assert bot.delay_us >= 2_000_000 * DELAYS[number]
            assert min(bot.delay_us, 30_000) == bot.credit_us
            for report in [each for each in players[number].reports if each.match == header.match]:
                assert (seat, head) == (report.seat, report.head)
                if number <= 1:  # As good as all, and in less time.
                    assert b"".join(seat_lines(records, seat)) == seat_file(players[number], report)
