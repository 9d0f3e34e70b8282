"""Kuhn poker: its entry for the arena, and its words."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from protocol.games import GameEntry
from protocol.words import Action, Audience, Event, Options, Setup, View

GAME = GameEntry(
    rules="kuhn_poker.rules:KuhnPoker",
    text="kuhn_poker.text:TEXT",
    drawing="kuhn_poker:drawing.js",
    encoder="kuhn_poker.encoder:KuhnEncoder",
    commentary="kuhn_poker.commentary:COMMENTARY",
    minute="kuhn_poker:minute.toml",
)
"""Places of the parts of the game. The entry point in pyproject.toml names this."""

Card = Annotated[int, Meta(ge=1, le=3)]
"""1 jack, 2 queen, 3 king."""
Move = Literal["pass", "bet"]
"""`pass` is to check, or to fold after a bet; `bet` is to bet, or to call."""


class KuhnOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kuhn poker has no options."""


class KuhnSetup(Setup, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The deal."""

    cards: tuple[Card, Card]
    """Each seat's card, indexed by seat."""


class Turn(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `turn`: the seat's move."""

    move: Move


class Dealt(Event, frozen=True, kw_only=True, tag="dealt"):
    """The seat's own card."""

    card: Card


class Moved(Event, frozen=True, kw_only=True, tag="moved"):
    """A move, which all see."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seat: int
    move: Move


class Shown(Event, frozen=True, kw_only=True, tag="shown"):
    """Both cards, after a bet was called or both seats passed."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    cards: tuple[Card, Card]


KuhnEvent = Dealt | Moved | Shown


class KuhnView(View, frozen=True, kw_only=True):
    """Knowledge of one seat, or of a spectator (`seat` null)."""

    seat: int | None
    card: int | None
    """The seat's own card; null for a spectator."""
    moves: tuple[Move, ...]
    """All moves so far; seat 0 made the first, and the seats take turns."""
    shown: tuple[int, ...]
    """Both cards once they are shown, indexed by seat; empty before, and if a seat folded."""


class KuhnHostView(View, frozen=True, kw_only=True):
    """Everything."""

    cards: tuple[int, int]
    moves: tuple[Move, ...]
