"""The records of a transcript: one Struct per line. `match` creates them; see `transcript`.

All times (`at`, `deadline`, …) are whole microseconds since the start of the match, on the monotonic clock. The
records marked *input* are all that a match receives from outside. `Match.apply` creates every other record from
them again, which is how a transcript is verified.
"""

import base64
from enum import StrEnum
from hashlib import pbkdf2_hmac, sha256
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from protocol.codec import Refused
from protocol.messages import ClientMessage, ClockTerms
from protocol.refusals import Conduct, Refusal
from protocol.words import Outcome

FORMAT = 2
"""The version of the format, named in every transcript's header."""
FLOOD_US = 5_000
"""Microseconds of the loop's time per window, spent on a bot's rejected messages, from which the bot has flooded
it."""
BLOCKING_US = 1_000
"""Microseconds of such time from which a bot counts as one that makes the referee late."""
BOT_SEED_BITS = 53
REMOTE_ROUNDS = 1_000
"""Rounds of hashing from a match's seed to a remote bot's, which take a millisecond or less."""
START = -1
"""The number that stands for a bot's start in place of a window's number. Windows are counted from 0."""
LARGEST = 2**53 - 1
"""The largest count or measurement in a record: 285 years in microseconds, and exact in every JSON reader."""

KEPT_OF_REFUSED = 1_000
"""Bytes kept in the transcript of a frame that is refused for its content: a flood must not fill the disk."""
LINE_BYTES = 100
"""Bytes that a line of the transcript has besides its record: its number, and the hash of the line before."""
OUT_BYTES = LINE_BYTES + 50
"""Bytes that the line of a message to a bot has besides the message."""

Microseconds = Annotated[int, Meta(ge=0, le=LARGEST)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
SeatNumber = Annotated[int, Meta(ge=0, le=LARGEST)]
"""The number of a seat. The header tells which seats exist."""
ExitCode = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]


def bot_seed(seed: int, place: int) -> int:
    """Return a bot's own seed of 53 bits, derived from the match's, which cannot be derived from it.

    `place` counts the seats of all matches of one deal, so that no two bots of a deal have the same seed.
    """
    digest = sha256(f"{seed}/bot/{place}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - BOT_SEED_BITS)


def remote_bot_seed(seed: int, place: int) -> int:
    """Return the seed of a bot on another machine, whose author may have many machines to try all match seeds."""
    digest = pbkdf2_hmac("sha256", f"{seed}/bot/{place}".encode(), b"remote", REMOTE_ROUNDS)
    return int.from_bytes(digest[:8], "big") >> (64 - BOT_SEED_BITS)


class BotIdentity(Struct, frozen=True, kw_only=True):
    """The bot in a seat."""

    name: str
    """The bot's label in the competition, which is shown to spectators everywhere."""
    version: str
    content: str
    """Hash of the bot folder's content, `sha256:…`; empty for a person, and for a bot on another machine."""
    seed: int
    token: str
    """The token that the bot's `hello` must contain."""
    kept: Annotated[int, Meta(ge=1, le=LARGEST)] | UnsetType = UNSET
    """Number of matches that the bot's process had played before this one. Absent: it was started for this one."""
    remote: str | UnsetType = UNSET
    """The public key of a bot on its author's own machine. It ran in no sandbox, and its code is unknown. Absent:
    it ran on the referee's machine."""
    delay_us: Microseconds | UnsetType = UNSET
    """The network's round trip to a remote bot, measured before the match. Absent: not measured."""
    credit_us: Microseconds | UnsetType = UNSET
    """The part of a remote bot's time per window that is not charged, because of the network. Absent: none."""
    debugged: bool | UnsetType = UNSET
    """True: the bot ran outside the sandbox at its author's terminal, with a stopped clock. Absent: it did not."""
    manifest: str | UnsetType = UNSET
    """The name in the bot's bot.toml. Absent: the same as its label."""

    @property
    def manifest_text(self) -> str:
        """The name and version in the bot's bot.toml, shown after its label; empty: the name is the label."""
        if self.manifest is UNSET:
            return ""
        return f"{self.manifest} {self.version}"


class Header(Struct, frozen=True, kw_only=True, tag="header", tag_field="kind"):
    """The first line: all that a replay needs. It contains the host's secrets."""

    format: int
    arena: str
    match: str
    game: str
    variant: str
    seed: int
    options: Raw
    """All options that applied, explicit or default, as an object."""
    setup: Raw
    """The setup that applied, explicit or drawn."""
    clock: ClockTerms
    policy: Any
    """The match's `Policy`."""
    bots: tuple[BotIdentity, ...]
    """The bots, indexed by seat."""
    isolation: str
    machine: str
    started: str
    """Wall-clock time of the start, ISO 8601, UTC. For people only; no rule uses it."""
    measured: bool = False
    """True if measurements (`Used`) follow seat windows that took the default, used the reserve, or took 100
    ms."""
    unexcused: tuple[SeatNumber, ...] | UnsetType = UNSET
    """The seats that a verdict `host` does not excuse; see `Match`. Absent: all seats are excused."""
    package: str | UnsetType = UNSET
    """Name and version of the package that the game comes from. Absent: the game is the arena's own."""
    salts: tuple[str, ...] = ()
    """The salts of the seats' own transcripts (`SeatHeader.salt`), indexed by seat. `open_transcript` sets
    them."""


class Frame(Struct, frozen=True):
    """Input: a frame as received from a bot. `In` is its record, which may contain less of it."""

    at: int
    seat: int
    frame: bytes
    size: int
    """The frame's size on the wire in bytes: its own length, or more."""
    complaint: str | None = None
    """The text of the refusal of a frame that was cut in its record, unless it was refused for its size."""
    refusal: str = Refusal.MALFORMED
    """The `Refusal` that belongs to the complaint."""


class In(Struct, frozen=True, kw_only=True, tag="in", tag_field="kind", omit_defaults=True):
    """Input: a frame arrived from a bot. It is text in `frame`, or base64 in `octets` if it is not UTF-8."""

    at: Microseconds
    seat: SeatNumber
    frame: str = ""
    octets: str = ""
    cut: Count = 0
    """The frame's full length in bytes, if only its beginning is kept because it was refused. For a message of
    several parts, their bytes on the wire; `frame` is then a text that replaces it."""
    refused: str = ""
    """The `Refusal` of a frame that was cut."""
    text: str = ""
    """The text with which a frame that was cut was refused."""
    closed: Annotated[str, Meta(max_length=100)] = ""
    """The reason why the bot's connection was closed, for a record that replaces bytes which are no frame."""

    @classmethod
    def of(cls, came: Frame, message: ClientMessage | Refused | None = None) -> "In":
        """Return the record of a frame with a message. A refused one is cut to its first bytes; see `kept_of`."""
        if isinstance(message, Refused) and came.size > min(len(came.frame), kept_of(message.refusal)):
            text, octets = _as_text(came.frame[: kept_of(message.refusal)])
            cut, refused, why = came.size, message.refusal.value, message.text
            return cls(at=came.at, seat=came.seat, frame=text, octets=octets, cut=cut, refused=refused, text=why)
        text, octets = _as_text(came.frame)
        return cls(at=came.at, seat=came.seat, frame=text, octets=octets)

    def came(self) -> Frame:
        """Return the frame of this record."""
        frame = self.raw()
        if not self.refused:
            return Frame(self.at, self.seat, frame, self.cut or len(frame))
        return Frame(self.at, self.seat, frame, self.cut or len(frame), self.text, self.refused)

    def spelled(self) -> bool:
        """Return whether `frame` and `octets` are in the form that `of` writes."""
        try:
            return _as_text(self.raw()) == (self.frame, self.octets)
        except ValueError:
            return False

    def raw(self) -> bytes:
        """Return the frame, or the part of it that was kept."""
        if self.octets:
            return base64.b64decode(self.octets)
        return self.frame.encode()


def kept_of(refusal: Refusal) -> int:
    """Return how many bytes are kept of a longer frame that was refused."""
    if refusal is Refusal.TOO_MUCH:
        return 0
    return KEPT_OF_REFUSED


class Out(Struct, frozen=True, kw_only=True, tag="out", tag_field="kind"):
    """The exact bytes of a message that was sent to a bot."""

    at: Microseconds
    seat: SeatNumber
    frame: Raw


class Handed(Struct, frozen=True, kw_only=True, tag="handed", tag_field="kind"):
    """Input: the transport accepted a `window` message, or would have, if the bot were not being restarted.

    The seat's clock starts here.
    """

    at: Microseconds
    seat: SeatNumber


class Cpu(Struct, frozen=True, kw_only=True, tag="cpu", tag_field="kind"):
    """Input: a reading of a bot's processor time, in a match whose clock counts it."""

    at: Microseconds
    """The time just after the reading."""
    seat: SeatNumber
    used: Microseconds
    """Processor time of all the bot's processes over the match."""
    cores: Annotated[int, Meta(ge=1, le=LARGEST)]
    """The number of cores that the bot may use at once."""


class Woke(Struct, frozen=True, kw_only=True, tag="woke", tag_field="kind"):
    """Input: the referee acted at `at` on the deadline at `deadline`. The difference is its lateness."""

    at: Microseconds
    deadline: Microseconds


class Started(Struct, frozen=True, kw_only=True, tag="started", tag_field="kind"):
    """Input: a seat's bot runs. Its start-up time counts from here."""

    at: Microseconds
    seat: SeatNumber


class Left(Struct, frozen=True, kw_only=True, tag="left", tag_field="kind"):
    """Input: a bot has left.

    `exit` is its process's exit code (negative: the signal), null if it does not read, and 0 if a bot on another
    machine was disconnected for too long.
    """

    at: Microseconds
    seat: SeatNumber
    exit: ExitCode | None
    why: Annotated[str, Meta(max_length=300)] | UnsetType = UNSET
    """The cause in words, if more than the exit code is known. No rule uses it."""


class PauseOrder(Struct, frozen=True, kw_only=True, tag="pause", tag_field="kind"):
    """Input: the operator stopped (`on`) or restarted the clocks."""

    at: Microseconds
    on: bool


class SeatTime(Struct, frozen=True, kw_only=True):
    """A seat window in a window's record. Times are readings of the match's stopwatch, which excludes pauses."""

    seat: int
    opened: int
    """The time at which the seat's transport accepted the window."""
    deadline: int
    """The latest end of main time, and of the reserve if it may be used."""
    arrived: int | None
    """The arrival of the submission; None if the default was used."""
    taken: Any
    by_default: bool
    charged_ms: int
    reserve_ms: int
    """The reserve left for the match."""


class WindowTime(Struct, frozen=True, kw_only=True, tag="window", tag_field="kind"):
    """A closed window: the actions, and the time of each seat."""

    at: Microseconds
    number: int
    window: str
    seats: tuple[SeatTime, ...]
    lateness: int
    """Microseconds by which the referee woke after the deadline that closed it; 0 if no deadline did."""


class Used(
    Struct,
    frozen=True,
    kw_only=True,
    tag="used",
    tag_field="kind",
    omit_defaults=True,
    rename={"blocking_seats": "hogs", "blocked_us": "hogs_taken"},
):
    """Input: the measurement of a seat window after its end, in microseconds.

    It may also be that of the start of a bot that sent no `hello` in time. Then it precedes the consequences.
    """

    at: Microseconds
    seat: SeatNumber
    number: Annotated[int, Meta(ge=START, le=LARGEST)]
    """The number of the window among the seat's own, or `START`."""
    cpu: Microseconds
    """Processor time of all the bot's processes."""
    waited: Microseconds
    """Time for which the bot's threads waited for a processor, summed over threads."""
    withheld: Microseconds
    """The part of `waited` that is not the bot's own doing; see `meter.Reading`."""
    throttled: Microseconds
    """Time for which the bot was throttled because it had used up its `cpus`."""
    behind: Microseconds
    """The longest event-loop stall during the window. For a start that the referee had not carried out yet, all of
    its time."""
    stopped: Microseconds = 0
    """Time for which the referee's process was stopped or the machine suspended. The times of all records exclude
    it."""
    taken: Microseconds = 0
    """Time that the loop spent on this bot's rejected messages: floods and refusals."""
    blocking_seats: tuple[SeatNumber, ...] = ()
    """Other seats of this match on whose rejected messages the loop spent `BLOCKING_US` or more each."""
    blocked_us: Microseconds = 0
    """Time that the loop spent on all of them."""
    active: Microseconds | UnsetType = UNSET
    """Time for which the threads that answer ran or waited for a processor. Absent: unknown."""
    after: Microseconds = 0
    """Time after the window's end for which `active` was counted, such as until a late submission."""
    rested: Microseconds = 0
    """Time after the end for which the bot was frozen because it owed nothing. `after` excludes it."""

    @property
    def flooded(self) -> bool:
        """True if the bot kept the loop busy itself, so that withheld processor time is no excuse."""
        return self.taken >= FLOOD_US


class Verdict(StrEnum):
    """The party at fault."""

    BOT = "bot"
    REFEREE = "referee"
    HOST = "host"
    """The machine, which did not run the bot although it was ready."""


class Evidence(Struct, frozen=True, kw_only=True, rename={"blocking_seats": "hogs"}):
    """The facts about a seat window that took the default or used the reserve, in microseconds."""

    gone: bool
    """True if the bot had left the match."""
    own: bool = False
    """True if the bot is at fault in any case: it had no budget left, or used all that is charged as processor
    time, or flooded the referee in this window; see `records.Used`."""
    time: int
    reserve: int
    by_default: bool
    late_by: int | None
    """Time from the end to the arrival of its late submission, if the default was used; None: none arrived so
    far."""
    behind: int
    """The longest event-loop stall in the window, or the referee's lateness at its end."""
    withheld: int
    """Time for which the bot was ready to run while others ran; see `records.Used`."""
    slept: int | UnsetType = UNSET
    """Time for which the bot's main thread neither ran nor waited for a processor before it answered. Absent:
    unknown."""
    after: int | UnsetType = UNSET
    """Time after the window's end that `slept` and `withheld` include. Absent with `slept`."""
    rested: int | UnsetType = UNSET
    """Time for which the bot was frozen between the window's end and the measurement, because it owed nothing.
    Absent: none. `after` excludes it, `late_by` does not."""
    stopped: int | UnsetType = UNSET
    """Time for which the referee's process was stopped in the window, or the machine suspended. Absent: none."""
    blocking_seats: tuple[int, ...] | UnsetType = UNSET
    """The other seats whose rejected messages caused most of `behind`. Absent: there are none."""


class Judged(Struct, frozen=True, kw_only=True, tag="verdict", tag_field="kind"):
    """The verdict on a seat window that took the default or used the reserve; see `verdicts`."""

    at: Microseconds
    seat: SeatNumber
    number: int
    """The number of the window among the seat's own."""
    verdict: Verdict
    evidence: Evidence


class Ended(Struct, frozen=True, kw_only=True, tag="ended", tag_field="kind"):
    """The end of the match. Void attempts have no outcome, but a reason.

    It is an input if the attempt is void by a fault of the referee or the machine: the match adds conduct and
    refusals.
    """

    at: Microseconds
    outcome: Outcome | None
    conduct: tuple[Conduct, ...]
    refused: tuple[dict[str, int], ...]
    """Numbers of refused messages, keyed by `Refusal`; indexed by seat."""
    void: str | None = None

    @classmethod
    def by_fault(cls, at: int, void: str) -> "Ended":
        """Return the input that voids an attempt."""
        return cls(at=at, outcome=None, conduct=(), refused=(), void=void)


class Footer(Struct, frozen=True, kw_only=True, tag="footer", tag_field="kind"):
    """The last line of a finished transcript.

    Its own number is the number of lines; it contains a seal over itself.
    """

    heads: tuple[str, ...]
    """Hashes of the last lines of the seats' own transcripts, indexed by seat; empty in a seat's own."""


class SeatHeader(Struct, frozen=True, kw_only=True, tag="seat-header", tag_field="kind"):
    """The first line of a seat's own transcript: the match's public terms, and the seat's bot."""

    format: int
    arena: str
    match: str
    game: str
    variant: str
    options: Raw
    clock: ClockTerms
    seat: SeatNumber
    seats: int
    """Number of seats."""
    bot: BotIdentity
    """The seat's own bot."""
    package: str | UnsetType = UNSET
    """See `Header.package`."""
    salt: str
    """Random text, so that the published hash of a seat's transcript cannot be used to guess its content."""


class SeatEnded(Struct, frozen=True, kw_only=True, tag="seat-ended", tag_field="kind"):
    """The end of a seat's own transcript: the bot's conduct. The outcome is in the seat's `over` message."""

    conduct: Conduct
    refused: dict[str, int]
    """Numbers of refused messages, keyed by `Refusal`."""


def _as_text(frame: bytes) -> tuple[str, str]:
    """Return a frame as (text, base64), one of them empty. It is text only if that encodes to the same bytes."""
    try:
        return frame.decode(), ""
    except UnicodeDecodeError:
        return "", base64.b64encode(frame).decode()


Input = In | Handed | Cpu | Woke | Started | Left | PauseOrder | Used
"""The inputs of a match; also `Ended`, if the match is void by a fault of the referee or the machine."""
Record = Header | Input | Out | WindowTime | Judged | Ended
AnyRecord = Record | Footer | SeatHeader | SeatEnded
"""The records of all transcripts, of whole ones and of a seat's own."""
