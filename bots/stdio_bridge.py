"""Lets any program be a bot (`transport = "stdio"`): a message is a line of JSON on standard input or output.

Run inside the bot's sandbox, in front of its program: `python -P -m bots.stdio_bridge NAME VERSION -- COMMAND…`.
It says `hello` for the program, whose first line is then `welcome`. What the program writes goes to the referee as
it stands, line by line, and is judged there, but for lines that are no message at all: these go to the bot's log,
and the referee gets the beginning of the first one in each window. The bridge ends as the program ends. After
`over` it closes the program's input. For a program that can stay for more matches (`keeps` in bot.toml) it says
`hello` to each instead: after `over` the next line is a `welcome`.
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
from protocol.lines import PRINTED, is_message
from protocol.messages import MAX_FRAME_BYTES, PROTOCOL, Hello, Invited

READ_BYTES = 65_536
MAX_WAITING_BYTES = 1_048_576
"""While the program leaves so much unread, nothing more is taken from the referee, who will notice."""
LINGER_MS = 10_000
"""How long the last messages may take to leave after the program ends: the referee may be busy with others."""
CUT_LINGER_MS = 1_000
"""The same once the referee has closed the connection."""
COMMAND_NOT_RUN = 127
INVITED = b'{"type":"invited"'
"""How the only message begins that is not for the program."""
OPENED, WELCOME, OVER = b'{"type":"window"', b'{"type":"welcome"', b'{"type":"over"'
"""How the messages begin that the bridge takes note of."""
SHOWN_BYTES = 200
"""Of a line that is no message, the referee gets no more."""
CUT = b"..."
"""At the end of a line that was cut there: without it, the beginning might be a message."""
FREE_BYTES = 262_144
"""What a program may print in a window besides messages; more is a flood."""
FLOOD_BYTES = 4_096
"""In a flood, the referee counts so many bytes as a message."""
LEAST_BYTES = 128
"""A shorter line counts as so many bytes of a flood."""
LAST_READS = 64
"""After the program's end, so many reads are made at most: a pipe holds no more."""
LOOK_MS = 50
"""How soon the end of a program is noticed that has closed its output and does not read."""
CLOSED_SECONDS = 1.0
"""How long a program may still run after it has closed its output: it can say nothing any more."""


class Lines:
    """Cuts what a program writes into lines. Of a line that is too long it keeps enough for it to be refused."""

    def __init__(self) -> None:
        self._open = b""
        self._skipping = False

    def cut(self, written: bytes) -> Iterator[bytes]:
        """The lines that this completes, without their ends; empty ones are passed over."""
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
        """What was written after the last line's end."""
        return self._open


class Prints:
    """Tells messages from what else a program prints, and what of that the referee is to know."""

    def __init__(self) -> None:
        self._told = False
        """Whether the referee knows of this window that there is something."""
        self._bytes = 0

    def begin(self) -> None:
        """A window opens, or a match begins."""
        self._told, self._bytes = False, 0

    def quiet(self) -> None:
        """What is printed until a match begins belongs to the last one: nobody is told of it."""
        self._told = True

    def sort(self, lines: Iterator[bytes]) -> tuple[list[bytes], bytes]:
        """Return what goes to the referee of these lines, in order, and what goes to the log."""
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
        """Return how often the referee is told of a line: in a flood, once for each `FLOOD_BYTES`."""
        before = max(0, self._bytes - FREE_BYTES) // FLOOD_BYTES
        self._bytes += max(size, LEAST_BYTES)
        floods = max(0, self._bytes - FREE_BYTES) // FLOOD_BYTES - before
        is_first, self._told = not self._told, True
        return max(floods, int(is_first))


class Bridge:
    """The program, its two pipes, and the line to the referee."""

    def __init__(self, endpoint: str, command: list[str], hello: Hello) -> None:
        """Starts the program; its standard error is ours: the bot's log. `hello` is what it is introduced by.

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
        """Can be read once the program has ended. None: this kernel has no such thing; its output's end tells."""
        with suppress(OSError):
            self._ended = os.pidfd_open(self._program.pid)
        self._waiting = b""  # for the program to read
        self._hello = hello
        self._stays = "ARENA_KEPT" in os.environ
        self._over = False
        self.say(encode(hello))

    def say(self, frame: bytes) -> None:
        """Sends a frame to the referee."""
        self._line.send(frame)

    def run(self) -> int:
        """Carries messages both ways until the program ends or the referee is gone; the program's exit code."""
        while True:
            ready = self._wait()
            if self._output.fileno() in ready and not self._wrote():
                code = self._end()
                break
            if self._ended in ready:
                # A process that it has left behind may hold its output open, and write to it without end.
                for _ in range(LAST_READS):
                    if not self._wrote():
                        break
                code = self._program.wait()
                break
            if self._line in ready:
                self._heard()
            elif self._hangups in ready:
                while self._line.poll(0):  # It may have come after we looked.
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
        """What can be moved, once there is something."""
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
        """Takes a frame of the referee's."""
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
        """Passes on what the program wrote; False: it has closed its output, or ended, and nothing is left."""
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
        """Gives the program what it takes."""
        if self._waiting:
            try:
                self._waiting = self._waiting[self._input.write(self._waiting) or 0 :]
            except BrokenPipeError:
                # It reads no more, but may still have something to say.
                self._input.close()
                self._waiting = b""

    def _end(self) -> int:
        """Waits for the end of a program that has closed its output, or ends it; its exit code."""
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
        """What the referee said last, and the end. The bot's end ends us, too, if it does not read."""
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
    """Ends with the program's exit code, or by the signal that ended it."""
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
