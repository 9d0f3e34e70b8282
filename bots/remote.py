"""Plays a bot of this machine in a match that is hosted on another: the author's end of `arena host`.

Run as `python -m bots.remote tcp://ADDRESS:PORT --host-key HOST.key --key MINE.key_secret FOLDER`. It waits to be
invited, then starts the bot as a referee would, and carries its messages; in a tournament again for each match,
until the host says that it is over. The bot need not know: when the line is cut and comes back, what it missed is
told it then, and what it submitted last is said again (`remote_memory`).
"""

import argparse
import ipaddress
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import deque
from pathlib import Path
from time import monotonic

try:
    import zmq
    from zmq.auth import load_certificate
    from zmq.utils.monitor import recv_monitor_message
except ModuleNotFoundError as lack:
    raise SystemExit(
        f"bots.remote needs {lack.name}, which is not installed here; after scripts/environment,"
        " .venv/bin/python has it"
    ) from None

from bots.remote_memory import Memory
from bots.remote_news import News

LINGER_MS = 1_000
KEY_CHARACTERS = 40
_OPTIONS = {
    zmq.HEARTBEAT_IVL: 2_000,
    zmq.HEARTBEAT_TIMEOUT: 8_000,
    zmq.RECONNECT_IVL: 300,
    zmq.RECONNECT_IVL_MAX: 3_000,
    zmq.IPV6: 1,
}
"""A host that gives no sign of life for eight seconds is connected to anew, at growing intervals. Milliseconds."""
LOOK_MS = 200
"""How soon the end of the bot's process is noticed."""
LAST_WORDS_MS = 100
"""How long the bot's last messages may take from its socket to ours after it has ended."""
MAX_WAITING = 100
"""While the bot has so many messages to read, no more is taken from the host."""
AWAY_SECONDS = 60.0
"""A host that is gone for so long during a match does not come back: its own bound is the same."""
AWAY_MORE_SECONDS = 2.0
"""So much longer it is waited until the host's own bound is past."""
KNOCK_SECONDS = 5.0
"""A host that does not know the key is asked again after so long: it may only be about to let the bot in."""
KNOWN_SECONDS = 600.0
"""A host that has not known the key for so long does not."""
FAREWELL_SECONDS = 1.0
"""How long the bot may take to end by itself when the match is over; then it is killed, as by a referee."""
_NEWS = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_DISCONNECTED
)


class Ferry:
    """The two lines, one to the host and one to the bot, and the bot's process."""

    def __init__(
        self, endpoint: str, host_key: bytes, keys: tuple[bytes, bytes], folder: Path, transcripts: Path
    ) -> None:
        """`keys`: the bot's public and secret one. All as Z85. `transcripts`: the folder for the bot's.

        Raises:
            SystemExit: there is no such endpoint.
        """
        self._folder = folder
        self._endpoint = endpoint
        self._news = News(transcripts)
        self._memory = Memory()
        self._waiting: deque[bytes] = deque()  # for the bot to read
        self._program: subprocess.Popen[bytes] | None = None
        self._cut: float | None = None
        self._in = self._told = self._known = False
        self._knocked: float | None = None
        self._matches = 0
        self._began = monotonic()
        self._sockets = tempfile.TemporaryDirectory(prefix="arena-")
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._near: zmq.Socket[bytes] | None = None
        self._far: zmq.Socket[bytes] = self._context.socket(zmq.PAIR)
        self._far.curve_publickey, self._far.curve_secretkey = keys
        self._far.curve_serverkey = host_key
        for option, value in _OPTIONS.items():
            self._far.set(option, value)
        self._far.set(zmq.LINGER, LINGER_MS)
        self._monitor: zmq.Socket[bytes] = self._far.get_monitor_socket(_NEWS)
        try:
            self._far.connect(endpoint)
        except zmq.ZMQError as error:
            raise SystemExit(f"{endpoint}: {error.strerror}") from None
        _say(f"waiting for the host at {endpoint}")

    def run(self) -> int:
        """Plays one match, or where the line stands all that the host has; the last bot's exit code.

        Raises:
            SystemExit: there is nothing to be played any more; the text says why.
        """
        while True:
            code = self._play()
            memory, self._memory = self._memory, Memory()
            if not memory.stands or self._news.dismissed:
                return 0 if self._news.dismissed else code
            if not memory.over and memory.elsewhere is None and self._in:
                self._step_away()
            if memory.elsewhere is not None:
                self._hear(memory.elsewhere)

    def _play(self) -> int:
        """Plays one match, from the invitation on; the bot's exit code."""
        over: float | None = None
        memory = self._memory
        while (self._program is None or self._program.poll() is None) and not self._news.dismissed:
            self._carry()
            if memory.elsewhere is not None or self._given_up():
                if not memory.stands:
                    raise SystemExit("the match has ended without us")
                break
            if memory.over and over is None and not self._waiting:
                over = monotonic()
            if self._program is not None and over is not None and monotonic() - over > FAREWELL_SECONDS:
                _say("the match is over, and the bot does not end: it is ended")
                break
        if self._program is None:
            return 0
        while memory.elsewhere is None and self._near is not None and self._near.poll(LAST_WORDS_MS):
            self._far.send(memory.say(self._near.recv()))
        code = self._end_program()
        for line in memory.summary.lines():
            _say(line)
        if not memory.over:
            _say(f"the bot ended before the match, exit code {code}")
        return code

    def _end_program(self) -> int:
        """Ends the bot, if it has not ended; its exit code."""
        assert self._program is not None  # noqa: S101 - it was started
        if self._program.poll() is None:
            self._program.kill()
        code = self._program.wait()
        self._program, self._cut = None, None
        self._waiting.clear()
        if self._near is not None:
            self._near.close(linger=0)
            self._near = None
        return code

    def _step_away(self) -> None:
        """The bot has ended in the midst of a match: the host learns that by a line that stays down so long.

        Else it would take the bot for one that thinks.
        """
        _say(f"away for {AWAY_SECONDS:.0f} s, so that the host does not wait for this bot")
        self._far.disconnect(self._endpoint)
        until = monotonic() + AWAY_SECONDS + AWAY_MORE_SECONDS
        while monotonic() < until:
            if self._monitor.poll(LOOK_MS):
                recv_monitor_message(self._monitor)
            while self._far.poll(0):  # ZeroMQ hangs up only while its socket is looked at.
                self._far.recv()
        self._in = self._told = False
        self._far.connect(self._endpoint)

    def close(self) -> None:
        """Ends everything, the bot too."""
        if self._program is not None:
            self._end_program()
        self._far.disable_monitor()
        for socket in (self._monitor, self._far):
            socket.close()
        zmq.Context.instance().term()
        self._sockets.cleanup()

    def _carry(self) -> None:
        """Moves what there is to be moved, or waits a little for something."""
        poller = zmq.Poller()
        poller.register(self._monitor, zmq.POLLIN)
        if self._knocked is not None and monotonic() - self._knocked > KNOCK_SECONDS:
            self._knocked = None
            self._far.connect(self._endpoint)
        if len(self._waiting) < MAX_WAITING:
            poller.register(self._far, zmq.POLLIN)
        near = self._near
        if near is not None:
            has_room = int(self._far.get(zmq.EVENTS)) & zmq.POLLOUT
            poller.register(near, (zmq.POLLIN if has_room else 0) | (zmq.POLLOUT if self._waiting else 0))
        ready = dict(poller.poll(LOOK_MS))
        if self._monitor in ready:
            self._hear_news(int(recv_monitor_message(self._monitor)["event"]))
        if self._far in ready and self._far.poll(0):
            self._hear(self._far.recv())
        if near is None:
            return
        if ready.get(near, 0) & zmq.POLLOUT:
            near.send(self._waiting.popleft())
        if ready.get(near, 0) & zmq.POLLIN:
            self._far.send(self._memory.say(near.recv()))

    def _hear(self, frame: bytes) -> None:
        """The host says something."""
        said = self._news.hear(frame)
        if said is not None:
            for line in said:
                _say(line)
            return
        to_bot, to_host = self._memory.hear(frame)
        self._waiting += to_bot
        for each in to_host:
            self._far.send(each)
        if self._program is None and self._memory.token is not None:
            self._start(self._memory.token)

    def _hear_news(self, event: int) -> None:
        """What ZeroMQ tells of the connection."""
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self._in, self._cut, self._told, self._known = True, None, False, True
            _say("the host has let us in" if self._program is None else "back in the match")
        elif event == zmq.EVENT_DISCONNECTED:
            while self._memory.elsewhere is None and self._far.poll(0):
                self._hear(self._far.recv())  # What was said before it may have been the last word.
            if self._in and not self._memory.over:
                _say("the line is cut; trying again")
                self._cut = monotonic()
            self._in = False
        elif event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            self._turned_away()
        elif not (self._told or self._memory.over):
            self._told = True
            _say("the host hangs up: is --host-key right? Or somebody is in with this key. Trying again")

    def _turned_away(self) -> None:
        """The host does not know the key: not any more, or not yet.

        Raises:
            SystemExit: not any more; or it has had time enough.
        """
        if self._known or monotonic() - self._began > KNOWN_SECONDS:
            raise SystemExit("the host does not know this key")
        if not self._told:
            self._told = True
            _say(
                f"the host does not know this key yet; trying again, for {KNOWN_SECONDS / 60:.0f} minutes at most"
            )
        self._far.disconnect(self._endpoint)
        self._knocked = monotonic()

    def _given_up(self) -> bool:
        return self._program is not None and self._cut is not None and monotonic() - self._cut > AWAY_SECONDS

    def _start(self, token: str) -> None:
        """Starts the bot, as a referee would.

        Raises:
            SystemExit: it cannot be started.
        """
        self._matches += 1
        endpoint = f"ipc://{self._sockets.name}/referee-{self._matches}.sock"
        self._near = self._context.socket(zmq.PAIR)
        self._near.set(zmq.LINGER, LINGER_MS)
        self._near.bind(endpoint)
        ours = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
        environment = {"ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": token, "PYTHONPATH": ours}
        command = command_of(self._folder)
        try:
            self._program = subprocess.Popen(command, cwd=self._folder, env=os.environ | environment)  # noqa: S603 - the author's own
        except OSError as error:
            raise SystemExit(f"{command[0]}: {error.strerror}") from None
        _say("the match begins")


def command_of(folder: Path) -> list[str]:
    """How a bot is started on this machine, by its bot.toml.

    Raises:
        SystemExit: it does not say.
    """
    file = folder / "bot.toml"
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
        name, version, (program, *arguments) = str(told["name"]), str(told["version"]), told["command"]
    except OSError as error:
        raise SystemExit(f"{file}: {error.strerror}") from None
    except KeyError as key:
        raise SystemExit(f"{file}: {key} is missing") from None
    except (ValueError, TypeError) as error:
        raise SystemExit(f"{file}: {error}") from None
    if program == "python":
        program = sys.executable
    elif (folder / program).is_file():
        program = str((folder / program).absolute())
    if told.get("transport") == "stdio":
        return [sys.executable, "-P", "-m", "bots.stdio_bridge", name, version, "--", program, *arguments]
    return [program, *arguments]


def read_endpoint(text: str) -> str:
    """Where a host listens, as ZeroMQ spells it.

    Raises:
        SystemExit: it is nowhere.
    """
    kind, slashes, place = text.partition("://")
    address, colon, port = place.rpartition(":")
    try:
        ipaddress.ip_address(address.removeprefix("[").removesuffix("]"))
    except ValueError:
        colon = ""
    if kind != "tcp" or not (slashes and colon and port.isdecimal()):
        raise SystemExit(f"{text}: tcp://ADDRESS:PORT is wanted, in numbers; names are not looked up")
    return text


def _keys(file: str) -> tuple[bytes, bytes | None]:
    """The keys in a file.

    Raises:
        SystemExit: there are none.
    """
    try:
        return load_certificate(file)
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise SystemExit(f"{file}: {getattr(error, 'strerror', None) or error}") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Ends with the bot's exit code."""
    parser = argparse.ArgumentParser("python -m bots.remote", description="Play in a match hosted elsewhere.")
    parser.add_argument("endpoint", metavar="tcp://ADDRESS:PORT", help="where the host listens, as it tells")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the bot's, with its bot.toml")
    parser.add_argument("--host-key", required=True, metavar="KEY", help="HOST.key, or the key itself")
    parser.add_argument("--key", required=True, metavar="FILE", help="this bot's own, NAME.key_secret")
    parser.add_argument(
        "--transcripts",
        type=Path,
        metavar="FOLDER",
        default=Path("transcripts"),
        help="where the bot's own transcripts go that a tournament's host sends  [default: transcripts]",
    )
    asked = parser.parse_args()
    command_of(asked.folder)
    public, secret = _keys(asked.key)
    if secret is None:
        raise SystemExit(f"{asked.key}: has no secret key; NAME.key_secret has")
    host = asked.host_key.encode() if len(asked.host_key) == KEY_CHARACTERS else _keys(asked.host_key)[0]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    ferry = Ferry(read_endpoint(asked.endpoint), host, (public, secret), asked.folder, asked.transcripts)
    try:
        sys.exit(ferry.run())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    finally:
        ferry.close()


if __name__ == "__main__":
    main()
