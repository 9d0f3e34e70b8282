"""An endpoint for tests: a real server on this machine that says what it is told to, byte for byte if need be."""

import json
import socket
import threading
from collections.abc import Callable, Iterable
from time import sleep
from types import TracebackType
from typing import Any, Self

Part = bytes | float
"""Bytes to send, or seconds to wait."""
Script = Callable[["Request"], Iterable[Part]]


class Request:
    """One request as it came."""

    def __init__(self, head: bytes, body: bytes) -> None:
        self.head = head.decode()
        self.body: dict[str, Any] = json.loads(body)

    @property
    def asked(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


class ChatServer:
    """Answers each request by the script. `requests`: what came."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=[line], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, line: socket.socket) -> None:
        with line, line.makefile("rb") as reader:
            head = b""
            while (row := reader.readline()) not in (b"\r\n", b""):
                head += row
            length = next(
                int(row.partition(b":")[2])
                for row in head.splitlines()
                if row.lower().startswith(b"content-length")
            )
            request = Request(head, reader.read(length))
            self.requests.append(request)
            try:
                for part in self.script(request):
                    if isinstance(part, bytes):
                        line.sendall(part)
                    else:
                        sleep(part)
            except OSError:
                return  # The client has hung up.


def answer(content: Any, *, status: str = "200 OK", kind: str = "application/json", more: str = "") -> bytes:
    """Make a whole answer, its content as JSON unless it is bytes."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
    return f"{head}{more}\r\n".encode() + body


def completion(text: Any, tokens_in: int = 100, tokens_out: int = 10) -> bytes:
    """Make a model's answer."""
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return answer({"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage})
