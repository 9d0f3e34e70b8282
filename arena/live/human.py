"""A person's side of a match, without a terminal: converts messages to text, and typed text to messages.

`console` connects it to a terminal.
"""

from collections.abc import Sequence
from typing import Any, Union, assert_never

import msgspec
from msgspec import UNSET, Raw
from rich.text import Text

from arena.live.watch import board_text
from arena.quantities import span
from protocol import text as game_text
from protocol.codec import encode
from protocol.messages import (
    Accepted,
    ClientMessage,
    ClockTerms,
    Closed,
    EventMessage,
    Faulted,
    Invited,
    Opened,
    Over,
    Pause,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Submit,
    Undo,
    Welcome,
)
from protocol.refusals import Refusal
from protocol.text import InputTerms, ParseError, drawing_of, quoted
from protocol.words import Event, View
from referee.games import GAMES

Shown = str | Text
HELP = """\
an action      submit it; until time is up another one replaces it
ACTION!        submit it and let it stand: the window may close at once
an empty line  let what is submitted stand: the window may close at once
/done          the same; take the default, where nothing is submitted
/submit ACTION the same as ACTION
/undo          withdraw what is submitted: back to the default
/pause         ask for a pause, if this match grants any
/board         show the board again
/help          this, and what may be typed in each window of this game
/quit          leave the match; it goes on without you
keys           arrows edit the line and bring back earlier ones, Tab completes
               Ctrl-C empties the line; on an empty one it stops the match
               Ctrl-D on an empty line is /quit"""
COMMANDS = ("/submit", "/done", "/undo", "/pause", "/board", "/help", "/quit")
NO_WINDOW = "no window is open for you"


class Person:
    """State of a person's seat. `ready`: an action would be submitted now."""

    def __init__(self, *, final: bool, plain: bool) -> None:
        """Create the seat. `final`: every submission is final. `plain`: draw in ASCII."""
        self.ready = False
        self.over = False
        self._final = final
        self._plain = plain
        self._welcome: Welcome | None = None
        self._opened: Opened | None = None
        self._window = ""
        """Name of the window that was open last."""
        self._view: View | None = None
        self._news: list[Event] = []
        """Events since the last board was shown."""
        self._told: list[Event] = []
        """All events of the match."""
        self._standing: Any = None
        """Submission that the referee holds for the open window."""
        self._sent: Any = None
        """Submission that is not answered yet."""
        self._settles = False
        """True if that submission is final."""

    def hear(self, message: ServerMessage) -> list[Shown]:  # noqa: C901, PLR0911, PLR0912 - a case a message
        """Update the state and return the text to show for a message."""
        match message:
            case Invited():
                return []  # A person at this terminal is here already.
            case Welcome():
                return self._hear_welcome(message)
            case EventMessage(event=event):
                return self._hear_event(event)
            case Opened():
                return self._hear_window(message)
            case Accepted(action=action):
                return self._hear_accepted(action)
            case Rejected(window=window, reason=reason, text=text):
                if self._opened is not None and window == self._opened.id:
                    self.ready, self._sent, self._settles = True, None, False
                said: list[Shown] = [f"not accepted: {plain_refusal(text)}"]
                if reason is Refusal.ILLEGAL:
                    said += self._asked()
                return said
            case Closed():
                return self._hear_closed(message)
            case Paused(reason=reason):
                return [f"paused ({reason}): the clocks stand still"]
            case Resumed():
                return ["the clocks run again"]
            case Over(outcome=outcome):
                self.over = True
                places = ", then ".join(" and ".join(map(str, seats)) for seats in outcome.ranking)
                return [*self.board(), f"over ({outcome.reason}): seat {places}"]
            case Faulted(reason=reason, text=text):
                self.over = True
                return [f"the referee hangs up ({reason}): {text}"]
            case _ as unreachable:
                assert_never(unreachable)

    def act(self, text: str) -> tuple[list[ClientMessage], list[Shown]]:
        """Submit typed text to the open window; call it when `ready`."""
        if self._opened is None or self._welcome is None:
            return [], [NO_WINDOW]
        final = self._final or text.endswith("!")
        words = text.removesuffix("!").strip()
        if not words and self._standing is None:
            # An extra Enter must not cost a turn: the next window may be open already.
            return [], [f"nothing is submitted; /done takes the default: {self._default()}"]
        if not words:
            return self._done()
        try:
            action = game_text.read(self._welcome.game, self._opened.window, words)
        except ParseError as unclear:
            return [], [f"not sent: {unclear}", *self._asked()]
        return self._submit(action, final=final)

    def command(self, text: str) -> tuple[list[ClientMessage], list[Shown]]:  # noqa: PLR0911 - one case for each command
        """Execute a command that starts with `/`, except for `/submit` and `/quit`."""
        match text.split(maxsplit=1)[0].lower():
            case "/help":
                return [], [HELP, *self._help(), *self._asked()]
            case "/board":
                return [], self.board()
            case "/pause":
                return [Pause()], []
            case "/undo" if self._opened is not None:
                return [Undo(window=self._opened.id)], []
            case "/done" if self._opened is not None:
                return self._done()
            case "/undo" | "/done":
                return [], [NO_WINDOW]
            case other:
                return [], [f"there is no {quoted(other)}; the commands are {' '.join(COMMANDS)}"]

    @property
    def asked(self) -> bool:
        """True if a window is open that still accepts submissions."""
        return self._opened is not None

    def words(self) -> tuple[str, ...]:
        """Return completions for the current line."""
        if self._opened is None or self._view is None:
            return COMMANDS
        return *COMMANDS, *game_text.text_of(self._game()).words(self._opened.window, self._view)

    def board(self) -> list[Shown]:
        """Return the board as of the last window."""
        if self._view is None or self._welcome is None:
            return []
        return [board_text(self._welcome.game, self._view, self._news, plain=self._plain, told=self._told)]

    def _submit(self, action: Any, *, final: bool) -> tuple[list[ClientMessage], list[Shown]]:
        if self._opened is None:
            return [], []
        self.ready = False
        self._sent = action
        self._settles = final
        return [Submit(window=self._opened.id, action=Raw(encode(action)), final=final)], []

    def _done(self) -> tuple[list[ClientMessage], list[Shown]]:
        """Make the submission final, or the default if nothing is submitted."""
        action = self._sent
        if action is None:
            action = self._standing
        if action is None and self._opened is not None:
            action = self._opened.default
        return self._submit(action, final=True)

    def _hear_welcome(self, welcome: Welcome) -> list[Shown]:
        self._welcome = welcome
        for event in welcome.told:
            self._news.append(self._event(event))
        return [
            f"{welcome.game}, {welcome.variant}: you are seat {welcome.seat} of {welcome.seats}.",
            f"time: {_times(welcome.clock)}. /help lists what you can type.",
        ]

    def _hear_event(self, told: Any) -> list[Shown]:
        event = self._event(told)
        self._news.append(event)
        return [drawing_of(self._game()).words(event)]

    def _hear_window(self, opened: Opened) -> list[Shown]:
        self._opened = opened
        self._window = opened.window
        self._view = msgspec.convert(opened.view, GAMES[self._game()].view_type)
        self._standing = self._sent = None
        self.ready = True
        shown = self.board()
        self._news = []
        return [*shown, *self._asked()]

    def _hear_accepted(self, action: Any) -> list[Shown]:
        self._standing, self._sent = action, None
        said = self._default() if action is None else game_text.say(self._game(), action)
        if self._settles:
            self._opened = None
            return [f"{'the default stands' if action is None else 'submitted'}: {said}"]
        self.ready = True
        if action is None:
            return [f"withdrawn: back to the default: {said}"]
        return [f"submitted: {said}; an empty line lets it stand, another action replaces it"]

    def _hear_closed(self, closed: Closed) -> list[Shown]:
        self._opened = None
        self.ready = False
        taken = game_text.say_default(self._game(), self._window, closed.taken)
        how = f"time is up, taken by default: {taken}"
        if not closed.by_default:
            how = f"taken: {taken if closed.taken is None else game_text.say(self._game(), closed.taken)}"
        return [f"{how} ({closed.charged_ms / 1000:.1f} s)"]

    def _asked(self) -> Sequence[Shown]:
        if self._opened is None or self._view is None:
            return []
        game, window = self._game(), self._opened.window
        asked = game_text.text_of(game).ask(window, self._view)
        return [f"{asked}. {game_text.if_nothing(game, window, self._opened.default)}"]

    def _help(self) -> list[Shown]:
        """Return the notation for the windows of this match, with examples for the open one."""
        if self._welcome is None:
            return []
        terms = InputTerms(self._welcome.variant, self._welcome.options, self._welcome.seat)
        shown: list[Shown] = [game_text.explain(self._welcome.game, terms)]
        if self._opened is not None and self._view is not None:
            examples = game_text.text_of(self._welcome.game).examples(self._opened.window, self._view)
            if examples:
                shown.append("\n".join(["now, for example:", *game_text.listed(examples)]))
        return shown

    def _event(self, told: Any) -> Event:
        event: Event = msgspec.convert(told, Union[GAMES[self._game()].events])  # noqa: UP007 - at run time
        self._told.append(event)
        return event

    def _game(self) -> str:
        return self._welcome.game if self._welcome else ""

    def _default(self) -> str:
        """Return a text for the default of the open window."""
        default = None if self._opened is None else self._opened.default
        return game_text.say_default(self._game(), self._window, default)


def plain_refusal(text: str) -> str:
    """Return a refusal without the key that it concerns, where the action has no other."""
    return text.removeprefix("target: ").removeprefix("seat: ")


def _times(clock: ClockTerms) -> str:
    """Return a match's time limits as text."""
    times = [f"{name} {span(main)}" for name, main in clock.main_ms.items()]
    times.append(f"reserve {span(clock.reserve_ms)}")
    if clock.increment_ms is not UNSET:
        times.append(f"{span(clock.increment_ms)} more after each window")
    if clock.bronstein_ms is not UNSET:
        times.append(f"up to {span(clock.bronstein_ms)} given back after each window")
    return ", ".join(times)
