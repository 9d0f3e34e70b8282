"""Whether the terms in a transcript's header are ones that a match can have. Pure.

A match is dealt from them and runs by them, so what makes no match is found before one is made of it.
"""

from typing import Any

import msgspec
from msgspec import UNSET

from protocol.messages import ClockTerms
from referee.games import GAMES
from referee.match import LONGEST_MS, MOST_WALL_FACTOR, Header, Policy, SeatHeader
from referee.rules import BadSetupError, Deal, Game, Table


class BadTermsError(ValueError):
    """Terms that no match has. The text names the field."""


def dealt(header: Header) -> tuple[Table, Policy]:
    """The table of a match as its header says, and its policy.

    Raises:
        BadTermsError: there is no such game, variant or policy, they do not go together, or the options or setup
            break the game's rules.
    """
    game = _game(header)
    try:
        table = Table(game, Deal(header.variant, header.seed, header.options, header.setup))
        policy = msgspec.convert(header.policy, Policy)
    except BadSetupError as error:
        raise BadTermsError(str(error)) from None
    except msgspec.ValidationError as error:
        raise BadTermsError(f"policy: {error}") from None
    if len(header.bots) != table.seats:
        raise BadTermsError(f"bots: {len(header.bots)} for the {table.seats} seats of {game.name}")
    _check_clock(header.clock, game, header.variant)
    if (header.clock.pauses, header.clock.pause_ms, header.clock.pacing) != (
        policy.pauses,
        policy.pause_ms,
        policy.pacing,
    ):
        raise BadTermsError("clock: its pauses and pacing are not the policy's")
    return table, policy


def check_seat_terms(header: SeatHeader) -> None:
    """The same, as far as one seat's own transcript says its terms. Raises BadTermsError."""
    game = _game(header)
    try:
        seats = game.seats(game.read_options(header.variant, header.options))
    except BadSetupError as error:
        raise BadTermsError(str(error)) from None
    if header.seats != seats:
        raise BadTermsError(f"seats: {header.seats}, and {game.name} has {seats}")
    _check_clock(header.clock, game, header.variant)


def _game(header: Header | SeatHeader) -> Game[Any]:
    if header.game not in GAMES:
        raise BadTermsError(f"game: there is no {header.game!r}; there are {', '.join(GAMES)}")
    game = GAMES[header.game]
    if header.variant not in (variants := [variant.name for variant in game.variants]):
        raise BadTermsError(f"variant: {game.name} has no {header.variant!r}; it has {', '.join(variants)}")
    return game


def _check_clock(terms: ClockTerms, game: Game[Any], variant: str) -> None:
    windows = game.variant(variant).time.main_ms
    if terms.main_ms.keys() != windows.keys():
        raise BadTermsError(f"clock.main_ms: the windows are {', '.join(windows)}")
    times = {
        **{f"main_ms.{window}": main_ms for window, main_ms in terms.main_ms.items()},
        "reserve_ms": terms.reserve_ms,
        "pauses": terms.pauses,
        "pause_ms": terms.pause_ms,
        "increment_ms": terms.increment_ms,
        "bronstein_ms": terms.bronstein_ms,
    }
    for field, value in times.items():
        if value is not UNSET and not 0 <= value <= LONGEST_MS:
            raise BadTermsError(f"clock.{field}: from 0 to {LONGEST_MS}")
    if terms.pacing not in ("prompt", "fixed"):
        raise BadTermsError("clock.pacing: prompt or fixed")
    if terms.kind not in (UNSET, "cpu"):
        raise BadTermsError("clock.kind: cpu, or left out")
    if (terms.wall_factor is UNSET) != (terms.kind is UNSET):
        raise BadTermsError("clock.wall_factor: of a cpu clock, and only of one")
    if terms.wall_factor is not UNSET and not 1 <= terms.wall_factor <= MOST_WALL_FACTOR:
        raise BadTermsError(f"clock.wall_factor: from 1 to {MOST_WALL_FACTOR}")
