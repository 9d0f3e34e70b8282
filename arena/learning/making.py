"""Functions that make environments."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex, TypedDict, Unpack, overload

from pettingzoo import AECEnv
from pettingzoo.utils import parallel_to_aec

from arena.learning.aec import AecArena
from arena.learning.encoders import Encoder
from arena.learning.episode import MOST_REFUSED, Episode, Given, OnRefused, Refusals, Reward
from arena.learning.gym import GymArena
from arena.learning.parallel import ParallelArena
from arena.quantities import counted
from arena.simulation import BotGiven


class EnvArguments(TypedDict, total=False):
    """The arguments of environments besides the game and a bound on their steps: see `aec_env`."""

    variant: str | None
    options: Given
    setup: Given
    reward: Reward
    max_windows: int | None
    on_refused: OnRefused | None
    max_refused: int | None
    encoder: Encoder | None
    info_text: bool
    render_mode: str | None


@overload
def aec_env(game: str, *, max_cycles: None = None, **arguments: Unpack[EnvArguments]) -> AecArena: ...
@overload
def aec_env(
    game: str, *, max_cycles: int, **arguments: Unpack[EnvArguments]
) -> AECEnv[str, dict[str, Any], SupportsIndex]: ...
def aec_env(
    game: str,
    *,
    variant: str | None = None,
    options: Given = None,
    setup: Given = None,
    reward: Reward = "rank",
    max_windows: int | None = None,
    max_cycles: int | None = None,
    on_refused: OnRefused | None = None,
    max_refused: int | None = MOST_REFUSED,
    encoder: Encoder | None = None,
    info_text: bool = False,
    render_mode: str | None = None,
) -> AECEnv[str, dict[str, Any], SupportsIndex]:
    """Make PettingZoo's AEC environment of a game: a step is a choice of the selected agent.

    Args:
        game: the game's name, as on the command line.
        variant: the variant; None for the default.
        options: the options, as Struct or plain values.
        setup: the secrets of every deal, as Struct or plain values; None to draw them per deal.
        reward: the rewards of the seats at the end: see `Reward`.
        max_windows: the number of windows after which the match is truncated, without rewards.
        max_cycles: if set, return `parallel_env` converted by PettingZoo to an AEC environment. In each cycle
            every agent steps once, those without an action pass; after this many cycles the match is truncated.
        on_refused: the effect of a choice that is not in the mask: `raise` raises IllegalChoiceError; with `ask`
            the agent is selected again; with `lose` it loses the match. None: `raise`, and with `max_cycles`
            `ask`.
        max_refused: the number of refused choices in a match after which an agent loses, with `ask`; None: no
            limit.
        encoder: the encoder of the observations; None for the game's own.
        info_text: True to add the name of the window to infos, as `window_name`; otherwise they are all numbers.
        render_mode: `ansi` or `rgb_array`.

    Raises:
        ValueError: an argument is wrong; the text names it.
    """
    if on_refused is None:
        on_refused = "raise" if max_cycles is None else "ask"
    episode = Episode(
        game,
        variant=variant,
        options=options,
        setup=setup,
        reward=reward,
        max_windows=max_windows,
        encoder=encoder,
    )
    episode.refusals = Refusals(on_refused, max_refused)
    if max_cycles is None:
        return AecArena(episode, render_mode, info_text=info_text)
    return parallel_to_aec(ParallelArena(episode, render_mode, max_cycles, info_text=info_text))


def parallel_env(
    game: str,
    *,
    variant: str | None = None,
    options: Given = None,
    setup: Given = None,
    reward: Reward = "rank",
    max_windows: int | None = None,
    max_cycles: int | None = None,
    on_refused: OnRefused = "ask",
    max_refused: int | None = MOST_REFUSED,
    encoder: Encoder | None = None,
    info_text: bool = False,
    render_mode: str | None = None,
) -> ParallelArena:
    """Make PettingZoo's Parallel environment of a game: a step is a choice of every agent, or `pass`.

    For the arguments see `aec_env`. `max_cycles` truncates the match after that many steps; `on_refused` defaults
    to `ask`.

    Raises:
        ValueError: an argument is wrong; the text names it.
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
    episode.refusals = Refusals(on_refused, max_refused)
    return ParallelArena(episode, render_mode, max_cycles, info_text=info_text)


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
    on_refused: OnRefused = "ask",
    max_refused: int | None = MOST_REFUSED,
    encoder: Encoder | None = None,
    info_text: bool = False,
    render_mode: str | None = None,
) -> GymArena:
    """Make Gymnasium's environment of one seat against a fixed field; a step is a choice of that seat.

    Args:
        game: the game's name, as on the command line.
        seat: the seat that learns.
        opponents: bots as for `arena.play`: one for all other seats, a list with one per other seat (ascending),
            or a mapping by seat. Seats without a bot choose at random; with None, all other seats do.
        variant: see `aec_env`, also for the arguments below.
        options: see `aec_env`.
        setup: see `aec_env`.
        reward: see `aec_env`.
        max_windows: see `aec_env`; all windows of the match count.
        on_refused: see `aec_env`; the default is `ask`.
        max_refused: see `aec_env`.
        encoder: see `aec_env`.
        info_text: see `aec_env`.
        render_mode: see `aec_env`; the view of this seat is shown.

    Raises:
        ValueError, TypeError: an argument is wrong; the text names it.
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
    episode.refusals = Refusals(on_refused, max_refused)
    return GymArena(episode, seat, _by_seat(opponents, episode.seats, seat), render_mode, info_text=info_text)


def _by_seat(
    given: BotGiven | Sequence[BotGiven] | Mapping[int, BotGiven] | None, seats: int, own: int
) -> dict[int, BotGiven]:
    others = [seat for seat in range(seats) if seat != own]
    if given is None:
        return {}
    if isinstance(given, Mapping):
        if strange := given.keys() - set(others):
            raise ValueError(f"opponents: seat {min(strange)} is not an opponent's; those are {others}")
        return dict(given)
    if isinstance(given, Sequence) and not isinstance(given, str):
        if len(given) != len(others):
            many = f"a list of {len(given)} for {counted(len(others), 'seat')}"
            raise ValueError(f"opponents: {many}; give one bot without a list for all of them")
        return dict(zip(others, given, strict=True))
    return dict.fromkeys(others, given)
