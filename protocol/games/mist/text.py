"""Mist in text, for people and language models.

What a person types: `C3 D7`, `none`, `swap`, `first 0`. The rules in one page: docs/games/mist.md, R1 to R11.
"""

from typing import Any

from protocol.games.mist import ChooseFirst, MistEvent, MistView, Turn, drawing
from protocol.games.mist.board import BOARD, CENTRE
from protocol.text import Drawing, Example, GameText, InputTerms, ParseError, quoted, series

HEAVEN = "heaven-and-hell"
NUMBERS = ("no", "one", "two", "three")
STRIDE = 17
"""Cells between the examples of one turn and of the next."""


def forms(terms: InputTerms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    turn: tuple[Example, ...] = (
        ("CELL", "one piece: a letter A to I and a number"),
        ("CELL CELL", "two pieces"),
        ("CELL CELL CELL", "three pieces, but not on the first turn of the match"),
    )
    if terms.variant == HEAVEN:
        turn += (
            ("none", "no piece"),
            ("swap", "take over the other's first move; on the second turn of the match"),
        )
    chooses = terms.options.get("first", "choose") == "choose" and terms.options.get("advantage", 0) == terms.seat
    windows: dict[str, tuple[Example, ...]] = {}
    if chooses:
        windows["first"] = (("first SEAT", "that seat goes first, 0 or 1"),)
    return windows | {"turn": turn}


def examples(window: str, view: MistView) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    if window == "first":
        return ("first 0", "seat 0 goes first"), ("first 1", "seat 1 goes first")
    least, most = view.pieces
    start = STRIDE * view.turn % len(BOARD.names)
    free = BOARD.all & ~BOARD.mask(view.forbidden) & ~CENTRE
    free &= ~BOARD.mask(cell for cell, held in view.visible.items() if held != "empty")
    cells: list[str] = []
    for cell in (*BOARD.names[start:], *BOARD.names[:start]):
        if BOARD.bit[cell] & free and len(cells) < most:
            cells.append(cell)
            free &= ~BOARD.grow(BOARD.bit[cell])
    shown = [(" ".join(cells[:n]), f"{n} piece{'s' * (n > 1)}") for n in range(1, len(cells) + 1)]
    if least == 0:
        shown.append(("none", "no piece"))
    if view.may_swap:
        shown.append(("swap", "take over the other's first move"))
    return tuple(shown)


def effect(window: str, view: MistView, action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "you go first" if action["first"] == view.seat else f"seat {action['first']} goes first"
    if action.get("swap"):
        return "you take over the other's first move"
    cells = action["cells"]
    if not cells:
        return "you place no piece"
    pieces = "a piece" if len(cells) == 1 else f"{NUMBERS[len(cells)]} pieces"
    return f"you place {pieces}, on {series(cells)}"


def if_nothing(window: str, action: dict[str, Any] | None) -> str:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "you go first"
    if action and action.get("cells"):
        return f"you place one piece on {' '.join(action['cells'])}, which is destroyed"
    return "you place no piece"


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    words = text.replace(",", " ").lower().split()
    if window == "first":
        if words and words[0] == "first":
            words = words[1:]
        if len(words) != 1 or words[0] not in ("0", "1"):
            raise ParseError("type first 0 or first 1")
        return {"first": int(words[0])}
    if words == ["swap"]:
        return {"swap": True}
    if words == ["none"]:
        words = []
    return {"cells": list(map(_cell, words))}


def _cell(word: str) -> str:
    cell = word.upper()
    if cell in BOARD.bit:
        return cell
    there = "rows are A to I, from A1 to A5 and E1 to E9"
    row = [each for each in BOARD.names if each[0] == cell[0]]
    if row:
        there = f"row {cell[0]} is {row[0]} to {row[-1]}"
    raise ParseError(f"{quoted(cell)} is no cell: {there}")


def ask(window: str, view: MistView) -> str:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "who goes first: first 0 or first 1"
    least, most = view.pieces
    parts = [f"{least} to {most} cells that do not touch"]
    if view.forbidden:
        parts.append(f"not {' '.join(view.forbidden)}")
    if least == 0:
        parts.append("or none")
    if view.may_swap:
        parts.append("or swap")
    return ", ".join(parts)


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "first" in action:
        return f"first {action['first']}"
    return "swap" if action.get("swap") else " ".join(action["cells"]) or "none"


def words(window: str, view: MistView) -> tuple[str, ...]:
    """See `protocol.text.GameText`."""
    if window == "first":
        return "first 0", "first 1"
    forbidden = view.forbidden
    return "none", "swap", *(cell for cell in BOARD.names if cell not in forbidden)


_PAGE = """\
MIST, variant {variant}. Two seats, 0 and 1. The seat with the larger connected group of pieces at the end wins.

BOARD. Nine rows, A to I from top to bottom, with 5, 6, 7, 8, 9, 8, 7, 6 and 5 cells, numbered from 1 at the left.
A cell's neighbours are the two beside it in its row and the two that it touches in each neighbouring row: those of
C3 are B2, B3, C2, C4, D3 and D4; those of G3 are F3, F4, G2, G4, H2 and H3; those of E5, the centre, are D4, D5,
E4, E6, F4 and F5. The distance of two cells is the number of steps from neighbour to neighbour. No piece ever
stays on E5, so 60 cells can be taken. For distance and vision E5 is a cell like any other.

WHO GOES FIRST. If the option first is "choose", the seat with the option advantage names the first player in the
window first. All are told. If it names nobody, it goes first itself. If the option first is a seat, that seat goes
first.

A TURN. The seats take turns. The mover names cells; on each one it places a piece. The cells of one turn must
differ, and no two of them may be neighbours. A cell that you cannot see, or know to be taken, may be named. {turn}

VISION. You see every cell within a radius of any piece that you placed on your own last turn, destroyed or not.
The radius is 3 if you placed one piece, 1 if two, 0 (only the cell itself) if three. With no piece you see
nothing. Your vision begins when you have placed, and ends just after the other seat has placed. So on your own
turn you place from memory: your view shows the board as you were told it last.

SPOTTING. Your spotting is your vision, counted only from those of your last turn's pieces that were not destroyed.
A piece that the other seat places in your spotting is spotted, and the same holds for you in the other's spotting.

WHAT IS DESTROYED. All pieces of a turn are judged at once, against the board as it was before the turn. A piece is
destroyed
- if it is one of two or three that were placed together, and it is spotted. Only the spotted ones are destroyed. A
  single piece is never destroyed for being spotted;
- if its cell already holds a piece, of either seat (the piece that was there stays);
{centre}Whatever is not destroyed stays for good.

WHAT YOU ARE TOLD. As the mover: which of your pieces were destroyed, never why, and your new vision. As the other
seat: which of the mover's pieces you spotted, which pieces in your vision were destroyed, and what your vision
shows after the turn{placed}. You are not told how many pieces were placed elsewhere. The cells of the first turn
of the match are told to all.

THE END. After each turn the match is over if all 60 cells are taken, or if one seat would win even if every empty
cell went to the other, or after the number of turns in the option max_turns (a swap counts as a turn).

THE WINNER. Each seat's groups of connected pieces are listed by size, the largest first. The first difference of
the two lists decides; a list that ends earlier loses. If the lists are equal, the seat in the option advantage
wins.

TIME. If you submit nothing in a turn, {default}. The other seat is not told that your time ran out.
"""
_VARIANTS = {
    "contractual-obligation": {
        "turn": (
            "You place 1 to 3 pieces. On the first turn of the match the mover places 1 or 2 pieces, none "
            "of them on D4, D5, E4, E6, F4 or F5. E5 may be named on any turn, but the piece there is "
            "destroyed."
        ),
        "centre": "- if it is on E5. It gives vision all the same, but it spots nothing.\n",
        "placed": "",
        "default": "one piece is placed on E5 for you",
    },
    "heaven-and-hell": {
        "turn": (
            "You place 0 to 3 pieces. On the first turn of the match the mover places 0 to 2 pieces. E5 "
            "may never be named. On the second turn of the match the mover may swap in place of placing: "
            "the pieces on the board change owner, and with them the vision and the spotting that they "
            "gave, at the radius at which they were placed; the other seat has none then. An empty first "
            "turn may be swapped, too. All are told. A swap is a whole turn: the first player moves next, "
            "and may not swap back."
        ),
        "centre": "",
        "placed": ", with every piece that was placed in it, spotted or not",
        "default": "you place no pieces",
    },
}


def page(variant: str) -> str:
    """See `protocol.text.GameText.rules`."""
    return _PAGE.format(variant=variant, **_VARIANTS[variant])


_FIELDS = {
    "seat": "your own",
    "turn": "the turn being played, from 1; 0 in the window first",
    "mover": "whose turn it is; null in the window first",
    "pieces": "the least and the most cells that this turn may name",
    "forbidden": "cells that this turn may not name",
    "first_move": "the cells of the first turn of the match; null before it",
    "visible": (
        "each cell in your vision, as you were told it last, to what it holds: own, opponent, empty, blocked (E5)"
    ),
    "spotted": "the pieces of the opponent's last turn that you spotted",
    "destroyed": "the pieces of the opponent's last turn that were destroyed in your vision",
    "placed": "the cells that you named on your own last turn",
    "lost": "those of them whose pieces were destroyed",
}
_PIE_RULE = {
    "may_swap": "whether this turn may be a swap",
    "swapped": "whether a swap was made",
}


def fields(terms: InputTerms) -> dict[str, str]:
    """See `protocol.text.GameText`."""
    return _FIELDS | (_PIE_RULE if terms.variant == "heaven-and-hell" else {})


TEXT = GameText(
    actions={"first": ChooseFirst, "turn": Turn},
    view=MistView,
    event=MistEvent,
    drawing=Drawing(drawing.board, drawing.words),
    read=read,
    ask=ask,
    say=say,
    words=words,
    forms=forms,
    examples=examples,
    effect=effect,
    if_nothing=if_nothing,
    rules=page,
    fields=fields,
)
