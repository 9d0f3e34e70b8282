"""PettingZoo's Parallel environment: all agents choose at once."""

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Dict, Discrete
from pettingzoo import ParallelEnv

from arena.learning.episode import Episode
from arena.learning.rendering import checked_mode, rendered
from arena.learning.spaces import Observed, agents_of, check_begun, infos_of, metadata, observation_space
from arena.quantities import whole

Stepped = tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class ParallelArena(ParallelEnv[str, Observed, int]):  # type: ignore[misc] # it has no types
    """A match in which each step is a choice of every agent; those that owe nothing pass.

    Libraries step this form with actions for which they looked at no mask. So a choice that the mask does not hold
    is refused, as by a referee: it changes nothing, the seat still owes its choice, and `infos` says `refused`.
    """

    def __init__(self, episode: Episode, render_mode: str | None = None, max_cycles: int | None = None) -> None:
        """Raises ValueError: there is no such `render_mode`, or `max_cycles` is no number of steps."""
        self.episode = episode
        self.render_mode = checked_mode(render_mode)
        self.max_cycles = None if max_cycles is None else whole("max_cycles", max_cycles, 1)
        """After so many steps the match is truncated; None: it is not."""
        self.metadata = metadata(episode, parallel=True)
        self.possible_agents = agents_of(episode)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(episode) for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(episode.choices) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Dict:
        """`observation` and `action_mask`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """A choice of `Game.choices`, or `pass`, the last."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, Any]]]:
        """Deals a match: that of the seed, or the next one. `options` are not used."""
        self.episode.reset(seed)
        self.agents = self.possible_agents.copy()
        self._cycles = 0
        return self._observed(), dict(zip(self.possible_agents, infos_of(self.episode), strict=True))

    def step(self, actions: dict[str, int]) -> Stepped:
        """A choice of every agent. Choices of agents that owe none are passed over.

        Raises:
            ResetNeeded: the match is over, or not begun.
            ValueError: a choice is no number.
        """
        agents, episode = self.agents, self.episode
        check_begun(agents)
        refused = []
        for seat in episode.choosing:
            choice = whole("choice", actions[self.possible_agents[seat]])
            if episode.may(seat, choice):
                episode.choose(seat, choice)
            else:
                refused.append(seat)
        episode.close()
        self._cycles += 1
        over = episode.over
        truncated = not over and (episode.truncated or self._cycles == self.max_cycles)
        infos = infos_of(episode)
        for seat in refused:
            infos[seat]["refused"] = True
        stepped = (
            self._observed(),
            dict(zip(agents, episode.rewards(), strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, truncated),
            dict(zip(agents, infos, strict=True)),
        )
        if over or truncated:
            self.agents = []
        return stepped

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The whole match, secrets included: text for `ansi`, an array (height, width, 3) for `rgb_array`."""
        return rendered(self.episode, self.render_mode)

    def close(self) -> None:
        """There is nothing to close."""

    def _observed(self) -> dict[str, Observed]:
        return {agent: self.episode.observe(seat) for seat, agent in enumerate(self.possible_agents)}
