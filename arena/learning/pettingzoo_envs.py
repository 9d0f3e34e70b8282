"""PettingZoo's environments: AEC, where one agent chooses at a time, and Parallel, where all choose at once."""

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, Unpack, overload

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Dict, Discrete
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import parallel_to_aec

from arena.learning.environments import (
    Observed,
    agents_of,
    check_begun,
    checked_mode,
    info_of,
    metadata,
    observation_space,
    rendered,
    state_of,
    state_space,
)
from arena.learning.episode import EnvironmentArguments, EnvironmentSpec, Episode
from arena.quantities import require_int


class _Environment:
    """The common part of both environments: the episode, its spaces and pictures."""

    def __init__(self, episode: Episode, render_mode: str | None, *, parallel: bool, info_text: bool) -> None:
        super().__init__()
        self.episode = episode
        self.render_mode = checked_mode(render_mode)
        self.info_text = info_text
        self.metadata = metadata(episode, parallel=parallel)
        self.state_space = state_space(episode)
        self.possible_agents = agents_of(episode)
        self.agents: list[str] = []
        self.observation_spaces: dict[str, Dict] = {}
        self.action_spaces: dict[str, Discrete] = {}
        for agent in self.possible_agents:
            self.observation_spaces[agent] = observation_space(episode)
            self.action_spaces[agent] = Discrete(episode.choices)

    def observation_space(self, agent: str) -> Dict:
        """Return the space of `observation` (see `docs/learning.md`) and of `action_mask`, a flag per choice."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of `Game.choices`; the last choice is `pass`."""
        return self.action_spaces[agent]

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Render the match with its secrets: text for `ansi`, an array (height, width, 3) for `rgb_array`."""
        return rendered(self.episode, self.render_mode)

    def state(self) -> npt.NDArray[Any]:
        """Return the observations of all seats as one vector, in order of seats."""
        return state_of(self.episode)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _infos(self) -> dict[str, dict[str, Any]]:
        """Return the infos of all agents that may step."""
        infos = {}
        for seat, agent in enumerate(self.possible_agents):
            if agent in self.agents:
                infos[agent] = info_of(self.episode, seat, text=self.info_text)
        return infos


class AecArena(_Environment, AECEnv[str, Observed, SupportsIndex]):  # type: ignore[misc] # it has no types
    """A match that is played choice by choice. A seat is selected again until its action is complete.

    Seats that owe an action in the same window choose one after the other; none sees the choices of another.
    """

    def __init__(self, episode: Episode, render_mode: str | None = None, *, info_text: bool = False) -> None:
        """Create the environment. Raises ValueError if `render_mode` does not exist."""
        super().__init__(episode, render_mode, parallel=False, info_text=info_text)
        self.agent_selection = self.possible_agents[0]
        self._seat = dict(zip(self.possible_agents, range(episode.seats), strict=True))

    def reset(self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a match: that of the seed, or the next one. `options` are not used."""
        self.episode.reset(seed)
        self.agents = agents = self.possible_agents.copy()
        self.rewards: dict[str, float] = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self._select()

    def observe(self, agent: str) -> Observed:
        """Return the agent's current observation and mask."""
        return self.episode.observe(self._seat[agent])

    def agent_iter(self, max_iter: int = 2**63) -> Iterable[str]:
        """Yield the selected agent before each step, until all are terminated or truncated."""
        agents: Iterable[str] = super().agent_iter(max_iter)
        return agents

    def last(self, observe: bool = True) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last step, terminated, truncated and info of the selected agent.

        With `observe` false the observation is None, as in PettingZoo, although the type does not include it.
        """
        told: tuple[Observed, float, bool, bool, dict[str, Any]] = super().last(observe)
        return told

    def step(self, action: SupportsIndex | None) -> None:
        """Make the selected agent's next choice; None once it is terminated or truncated.

        Raises:
            IllegalChoiceError: the agent's `action_mask` does not hold the choice, and `on_refused` is `raise`.
                Nothing has changed.
            ValueError: the choice is not a number.
            ResetNeeded: the match is over for all agents, or has not started.
        """
        check_begun(self.agents)
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        episode, seat = self.episode, self._seat[agent]
        self._cumulative_rewards[agent] = 0.0
        if not episode.attempt(seat, require_int("choice", action)):
            self.infos[agent] = info_of(episode, seat, text=self.info_text)
        elif episode.owed(seat):
            return
        closed = episode.close()
        if closed and (episode.over or episode.truncated):
            self._end()
        elif closed:
            self._select()
        elif not episode.owed(seat):
            self.agent_selection = self.possible_agents[episode.choosing[0]]

    def _select(self) -> None:
        """Select the first agent of a new window."""
        self.infos = self._infos()
        self.agent_selection = self.possible_agents[next(iter(self.episode.drafts))]

    def _end(self) -> None:
        rewards = self.episode.rewards()
        for agent in self.agents:
            self.rewards[agent] = rewards[self._seat[agent]]
        self.terminations = dict.fromkeys(self.agents, self.episode.over)
        self.truncations = dict.fromkeys(self.agents, not self.episode.over)
        self.infos = self._infos()
        self._accumulate_rewards()
        self.agent_selection = self.agents[0]


Stepped = tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class ParallelArena(_Environment, ParallelEnv[str, Observed, SupportsIndex]):  # type: ignore[misc] # it has no types
    """A match in which each step is a choice of every agent; those that owe no action pass.

    Libraries step this environment without looking at masks. The episode decides the effect of a choice that is
    not in the mask (`Refusals`). `infos` count such choices.
    """

    def __init__(
        self,
        episode: Episode,
        render_mode: str | None = None,
        max_cycles: int | None = None,
        *,
        info_text: bool = False,
    ) -> None:
        """Create the environment. Raises ValueError if `render_mode` or `max_cycles` is wrong."""
        super().__init__(episode, render_mode, parallel=True, info_text=info_text)
        self.max_cycles = None if max_cycles is None else require_int("max_cycles", max_cycles, 1)
        """Number of steps after which the match is truncated; None for no limit."""

    def reset(
        self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, Any]]]:
        """Deal a match: that of the seed, or the next one. `options` are not used."""
        self.episode.reset(seed)
        self.agents = self.possible_agents.copy()
        self._cycles = 0
        return self._observed(), self._infos()

    def step(self, actions: Mapping[str, SupportsIndex]) -> Stepped:
        """Make a choice for every agent, as an integer of Python or NumPy. Ignores those of agents that owe none.

        Raises:
            ResetNeeded: the match is over or has not started.
            ValueError: a choice is not a number.
            IllegalChoiceError: a choice is not in the mask, and `on_refused` is `raise`.
        """
        agents, episode = self.agents, self.episode
        check_begun(agents)
        for seat in episode.choosing:
            episode.attempt(seat, require_int("choice", actions[self.possible_agents[seat]]))
        episode.close()
        self._cycles += 1
        over = episode.over
        truncated = not over and (episode.truncated or self._cycles == self.max_cycles)
        stepped = (
            self._observed(),
            dict(zip(agents, episode.rewards(), strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, truncated),
            self._infos(),
        )
        if over or truncated:
            self.agents = []
        return stepped

    def _observed(self) -> dict[str, Observed]:
        return {agent: self.episode.observe(seat) for seat, agent in enumerate(self.possible_agents)}


@overload
def aec_env(game: str, *, max_cycles: None = None, **arguments: Unpack[EnvironmentArguments]) -> AecArena: ...
@overload
def aec_env(
    game: str, *, max_cycles: int, **arguments: Unpack[EnvironmentArguments]
) -> AECEnv[str, dict[str, Any], SupportsIndex]: ...
def aec_env(
    game: str, *, max_cycles: int | None = None, **arguments: Unpack[EnvironmentArguments]
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
    spec = EnvironmentSpec(game=game, **arguments)
    if max_cycles is None:
        return AecArena(spec.episode("raise"), spec.render_mode, info_text=spec.info_text)
    parallel = ParallelArena(spec.episode("ask"), spec.render_mode, max_cycles, info_text=spec.info_text)
    return parallel_to_aec(parallel)


def parallel_env(
    game: str, *, max_cycles: int | None = None, **arguments: Unpack[EnvironmentArguments]
) -> ParallelArena:
    """Make PettingZoo's Parallel environment of a game: a step is a choice of every agent, or `pass`.

    For the arguments see `aec_env`. `max_cycles` truncates the match after that many steps; `on_refused` defaults
    to `ask`.

    Raises:
        ValueError: an argument is wrong; the text names it.
    """
    spec = EnvironmentSpec(game=game, **arguments)
    return ParallelArena(spec.episode("ask"), spec.render_mode, max_cycles, info_text=spec.info_text)
