"""What a seat may submit, in canonical spelling, and what it costs.

Every reason is about the action, the seat's own affairs and public facts only.
"""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import astuple, replace

from protocol.games.runes_to_ruins import Artefact, ChooseSymbol, Kind, Learned, PlayRound, Visions
from referee.games.runes_to_ruins.learned import KINDS, kinds
from referee.games.runes_to_ruins.state import OTHERS, RunesState, Standing, artefacts
from referee.games.runes_to_ruins.symbols import fault
from referee.games.runes_to_ruins.visions import NO_VISIONS, used
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
    visions, learned, votes = action.visions, action.learned, action.votes
    if visions is not UNSET:
        visions = UNSET if visions == NO_VISIONS else _checked_visions(standing, seat, visions)
    if learned:
        learned = _checked_learned(state.round, seat, learned)
    for guess in action.guesses:
        _differ(guess, "a guess's runes")
    if action.light or action.dark is not UNSET:
        _check_artefacts(standing, artefacts(state, seat), action)
    if votes is not UNSET:
        votes = dict(sorted(votes.items(), key=lambda vote: int(vote[0]))) if votes else UNSET
    price = cost(standing, action, () if visions is UNSET else used(visions))
    if price > standing.insight:
        raise Illegal(f"this costs {price} insight; you have {standing.insight}")
    return replace(action, votes=votes, visions=visions, learned=learned)


def cost(standing: Standing, action: PlayRound, kinds: tuple[Kind, ...]) -> int:
    """The insight an action costs, which uses these kinds of vision: votes, visions, guesses."""
    price = action.more_votes + action.told
    if kinds:
        price += visions_cost(kinds, standing.veils)
    if len(action.guesses) > 1:
        price += sum(range(standing.bought + 1, standing.bought + bought_guesses(action) + 1))
    return price


def bought_guesses(action: PlayRound) -> int:
    """How many guesses it buys: the first of a round is free."""
    return len(action.guesses) - 1 if action.guesses else 0


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
    learned = tuple([_checked_insight(seat, each) for each in given])
    if len(learned) > MOST_OF_A_KIND:
        named = [kind for each in learned for kind in kinds(each)]
        if max(map(named.count, KINDS)) > MOST_OF_A_KIND:
            raise Illegal(f"learned: at most {MOST_OF_A_KIND} of a kind in a round")
    return learned


def _checked_insight(seat: int, learned: Learned) -> Learned:
    """In canonical spelling."""
    if astuple(learned).count(UNSET) != len(KINDS) - 1:
        raise Illegal(f"learned: each has exactly one of the keys {', '.join(KINDS)}")
    if learned.rune is not UNSET:
        return learned
    if learned.count is not UNSET:
        _check_others(seat, (learned.count.seat,), "learned")
        return learned
    if learned.has is not UNSET:
        _check_others(seat, (learned.has.seat,), "learned")
        return learned
    if learned.line is not UNSET and (learned.line.row is UNSET) == (learned.line.column is UNSET):
        raise Illegal("line: name a row or a column")
    if learned.shared is not UNSET:
        _check_others(seat, learned.shared, "learned")
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
