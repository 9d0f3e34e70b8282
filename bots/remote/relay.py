"""Plays a bot of this machine in a match that is hosted on another: the author's end of `arena host`.

Run as `arena remote join`, or without the arena's packages as `python -m bots.remote`. It waits for an invitation,
starts the bot as a referee would, and transfers its messages. In a tournament it does so for each match, until the
host says that there are no more. The bot does not notice disconnections: after one, missed messages are passed on
and the last submission is repeated (`memory`).
"""

import argparse
import ipaddress
import os
import resource
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

from bots.remote.memory import MEGABYTE, MOST_FRAME_BYTES, Bounds, HostError, Memory, printable
from bots.remote.news import News

LINGER_MS = 1_000
KEY_CHARACTERS = 40
_OPTIONS = {
    zmq.HEARTBEAT_IVL: 2_000,
    zmq.HEARTBEAT_TIMEOUT: 8_000,
    zmq.RECONNECT_IVL: 300,
    zmq.RECONNECT_IVL_MAX: 3_000,
    zmq.IPV6: 1,
    zmq.MAXMSGSIZE: MOST_FRAME_BYTES + 1024,
    zmq.RCVHWM: 100,
    zmq.SNDHWM: 100,
}
"""Socket options; times in milliseconds.

A host without a sign of life for eight seconds is reconnected to, at growing intervals. ZeroMQ reads no message
above our own limit plus the overhead of encryption, and it queues a bounded number of them.
"""
LOOK_MS = 200
"""Milliseconds within which the end of the bot's process is noticed."""
LAST_WORDS_MS = 100
"""Milliseconds to wait for each remaining message of a bot whose process has ended."""
LAST_WORDS_SECONDS = 2.0
"""Seconds to wait for all of these messages together."""
MAX_WAITING = 100
"""Number of messages unread by the bot at which reading from the host pauses."""
MAX_WAITING_BYTES = 8 * MEGABYTE
"""Number of bytes unread by the bot at which reading from the host pauses."""
MAX_UNSENT = 1_000
"""Maximum number of messages that the host does not read, in addition to those in ZeroMQ's queue."""
MOST_LEFT = 1_000
"""Maximum number of messages that are read after a disconnection."""
MOST_MEMORY = 512 * MEGABYTE
"""Maximum growth of this process in bytes.

ZeroMQ collects a multipart message whatever the number of its parts.
"""
GIVEN_UP_SECONDS = 2.0
"""Seconds after which a lost connection counts as ended for good.

ZeroMQ reconnects sooner by itself, unless it read data that is not ZeroMQ or a message that is too large.
"""
AWAY_SECONDS = 60.0
"""Seconds of absence during a match after which a host does not return: the same as the host's own bound."""
AWAY_MORE_SECONDS = 2.0
"""Additional seconds to wait until the host's own bound has passed."""
KNOCK_SECONDS = 5.0
"""Seconds between attempts at a host that does not know the key yet."""
KNOWN_SECONDS = 600.0
"""Seconds after which a host that does not know the key counts as refusing it."""
FAREWELL_SECONDS = 1.0
"""Seconds that the bot has to exit after the match; then it is killed, as by a referee."""
READING_SECONDS = 60.0
"""Seconds that the bot has to read the messages that arrived before the end of the match."""
HOURS = 168.0
"""Default for the hours without a message from the host: a season may start next week."""
SECONDS_PER_HOUR = 3_600
MOST_HOURS = 100_000
LONGEST_LINE = 2_000
"""Maximum number of characters of a printed line."""
MOST_PRINTED = 16 * MEGABYTE
"""Maximum number of characters printed in total."""
_NEWS = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_CONNECT_RETRIED
    | zmq.EVENT_CONNECT_DELAYED
    | zmq.EVENT_CONNECTED
)
_ENDS = {
    zmq.EVENT_DISCONNECTED,
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL,
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL,
}


class RemoteRelay:
    """The connections to the host and to the bot, and the bot's process."""

    def __init__(
        self,
        endpoint: str,
        host_key: bytes,
        keys: tuple[bytes, bytes],
        folder: Path,
        *,
        transcripts: Path,
        patience: float = HOURS * SECONDS_PER_HOUR,
    ) -> None:
        """Connect to a host.

        Args:
            endpoint: the address on which the host listens.
            host_key: its public key, as Z85.
            keys: the bot's public and secret key, as Z85.
            folder: the bot's folder.
            transcripts: the folder for its transcripts.
            patience: seconds for which the host may send nothing.

        Raises:
            SystemExit: the endpoint does not exist.
        """
        self._folder = folder
        self._endpoint = endpoint
        self._patience = patience
        self._heard = monotonic()
        self._bounds = Bounds()
        self._news = News(transcripts, self._bounds)
        self._memory = Memory(self._bounds)
        self._waiting: deque[bytes] = deque()  # The bot has yet to read these.
        self._waiting_bytes = 0
        self._unsent: deque[bytes] = deque()  # The host has yet to read these.
        self._memory_bound = _peak_memory() + MOST_MEMORY
        self._ended: float | None = None
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
        """Play one match, or all of the host's matches if it invites again. Return the exit code of the last bot.

        Raises:
            SystemExit: there is nothing left to play; the text gives the reason.
            HostError: the host has sent something that no honest host sends.
        """
        while True:
            code = self._play()
            memory, self._memory = self._memory, Memory(self._bounds)
            self._bounds.end(finished=memory.over or memory.elsewhere is None)
            if not memory.stands or self._news.dismissed:
                if not self._news.dismissed:
                    return code
                _say(self._news.farewell)
                return 0
            if not memory.over and memory.elsewhere is None and self._in:
                self._step_away()
            if memory.elsewhere is not None:
                self._hear(memory.elsewhere)

    def _play(self) -> int:
        """Play one match, from the invitation on. Return the bot's exit code."""
        over: float | None = None
        memory = self._memory
        while (self._program is None or self._program.poll() is None) and not self._news.dismissed:
            self._carry()
            if memory.elsewhere is not None or self._given_up():
                if not memory.stands:
                    raise SystemExit("the match went on without this bot, which was disconnected for too long")
                break
            if memory.over and over is None:
                over = monotonic()
            patience = READING_SECONDS if self._waiting else FAREWELL_SECONDS
            if self._program is not None and over is not None and monotonic() - over > patience:
                _say("the match is over, and the bot is still running: stopping it")
                break
        if self._program is None:
            return 0
        if memory.elsewhere is None:
            self._pass_on_last_words()
        code = self._end_program()
        for line in memory.summary.lines():
            _say(line)
        if not memory.over:
            _say(f"the bot's program ended before the match was over (exit code {code})")
        return code

    def _pass_on_last_words(self) -> None:
        """Send the host the remaining messages of a bot that has ended, as far as the host reads them."""
        until = monotonic() + LAST_WORDS_SECONDS
        while self._send() and monotonic() < until and self._near is not None and self._near.poll(LAST_WORDS_MS):
            self._unsent.append(self._memory.say(self._near.recv()))
        self._unsent.clear()

    def _end_program(self) -> int:
        """Stop the bot if it is running. Return its exit code."""
        assert self._program is not None  # noqa: S101 - it was started
        if self._program.poll() is None:
            self._program.kill()
        code = self._program.wait()
        self._program, self._cut = None, None
        self._waiting.clear()
        self._waiting_bytes = 0
        if self._near is not None:
            self._near.close(linger=0)
            self._near = None
        return code

    def _step_away(self) -> None:
        """Stay disconnected, so that the host notices that the bot ended during the match.

        Otherwise the host would wait for the bot as if it were thinking.
        """
        _say(f"staying disconnected for {AWAY_SECONDS:.0f} s, so that the host does not wait for this bot")
        self._far.disconnect(self._endpoint)
        until = monotonic() + AWAY_SECONDS + AWAY_MORE_SECONDS
        while monotonic() < until:
            if self._monitor.poll(LOOK_MS):
                recv_monitor_message(self._monitor)
            for _ in range(MOST_LEFT):  # ZeroMQ disconnects only while its socket is polled.
                if not self._far.poll(0):
                    break
                self._far.recv()
        self._ended, self._heard = None, monotonic()
        self._in = self._told = False
        self._far.connect(self._endpoint)

    def close(self) -> None:
        """Close all sockets and stop the bot."""
        if self._program is not None:
            self._end_program()
        if self._near is not None:
            self._near.close(linger=0)
        self._far.disable_monitor()
        for socket in (self._monitor, self._far):
            socket.close()
        zmq.Context.instance().term()
        self._sockets.cleanup()

    def _carry(self) -> None:
        """Transfer the messages that are ready, or wait briefly for one."""
        self._check_patience()
        self._send()
        poller = zmq.Poller()
        poller.register(self._monitor, zmq.POLLIN)
        if self._knocked is not None and monotonic() - self._knocked > KNOCK_SECONDS:
            self._knocked = self._ended = None
            self._far.connect(self._endpoint)
        if len(self._waiting) < MAX_WAITING and self._waiting_bytes < MAX_WAITING_BYTES:
            poller.register(self._far, zmq.POLLIN)
        near = self._near
        if near is not None:
            has_room = not self._unsent and int(self._far.get(zmq.EVENTS)) & zmq.POLLOUT
            poller.register(near, (zmq.POLLIN if has_room else 0) | (zmq.POLLOUT if self._waiting else 0))
        ready = dict(poller.poll(LOOK_MS))
        if self._monitor in ready:
            self._hear_news(int(recv_monitor_message(self._monitor)["event"]))
        if self._far in ready and self._far.poll(0):
            self._hear(self._receive())
        if near is None or near is not self._near:
            return
        if ready.get(near, 0) & zmq.POLLOUT and self._waiting:
            frame = self._waiting.popleft()
            self._waiting_bytes -= len(frame)
            near.send(frame)
        if ready.get(near, 0) & zmq.POLLIN:
            self._unsent.append(self._memory.say(near.recv()))
            self._send()

    def _check_patience(self) -> None:
        """Check that there is still something to wait for.

        Raises:
            SystemExit: the host has sent nothing for too long.
            HostError: the connection has ended for good, or the received data takes too much memory.
        """
        now = monotonic()
        if now - self._heard > self._patience:
            raise SystemExit(f"no message from the host for {self._patience / SECONDS_PER_HOUR:g} hours")
        if self._ended is not None and self._knocked is None and now - self._ended > GIVEN_UP_SECONDS:
            raise HostError(f"data that is not ZeroMQ, or a message of more than {MOST_FRAME_BYTES} bytes")
        if _peak_memory() > self._memory_bound:
            raise HostError(f"so much at once that it takes {MOST_MEMORY >> 20} MB of memory")

    def _receive(self) -> bytes:
        """Read a message of the host.

        Raises:
            HostError: it has several parts.
        """
        frame = self._far.recv()
        if self._far.get(zmq.RCVMORE):
            raise HostError("a message in several parts")
        return frame

    def _send(self) -> bool:
        """Send waiting messages until the host's queue is full. Return True if none remains."""
        while self._unsent:
            try:
                self._far.send(self._unsent[0], zmq.NOBLOCK)
            except zmq.Again:
                return False
            self._unsent.popleft()
        return True

    def _hear(self, frame: bytes) -> None:
        """Process a message of the host.

        Raises:
            HostError: no honest host sends it.
        """
        self._heard = monotonic()
        self._bounds.frame(frame)
        said = self._news.hear(frame)
        if said is not None:
            for line in said:
                _say(line)
            return
        to_bot, to_host = self._memory.hear(frame)
        if self._program is not None or self._memory.token is not None:
            self._waiting += to_bot
            self._waiting_bytes += sum(map(len, to_bot))
        self._unsent += to_host
        if len(self._unsent) > MAX_UNSENT:
            raise HostError(f"messages without reading {MAX_UNSENT} replies to them")
        if self._program is None and self._memory.token is not None:
            self._start(self._memory.token)

    def _hear_news(self, event: int) -> None:
        """Process a ZeroMQ event of the connection."""
        if event in {zmq.EVENT_CONNECT_RETRIED, zmq.EVENT_CONNECT_DELAYED, zmq.EVENT_CONNECTED}:
            self._ended = None
            return
        if event in _ENDS:
            self._ended = monotonic()
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self._in, self._cut, self._told, self._known = True, None, False, True
            _say("connected to the host" if self._program is None else "connected again; the match goes on")
        elif event == zmq.EVENT_DISCONNECTED:
            for _ in range(MOST_LEFT):  # The match's last message may be among them.
                if self._memory.elsewhere is not None or not self._far.poll(0):
                    break
                self._hear(self._receive())
            if self._in and not (self._memory.over or self._news.dismissed):
                _say("connection lost; connecting again")
                self._cut = monotonic()
            self._in = False
        elif event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            self._turned_away()
        elif not (self._told or self._memory.over):
            self._told = True
            _say(
                "the host closes the connection: --host-key is not its key, or another program is connected with"
                " this bot's key; trying again"
            )

    def _turned_away(self) -> None:
        """Retry later if the host may not know the key yet.

        Raises:
            SystemExit: the host knew the key before, or has had enough time.
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
        """Start the bot as a referee would.

        Raises:
            SystemExit: it cannot be started.
        """
        self._matches += 1
        self._bounds.begin()
        endpoint = f"ipc://{self._sockets.name}/referee-{self._matches}.sock"
        self._near = self._context.socket(zmq.PAIR)
        self._near.set(zmq.LINGER, LINGER_MS)
        self._near.set(zmq.SNDHWM, MAX_WAITING)
        self._near.bind(endpoint)
        ours = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
        environment = {"ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": token, "PYTHONPATH": ours}
        command = command_of(self._folder)
        try:
            self._program = subprocess.Popen(command, cwd=self._folder, env=os.environ | environment)  # noqa: S603 - the author's own
        except (OSError, ValueError) as error:
            raise SystemExit(f"{command[0]}: {getattr(error, 'strerror', None) or error}") from None
        _say("the match begins")


def command_of(folder: Path) -> list[str]:
    """Return the command that starts a bot on this machine, by its bot.toml.

    Raises:
        SystemExit: the file does not give one.
    """
    file = folder / "bot.toml"
    if file.exists() and not file.is_file():
        raise SystemExit(f"{file}: is not a regular file")
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8-sig"))
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
    """Return the host's address in ZeroMQ's notation.

    Raises:
        SystemExit: the text is not an address.
    """
    kind, slashes, place = text.partition("://")
    address, colon, port = place.rpartition(":")
    try:
        ipaddress.ip_address(address.removeprefix("[").removesuffix("]"))
    except ValueError:
        colon = ""
    if kind != "tcp" or not (slashes and colon and port.isdecimal()):
        raise SystemExit(f"{text}: give tcp://ADDRESS:PORT with a numeric address; names are not looked up")
    return text


def _keys(file: str) -> tuple[bytes, bytes | None]:
    """Return the public and the secret key in a file.

    Raises:
        SystemExit: there are none.
    """
    if Path(file).exists() and not Path(file).is_file():
        raise SystemExit(f"{file}: is not a regular file")
    try:
        return load_certificate(file)
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise SystemExit(f"{file}: {getattr(error, 'strerror', None) or error}") from None


class _Printer:
    """Standard error with a bound, so that a host's texts cannot fill the author's disk."""

    def __init__(self) -> None:
        self._left = MOST_PRINTED

    def say(self, text: str) -> None:
        """Print a line, as much of it as the bound allows."""
        if self._left <= 0:
            return
        line = printable(text[:LONGEST_LINE])
        self._left -= len(line)
        if self._left <= 0:
            line = "the host has sent so much text that no more is printed"
        print(line, file=sys.stderr, flush=True)


_say = _Printer().say


def _peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def read_hours(text: str) -> float:
    """Convert hours to seconds. Raise ValueError if the text is not a duration."""
    hours = float(text)
    if not 0 < hours < MOST_HOURS:
        raise ValueError(text)
    return hours * SECONDS_PER_HOUR


class Joining:
    """A bot that joins a host's matches, with the keys of both."""

    def __init__(self, endpoint: str, folder: Path, *, host_key: str, key: str) -> None:
        """Read the named files.

        Args:
            endpoint: the address on which the host listens, `tcp://ADDRESS:PORT`.
            folder: the bot's folder, with its bot.toml.
            host_key: the host's public key, or the file that contains it.
            key: the file with the bot's own keys.

        Raises:
            SystemExit: one of them cannot be used; the text gives the reason.
        """
        command_of(folder)
        public, secret = _keys(key)
        if secret is None:
            raise SystemExit(f"{key}: has no secret key; give NAME.key_secret")
        self._folder = folder
        self._keys = public, secret
        self._host_key = host_key.encode() if len(host_key) == KEY_CHARACTERS else _keys(host_key)[0]
        self._endpoint = read_endpoint(endpoint)

    def play(self, *, transcripts: Path, patience: float) -> int:
        """Play all of the host's matches. Return the bot's exit code; 0 if the host says that there are no more.

        Args:
            transcripts: the folder for the bot's own transcripts.
            patience: seconds for which the host may send nothing.

        Raises:
            SystemExit: there is nothing left to play, or a signal arrived; the text or the code gives the reason.
            KeyboardInterrupt: the signal was SIGINT.
        """
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        relay = RemoteRelay(
            self._endpoint, self._host_key, self._keys, self._folder, transcripts=transcripts, patience=patience
        )
        try:
            return relay.run()
        except HostError as error:
            raise SystemExit(f"stopped, because the host sent {error}") from None
        finally:
            relay.close()


def main() -> None:
    """Play, and exit with the bot's exit code."""
    parser = argparse.ArgumentParser(
        "python -m bots.remote", description="Play in matches that another machine hosts."
    )
    parser.add_argument("endpoint", metavar="tcp://ADDRESS:PORT", help="address at which the host listens")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the bot's folder, with its bot.toml")
    parser.add_argument(
        "--host-key",
        required=True,
        metavar="KEY",
        help="the host's public key: its file, HOST.key, or the key itself",
    )
    parser.add_argument("--key", required=True, metavar="FILE", help="this bot's secret key file, NAME.key_secret")
    parser.add_argument(
        "--transcripts",
        type=Path,
        metavar="FOLDER",
        default=Path("transcripts"),
        help="folder for the transcripts that a tournament's host sends  [default: transcripts]",
    )
    parser.add_argument(
        "--patience",
        type=read_hours,
        metavar="HOURS",
        default=HOURS * SECONDS_PER_HOUR,
        help=f"how long to wait for a host that does not answer  [default: {HOURS:g}]",
    )
    asked = parser.parse_args()
    join = Joining(asked.endpoint, asked.folder, host_key=asked.host_key, key=asked.key)
    try:
        sys.exit(join.play(transcripts=asked.transcripts, patience=asked.patience))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
