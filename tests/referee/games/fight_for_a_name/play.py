"""Plays The Fight For a Name in tests: moves written as the rules write them, what was told read as JSON.

In `SETUP` hex n has the n-th of six colours, over and over: 1 red, 2 orange, 3 yellow, 4 green, 5 blue, 6 purple,
7 red. Charity is red with orange partings, Courage orange with yellow ones, and so on round the six colours; then
Humility is red with yellow partings, Justice orange with green ones, and so on.
"""

import json
from typing import Any, get_args

from msgspec import Raw
from msgspec.structs import replace

from protocol.codec import encode
from protocol.games.fight_for_a_name import Claim, Colour, FightOptions, Pillar, Title, Visit
from referee.games.fight_for_a_name.game import FightForAName
from referee.games.fight_for_a_name.state import FightSeat, FightState
from referee.rules.rng import MatchRandom
from referee.rules.table import Deal, Table
from tests.referee.games.playing import Heard, close

FIGHT = FightForAName()
COLOURS = list(get_args(Colour))
TITLES = list(get_args(Title))
PILLARS = list(get_args(Pillar))


def _shown(numbers: set[int]) -> list[list[str]]:
    """Return the titles of those numbers, and the rest: two pillars that show each title once between them."""
    return [[t for n, t in enumerate(TITLES) if (n in numbers) is here] for here in (True, False)]


SETUP: dict[str, Any] = {
    "colours": {str(n): COLOURS[(n - 1) % 6] for n in range(1, 37)},
    "titles": {
        title: {"body": COLOURS[n % 6], "parting": COLOURS[(n + 1 + n // 6) % 6]} for n, title in enumerate(TITLES)
    },
    "pillars": dict(
        zip(
            PILLARS,
            _shown({0, 1, 2, 3, 4, 5})
            + _shown({0, 2, 4, 6, 8, 10})
            + _shown({0, 1, 4, 5, 8, 9})
            + _shown({0, 1, 2, 6, 7, 8})
            + _shown({0, 1, 2, 9, 10, 11}),
            strict=True,
        )
    ),
    "challenge": {"numbers": [3, 5, 8, 13, 21, 34, 55, 89], "target": 26},
}
ON_PILLAR = {"phi": ["N"] * 4, "psi": ["S"] * 4, "delta": ["NW"] * 4, "gamma": ["SE"] * 4}
"""Some pillars, and how to go there from Start."""


def setup_but(**changed: Any) -> dict[str, Any]:
    """Copy `SETUP` with a part of it changed."""
    spoilt: dict[str, Any] = json.loads(json.dumps(SETUP | changed))
    return spoilt


def start(rounds: int = 12, setup: Any = None, seed: int = 0) -> Table:
    """Begin a match whose first round is about to be moved."""
    table = begun(rounds, setup, seed)
    close(table, {})
    return table


def begun(rounds: int = 12, setup: Any = None, seed: int = 0) -> Table:
    """Begin a match whose timed game is open."""
    return Table(FIGHT, Deal("guardians", seed, Raw(encode({"rounds": rounds})), Raw(encode(setup or SETUP))))


def rest(table: Table, rounds: int = 1) -> Heard:
    """So many rounds in which nobody does anything; pillars that are open are left unasked."""
    heard = Heard([], [], {})
    for _ in range(rounds):
        assert table.window is not None
        assert table.window.name == "move"
        heard = close(table, {})
    return heard


def move(table: Table, **paths: str) -> Heard:
    """Close a round of moves: `s3="N NE"` for the path of seat 3."""
    return close(table, {int(seat[1:]): {"path": path.split()} for seat, path in paths.items()})


def ask(shown: list[str], **changed: Any) -> dict[str, Any]:
    """Make what a visitor asks of a pillar that shows these titles."""
    colours = iter(["red", "orange", "yellow"])
    asked: dict[str, Any] = {
        key: [title, next(colours)] for key, title in zip(("body", "parting", "other"), shown, strict=False)
    }
    return asked | {"neither": sorted(shown[3:5]), "crest": shown[5]} | changed


def player(at: str | None = "Start", crests: str = "", mp: int = 0, reached: str = "", **hexes: int) -> FightSeat:
    """Make a seat; `h7=4`: 4 MP spent on hex 7 in one landing, strength 5. Crests: of round 1, or `Title:n`."""
    spent = {name[1:]: hexes[name] for name in sorted(hexes, key=lambda name: int(name[1:]))}
    return FightSeat(
        position=at,
        mp=mp,
        crests={name.split(":")[0]: int((name + ":1").split(":")[1]) for name in sorted(crests.split())},  # type: ignore[misc]
        strengths={name: amount + 1 for name, amount in spent.items()},
        spent={name: amount for name, amount in spent.items() if amount},
        reached=tuple(map(int, reached.split())),
    )


def position(
    players: dict[int, FightSeat], *, round_: int = 6, rounds: int = 12, claims: str = "", **more: Any
) -> Table:
    """Make a match in which moves are due; others idle on Start. `claims="Hope:3:2"`: by seat 3 in round 2.

    Players' MP are those after this round's income.
    """
    table = start(rounds)
    claimed = {
        title: Claim(seat=int(seat), round=int(number))
        for title, seat, number in sorted(claim.split(":") for claim in claims.split())
    }
    without = FightSeat(position=None)
    titled = {claim.seat: replace(without, crests={title: 1}) for title, claim in claimed.items()}
    everyone = {seat: FightSeat() for seat in range(13)} | titled | players
    state = FightState(
        options=FightOptions(rounds=rounds),
        setup=FIGHT_SETUP,
        phase="move",
        round=round_,
        challenge=tuple(range(13)),
        players=tuple(everyone[seat] for seat in range(13)),
        claims=claimed,  # type: ignore[arg-type]
    )
    return in_state(table, replace(state, **more))


def in_state(table: Table, state: FightState) -> Table:
    """Put the table into another state."""
    table.state, table.window, table.outcome = state, FIGHT.window(state), FIGHT.outcome(state)
    return table


def visiting(pillar: str, at_round: int = 1) -> Visit:
    """Make an earlier visit, unasked."""
    return Visit(round=at_round, pillar=pillar, titles=tuple(SETUP["pillars"][pillar]))  # type: ignore[arg-type]


FIGHT_SETUP = FIGHT.read_setup("guardians", FightOptions(), Raw(encode(SETUP)), MatchRandom(0))
