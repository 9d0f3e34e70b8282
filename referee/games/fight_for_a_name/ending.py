"""The end of The Fight For a Name: when it is, the votes after the last round, and the outcome (R9, R10)."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import cast

from msgspec.structs import replace

from protocol.games.fight_for_a_name import FightDetail, Reveal
from protocol.words import Outcome
from referee.games.fight_for_a_name.state import SEATS, FightState, Player, on_board, winners
from referee.rules import Addressed, Luck, choice

LAST = 2
"""With so few seats without a title the match ends."""
FEW_FOR_TOKENS = 9
"""Fewer winners than these get a token each."""
FEW_FOR_A_VOTE = 6
"""Fewer winners than these vote for one more."""
SINGLE_WINNERS_TOKENS = 3

Step = tuple[FightState, tuple[Addressed, ...]]


def reason(state: FightState) -> str | None:
    """Why the match ends after the round that was played; None where it goes on."""
    if SEATS - len(state.claims) <= LAST:
        return "titles"
    return "rounds" if state.round == state.options.rounds else None


def begin(state: FightState, luck: Luck) -> Step:
    """After the last round: the vote for a token, if there is somebody to vote and to vote for (R9)."""
    voters = winners(state)
    others = tuple(sorted({claim.seat for claim in state.claims.values()} - set(voters)))
    if others and len(voters) < FEW_FOR_A_VOTE:
        return replace(state, phase="token_vote", candidates=others), ()
    return _begin_elimination(state, luck)


def close_token_vote(state: FightState, votes: Sequence[int], luck: Luck) -> Step:
    """The seat that is named most gets a token; a tie or no vote gives none."""
    named = most_named(votes)
    return _begin_elimination(replace(state, voted_token=named[0] if len(named) == 1 else None), luck)


def close_elimination_vote(state: FightState, votes: Sequence[int], luck: Luck) -> Step:
    """The seat that is named most goes; the seat with Justice chooses among those tied, or all without votes."""
    tied = most_named(votes) or state.candidates
    if len(tied) > 1 and "Justice" in state.claims:
        return replace(state, phase="justice", candidates=tied), ()
    return _eliminate(state, tied, luck)


def close_justice(state: FightState, votes: Sequence[int], luck: Luck) -> Step:
    """The one named goes; if none is, it is drawn."""
    return _eliminate(state, tuple(votes) or state.candidates, luck)


def most_named(votes: Sequence[int]) -> tuple[int, ...]:
    """The seats with the most votes, ascending; none if nobody votes."""
    counts = Counter(votes)
    return tuple(sorted(seat for seat, count in counts.items() if count == max(counts.values())))


def _begin_elimination(state: FightState, luck: Luck) -> Step:
    tied = last(state)
    if len(tied) > 1 and state.claims:
        return replace(state, phase="elimination_vote", candidates=tied), ()
    return _eliminate(state, tied, luck)


def last(state: FightState) -> tuple[int, ...]:
    """The seats without a title with the fewest crests of unclaimed titles, of these the least MP spent (R10).

    What was spent on a hex that has turned white has been given back and is counted no more.
    """
    crests = _with_least(state, on_board(state), lambda player: len(player.crests.keys() - state.claims.keys()))
    return _with_least(state, crests, lambda player: sum(player.spent.values()))


def _with_least(state: FightState, seats: tuple[int, ...], measure: Callable[[Player], int]) -> tuple[int, ...]:
    measures = {seat: measure(state.players[seat]) for seat in seats}
    least = min(measures.values())
    return tuple(seat for seat in seats if measures[seat] == least)


def _eliminate(state: FightState, tied: tuple[int, ...], luck: Luck) -> Step:
    """The match is over: one of the tied goes, drawn if there are several, and all is revealed."""
    eliminated = tied[0] if len(tied) == 1 else choice(luck.shared(), tied)
    reveal = Reveal(
        titles=dict(state.setup.titles),
        pillars=dict(state.setup.pillars),
        challenge=state.challenge,
        claims=dict(state.claims),
    )
    after = replace(state, phase="over", candidates=(), eliminated=eliminated, revealed=reveal)
    return after, (Addressed(reveal),)


def outcome(state: FightState) -> Outcome | None:
    """The outcome, once the match is over."""
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
            crests={str(seat): tuple(player.crests) for seat, player in enumerate(state.players)},
            strengths={str(seat): player.strengths for seat, player in enumerate(state.players)},
        ),
    )


def _ranking(state: FightState) -> tuple[tuple[int, ...], ...]:
    rounds: dict[int, list[int]] = {}
    for claim in state.claims.values():
        rounds.setdefault(claim.round, []).append(claim.seat)
    groups = [tuple(sorted(rounds[number])) for number in sorted(rounds)]
    left = tuple(seat for seat in on_board(state) if seat != state.eliminated)
    # There are fewer titles than seats: somebody always stands alone at the end.
    return (*groups, *((left,) if left else ()), (cast("int", state.eliminated),))


def _tokens(state: FightState) -> dict[str, int]:
    first = winners(state)
    each = SINGLE_WINNERS_TOKENS if len(first) == 1 else 1
    tokens = dict.fromkeys(first if len(first) < FEW_FOR_TOKENS else (), each)
    if state.voted_token is not None:
        tokens[state.voted_token] = 1
    return {str(seat): tokens[seat] for seat in sorted(tokens)}
