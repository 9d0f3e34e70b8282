"""Lets any program be a bot (`transport = "stdio"`): a message is a line of JSON on standard input or output.

Run inside the bot's sandbox, in front of its program: `python -P -m bots.stdio_bridge NAME VERSION -- COMMAND…`.
The bridge sends `hello` for the program, which then reads `welcome` as its first line. Lines of the program go to
the referee unchanged and are judged there. Lines that are not messages go to the bot's log instead, and the
referee receives the start of the first one in each window. The bridge exits when the program does. After `over` it
closes the program's input. A program that can stay for more matches (`keeps` in bot.toml) keeps its input: the
bridge answers each invitation with `hello`, and the next line after `over` is a `welcome`.
"""

import os
import signal
import subprocess
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import zmq
from msgspec.structs import replace

from protocol.codec import decode_server_message, encode
from protocol.messages import MAX_FRAME_BYTES, PRINTED, PROTOCOL, Hello, Invited, is_message

READ_BYTES = 65_536
MAX_WAITING_BYTES = 1_048_576
"""Number of bytes unread by the program at which reading from the referee pauses; the referee notices that."""
LINGER_MS = 10_000
"""Milliseconds to send the last messages after the program ends: the referee may be busy with other bots."""
CUT_LINGER_MS = 1_000
"""Milliseconds to send the last messages once the referee has closed the connection."""
COMMAND_NOT_RUN = 127
INVITED = b'{"type":"invited"'
"""The start of the only message that the program does not receive."""
OPENED, WELCOME, OVER = b'{"type":"window"', b'{"type":"welcome"', b'{"type":"over"'
"""The starts of the messages to which the bridge reacts."""
SHOWN_BYTES = 200
"""Maximum number of bytes of a line that is not a message that the referee receives."""
CUT = b"..."
"""Mark at the end of a shortened line: without it, the start might be a valid message."""
FREE_BYTES = 262_144
"""Bytes besides messages that a program may print per window; more is a flood."""
FLOOD_BYTES = 4_096
"""Bytes of a flood that the referee counts as one message."""
LEAST_BYTES = 128
"""Minimum number of bytes for which a line counts in a flood."""
LAST_READS = 64
"""Maximum number of reads after the program's end: a pipe holds no more."""
LOOK_MS = 50
"""Milliseconds within which the end of a program is noticed that has closed its output and does not read."""
CLOSED_SECONDS = 1.0
"""Seconds that a program may run after closing its output, as it cannot send anything any more."""


class Lines:
    """A splitter of the program's output into lines. It stores enough of an overlong line for its refusal."""

    def __init__(self) -> None:
        self._open = b""
        self._skipping = False

    def cut(self, written: bytes) -> Iterator[bytes]:
        """Yield the lines that `written` completes, without line ends; empty lines are skipped."""
        *complete, rest = (self._open + written).split(b"\n")
        for line in complete:
            if not self._skipping and line:
                yield line[: MAX_FRAME_BYTES + 1]
            self._skipping = False
        self._open = b"" if self._skipping else rest
        if len(rest) > MAX_FRAME_BYTES and not self._skipping:
            yield rest[: MAX_FRAME_BYTES + 1]
            self._open, self._skipping = b"", True

    def end(self) -> bytes:
        """Return the output after the last line end."""
        return self._open


class Prints:
    """A filter that separates messages from other output, and selects notices of it for the referee."""

    def __init__(self) -> None:
        self._told = False
        """True if the referee has been notified of other output in this window."""
        self._bytes = 0

    def begin(self) -> None:
        """Reset for a new window or match."""
        self._told, self._bytes = False, 0

    def quiet(self) -> None:
        """Hide other output from the referee until a match starts: it belongs to the previous match."""
        self._told = True

    def sort(self, lines: Iterator[bytes]) -> tuple[list[bytes], bytes]:
        """Return the lines for the referee, in order, and the text for the log."""
        frames: list[bytes] = []
        logged: list[bytes] = []
        for each in lines:
            line = each.removeprefix(BOM_UTF8)
            if is_message(line):
                frames.append(line)
            elif line.strip():
                logged.append(PRINTED.encode() + line + b"\n")
                shown = line if len(line) <= SHOWN_BYTES else line[:SHOWN_BYTES] + CUT
                frames += [shown] * self._times_told(len(line))
        return frames, b"".join(logged)

    def _times_told(self, size: int) -> int:
        """Return the number of notices to the referee for a line: in a flood, one per `FLOOD_BYTES`."""
        before = max(0, self._bytes - FREE_BYTES) // FLOOD_BYTES
        self._bytes += max(size, LEAST_BYTES)
        floods = max(0, self._bytes - FREE_BYTES) // FLOOD_BYTES - before
        is_first, self._told = not self._told, True
        return max(floods, int(is_first))


class Bridge:
    """The program, its two pipes, and the connection to the referee."""

    def __init__(self, endpoint: str, command: list[str], hello: Hello) -> None:
        """Start the program, with our standard error (the bot's log) as its own. `hello` introduces it.

        Raises:
            OSError: it cannot be started.
        """
        self._program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)  # noqa: S603 - the bot's own
        assert self._program.stdin and self._program.stdout  # noqa: S101, PT018 - pipes
        self._input, self._output = self._program.stdin, self._program.stdout
        for pipe in (self._input, self._output):
            os.set_blocking(pipe.fileno(), False)
        self._line: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PAIR)
        self._line.setsockopt(zmq.LINGER, LINGER_MS)
        self._hangups: zmq.Socket[bytes] = self._line.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._line.connect(endpoint)
        self._lines = Lines()
        self._prints = Prints()
        self._ended: int | None = None
        """A descriptor that is readable once the program has ended.

        None if the kernel lacks it: the end of the program's output is used instead.
        """
        with suppress(OSError):
            self._ended = os.pidfd_open(self._program.pid)
        self._waiting = b""  # The program has yet to read these.
        self._hello = hello
        self._stays = "ARENA_KEPT" in os.environ
        self._over = False
        self.say(encode(hello))

    def say(self, frame: bytes) -> None:
        """Send a frame to the referee."""
        self._line.send(frame)

    def run(self) -> int:
        """Transfer messages both ways until the program ends or the referee disconnects. Return the exit code."""
        while True:
            ready = self._wait()
            if self._output.fileno() in ready and not self._wrote():
                code = self._end()
                break
            if self._ended in ready:
                # A process that the program left behind may hold its output open, and write to it without end.
                for _ in range(LAST_READS):
                    if not self._wrote():
                        break
                code = self._program.wait()
                break
            if self._line in ready:
                self._heard()
            elif self._hangups in ready:
                while self._line.poll(0):  # It may have arrived after the poll.
                    self._heard()
                self._line.setsockopt(zmq.LINGER, CUT_LINGER_MS)
                self._feed_the_rest()
                code = self._program.wait()
                break
            self._feed()
            if self._over and not (self._waiting or self._input.closed):
                self._input.close()
        self._line.disable_monitor()
        self._hangups.close()
        self._line.close()
        zmq.Context.instance().term()
        return code

    def _wait(self) -> dict[Any, int]:
        """Wait for sockets and pipes, and return those that are ready."""
        poller = zmq.Poller()
        poller.register(self._hangups, zmq.POLLIN)
        poller.register(self._output.fileno(), zmq.POLLIN)
        if self._ended is not None:
            poller.register(self._ended, zmq.POLLIN)
        if self._waiting:
            poller.register(self._input.fileno(), zmq.POLLOUT)
        if len(self._waiting) < MAX_WAITING_BYTES:
            poller.register(self._line, zmq.POLLIN)
        ready: dict[Any, int] = dict(poller.poll())
        return ready

    def _heard(self) -> None:
        """Process a frame of the referee."""
        frame = self._line.recv()
        if frame.startswith(INVITED):
            invited = decode_server_message(frame)
            assert isinstance(invited, Invited)  # noqa: S101 - that is how it begins
            self._prints.quiet()
            self.say(encode(replace(self._hello, token=invited.token)))
            return
        if frame.startswith((OPENED, WELCOME)):
            self._prints.begin()
        elif frame.startswith(OVER):
            self._over = not self._stays
        if not self._input.closed:
            self._waiting += frame + b"\n"

    def _wrote(self) -> bool:
        """Pass on the program's output. Return False at its end."""
        written = self._output.read(READ_BYTES)
        self._pass_on(self._lines.cut(written or b""))
        if written == b"" or (not written and self._program.poll() is not None):
            self._pass_on(iter((self._lines.end(),)))
            return False
        return True

    def _pass_on(self, lines: Iterator[bytes]) -> None:
        frames, logged = self._prints.sort(lines)
        _log(logged)
        for frame in frames:
            self.say(frame)

    def _feed(self) -> None:
        """Write waiting messages to the program, as far as it reads them."""
        if self._waiting:
            try:
                self._waiting = self._waiting[self._input.write(self._waiting) or 0 :]
            except BrokenPipeError:
                # The program reads no more, but may still write.
                self._input.close()
                self._waiting = b""

    def _end(self) -> int:
        """Wait for the end of a program that has closed its output, or kill it.

        Return its exit code; 0 if it was killed.
        """
        until = monotonic() + CLOSED_SECONDS
        while self._waiting and monotonic() < until and self._program.poll() is None:
            poller = zmq.Poller()
            poller.register(self._input.fileno(), zmq.POLLOUT)
            poller.poll(LOOK_MS)
            self._feed()
        self._input.close()
        try:
            return self._program.wait(max(0.0, until - monotonic()))
        except subprocess.TimeoutExpired:
            _log(b"bridge: the program has closed its standard output and can say nothing any more: it is ended\n")
            self._program.kill()
            self._program.wait()
            return 0

    def _feed_the_rest(self) -> None:
        """Write the last messages, then close the program's input. Stop as soon as the program ends."""
        if not self._input.closed:
            os.set_blocking(self._input.fileno(), True)
            while self._waiting:
                self._feed()
            self._input.close()


def _log(text: bytes) -> None:
    """Write to the bot's log, which is our standard error."""
    with suppress(OSError):
        while text:
            text = text[os.write(sys.stderr.fileno(), text) :]


def main() -> None:
    """Exit with the program's exit code, or by the signal that ended it."""
    name, version, _, *command = sys.argv[1:]
    token = os.environ.pop("ARENA_TOKEN")
    hello = Hello(token=token, name=name, version=version, protocol=PROTOCOL, bridged=True)
    try:
        bridge = Bridge(os.environ["ARENA_ENDPOINT"], command, hello)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(COMMAND_NOT_RUN)
    code = bridge.run()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
