"""The end of a match of The Fight For a Name: when it ends, the closing votes and the outcome (R9, R10)."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import cast

from msgspec.structs import replace

from protocol.games.fight_for_a_name import FightDetail, Reveal
from protocol.words import Outcome
from referee.games.fight_for_a_name.state import SEATS, FightSeat, FightState, on_board, winners
from referee.rules import Addressed, MatchRandom, Transition, by_seat, choice, ranked

LAST = 2
"""Highest number of seats without a title at which the match ends."""
FEW_FOR_TOKENS = 9
"""Smallest number of winners that receive no tokens; fewer receive one each, and a single one more (R9)."""
FEW_FOR_A_VOTE = 6
"""Smallest number of winners that hold no token vote; fewer vote to give one more token (R9)."""
SINGLE_WINNERS_TOKENS = 3


def reason(state: FightState) -> str | None:
    """Return why the match ends after the current round, or None if it goes on."""
    if SEATS - len(state.claims) <= LAST:
        return "titles"
    return "rounds" if state.round == state.options.rounds else None


def begin(state: FightState, rng: MatchRandom) -> Transition[FightState]:
    """Start the votes after the last round (R9).

    The token vote is left out if there are too many winners, or if no other seat has a title.
    """
    voters = winners(state)
    others = tuple(sorted({claim.seat for claim in state.claims.values()} - set(voters)))
    if others and len(voters) < FEW_FOR_A_VOTE:
        return Transition(replace(state, phase="token_vote", candidates=others))
    return _begin_elimination(state, rng)


def close_token_vote(state: FightState, votes: Sequence[int], rng: MatchRandom) -> Transition[FightState]:
    """Give a token to the seat with the most votes, or to no seat on a tie, then start the elimination."""
    named = most_named(votes)
    return _begin_elimination(replace(state, voted_token=named[0] if len(named) == 1 else None), rng)


def close_elimination_vote(state: FightState, votes: Sequence[int], rng: MatchRandom) -> Transition[FightState]:
    """Eliminate the seat with the most votes; without votes, all candidates are tied.

    On a tie the seat with Justice chooses among the tied seats. If no seat has Justice, one of them is drawn.
    """
    tied = most_named(votes) or state.candidates
    if len(tied) > 1 and "Justice" in state.claims:
        return Transition(replace(state, phase="justice", candidates=tied))
    return _eliminate(state, tied, rng)


def close_justice(state: FightState, votes: Sequence[int], rng: MatchRandom) -> Transition[FightState]:
    """Eliminate the seat that Justice chose, or one drawn from the candidates if none was chosen."""
    return _eliminate(state, tuple(votes) or state.candidates, rng)


def most_named(votes: Sequence[int]) -> tuple[int, ...]:
    """Return the seats with the most votes, ascending; () without votes."""
    groups = ranked(sorted(set(votes)), votes.count)
    return groups[0] if groups else ()


def _begin_elimination(state: FightState, rng: MatchRandom) -> Transition[FightState]:
    tied = last(state)
    if len(tied) > 1 and state.claims:
        return Transition(replace(state, phase="elimination_vote", candidates=tied))
    return _eliminate(state, tied, rng)


def last(state: FightState) -> tuple[int, ...]:
    """Return the seats that tie for elimination (R10).

    They are the seats without a title that hold the fewest crests of unclaimed titles, and the ones of these that
    have spent the least MP on hexes. MP spent on a hex that has turned white do not count: they were refunded.
    """
    crests = _with_least(state, on_board(state), lambda player: len(player.crests.keys() - state.claims.keys()))
    return _with_least(state, crests, lambda player: sum(player.spent.values()))


def _with_least(state: FightState, seats: tuple[int, ...], measure: Callable[[FightSeat], int]) -> tuple[int, ...]:
    return ranked(seats, lambda seat: measure(state.players[seat]))[-1]


def _eliminate(state: FightState, tied: tuple[int, ...], rng: MatchRandom) -> Transition[FightState]:
    """End the match: eliminate one of the tied seats, drawn if there are several, and reveal the secrets."""
    eliminated = tied[0] if len(tied) == 1 else choice(rng.shared(), tied)
    reveal = Reveal(
        titles=dict(state.setup.titles),
        pillars=dict(state.setup.pillars),
        challenge=state.challenge,
        claims=dict(state.claims),
    )
    after = replace(state, phase="over", candidates=(), eliminated=eliminated, revealed=reveal)
    return Transition(after, (Addressed(reveal),))


def outcome(state: FightState) -> Outcome | None:
    """Return the outcome, or None until the match is over."""
    if state.phase != "over":
        return None
    ended = reason(state)
    assert ended is not None  # noqa: S101 - `over` follows `begin`, which follows a reason
    return Outcome(
        ranking=_ranking(state),
        winners=winners(state),
        eliminated=state.eliminated,
        scores=None,
        tokens=_tokens(state),
        reason=ended,
        detail=FightDetail(
            claims=dict(state.claims),
            crests=by_seat(tuple(player.crests) for player in state.players),
            strengths=by_seat(map(attrgetter("strengths"), state.players)),
        ),
    )


def _ranking(state: FightState) -> tuple[tuple[int, ...], ...]:
    """Rank earlier claims first, then the seats without a title, and the eliminated one last."""
    earliness = dict.fromkeys(on_board(state), -state.round - 1)
    for claim in state.claims.values():
        earliness[claim.seat] = -claim.round
    # One seat is always eliminated, because there are fewer titles than seats.
    eliminated = cast("int", state.eliminated)
    del earliness[eliminated]
    return (*ranked(sorted(earliness), earliness.__getitem__), (eliminated,))


def _tokens(state: FightState) -> dict[str, int]:
    first = winners(state)
    each = SINGLE_WINNERS_TOKENS if len(first) == 1 else 1
    tokens = dict.fromkeys(first if len(first) < FEW_FOR_TOKENS else (), each)
    if state.voted_token is not None:
        tokens[state.voted_token] = 1
    return {str(seat): number for seat, number in sorted(tokens.items())}
