"""Checks of submitted actions, their canonical spelling, and their cost.

Reasons of refusals depend only on the action, the seat's own state and public facts. Optional keys with empty
values count as absent even if the type of the value has required keys.
"""

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import astuple, replace

from protocol.codec import decode_json, encode
from protocol.games.runes_to_ruins import Artefact, ChooseSymbol, Kind, Learned, PlayRound, Visions
from protocol.games.runes_to_ruins.runes import RuneName
from referee.games.runes_to_ruins.state import OTHER_KEYS, RunesSeatState, RunesState, artefacts
from referee.games.runes_to_ruins.symbols import fault
from referee.games.runes_to_ruins.visions import LEARNED_KINDS, NO_VISIONS, kinds, used
from referee.games.runes_to_ruins.visions import cost as visions_cost
from referee.rules import Illegal

ONE_VOTE, VOTES_WITH_MORE = 1, 4
MOST_OF_A_KIND = 6
"""Maximum number of learned insights of one kind per round."""
LEARNED_A_ROUND = 2
"""Maximum number of learned insights in a round, divided by the number of the round."""
MOST_NAMED = 6
MOST_EXCEPTED = 5
NamedT = TypeVar("NamedT", int, str)


def checked_symbol(state: RunesState, action: ChooseSymbol) -> ChooseSymbol:
    """Return the action. Raise Illegal if its symbol is not legal or has become invalid."""
    why = fault(action.symbol)
    if why is not None:
        raise Illegal(why)
    if action.symbol in state.invalid:
        raise Illegal("this symbol was submitted by more than one seat and is invalid")
    return action


def checked_round(state: RunesState, seat: int, action: PlayRound) -> PlayRound:
    """Return the action in canonical spelling. Raise Illegal if it breaks a rule or costs too much."""
    standing = state.standings[seat]
    votes, visions, learned = action.votes, action.visions, action.learned
    if votes is not UNSET or action.abstain:
        votes = _checked_votes(standing, action)
    kinds: tuple[Kind, ...] = ()
    if visions is not UNSET:
        visions = _checked_visions(standing, seat, visions)
        kinds = () if visions is UNSET else used(visions)
    if learned:
        learned = _checked_learned(state.round, seat, learned)
    for guess in action.guesses:
        if len({*guess}) < len(guess):
            raise Illegal("a guess's runes must differ")
    if action.light or action.dark is not UNSET:
        _check_artefacts(standing, artefacts(state, seat), action)
    price = cost(standing, action, kinds)
    if price > standing.insight:
        raise Illegal(f"this costs {price} insight; you have {standing.insight}")
    if votes is action.votes and visions is action.visions and learned is action.learned:
        return action
    return replace(action, votes=votes, visions=visions, learned=learned)


def cost(standing: RunesSeatState, action: PlayRound, kinds: tuple[Kind, ...]) -> int:
    """Return the cost of an action in insight: votes, visions of these kinds, and guesses."""
    price = action.more_votes + action.told
    if kinds:
        price += visions_cost(kinds, standing.veils)
    bought = len(action.guesses) - 1
    if bought > 0:
        # 1, 2, 3, ... for the seat's first, second, third, ...
        price += bought * standing.bought + bought * (bought + 1) // 2
    return price


def bought_guesses(action: PlayRound) -> int:
    """Return the number of guesses bought; the first of a round is free."""
    return len(action.guesses) - 1 if action.guesses else 0


def _checked_votes(standing: RunesSeatState, action: PlayRound) -> dict[str, int] | UnsetType:
    """Return the votes in canonical spelling, or UNSET if there are none."""
    votes = action.votes
    if action.abstain:
        if votes or action.more_votes:
            raise Illegal("a seat that abstains neither votes nor buys votes")
        if standing.abstained:
            raise Illegal("a seat may not abstain two rounds running")
    if not votes:
        return UNSET
    most = VOTES_WITH_MORE if action.more_votes else ONE_VOTE
    if sum(votes.values()) > most:
        raise Illegal(f"too many votes: you have {most}")
    return votes if len(votes) == 1 else dict(sorted(votes.items(), key=lambda vote: int(vote[0])))


def _checked_visions(standing: RunesSeatState, seat: int, visions: Visions) -> Visions | UnsetType:
    """Return the visions in canonical spelling, or UNSET if none is used."""
    assign, pattern, except_ = visions.assign, visions.pattern, visions.except_
    if assign is not UNSET:
        assign = _checked_assign(seat, assign)
    if pattern is not UNSET:
        _check_others(seat, pattern.seats, "pattern")
        if not pattern.seats:
            raise Illegal("pattern: name one to four seats")
        seats = _ascending(pattern.seats, "pattern: the seats")
        if seats != pattern.seats:
            pattern = replace(pattern, seats=seats)
    if except_ is not UNSET:
        _check_others(seat, (except_.seat,), "except")
        if len(except_.runes) > MOST_EXCEPTED:
            raise Illegal(f"except: name at most {MOST_EXCEPTED} runes")
        runes = _ascending(except_.runes, "except: the runes")
        if runes != except_.runes:
            except_ = replace(except_, runes=runes)
    if visions.mirror is not UNSET or visions.window is not UNSET:
        _check_shown(standing, seat, visions)
    if assign is not visions.assign or pattern is not visions.pattern or except_ is not visions.except_:
        visions = replace(visions, assign=assign, pattern=pattern, except_=except_)
    return UNSET if visions == NO_VISIONS else visions


def _checked_assign(seat: int, assign: dict[str, RuneName]) -> dict[str, RuneName] | UnsetType:
    if not assign:
        return UNSET
    others = OTHER_KEYS[seat]
    keys = (*assign,)
    if keys != others:
        if (*sorted(keys),) != others:
            raise Illegal("assign: one rune to each other seat")
        assign = dict(sorted(assign.items()))
    if len({*assign.values()}) < len(assign):
        raise Illegal("assign: the runes must differ")
    return assign


def _check_shown(standing: RunesSeatState, seat: int, visions: Visions) -> None:
    """Check `mirror` and `window`, which cost no insight but reveal a rune."""
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
        if max(map(named.count, LEARNED_KINDS)) > MOST_OF_A_KIND:
            raise Illegal(f"learned: at most {MOST_OF_A_KIND} of a kind in a round")
    return learned


def _checked_insight(seat: int, learned: Learned) -> Learned:  # noqa: C901 - one case a kind
    """Return the learned insight in canonical spelling. Raise Illegal if it breaks a rule."""
    if astuple(learned).count(UNSET) != len(LEARNED_KINDS) - 1:
        raise Illegal(f"learned: each has exactly one of the keys {', '.join(LEARNED_KINDS)}")
    if learned.rune is not UNSET:
        return learned
    if (count := learned.count) is not UNSET:
        if count.seat == seat:
            raise Illegal("learned: name other seats only")
    elif (has := learned.has) is not UNSET:
        if has.seat == seat:
            raise Illegal("learned: name other seats only")
    elif (line := learned.line) is not UNSET:
        if (line.row is UNSET) == (line.column is UNSET):
            raise Illegal("line: name a row or a column")
    elif (seats := learned.shared) is not UNSET:
        _check_others(seat, seats, "learned")
        one, other = seats
        if one == other:
            raise Illegal("shared: the seats must differ")
        return learned if one < other else replace(learned, shared=(other, one))
    else:
        runes = learned.most or ()
        if not 1 <= len(runes) <= MOST_NAMED:
            raise Illegal(f"most: name one to {MOST_NAMED} runes")
        ascending = _ascending(runes, "most: the runes")
        return learned if ascending == runes else replace(learned, most=ascending)
    return learned


def _check_artefacts(standing: RunesSeatState, has: tuple[Artefact, ...], action: PlayRound) -> None:
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


def _ascending(named: tuple[NamedT, ...], what: str) -> tuple[NamedT, ...]:
    """Return `named` sorted. Raise Illegal if an item occurs twice."""
    if len({*named}) < len(named):
        raise Illegal(f"{what} must differ")
    return tuple(sorted(named))


OBJECTS = ("pattern", "place", "except", "mirror", "window")
"""Optional keys of `visions` whose values have required keys, so that an empty object would not decode."""
_EMPTY = re.compile(rb"\{\s*\}")
"""Pattern in each text with an empty object and in few others, so that most texts need no decoding."""


def without_empty(raw: bytes | Raw) -> bytes | None:
    """Return the action without its optional keys that hold `{}`, or None if it has no such key."""
    if not _EMPTY.search(raw):
        return None
    try:
        action: Any = decode_json(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    visions = action.get("visions") if isinstance(action, dict) else None
    if not isinstance(visions, dict):
        return None
    kept = {key: value for key, value in visions.items() if key not in OBJECTS or value != {}}
    return encode({**action, "visions": kept}) if len(kept) < len(visions) else None
