"""Learned insight: questions about the symbols of other seats, their answers, and the mantra they add.

All kinds count other seats only (R1).
"""

from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import astuple

from protocol.games.runes_to_ruins import Learned, LearnedAnswer, LearnedKind
from referee.games.runes_to_ruins.symbols import Tables

FOR_RUNE, FOR_COUNT, FOR_HAS, FOR_LINE, FOR_SHARED, FOR_MOST = 2, 3, 4, 5, 6, 3
KINDS: tuple[LearnedKind, ...] = ("rune", "count", "has", "line", "shared", "most")


def kinds(learned: Learned) -> list[LearnedKind]:
    """Return the kinds whose keys are present; a legal action has exactly one."""
    return [kind for kind, named in zip(KINDS, astuple(learned), strict=True) if named is not UNSET]


def learn_all(learned: Sequence[Learned], asker: int, of: Tables) -> tuple[list[LearnedAnswer], int]:
    """Return the answers and the total mantra that they add."""
    told, brought = [], 0
    for index, each in enumerate(learned):
        answer, mantra = learn(each, asker, of)
        told.append(LearnedAnswer(index=index, answer=answer, mantra=mantra))
        brought += mantra
    return told, brought


def learn(learned: Learned, asker: int, of: Tables) -> tuple[int | bool, int]:
    """Return the answer and the mantra that it adds."""
    if (rune := learned.rune) is not UNSET:
        users = of.users(rune, asker)
        return users, FOR_RUNE * users
    if (count := learned.count) is not UNSET:
        used = of.groups[count.seat].get(count.group, 0)
        return used, FOR_COUNT * abs(used - count.number)
    if (named := learned.has) is not UNSET:
        has = named.rune in of.runes[named.seat]
        return has, 0 if has else FOR_HAS
    if (line := learned.line) is not UNSET:
        there = of.users_on(line, asker)
        return there, 0 if there else FOR_LINE
    if learned.shared is not UNSET:
        one, other = learned.shared
        common = len(of.runes[one] & of.runes[other])
        return common, 0 if common else FOR_SHARED
    runes = learned.most or ()
    most = of.most(runes, asker)
    return most, FOR_MOST * (len(runes) - most)
