"""Live matches, built from a feed: the messages for browsers, and the events withheld from them.

A feed is untrusted: invalid messages are ignored, and everything stored is bounded. The end of a match reveals its
deal, which later matches of the same block may still use. So events after a window are published only when the
next window opens, and events after the last window only when the block counts.
"""

import re
from collections import deque
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Literal, assert_never

import msgspec
from msgspec import Struct

from arena.live import in_names, numbered_names
from arena.schedule import match_name
from arena.statistics import places_by_seat
from arena.viewer import runes_of
from protocol.codec import MAX_NESTING, encode, is_deeper
from protocol.feed import (
    MATCH,
    FeedBegun,
    FeedClosed,
    FeedEnded,
    FeedEvent,
    FeedMessage,
    FeedPaused,
    FeedResumed,
    FeedSnapshot,
    FeedStandings,
    FeedWindow,
)
from protocol.text import drawing_of
from protocol.words import MOST, Event, Outcome, View
from referee.display_text import printable
from referee.games import GAMES

MOST_MATCHES = 200
"""Maximum matches shown per feed."""
NAME = 120
"""Maximum characters of a name."""
LINE = 300
"""Maximum characters of a log line."""
LINES = 100
"""Maximum log lines stored per match; the oldest are dropped."""
MOST_HELD = 2_000
"""Maximum events per match that wait for its next window."""
VIEW_BYTES = 64 * 1024
SILENT_SECONDS = 12.0
"""Seconds without a message after which a match is no longer shown; feeds send one at least every three
seconds."""
AFTER_SECONDS = 60.0
"""Seconds for which a match is shown after its result was published, or after it was void."""
WAITING_SECONDS = 3_600.0
"""Seconds for which a finished match is shown while its block does not count."""
ON_STAGE = 6
"""Maximum matches whose boards are sent to all clients of a feed."""
LINGER_SECONDS = 4.0
"""Seconds for which a finished match remains on stage while others wait."""
_HASH = re.compile(r"[0-9a-f]{32}")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

State = Literal["playing", "over", "void", "ended"]
"""State of a match: being played; over, with its result withheld; void; over, with its result published."""
Fields = dict[str, Any]
NO_MATCHES: Fields = {"type": "all", "matches": [], "stage": [], "runes": {}}
"""Snapshot message for a feed without matches."""
_messages: msgspec.json.Decoder[FeedMessage] = msgspec.json.Decoder(FeedMessage)


def decoded(message: bytes) -> FeedMessage | None:
    """Decode a message of a feed. Return None if the bytes are not a valid one."""
    try:
        found = _messages.decode(message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return None if is_deeper(message, MAX_NESTING) else found


class _Game:
    """Decoder of a game's events and views. It decodes nothing of games that this arena does not have."""

    def __init__(self, name: str) -> None:
        game = GAMES.get(name)
        self._events = None if game is None else tuple(game.events)
        self._view = None if game is None else game.view_type
        self._words = drawing_of(name).words

    def words(self, event: Any) -> tuple[str, Fields | None] | None:
        """Describe an event; add its fields if it is a reveal. Return None if the game has no such event."""
        if not self._events:
            return None
        try:
            typed: Event = msgspec.convert(event, type=_union(self._events))
            said = printable(self._words(typed))[:LINE]
            if type(typed).__name__ != "Reveal":
                return said, None
            return said, _shown(typed)
        except Exception:  # noqa: BLE001 - a stranger's event has the right form, and may yet say what no drawing expects
            return None

    def view(self, view: Any) -> Fields | None:
        """Return a spectator's view as JSON, or None if it is invalid for the game or too large."""
        if self._view is None:
            return None
        try:
            typed: View = msgspec.convert(view, type=self._view)
        except (msgspec.MsgspecError, RecursionError):
            return None
        shown = _shown(typed)
        return None if shown is None or shown.get("seat") is not None else shown


def _shown(words: View | Event) -> Fields | None:
    """Return a view or event as JSON, or None if it is too large or holds a number too large for browsers."""
    shown: Fields = msgspec.to_builtins(words, str_keys=True)
    return shown if _has_small_numbers(shown) and len(encode(shown)) <= VIEW_BYTES else None


def _has_small_numbers(value: Any) -> bool:
    match value:
        case dict():
            return all(_has_small_numbers(each) for each in value.values())
        case list() | tuple():
            return all(_has_small_numbers(each) for each in value)
        case int() | float():
            return -MOST <= value <= MOST
        case _:
            return True


def _union(types: Sequence[type[Any]]) -> Any:
    made = types[0]
    for each in types[1:]:
        made = made | each  # type: ignore[assignment]  # a union, which no type of a type is
    return made


class _Reveal(Struct):
    """Result of a finished match, withheld until its block counts."""

    outcome: Outcome
    head: str
    view: Fields | None


class LiveMatch:
    """One attempt at a match. `now` returns the time in seconds."""

    def __init__(self, id_: str, begun: FeedBegun, now: Callable[[], float]) -> None:
        self.id = id_
        self.started = begun.started
        self.alone = begun.alone
        self.players = [printable(name)[:NAME] for name in begun.players]
        self.state: State = "playing"
        self.heard_at = now()
        self.over_at = 0.0
        self.link: str | None = None
        """Link to the match's page; None until its block counts."""
        self.reveal: _Reveal | None = None
        """Withheld result; None unless the match is over and its block does not count yet."""
        self._now = now
        self.game = printable(begun.game)[:NAME]
        self._variant = printable(begun.variant)[:NAME]
        self._reader = _Game(begun.game)
        self._n = 1
        """Number of the next expected message."""
        self._window: FeedWindow | None = None
        self._opened_at = 0.0
        self._stopped = 0.0
        self._paused: str | None = None
        """Reason of the pause, if the match is paused."""
        self._paused_at = 0.0
        self._view: Fields | None = None
        self._held: deque[str] = deque(maxlen=MOST_HELD)
        """Descriptions of events since the last window, not yet published."""
        self._held_reveal: Fields | None = None
        """Fields of the last reveal among the withheld events."""
        self._lines: deque[str] = deque(maxlen=LINES)
        self._told = 0
        """Number of log lines published so far, including dropped ones."""
        self._end: Fields = {}

    def summary(self) -> Fields:
        """Return the players, the state and, once published, the places."""
        summary: Fields = {
            "id": self.id,
            "game": self.game,
            "variant": self._variant,
            "players": self.players,
            "state": self.state,
        }
        if self.link:
            summary["link"] = self.link
        if "places" in self._end:
            summary["places"] = self._end["places"]
        return summary

    def everything(self) -> Fields:
        """Return all public fields of the match."""
        return self.summary() | self._clock() | {"view": self._view} | self._log(0) | self._end

    def hear(self, message: FeedMessage) -> Fields:
        """Process a message. Return the public fields that it changed; empty if there are none."""
        self.heard_at = self._now()
        if isinstance(message, FeedStandings | FeedBegun) or self.state != "playing" or message.n < self._n:
            return {}
        if isinstance(message, FeedSnapshot):
            return self._catch_up(message)
        if message.n > self._n:
            # A missing message may have closed the window.
            self._window = None
        self._n = message.n + 1
        match message:
            case FeedEvent():
                self._hold(message.event)
                return self._release() if self._window is not None else {}
            case FeedWindow():
                return self._open(message, 0.0)
            case FeedEnded():
                return self._finish(message)
            case FeedClosed():
                self._window = None
            case FeedPaused():
                self._pause(printable(message.reason)[:NAME])
            case FeedResumed():
                self._resume()
            case _ as unreachable:
                assert_never(unreachable)
        return self._clock()

    def count(self, link: str | None) -> Fields:
        """Publish the withheld result, once the block counts or if the match belongs to no tournament."""
        if self.reveal is None:
            return {}
        outcome, view = self.reveal.outcome, self.reveal.view
        self.reveal, self.state, self.link, self.over_at = None, "ended", link, self._now()
        self._end = _result(outcome)
        if view is not None:
            self._view = view
        changed = self._release(at_end=True)
        return self.summary() | self._clock() | {"view": self._view} | changed | self._end

    def _open(self, window: FeedWindow, elapsed: float) -> Fields:
        """Open a window and release the events before it: as the match continues, they do not reveal its end."""
        self._window = msgspec.structs.replace(window, view=None)
        self._opened_at, self._stopped = self._now() - elapsed, 0.0
        self._paused_at = self._now()
        self._view = self._reader.view(window.view)
        return self._release() | self._clock() | {"view": self._view}

    def _hold(self, event: Any) -> None:
        """Store an event's description for later release, bounded in length."""
        if (said := self._reader.words(event)) is not None:
            self._held.append(in_names(said[0], numbered_names(self.players))[:LINE])
            self._held_reveal = said[1] or self._held_reveal

    def _drop(self) -> None:
        self._held.clear()
        self._held_reveal = None

    def _release(self, *, at_end: bool = False) -> Fields:
        before = self._told
        self._told += len(self._held)
        self._lines.extend(self._held)
        if at_end and self._held_reveal is not None:
            self._end |= {"reveal": self._held_reveal}
        self._drop()
        return self._log(before) if self._told > before else {}

    def _log(self, since: int) -> Fields:
        """Return the stored log lines from number `since` on."""
        first = self._told - len(self._lines)
        since = max(since, first)
        return {"log_from": since, "log": list(self._lines)[since - first :]}

    def _catch_up(self, snapshot: FeedSnapshot) -> Fields:
        """Restore the match from a periodic snapshot if messages were missed."""
        if snapshot.n == self._n:
            return {}
        self._n = snapshot.n
        self._lines.clear()
        self._told, self._window = snapshot.left_out, None
        self._drop()
        for each in snapshot.events[-MOST_HELD:]:
            event = each.get("event") if isinstance(each, dict) else None
            self._hold(event)
        self._paused = None
        changed: Fields = {}
        if snapshot.window is not None:
            open_for = max(0, snapshot.at_ms - snapshot.window.at_ms - snapshot.stopped_ms) / 1_000
            changed = self._open(snapshot.window, open_for)
        if snapshot.paused is not None:
            self._pause(printable(snapshot.paused)[:NAME])
        return changed | self._clock()

    def _finish(self, ended: FeedEnded) -> Fields:
        self.over_at = self._now()
        self._window = None
        if ended.outcome is None or not _fits(ended.outcome, len(self.players)):
            # The deal is played again, so its last events must stay secret.
            self.state = "void"
            self._drop()
            return self.summary() | self._clock()
        self.state = "over"
        self.reveal = _Reveal(ended.outcome, ended.head[:NAME], self._reader.view(ended.view))
        if self.alone:
            return self.count(None)
        return self.summary() | self._clock()

    def _pause(self, reason: str) -> None:
        if self._paused is None:
            self._paused_at = self._now()
        self._paused = reason

    def _resume(self) -> None:
        if self._paused is not None:
            self._stopped += self._now() - self._paused_at
            self._paused = None

    def _clock(self) -> Fields:
        """Return the open window with the time passed in it, and the reason for a pause."""
        window = self._window
        if window is None:
            return {"window": None, "paused": self._paused}
        until = self._now() if self._paused is None else self._paused_at
        seats = list(dict.fromkeys(seat for seat in window.seats or () if 0 <= seat < len(self.players)))
        return {
            "window": {
                "name": printable(window.window)[:NAME],
                "seats": None if window.seats is None else seats,
                "main_ms": window.main_ms,
                "reserve_ms": {str(seat): window.reserve_ms.get(str(seat)) for seat in seats},
                "passed_ms": max(0, round((until - self._opened_at - self._stopped) * 1_000)),
            },
            "paused": self._paused,
        }


def _fits(outcome: Outcome, seats: int) -> bool:
    """Return whether the ranking places each seat exactly once."""
    return sorted(chain.from_iterable(outcome.ranking)) == list(range(seats))


def _result(outcome: Outcome) -> Fields:
    places = {str(seat): place for seat, place in places_by_seat(outcome).items()}
    scores = {seat: score for seat, score in (outcome.scores or {}).items() if seat in places}
    return {"places": places, "scores": scores, "reason": printable(outcome.reason)[:NAME]}


Key = tuple[int, str]
"""Key of a match: the number of its feed, and its topic."""


class LiveFeed:
    """Matches of one feed, or of all feeds shown on one page."""

    def __init__(
        self,
        publish: Callable[[Fields], None],
        publish_of: Callable[[str, Fields], None],
        now: Callable[[], float],
    ) -> None:
        """`publish` sends a message to all clients of the feed, `publish_of` to the clients of one match."""
        self._publish = publish
        self._publish_of = publish_of
        self._now = now
        self._matches: dict[Key, LiveMatch] = {}
        self._stage: list[Key] = []
        """Keys of the matches whose boards are sent to all clients of the feed."""

    def hear(self, topic: bytes, content: bytes, feed: int = 0) -> None:
        """Process a possibly invalid message of feed number `feed`; it affects only matches of that feed."""
        if not topic.startswith(MATCH.encode()) or (message := decoded(content)) is None:
            return
        try:
            name = feed, topic.decode()
        except UnicodeDecodeError:
            return
        begun = message.begun if isinstance(message, FeedSnapshot) else message
        match = self._matches.get(name)
        if isinstance(begun, FeedBegun) and (match is None or match.started != begun.started):
            match = self._begin(name, begun)
        if match is not None and (changed := match.hear(message)):
            self._tell(name, match, changed)
            if match.state != "playing":
                self.tidy()

    def snapshot(self) -> Fields:
        """Return a snapshot message of all matches."""
        matches = []
        for name, match in self._matches.items():
            matches.append(match.everything() if name in self._stage else match.summary())
        return {"type": "all", "matches": matches, "stage": self._stage_ids(), "runes": self._runes()}

    def snapshot_of(self, id_: str) -> Fields:
        """Return a snapshot message of one match."""
        match = self.match(id_)
        if match is None:
            return NO_MATCHES | {"runes": self._runes()}
        return {"type": "all", "matches": [match.everything()], "stage": [id_], "runes": self._runes()}

    def match(self, id_: str) -> LiveMatch | None:
        """Return the match with that id, or None."""
        return next((match for match in self._matches.values() if match.id == id_), None)

    def waiting(self) -> list[str]:
        """Return the heads of finished matches whose results are still withheld."""
        return [match.reveal.head for match in self._matches.values() if match.reveal is not None]

    def count(self, counted: dict[str, tuple[int, int]]) -> None:
        """Publish the results of matches that count now. `counted` maps heads to block and seating."""
        for name, match in self._matches.items():
            if match.reveal is not None and (found := counted.get(match.reveal.head)) is not None:
                block, seating = found
                self._tell(name, match, match.count(f"match/{match_name(block, seating)}.html"))

    def tidy(self) -> None:
        """Remove old matches and update the stage. Call this periodically."""
        for name, match in tuple(self._matches.items()):
            if self._is_old(match):
                self._forget(name)
        self._restage()

    @property
    def playing(self) -> int:
        """Number of matches being played."""
        return sum(match.state == "playing" for match in self._matches.values())

    def _begin(self, name: Key, begun: FeedBegun) -> LiveMatch | None:
        """Add a new match. Return None if it has no players or the feed has too many matches."""
        if not begun.players:
            return None
        self._matches.pop(name, None)
        if name in self._stage:
            self._stage.remove(name)
        feed, topic = name
        of_feed = [each for each in self._matches if each[0] == feed]
        if len(of_feed) >= MOST_MATCHES:
            over = [each for each in of_feed if self._matches[each].state != "playing"]
            if not over:
                return None
            self._forget(over[0])
        match = self._matches[name] = LiveMatch(self._free_id(feed, topic.removeprefix(MATCH)), begun, self._now)
        self._publish({"type": "whole"} | match.summary())
        self._publish_of(match.id, {"type": "whole"} | match.everything())
        self._restage()
        return match

    def _free_id(self, feed: int, given: str) -> str:
        """Return a unique id for a match of that name, usable as part of a path."""
        # Names that look like a hash are hashed too, so that no name equals another's hash.
        if _PLAIN.fullmatch(given) and not _HASH.fullmatch(given) and self.match(given) is None:
            return given
        return sha256(f"{feed} {given}".encode()).hexdigest()[:32]

    def _forget(self, name: Key) -> None:
        match = self._matches.pop(name)
        self._publish({"type": "gone", "id": match.id})
        self._publish_of(match.id, {"type": "gone", "id": match.id})

    def _is_old(self, match: LiveMatch) -> bool:
        now = self._now()
        match match.state:
            case "playing":
                return now - match.heard_at > SILENT_SECONDS
            case "over":
                return now - match.over_at > WAITING_SECONDS
            case "void" | "ended":
                return now - match.over_at > AFTER_SECONDS
            case _ as unreachable:
                assert_never(unreachable)

    def _tell(self, name: Key, match: LiveMatch, changed: Fields) -> None:
        message = {"type": "match", "id": match.id} | changed
        self._publish_of(match.id, message)
        if name in self._stage:
            self._publish(message)
        elif "state" in changed:
            self._publish({"type": "match"} | match.summary())

    def _restage(self) -> None:
        """Put waiting matches on stage, in free places and those of matches that are over for some seconds."""
        now = self._now()
        waiting = [
            name for name, match in self._matches.items() if match.state == "playing" and name not in self._stage
        ]
        stage = [name for name in self._stage if name in self._matches]
        while waiting:
            if len(stage) >= ON_STAGE:
                gone = next((name for name in stage if self._may_leave(name, now)), None)
                if gone is None:
                    break
                stage.remove(gone)
            stage.append(waiting.pop(0))
        if stage != self._stage:
            came = [name for name in stage if name not in self._stage]
            self._stage = stage
            for name in came:
                self._publish({"type": "whole"} | self._matches[name].everything())
            self._publish({"type": "stage", "stage": self._stage_ids()})

    def _may_leave(self, name: Key, now: float) -> bool:
        match = self._matches[name]
        return match.state != "playing" and now - match.over_at > LINGER_SECONDS

    def _stage_ids(self) -> list[str]:
        return [self._matches[name].id for name in self._stage]

    def _runes(self) -> Fields:
        """Return the segments of each rune, if a match's game has runes."""
        return next((found for match in self._matches.values() if (found := runes_of(match.game))), {})
