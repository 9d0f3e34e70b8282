"""Trial matches, which do not count: a bot under check with random bots in the other seats, and their summary."""

import math
import secrets
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from random import SystemRandom
from typing import Generic, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace
from rich.progress import TimeElapsedColumn

from arena import event_loop
from arena.config import random_bot
from arena.errors import errors_as_exits, writing
from arena.quantities import duration
from arena.schedule import SEED_BITS
from arena.statistics import mean_points, points
from arena.terminal import progress_bar, progress_console
from arena.workers import PlayMatch, Roster, Worker, WorkerGoneError, WorkerPool, Workers
from protocol.refusals import Conduct
from referee.host import AttemptResult, Plan
from referee.linux.files import FOLDER_MODE
from referee.match import MICROSECONDS_PER_MS, Complaint, SeatReport, Verdict, sentences, summed
from referee.transcript import unanswered_window

MOSTLY = 2
"""A bot that returns nothing in at most one of this many windows may do so on purpose."""
MOST_KINDS = 3
"""Maximum kinds of refusals that are named, the most frequent first."""
WAIT_SECONDS = 5.0
"""Seconds after which an open window is reported, because a bot that hangs delays the check."""

PlayerT = TypeVar("PlayerT")
ItemT = TypeVar("ItemT")


class TrialMatch(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """A match to be played for a check."""

    name: str
    """Name of the trial's transcript, without a suffix."""
    plan: Plan
    players: tuple[PlayerT, ...]
    seat: int
    """Seat of the bot under check."""
    seconds: float = math.inf
    """Seconds after which the match is stopped."""


class Trial(Struct, frozen=True, kw_only=True):
    """Outcome of a match played for a check."""

    seat: int
    result: AttemptResult | None
    """Result of the match; None if there is none, because of `trouble`."""
    trouble: str = ""
    """Reason why the match has no valid result, or "" if it has one."""
    seconds: float
    """Seconds that the match took."""

    @property
    def is_void(self) -> bool:
        """True if the match was played to its end, but does not count."""
        return self.result is not None and self.result.outcome is None

    @property
    def started(self) -> bool:
        """True if the bot sent `hello`, or if the match has no valid result."""
        if self.result is None or self.result.outcome is None:
            return True
        return self.result.conduct[self.seat] is not Conduct.NEVER_STARTED


def players_at(seat: int, bot: ItemT, others: ItemT, seats: int) -> tuple[ItemT, ...]:
    """Return one item per seat: `bot` in the seat under check, `others` in the rest."""
    seated = [others] * seats
    seated[seat] = bot
    return tuple(seated)


def order(
    name: str,
    plan: Plan,
    players: tuple[PlayerT, ...],
    seat: int,
    *,
    label: str,
    seed: int | None = None,
    seconds: float = math.inf,
) -> TrialMatch[PlayerT]:
    """Return the order for a match of a bot, named `label`, with random sample bots in the other seats.

    Without a seed, one is drawn at random: a check must not reveal the deals of a tournament.
    """
    deal = seed
    if deal is None:
        deal = SystemRandom().getrandbits(SEED_BITS)
    labels = players_at(seat, label, random_bot(plan.game), len(players))
    plan = replace(plan, match=f"check-{secrets.token_hex(4)}", seed=deal, labels=labels)
    return TrialMatch(name=name, plan=plan, players=players, seat=seat, seconds=seconds)


def play_trials(
    orders: Sequence[TrialMatch[PlayerT]], open_workers: WorkerPool[PlayerT], folder: Path, *, words: str
) -> list[Trial]:
    """Play all orders with a progress bar, as many at once as the workers allow. Return one trial per order.

    Args:
        orders: the matches.
        open_workers: opens the workers.
        folder: folder for transcripts and logs; it is created.
        words: text next to the bar.

    Raises:
        WrongUse: the folder cannot be written.
        MachineCannot: the machine has no sandbox or no space.
        Stopped: a signal arrived.
    """
    with writing(folder):
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    if not orders:
        return []
    trials: dict[int, Trial] = {}
    screen = progress_console()
    with progress_bar(screen, TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task(words, total=len(orders))

        async def play_all() -> None:
            async with open_workers(len(orders)) as workers:
                await _play_all(orders, workers, folder, trials, ended=partial(bar.advance, task), tell=screen.say)

        event_loop.run(play_all)
    return [trial for _, trial in sorted(trials.items())]


async def _play_all(
    orders: Sequence[TrialMatch[PlayerT]],
    workers: Workers[PlayerT],
    folder: Path,
    trials: dict[int, Trial],
    *,
    ended: Callable[[], None],
    tell: Callable[[str], None],
) -> None:
    waiting = deque(enumerate(orders))
    members: Mapping[int, Worker[PlayerT]]
    members = workers.members if isinstance(workers, Roster) else dict(enumerate(workers))

    async def keep_busy(member: int, play: PlayMatch[PlayerT]) -> None:
        while waiting and not (isinstance(workers, Roster) and member not in workers):
            number, each = waiting.popleft()
            async with trio.open_nursery() as watching:
                watching.start_soon(_name_waits, each, folder, tell)
                trials[number] = await _played(each, play, folder)
                watching.cancel_scope.cancel()
            ended()

    async with trio.open_nursery() as nursery:
        for member, worker in members.items():
            for _ in range(worker.slots):
                nursery.start_soon(keep_busy, member, worker.play)
    for number, each in waiting:
        trials[number] = Trial(seat=each.seat, result=None, trouble="no worker was left to play it", seconds=0.0)


async def _name_waits(each: TrialMatch[PlayerT], folder: Path, tell: Callable[[str], None]) -> None:
    """Report each window that stays open for long, until cancelled."""
    last = told = None
    while True:
        await trio.sleep(WAIT_SECONDS)
        opened = unanswered_window(folder / f"{each.name}.jsonl", each.seat)
        if opened is not None and opened.id == last != told:
            told = opened.id
            time = duration((opened.main_ms + opened.reserve_ms) * MICROSECONDS_PER_MS)
            tell(f"{each.name}: waiting for seat {each.seat}, window {opened.id} ({opened.window}) of {time}")
        last = None if opened is None else opened.id


async def _played(each: TrialMatch[PlayerT], play: PlayMatch[PlayerT], folder: Path) -> Trial:
    began = trio.current_time()
    result, trouble = None, f"its match was stopped after {each.seconds:g} s"
    try:
        with trio.move_on_after(each.seconds), errors_as_exits():
            result = await play(each.plan, each.players, transcript=folder / f"{each.name}.jsonl")
            trouble = ""
    except WorkerGoneError as gone:
        trouble = f"the match was lost with its referee process: {gone}"
    if result is not None and result.outcome is None:
        trouble = f"the match is void: {result.void}"
    return Trial(seat=each.seat, result=result, trouble=trouble, seconds=trio.current_time() - began)


class TrialSummary(Struct, frozen=True, kw_only=True):
    """Totals of one bot's matches in a check."""

    matches: int
    """Number of matches with a result."""
    started: int
    """Number of matches in which the bot sent `hello`."""
    conduct: dict[str, int]
    """Number of matches by conduct."""
    wins: int
    mean_points: float | None
    """Mean share of the other seats that the bot ranked before, as tournaments count points; None: no match."""
    interval: tuple[float, float] | None
    """95 % interval of the mean; None without matches."""
    windows: int
    refused: int
    lost: int
    """Number of windows that took the default by the bot's own fault."""
    report: SeatReport
    """Report over all matches: sums and worst cases."""
    troubles: tuple[str, ...] = ()
    """Reasons why matches have no result."""

    @property
    def is_well(self) -> bool:
        """True if the bot played all matches to the end, lost no window by its fault, and decided itself."""
        is_ok = bool(self.matches) and self.conduct == {Conduct.OK.value: self.matches} and not self.lost
        return is_ok and not self.report.raised and not self.seldom_decides

    @property
    def seldom_decides(self) -> bool:
        """True if the bot's function returned nothing in most windows, as if a `return` were missing."""
        return self.report.returned_nothing * MOSTLY > self.windows

    @property
    def said(self) -> list[str]:
        """Sentences about each problem; empty if there was none."""
        report = self.report
        if self.matches > 1 and report.loss:
            faults = self.matches - self.conduct.get(Conduct.OK.value, 0)
            report = replace(report, loss=f"{report.loss} (in {faults} of {self.matches} matches)")
        return [*sentences(report, windows=self.windows, refused=self.refused), *dict.fromkeys(self.troubles)]


def only_void(found: Sequence[tuple[TrialSummary, Sequence[Trial]]]) -> str | None:
    """Return why a match is void, if a bot has no other problem; None if it has, or if no match is void."""
    voids: list[Trial] = []
    for each, trials in found:
        if each.lost or set(each.conduct) - {Conduct.OK.value}:
            return None
        voids += filter(attrgetter("is_void"), trials)
    if not voids:
        return None
    return voids[0].trouble


def summarise_trials(trials: Sequence[Trial]) -> TrialSummary:
    """Add up one bot's matches."""
    shares: list[tuple[int, float]] = []
    conduct = Counter[str]()
    reports: list[SeatReport] = []
    wins = windows = refused = lost = 0
    for trial in trials:
        result, seat = trial.result, trial.seat
        if result is None or result.outcome is None:
            continue
        shares.append((len(shares), points(result.outcome, seat)))
        conduct[result.conduct[seat].value] += 1
        wins += seat in result.outcome.winners
        windows += result.windows[seat]
        if result.refused:
            refused += result.refused[seat]
        lost += _lost(result, seat)
        reports.append(result.report(seat))
    mean = interval = None
    if shares:
        found = mean_points(shares)
        mean, interval = found.mean, (found.low, found.high)
    return TrialSummary(
        matches=len(shares),
        started=len(shares) - conduct[Conduct.NEVER_STARTED.value],
        conduct=dict(conduct),
        wins=wins,
        mean_points=mean,
        interval=interval,
        windows=windows,
        refused=refused,
        lost=lost,
        report=_together(reports),
        troubles=tuple(filter(None, map(attrgetter("trouble"), trials))),
    )


def _lost(result: AttemptResult, seat: int) -> int:
    """Count defaults by the bot's own fault: it was late, had disconnected, or submitted illegal actions."""
    report = result.report(seat)
    by_time = report.late + report.unanswered
    lost = by_time
    if result.verdicts:
        lost = min(by_time, result.verdicts[seat].get(Verdict.BOT, 0))
    lost += report.fallbacks
    if result.conduct[seat] is not Conduct.OK:
        lost += max(0, result.defaults[seat] - by_time - report.asked_default)
    return lost


def _together(reports: Sequence[SeatReport]) -> SeatReport:
    first = next((report for report in reports if report.loss), SeatReport())
    kinds: Counter[tuple[str, str]] = Counter()
    for report in reports:
        for each in report.complaints:
            kinds[each.refusal, each.text] += each.times
    total = summed(reports)
    return replace(
        total,
        loss=first.loss,
        last_line=first.last_line or total.last_line,
        complaints=tuple(Complaint(*kind, times) for kind, times in kinds.most_common(MOST_KINDS)),
    )


class GameCheck(Struct, Generic[PlayerT], frozen=True):
    """A game in which the bot is checked."""

    plan: Plan
    """Plan of the check's matches, except for their seeds."""
    seed: int | None
    """Seed of the first match, increased by 1 for each later one; None: each match draws its own."""
    seats: int
    label: str
    """Name of the bot in reports."""
    opponent: PlayerT
    """Bot in all other seats."""


def check_bot(
    games: Sequence[GameCheck[PlayerT]],
    bot: PlayerT,
    matches: int,
    open_workers: WorkerPool[PlayerT],
    folder: Path,
) -> list[tuple[TrialSummary, list[Trial]]]:
    """Play a number of matches of each game; the bot's seat rotates.

    If the bot never starts in the first match of a game, no further match of that game is played.

    Raises:
        WrongUse: the folder cannot be written.
        MachineCannot: no match can be played now.
        Stopped: a signal arrived.
    """
    first = play_trials([_order(game, bot, 0) for game in games], open_workers, folder, words="starting")
    trials = [[trial] for trial in first]
    orders: list[TrialMatch[PlayerT]] = []
    owners: list[list[Trial]] = []
    for game, of_game in zip(games, trials, strict=True):
        if of_game[0].started:
            for number in range(1, matches):
                orders.append(_order(game, bot, number))
                owners.append(of_game)
    for of_game, trial in zip(owners, play_trials(orders, open_workers, folder, words="matches"), strict=True):
        of_game.append(trial)
    return [(summarise_trials(of_game), of_game) for of_game in trials]


def _order(game: GameCheck[PlayerT], bot: PlayerT, number: int) -> TrialMatch[PlayerT]:
    seat = number % game.seats
    players = players_at(seat, bot, game.opponent, game.seats)
    seed = game.seed + number if game.seed is not None else None
    return order(f"{game.plan.game}-{number + 1:02d}", game.plan, players, seat, label=game.label, seed=seed)
