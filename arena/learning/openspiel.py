"""Mist, Pointing and Hive Mind as games of OpenSpiel.

`pyspiel.load_game("python_arena_mist")` makes one, once this is imported.

A move is one choice. Seats that owe an action in the same window choose one after the other, ascending; none is
told what another has chosen. Chance comes once, at the root, and draws one of a few seeds: what a match would draw
later is drawn there, and is as hidden. Mist draws nothing, so its root has no chance.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, assert_never

import msgspec
import numpy as np
import numpy.typing as npt
import pyspiel

from arena.learning.episode import Episode
from arena.quantities import whole
from protocol.codec import encode
from protocol.games.hive_mind import HiveMindOptions
from protocol.games.mist import MistOptions
from protocol.games.pointing import FEWEST_SEATS, MOST_SEATS, PointingOptions
from protocol.words import Event, Options
from referee.rules import Addressed, Answered, Table, WindowClosed, drawn

PREFIX = "python_arena_"
SEEDS = {"mist": 1, "pointing": 16, "hive-mind": 1_000}
"""How many outcomes chance has, unless the caller says otherwise."""
MOST_SEEDS = 1_000_000
COMMA = ";"
"""What stands for a comma in the JSON of options: OpenSpiel parts parameters at commas. No option holds either."""
DEFAULTS = {"variant": "", "options": "{}", "seeds": 0}
_SEATS = {"mist": (2, 2), "pointing": (FEWEST_SEATS, MOST_SEATS), "hive-mind": (5, 5)}
"""The games, each with its fewest and its most seats."""
_WITH_CHANCE = {"pointing", "hive-mind"}
_HIVE_CHOICES = 54
"""Most choices of a seat of Hive Mind in its rounds: 3 Hives at once, 3 rounds, doubles, blocks and guesses."""
_SCORES_CHOICES = 4 * (1 + 4_300)
"""Most choices of a seat of Hive Mind that guesses scores: of 4 others, digit by digit."""
NO_TENSOR = (
    "information_state_tensor: there is none, for an array of fixed size does not hold all that a seat was told; "
    "use information_state_string, or observation_tensor"
)


def openspiel_game(
    game: str, *, variant: str | None = None, options: Mapping[str, Any] | None = None, seeds: int | None = None
) -> Any:
    """Return a `pyspiel.Game`, as `pyspiel.load_game` gives it. Rewards are those of `rank`.

    Args:
        game: `mist`, `pointing` or `hive-mind`.
        variant: None: the default.
        options: as plain values.
        seeds: how many deals chance can draw; None: as many as `SEEDS` says. Mist has no chance, and takes none.

    Raises:
        ValueError: one of these is wrong; the text names it.
    """
    if game not in _SEATS:
        raise ValueError(f"game: OpenSpiel is given no {game!r}; it is given {', '.join(_SEATS)}")
    given = {
        "variant": variant or "",
        "options": encode(dict(options or {})).decode().replace(",", COMMA),
        "seeds": 0 if seeds is None else whole("seeds", seeds, 1),
    }
    _seeds(game, given)
    _episode(game, given)  # Within OpenSpiel, an error would end the process.
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
    """Return how many outcomes chance has. Raises ValueError: the game takes no such number."""
    seeds = given["seeds"] or SEEDS[game]
    if not 1 <= seeds <= (MOST_SEEDS if game in _WITH_CHANCE else 1):
        most = f"1 to {MOST_SEEDS:,}" if game in _WITH_CHANCE else "none: nothing is drawn"
        raise ValueError(f"seeds: {seeds}; {game} takes {most}")
    return int(seeds)


def _most_moves(options: Options) -> int:
    """How many choices a match can have."""
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
        """The start of a match."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer | TextObserver":
        """See `Observer`; `TextObserver` where information states are asked for."""
        if iig_obs_type is not None and iig_obs_type.perfect_recall:
            return TextObserver()
        return Observer(self)


class ArenaState(pyspiel.State):  # type: ignore[misc] # it has no types
    """A match between two choices."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self.episode = game.start.copy()
        self.heard = [""] * self.episode.seats
        """By seat: all that it was told, and chose itself. In a world, of other seats: what they know there."""
        self.seeds = game.seeds
        self.worlds = _Worlds()
        self.is_world = False
        """Whether this state was drawn by `resample_from_infostate`, or follows one that was."""
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
        return [(seed, 1 / self.seeds) for seed in range(self.seeds)]

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> "ArenaState":
        """Draw a state that this player cannot tell from this one, by the worlds of the rules (`Game.worlds`).

        Seats that have chosen in the open window have done so at random there. What chance draws later is drawn
        anew. `history()` of the new state begins with it; other seats' texts begin with what they know then.
        Worlds are one stream for each player, whose seed is the first number that `rng` gives; it is not asked
        again.

        Raises:
            ValueError: this state was drawn itself, chance or nobody is to move, or no world was found.
        """
        if self.is_world or not self.dealt or self.episode.over:
            why = "was drawn itself" if self.is_world else "is no decision"
            raise ValueError(f"resample_from_infostate: this state {why}")
        if player_id not in self.worlds.streams:
            self.worlds.streams[player_id] = self._worlds_of(player_id, Random(rng()))
        return next(self.worlds.streams[player_id])

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Refuse: there is none. Raises ValueError."""
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


class _Worlds:
    """Streams of worlds by player. A copy of a state has none: it draws its own."""

    def __init__(self) -> None:
        self.streams: dict[int, Iterator[ArenaState]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Worlds":
        return _Worlds()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Worlds, ()


def _events(table: Table, seat: int) -> list[Event]:
    """Return all that the seat was told, in order."""
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
    """All that a player was told and chose, in order, as text. There is no tensor of it."""

    def __init__(self) -> None:
        self.tensor: npt.NDArray[np.float32] = np.zeros(0, np.float32)
        self.dict: dict[str, npt.NDArray[np.float32]] = {}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Refuse: there is no tensor. Raises ValueError."""
        raise ValueError(NO_TENSOR)

    def string_from(self, state: ArenaState, player: int) -> str:
        """See above."""
        return f"seat {player}{state.heard[player]}"


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
