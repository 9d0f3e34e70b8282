"""Lets any program be a bot (`transport = "stdio"`): a message is a line of JSON on standard input or output.

Run inside the bot's sandbox, in front of its program: `python -P -m bots.stdio_bridge NAME VERSION -- COMMAND…`.
It says `hello` for the program, whose first line is then `welcome`. It knows no message: what the program writes
goes to the referee as it stands, line by line, and is judged there. It ends as the program ends. For one that can
stay for more matches (`keeps` in bot.toml) it says `hello` to each: after `over` the next line is a `welcome`.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import zmq
from msgspec.structs import replace

from protocol.codec import decode_server_message, encode
from protocol.messages import MAX_FRAME_BYTES, PROTOCOL, Hello, Invited

READ_BYTES = 65_536
MAX_WAITING_BYTES = 1_048_576
"""While the program leaves so much unread, nothing more is taken from the referee, who will notice."""
LINGER_MS = 1_000
"""How long the last words may take to leave after the program is done."""
COMMAND_NOT_RUN = 127
INVITED = b'{"type":"invited"'
"""How the only message begins that is not for the program."""


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
        self._waiting = b""  # for the program to read
        self._hello = hello
        self.say(encode(hello))

    def say(self, frame: bytes) -> None:
        """Sends a frame to the referee."""
        self._line.send(frame)

    def run(self) -> int:
        """Carries messages both ways until the program ends or the referee is gone; the program's exit code."""
        while True:
            ready = self._wait()
            if self._output.fileno() in ready and not self._wrote():
                break
            if self._line in ready:
                self._heard()
            elif self._hangups in ready:
                while self._line.poll(0):  # It may have come after we looked.
                    self._heard()
                break
            self._feed()
        self._feed_the_rest()
        code = self._program.wait()
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
            self.say(encode(replace(self._hello, token=invited.token)))
        elif not self._input.closed:
            self._waiting += frame + b"\n"

    def _wrote(self) -> bool:
        """Passes on what the program wrote; False: it has closed its output."""
        written = self._output.read(READ_BYTES)
        for line in self._lines.cut(written or b""):
            self.say(line)
        if written == b"" and (last := self._lines.end()):
            self.say(last)
        return written != b""

    def _feed(self) -> None:
        """Gives the program what it takes."""
        if self._waiting:
            try:
                self._waiting = self._waiting[self._input.write(self._waiting) or 0 :]
            except BrokenPipeError:
                # It reads no more, but may still have something to say.
                self._input.close()
                self._waiting = b""

    def _feed_the_rest(self) -> None:
        """What the referee said last, and the end. The bot's end ends us, too, if it does not read."""
        if not self._input.closed:
            os.set_blocking(self._input.fileno(), True)
            while self._waiting:
                self._feed()
            self._input.close()


def main() -> None:
    """Ends with the program's exit code, or by the signal that ended it."""
    name, version, _, *command = sys.argv[1:]
    token = os.environ.pop("ARENA_TOKEN")
    hello = Hello(token=token, name=name, version=version, protocol=PROTOCOL)
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
