"""Mist and Pointing as games of OpenSpiel: `pyspiel.load_game("python_arena_mist")`, once this is imported.

A move is one choice. Seats that owe an action in the same window choose one after the other, ascending; none is
told what another has chosen. Chance comes once, at the root, and draws one of a few seeds: what a match would draw
later is drawn there, and is as hidden. Mist draws nothing, so its root has no chance.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyspiel

from arena.learning.episode import Episode
from protocol.codec import encode
from protocol.games.mist import MistOptions
from protocol.games.pointing import FEWEST_SEATS, MOST_SEATS, PointingOptions
from protocol.words import Options

PREFIX = "python_arena_"
SEEDS = 16
"""How many outcomes chance has."""
COMMA = ";"
"""What stands for a comma in the JSON of options: OpenSpiel parts parameters at commas. No option holds either."""
DEFAULTS = {"variant": "", "options": "{}"}
_SEATS = {"mist": (2, 2), "pointing": (FEWEST_SEATS, MOST_SEATS)}
"""The games, each with its fewest and its most seats."""
_WITH_CHANCE = {"pointing"}


def openspiel_game(game: str, *, variant: str | None = None, options: Mapping[str, Any] | None = None) -> Any:
    """A `pyspiel.Game` of `mist` or `pointing`, as `pyspiel.load_game` gives it. Rewards are those of `rank`.

    Raises:
        ValueError: one of these is wrong; the text names it.
    """
    if game not in _SEATS:
        raise ValueError(f"game: OpenSpiel is given no {game!r}; it is given {', '.join(_SEATS)}")
    given = {"variant": variant or "", "options": encode(dict(options or {})).decode().replace(",", COMMA)}
    _episode(game, given)  # Within OpenSpiel, an error would end the process.
    return pyspiel.load_game(PREFIX + game, given)


def _episode(game: str, given: Mapping[str, Any]) -> Episode:
    try:
        options = msgspec.json.decode(given["options"].replace(COMMA, ","))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(f"options: {error}") from None
    return Episode(game, variant=given["variant"] or None, options=options)


def _most_moves(options: Options) -> int:
    """How many choices a match can have."""
    if isinstance(options, MistOptions):
        return 1 + 3 * options.max_turns
    assert isinstance(options, PointingOptions)  # noqa: S101 - there are no others
    return 4 * options.seats


class ArenaGame(pyspiel.Game):  # type: ignore[misc] # it has no types
    """A game of the arena."""

    def __init__(self, name: str, params: Mapping[str, Any] | None = None) -> None:
        given = DEFAULTS | dict(params or {})
        self.start = _episode(name, given)
        self.has_chance = name in _WITH_CHANCE
        info = pyspiel.GameInfo(
            num_distinct_actions=self.start.pass_choice,
            max_chance_outcomes=SEEDS if self.has_chance else 0,
            num_players=self.start.seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=_most_moves(self.start.table.options),
        )
        super().__init__(_TYPES[name], info, given)

    def new_initial_state(self) -> "ArenaState":
        """The start of a match."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":
        """See `Observer`."""
        return Observer(self)


class ArenaState(pyspiel.State):  # type: ignore[misc] # it has no types
    """A match between two choices."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.episode = game.start.copy()
        self.heard = [""] * self.episode.seats
        """By seat: all that it was told, and chose itself."""
        self.dealt = not game.has_chance
        if self.dealt:
            self._deal(0)

    def current_player(self) -> int:
        """Who chooses next."""
        if not self.dealt:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.episode.over else self.episode.choosing[0]

    def _legal_actions(self, player: int) -> list[int]:
        mask = self.episode.mask_bits(player)
        return [choice for choice in range(self.episode.pass_choice) if mask >> choice & 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Seeds, all as likely."""
        return [(seed, 1 / SEEDS) for seed in range(SEEDS)]

    def _apply_action(self, action: int) -> None:
        if not self.dealt:
            self.dealt = True
            self._deal(action)
            return
        seat = self.episode.choosing[0]
        self.episode.choose(seat, action)
        self.heard[seat] += f" {action}"
        if self.episode.close():
            self._hear()

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"seed {action}"
        return self.episode.game.choices[action]

    def is_terminal(self) -> bool:
        """Whether the match is over."""
        return self.dealt and self.episode.over

    def returns(self) -> list[float]:
        """By seat."""
        return self.episode.rewards()

    def __str__(self) -> str:
        seats = [f"seat {seat}:{heard}" for seat, heard in enumerate(self.heard)]
        return "\n".join([f"dealt: {self.dealt}", *seats])

    def _deal(self, seed: int) -> None:
        self.episode.reset(seed)
        self._hear()

    def _hear(self) -> None:
        """What all are told, and the window that opens."""
        for each in self.episode.told:
            line = "\n" + encode(each.event).decode()
            for seat in range(self.episode.seats) if each.seat is None else (each.seat,):
                self.heard[seat] += line
        window = self.episode.window
        for seat in self.episode.drafts:
            self.heard[seat] += f"\n{window.name if window else ''}:"


class Observer:
    """What a player observes: the encoder's array, flat. As text: all that it was told and chose, in order.

    The text is the same for information states and observations: nothing that a seat was told is ever forgotten.
    """

    def __init__(self, game: ArenaGame) -> None:
        shape = game.start.encoder.shape
        self.tensor: npt.NDArray[np.float32] = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fills the tensor."""
        if state.dealt:
            self.dict["observation"][:] = state.episode.observation(player)
        else:
            self.tensor[:] = 0

    def string_from(self, state: ArenaState, player: int) -> str:
        """See above."""
        return f"seat {player}{state.heard[player]}"


def _type(name: str) -> Any:
    fewest, most = _SEATS[name]
    chance = pyspiel.GameType.ChanceMode
    return pyspiel.GameType(
        short_name=PREFIX + name,
        long_name=f"{name}, of the arena",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=chance.EXPLICIT_STOCHASTIC if name in _WITH_CHANCE else chance.DETERMINISTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=DEFAULTS,
    )


_TYPES = {name: _type(name) for name in _SEATS}


class MistGame(ArenaGame):
    """Mist."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__("mist", params)


class PointingGame(ArenaGame):
    """Pointing."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__("pointing", params)


pyspiel.register_game(_TYPES["mist"], MistGame)
pyspiel.register_game(_TYPES["pointing"], PointingGame)
