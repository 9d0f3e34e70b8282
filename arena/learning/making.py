"""How environments are made."""

from collections.abc import Mapping, Sequence
from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import parallel_to_aec

from arena.learning.aec import AecArena
from arena.learning.encoders import Encoder
from arena.learning.episode import Episode, Given, Reward
from arena.learning.gym import GymArena
from arena.learning.parallel import ParallelArena
from arena.simulation import BotGiven


def aec_env(
    game: str,
    *,
    variant: str | None = None,
    options: Given = None,
    setup: Given = None,
    reward: Reward = "rank",
    max_windows: int | None = None,
    max_cycles: int | None = None,
    encoder: Encoder | None = None,
    render_mode: str | None = None,
) -> AECEnv[str, dict[str, Any], int]:
    """PettingZoo's AEC environment of a game: a step is a choice of the selected agent.

    Args:
        game: as on the command line.
        variant: None: the default.
        options: as Struct or plain values.
        setup: the secrets of every deal, as Struct or plain values; None: each deal's own.
        reward: what seats get at the end: see `Reward`.
        max_windows: after so many windows the match is truncated, without rewards.
        max_cycles: given, this is `parallel_env` as PettingZoo turns it into an AEC environment. In each cycle
            every agent steps once, those that owe nothing pass; after so many the match is truncated.
        encoder: what makes the observations; None: the game's own.
        render_mode: `ansi` or `rgb_array`.

    Raises:
        ValueError: one of these is wrong; the text names it.
    """
    episode = Episode(
        game,
        variant=variant,
        options=options,
        setup=setup,
        reward=reward,
        max_windows=max_windows,
        encoder=encoder,
    )
    if max_cycles is None:
        return AecArena(episode, render_mode)
    return parallel_to_aec(ParallelArena(episode, render_mode, max_cycles))


def parallel_env(
    game: str,
    *,
    variant: str | None = None,
    options: Given = None,
    setup: Given = None,
    reward: Reward = "rank",
    max_windows: int | None = None,
    max_cycles: int | None = None,
    encoder: Encoder | None = None,
    render_mode: str | None = None,
) -> ParallelArena:
    """PettingZoo's Parallel environment of a game: a step is a choice of every agent, or `pass`.

    For the arguments see `aec_env`; `max_cycles` truncates the match after so many steps.

    Raises:
        ValueError: one of them is wrong; the text names it.
    """
    episode = Episode(
        game,
        variant=variant,
        options=options,
        setup=setup,
        reward=reward,
        max_windows=max_windows,
        encoder=encoder,
    )
    return ParallelArena(episode, render_mode, max_cycles)


def gym_env(
    game: str,
    seat: int = 0,
    opponents: BotGiven | Sequence[BotGiven] | Mapping[int, BotGiven] | None = None,
    *,
    variant: str | None = None,
    options: Given = None,
    setup: Given = None,
    reward: Reward = "rank",
    max_windows: int | None = None,
    encoder: Encoder | None = None,
    render_mode: str | None = None,
) -> GymArena:
    """Gymnasium's environment of one seat against a fixed field; a step is a choice of that seat.

    Args:
        game: as on the command line.
        seat: the one that learns.
        opponents: bots as `arena.play` takes them: one for all other seats, as many as there are other seats
            (ascending), or by seat. Seats without a bot, and all where this is None, choose at random.
        variant: for this and the rest see `aec_env`.
        options: see there.
        setup: see there.
        reward: see there.
        max_windows: see there; all windows of the match count.
        encoder: see there.
        render_mode: see there; this seat's view is shown.

    Raises:
        ValueError, TypeError: one of these is wrong; the text names it.
    """
    episode = Episode(
        game,
        variant=variant,
        options=options,
        setup=setup,
        reward=reward,
        max_windows=max_windows,
        encoder=encoder,
    )
    return GymArena(episode, seat, _by_seat(opponents, episode.seats, seat), render_mode)


def _by_seat(
    given: BotGiven | Sequence[BotGiven] | Mapping[int, BotGiven] | None, seats: int, own: int
) -> dict[int, BotGiven]:
    others = [seat for seat in range(seats) if seat != own]
    if given is None:
        return {}
    if isinstance(given, Mapping):
        if strange := given.keys() - set(others):
            raise ValueError(f"opponents: {min(strange)} is no seat of an opponent")
        return dict(given)
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != len(others):
            raise ValueError(f"opponents: {len(given)} for {len(others)} seats")
        return dict(zip(others, given, strict=True))
    return dict.fromkeys(others, given)
