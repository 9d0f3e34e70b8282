"""How environments are made."""

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
    """What environments can be given besides the game and a bound on their steps: see `aec_env`."""

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
        on_refused: what a choice that the mask does not hold leads to: `raise`, an IllegalChoiceError; `ask`, the
            agent is selected again; `lose`, the agent loses the match. None: `raise`, and with `max_cycles` `ask`.
        max_refused: with `ask`, an agent loses after so many refused choices in a match; None: never.
        encoder: what makes the observations; None: the game's own.
        info_text: whether infos also name the window in words, as `window_name`; else they hold numbers only.
        render_mode: `ansi` or `rgb_array`.

    Raises:
        ValueError: one of these is wrong; the text names it.
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
    """PettingZoo's Parallel environment of a game: a step is a choice of every agent, or `pass`.

    For the arguments see `aec_env`; `max_cycles` truncates the match after so many steps. `on_refused` is `ask` if
    left out.

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
        on_refused: see there; `ask` if left out.
        max_refused: see there.
        encoder: see there.
        info_text: see there.
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
