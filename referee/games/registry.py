"""The rules and encoders of all games, by name; `protocol.games.listing` lists the games."""

from typing import TYPE_CHECKING

from protocol.games.listing import Parts
from referee.rules import AnyGame, Game

if TYPE_CHECKING:
    from referee.encoding import Encoder

GAMES: Parts[AnyGame] = Parts("rules", expected=Game)
"""The rules of each game. A referee process imports only the games that it plays."""
ENCODERS: "Parts[Encoder]" = Parts("encoder")
"""The encoder of observations of each game that has one."""
