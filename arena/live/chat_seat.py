"""A seat for a language model in this process: `arena match GAME chat BOT`, with the endpoint in CHAT_URL.

In the sandbox a bot has no network and none of our variables. The sample bot `chat` belongs to the project, so it
may play here, as a person at the terminal may. It plays in a thread, because it waits for its endpoint.
"""

from functools import partial
from typing import TYPE_CHECKING

import trio

from arena.terminal import say
from protocol.messages import PROTOCOL, Hello
from referee.wire import MemoryLine

if TYPE_CHECKING:
    from bots.language_model.settings import Settings

FULL_SECONDS = 0.01
"""Seconds until the next attempt to send, when the referee's queue for the seat is full."""


class LanguageModelSeat:
    """A language model's seat in one match."""

    def __init__(self, name: str, settings: "Settings") -> None:
        # Imported here because its HTTP client takes as long to import as all of trio, and few matches need it.
        from bots.language_model.player import ChatSeat  # noqa: PLC0415

        self._name = name
        self._seat = ChatSeat(settings)

    @property
    def actions(self) -> int:
        """Number of the model's answers that held an action."""
        return self._seat.actions

    async def play(self, line: MemoryLine) -> None:
        """Play the seat at the other end of a line. Return when the match is over, or the seat cannot continue."""
        from bots.kit import error_text  # noqa: PLC0415 - see `__init__`

        try:
            await trio.to_thread.run_sync(partial(self._play, line), abandon_on_cancel=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this seat's alone
            say(f"{self._name}: {error_text(error)}")

    def _play(self, line: MemoryLine) -> None:
        from bots.kit import play  # noqa: PLC0415 - see `__init__`

        hello = Hello(token="", name=self._name, version="1", protocol=PROTOCOL)
        play(self._seat, _LineOfThread(line), hello)


class _LineOfThread:
    """The bot's end of a line, for use in a thread."""

    def __init__(self, line: MemoryLine) -> None:
        self._line = line

    def send(self, frame: bytes) -> None:
        """Send one frame."""
        trio.from_thread.run(self._send, frame)

    def receive(self) -> bytes | None:
        """Wait for the next frame, and return it; return None once the referee has disconnected."""
        try:
            return trio.from_thread.run(self._line.hear)
        except trio.EndOfChannel:
            return None

    async def _send(self, frame: bytes) -> None:
        while True:
            try:
                self._line.say(frame)
            except trio.WouldBlock:
                await trio.sleep(FULL_SECONDS)
            else:
                return
