"""The sample bots, played against each other in one process: strength and legality, without wire and clock."""

import importlib
from collections.abc import Callable
from functools import wraps
from time import process_time
from typing import Any

from msgspec import Struct

from arena import simulation
from bots.kit import Bot, FunctionBot, Window
from protocol.words import Outcome
from referee.games import GAMES

Maker = Callable[[], Bot[Any, Any]]
MAIN_MS = 60_000
"""Main time of every window, if a test asks for no other."""


def _made(folder: str, name: str) -> Maker:
    """Return a function that makes a fresh bot: bot.py has a class, or a function from window to action."""

    def make() -> Bot[Any, Any]:
        made = getattr(importlib.import_module(f"bots.{folder}.bot"), name)
        return made() if isinstance(made, type) else FunctionBot(made)

    return make


class Bots(dict[str, dict[str, Maker]]):
    """Each game's sample bots; of a game without any, one that takes all defaults."""

    def __missing__(self, game: str) -> dict[str, Maker]:
        return {"random": lambda: FunctionBot(_take_default)}


def _take_default(window: Window[Any]) -> Any:
    return window.default


BOTS = Bots(
    {
        "fight-for-a-name": {
            "random": _made("fight_for_a_name_random", "decide"),
            "herald": _made("fight_for_a_name_herald", "decide"),
            "scout": _made("fight_for_a_name_scout", "decide"),
        },
        "mist": {
            "random": _made("mist_random", "decide"),
            "cautious": _made("mist_cautious", "Cautious"),
            "hunter": _made("mist_hunter", "Hunter"),
            "learned": _made("mist_learned", "MistLearned"),
            "tracker": _made("mist_tracker", "Tracker"),
            "search": _made("mist_search", "Searcher"),
            "planner": _made("mist_planner", "Planner"),
        },
        "hive-mind": {
            "random": _made("hive_mind_random", "decide"),
            "counter": _made("hive_mind_counter", "decide"),
            "reader": _made("hive_mind_reader", "decide"),
        },
        "pointing": {
            "random": _made("pointing_random", "decide"),
            "loyal": _made("pointing_loyal", "decide"),
            "planner": _made("pointing_planner", "decide"),
            "reader": _made("pointing_reader", "decide"),
        },
        "runes-to-ruins": {
            "random": _made("runes_to_ruins_random", "decide"),
            "seeker": _made("runes_to_ruins_seeker", "decide"),
            "veiler": _made("runes_to_ruins_veiler", "decide"),
        },
    }
)
"""Game to its sample bots, the weakest first."""
MIST_BOTS = BOTS["mist"]
MIST_VARIANTS = tuple(variant.name for variant in GAMES["mist"].variants)


class Played(Struct, frozen=True):
    """One match: how it ended, how many windows each seat had, and its slowest answer, by processor time."""

    outcome: Outcome
    windows: tuple[int, ...]
    slowest_ms: tuple[float, ...]


def play(
    makers: tuple[Maker, ...], *, variant: str, seed: int, game: str = "mist", main_ms: int = MAIN_MS
) -> Played:
    """Plays one match to its end, bots in the order of their seats. They are told `main_ms`; no clock runs.

    Raises:
        IllegalActionError: a bot broke a rule.
    """
    bots = [make() for make in makers]
    slowest = [_timed(bot) for bot in bots]
    result = simulation.play(game, bots, variant=variant, seed=seed, clock={"main_ms": main_ms})
    return Played(result.outcome, result.windows, tuple(times[0] for times in slowest))


def _timed(bot: Bot[Any, Any]) -> list[float]:
    """Has a bot's slowest answer measured: the list holds it, in milliseconds of processor time."""
    slowest, decide = [0.0], bot.decide

    @wraps(decide)
    def decide_on_time(window: Window[Any]) -> Any:
        started = process_time()
        try:
            return decide(window)
        finally:
            slowest[0] = max(slowest[0], (process_time() - started) * 1000)

    bot.decide = decide_on_time  # type: ignore[method-assign]
    return slowest
