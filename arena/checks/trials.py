"""Trial matches, which do not count: one bot under check, random bots in the other seats."""

import math
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Generic, TypeVar

import trio
from msgspec import Struct
from msgspec.structs import replace
from rich.progress import TimeElapsedColumn

from arena import event_loop
from arena.config import random_bot
from arena.errors import cannot_write, errors_as_exits
from arena.quantities import duration
from arena.schedule import SEED_BITS
from arena.terminal import progress_bar, progress_console
from arena.workers import Play, Roster, Venue, Worker, WorkerGoneError, Workers
from protocol.refusals import Conduct
from referee.host import Plan, Result
from referee.linux.files import FOLDER_MODE
from referee.match import MICROSECONDS_PER_MS
from referee.transcript import unanswered_window

WAIT_SECONDS = 5.0
"""A window that stays open so long is named: a bot that hangs is waited for as long as its windows are."""

PlayerT = TypeVar("PlayerT")


class Order(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """A match to be played for a check."""

    name: str
    """Name of its transcript, without a suffix."""
    plan: Plan
    players: tuple[PlayerT, ...]
    seat: int
    """Seat of the bot under check."""
    seconds: float = math.inf
    """Seconds after which the match is stopped."""


class Trial(Struct, frozen=True, kw_only=True):
    """Outcome of a match played for a check."""

    seat: int
    result: Result | None
    """Result of the match; None if there is none, because of `trouble`."""
    trouble: str = ""
    """Why the match says nothing of the bot, or not all: in words."""
    seconds: float
    """Seconds that the match took."""

    @property
    def started(self) -> bool:
        """Whether the bot said `hello`, as far as is known: of a void match nothing is held against it."""
        if self.result is None or self.result.outcome is None:
            return True
        return self.result.conduct[self.seat] is not Conduct.NEVER_STARTED


def order(
    name: str,
    plan: Plan,
    bot: PlayerT,
    others: PlayerT,
    *,
    seats: int,
    seat: int,
    label: str,
    seed: int | None = None,
    seconds: float = math.inf,
) -> Order[PlayerT]:
    """Return a match of `bot`, called `label`, in a seat and `others`, random sample bots, in all the rest.

    No `seed`: it is drawn, and no tournament's. A check tells nobody which deals are to come.
    """
    players = tuple(bot if each == seat else others for each in range(seats))
    deal = SystemRandom().getrandbits(SEED_BITS) if seed is None else seed
    labels = tuple(label if each == seat else random_bot(plan.game) for each in range(seats))
    plan = replace(plan, match=f"check-{secrets.token_hex(4)}", seed=deal, labels=labels)
    return Order(name=name, plan=plan, players=players, seat=seat, seconds=seconds)


def play_trials(
    orders: Sequence[Order[PlayerT]], open_venue: Venue[PlayerT], folder: Path, *, words: str
) -> list[Trial]:
    """Play all orders with a progress bar, as many at once as the venue allows. Return one trial per order.

    Args:
        orders: to be played.
        open_venue: gives the workers.
        folder: for transcripts and logs; it is made.
        words: beside the bar.

    Raises:
        WrongUse: the folder cannot be written.
        MachineCannot: there is no sandbox, or no space.
        Stopped: a signal arrived.
    """
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    if not orders:
        return []
    trials: dict[int, Trial] = {}
    screen = progress_console()
    with progress_bar(screen, TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task(words, total=len(orders))

        async def play_all() -> None:
            async with open_venue(len(orders)) as workers:
                await _play_all(orders, workers, folder, trials, ended=partial(bar.advance, task), tell=screen.say)

        event_loop.run(play_all)
    return [trials[number] for number in range(len(orders))]


async def _play_all(
    orders: Sequence[Order[PlayerT]],
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

    async def keep_busy(member: int, play: Play[PlayerT]) -> None:
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


async def _name_waits(each: Order[PlayerT], folder: Path, tell: Callable[[str], None]) -> None:
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


async def _played(each: Order[PlayerT], play: Play[PlayerT], folder: Path) -> Trial:
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
