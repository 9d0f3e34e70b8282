"""What a seat may submit, in canonical spelling, and what it costs.

Every reason is about the action, the seat's own affairs and public facts only.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from protocol.games.runes_to_ruins import Artefact, ChooseSymbol, Learned, PlayRound, Visions
from referee.games.runes_to_ruins.learned import KINDS, kinds
from referee.games.runes_to_ruins.state import OTHERS, RunesState, Standing, artefacts
from referee.games.runes_to_ruins.symbols import fault
from referee.games.runes_to_ruins.visions import NO_VISIONS
from referee.games.runes_to_ruins.visions import cost as visions_cost
from referee.rules import Illegal

ONE_VOTE, VOTES_WITH_MORE = 1, 4
MOST_OF_A_KIND = 6
"""Learned insights of one kind in a round."""
LEARNED_A_ROUND = 2
"""Learned insights in a round, times the round's number."""
MOST_NAMED = 6
MOST_EXCEPTED = 5


def checked_symbol(state: RunesState, action: ChooseSymbol) -> ChooseSymbol:
    """A symbol that may be submitted. Raises Illegal where it is not legal, or has become invalid."""
    why = fault(action.symbol)
    if why is not None:
        raise Illegal(why)
    if action.symbol in state.invalid:
        raise Illegal("this symbol was submitted by more than one seat and is invalid")
    return action


def checked_round(state: RunesState, seat: int, action: PlayRound) -> PlayRound:
    """A round's action in canonical spelling. Raises Illegal where it breaks a rule, or costs too much."""
    standing = state.standings[seat]
    _check_votes(standing, action)
    visions = UNSET if action.visions is UNSET else _checked_visions(standing, seat, action.visions)
    learned = _checked_learned(state.round, seat, action.learned)
    for guess in action.guesses:
        _differ(guess, "a guess's runes")
    _check_artefacts(standing, artefacts(state, seat), action)
    votes = dict(sorted(action.votes.items(), key=lambda vote: int(vote[0]))) if action.votes else UNSET
    canonical = replace(action, votes=votes, visions=visions, learned=learned)
    price = cost(standing, canonical)
    if price > standing.insight:
        raise Illegal(f"this costs {price} insight; you have {standing.insight}")
    return canonical


def cost(standing: Standing, action: PlayRound) -> int:
    """The insight an action costs: votes, visions, guesses."""
    visions = NO_VISIONS if action.visions is UNSET else action.visions
    bought = range(standing.bought + 1, standing.bought + bought_guesses(action) + 1)
    return action.more_votes + action.told + visions_cost(visions, standing.veils) + sum(bought)


def bought_guesses(action: PlayRound) -> int:
    """How many guesses it buys: the first of a round is free."""
    return max(0, len(action.guesses) - 1)


def _check_votes(standing: Standing, action: PlayRound) -> None:
    if action.abstain:
        if action.votes or action.more_votes:
            raise Illegal("a seat that abstains neither votes nor buys votes")
        if standing.abstained:
            raise Illegal("a seat may not abstain two rounds running")
    most = VOTES_WITH_MORE if action.more_votes else ONE_VOTE
    if action.votes and sum(action.votes.values()) > most:
        raise Illegal(f"too many votes: you have {most}")


def _checked_visions(standing: Standing, seat: int, visions: Visions) -> Visions | UnsetType:
    """The visions in canonical spelling; nothing where none is used."""
    assign, pattern, except_ = visions.assign or UNSET, visions.pattern, visions.except_
    if assign is not UNSET:
        if sorted(assign) != [str(other) for other in OTHERS[seat]]:
            raise Illegal("assign: one rune to each other seat")
        _differ(list(assign.values()), "assign: the runes")
        assign = dict(sorted(assign.items()))
    if pattern is not UNSET:
        _check_others(seat, pattern.seats, "pattern")
        if not pattern.seats:
            raise Illegal("pattern: name one to four seats")
        _differ(pattern.seats, "pattern: the seats")
        pattern = replace(pattern, seats=tuple(sorted(pattern.seats)))
    if except_ is not UNSET:
        _check_others(seat, [except_.seat], "except")
        if len(except_.runes) > MOST_EXCEPTED:
            raise Illegal(f"except: name at most {MOST_EXCEPTED} runes")
        _differ(except_.runes, "except: the runes")
        except_ = replace(except_, runes=tuple(sorted(except_.runes)))
    _check_shown(standing, seat, visions)
    canonical = replace(visions, assign=assign, pattern=pattern, except_=except_)
    return UNSET if canonical == NO_VISIONS else canonical


def _check_shown(standing: Standing, seat: int, visions: Visions) -> None:
    """The two visions that are paid for by showing a rune."""
    if visions.mirror is not UNSET:
        _check_others(seat, [visions.mirror.seat], "mirror")
        if visions.mirror.rune not in (standing.symbol or ()):
            raise Illegal("mirror: reveal a rune of your own symbol")
    if visions.window is not UNSET:
        _check_others(seat, [visions.window.seat], "window")
        if standing.discovered is not None:
            raise Illegal("window: not for a seat that has been discovered")
        if standing.windowed:
            raise Illegal("window: once a match")


def _checked_learned(round_: int, seat: int, given: tuple[Learned, ...]) -> tuple[Learned, ...]:
    if len(given) > LEARNED_A_ROUND * round_:
        raise Illegal(f"learned: at most {LEARNED_A_ROUND * round_} in this round")
    learned = tuple(_checked_insight(seat, each) for each in given)
    used = [kind for each in learned for kind in kinds(each)]
    for kind in KINDS:
        if used.count(kind) > MOST_OF_A_KIND:
            raise Illegal(f"learned: at most {MOST_OF_A_KIND} of a kind in a round")
    return learned


def _checked_insight(seat: int, learned: Learned) -> Learned:
    if len(kinds(learned)) != 1:
        raise Illegal(f"learned: each has exactly one of the keys {', '.join(KINDS)}")
    named = [part.seat for part in (learned.count, learned.has) if part is not UNSET]
    _check_others(seat, [*named, *(learned.shared or ())], "learned")
    if learned.line is not UNSET and (learned.line.row is UNSET) == (learned.line.column is UNSET):
        raise Illegal("line: name a row or a column")
    if learned.shared is not UNSET:
        _differ(learned.shared, "shared: the seats")
        one, other = sorted(learned.shared)
        return replace(learned, shared=(one, other))
    if learned.most is not UNSET:
        if not 1 <= len(learned.most) <= MOST_NAMED:
            raise Illegal(f"most: name one to {MOST_NAMED} runes")
        _differ(learned.most, "most: the runes")
        return replace(learned, most=tuple(sorted(learned.most)))
    return learned


def _check_artefacts(standing: Standing, has: tuple[Artefact, ...], action: PlayRound) -> None:
    if action.light:
        if "light" not in has:
            raise Illegal("light: you do not have that artefact")
        if standing.lit:
            raise Illegal("light: not two rounds running")
    if action.dark is not UNSET and "dark" not in has:
        raise Illegal("dark: you do not have that artefact")


def _check_others(seat: int, named: Sequence[int], what: str) -> None:
    if seat in named:
        raise Illegal(f"{what}: name other seats only")


def _differ(named: Sequence[int | str], what: str) -> None:
    if len(set(named)) < len(named):
        raise Illegal(f"{what} must differ")
