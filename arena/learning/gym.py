"""Gymnasium's environment: one seat against a fixed field."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

from arena.learning.environments import Observed, checked_mode, info_of, metadata, observation_space, rendered
from arena.learning.episode import EnvironmentArguments, EnvironmentSpec, Episode
from arena.quantities import pluralise, require_int
from arena.simulation import BotGiven, Opponents
from referee.rules import MatchRandom, drawn

MOST_DEALT = 100
"""Maximum number of matches that `reset` deals to find one in which the seat has a choice."""


class GymArena(gymnasium.Env[Observed, SupportsIndex]):
    """A match from the viewpoint of one seat. A step is one of its choices; the others act automatically.

    The episode decides the effect of a choice that is not in the mask (`Refusals`). `info` counts such choices.

    The environment can be pickled if its opponents can. The copy replays them to the same point.
    """

    def __init__(
        self,
        episode: Episode,
        seat: int,
        opponents: Mapping[int, BotGiven],
        render_mode: str | None = None,
        *,
        info_text: bool = False,
    ) -> None:
        """Create the environment. Seats without a bot in `opponents`, which is indexed by seat, choose at random.

        Raises:
            ValueError, TypeError: the seat or `render_mode` does not exist, or an opponent is not a bot for this
                game.
        """
        seat = require_int("seat", seat)
        if seat not in range(episode.seats) or seat in opponents:
            raise ValueError(f"seat: {seat} is none of the {episode.seats}, or has a bot")
        self.episode = episode
        self.seat = seat
        self.render_mode = checked_mode(render_mode)
        self.info_text = info_text
        self.metadata = metadata(episode, parallel=False)
        self.observation_space = observation_space(episode)  # type: ignore[assignment] # it knows no shapes
        self.action_space = Discrete(episode.choices)
        self._opponents = Opponents(episode.game.name, opponents)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Deal a match: that of the seed, or the next one. `options` are not used.

        Deals again if a match ends before the seat has had a choice. Raises the bots' errors as well.

        Raises:
            ValueError: the seat had no choice in any of `MOST_DEALT` matches.
        """
        super().reset(seed=seed)
        for _ in range(MOST_DEALT):
            self.episode.reset(seed)
            self._opponents.begin(self.episode.table)
            self._others_act()
            self._play_on()
            if not self.done:
                return self.episode.observe(self.seat), self._info()
            seed = None
        raise ValueError(
            f"seat: {MOST_DEALT} matches ended before seat {self.seat} had a choice to make; "
            "give it another seat, or change options or max_windows"
        )

    def step(self, action: SupportsIndex) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Make the seat's next choice. Raises the bots' errors as well.

        Raises:
            ResetNeeded: the match is over or has not started.
            ValueError: the choice is not a number.
            IllegalChoiceError: the choice is not in the mask, and `on_refused` is `raise`.
        """
        episode, seat = self.episode, self.seat
        if self.done:
            raise gymnasium.error.ResetNeeded("the match is over, or not begun: call reset()")
        if not episode.attempt(seat, require_int("choice", action)):
            episode.close()
        elif not episode.owed(seat):
            self._play_on()
        return episode.observe(seat), episode.rewards()[seat], episode.over, episode.truncated, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the allowed choices as booleans, of length `choices`, as MaskablePPO of sb3-contrib requires."""
        return self.episode.mask(self.seat).astype(bool)

    @property
    def done(self) -> bool:
        """True if there is no match to step: none was dealt, or it is over or truncated."""
        return not self.episode.begun or self.episode.over or self.episode.truncated

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Render the seat's view: text for `ansi`, an array (height, width, 3) for `rgb_array`."""
        return rendered(self.episode, self.render_mode, self.seat)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opponents": self._opponents.givens}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._opponents = Opponents(self.episode.game.name, state["_opponents"])
        if self.episode.begun:
            self._opponents.catch_up(self.episode.table)

    def _info(self) -> dict[str, Any]:
        return info_of(self.episode, self.seat, text=self.info_text)

    def _play_on(self) -> None:
        """Play until the seat owes a choice or the match is over."""
        episode = self.episode
        while not episode.owed(self.seat):
            episode.close()
            self._opponents.tell(episode.told)
            self._opponents.closed(episode.taken)
            if self.done:
                return
            self._others_act()

    def _others_act(self) -> None:
        """Act for all other seats that owe an action in the window that has opened, the bots first."""
        episode = self.episode
        for seat, action in self._opponents.answers(episode.table).items():
            episode.submit(seat, action)
        rng = MatchRandom(episode.seed, episode.table.number)
        for seat in episode.choosing:
            if seat != self.seat:
                stream = rng.seat(seat)
                while episode.owed(seat):
                    episode.choose(seat, drawn(episode.mask_bits(seat), stream))


def gym_env(
    game: str,
    seat: int = 0,
    opponents: BotGiven | Sequence[BotGiven] | Mapping[int, BotGiven] | None = None,
    **arguments: Unpack[EnvironmentArguments],
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
    spec = EnvironmentSpec(game=game, **arguments)
    episode = spec.episode("ask")
    field = _by_seat(opponents, episode.seats, seat)
    return GymArena(episode, seat, field, spec.render_mode, info_text=spec.info_text)


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
            many = f"a list of {len(given)} for {pluralise(len(others), 'seat')}"
            raise ValueError(f"opponents: {many}; give one bot without a list for all of them")
        return dict(zip(others, given, strict=True))
    return dict.fromkeys(others, given)
