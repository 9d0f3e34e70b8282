"""The course of The Fight For a Name: the timed game, rounds of moves and visits, and reports of rounds."""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from protocol.games.fight_for_a_name import Move, Pick, Puzzle, RoundResult, Standing
from referee.games.fight_for_a_name import ending
from referee.games.fight_for_a_name.moving import INCOME, play_moves
from referee.games.fight_for_a_name.state import SEAT_KEYS, FightState, Player, of_each
from referee.games.fight_for_a_name.titles import Holders, claim_titles
from referee.rules import Addressed, MatchRandom, sample

Step = tuple[FightState, tuple[Addressed, ...]]


def rank_challenge(
    puzzle: Puzzle, picks: Sequence[Pick], elapsed_ms: Sequence[int], rng: Random
) -> tuple[int, ...]:
    """Return the seats ranked by the timed game, best first (R7); ties are drawn at random.

    `picks` and `elapsed_ms` are indexed by seat.
    """

    def rank(seat: int) -> tuple[bool, int]:
        right = is_right(puzzle, picks[seat])
        return not right, elapsed_ms[seat] if right else 0

    # Any draw would do by R7. This one gives the order in the example scenarios, which do not mark it as drawn.
    drawn = sample(rng, range(len(picks)), len(picks))
    return tuple(sorted(drawn, key=rank))


def is_right(puzzle: Puzzle, pick: Pick) -> bool:
    """Return whether the picked numbers add up to the target. An empty pick is wrong even for target 0 (R7)."""
    return pick.pick != () and sum(puzzle.numbers[position] for position in pick.pick) == puzzle.target


def next_round(state: FightState) -> FightState:
    """Start the next round's moves: pay every seat's income, and give seats on the board their MP."""
    players = tuple(of_each(state.players, _ready))
    return replace(state, phase="move", round=state.round + 1, players=players, visitors=(), gifts={})


def _ready(player: Player) -> Player:
    """Return the player with its income paid and, on the board, its MP for the next round."""
    if player.position is None:
        return _paid(player)
    return replace(player, mp=player.mp + player.income + INCOME, income=0)


def _paid(player: Player) -> Player:
    """Return the player with its income paid."""
    return replace(player, mp=player.mp + player.income, income=0) if player.income else player


def close_moves(state: FightState, moves: tuple[Move, ...], rng: MatchRandom) -> Step:
    """Play a round's moves, then continue with the visitors of pillars, or end the round."""
    after, told = play_moves(state, moves)
    if after.visitors:
        return replace(after, phase="pillar"), told
    ended, more = end_round(after, rng)
    return ended, (*told, *more)


def end_round(state: FightState, rng: MatchRandom) -> Step:
    """Resolve claims, report the result to all seats, then start the next round or the end of the game."""
    after, held = claim_titles(state)
    result = _result(state, after, held)
    after = replace(after, history=(*after.history, result))
    told = (Addressed(result), *_standings(after))
    if ending.reason(after) is None:
        return next_round(after), told
    paid = tuple(map(_paid, after.players))
    over, more = ending.begin(replace(after, players=paid, visitors=()), rng)
    return over, (*told, *more)


def _result(before: FightState, after: FightState, held: Holders) -> RoundResult:
    return RoundResult(
        round=after.round,
        positions={
            key: player.position
            for key, player in zip(SEAT_KEYS, after.players, strict=True)
            if player.position is not None
        },
        holders=held,
        white=after.white,
        claimed={title: claim.seat for title, claim in after.claims.items() if title not in before.claims},
        gifts=after.gifts,
    )


def _standings(state: FightState) -> list[Addressed]:
    """Return the private standing of each seat on the board, addressed to it."""
    return [
        Addressed(standing, seat)
        for seat, standing in enumerate(of_each(state.players, _standing))
        if standing is not None
    ]


def _standing(player: Player) -> Standing | None:
    if player.position is None:
        return None
    return Standing(mp=player.mp + player.income, crests=tuple(player.crests), strengths=player.strengths)
