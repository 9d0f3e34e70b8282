"""What Hive Mind lends to conformance: a forger of histories that look alike from a seat.

It gives the Hives values that fit the observer's hints, lets two others exchange all their placements, and
changes what others guess and block in secret. The naive implementation says whether the observer is told the same.
"""

import json
from random import Random
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games.hive_mind import Round
from referee.proofs.conformance.sitting import Chosen, Observer
from referee.proofs.conformance.swaps import History
from referee.rules.contract import ResolvedAction
from referee.rules.table import Deal
from tests.referee.games.hive_mind.naive import CELLS, SEATS, SHAPES, NaiveHiveMind
from tests.referee.games.hive_mind.random_actions import guess, values

FORGERIES = 6
"""How many histories are tried for one that the observer cannot tell apart."""
LAYOUTS = 300
"""How many layouts are tried for one that fits a seat's hints."""

Tale = tuple[Any, ...]
"""What an observer was told and what was opened to it, as text; with the windows a spectator sees close."""


def forge(deal: Deal, history: History, observer: Observer, rng: Random) -> tuple[Deal, History] | None:
    """Another deal and history in which, by the rules, the observer is told the same."""
    tale = told(deal, history, observer)
    if tale is None:
        return None
    for _ in range(FORGERIES):
        forged = changed(deal, history, observer, rng)
        if forged != (deal, history) and told(*forged, observer) == tale:
            return forged
    return None


def told(deal: Deal, history: History, observer: Observer) -> Tale | None:
    """Return what the observer is told, by the naive rules; None once all is revealed, or if it is not legal."""
    garnets = json.loads(bytes(deal.options or b"{}")).get("garnets")
    match = NaiveHiveMind(deal.variant, garnets, json.loads(bytes(deal.setup or b""))["hives"])
    tale: list[Any] = []
    for chosen in history:
        window = match.window()
        if window is None or window[1] != list(chosen):
            return None
        actions = {seat: json.loads(encode(part.action)) for seat, part in chosen.items()}
        if any(action is not None and match.legal(seat, action) != action for seat, action in actions.items()):
            return None
        for to, event in match.play(actions, 0):
            tale += [event] if to in (None, observer) else []
        opened = match.window()
        if opened is None:
            return None
        tale += [opened, match.candidates() if opened[0] == "break_tie" else []] if observer in opened[1] else []
        tale += [opened[0] in ("round", "scores")]
    return tuple(json.dumps(each) for each in tale)


def changed(deal: Deal, history: History, observer: Observer, rng: Random) -> tuple[Deal, History]:
    """Make a deal and history that the observer may not be able to tell from these."""
    hives = json.loads(bytes(deal.setup or b""))["hives"]
    mine = [] if observer is None else [rounds[observer].place for chosen in history if (rounds := parts(chosen))]
    for hive, initial in hives.items():
        looked = [SHAPES[place[hive]][1] for place in mine if hive in place]
        hives[hive] = fitting(initial, looked, rng)
    others = [seat for seat in SEATS if seat != observer]
    one, two = rng.sample(others, 2)
    swapped = {one: two, two: one}
    new = tuple(exchanged(chosen, swapped, others, rng) for chosen in history)
    return replace(deal, setup=Raw(encode({"hives": hives}))), new


def fitting(initial: str, looked: list[str], rng: Random) -> str:
    """Other values of a Hive of which some hexes sum up to the same."""

    def sums(digits: str) -> list[int]:
        return [sum(int(digits[CELLS.index(cell)]) for cell in cells) for cells in looked]

    for _ in range(LAYOUTS):
        other = values(rng)
        if sums(other) == sums(initial):
            return other
    return initial


def exchanged(chosen: Chosen, swapped: dict[int, int], others: list[int], rng: Random) -> Chosen:
    """Let two seats of a window change places, and others guess and block something else."""
    new, rounds = {**chosen}, parts(chosen)
    for seat in others if rounds else ():
        own = rounds[seat]
        guesses = {hive: guess(digits, rng) for hive, digits in own.guess.items()}
        block = own.block if rng.random() < 1 / 2 else ()
        place = rounds[swapped.get(seat, seat)].place
        new[seat] = ResolvedAction(replace(own, place=place, guess=guesses, block=block))
    return new


def parts(chosen: Chosen) -> dict[int, Round]:
    """Return what each seat submitted to a round; nothing of another window."""
    return {seat: part.action for seat, part in chosen.items() if isinstance(part.action, Round)}
