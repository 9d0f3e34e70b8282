"""Plays Runes to Ruins like the seeker, but with veils and a symbol that earns much.

A veil falsifies the answers about this seat to three kinds of question, for one insight, then two: a seat that
trusts these answers is led to wrong symbols, and never finds the right one. The bot's symbol is the best of many
random legal ones, by the income from conditions that depend on symbols alone.
"""

from collections import Counter

from msgspec.structs import replace

from bots.kit import Window, run
from bots.runes_to_ruins import asked, believed, clues, fitting, target_of, vote_of
from protocol.games.runes_to_ruins import ChooseSymbol, PlayRound, RunesView
from protocol.games.runes_to_ruins.runes import NAMES, RUNE
from referee.games import GAMES

RULES = GAMES["runes-to-ruins"]
WALKS, STEPS = 5, 900
VEILS = 2
"""Number of veils in a match, the first of them in its first round."""
SYMBOLS = 100
"""Number of random symbols from which it chooses its own."""


def decide(window: Window[RunesView]) -> ChooseSymbol | PlayRound | None:
    """Return questions, beliefs and a guess about one seat, with a veil in the first rounds."""
    view, rng = window.view, window.rng
    if window.name == "symbol":
        return symbol(window)
    vote = vote_of(view)
    target = target_of(view)
    if target is None:
        return PlayRound(votes=vote)
    drawn = fitting(clues(view, target), rng, walks=WALKS, steps=STEPS)
    insight, price = view.insight or 0, view.veil_cost or 0
    veils = str(view.seat) not in view.discovered and price <= min(VEILS, insight)
    insight -= price if veils else 0
    visions, spent = asked(view, target, drawn, insight)
    return PlayRound(
        votes=vote,
        visions=replace(visions, veil=veils),
        learned=tuple(believed(view, target, drawn, spare=insight - spent > 0)),
        guesses=(tuple(NAMES[rune] for rune in Counter(drawn).most_common(1)[0][0]),),
    )


def symbol(window: Window[RunesView]) -> ChooseSymbol:
    """Return the random legal symbol that uses most groups of both Orders."""
    legal = RULES.legal_actions(window.view, window.view.seat or 0)
    drawn = [legal.sample(window.rng) for _ in range(SYMBOLS)]
    return max((each for each in drawn if isinstance(each, ChooseSymbol)), key=groups)


def groups(chosen: ChooseSymbol) -> int:
    """Return the number of groups that a symbol uses, which is the income from conditions 13 and 14."""
    runes = [RUNE[name] for name in chosen.symbol]
    return len({rune.divine for rune in runes}) + len({rune.mundane for rune in runes})


if __name__ == "__main__":
    run(decide)
