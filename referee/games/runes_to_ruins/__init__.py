"""The rules of Runes to Ruins. Numbers like R5 are the rulings in docs/games/runes_to_ruins.md.

`game` is the entry: the contract of a game. Behind it: `symbols` (what is legal), `checking` (what may be
submitted, and what it costs), `opening` (round 1), `rounds` (how a round is resolved) with `visions`, `mirrors`,
`learned`, `guesses`, `conditions` and `mantra` for its parts, `ending`, and `views`. `state` is what they hand
each other.
"""

from referee.games.runes_to_ruins.game import RunesToRuins

__all__ = ["RunesToRuins"]
