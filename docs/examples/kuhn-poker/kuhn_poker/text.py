"""Kuhn poker as people and language models read and type it."""

from collections.abc import Sequence
from typing import Any

from kuhn_poker import Dealt, KuhnEvent, KuhnHostView, KuhnView, Moved, Shown, Turn
from protocol.text import Drawing, Example, GameText, InputTerms, Picture, name

CARDS = ("", "jack", "queen", "king")
MEANINGS = {"pass": ("check", "fold"), "bet": ("bet", "call")}
"""Each move to its meaning before and after a bet."""
RULES = """\
KUHN POKER, variant {variant}. Two seats, 0 and 1, and three cards: jack, queen and king, in rising order.

Each seat puts 1 chip into the pot and is dealt a card, which only it sees. Seat 0 moves first, and the seats
take turns. A move is pass or bet. To bet is to put a second chip into the pot, or to call the other seat's bet.
To pass is to check, or to fold after a bet.

If both pass or both bet, both cards are shown, and the higher card wins the pot. A seat that folds loses, and no
card is shown. The winner's score is what the other seat has put into the pot, 1 or 2; the loser's is the same
number, negative.

TIME. If you submit nothing, you pass.
"""


def board(
    view: KuhnView | KuhnHostView, events: Sequence[KuhnEvent], *, plain: bool, told: Sequence[KuhnEvent] = ()
) -> Picture:
    """Draw the cards that the viewer knows, and all moves."""
    del events, plain, told
    picture = Picture()
    if isinstance(view, KuhnHostView):
        picture.append(f"cards: {_both(view.cards)}\n", "bold")
        moves: tuple[str, ...] = view.moves
    else:
        moves = view.moves
        if view.shown:
            picture.append(f"cards: {_both(view.shown)}\n", "bold")
        elif view.card is not None:
            picture.append(f"your card: {CARDS[view.card]}\n", "bold")
    for number, move in enumerate(moves):
        picture.append(f"seat {number % 2}: {_said(moves[:number], move)}\n")
    return picture


def words(event: KuhnEvent) -> str:
    """Return a short text for an event."""
    match event:
        case Dealt(card=card):
            return f"your card is the {CARDS[card]}"
        case Moved(seat=seat, move=move):
            return f"seat {seat}: {move}"
        case Shown(cards=cards):
            return f"the cards are {_both(cards)}"


def _both(cards: Sequence[int]) -> str:
    return f"seat 0 {CARDS[cards[0]]}, seat 1 {CARDS[cards[1]]}"


def _said(before: Sequence[str], move: str) -> str:
    return MEANINGS[move]["bet" in before]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    del window
    typed = text.strip()
    for move, meanings in MEANINGS.items():
        if typed.casefold() in meanings:
            return {"move": move}
    return {"move": name(typed, MEANINGS, "a move")}


def ask(window: str, view: KuhnView) -> str:
    """See `protocol.text.GameText`."""
    del window
    before = view.moves
    return f"pass to {_said(before, 'pass')}, or bet to {_said(before, 'bet')}"


def forms(terms: InputTerms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    del terms
    return {"turn": (("pass", "check, or fold after a bet"), ("bet", "bet, or call"))}


def examples(window: str, view: KuhnView) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    del window
    before = view.moves
    return tuple((move, _said(before, move)) for move in MEANINGS)


def effect(window: str, view: KuhnView, action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    del window
    return f"you {_said(view.moves, action['move'])}"


TEXT = GameText(
    actions={"turn": Turn},
    view=KuhnView,
    event=KuhnEvent,
    drawing=Drawing(board, words),
    read=read,
    ask=ask,
    say=lambda action: str(action["move"]),
    words=lambda _window, _view: tuple(MEANINGS),
    forms=forms,
    examples=examples,
    effect=effect,
    if_nothing=lambda _window, _action: "you pass, which is to check or to fold",
    rules=lambda variant: RULES.format(variant=variant),
    fields=lambda _terms: {
        "seat": "your own",
        "card": "your card: 1 jack, 2 queen, 3 king",
        "moves": "all moves so far; seat 0 made the first, and the seats take turns",
    },
)
"""The entry names this. Each field may be left out: what is missing is JSON."""
