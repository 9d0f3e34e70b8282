"""The Fight For a Name in text, for people and language models.

What a person types: `N NE S`, `put 12:2`, `give 3:1`, uses of a pillar's titles.
The rules in one page: docs/games/fight_for_a_name.md, R1 to R12 and O1 to O7.
"""

from itertools import islice, starmap
from typing import Any, get_args

from protocol.games.fight_for_a_name import (
    Ask,
    Colour,
    Direction,
    FightEvent,
    FightOptions,
    FightView,
    HexKey,
    Move,
    Pick,
    Position,
    SeatKey,
    Title,
    Vote,
    drawing,
)
from protocol.games.fight_for_a_name.board import START, walks
from protocol.text import (
    Drawing,
    Example,
    GameText,
    InputTerms,
    ParseError,
    joined,
    name,
    number,
    quoted,
    series,
)

DIRECTIONS, TITLES, COLOURS = get_args(Direction), get_args(Title), get_args(Colour)
LAST_POSITION, LAST_HEX, LAST_SEAT = max(get_args(Position)), len(get_args(HexKey)), len(get_args(SeatKey)) - 1
MOST_MP, MOST_GIVEN = 1_000_000, 2
ASKING = ("body", "parting", "other", "neither", "crest")
ASK = "body TITLE COLOUR parting TITLE COLOUR other TITLE COLOUR neither TITLE TITLE crest TITLE"
NOBODY = ("nobody", "none")
FIRST_PILLAR, FIRST_CLAIM = 2, 4
"""Earliest rounds in which a seat has the MP to reach a pillar, and three hexes for a banner."""
DEFAULTS = {
    "challenge": "you give no answer",
    "move": "you stay where you are, and put and give nothing",
    "pillar": "you ask the pillar nothing",
    "token_vote": "you vote for nobody",
    "elimination_vote": "you vote for nobody",
    "justice": "you name nobody",
}


def forms(terms: InputTerms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    rounds = terms.options.get("rounds", FightOptions().rounds)
    move: tuple[Example, ...] = (
        ("STEP STEP ...", "a path, each STEP one of N NE SE S SW NW"),
        ("stay", "no step"),
    )
    if rounds > FIRST_CLAIM:
        move += (
            ("STEP ... put HEX:MP HEX:MP", "in the final phase: a path, or none, then so many MP on each hex"),
            (
                "give SEAT:MP SEAT:MP",
                "with a title: 1 or 2 MP to one seat, or 1 each to two; or none",
            ),
        )
    windows: dict[str, tuple[Example, ...]] = {
        "challenge": (
            ("POSITION POSITION ...", "positions, from 0, of the numbers that make the target"),
            ("none", "no answer"),
        ),
        "move": move,
    }
    if rounds >= FIRST_PILLAR:
        windows["pillar"] = ((ASK, "each of the six titles shown put to one use"),)
    if rounds >= FIRST_CLAIM:
        vote = (("SEAT", "vote for that seat"), ("nobody", "no vote"))
        windows |= {"token_vote": vote, "elimination_vote": vote}
        windows["justice"] = (("SEAT", "name that seat"), ("nobody", "name nobody"))
    return windows


def examples(window: str, view: FightView) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    match window:
        case "challenge":
            return ("0 3", "the first and the fourth number, right or wrong"), ("none", "no answer")
        case "move":
            return _moves(view) if view.title is None else _gifts(view)
        case "pillar":
            one, two, three, four, five, six = view.visits[-1].titles
            asked = f"body {one} red parting {two} blue other {three} green neither {four} {five} crest {six}"
            return ((asked, "all six titles shown, in any order"),)
        case _:
            seats = view.candidates or ()
            return *((str(seat), f"seat {seat}") for seat in seats[:1]), ("nobody", "no vote")


def _moves(seen: FightView) -> tuple[Example, ...]:
    """Return a path of one step, one as long as the MP allow, and uses of MP in the final phase."""
    position, mp = seen.position or START, seen.mp or 0
    paths = sorted(walks(position, mp).values(), key=len)
    named = {len(path): path for path in paths if path}
    lengths = sorted(named)
    shown = [(" ".join(named[n]), f"{n} step{'s' * (n > 1)}") for n in sorted({*lengths[:1], *lengths[-1:]})]
    shown.append(("stay", "no step"))
    hexes = [number for number in seen.reached if number not in seen.white]
    if seen.final_phase and hexes and mp:
        shown.append((f"put {hexes[0]}:{mp}", f"no step, and {mp} MP on hex {hexes[0]}"))
        if mp > 1 and named:
            shown.append((f"{' '.join(named[1])} put {hexes[0]}:1", f"a step, and 1 MP on hex {hexes[0]}"))
    return tuple(shown)


def _gifts(seen: FightView) -> tuple[Example, ...]:
    """Return a gift of each form."""
    seats = [seat for seat in seen.positions if int(seat) != seen.barred]
    shown = [("none", "no gift")]
    if seats:
        shown.append((f"give {seats[0]}:2", f"2 MP to seat {seats[0]}"))
    if len(seats) > 1:
        shown.append((f"give {seats[0]}:1 {seats[1]}:1", f"1 MP each to seats {seats[0]} and {seats[1]}"))
    return tuple(shown)


def effect(window: str, view: FightView, action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    match window:
        case "challenge":
            numbers: list[int] = [view.numbers[at] for at in action["pick"] if at < len(view.numbers)]
            if not numbers:
                return DEFAULTS["challenge"]
            return f"you answer {' + '.join(map(str, numbers))} = {sum(numbers)}, and the target is {view.target}"
        case "move":
            parts = [f"walk {' '.join(action['path'])}"] if action.get("path") else []
            parts += [f"put {mp} MP on hex {hex_}" for hex_, mp in action.get("reinforce", {}).items()]
            parts += [f"give {mp} MP to seat {seat}" for seat, mp in action.get("give", {}).items()]
            return f"you {series(parts)}" if parts else DEFAULTS["move"]
        case "pillar":
            return ""
        case _:
            if action["seat"] is None:
                return DEFAULTS[window]
            return f"you {'name' if window == 'justice' else 'vote for'} seat {action['seat']}"


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    words = text.replace(",", " ").split()
    is_nobody = " ".join(words).lower() in NOBODY
    match window:
        case "challenge":
            if is_nobody:
                return {"pick": []}
            return {"pick": [number(word, 0, LAST_POSITION, "a number's position") for word in words]}
        case "move":
            return _move(words)
        case "pillar":
            return _ask(words)
        case _:
            if is_nobody:
                return {"seat": None}
            return {"seat": number(" ".join(words), 0, LAST_SEAT, "a seat's number, nor nobody")}


def _move(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    key = "path"
    for word in words:
        if word.lower() in ("put", "give"):
            key = {"put": "reinforce", "give": "give"}[word.lower()]
        elif key == "path":
            if word.lower() not in (*NOBODY, "stay"):
                action.setdefault("path", []).append(name(word, DIRECTIONS, "a direction, nor put, give or stay"))
        else:
            where, amount = _spent(key, word)
            action.setdefault(key, {})[where] = amount
    return action


def _spent(key: str, word: str) -> tuple[str, int]:
    where, colon, amount = word.partition(":")
    if not colon:
        raise ParseError(f"{quoted(word)} is not understood: type put HEX:MP or give SEAT:MP")
    if key == "give":
        return str(number(where, 0, LAST_SEAT, "a seat")), number(amount, 1, MOST_GIVEN, "a gift's MP")
    return str(number(where, 1, LAST_HEX, "a hex")), number(amount, 1, MOST_MP, "an amount of MP")


def _ask(words: list[str]) -> dict[str, Any]:
    action: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        key = name(word, ASKING, "one of the uses of a title")
        wanted = 1 if key == "crest" else 2
        values = list(islice(left, wanted))
        if len(values) < wanted:
            raise ParseError(f"{key} lacks a word; type {ASK}")
        title = name(values[0], TITLES, "a title")
        if key == "crest":
            action[key] = title
        elif key == "neither":
            action[key] = [title, name(values[1], TITLES, "a title")]
        else:
            action[key] = [title, name(values[1], COLOURS, "a colour")]
    if missing := [key for key in ASKING if key not in action]:
        raise ParseError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; type {ASK}")
    return action


def ask(window: str, view: FightView) -> str:
    """See `protocol.text.GameText`."""
    match window:
        case "challenge":
            return "positions, from 0, of the numbers that make the target, or none"
        case "move":
            if view.title is not None:
                return "gifts: give SEAT:1 SEAT:1, or give SEAT:2, or none"
            put = ", then put HEX:MP" if view.final_phase else ""
            return f"steps{put}, or stay"
        case "pillar":
            return f"{ASK}, of {joined(view.visits[-1].titles)}"
        case _:
            return f"one of seats {joined(view.candidates or ())}, or nobody"


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    if "seat" in action:
        return "nobody" if action["seat"] is None else str(action["seat"])
    if "pick" in action:
        return " ".join(map(str, action["pick"])) or "none"
    if "crest" in action:
        uses = [f"{key} {' '.join(action[key])}" for key in ASKING if key != "crest"]
        return " ".join([*uses, f"crest {action['crest']}"])
    words = list(action.get("path", ()))
    for key, word in (("reinforce", "put"), ("give", "give")):
        if key in action:
            words += [word, *starmap("{}:{}".format, action[key].items())]
    return " ".join(words) or "stay"


def words(window: str, view: FightView) -> tuple[str, ...]:
    """See `protocol.text.GameText`."""
    match window:
        case "challenge":
            return ("none",)
        case "move":
            return "put", "give", "stay", *DIRECTIONS
        case "pillar":
            return *ASKING, *view.visits[-1].titles, *COLOURS
        case _:
            return ("nobody",)


_PAGE = """\
THE FIGHT FOR A NAME, variant {variant}. Thirteen seats, 0 to 12. Seats walk over hexes and want one of twelve
titles. The seats that claim a title in the first round in which any seat claims one are the winners.

BOARD. Flat-topped hexes: Start in the centre, 1 to 36 around it, numbered row by row from the top. Ten pillars lie
outside.
                          1
                    2           3
              4           5           6
        7           8           9           10
              11          12          13
        14          15          16          17
              18        Start         19
        20          21          22          23
              24          25          26
        27          28          29          30
              31          32          33
                    34          35
                          36

STEPS. N is straight up, two lines in the drawing, and S straight down; NE, SE, SW and NW are one line up or down
to the side. From Start N leads to 12, NE to 16, SE to 22, S to 25, SW to 21, NW to 15.

PILLARS. A pillar is entered through a gate, which is a hex and a direction, and left through one of its gates,
back onto the hex:
phi: in 1 N; out S to 1.
psi: in 36 S; out N to 36.
mu: in 3 NE, 6 N; out SW to 3, S to 6.
lambda: in 2 NW, 4 N; out SE to 2, S to 4.
sigma: in 33 S, 35 SE; out N to 33, NW to 35.
theta: in 31 S, 34 SW; out N to 31, NE to 34.
omega: in 10 SE, 10 NE, 17 NE; out NW to 10, SW to 17.
delta: in 7 SW, 7 NW, 14 NW; out NE to 7, SE to 14.
gamma: in 30 NE, 30 SE, 23 SE; out SW to 30, NW to 23.
xi: in 27 NW, 27 SW, 20 SW; out SE to 27, NE to 20.

SECRETS. Six colours (red, orange, yellow, green, blue, purple) have six hexes each; all are told them. Twelve
titles: Charity, Courage, Diligence, Faith, Honour, Hope, Humility, Justice, Mercy, Patience, Prudence, Temperance.
Each has a body colour and another parting colour; every colour is the body of two titles and the parting of two.
Each pillar shows six titles, each title is shown at five pillars, no two pillars show the same six. Only visitors
see what a pillar shows.

A TITLE'S BANNER is its crest, which only a pillar gives, one hex of its body colour and two of its parting colour.

BEFORE ROUND 1, the timed game (window challenge): eight numbers and a target that is the sum of some of them. Name
the positions, from 0, of such numbers, none twice. Right answers rank before wrong ones and none; among right ones
the faster rank first; other ties are drawn. No positions are no answer.

A ROUND.
1. Each seat on the board (without a title) gains 2 MP, movement points. MP that are not spent stay.
2. All act in secret (window move). A seat on the board names a path, 1 MP a step, of any length down to none. A
   seat with a title names gifts.
3. All moves are made at once. Then a seat on Start gains 4 MP if it is alone there, else 3. A seat on a coloured
   hex gains strength there: the MP it spent on this move's path, plus 1. A seat that has just reached a pillar
   visits it; if more than five visit the same pillar in one round, none of them gets anything. Then gifts arrive.
4. Visitors ask (window pillar). Each is answered as soon as its submission is final.
5. A hex is held by the seat with the highest strength above 0 that no other seat has there: of 5, 5 and 3 the 3
   holds it; of 5 and 5 nobody does.
6. Titles are gone through once, in alphabetical order. A seat on the board that has the crest, and holds one hex
   of the body colour and two of the parting colour, claims the title. If several could: the one that spent the
   most MP (path and reinforcement, without the +1s) on the three hexes its banner would use; then the one that got
   this crest in an earlier round; then the one that did better in the timed game. A seat that could claim two
   takes the first in alphabetical order. The claimer leaves the board and loses its strengths. The banner's hexes
   (of each colour the lowest numbers that it holds) turn white for good, and every seat still on the board gets
   back the MP that it spent there. Holders are worked out anew before the next title.
7. All are told positions, holders, white hexes, claimed titles and who received how many MP as gifts; each seat on
   the board is told its own MP, crests and strengths. Nobody is told another seat's MP or strength.

PATHS lead over numbered hexes, white ones too, and Start. A path may enter a pillar only as its last place, and
then all its steps, through the gate too, go in one direction. A path may so lead from one pillar to another. You
may not enter a pillar that you have visited before, even if it gave nothing for its crowd. Staying on a coloured
hex adds 1 strength, on Start it earns MP, on a pillar nothing.

ASKING A PILLAR. Put the six titles shown to five uses, each title exactly once. body (a title and a colour): is
that its body colour? parting (a title and a colour): is it its parting colour? other (a title and a colour): you
are told a drawn colour, not the one you named, that is on neither part of its banner. neither (two titles): two
drawn colours that are on neither banner. crest (a title): its crest is now yours. It may be one that you have, or
of a claimed title. It can make a banner in the same round. If you submit nothing, you learn nothing and get no
crest.

WHITE HEXES. All strength there is 0, none is gained, nobody holds them, and they cannot be reinforced.

GIFTS, from the round after the title was claimed, to seats on the board: 2 MP to one seat, 1 each to two, 1 to
one, or none. If you gave 2 to one seat, you may give it nothing in the next round.

THE FINAL PHASE begins in the round after five or fewer seats are left on the board. A move may then also reinforce
numbered hexes on which you ended a move in an earlier round: 1 strength for each MP. Path and reinforcement
together cost at most your MP. The strength of landing counts the path's MP only.

THE END is after the number of rounds in the option rounds, or after a round that leaves two or fewer seats without
a title. Seats are ranked by the round of their claim, earlier is better. Seats without a title are last. Fewer
than nine winners get a token each, a single winner three. Fewer than six winners vote (token_vote) for one more
seat with a title that is not a winner: the most votes win a token; a tie or no vote gives none. One seat without a
title is eliminated: the one with the fewest crests of unclaimed titles; then the least MP spent on hexes that are
not white; then the winners vote (elimination_vote); if seats are still tied, or nobody votes, the seat with
Justice chooses among the tied (justice); if there is none, or it does not, or there are no winners, it
is drawn.
"""


def page(variant: str) -> str:
    """See `protocol.text.GameText.rules`."""
    return _PAGE.format(variant=variant)


_FIELDS = {
    "seat": "your own",
    "round": "the round being played, from 1; 0 in the window challenge",
    "rounds": "the last round of the match",
    "numbers": "the eight numbers of the timed game, from position 0",
    "target": "what some of them add up to",
    "final_phase": "whether moves may reinforce",
    "position": "where you are; null with a title",
    "mp": "your MP; null with a title",
    "title": "your title; null before you claim one",
    "crests": "each crest that you have to the round in which you got it first",
    "candidates": "in a vote: the seats that you may name; otherwise null",
    "barred": "the seat to which you may give nothing in your next move, or null",
    "positions": "each seat on the board to its place, at the end of the last round",
    "holders": "each hex to the seat that holds it, as far as any does",
    "white": "the white hexes",
    "claims": "each claimed title to the seat and the round of the claim",
    "strengths": "each hex to your strength there, above 0",
    "spent": "each hex to the MP that you have spent there and would get back, above 0",
    "reached": "the hexes on which you have ended a move",
    "visits": (
        "your visits to pillars. round, pillar, titles: when, where, and the six titles shown, none if it was "
        "crowded. asked, answer: what you asked, and were told, for each of body, parting, other, neither and "
        "crest; null before you ask; the type of an answer is always the same"
    ),
    "colours": "each hex to its colour at the start; a white one has none any more",
}


def fields(terms: InputTerms) -> dict[str, str]:  # noqa: ARG001 - the same in every match
    """See `protocol.text.GameText`."""
    return _FIELDS


TEXT = GameText(
    actions={
        "challenge": Pick,
        "move": Move,
        "pillar": Ask,
        "token_vote": Vote,
        "elimination_vote": Vote,
        "justice": Vote,
    },
    view=FightView,
    event=FightEvent,
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
