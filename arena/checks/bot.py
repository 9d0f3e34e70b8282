"""One bot's check: matches of each of its games against the random bot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from arena.checks.tally import Tally, tally
from arena.checks.trials import Order, Trial, order, play_trials
from arena.workers import Venue
from referee.host import Plan

PlayerT = TypeVar("PlayerT")


class GameCheck(Struct, Generic[PlayerT], frozen=True):
    """A game in which the bot is checked."""

    plan: Plan
    """Plan of its matches, except for their seeds."""
    seed: int | None
    """Seed of the first match, increased by 1 for each later one; None: each match draws its own."""
    seats: int
    label: str
    """Name of the bot in reports."""
    opponent: PlayerT
    """Bot in all other seats."""


def check_bot(
    games: Sequence[GameCheck[PlayerT]], bot: PlayerT, matches: int, open_venue: Venue[PlayerT], folder: Path
) -> list[tuple[Tally, list[Trial]]]:
    """Play a number of matches of each game; the bot's seat rotates.

    If the bot never starts in the first match of a game, no further match of that game is played.

    Raises:
        WrongUse: the folder cannot be written.
        MachineCannot: no match can be played now.
        Stopped: a signal arrived.
    """
    first = play_trials([_order(game, bot, 0) for game in games], open_venue, folder, words="starting")
    started = [place for place, trial in enumerate(first) if trial.started]
    rest = [(place, number) for place in started for number in range(1, matches)]
    orders = [_order(games[place], bot, number) for place, number in rest]
    later = play_trials(orders, open_venue, folder, words="matches") if orders else []
    trials = [[trial] for trial in first]
    for (place, _), trial in zip(rest, later, strict=True):
        trials[place].append(trial)
    return [(tally(each), each) for each in trials]


def _order(game: GameCheck[PlayerT], bot: PlayerT, number: int) -> Order[PlayerT]:
    return order(
        f"{game.plan.game}-{number + 1:02d}",
        game.plan,
        bot,
        game.opponent,
        seats=game.seats,
        seat=number % game.seats,
        label=game.label,
        seed=None if game.seed is None else game.seed + number,
    )
