"""What a transcript is made of: one Struct a line. `match` makes them; see `transcript`.

All times (`at`, `deadline`, …) are whole microseconds since the match's own zero, on the monotonic clock. The
records marked *input* are all that a match was told from outside; `Match.apply` makes every other record of them
again, which is how a transcript is proved.
"""

import base64
from hashlib import pbkdf2_hmac, sha256
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.structs import replace

from protocol.codec import Refused
from protocol.messages import ClockTerms
from protocol.refusals import Conduct, Refusal
from protocol.words import Outcome
from referee.match.verdicts import Evidence, Verdict

FORMAT = 2
"""The version of this file, named in every transcript's header."""
FLOOD_US = 5_000
"""A bot that kept the referee's loop busy in vain for so many microseconds of a window has flooded it."""
HOG_US = 1_000
"""One that did so for so many microseconds is among those who make the referee late together."""
BOT_SEED_BITS = 53
REMOTE_ROUNDS = 1_000
"""Of hashing, from a match's seed to a remote bot's: a millisecond or less."""
START = -1
"""Where a seat's windows are counted from 0: not one of them, but its bot's start, in which it said no `hello`."""
LARGEST = 2**53 - 1
"""The largest number of a record that counts or measures: 285 years in microseconds, and every JSON reader's."""

KEPT_OF_REFUSED = 1_000
"""Bytes kept in the transcript of a frame that was refused for what it is: a flood must not fill the disk."""
LINE_BYTES = 100
"""What a record's line in the transcript has beside the record: its number, and the hash of the line before."""
OUT_BYTES = LINE_BYTES + 50
"""What the line of a message to a bot has beside the message."""

Microseconds = Annotated[int, Meta(ge=0, le=LARGEST)]
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
SeatNumber = Annotated[int, Meta(ge=0, le=LARGEST)]
"""Whether there is such a seat, the header says."""
ExitCode = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]


def bot_seed(seed: int, place: int) -> int:
    """A bot's own seed of 53 bits. It follows from the match's, which cannot be told back from it.

    `place` counts the seats of all matches of one deal: no two bots of a deal have the same seed.
    """
    digest = sha256(f"{seed}/bot/{place}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - BOT_SEED_BITS)


def remote_bot_seed(seed: int, place: int) -> int:
    """The same of a bot on another machine, whose author may have many machines to try all match seeds with."""
    digest = pbkdf2_hmac("sha256", f"{seed}/bot/{place}".encode(), b"remote", REMOTE_ROUNDS)
    return int.from_bytes(digest[:8], "big") >> (64 - BOT_SEED_BITS)


class BotIdentity(Struct, frozen=True, kw_only=True):
    """The bot in a seat."""

    name: str
    """What the competition calls it: its label. It is what spectators read everywhere."""
    version: str
    content: str
    """Hash of the bot folder's content, `sha256:…`; empty for a person, and for a bot on another machine."""
    seed: int
    token: str
    """What its `hello` must carry."""
    kept: Annotated[int, Meta(ge=1, le=LARGEST)] | UnsetType = UNSET
    """How many matches its process had played before this one. Left out: it was started for this one."""
    remote: str | UnsetType = UNSET
    """The public key of a bot on its author's own machine. Nothing shut it in, and nothing is known of what ran
    there. Left out: it ran on the referee's."""
    delay_us: Microseconds | UnsetType = UNSET
    """How long the network took to a remote bot and back, as it was measured before the match. Left out: it was
    not."""
    credit_us: Microseconds | UnsetType = UNSET
    """How much of a remote bot's time is not charged in each window, for the network. Left out: nothing."""
    debugged: bool | UnsetType = UNSET
    """True: it ran outside the sandbox at its author's terminal, and its clock stood. Left out: as all others."""
    manifest: str | UnsetType = UNSET
    """The name in its bot.toml. Left out: the same as its label."""

    @property
    def manifest_text(self) -> str:
        """The name and version in its bot.toml, to be shown behind its label; empty: the name is the label."""
        return "" if self.manifest is UNSET else f"{self.manifest} {self.version}"


class Header(Struct, frozen=True, kw_only=True, tag="header", tag_field="kind"):
    """First line: all that a replay needs. Holds the host's secrets."""

    format: int
    arena: str
    match: str
    game: str
    variant: str
    seed: int
    options: Raw
    """All options in force, given or default, as an object."""
    setup: Raw
    """The setup in force, given or drawn."""
    clock: ClockTerms
    policy: Any
    """The match's `plan.Policy`."""
    bots: tuple[BotIdentity, ...]
    """By seat."""
    isolation: str
    machine: str
    started: str
    """Wall time of the match's zero, ISO 8601, UTC. For people; no rule reads it."""
    measured: bool = False
    """Whether parts in windows that are over are followed by what they were like (`Used`): those that took the
    default, drew on the reserve, or took 100 ms."""
    unexcused: tuple[SeatNumber, ...] | UnsetType = UNSET
    """The seats that a verdict `host` does not excuse: see `Match`. Left out: all seats are excused."""
    salts: tuple[str, ...] = ()
    """By seat: what the seat's own transcript begins with (`SeatHeader.salt`). `open_transcript` fills it in."""


class Frame(Struct, frozen=True):
    """Input: a frame from a bot, as it came. `In` is its record, which may keep less of it."""

    at: int
    seat: int
    frame: bytes
    size: int
    """What it took on the wire, in bytes: its own length, or more."""
    complaint: str | None = None
    """Why a frame was refused that was cut in its record, if it was not for its size."""
    refusal: str = Refusal.MALFORMED
    """The `Refusal` of that complaint."""


class In(Struct, frozen=True, kw_only=True, tag="in", tag_field="kind", omit_defaults=True):
    """Input: a frame arrived from a bot. `frame` as text, or as base64 in `octets` where it is not UTF-8."""

    at: Microseconds
    seat: SeatNumber
    frame: str = ""
    octets: str = ""
    cut: Count = 0
    """The frame's true length in bytes, where only its beginning is kept: it was refused for what it is. For a
    message of parts, their bytes on the wire: `frame` says only that it was one."""
    refused: str = ""
    """The `Refusal` of a frame that was cut."""
    text: str = ""
    """The text with which a frame that was cut was refused."""
    closed: Annotated[str, Meta(max_length=100)] = ""
    """Why the bot's connection was closed: for bytes that are no frame. This record stands for them."""

    @classmethod
    def of(cls, came: Frame, refused: Refused | None = None) -> "In":
        """Return the record of a frame; of a refused one, no more than its first bytes: see `kept_of`."""
        kept = len(came.frame) if refused is None else kept_of(refused.refusal)
        cut = refused is not None and came.size > min(len(came.frame), kept)
        text, octets = _as_text(came.frame[:kept] if cut else came.frame)
        record = cls(at=came.at, seat=came.seat, frame=text, octets=octets)
        if not cut or refused is None:
            return record
        return replace(record, cut=came.size, refused=refused.refusal.value, text=refused.text)

    def came(self) -> Frame:
        """The frame again."""
        frame = self.raw()
        if not self.refused:
            return Frame(self.at, self.seat, frame, self.cut or len(frame))
        return Frame(self.at, self.seat, frame, self.cut or len(frame), self.text, self.refused)

    def spelled(self) -> bool:
        """Whether `frame` and `octets` are what `of` writes for the bytes that they stand for."""
        try:
            return _as_text(self.raw()) == (self.frame, self.octets)
        except ValueError:
            return False

    def raw(self) -> bytes:
        """The frame, or what was kept of it."""
        return base64.b64decode(self.octets) if self.octets else self.frame.encode()


def kept_of(refusal: Refusal) -> int:
    """Return how many bytes are kept of a longer frame that was refused for what it is."""
    return 0 if refusal is Refusal.TOO_MUCH else KEPT_OF_REFUSED


class Out(Struct, frozen=True, kw_only=True, tag="out", tag_field="kind"):
    """A message was sent to a bot: its exact bytes."""

    at: Microseconds
    seat: SeatNumber
    frame: Raw


class Handed(Struct, frozen=True, kw_only=True, tag="handed", tag_field="kind"):
    """Input: the transport took, or for a bot that is being restarted would have taken, a `window` message.

    The seat's clock runs from here.
    """

    at: Microseconds
    seat: SeatNumber


class Cpu(Struct, frozen=True, kw_only=True, tag="cpu", tag_field="kind"):
    """Input, of a match whose clock counts processor time: a bot's was read."""

    at: Microseconds
    """Just after."""
    seat: SeatNumber
    used: Microseconds
    """By all its processes over the match, in microseconds."""
    cores: Annotated[int, Meta(ge=1, le=LARGEST)]
    """On how many at once, at most."""


class Woke(Struct, frozen=True, kw_only=True, tag="woke", tag_field="kind"):
    """Input: the deadline at `deadline` was acted on at `at`; the difference is the referee's lateness."""

    at: Microseconds
    deadline: Microseconds


class Started(Struct, frozen=True, kw_only=True, tag="started", tag_field="kind"):
    """Input: a seat's bot runs; its start-up time counts from here."""

    at: Microseconds
    seat: SeatNumber


class Left(Struct, frozen=True, kw_only=True, tag="left", tag_field="kind"):
    """Input: a bot is gone. `exit`: its process's code (negative: the signal), null: it does not read.

    It is 0 if there was no line for too long to a bot on another machine.
    """

    at: Microseconds
    seat: SeatNumber
    exit: ExitCode | None
    why: Annotated[str, Meta(max_length=300)] | UnsetType = UNSET
    """In words, where more is known than the exit code says. No rule reads it."""


class PauseOrder(Struct, frozen=True, kw_only=True, tag="pause", tag_field="kind"):
    """Input: the operator stopped (`on`) or restarted the match's clocks."""

    at: Microseconds
    on: bool


class SeatTime(Struct, frozen=True, kw_only=True):
    """One seat's part in a window's record. Times are readings of the match's stopwatch, without its pauses."""

    seat: int
    opened: int
    """When the window was handed to its transport."""
    deadline: int
    """When main time and reserve, where it may be used, would have ended at the latest."""
    arrived: int | None
    """When what was taken arrived; None by default."""
    taken: Any
    by_default: bool
    charged_ms: int
    reserve_ms: int
    """Reserve left for the match."""


class WindowTime(Struct, frozen=True, kw_only=True, tag="window", tag_field="kind"):
    """A window was closed: what was taken and in what time."""

    at: Microseconds
    number: int
    window: str
    seats: tuple[SeatTime, ...]
    lateness: int
    """By how many microseconds the referee woke after the deadline that closed it; 0 if none did."""


class Used(Struct, frozen=True, kw_only=True, tag="used", tag_field="kind", omit_defaults=True):
    """Input: how one seat's part in a window was measured, in microseconds. Follows the window's end.

    Or how a bot's start was measured that has said no `hello` in time; this comes before its consequences.
    """

    at: Microseconds
    seat: SeatNumber
    number: Annotated[int, Meta(ge=START, le=LARGEST)]
    """The seat's own count of its windows, or `START`."""
    cpu: Microseconds
    """Processor time of all the bot's processes."""
    waited: Microseconds
    """How long its threads were ready to run, and did not, all together."""
    withheld: Microseconds
    """Of `waited`, what is not the bot's own doing: see `meter.Reading`."""
    throttled: Microseconds
    """How long it was kept from running because it had used up its `cpus`."""
    behind: Microseconds
    """The longest that the referee's loop was busy at a stretch meanwhile; of a start that the referee had not
    brought about yet, all of its time."""
    stopped: Microseconds = 0
    """How long the referee's process was stopped meanwhile, or the machine suspended. The times of all records
    leave that out."""
    taken: Microseconds = 0
    """How long the loop was busy with what this bot sent in vain: floods, and messages that were refused."""
    hogs: tuple[SeatNumber, ...] = ()
    """The other seats of this match whose bots kept the loop busy in vain meanwhile, each for `HOG_US` or more."""
    hogs_taken: Microseconds = 0
    """For how long all of them together kept it busy."""
    active: Microseconds | UnsetType = UNSET
    """How long the threads that answer ran or waited for a processor; left out: nobody can say."""
    after: Microseconds = 0
    """For how long after the window's end `active` was counted: until its late submission came, for example."""
    rested: Microseconds = 0
    """For how long the bot was frozen after that end, as it owed nothing. `after` leaves that out."""

    @property
    def flooded(self) -> bool:
        """Whether the bot kept the loop busy itself: then nothing that was kept from it excuses it."""
        return self.taken >= FLOOD_US


class Judged(Struct, frozen=True, kw_only=True, tag="verdict", tag_field="kind"):
    """The verdict on a part in a window that took the default or used reserve: see `verdicts`."""

    at: Microseconds
    seat: SeatNumber
    number: int
    """The seat's own count of its windows."""
    verdict: Verdict
    evidence: Evidence


class Ended(Struct, frozen=True, kw_only=True, tag="ended", tag_field="kind"):
    """The match is over. Void attempts have no outcome, but a reason.

    Input, where it is void by a fault of the referee or the machine: the match fills in conduct and refusals.
    """

    at: Microseconds
    outcome: Outcome | None
    conduct: tuple[Conduct, ...]
    refused: tuple[dict[str, int], ...]
    """By seat: how many of its messages were turned down, by `Refusal`."""
    void: str | None = None

    @classmethod
    def by_fault(cls, at: int, void: str) -> "Ended":
        """The input."""
        return cls(at=at, outcome=None, conduct=(), refused=(), void=void)


class Footer(Struct, frozen=True, kw_only=True, tag="footer", tag_field="kind"):
    """Last line of a finished transcript. Its own number is the number of lines; it carries a seal over itself."""

    heads: tuple[str, ...]
    """By seat: hash of the last line of the seat's own transcript; none in a seat's own."""


class SeatHeader(Struct, frozen=True, kw_only=True, tag="seat-header", tag_field="kind"):
    """First line of one seat's own transcript: the match's public terms, and who it was."""

    format: int
    arena: str
    match: str
    game: str
    variant: str
    options: Raw
    clock: ClockTerms
    seat: SeatNumber
    seats: int
    """How many there were."""
    bot: BotIdentity
    """Its own."""
    salt: str
    """Random, so that from the published hash of a seat's transcript nobody can try out what may be in it."""


class SeatEnded(Struct, frozen=True, kw_only=True, tag="seat-ended", tag_field="kind"):
    """In one seat's own transcript: how it stood at the end. The outcome is in the seat's `over` message."""

    conduct: Conduct
    refused: dict[str, int]
    """How many of its messages were turned down, by `Refusal`."""


def _as_text(frame: bytes) -> tuple[str, str]:
    """A frame as (text, base64), one of them empty. Only text that gives back the same bytes is kept as text."""
    try:
        return frame.decode(), ""
    except UnicodeDecodeError:
        return "", base64.b64encode(frame).decode()


Input = In | Handed | Cpu | Woke | Started | Left | PauseOrder | Used
"""What a match is told from outside; and `Ended`, where the fault is not the match's."""
Record = Header | Input | Out | WindowTime | Judged | Ended
AnyRecord = Record | Footer | SeatHeader | SeatEnded
"""What a line of a transcript, a whole one or a seat's own, may hold."""
