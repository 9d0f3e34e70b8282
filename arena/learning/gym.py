"""Gymnasium's environment: one seat against a fixed field."""

from collections.abc import Mapping
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

from arena.learning.episode import Episode
from arena.learning.rendering import checked_mode, rendered
from arena.learning.spaces import Observed, info_of, metadata, observation_space
from arena.quantities import whole
from arena.simulation import BotGiven, Opponents
from referee.rules import Luck, drawn

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
        seat = whole("seat", seat)
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
        self._bots = frozenset(opponents)

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
        if not episode.attempt(seat, whole("choice", action)):
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
            self._opponents.closed(
                {seat: taken for seat, taken in enumerate(episode.taken) if seat in self._bots and taken}
            )
            if self.done:
                return
            self._others_act()

    def _others_act(self) -> None:
        """Act for all other seats that owe an action in the window that has opened, the bots first."""
        episode = self.episode
        for seat, action in self._opponents.answers(episode.table).items():
            episode.submit(seat, action)
        luck = Luck(episode.seed, episode.table.number)
        for seat in episode.choosing:
            if seat != self.seat:
                stream = luck.seat(seat)
                while episode.owed(seat):
                    episode.choose(seat, drawn(episode.mask_bits(seat), stream))
