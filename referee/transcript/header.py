"""Checks that the terms in a transcript's header are possible for a match. Pure.

A match is dealt from them, so impossible terms must be found before.
"""

from typing import Any

import msgspec
from msgspec import UNSET

from protocol.messages import ClockTerms
from referee.games import GAMES
from referee.match import LONGEST_MS, MOST_WALL_FACTOR, Header, Policy, SeatHeader
from referee.rules import BadSetupError, Deal, Game, Table


class BadTermsError(ValueError):
    """Terms are not possible for a match. The text names the field."""


def dealt(header: Header) -> tuple[Table, Policy]:
    """Return the table that a header describes, and the match's policy.

    Raises:
        BadTermsError: there is no such game, variant or policy, they contradict one another, or the options or
        setup
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
    """Check the terms of a seat's own transcript.

    Raises:
        BadTermsError: they are not possible.
    """
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
