"""Learned insight: what a seat is told that checks what it thinks it knows, and the mantra it brings.

All kinds count other seats only (R1).
"""

from msgspec import UNSET

from protocol.games.runes_to_ruins import Count, Has, Learned, LearnedKind, Line, Six
from referee.games.runes_to_ruins.state import OTHERS
from referee.games.runes_to_ruins.symbols import runes_of, shared_runes, stands_on

FOR_RUNE, FOR_COUNT, FOR_HAS, FOR_LINE, FOR_SHARED, FOR_MOST = 2, 3, 4, 5, 6, 3
KINDS: tuple[LearnedKind, ...] = ("rune", "count", "has", "line", "shared", "most")


def kinds(learned: Learned) -> list[LearnedKind]:
    """The kinds whose keys are there; in a legal action, one."""
    return [kind for kind in KINDS if getattr(learned, kind) is not UNSET]


def learn(learned: Learned, asker: int, symbols: tuple[Six, ...]) -> tuple[int | bool, int]:
    """The answer, and the mantra that comes with it."""
    asked = [symbols[other] for other in OTHERS[asker]]
    match learned:
        case Learned(rune=str(rune)):
            users = sum(rune in symbol for symbol in asked)
            return users, FOR_RUNE * users
        case Learned(count=Count(seat=seat, group=group, number=number)):
            used = runes_of(symbols[seat], group)
            return used, FOR_COUNT * abs(used - number)
        case Learned(has=Has(seat=seat, rune=rune)):
            has = rune in symbols[seat]
            return has, 0 if has else FOR_HAS
        case Learned(line=Line() as line):
            there = sum(stands_on(symbol, line) for symbol in asked)
            return there, 0 if there else FOR_LINE
        case Learned(shared=(int(one), int(other))):
            common = shared_runes(symbols[one], symbols[other])
            return common, 0 if common else FOR_SHARED
        case _:
            runes = learned.most or ()
            most = max(sum(rune in symbol for rune in runes) for symbol in asked)
            return most, FOR_MOST * (len(runes) - most)
