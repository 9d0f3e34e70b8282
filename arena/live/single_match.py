"""Plays one match for a person at the terminal, who may pause its clocks by a signal."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import trio

from arena import event_loop
from arena.errors import MachineCannot, Stopped, WrongUse, cannot_write, errors_as_exits
from arena.processes import PAUSE, PAUSE_SIGNALS
from arena.terminal import say
from referee.host import Plan, Result
from referee.linux.files import FOLDER_MODE
from referee.rules import Addressed, BadSetupError, Table

Watch = Callable[[Table, Sequence[Addressed]], None]
"""Callback for each step of a match, with the table and the step's events."""
PlayWatched = Callable[..., Awaitable[Result]]
"""Plays one match with a spectator: `referee.host.play`, or a substitute."""


def play_match(
    plan: Plan,
    players: Sequence[Any],
    transcripts: Path,
    *,
    play: PlayWatched,
    watch: Watch | None,
    ctrl_c: int = 1,
) -> Result:
    """Play a match that the operator may pause. `ctrl_c`: see `event_loop.run`.

    Raises:
        WrongUse: the transcript cannot be written there, or the setup breaks the game's rules.
        MachineCannot: the attempt is void. From within trio, both are in exception groups.
        Stopped: a signal arrived.
    """
    try:
        transcripts.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(transcripts, error) from None
    path = transcripts / f"{plan.match}.jsonl"
    try:
        result = event_loop.run(
            partial(_with_operator, plan, players, path, play=play, watch=watch), ctrl_c=ctrl_c
        )
    except Stopped as stopped:
        part = path.with_name(f"{path.name}.part")
        so_far = f"; the match so far: {part}" if part.exists() else ""
        raise Stopped(stopped.signal, f"stopped{so_far}") from None
    if result.void is not None:
        raise MachineCannot(f"the attempt is void: {result.void}; transcript: {result.transcript}")
    return result


async def _with_operator(
    plan: Plan, players: Sequence[Any], path: Path, *, play: PlayWatched, watch: Watch | None
) -> Result:
    """Play while SIGUSR1 pauses the clocks, and SIGUSR2 resumes them."""
    orders, operator = trio.open_memory_channel[bool](1)
    async with trio.open_nursery() as nursery:
        await nursery.start(_pass_on_signals, orders)
        try:
            with errors_as_exits():
                result = await play(plan, players, transcript=path, watch=watch, operator=operator)
        except BadSetupError as error:
            raise WrongUse(f"--{error}") from None
        nursery.cancel_scope.cancel()
    return result


async def _pass_on_signals(orders: trio.MemorySendChannel[bool], task_status: trio.TaskStatus[None]) -> None:
    """Pass on each order that changes the state, so that a superfluous one does not end a bot's own pause."""
    paused = False
    with trio.open_signal_receiver(*PAUSE_SIGNALS) as signals:
        task_status.started()
        async for number in signals:
            pause = number == PAUSE
            if pause != paused:
                paused = pause
                say("paused by the operator" if paused else "resumed by the operator")
                await orders.send(paused)
