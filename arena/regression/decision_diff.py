"""Differences between the decisions of a bot's old version (base) and those of its new one (head).

Head is asked about each window of base's matches in a regression test, from their transcripts.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from arena import event_loop
from arena.errors import WrongUse, as_wrong_use, errors_as_exits, writing
from arena.quantities import pluralise
from arena.regression.model import BASE, HEAD, Regression
from arena.statistics import CountedMatch, points
from arena.terminal import progress_bar, progress_console, say
from arena.tournament import DECISIONS, EXPLAINED, LEDGER, TRANSCRIPTS, Ledger, held
from protocol.codec import decode_json, encode
from protocol.messages import Closed
from referee.bot_folder import BotFolder
from referee.host import AnsweredQuestion, BotAnswer, Interviewed, Plan, ask
from referee.linux.files import FOLDER_MODE, read_regular, write_bytes_whole
from referee.transcript import Differs, TranscriptError, read_transcript, verify_transcript
from referee.wire import open_wire

MOST_BYTES = 16 * 1024 * 1024
"""Maximum size of the file with the differences."""
Ask = Callable[..., Awaitable[Interviewed]]
"""Function that asks head about each window of a seat; takes a transcript, the seat, and a log file."""
OpenAsking = Callable[[], AbstractAsyncContextManager[Ask]]
"""Function that opens the resources shared by all matches."""
ILLEGAL = "illegal: "
UNANSWERED = "no answer in its time"


class ComparedMatch(Struct, frozen=True, kw_only=True):
    """A match of base whose decisions are compared with head's."""

    block: int
    seating: int
    seat: int
    """Seat of base."""
    head: str
    """Hash of the last line of the match's transcript."""
    base_points: float
    """Points of base; see `arena.statistics.points`."""
    head_points: float
    """Points of head in the same seat of the same deal."""


class Decision(Struct, frozen=True, kw_only=True):
    """A window with base's action and head's answer, both as plain values."""

    window: int
    """Number of the window, counted per seat."""
    name: str
    turn: int | None
    """Turn or round from the view; None if the game does not count them."""
    base: Any
    base_by_default: bool
    head: Any
    head_by_default: bool
    trouble: str = ""
    """Reason why head's answer is a default; empty if head answered or chose the default."""

    @property
    def parts(self) -> bool:
        """True if head's answer differs from base's action."""
        return bool(self.base != self.head)


class DecisionDiff(Struct, frozen=True, kw_only=True):
    """Differences between base's decisions in one match and head's answers to the same windows."""

    place: ComparedMatch
    asked: int
    """Number of windows that head answered or defaulted in."""
    decisions: tuple[Decision, ...]
    """Decisions in which head differs from base or had trouble."""
    gone: str = ""
    """Reason why head could not answer all windows; empty if it could."""
    left: int = 0
    """Number of windows that head could not be asked about for that reason."""

    @property
    def partings(self) -> int:
        """Number of windows in which the two differ."""
        return sum(decision.parts for decision in self.decisions)


class Group(Struct, frozen=True):
    """Mean points over a group of matches."""

    matches: int
    base: float | None
    """Mean points of base; None without matches."""
    head: float | None
    """Mean points of head in the same seats of the same deals; None without matches."""


class Total(Struct, frozen=True, kw_only=True):
    """Totals over all compared matches."""

    asked: int
    partings: int
    illegal: int
    """Number of windows in which head submitted only illegal actions."""
    unanswered: int
    left: int
    """Number of windows that were not asked about, because head had stopped."""
    parted: Group
    """Matches with at least one difference."""
    same: Group
    """Complete matches without a difference."""
    cut_short: Group
    """Matches without a difference up to the window in which head stopped."""


def base_matches(played: Sequence[CountedMatch]) -> list[ComparedMatch]:
    """Return base's matches in schedule order, each with the points of head's paired match."""
    blocks: dict[int, list[CountedMatch]] = {}
    for match in played:
        blocks.setdefault(match.block, []).append(match)
    of_base = [match for match in played if BASE in match.entrants]
    return [_place(match, _paired(match, blocks[match.block])) for match in of_base]


def _paired(match: CountedMatch, block: Sequence[CountedMatch]) -> CountedMatch:
    """Return the block's match with head in base's seat and the same bots in the other seats."""
    swap = {BASE: HEAD}
    if HEAD in match.entrants:
        swap = {BASE: HEAD, HEAD: BASE}
    wanted = tuple(swap.get(entrant, entrant) for entrant in match.entrants)
    return next(other for other in block if other.entrants == wanted)


def _place(match: CountedMatch, paired: CountedMatch) -> ComparedMatch:
    seat = match.entrants.index(BASE)
    return ComparedMatch(
        block=match.block,
        seating=match.seating,
        seat=seat,
        head=match.head,
        base_points=points(match.outcome, seat),
        head_points=points(paired.outcome, seat),
    )


def diff_decisions(place: ComparedMatch, interviewed: Interviewed) -> DecisionDiff:
    """Compare head's answers with base's actions in the windows that were closed in the match."""
    answered = left = 0
    gone = ""
    decisions: list[Decision] = []
    for asked in interviewed.asked:
        if asked.closed is None:
            continue
        if asked.answer is None:
            left += 1
            gone = interviewed.gone
            continue
        answered += 1
        decision = decision_of(asked, asked.closed, asked.answer)
        if decision.parts or decision.trouble:
            decisions.append(decision)
    return DecisionDiff(place=place, asked=answered, decisions=tuple(decisions), gone=gone, left=left)


def decision_of(asked: AnsweredQuestion, closed: Closed, answer: BotAnswer) -> Decision:
    """Compare an answer with the action that closed the window in the match."""
    opened = asked.opened
    by_default = answer.action is None
    trouble = ""
    if by_default and not answer.chosen:
        trouble = ILLEGAL + answer.illegal if answer.illegal else UNANSWERED
    # A random default is drawn as it was drawn for base.
    head = opened.default
    if not by_default:
        head = decode_json(encode(answer.action))
    elif closed.by_default:
        head = closed.taken
    # The number of the turn, or of the round in a game without turns.
    turn = opened.view.get("turn", opened.view.get("round"))
    return Decision(
        window=opened.id,
        name=opened.window,
        turn=turn,
        base=closed.taken,
        base_by_default=closed.by_default,
        head=head,
        head_by_default=by_default,
        trouble=trouble,
    )


def total(matches: Sequence[DecisionDiff]) -> Total:
    """Add up all matches."""
    asked = partings = illegal = unanswered = left = 0
    parted: list[ComparedMatch] = []
    same: list[ComparedMatch] = []
    cut_short: list[ComparedMatch] = []
    for match in matches:
        asked += match.asked
        partings += match.partings
        left += match.left
        for decision in match.decisions:
            illegal += decision.trouble.startswith(ILLEGAL)
            unanswered += decision.trouble == UNANSWERED
        group = same
        if match.partings:
            group = parted
        elif match.left:
            group = cut_short
        group.append(match.place)
    return Total(
        asked=asked,
        partings=partings,
        illegal=illegal,
        unanswered=unanswered,
        left=left,
        parted=_group(parted),
        same=_group(same),
        cut_short=_group(cut_short),
    )


def _group(places: Sequence[ComparedMatch]) -> Group:
    if not places:
        return Group(0, None, None)
    base, head = (sum(map(attrgetter(name), places)) for name in ("base_points", "head_points"))
    return Group(len(places), base / len(places), head / len(places))


def explain(
    regression: Regression, blocks: int, open_asking: OpenAsking, *, at_once: int, limit: int
) -> list[DecisionDiff]:
    """Ask head about the windows of base's matches and return the differences, in schedule order.

    Args:
        regression: the test; its results folder holds the ledger and the transcripts.
        blocks: number of blocks that count, from the first.
        open_asking: see `asking`.
        at_once: number of matches to compare at the same time.
        limit: maximum number of base's matches, from the first.

    Raises:
        WrongUse: a transcript is missing, or is not the one whose result counted.
        MachineCannot: a bot cannot be started, or the machine lacks a resource.
        Stopped: a signal arrived.
    """
    folder = regression.arena.results
    with held(folder):
        ledger = Ledger(folder / LEDGER)
        try:
            chosen = base_matches(ledger.results(end=blocks))[:limit]
            names = ledger.transcripts()
        finally:
            ledger.close()
        logs = folder / EXPLAINED
        with writing(logs):
            logs.mkdir(FOLDER_MODE, exist_ok=True)
        say(f"asking head for its decisions in {pluralise(len(chosen), 'match')} of base")
        files = {place: folder / TRANSCRIPTS / names[place.block, place.seating] for place in chosen}
        diffs = event_loop.run(partial(_ask_all, files, logs, open_asking, at_once))
        with suppress(OSError):
            # Succeeds only if the folder is empty.
            logs.rmdir()
        with writing(folder / DECISIONS):
            write_bytes_whole(folder / DECISIONS, msgspec.json.encode(diffs))
    return diffs


async def _ask_all(
    files: Mapping[ComparedMatch, Path], logs: Path, open_asking: OpenAsking, at_once: int
) -> list[DecisionDiff]:
    """Ask head about the matches of some transcripts, with a progress bar, and return the differences."""
    found: dict[ComparedMatch, DecisionDiff] = {}
    with progress_bar(progress_console(), TimeElapsedColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("matches", total=len(files))
        async with open_asking() as ask:

            async def ask_about(place: ComparedMatch) -> None:
                found[place] = diff_decisions(place, await _interview(place, files[place], logs, ask))
                bar.advance(task)

            await event_loop.share_out(files, min(at_once, len(files)), ask_about)
    return [found[place] for place in files]


def read_decision_diffs(folder: Path) -> tuple[DecisionDiff, ...]:
    """Read the differences that `explain` wrote into a results folder; an empty tuple if there is no such file.

    Raises:
        WrongUse: the file cannot be read, or was not written by the arena.
    """
    path = folder / DECISIONS
    try:
        return msgspec.json.decode(read_regular(path, MOST_BYTES), type=tuple[DecisionDiff, ...])
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WrongUse(f"{path}: not as an arena writes it: {error}") from None


async def _interview(place: ComparedMatch, transcript: Path, logs: Path, ask: Ask) -> Interviewed:
    """Ask head about one match, after checking that the transcript is the one whose result counted."""
    log = logs / f"{transcript.stem}.log"
    try:
        with as_wrong_use(TranscriptError), as_wrong_use(Differs, about=transcript):
            if verify_transcript(transcript).head != place.head:
                raise WrongUse(f"{transcript}: is not the transcript whose result is in the ledger")
            with errors_as_exits():
                return await ask(transcript, place.seat, log=log)
    finally:
        if log.exists() and log.stat().st_size == 0:
            log.unlink()


def asking(head: BotFolder, plan: Plan) -> OpenAsking:
    """Return a function that asks `head` itself, started under the terms of `plan`."""

    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Ask]:
        async with open_wire() as wire:

            async def of_head(transcript: Path, seat: int, *, log: Path) -> Interviewed:
                return await ask(head, read_transcript(transcript), seat, plan, log=log, wire=wire)

            yield of_head

    return open_asking
