"""Runes to Ruins as a person types it: parts set off by `;`, such as `vote 13; divine Box; has 1 Torn Box`."""

from collections.abc import Callable
from itertools import repeat
from typing import Any, get_args

from protocol.games.runes_to_ruins import (
    ChooseSymbol,
    ConditionKey,
    Order,
    PlayRound,
    Position,
    RunesEvent,
    RunesView,
    SeatKey,
    drawing,
)
from protocol.games.runes_to_ruins.runes import RUNES, DivineGroup, MundaneGroup, RuneName
from protocol.text import (
    QUOTED_CHARACTERS,
    Drawing,
    Example,
    GameText,
    InputTerms,
    ParseError,
    joined,
    name,
    number,
    pairs,
    quoted,
)

RUNE_NAMES, GROUPS = get_args(RuneName), (*get_args(DivineGroup), *get_args(MundaneGroup))
ORDERS = get_args(Order)
LAST_SEAT, LAST_POSITION = len(get_args(SeatKey)) - 1, len(get_args(Position)) - 1
LAST_CONDITION = len(get_args(ConditionKey))
SIX = 6
MOST_VOTES = 1_000
ATTEMPTS = 11
"""Most attempts at submitting symbols, the first included."""
LINES = {"row": 1, "column": 2}
"""Direction to the index of its last line."""
FLAGS = {"more votes": "more_votes", "told": "told", "abstain": "abstain", "light": "light"}
FLAG_EFFECTS = {
    "more_votes": "buy three votes more",
    "told": "learn which condition wins",
    "abstain": "cast no votes",
    "light": "use the Power of Light",
}
PARTS: dict[str, Example] = {
    "vote": ("vote CONDITION VOTES", "VOTES may be left out: one vote"),
    "more": ("more votes", "buy three votes more"),
    "told": ("told", "be told which condition wins"),
    "abstain": ("abstain", "cast and buy no votes"),
    "light": ("light", "the Power of Light"),
    "dark": ("dark SEAT", "the Power of Dark, on that seat"),
    "assign": (
        "assign SEAT RUNE, SEAT RUNE, SEAT RUNE, SEAT RUNE",
        "vision: does each of them use its rune?",
    ),
    "divine": ("divine GROUP", "vision: who uses a rune of this Divine group?"),
    "mundane": ("mundane GROUP", "vision: who uses a rune of this Mundane group?"),
    "veil": ("veil", "vision: turn the answers about you round"),
    "pattern": (
        "pattern SEAT SEAT ...: GROUP, GROUP, GROUP, GROUP, GROUP, GROUP",
        "vision: how many of these seats match in each position?",
    ),
    "place": ("place ORDER POSITION", "vision: which groups of this Order do others have in that position?"),
    "except": ("except SEAT: RUNE, RUNE, ...", "vision: a rune of that seat, other than these"),
    "mirror": ("mirror SEAT RUNE", "vision, reveals this rune of yours: what that seat asks about you, about it"),
    "window": (
        "window POSITION SEAT",
        "vision, reveals your rune in that position: which one has the seat there?",
    ),
    "rune": ("rune RUNE", "learned: how many use this rune"),
    "count": ("count SEAT GROUP NUMBER", "learned: whether that seat uses so many runes of this group"),
    "has": ("has SEAT RUNE", "learned: whether that seat uses this rune"),
    "line": ("line row NUMBER RUNE", "learned: how many use it in this row, 0 or 1; or column 0 to 2"),
    "shared": ("shared SEAT SEAT", "learned: how many runes these two have in common"),
    "most": ("most RUNE, RUNE, ...", "learned: how many of these one symbol has at most"),
    "guess": ("guess RUNE, RUNE, RUNE, RUNE, RUNE, RUNE", "guess a symbol"),
    "none": ("none", "nothing"),
}
"""Form and meaning of each part of a round's action, keyed by its first word."""
ARTEFACTS = ("light", "dark")
SYMBOLS: tuple[tuple[str, DivineGroup], ...] = (
    ("Cross Slash", "Divider"),
    ("Torn Cross", "Slope"),
    ("Angled Slash", "Splitter"),
    ("Straight Angled", "Zig-Zag"),
    ("Origin Torn", "Enclosure"),
    ("Origin Straight", "Box"),
)
"""Two Mundane groups and a Divine one per position. All 64 symbols made of them are legal."""
DEFAULTS = {"symbol": "a symbol is drawn for you", "round": "you do nothing in this round"}


def forms(terms: InputTerms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    own = terms.options.get("artefacts", {}).get(str(terms.seat), ())
    parts = tuple(form for key, form in PARTS.items() if key not in ARTEFACTS or key in own)
    return {
        "symbol": (("RUNE, RUNE, RUNE, RUNE, RUNE, RUNE", "your symbol, in positions 0 1 2 / 3 4 5"),),
        "round": (("PART; PART; ...", "any of the parts below, separated by ;"), *parts),
    }


def examples(window: str, view: RunesView) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    if window == "symbol":
        # The example differs by seat and attempt, so that seats which copy it do not submit the same symbol.
        number = ATTEMPTS * (view.seat or 0) + view.attempt - 1
        runes = [f"{mundane.split()[number >> at & 1]} {divine}" for at, (mundane, divine) in enumerate(SYMBOLS)]
        return ((", ".join(runes), "a legal symbol that others may know, too"),)
    others = [seat for seat in range(LAST_SEAT + 1) if seat != view.seat]
    one, two, three, four = others
    insight, own = view.insight or 0, view.symbol or ()
    runes = ["Torn Box", "Cross Box", "Slash Box", "Torn Slope", "Cross Slope", "Slash Slope"]
    costs = {
        "vote 13": 0,
        "vote 7 3; vote 2; more votes": 1,
        "told": 1,
        f"assign {one} {runes[0]}, {two} {runes[1]}, {three} {runes[2]}, {four} {runes[3]}": 1,
        "divine Box": 1,
        "mundane Torn": 1,
        "veil": view.veil_cost or 0,
        f"pattern {one} {two}: Box, Torn, Box, Torn, Box, Torn": 2,
        "place divine 3": 2,
        f"except {one}: {runes[0]}": 3,
        f"rune {runes[0]}": 0,
        f"count {one} Box 2": 0,
        f"has {one} {runes[0]}": 0,
        f"line row 0 {runes[0]}": 0,
        f"shared {one} {two}": 0,
        f"most {runes[0]}, {runes[1]}": 0,
        f"guess {', '.join(runes)}": 0,
        f"vote 13; divine Box; has {one} {runes[0]}": 1,
        "none": 0,
    }
    shown = [typed for typed, cost in costs.items() if cost <= insight]
    for typed, is_allowed in (
        ("abstain", view.may_abstain),
        ("light", view.may_light),
        (f"dark {one}", "dark" in view.artefacts),
        (f"mirror {one} {''.join(own[:1])}", bool(own)),
        (f"window 5 {one}", view.may_window),
    ):
        if is_allowed:
            shown.append(typed)
    return tuple(zip(shown, repeat("")))


def effect(window: str, view: RunesView, action: dict[str, Any]) -> str:  # noqa: ARG001 - all is in the action
    """See `protocol.text.GameText`."""
    if window == "symbol":
        return f"your symbol is {say(action)}"
    parts = [f"vote for condition {each}" for each in action.get("votes", {})]
    parts += [does for key, does in FLAG_EFFECTS.items() if action.get(key)]
    if "dark" in action:
        parts.append(f"use the Power of Dark on seat {action['dark']}")
    for kind, asked in (
        ("as a vision", [action.get("visions", {})]),
        ("by what you learned", action.get("learned", ())),
    ):
        keys = [key for each in asked for key in each]
        parts += [f"ask {kind} {PARTS[key][1].partition(': ')[2].rstrip('?')}" for key in keys]
    parts += [f"guess {', '.join(guess)}" for guess in action.get("guesses", ())]
    return f"you {'; '.join(parts)}" if parts else DEFAULTS["round"]


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    if window == "symbol":
        return {"symbol": _six(text, _rune, "a symbol is six runes")}
    action: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        if part.lower() != "none":
            _add(action, " ".join(part.split()))
    return action


def _add(action: dict[str, Any], part: str) -> None:
    """Add one part to the action."""
    word, _, rest = part.partition(" ")
    key = word.lower()
    if part.lower() in FLAGS:
        action[FLAGS[part.lower()]] = True
    elif key in READ:
        READ[key](action, rest)
    elif key in VISIONS:
        action.setdefault("visions", {})[key] = VISIONS[key](rest)
    elif key in LEARNED:
        action.setdefault("learned", []).append({key: LEARNED[key](rest)})
    else:
        known = (*FLAGS, *READ, *VISIONS, *LEARNED)
        raise ParseError(f"{quoted(word)} is not the start of a part: {', '.join(known)}")


def _vote(action: dict[str, Any], rest: str) -> None:
    condition, *times = _words(rest, "vote", 1, 2)
    votes = action.setdefault("votes", {})
    key = str(number(condition, 1, LAST_CONDITION, "a condition"))
    votes[key] = 1
    if times:
        votes[key] = number(times[0], 1, MOST_VOTES, "a number of votes")


def _dark(action: dict[str, Any], rest: str) -> None:
    action["dark"] = _seat(rest)


def _guess(action: dict[str, Any], rest: str) -> None:
    action.setdefault("guesses", []).append(_six(rest, _rune, "a guess is six runes"))


def _words(text: str, key: str, least: int, most: int = 0) -> list[str]:
    """Return the words after a part's first one, and check their number."""
    words = text.split()
    if not least <= len(words) <= max(least, most):
        typed = f"{key} {text}".strip()[:QUOTED_CHARACTERS]
        shown = typed if typed.isascii() and typed.isprintable() else repr(typed)
        raise ParseError(f"{shown} is not understood: type {PARTS[key][0]}")
    return words


def _list(text: str) -> list[str]:
    return list(filter(None, map(str.strip, text.split(","))))


def _seat(word: str) -> int:
    return number(word, 0, LAST_SEAT, "a seat")


def _rune(text: str) -> str:
    """Return a rune's name, whose two words may have either order."""
    words = text.split()
    if len(words) == 2 and words[0].casefold() in map(str.casefold, get_args(DivineGroup)):  # noqa: PLR2004
        words.reverse()
    try:
        return name(" ".join(words), RUNE_NAMES, "a rune")
    except ParseError:
        raise ParseError(
            f"{quoted(text)} is no rune: {', '.join(get_args(MundaneGroup))}, and after it "
            f"{', '.join(get_args(DivineGroup))}; such as Torn Box"
        ) from None


def _group(text: str) -> str:
    return name(text, GROUPS, "a group")


def _six(text: str, read_one: Callable[[str], str], what: str) -> list[str]:
    given = list(map(read_one, _list(text)))
    if len(given) != SIX:
        raise ParseError(f"{what}, set off by commas; there {'is' if len(given) == 1 else 'are'} {len(given)}")
    return given


def _seat_rune(text: str) -> dict[str, Any]:
    seat, _, rest = text.partition(" ")
    return {"seat": _seat(seat), "rune": _rune(rest)}


def _assign(text: str) -> dict[str, str]:
    return {str(each["seat"]): each["rune"] for each in map(_seat_rune, _list(text))}


def _pattern(text: str) -> dict[str, Any]:
    seats, colon, groups = text.partition(":")
    if not colon:
        raise ParseError(f"a pattern has ':' after its seats: type {PARTS['pattern'][0]}")
    return {"groups": _six(groups, _group, "a pattern is six groups"), "seats": list(map(_seat, seats.split()))}


def _place(text: str) -> dict[str, Any]:
    order, position = _words(text, "place", 2)
    return {"order": name(order, ORDERS, "an Order"), "position": _position(position)}


def _position(word: str) -> int:
    return number(word, 0, LAST_POSITION, "a position")


def _except(text: str) -> dict[str, Any]:
    seat, colon, runes = text.partition(":")
    if not colon:
        raise ParseError(f"except has ':' after its seat: type {PARTS['except'][0]}")
    return {"seat": _seat(seat.strip()), "runes": list(map(_rune, _list(runes)))}


def _window(text: str) -> dict[str, Any]:
    position, seat = _words(text, "window", 2)
    return {"position": _position(position), "seat": _seat(seat)}


def _count(text: str) -> dict[str, Any]:
    seat, group, times = _words(text, "count", 3)
    return {"seat": _seat(seat), "group": _group(group), "number": number(times, 0, SIX, "a number of runes")}


def _line(text: str) -> dict[str, Any]:
    which, where, *rune = _words(text, "line", 4)
    way = name(which, LINES, "a way, row or column")
    return {"rune": _rune(" ".join(rune)), way: number(where, 0, LINES[way], f"a {way}")}


def _shared(text: str) -> list[int]:
    return list(map(_seat, _words(text, "shared", 2)))


READ: dict[str, Callable[[dict[str, Any], str], None]] = {"vote": _vote, "dark": _dark, "guess": _guess}
VISIONS: dict[str, Callable[[str], Any]] = {
    "assign": _assign,
    "divine": lambda text: name(text, get_args(DivineGroup), "a Divine group"),
    "mundane": lambda text: name(text, get_args(MundaneGroup), "a Mundane group"),
    "veil": lambda _text: True,
    "pattern": _pattern,
    "place": _place,
    "except": _except,
    "mirror": _seat_rune,
    "window": _window,
}
LEARNED: dict[str, Callable[[str], Any]] = {
    "rune": _rune,
    "count": _count,
    "has": _seat_rune,
    "line": _line,
    "shared": _shared,
    "most": lambda text: list(map(_rune, _list(text))),
}


def ask(window: str, view: RunesView) -> str:
    """See `protocol.text.GameText`."""
    if window == "symbol":
        return "your symbol: six runes, separated by commas, in positions 0 1 2 / 3 4 5"
    held = f"you hold {view.insight} insight, {view.mantra} mantra; a second guess costs {view.guess_cost}"
    return f"any parts of a round, separated by ; ({held})"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "symbol" in action:
        return ", ".join(action["symbol"])
    parts = [f"vote {condition}" + (f" {n}" if n > 1 else "") for condition, n in action.get("votes", {}).items()]
    parts += [text for text, key in FLAGS.items() if action.get(key)]
    if "dark" in action:
        parts.append(f"dark {action['dark']}")
    for asked in (action.get("visions", {}), *action.get("learned", ())):
        parts += [f"{key} {_said(key, value)}".strip() for key, value in asked.items()]
    parts += map("guess {}".format, map(joined, action.get("guesses", ())))
    return "; ".join(parts) or "none"


def _said(key: str, value: Any) -> str:  # noqa: PLR0911, C901 - one line for each form
    match key:
        case "assign":
            return pairs("{} {}", value)
        case "pattern":
            return f"{' '.join(map(str, value['seats']))}: {', '.join(value['groups'])}"
        case "place":
            return f"{value['order']} {value['position']}"
        case "except":
            return f"{value['seat']}: {', '.join(value['runes'])}"
        case "mirror" | "has":
            return f"{value['seat']} {value['rune']}"
        case "window":
            return f"{value['position']} {value['seat']}"
        case "count":
            return f"{value['seat']} {value['group']} {value['number']}"
        case "line":
            which = "row" if "row" in value else "column"
            return f"{which} {value[which]} {value['rune']}"
        case "shared":
            return " ".join(map(str, value))
        case "most":
            return ", ".join(value)
        case "veil":
            return ""
        case _:
            return str(value)


def words(window: str, view: RunesView) -> tuple[str, ...]:  # noqa: ARG001 - the same in every round
    """See `protocol.text.GameText`."""
    names = (*get_args(MundaneGroup), *get_args(DivineGroup))
    return names if window == "symbol" else (*FLAGS, *READ, *VISIONS, *LEARNED, "none", *names)


_PAGE = """\
RUNES TO RUINS, variant {variant}. Five seats, 0 to 4. Each has a secret symbol of six runes. A seat whose symbol
is guessed is discovered. The last seat that is not discovered wins; the first that is discovered is eliminated.

RUNES. There are 36, one for each Mundane group (Straight, Torn, Origin, Cross, Angled, Slash) and each Divine
group (Divider, Slope, Splitter, Zig-Zag, Enclosure, Box). A rune is named by both, Mundane first: Angled Slope.
Mundane and Divine are the two Orders. A rune is drawn by line segments between nine points, 0 1 2 / 3 4 5 / 6 7 8.
Each rune below with its segments, each by its two points, and then how many straight lines they make (segments
that go on straight are one line): {runes}

SYMBOLS. Six different runes in positions 0 1 2 / 3 4 5, two rows of three. Runes side by side share the three
points of their common side, those across a corner the point of that corner. A symbol is legal if in one Order all
six groups differ and in the other no group has more than three runes, and if all six runes hang together: two
runes are joined if both have the end of a segment on a common point. Segments within one rune need not hang
together.

ROUND 1 (window symbol). Every seat submits a symbol in secret. If two or more submit the same, that symbol becomes
invalid for everyone and all seats submit anew, at most ten times; after that, seats that clash get drawn symbols.
A seat that submits nothing gets a drawn legal symbol.

EACH LATER ROUND is one window, round. Before round 2 each seat has 6 insight. Your action may hold any of the
parts below; what they cost is added up first, and an action that costs more than you have is rejected whole. They
are resolved in this order: payments, votes, visions, learned insight, guesses, dark, mantra, the end. Discovered
seats play on.

VOTES. One vote for one of 15 conditions. For 1 insight (more votes) three more votes, once a round; they may go to
different conditions and need not all be cast. For 1 insight (told) you are told which condition won. Or abstain,
not two rounds running: then you neither cast nor buy votes, but may buy the answer. You may also do neither. The
condition with the most votes wins, the lowest number in a tie; with no valid vote the lowest that is free. One
that has won before is not free, and votes for it are void; when 12 have won, all are free again. The winner is
told only to its buyers. At the start of the next round it pays insight; the last round's pays nothing. Conditions:
1 most, 2 fewest line segments in the symbol; 3 most, 4 fewest straight lines (for these the runes' numbers are
added up); 5 most joined pairs among the seven pairs of runes side by side; 6 most runes in one group; 7 most runes
that share a group with another rune of the symbol; 8 most, 9 fewest runes that some other seat uses too; 10 least
insight held; 11 least mantra received so far; 12 fewest visions used in the round just ended; 13 one insight for
each different Mundane group in the symbol; 14 the same for Divine; 15 two to each seat, and two more to each that
is undiscovered. 1 to 12 rank the seats: 6 to the best, then 5, 4, 3, 2; equal seats get the same, and the next
lower value gets 1 less. From round 5 on everyone gets 1 more, from round 8 on 2 more, and so on every third round.
All are told what each seat earned; of one that abstained only its place.

VISIONS ask about other seats, discovered or not. Each kind at most once a round. The only seat that uses a kind in
a round gains 1 insight for it.
assign (1 insight): four different runes, one to each other seat: does it use that rune?
divine, mundane (1 each): a group: does each other seat use a rune of it?
veil (1, then 2, 3, ... with each use in the match): this round the three above answer the opposite about you.
pattern (2): one to four other seats, and a group for each of the six positions (of either Order, repeats allowed):
for each position, how many of these seats have a rune of that group there.
place (2): an Order and a position: the groups of that Order that any other seat has there, not how often.
except (3): a seat and up to five runes: a drawn rune of its symbol that you did not name.
mirror (reveals a rune of yours to all): a seat: for each vision and learned insight of that seat in this round
that names or covers you, the answer to the same question about that seat. It is never turned by veil; veil, mirror
and window themselves are not mirrored. pattern, except, count and has cover the seats that they name, shared both
of its seats, all other kinds cover all other seats.
window (reveals a rune of yours and its position to all): a seat: its rune in that position. Once a match, and not
if you are discovered.

LEARNED INSIGHT costs no insight, but mantra, as said for each kind. At most 6 of each kind a round, and at most
twice the round's number in all. Other seats only. rune (a rune): how many use it; 2 mantra for each that does.
count (a seat, a group, a number 0 to 6): how many runes of that group it uses; 3 times the difference. has (a
seat, a rune): whether it uses it; 4 if not. line (a rune, and row 0 or 1 or column 0, 1 or 2): how many use it
there; 5 if none does. shared (two seats): how many runes they share; 6 if none. most (one to six runes): the
greatest number of them in one seat's symbol; 3 for each named rune not in that number.

GUESSES. Six different runes in their positions; it need not be a legal symbol. The first of a round is free; each
further one costs 1, 2, 3, ... insight, counting all that you bought in the match. It is compared with every other
seat that was undiscovered at the start of the round and is not under light: exact (right rune, right position),
moved (a rune of the symbol in a wrong position), group (any other rune that shares a group with the rune in that
position). You are told the three numbers for the closest symbol (most exact, then moved, then group), not whose it
is. If all six are exact, the seat is discovered and all are told; its finder gains 10 insight, several finders 5
each.

ARTEFACTS, if the option artefacts gives you any. light: no guess is compared with you this round; not two rounds
running. dark, on any seat: at the end of the round its mantra grows by 5 for every full 5 it has, at least by 10;
several act one after another; it counts as received; no effect in the last round.

MANTRA is a debt, settled at the end of each round: 6 go for free; then insight is spent one by one and removes 7,
8, 9, 10, 20, and at last all that is left, each only while there is at least as much mantra. The rest is carried
over and settled in the next round like new mantra. With 3 insight and 17 mantra: 17 - 6 = 11, 11 - 7 = 4, so 2
insight and 4 mantra are left.

THE END is after a round that leaves at most one seat undiscovered, or after the number of rounds in the option
rounds. An undiscovered seat is best, and a later discovery is better. Seats discovered in one round, or never, are
ranked by the sum over the other seats of their best exact against them (less is better), then best moved, then
best group; then by less mantra received in the match; then drawn. Only guesses that were compared with the seat
count. The best seat wins 2 tokens. A seat with 10 mantra or more at the end gets no token: then the next seat of
the ranking that may gets 1.

TIME. If you submit nothing in a round, you do nothing; that is neither a vote nor an abstention.
"""


def page(variant: str) -> str:
    """See `protocol.text.GameText.rules`."""
    runes = "; ".join(f"{rune.mundane} {rune.divine}: {rune.segments} ({rune.straight_lines})" for rune in RUNES)
    return _PAGE.format(variant=variant, runes=runes)


_FIELDS = {
    "seat": "your own",
    "round": "the round being played, from 1",
    "rounds": "the last round that there can be",
    "attempt": "in round 1 how many times symbols are being submitted; later how many it took",
    "submitted": "the symbols that you submitted in attempts that are over",
    "symbol": "your symbol; null until all are set",
    "insight": "the insight that you hold",
    "mantra": "the mantra that you hold",
    "may_abstain": "whether you may abstain in this round",
    "may_window": "whether you may use the vision window in this round",
    "veil_cost": "what your next veil costs",
    "guess_cost": "what your next guess costs after the first of a round",
    "discovered": "each discovered seat to the round of it",
}
_ARTEFACTS = {
    "artefacts": "the artefacts that you have",
    "may_light": "whether you may use light in this round",
}


def fields(terms: InputTerms) -> dict[str, str]:
    """See `protocol.text.GameText`."""
    return _FIELDS | (_ARTEFACTS if terms.options.get("artefacts", {}).get(str(terms.seat)) else {})


TEXT = GameText(
    actions={"symbol": ChooseSymbol, "round": PlayRound},
    view=RunesView,
    event=RunesEvent,
    drawing=Drawing(drawing.board, drawing.words),
    read=read,
    ask=ask,
    say=say,
    words=words,
    forms=forms,
    examples=examples,
    effect=effect,
    if_nothing=if_nothing,
    rules=page,
    fields=fields,
)
