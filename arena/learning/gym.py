"""Gymnasium's environment: one seat against a fixed field."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

from arena.learning.episode import Episode
from arena.learning.rendering import checked_mode, rendered
from arena.learning.spaces import Observed, metadata, observation_space
from arena.quantities import whole
from arena.simulation import BotGiven, Opponents
from referee.rules import Luck, drawn


class GymArena(gymnasium.Env[Observed, int]):
    """The match as one seat meets it. A step is one of its choices; the others act when their turn comes.

    A choice that the mask does not hold is refused: it changes nothing, and `info` says `refused`.
    """

    def __init__(
        self, episode: Episode, seat: int, opponents: Mapping[int, BotGiven], render_mode: str | None = None
    ) -> None:
        """Takes the seat, and bots by their seats; of the others, each choice is drawn from its mask.

        Raises:
            ValueError, TypeError: there is no such seat or `render_mode`, or one is no bot for this game.
        """
        seat = whole("seat", seat)
        if seat not in range(episode.seats) or seat in opponents:
            raise ValueError(f"seat: {seat} is none of the {episode.seats}, or has a bot")
        self.episode = episode
        self.seat = seat
        self.render_mode = checked_mode(render_mode)
        self.metadata = metadata(episode, parallel=False)
        self.observation_space = observation_space(episode)  # type: ignore[assignment] # it knows no shapes
        self.action_space = Discrete(episode.choices)  # type: ignore[assignment] # its integers are NumPy's
        self._opponents = Opponents(episode.game.name, opponents)
        self._bots = frozenset(opponents)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Deals a match: that of the seed, or the next one. `options` are not used. Raises as the bots do."""
        super().reset(seed=seed)
        self.episode.reset(seed)
        self._opponents.begin(self.episode.table)
        self._others_act()
        self._play_on()
        return self.episode.observe(self.seat), self._info()

    def step(self, action: int) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """The seat's next choice. Raises as the bots do, and ValueError: it is no number."""
        episode, info = self.episode, {}
        if not episode.owed(self.seat):
            raise gymnasium.error.ResetNeeded("the match is over, or not begun: call reset()")
        choice = whole("choice", action)
        if episode.may(self.seat, choice):
            episode.choose(self.seat, choice)
            if not episode.owed(self.seat):
                self._play_on()
        else:
            info["refused"] = True
        reward = episode.rewards()[self.seat]
        return episode.observe(self.seat), reward, episode.over, episode.truncated, self._info() | info

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """What the seat sees: text for `ansi`, an array (height, width, 3) for `rgb_array`."""
        return rendered(self.episode, self.render_mode, self.seat)

    def _info(self) -> dict[str, Any]:
        window = self.episode.window
        return {"window": window.name if window is not None and self.episode.owed(self.seat) else None}

    def _play_on(self) -> None:
        """Plays until the seat owes a choice, or the match is over."""
        episode = self.episode
        while not episode.owed(self.seat):
            episode.close()
            self._opponents.tell(episode.told)
            self._opponents.closed(
                {seat: taken for seat, taken in enumerate(episode.taken) if seat in self._bots and taken}
            )
            if episode.over or episode.truncated:
                return
            self._others_act()

    def _others_act(self) -> None:
        """All others that owe an action in the window that has opened, the bots first."""
        episode = self.episode
        for seat, action in self._opponents.answers(episode.table).items():
            episode.submit(seat, action)
        luck = Luck(episode.seed, episode.table.number)
        for seat in episode.choosing:
            if seat != self.seat:
                stream = luck.seat(seat)
                while episode.owed(seat):
                    episode.choose(seat, drawn(episode.mask_bits(seat), stream))
