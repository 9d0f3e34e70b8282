"""Games of the arena as games of OpenSpiel: Mist, Pointing, Hive Mind, and those of other packages.

`pyspiel.load_game("python_arena_mist")` creates one, once this module is imported.

A move is one choice. Seats that owe an action in the same window choose one after the other, ascending; none sees
the choices of another. The only chance node is the root. It draws the setup, if the game lists its setups, and one
of a few seeds otherwise. The seed determines all later random draws of the match, and is as hidden as they are.
Mist draws nothing, so its root is not a chance node.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import pyspiel

from arena.learning.episode import Episode
from arena.quantities import require_int
from protocol.codec import encode
from protocol.games.pointing import FEWEST_SEATS, MOST_SEATS
from protocol.words import MOST, Event, Setup
from referee.games import ENCODERS, GAMES
from referee.rules import Addressed, Table, audience, drawn

PREFIX = "python_arena_"
SEEDS = {"hive-mind": 1_000}
"""Default for the number of outcomes of the chance node, by game; `FEW_SEEDS` for other games."""
FEW_SEEDS = 16
MOST_SEEDS = 1_000_000
COMMA = ";"
"""Replacement of commas in the JSON of options: OpenSpiel splits parameters at commas.

No option contains either.
"""
DEFAULTS = {"variant": "", "options": "{}", "seeds": 0, "reward": "rank"}
_SEATS = {"pointing": (FEWEST_SEATS, MOST_SEATS)}
"""The smallest and the largest number of seats, by game; in other games it does not depend on the options."""
NO_TENSOR = (
    "information_state_tensor: there is none, for an array of fixed size does not hold all that a seat was told; "
    "use information_state_string, or observation_tensor"
)


def openspiel_game(
    game: str,
    *,
    variant: str | None = None,
    options: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    reward: Literal["rank", "score"] = "rank",
) -> Any:
    """Return a `pyspiel.Game`, as `pyspiel.load_game` does.

    Args:
        game: `mist`, `pointing`, `hive-mind`, or a game of another package that states its `most_choices`.
        variant: the variant; None for the default.
        options: the options, as plain values.
        seeds: the number of deals that chance can draw; None for that in `SEEDS`. A game that lists its `setups`
            accepts none: chance draws one of these. Mist has no chance.
        reward: `rank`, whose sum is 0, or `score`: see `Reward` in `arena.learning.episode`.

    Raises:
        ValueError: an argument is wrong; the text names it.
    """
    if game not in _TYPES:
        raise ValueError(f"game: OpenSpiel is given no {game!r}; it is given {', '.join(_TYPES)}")
    given = {
        "variant": variant or "",
        "options": encode(dict(options or {})).decode().replace(",", COMMA),
        "seeds": 0 if seeds is None else require_int("seeds", seeds, 1),
        "reward": reward,
    }
    _deals(game, given, _episode(game, given))  # An error inside OpenSpiel would end the process.
    return pyspiel.load_game(_short(game), given)


def _short(game: str) -> str:
    """Return the name of a game in OpenSpiel."""
    return PREFIX + game.replace("-", "_")


def _episode(game: str, given: Mapping[str, Any]) -> Episode:
    try:
        options = msgspec.json.decode(given["options"].replace(COMMA, ","))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(f"options: {error}") from None
    reward = given["reward"]
    if reward not in ("rank", "score"):
        raise ValueError(f"reward: OpenSpiel is given no {reward!r}; it is given rank or score")
    return Episode(game, variant=given["variant"] or None, options=options, reward=reward)


def _deals(game: str, given: Mapping[str, Any], episode: Episode) -> Sequence[int | Setup]:
    """Return the outcomes of chance: setups, or seeds. One outcome: there is no chance.

    Raises:
        ValueError: the game does not accept that number of seeds.
    """
    seeds = given["seeds"]
    setups = episode.game.setups(episode.variant, episode.table.options)
    if setups is not None:
        if seeds not in (0, len(setups)):
            why = "nothing is drawn" if len(setups) == 1 else "chance draws every deal"
            raise ValueError(f"seeds: {seeds}; {game} takes none: {why}")
        return setups
    if not 0 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds: {seeds}; {game} takes 1 to {MOST_SEEDS:,}")
    return range(int(seeds or SEEDS.get(game, FEW_SEEDS)))


class ArenaGame(pyspiel.Game):  # type: ignore[misc] # it has no types
    """A game of the arena."""

    def __init__(self, name: str, params: Mapping[str, Any] | None = None) -> None:
        given = DEFAULTS | dict(params or {})
        self.start = _episode(name, given)
        self.deals = _deals(name, given, self.start)
        """The outcomes of the chance node: setups, or seeds."""
        self.has_chance = _has_chance(name)
        is_rank = given["reward"] == "rank"
        most = 1.0 if is_rank else float(MOST)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.start.pass_choice,
            max_chance_outcomes=len(self.deals) * self.has_chance,
            num_players=self.start.seats,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0 if is_rank else None,
            max_game_length=self.start.game.most_choices(self.start.table.options),
        )
        super().__init__(_type(name, is_zero_sum=is_rank), info, given)

    def new_initial_state(self) -> "ArenaState":
        """Return the state at the start of a match."""
        return ArenaState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "TextObserver":
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
        self.deals = game.deals
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
        if self.episode.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return self.episode.choosing[0]

    def _legal_actions(self, player: int) -> list[int]:
        mask = self.episode.mask_bits(player)
        return [choice for choice in range(self.episode.pass_choice) if mask >> choice & 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the numbers of the deals, with equal probabilities."""
        return [(number, 1 / len(self.deals)) for number in range(len(self.deals))]

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> "ArenaState":
        """Draw a state that looks the same to this player, by the worlds of the rules (`Game.worlds`).

        Seats that have chosen in the open window make random choices there. Later random draws differ from the
        original's. `history()` of the new state starts there; the texts of the other seats start with what they
        know at that point. Each player has one stream of worlds, seeded by the first number of `rng`, which is not
        called again.

        Raises:
            ValueError: this state was itself drawn, no player is to move, or no world was found.
        """
        if self.is_world:
            raise ValueError("resample_from_infostate: this state was drawn itself")
        if not self.dealt or self.episode.over:
            raise ValueError("resample_from_infostate: this state is no decision")
        if player_id not in self.worlds.streams:
            self.worlds.streams[player_id] = self._worlds_of(player_id, Random(rng()))
        return next(self.worlds.streams[player_id])

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Raise ValueError: there is no tensor."""
        raise ValueError(NO_TENSOR)

    def _worlds_of(self, player: int, rng: Random) -> Iterator["ArenaState"]:
        here = self.episode
        view, events = here.view(player), _events(here.table, player)
        variant, options = here.variant, here.table.options
        for world in here.game.worlds(view, events, player, rng, variant=variant, options=options):
            state = ArenaState(self.get_game())
            state.is_world = state.dealt = True
            state.episode = episode = here.in_world(world, player, rng.getrandbits(31))
            state.heard = ["\n" + encode(episode.view(seat)).decode() for seat in range(episode.seats)]
            state.heard[player] = self.heard[player]
            for seat in episode.choosing:
                while seat != player and not here.owed(seat) and episode.owed(seat):
                    episode.choose(seat, drawn(episode.mask_bits(seat), rng))
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
            deal = self.deals[action]
            if isinstance(deal, int):
                return f"seed {deal}"
            return encode(deal).decode()
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

    def _deal(self, number: int) -> None:
        deal = self.deals[number]
        if isinstance(deal, int):
            self.episode.reset(deal)
        else:
            self.episode.reset(0, setup=deal)
        self._hear()

    def _hear(self) -> None:
        """Add the new events, and the window that opens, to the texts of the seats."""
        for each in self.episode.told:
            for seat in audience(each, self.episode.seats):
                self.heard[seat] += "\n" + encode(each.event).decode()
        if self.episode.window is not None:
            for seat in self.episode.drafts:
                self.heard[seat] += f"\n{self.episode.window.name}:"


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
        told += replayed.apply(move)
    return [each.event for each in told if each.seat in (None, seat)]


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


class Observer(TextObserver):
    """Observation of a player: the encoder's array, flat. As text: all its events and choices, in order.

    The text is the same for information states and observations: both contain everything the seat has received.
    """

    def __init__(self, game: ArenaGame) -> None:
        super().__init__()
        shape = game.start.encoder.shape
        self.tensor = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fill the tensor with the player's observation; zeros before the deal."""
        if state.dealt:
            self.dict["observation"][:] = state.episode.observation(player)
        else:
            self.tensor[:] = 0


def _type(name: str, *, is_zero_sum: bool = True) -> Any:
    game = GAMES[name]
    seats = game.seats(game.read_options(game.variants[0].name, None))
    fewest, most = _SEATS.get(name, (seats, seats))
    chance, utility = pyspiel.GameType.ChanceMode, pyspiel.GameType.Utility
    return pyspiel.GameType(
        short_name=_short(name),
        long_name=f"{name}, of the arena",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=chance.EXPLICIT_STOCHASTIC if _has_chance(name) else chance.DETERMINISTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility.ZERO_SUM if is_zero_sum else utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=DEFAULTS,
    )


def _has_chance(name: str) -> bool:
    """Return whether a game's deal is drawn."""
    game = GAMES[name]
    variant = game.variants[0].name
    setups = game.setups(variant, game.read_options(variant, None))
    return setups is None or len(setups) > 1


def _class(name: str) -> type[ArenaGame]:
    """Return the class of a game. OpenSpiel calls it with the parameters only."""

    class NamedGame(ArenaGame):
        def __init__(self, params: Mapping[str, Any] | None = None) -> None:
            super().__init__(name, params)

    return NamedGame


def _register() -> dict[str, Any]:
    """Register the games with OpenSpiel, and return their types by name."""
    types = {}
    for name in ENCODERS:
        game = GAMES[name]
        if game.most_choices(game.read_options(game.variants[0].name, None)) is not None:
            types[name] = _type(name)
            pyspiel.register_game(types[name], _class(name))
    return types


_TYPES = _register()
