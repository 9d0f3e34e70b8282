"""Outcomes of matches with forfeits. Pure."""

from msgspec.structs import replace

from protocol.words import Outcome


def forfeited_at_once(seats: int, forfeited: frozenset[int]) -> Outcome | None:
    """Return the outcome if at most one seat has not forfeited; None if the match can continue."""
    left = tuple(seat for seat in range(seats) if seat not in forfeited)
    if len(left) > 1 or not forfeited:
        return None
    ranking = tuple(group for group in (left, tuple(sorted(forfeited))) if group)
    eliminated = min(forfeited) if len(forfeited) == 1 else None
    return Outcome(ranking=ranking, winners=left, eliminated=eliminated, scores=None, reason="forfeit")


def with_forfeits(outcome: Outcome, forfeited: frozenset[int]) -> Outcome:
    """Return the outcome of a match that continued without some seats: they are last, tied, and win nothing."""
    if not forfeited:
        return outcome
    kept = [tuple(seat for seat in group if seat not in forfeited) for group in outcome.ranking]
    ranking = (*(group for group in kept if group), tuple(sorted(forfeited)))
    winners = tuple(seat for seat in outcome.winners if seat not in forfeited)
    return replace(
        outcome,
        ranking=ranking,
        winners=winners or ranking[0],
        eliminated=outcome.eliminated if outcome.eliminated in forfeited else min(forfeited),
        tokens={seat: n for seat, n in outcome.tokens.items() if int(seat) not in forfeited},
        garnets={seat: n for seat, n in outcome.garnets.items() if int(seat) not in forfeited},
    )
