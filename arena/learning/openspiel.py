"""Mist, Pointing and Hive Mind as games of OpenSpiel.

`pyspiel.load_game("python_arena_mist")` creates one, once this module is imported.

A move is one choice. Seats that owe an action in the same window choose one after the other, ascending; none sees
the choices of another. The only chance node is the root, which draws one of a few seeds. The seed determines all
later random draws of the match, and is as hidden as they are. Mist draws nothing, so its root is not a chance
node.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, assert_never

import msgspec
import numpy as np
import numpy.typing as npt
import pyspiel

from arena.learning.episode import Episode
from arena.quantities import require_int
from protocol.codec import encode
from protocol.games.hive_mind import HiveMindOptions
from protocol.games.mist import MistOptions
from protocol.games.pointing import FEWEST_SEATS, MOST_SEATS, PointingOptions
from protocol.words import Event, Options
from referee.rules import Addressed, Answered, Table, WindowClosed, drawn

PREFIX = "python_arena_"
SEEDS = {"mist": 1, "pointing": 16, "hive-mind": 1_000}
"""Default for the number of outcomes of the chance node; by game."""
MOST_SEEDS = 1_000_000
COMMA = ";"
"""Replacement of commas in the JSON of options: OpenSpiel splits parameters at commas.

No option contains either.
"""
DEFAULTS = {"variant": "", "options": "{}", "seeds": 0}
_SEATS = {"mist": (2, 2), "pointing": (FEWEST_SEATS, MOST_SEATS), "hive-mind": (5, 5)}
"""The smallest and the largest number of seats of each game."""
_WITH_CHANCE = {"pointing", "hive-mind"}
_HIVE_CHOICES = 54
"""Maximum number of choices of a Hive Mind seat in its rounds: 3 Hives, 3 rounds, doubles, blocks and guesses."""
_SCORES_CHOICES = 4 * (1 + 4_300)
"""Maximum number of choices of a Hive Mind seat that guesses scores: those of 4 others, digit by digit."""
NO_TENSOR = (
    "information_state_tensor: there is none, for an array of fixed size does not hold all that a seat was told; "
    "use information_state_string, or observation_tensor"
)


def openspiel_game(
    game: str, *, variant: str | None = None, options: Mapping[str, Any] | None = None, seeds: int | None = None
) -> Any:
    """Return a `pyspiel.Game`, as `pyspiel.load_game` does. Rewards are those of `rank`.

    Args:
        game: `mist`, `pointing` or `hive-mind`.
        variant: the variant; None for the default.
        options: the options, as plain values.
        seeds: the number of deals that chance can draw; None for that in `SEEDS`. Mist has no chance, and accepts
            none.

    Raises:
        ValueError: an argument is wrong; the text names it.
    """
    if game not in _SEATS:
        raise ValueError(f"game: OpenSpiel is given no {game!r}; it is given {', '.join(_SEATS)}")
    given = {
        "variant": variant or "",
        "options": encode(dict(options or {})).decode().replace(",", COMMA),
        "seeds": 0 if seeds is None else require_int("seeds", seeds, 1),
    }
    _seeds(game, given)
    _episode(game, given)  # An error inside OpenSpiel would end the process.
    return pyspiel.load_game(_short(game), given)


def _short(game: str) -> str:
    """Return the name of a game in OpenSpiel."""
    return PREFIX + game.replace("-", "_")


def _episode(game: str, given: Mapping[str, Any]) -> Episode:
    try:
        options = msgspec.json.decode(given["options"].replace(COMMA, ","))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(f"options: {error}") from None
    return Episode(game, variant=given["variant"] or None, options=options)


def _seeds(game: str, given: Mapping[str, Any]) -> int:
    """Return the number of outcomes of chance. Raises ValueError if the game does not accept one."""
    seeds = given["seeds"] or SEEDS[game]
    if not 1 <= seeds <= (MOST_SEEDS if game in _WITH_CHANCE else 1):
        most = f"1 to {MOST_SEEDS:,}" if game in _WITH_CHANCE else "none: nothing is drawn"
        raise ValueError(f"seeds: {seeds}; {game} takes {most}")
    return int(seeds)


def _most_moves(options: Options) -> int:
    """Return the maximum number of choices in a match."""
    if isinstance(options, HiveMindOptions):
        return 1 + 5 * (_HIVE_CHOICES + _SCORES_CHOICES) + 2
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
        self.seeds = _seeds(name, given)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.start.pass_choice,
            max_chance_outcomes=self.seeds if self.has_chance else 0,
            num_players=self.start.seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=_most_moves(self.start.table.options),
        )
        super().__init__(_TYPES[name], info, given)

    def new_initial_state(self) -> "ArenaState":
        """Return the state at the start of a match."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer | TextObserver":
        """Return a `TextObserver` for information states, and an `Observer` otherwise."""
        if iig_obs_type is not None and iig_obs_type.perfect_recall:
            return TextObserver()
        return Observer(self)


class ArenaState(pyspiel.State):  # type: ignore[misc] # it has no types
    """A match between two choices."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.episode = game.start.copy()
        self.heard = [""] * self.episode.seats
        """The events and own choices of each seat as text, indexed by seat.

        In a world, the others' texts start with a view.
        """
        self.seeds = game.seeds
        self.worlds = _Worlds()
        self.is_world = False
        """True if this state was drawn by `resample_from_infostate`, or follows one that was."""
        self.dealt = not game.has_chance
        if self.dealt:
            self._deal(0)

    def current_player(self) -> int:
        """Return the player that chooses next."""
        if not self.dealt:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.episode.over else self.episode.choosing[0]

    def _legal_actions(self, player: int) -> list[int]:
        mask = self.episode.mask_bits(player)
        return [choice for choice in range(self.episode.pass_choice) if mask >> choice & 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the seeds, with equal probabilities."""
        return [(seed, 1 / self.seeds) for seed in range(self.seeds)]

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> "ArenaState":
        """Draw a state that looks the same to this player, by the worlds of the rules (`Game.worlds`).

        Seats that have chosen in the open window make random choices there. Later random draws differ from the
        original's. `history()` of the new state starts there; the texts of the other seats start with what they
        know at that point. Each player has one stream of worlds, seeded by the first number of `rng`, which is not
        called again.

        Raises:
            ValueError: this state was itself drawn, no player is to move, or no world was found.
        """
        if self.is_world or not self.dealt or self.episode.over:
            why = "was drawn itself" if self.is_world else "is no decision"
            raise ValueError(f"resample_from_infostate: this state {why}")
        if player_id not in self.worlds.streams:
            self.worlds.streams[player_id] = self._worlds_of(player_id, Random(rng()))
        return next(self.worlds.streams[player_id])

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Raise ValueError: there is no tensor."""
        raise ValueError(NO_TENSOR)

    def _worlds_of(self, player: int, luck: Random) -> Iterator["ArenaState"]:
        here = self.episode
        view, events = here.view(player), _events(here.table, player)
        variant, options = here.variant, here.table.options
        for world in here.game.worlds(view, events, player, luck, variant=variant, options=options):
            state = ArenaState(self.get_game())
            state.is_world = state.dealt = True
            state.episode = episode = here.in_world(world, player, luck.getrandbits(31))
            state.heard = [
                self.heard[seat] if seat == player else "\n" + encode(episode.view(seat)).decode()
                for seat in range(episode.seats)
            ]
            for seat in episode.choosing:
                while seat != player and not here.owed(seat) and episode.owed(seat):
                    episode.choose(seat, drawn(episode.mask_bits(seat), luck))
            yield state

    def _apply_action(self, action: int) -> None:
        self.worlds = _Worlds()
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
        """Return True if the match is over."""
        return self.dealt and self.episode.over

    def returns(self) -> list[float]:
        """Return the rewards, indexed by seat."""
        return self.episode.rewards()

    def __str__(self) -> str:
        seats = [f"seat {seat}:{heard}" for seat, heard in enumerate(self.heard)]
        return "\n".join([f"dealt: {self.dealt}", *seats])

    def _deal(self, seed: int) -> None:
        self.episode.reset(seed)
        self._hear()

    def _hear(self) -> None:
        """Add the new events, and the window that opens, to the texts of the seats."""
        for each in self.episode.told:
            line = "\n" + encode(each.event).decode()
            for seat in range(self.episode.seats) if each.seat is None else (each.seat,):
                self.heard[seat] += line
        window = self.episode.window
        for seat in self.episode.drafts:
            self.heard[seat] += f"\n{window.name if window else ''}:"


class _Worlds:
    """Streams of worlds by player. Copies of a state start without streams and draw their own."""

    def __init__(self) -> None:
        self.streams: dict[int, Iterator[ArenaState]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Worlds":
        return _Worlds()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Worlds, ()


def _events(table: Table, seat: int) -> list[Event]:
    """Return all events that the seat has received, in order."""
    replayed = Table(table.game, table.deal)
    told: list[Addressed] = list(replayed.start)
    for move in table.journal:
        match move:
            case Answered(answered, action):
                told += replayed.answer(answered, action)
            case WindowClosed(taken):
                told += replayed.close(taken)
            case _ as unreachable:
                assert_never(unreachable)
    return [each.event for each in told if each.seat is None or each.seat == seat]


class TextObserver:
    """All events and choices of a player in order, as text. There is no tensor."""

    def __init__(self) -> None:
        self.tensor: npt.NDArray[np.float32] = np.zeros(0, np.float32)
        self.dict: dict[str, npt.NDArray[np.float32]] = {}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Raise ValueError: there is no tensor."""
        raise ValueError(NO_TENSOR)

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return the player's text."""
        return f"seat {player}{state.heard[player]}"


class Observer:
    """Observation of a player: the encoder's array, flat. As text: all its events and choices, in order.

    The text is the same for information states and observations: both contain everything the seat has received.
    """

    def __init__(self, game: ArenaGame) -> None:
        shape = game.start.encoder.shape
        self.tensor: npt.NDArray[np.float32] = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fill the tensor with the player's observation; zeros before the deal."""
        if state.dealt:
            self.dict["observation"][:] = state.episode.observation(player)
        else:
            self.tensor[:] = 0

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return the player's text."""
        return f"seat {player}{state.heard[player]}"


def _type(name: str) -> Any:
    fewest, most = _SEATS[name]
    chance = pyspiel.GameType.ChanceMode
    return pyspiel.GameType(
        short_name=_short(name),
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


class HiveMindGame(ArenaGame):
    """Hive Mind."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__("hive-mind", params)


class PointingGame(ArenaGame):
    """Pointing."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__("pointing", params)


pyspiel.register_game(_TYPES["hive-mind"], HiveMindGame)
pyspiel.register_game(_TYPES["mist"], MistGame)
pyspiel.register_game(_TYPES["pointing"], PointingGame)
