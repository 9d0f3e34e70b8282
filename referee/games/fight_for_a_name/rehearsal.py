"""Purposeful play and disguised states of The Fight For a Name, for conformance tests and golden matches.

Uniformly random actions would hardly ever question a pillar or make a banner. No rule of a match depends on this.
"""

from functools import cache, lru_cache
from itertools import chain, combinations
from random import Random
from typing import assert_never

from msgspec.structs import replace

from protocol.games.fight_for_a_name import Ask, Colour, HexKey, Move, Pick, Puzzle, Title, Vote
from protocol.games.fight_for_a_name.board import (
    COLOURS,
    HEXES,
    OPPOSITE,
    PILLARS,
    START,
    TITLES,
    Path,
    visits,
    walks,
)
from protocol.words import Action
from referee.games.fight_for_a_name.seen import voters
from referee.games.fight_for_a_name.state import (
    FEW,
    SEAT_KEYS,
    SEATS,
    Amounts,
    FightSeat,
    FightState,
    Phase,
    drawn_pillars,
    drawn_titles,
    in_final_phase,
    on_board,
    winners,
)
from referee.rules import choice, remembered, sample

STAYS_IDLE = 9 / 10
"""Probability that a seat without any action so far is idle again, so that seats tie for elimination (R10)."""
OFTEN, SELDOM = 3 / 4, 1 / 5
PLENTY = 9
"""Exclusive upper bound of the amounts drawn in place of those hidden from an observer."""
FAR = 8
"""Upper bound of the steps of a straight path to a pillar, and of a shortest path to a hex."""


def plausible(state: FightState, seat: int, rng: Random) -> Action | None:
    """Return a legal action, sometimes a good one, or None if any action will do."""
    player = state.players[seat]
    match state.phase:
        case "challenge":
            return _right_pick(state.setup.challenge) if rng.random() < OFTEN else None
        case "move" if player.position is None:
            return _gifts(state, player, rng)
        case "move":
            return _move(state, player, rng)
        case "pillar":
            return _ask(player, rng) if player.visits else None
        case "token_vote" | "elimination_vote" | "justice":
            return Vote(seat=choice(rng, state.candidates))
        case "over":
            raise AssertionError("no window is open")
        case _ as unreachable:
            assert_never(unreachable)


@lru_cache(maxsize=64)
def _right_pick(puzzle: Puzzle) -> Pick:
    """Return the first of the smallest right picks. Cached because all seats solve the same puzzle."""
    counts = range(1, len(puzzle.numbers) + 1)
    picks = chain.from_iterable(combinations(range(len(puzzle.numbers)), count) for count in counts)
    sums = chain.from_iterable(map(sum, combinations(puzzle.numbers, count)) for count in counts)
    return Pick(pick=next(pick for pick, total in zip(picks, sums, strict=True) if total == puzzle.target))


def _gifts(state: FightState, player: FightSeat, rng: Random) -> Move:
    seats = [SEAT_KEYS[seat] for seat in on_board(state) if seat != player.barred]
    if not seats or rng.random() < SELDOM:
        return Move()
    if len(seats) > 1 and rng.random() < OFTEN:
        return Move(give=dict.fromkeys(sorted(sample(rng, seats, 2), key=int), 1))
    return Move(give={choice(rng, seats): choice(rng, (1, 2, 2))})


def _ask(player: FightSeat, rng: Random) -> Ask:
    body, parting, other, one, two, crest = sample(rng, player.visits[-1].titles, 6)
    colours = rng.choices(COLOURS, k=3)
    return Ask(
        body=(body, colours[0]),
        parting=(parting, colours[1]),
        other=(other, colours[2]),
        neither=(one, two),
        crest=crest,
    )


def _move(state: FightState, player: FightSeat, rng: Random) -> Move:
    """Return a move to a pillar for a crest or, with a crest, to a hex of a colour that its banner lacks.

    In the final phase the remaining MP may reinforce a hex.
    """
    idle = not player.crests and not player.spent and not player.visits
    if idle and rng.random() < STAYS_IDLE:
        return Move()
    place = player.position or START
    titles = [title for title in player.crests if title not in state.claims]
    to_pillar: list[Path] = []
    if not titles or rng.random() <= SELDOM:
        visited = {visit.pillar for visit in player.visits}
        to_pillar = [path for pillar, path in _ways_to_pillars(place) if pillar not in visited]
    if to_pillar:
        path = _one_of([path for path in to_pillar if len(path) <= player.mp], rng)
    else:
        colours = _colours_wanted(state, player, choice(rng, titles)) if titles else COLOURS
        of, ways = _coloured(state), _ways_to_hexes(place, min(player.mp, FAR))
        path = _padded(_one_of([path for name, path in ways if of[name] in colours], rng), player, rng)
    left = player.mp - len(path)
    if not left or not in_final_phase(state):
        return Move(path=path)
    hexes = [HEXES[number - 1] for number in player.reached if number not in state.white]
    if not hexes or rng.random() < SELDOM:
        return Move(path=path)
    return Move(path=path, reinforce={choice(rng, hexes): choice(rng, range(1, left + 1))})


def _one_of(paths: list[Path], rng: Random) -> Path:
    """Return one of the paths, or the empty path if there are none."""
    return choice(rng, paths or [()])


def _colours_wanted(state: FightState, player: FightSeat, title: Title) -> tuple[Colour, ...]:
    """Return the banner's colours for which the seat has strength on too few hexes, or both if it lacks none."""
    banner, of = state.setup.titles[title], _coloured(state)
    has = [of[name] for name in player.strengths]
    lacking = ((banner.body, has.count(banner.body) < 1), (banner.parting, has.count(banner.parting) < 2))  # noqa: PLR2004
    return tuple(colour for colour, lacks in lacking if lacks) or (banner.body, banner.parting)


def _padded(path: Path, player: FightSeat, rng: Random) -> Path:
    """Return the path with some steps back and forth at its end: every MP spent adds strength."""
    spare = (player.mp - len(path)) // 2
    if len(path) <= 1 or spare < 1:
        return path
    back = OPPOSITE[path[-1]]
    return path + (back, path[-1]) * choice(rng, range(spare + 1))


@remembered
def _coloured(state: FightState) -> dict[HexKey, Colour | None]:
    """Return the colour of each hex, or None if it is white."""
    return {**state.setup.colours, **dict.fromkeys(map(str, state.white))}


@cache
def _ways_to_pillars(place: str) -> tuple[tuple[str, Path], ...]:
    """Return the pillars that straight paths reach, with these paths."""
    return tuple(visits(place, FAR, ()))


@cache
def _ways_to_hexes(place: str, mp: int) -> tuple[tuple[HexKey, Path], ...]:
    """Return the hexes in reach, nearest first, with a shortest path to each. The board never changes."""
    return tuple((name, path) for name, path in walks(place, mp).items() if name in HEXES)


def disguised(state: FightState, observer: int | None, rng: Random) -> FightState:
    """Return another state that the observer cannot distinguish: redraw everything that is hidden from it."""
    hidden = _other_secrets(state, rng) if state.phase != "over" else state
    players = tuple(
        replace(player, income=rng.randrange(PLENTY)) if seat == observer else _other_player(state, player, rng)
        for seat, player in enumerate(state.players)
    )
    after = replace(hidden, players=players)
    if state.phase == "pillar":
        return _other_visits(after, observer, rng)
    return after if state.phase in ("challenge", "move", "over") else _other_votes(after, observer, rng)


def _other_secrets(state: FightState, rng: Random) -> FightState:
    pillars = dict(zip(PILLARS, drawn_pillars(rng), strict=True))
    setup = replace(state.setup, titles=drawn_titles(rng), pillars=pillars)
    return replace(state, setup=setup, challenge=tuple(rng.sample(state.challenge, len(state.challenge))))


def _other_player(state: FightState, player: FightSeat, rng: Random) -> FightSeat:
    """Return the player with its private facts redrawn; crests and strengths are public after the match."""
    over = state.phase == "over"
    crests: dict[Title, int] = dict.fromkeys(sorted(rng.sample(TITLES, rng.randrange(FEW))), 1)
    return replace(
        player,
        mp=rng.randrange(PLENTY),
        income=rng.randrange(PLENTY),
        crests=player.crests if over else crests,
        strengths=player.strengths if over else _amounts(rng),
        spent=_amounts(rng),
        reached=tuple(sorted(rng.sample(range(1, len(HEXES) + 1), FEW))),
        visits=(),
        moves=(),
        barred=rng.randrange(SEATS),
    )


def _amounts(rng: Random) -> Amounts:
    drawn = {hex_: rng.randrange(PLENTY) for hex_ in rng.sample(range(len(HEXES)), FEW)}
    return {HEXES[hex_]: drawn[hex_] for hex_ in sorted(drawn) if drawn[hex_]}


def _other_visits(state: FightState, observer: int | None, rng: Random) -> FightState:
    """Redraw positions, visitors and gifts: while pillars answer, they are hidden from other seats."""
    others = [seat for seat in on_board(state) if seat != observer]
    players = list(state.players)
    for seat in others:
        players[seat] = replace(players[seat], position=rng.choice([START, *HEXES, *PILLARS]))
    visitors = rng.sample(others, rng.randint(1, len(others)))
    if observer in state.visitors:
        visitors.append(observer)
    gifts = {key: rng.randint(1, PLENTY) for key in SEAT_KEYS if rng.random() < SELDOM}
    return replace(state, players=tuple(players), visitors=tuple(sorted(visitors)), gifts=gifts)


def _other_votes(state: FightState, observer: int | None, rng: Random) -> FightState:
    """Redraw the vote for an observer without a vote in it, which does not know the candidates.

    An observer that has a vote in no phase does not know which vote is open either.
    """
    voted_token = rng.randrange(SEATS)
    if observer in voters(state):
        return replace(state, voted_token=voted_token)
    phases: tuple[Phase, ...] = ("token_vote", "elimination_vote", "justice")
    candidates = tuple(sorted(rng.sample(range(SEATS), 3)))
    others = [replace(state, phase=phase, candidates=candidates, voted_token=voted_token) for phase in phases]
    alike = [
        other
        for other in others
        if other.phase == state.phase
        or (observer not in winners(state) and "Justice" in state.claims and observer not in voters(other))
    ]
    return rng.choice(alike)
